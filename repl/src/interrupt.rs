//! Ctrl-C while a cell runs.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
