//! Run-time failures as diagnostics.

use weft_ir::{Exhausted, Place, Span, Trap, TrapKind};

use crate::diagnostic::Diagnostic;

/// A trap: the expression that failed, and the calls that led there, innermost first.
pub fn trap_diagnostic(trap: &Trap) -> Diagnostic {
    let kind = &trap.kind;
    let mut diagnostic = Diagnostic::error(kind.code(), kind.to_string(), trap.span, "fails here");
    if let Some(help) = help_of(kind) {
        diagnostic = diagnostic.help(help);
    }
    let mut last = trap.span;
    for &call in &trap.calls {
        // A recursive function calls itself from one place again and again: that is said once.
        if call != last {
            diagnostic = diagnostic.label(call, "called from here");
        }
        last = call;
    }
    if !trap.within.is_empty() {
        let places: Vec<String> = trap.within.iter().map(Place::to_string).collect();
        diagnostic = diagnostic.note(format!("in {}, counted from 0", places.join(", ")));
    }
    if trap.calls.len() >= Trap::MAX_CALLS {
        diagnostic = diagnostic.note("there may be more calls: only the innermost are kept");
    }
    diagnostic
}

/// What to write instead, where there is a usual mistake.
fn help_of(kind: &TrapKind) -> Option<&'static str> {
    match kind {
        TrapKind::IndexOutOfRange { index, .. } if *index < 0 => Some(
            "positions do not count from the end: the last element is `last xs`, all but the last \
             are `init xs`",
        ),
        TrapKind::NegativeExponent { .. } => {
            Some("a float can be, and its reciprocal is a float: `10.0 ** -3`")
        }
        TrapKind::EmptyArray { .. } => {
            Some("where there may be no elements, ask first: `if null xs then nan else mean xs`")
        }
        TrapKind::BadLength { operation, length: -1 } if operation == "reshape" => Some(
            "no length is inferred: rows of k elements are `chunks k xs`, and `size xs` says how many elements there are",
        ),
        TrapKind::IndexOutOfRange { .. }
        | TrapKind::LengthMismatch { .. }
        | TrapKind::SizeMismatch { .. }
        | TrapKind::DivisionByZero
        | TrapKind::BadLength { .. }
        | TrapKind::BadShape { .. }
        | TrapKind::Ragged { .. }
        | TrapKind::BadArgument { .. }
        | TrapKind::AssertionFailed
        | TrapKind::Error(_) => None,
    }
}

/// A run that was given up.
pub fn exhausted_diagnostic(exhausted: &Exhausted) -> Diagnostic {
    let message = exhausted.to_string();
    let at = |span: Span, remark: &str| {
        Diagnostic::error(exhausted.code(), message.clone(), span, remark)
    };
    match exhausted {
        Exhausted::Memory { span, .. } => at(*span, "allocates here")
            .help("work on a part of the data, or raise the limit with `:set memory`"),
        Exhausted::Recursion { span, .. } => at(*span, "calls itself here")
            .help("does the recursion end? a `loop` needs no depth at all; `:set recursion` raises the limit"),
        Exhausted::Stack { span, .. } => at(*span, "calls itself here")
            .help("does the recursion end? a `loop` needs no stack at all"),
        Exhausted::Interrupted => {
            let mut diagnostic = at(Span::default(), "");
            diagnostic.labels.clear();
            diagnostic
        }
    }
}
