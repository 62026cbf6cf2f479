//! Words and literals: whatever begins with a letter, a digit or a quote.

use super::Lexer;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{BINARY, CLOSERS, Kind, OPENERS, SEPARATORS};
use crate::syntax::literal::{Problem, number, text};
use crate::syntax::operator::precedence;

/// A range whose end has more tokens has no step.
const MOST_OF_RANGE: usize = 4096;

impl Lexer<'_> {
    pub(super) fn word(&mut self) {
        let end = self.at + word_length(self.rest());
        let kind = match Kind::keyword(&self.text[self.at..end]) {
            Some(Kind::By) if !self.is_behind_range() => Kind::Name,
            kind => kind.unwrap_or(Kind::Name),
        };
        self.push(kind, end);
    }

    /// Whether `by` is the word before a step: behind an operand, and a `..` before that in the same brackets. Anywhere
    /// else it is a name like any other, but where a number would be applied to it.
    fn is_behind_range(&self) -> bool {
        if !self.previous().is_some_and(Kind::ends_operand) {
            return false;
        }
        let item = self.lexemes.items.last().copied().unwrap_or(0);
        let before = &self.lexemes.kinds[item..];
        if let [rest @ .., Kind::Number] = before
            && !rest.last().is_some_and(|kind| kind.ends_operand())
        {
            return true;
        }
        let looser =
            |kind: Kind| BINARY.contains(kind) && precedence(kind).0 < precedence(Kind::Range).0;
        let mut closed = 0_usize;
        for &kind in before.iter().rev().take(MOST_OF_RANGE) {
            if CLOSERS.contains(kind) {
                closed += 1;
            } else if OPENERS.contains(kind) {
                if closed == 0 {
                    return false;
                }
                closed -= 1;
            } else if closed == 0 && matches!(kind, Kind::Range | Kind::By) {
                return true;
            } else if closed == 0 && (SEPARATORS.contains(kind) || looser(kind)) {
                return false;
            }
        }
        false
    }

    pub(super) fn number(&mut self) {
        let end = self.at + number::length(self.rest().as_bytes());
        match number::value(&self.text[self.at..end]) {
            Ok(_) => self.push(Kind::Number, end),
            Err(problem) => self.invalid(problem, end),
        }
    }

    pub(super) fn text_literal(&mut self) {
        let Some(length) = text::length(self.rest()) else {
            let line = self.rest().lines().next().unwrap_or_default().trim_end().len();
            let end = self.at + line;
            let open = self.span(self.at, self.at + 1);
            self.report(
                Diagnostic::error(
                    text::UNTERMINATED,
                    "a text is not closed",
                    open,
                    "the line ends before a second `\"`",
                )
                .help("a text stands on one line; a line break in it is written \\n"),
            );
            return self.push(Kind::Invalid, end);
        };
        let literal = &self.text[self.at..self.at + length];
        for (range, problem) in text::problems(literal) {
            self.problem(problem, self.at + range.start, self.at + range.end);
        }
        self.symbol(Kind::Text, length);
    }

    pub(super) fn character_literal(&mut self) {
        let Some(length) = text::character_length(self.rest()) else {
            let end = self.at + 1;
            let mut diagnostic = Diagnostic::error(
                text::UNTERMINATED,
                "a character literal is not closed",
                self.span(self.at, end),
                "there is no second `'`",
            )
            .help("text has double quotes: \"abc\"");
            if self.touches_operand() {
                diagnostic = diagnostic.help("to transpose a matrix write `transpose m`");
            }
            self.report(diagnostic);
            return self.push(Kind::Invalid, end);
        };
        let end = self.at + length;
        match text::character(&self.text[self.at..end]) {
            Ok(_) => self.push(Kind::Char, end),
            Err(problem) => self.invalid(problem, end),
        }
    }

    /// Anything that begins outside ASCII: a name, or a character that means something elsewhere.
    pub(super) fn beyond_ascii(&mut self) {
        if self.rest().chars().next().is_some_and(unicode_ident::is_xid_start) {
            self.word();
        } else {
            self.foreign();
        }
    }

    /// Reports the problem and lets an unreadable token stand for the text.
    pub(super) fn invalid(&mut self, problem: Problem, end: usize) {
        self.problem(problem, self.at, end);
        self.push(Kind::Invalid, end);
    }

    fn problem(&mut self, problem: Problem, start: usize, end: usize) {
        let span = self.span(start, end);
        let mut diagnostic = Diagnostic::error(problem.code, problem.message, span, problem.remark);
        diagnostic.help.extend(problem.help);
        self.report(diagnostic);
    }
}

/// The number of bytes of the word that `text` begins with.
pub(super) fn word_length(text: &str) -> usize {
    let ascii = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\''))
        .count();
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return ascii;
    }
    text.find(|character: char| !(character == '\'' || unicode_ident::is_xid_continue(character)))
        .unwrap_or(text.len())
}
