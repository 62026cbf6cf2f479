//! The stack on which a cell runs.

use std::any::Any;
use std::thread;

use weft_ir::Span;
use weft_lang::Diagnostic;

use crate::memory;

/// Where the system does not give [`weft_lang::STACK_BYTES`] of address space, a cell runs with less.
pub(crate) const LEAST: usize = weft_lang::STACK_BYTES / 8;

/// Why something did not run to its end.
pub(crate) enum NotRun {
    /// The system gave no thread with a stack.
    NoStack,
    /// It broke off with this message.
    Panic(String),
}

/// Runs something on a thread with the stack that deep programs need. It is told the bytes that there are.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce(usize) -> T + Send) -> Result<T, NotRun> {
    let mut work = Some(work);
    for stack in [weft_lang::STACK_BYTES, LEAST] {
        let result = thread::scope(|scope| {
            let slot = &mut work;
            let builder = thread::Builder::new().name("weft-cell".to_owned()).stack_size(stack);
            let run = move || slot.take().map(|work| work(stack));
            builder.spawn_scoped(scope, run).ok().map(thread::ScopedJoinHandle::join)
        });
        match result {
            Some(Ok(Some(value))) => return Ok(value),
            Some(Ok(None)) => return Err(NotRun::Panic("a cell was run twice".to_owned())),
            Some(Err(payload)) => return Err(NotRun::Panic(panic_message(&*payload))),
            // The system did not give that much address space; try with less.
            None => {}
        }
    }
    Err(NotRun::NoStack)
}

/// The system does not give what every cell needs. It has no place: nothing of the cell was looked at.
pub(crate) fn no_stack() -> Diagnostic {
    let reason = match memory::address_space() {
        Some(most) => format!(
            "its stack takes {LEAST} bytes of address space, and this process may have {most} in all (`ulimit -v`)"
        ),
        None => "too many threads or processes are running".to_owned(),
    };
    let message = format!("the system gives no thread to run the cell on: {reason}");
    let mut diagnostic = Diagnostic::error("E0701", message, Span::default(), "");
    diagnostic.labels.clear();
    diagnostic
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}
