//! Short pieces of what was written, for advice that repeats them.

use super::Context;
use crate::syntax::kind::{CLOSERS, Kind, OPENERS};

/// Longer pieces are not repeated.
const LONGEST: usize = 40;

impl<'a> Context<'a, '_> {
    /// The text of the tokens `from..to`, if it is short, stands on one line and has no form of other languages in it.
    pub(super) fn quote(&self, from: usize, to: usize) -> Option<&'a str> {
        if from >= to || (from..to).any(|token| self.is_foreign(token)) {
            return None;
        }
        let has =
            |kind: Kind| self.reading.kinds[from..to.min(self.reading.kinds.len())].contains(&kind);
        if has(Kind::For) && !has(Kind::Loop) || has(Kind::If) && !has(Kind::Then) {
            return None;
        }
        let text = self.reading.span_text(self.reading.span(from, to)).trim();
        let is_short = !text.is_empty() && text.chars().count() <= LONGEST && !text.contains('\n');
        is_short.then_some(text)
    }

    /// Whether a token is written as none of this language is: `^` for `**`, `lambda`.
    fn is_foreign(&self, token: usize) -> bool {
        let text = self.reading.token_text(token);
        match self.kind(token) {
            Some(Kind::Invalid) => true,
            Some(Kind::Name) => {
                matches!(text, "lambda" | "return" | "print" | "and" | "or" | "not")
            }
            Some(kind) => kind.spelling().is_some_and(|own| !text.is_empty() && own != text),
            None => false,
        }
    }

    /// The text of the tokens `from..to` as [`Context::quote`] has it, or `…`.
    pub(super) fn quote_or_dots(&self, from: usize, to: usize) -> &'a str {
        self.quote(from, to).unwrap_or("…")
    }

    /// The first token from `from` on that is wanted and stands in no bracket that is opened on the way; the search
    /// ends where the bracket around it is closed.
    pub(super) fn next_outside(&self, from: usize, wanted: impl Fn(Kind) -> bool) -> Option<usize> {
        let mut depth = 0_usize;
        for (token, &kind) in self.reading.kinds.iter().enumerate().skip(from) {
            if depth == 0 && wanted(kind) {
                return Some(token);
            }
            if OPENERS.contains(kind) {
                depth += 1;
            } else if CLOSERS.contains(kind) {
                depth = depth.checked_sub(1)?;
            }
        }
        None
    }

    /// The innermost bracket that is open before a token.
    pub(super) fn open_before(&self, token: usize) -> Option<usize> {
        let mut closed = 0_usize;
        for index in (0..token).rev() {
            let kind = self.kind(index)?;
            if CLOSERS.contains(kind) {
                closed += 1;
            } else if OPENERS.contains(kind) {
                if closed == 0 {
                    return Some(index);
                }
                closed -= 1;
            }
        }
        None
    }

    /// The bracket that closes the one at a token, or the end of the item.
    pub(super) fn close_of(&self, open: usize) -> usize {
        self.next_outside(open + 1, |kind| CLOSERS.contains(kind))
            .unwrap_or(self.reading.kinds.len())
    }

    /// Whether a line begins with the token.
    pub(super) fn begins_line(&self, token: usize) -> bool {
        let Some(before) = token.checked_sub(1) else { return true };
        let from = self.reading.span(before, token).end as usize;
        let to = self.reading.span(token, token + 1).start as usize;
        self.reading.text.get(from..to).is_some_and(|between| between.contains('\n'))
    }

    /// Whether a name stands anywhere in the item.
    pub(super) fn is_in_item(&self, name: &str) -> bool {
        (0..self.reading.kinds.len()).any(|token| self.is_word(token, &[name]))
    }

    /// Whether a token is that word.
    pub(super) fn is_word(&self, token: usize, words: &[&str]) -> bool {
        self.kind(token) == Some(Kind::Name) && words.contains(&self.reading.token_text(token))
    }
}
