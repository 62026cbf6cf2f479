//! The terminal while somebody types: bytes as they come, nothing echoed.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use rustix::stdio;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// How long a terminal may take to be put in order before the process ends.
const TO_RESTORE: Duration = Duration::from_millis(500);

/// Asks for pasted texts to be marked.
const MARK_PASTES: &str = "\x1b[?2004h";
const DO_NOT_MARK_PASTES: &str = "\x1b[?2004l";

/// The terminal in raw mode, until this is dropped.
#[derive(Debug)]
pub(super) struct Terminal {
    before: Before,
    keyboard: File,
}

/// What the terminal was like before it was raw or without an echo, as long as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Before(Arc<Mutex<Option<Termios>>>);

impl Before {
    /// Has the terminal put in order before a signal ends the process, which it then does.
    pub(super) fn restore_on_signals(&self) {
        // Without handlers the signals end the process, and the terminal stays raw.
        let Ok(mut signals) = Signals::new([SIGTERM, SIGHUP, SIGQUIT]) else { return };
        let before = self.clone();
        let listen = move || {
            for signal in signals.forever() {
                let (done, is_done) = channel();
                let before = before.clone();
                let restore = move || {
                    let mut before = before.lock();
                    restore(before.take());
                    let _ = done.send(());
                    // Nobody makes the terminal raw again.
                    loop {
                        thread::park();
                    }
                };
                // A terminal that takes nothing must not keep the process alive.
                if thread::Builder::new().spawn(restore).is_ok() {
                    let _ = is_done.recv_timeout(TO_RESTORE);
                }
                let _ = emulate_default_handler(signal);
            }
        };
        let _ = thread::Builder::new().spawn(listen);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Termios>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts a raw terminal in order. If the terminal is gone, so is what it was to be told.
fn restore(before: Option<Termios>) {
    let Some(before) = before else { return };
    let _ = tcsetattr(stdio::stdin(), OptionalActions::Now, &before);
    // Whoever holds the lock of `io::stdout` may be waiting for the terminal.
    let _ = rustix::io::write(stdio::stdout(), DO_NOT_MARK_PASTES.as_bytes());
}

/// The terminal without an echo, until this is dropped. Ctrl-C and the like do what they always do.
#[derive(Debug)]
pub(super) struct Silence(Before);

impl Silence {
    /// Begins now.
    pub(super) fn begin(before: &Before) -> io::Result<Silence> {
        let now = tcgetattr(stdio::stdin())?;
        let mut silent = now.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        *before.lock() = Some(now);
        let silence = Silence(before.clone());
        tcsetattr(stdio::stdin(), OptionalActions::Now, &silent)?;
        Ok(silence)
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        restore(self.0.lock().take());
    }
}

impl Terminal {
    /// Takes the terminal of this process.
    pub(super) fn enter(before: &Before) -> io::Result<Terminal> {
        let stdin = io::stdin();
        // Bytes that the buffer of `stdin` took could not be waited for.
        let keyboard = File::from(stdin.as_fd().try_clone_to_owned()?);
        {
            let mut before = before.lock();
            let now = tcgetattr(&stdin)?;
            let mut raw = now.clone();
            raw.make_raw();
            tcsetattr(&stdin, OptionalActions::Now, &raw)?;
            *before = Some(now);
        }
        let terminal = Terminal { before: before.clone(), keyboard };
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
        let before = self.before.clone();
        drop(self);
        kill_process(getpid(), Signal::TSTP)?;
        Terminal::enter(&before)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore(self.before.lock().take());
    }
}
