//! Failures in a line of a `let` block that was to continue the one before, and between the
//! variables of a loop.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{BINARY, CLOSERS, Kind, OPENERS};

impl Context<'_, '_> {
    /// A line in the column of the bindings of a `let` that binds nothing: its author took it for
    /// a part of the binding before.
    pub(super) fn line_in_binding_column(&self) -> Option<Diagnostic> {
        let before = self.reading.kinds.get(..self.at)?;
        let line = before.iter().rposition(|kind| *kind == Kind::NewLine)?;
        let is_bound = has_outside_brackets(&before[line + 1..], |kind| kind == Kind::Equals);
        let is_over = has_outside_brackets(&before[line + 1..], |kind| kind == Kind::In);
        if is_bound || is_over {
            return None;
        }
        let help = "a line in the column of the bindings begins a new one; indent it further";
        let last = *before.get(line.checked_sub(1)?)?;
        let is_unfinished = BINARY.contains(last)
            || matches!(last, Kind::Do | Kind::Then | Kind::Else | Kind::Equals | Kind::Arrow);
        if !is_unfinished {
            return Some(self.unexpected().help(help));
        }
        let end = self.reading.span(line - 1, line);
        let first = self.reading.span(line + 1, line + 2);
        Some(
            Diagnostic::error(
                "E0120",
                "a binding of this `let` ends too early",
                end,
                "its value is missing",
            )
            .label(first, "this begins another binding")
            .help(help),
        )
    }

    /// `loop i = 0; s = 0 while …`: several variables as other languages write them.
    pub(super) fn loop_variables(&self) -> Option<Diagnostic> {
        let kinds = self.reading.kinds;
        let separator = match self.found {
            Kind::Semicolon | Kind::Comma
                if self.expects(Kind::For) && self.expects(Kind::While) =>
            {
                self.at
            }
            // Taken for a binding, as it has two `=`.
            Kind::Loop if self.at == 0 => {
                let head = kinds.iter().position(|kind| matches!(kind, Kind::For | Kind::While))?;
                let is_separator = |kind| matches!(kind, Kind::Semicolon | Kind::Comma);
                first_outside_brackets(&kinds[..head], is_separator)?
            }
            _ => return None,
        };
        if self.kind(separator + 1) != Some(Kind::Name)
            || self.kind(separator + 2) != Some(Kind::Equals)
        {
            return None;
        }
        let span = self.reading.span(separator, separator + 1);
        let word = self.reading.token_text(separator);
        let message = format!("unexpected `{word}`");
        Some(Diagnostic::error("E0101", message, span, "expected `for` or `while`").help(
            "several variables of a loop are a tuple: `loop (i, s) = (0, 0) while … do (…, …)`",
        ))
    }
}

/// The first token that is wanted and in no bracket.
fn first_outside_brackets(kinds: &[Kind], wanted: impl Fn(Kind) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    kinds.iter().position(|&kind| {
        if OPENERS.contains(kind) {
            depth += 1;
        } else if CLOSERS.contains(kind) {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && wanted(kind)
    })
}

fn has_outside_brackets(kinds: &[Kind], wanted: impl Fn(Kind) -> bool) -> bool {
    first_outside_brackets(kinds, wanted).is_some()
}
