//! Ctrl-C while a cell runs.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::getpgrp;
use rustix::stdio::stdout;
use rustix::termios::{Action, tcflow, tcgetattr, tcgetpgrp};
use weft_session::Cancel;

/// A second Ctrl-C within this time asks what still runs.
const AGAIN: Duration = Duration::from_secs(2);

/// Turns signals into wishes to stop.
#[derive(Debug)]
pub(crate) struct Interrupts {
    cancel: Cancel,
    presses: Arc<Mutex<Presses>>,
}

#[derive(Debug, Default)]
struct Presses {
    running: bool,
    /// Whether a third press ends the process: a program is run, nobody sits at a prompt.
    may_exit: bool,
    last: Option<Instant>,
    count: u32,
}

impl Interrupts {
    /// Listens to SIGINT from now on.
    pub(crate) fn install() -> Interrupts {
        let cancel = Cancel::new();
        let presses = Arc::new(Mutex::new(Presses { may_exit: true, ..Presses::default() }));
        let (handler_cancel, handler_presses) = (cancel.clone(), Arc::clone(&presses));
        // Without a handler Ctrl-C ends the process, which is the best that is left then.
        let _ = ctrlc::set_handler(move || press(&handler_cancel, &handler_presses));
        Interrupts { cancel, presses }
    }

    /// From now on somebody sits at a prompt: Ctrl-C never ends the process.
    pub(crate) fn stay_alive(&self) {
        self.lock().may_exit = false;
    }

    /// Runs a cell, which Ctrl-C cancels.
    pub(crate) fn during<T>(&self, work: impl FnOnce(&Cancel) -> T) -> T {
        self.cancel.reset();
        {
            let mut presses = self.lock();
            (presses.running, presses.last, presses.count) = (true, None, 0);
        }
        let result = work(&self.cancel);
        self.lock().running = false;
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Presses> {
        self.presses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn press(cancel: &Cancel, presses: &Mutex<Presses>) {
    let mut presses = presses.lock().unwrap_or_else(PoisonError::into_inner);
    if !presses.running {
        if presses.may_exit {
            std::process::exit(130);
        }
        return;
    }
    cancel.cancel();
    wake_writer();
    let again = presses.last.is_some_and(|last| last.elapsed() < AGAIN);
    presses.last = Some(Instant::now());
    presses.count = if again { presses.count + 1 } else { 1 };
    match presses.count {
        1 => {}
        2 => {
            let activity = cancel.activity();
            let what = if activity.is_empty() { "nothing" } else { &activity };
            let _ = writeln!(std::io::stderr(), "still {what}; it will stop at the next chance");
        }
        _ if presses.may_exit => std::process::exit(130),
        _ => {}
    }
}

/// Lets a thread go on that waits for room in the terminal.
///
/// Ctrl-C makes the terminal throw away what it holds, and Linux tells nobody that there is room again: that is
/// done where the other end reads something. If there is nothing left to read, and what is typed is not echoed
/// either, the writer waits for ever, with a lock on the terminal that lets no other thread write. Output that
/// goes on after a halt is told to all who wait.
fn wake_writer() {
    // Waits until the terminal has thrown everything away.
    let is_terminal = tcgetattr(stdout()).is_ok();
    // A process in the background that touches the terminal is stopped.
    let in_foreground = is_terminal && tcgetpgrp(stdout()).is_ok_and(|group| group == getpgrp());
    if in_foreground && tcflow(stdout(), Action::OOff).is_ok() {
        // If the terminal is gone by now, so is whoever waited for it.
        let _ = tcflow(stdout(), Action::OOn);
    }
}
