//! Closing brackets, and what to say when they do not match.

use weft_ir::Span;

use super::frame::{Frame, FrameKind};
use super::{Layout, Nest};
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::Kind;
use crate::syntax::lexer::Place;

impl Layout<'_> {
    /// A closing bracket stands at `place`.
    pub(super) fn close(&mut self, kind: Kind, place: Place, nest: &mut Nest) {
        let matching = nest.frames.iter().rposition(|frame| frame.kind.closer() == kind);
        let innermost = nest.frames.iter().rev().find(is_bracket);
        let Some(innermost) = innermost else {
            let spelling = kind.spelling().unwrap_or_default();
            self.diagnostics.push(
                Diagnostic::error(
                    "E0103",
                    format!("`{spelling}` closes nothing"),
                    place.span(self.source),
                    "no bracket is open here",
                )
                .help("remove it, or open the bracket before"),
            );
            return self.push(Kind::Invalid, place);
        };
        let Some(matching) = matching else {
            let open = self.bracket_span(innermost);
            let opener = self.stream.kinds[innermost.open].spelling().unwrap_or_default();
            let closer = kind.spelling().unwrap_or_default();
            let wanted = innermost.kind.closer().spelling().unwrap_or_default();
            self.diagnostics.push(
                Diagnostic::error(
                    "E0103",
                    format!("`{closer}` does not close `{opener}`"),
                    place.span(self.source),
                    format!("expected `{wanted}`"),
                )
                .label(open, "the bracket that is open"),
            );
            return self.close_top(place, nest);
        };
        while nest.frames.len() > matching + 1 {
            nest.abandon_lets();
            if nest.frames.len() == matching + 1 {
                break;
            }
            let spelling = kind.spelling().unwrap_or_default();
            let diagnostic = self
                .unclosed(nest.top())
                .label(place.span(self.source), format!("this `{spelling}` closes an outer one"));
            self.diagnostics.push(diagnostic);
            let end = self.end_of_last();
            self.close_top(end, nest);
        }
        self.close_top(place, nest);
    }

    /// The item ends: what is still open is reported, all of it once, and closed.
    pub(super) fn close_all(&mut self, nest: &mut Nest, is_last: bool) {
        let open: Vec<Span> =
            nest.frames.iter().filter(is_bracket).map(|f| self.bracket_span(f)).collect();
        let end = self.end_of_last();
        if let Some(frame) = nest.frames.iter().rev().find(is_bracket) {
            let mut diagnostic = self.unclosed(frame);
            for &outer in open.iter().rev().skip(1).take(2) {
                diagnostic = diagnostic.label(outer, "nor is this one");
            }
            let ends = if is_last { "the text ends here" } else { "the item ends here" };
            diagnostic = diagnostic.label(end.span(self.source), ends);
            if !is_last {
                diagnostic = diagnostic.help(
                    "a line that is not indented begins a new item: indent what continues this one",
                );
            }
            diagnostic.incomplete = is_last;
            self.diagnostics.push(diagnostic);
        }
        nest.abandon_lets();
        while nest.frames.len() > 1 {
            self.close_top(end, nest);
            nest.abandon_lets();
        }
        nest.separate();
    }

    fn unclosed(&self, frame: &Frame) -> Diagnostic {
        let opener = self.stream.kinds[frame.open].spelling().unwrap_or_default();
        Diagnostic::error(
            "E0102",
            format!("`{opener}` is not closed"),
            self.bracket_span(frame),
            "opened here",
        )
    }

    fn bracket_span(&self, frame: &Frame) -> Span {
        self.stream.places[frame.open].span(self.source)
    }

    /// The empty place behind the last token.
    fn end_of_last(&self) -> Place {
        let end = self.stream.places.last().map_or(0, |place| place.end);
        Place { start: end, end }
    }
}

fn is_bracket(frame: &&Frame) -> bool {
    matches!(frame.kind, FrameKind::Paren | FrameKind::Bracket | FrameKind::Brace)
}
