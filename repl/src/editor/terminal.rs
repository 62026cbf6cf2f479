//! The terminal while somebody types: bytes as they come, nothing echoed.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Asks for pasted texts to be marked.
const MARK_PASTES: &str = "\x1b[?2004h";
const DO_NOT_MARK_PASTES: &str = "\x1b[?2004l";

/// The terminal in raw mode, until this is dropped.
#[derive(Debug)]
pub(super) struct Terminal {
    before: Termios,
    keyboard: File,
}

impl Terminal {
    /// Takes the terminal of this process.
    pub(super) fn enter() -> io::Result<Terminal> {
        let stdin = io::stdin();
        let before = tcgetattr(&stdin)?;
        // Bytes that the buffer of `stdin` took could not be waited for.
        let keyboard = File::from(stdin.as_fd().try_clone_to_owned()?);
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&stdin, OptionalActions::Now, &raw)?;
        let terminal = Terminal { before, keyboard };
        terminal.write(MARK_PASTES)?;
        Ok(terminal)
    }

    /// Columns and rows; what an unknown terminal is taken to have, if it does not say.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(io::stdout()).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    /// Bytes, as soon as there are some; `None` if there are none for that long. No bytes at all
    /// mean that the terminal is gone.
    pub(super) fn read(&mut self, patience: Option<Duration>) -> io::Result<Option<Vec<u8>>> {
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        loop {
            let mut waiting = [PollFd::new(&self.keyboard, PollFlags::IN)];
            match poll(&mut waiting, patience.as_ref()) {
                Ok(0) => return Ok(None),
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut bytes = vec![0; 4096];
        let count = self.keyboard.read(&mut bytes)?;
        bytes.truncate(count);
        Ok(Some(bytes))
    }

    /// Writes to the screen.
    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        let mut screen = io::stdout().lock();
        screen.write_all(text.as_bytes())?;
        screen.flush()
    }

    /// Ctrl-Z: hands the terminal to the shell until it gives it back.
    pub(super) fn suspend(self) -> io::Result<Terminal> {
        drop(self);
        kill_process(getpid(), Signal::TSTP)?;
        Terminal::enter()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // If the terminal is gone, so is what it was to be told.
        let _ = self.write(DO_NOT_MARK_PASTES);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
