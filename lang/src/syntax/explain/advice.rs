//! Advice for tokens that stand where none like them may.

use super::{Context, PARENTHESES_AROUND_WITH};
use crate::syntax::kind::{CLOSERS, Kind, OPENERS};

impl Context<'_, '_> {
    /// A piece of advice for mistakes that are easily recognised.
    pub(super) fn advice(&self) -> Option<&'static str> {
        match self.found {
            Kind::FloorDivide if self.expects_expression() => Some("a comment begins with `--`"),
            Kind::Append
                if self.expects_expression() && self.kind(self.at + 1) == Some(Kind::Name) =>
            {
                Some("`++` joins two arrays; one more than `i` is `i + 1`")
            }
            _ if self.before() == Some(Kind::Append)
                && self.kind(self.at.wrapping_sub(2)) == Some(Kind::Name) =>
            {
                Some("`++` joins two arrays; one more than `i` is `i + 1`")
            }
            Kind::CloseBracket if self.before() == Some(Kind::Range) && self.is_in_index() => {
                Some("a part of an array has a colon: `xs[i:]`, `xs[:n]`, `xs[i:n]`")
            }
            Kind::Range if self.before() == Some(Kind::OpenIndex) => {
                Some("a part of an array has a colon: `xs[i:]`, `xs[:n]`, `xs[i:n]`")
            }
            Kind::CloseBracket if self.before() == Some(Kind::Range) => Some(
                "a range has an end, `1..n`; what goes on until something holds is `loop x = … while … do …`",
            ),
            Kind::Comma if self.is_in_call() => {
                Some("arguments stand one after the other, without commas: `map (+ 1) xs`")
            }
            Kind::Semicolon if self.failure.end_expected && self.is_followed() => {
                Some("each binding and each expression begins on a line of its own")
            }
            Kind::Comma if self.failure.end_expected => Some("a tuple has parentheses: `(a, b)`"),
            Kind::Colon if self.has_word(&["lambda"]) => Some("a function is `\\x -> e`"),
            Kind::Colon
                if self.before() == Some(Kind::Number)
                    && self.kind(self.at + 1) == Some(Kind::Number) =>
            {
                Some("a range is `a..b`, without b")
            }
            Kind::Do if self.expects_expression() => {
                Some("steps are bound one after the other: `let x = …; y = … in …`")
            }
            Kind::Colon
                if self.failure.end_expected && self.kind(self.at + 1) == Some(Kind::Colon) =>
            {
                Some("types stand in the definition: `def f (x : i64) : i64 = …`")
            }
            Kind::Colon if self.failure.end_expected => {
                Some("an annotation has parentheses: `(e : type)`; no block begins with `:`")
            }
            Kind::With if self.is_after_operand() => Some(PARENTHESES_AROUND_WITH),
            Kind::Comma
                if self.expects(Kind::With)
                    && self.expects(Kind::CloseParen)
                    && self.kind(self.at + 1) == Some(Kind::OpenBracket)
                    && self.is_behind_update() =>
            {
                Some("one update follows another: `(a with [i] = v with [j] = w)`")
            }
            Kind::Comma if self.expects(Kind::With) && self.expects(Kind::CloseParen) => {
                Some(PARENTHESES_AROUND_WITH)
            }
            Kind::In if self.is_generator_in_parentheses() => {
                Some("for each element stands in braces: `{ e : x in xs }`")
            }
            Kind::OpenIndex | Kind::OpenBracket
                if self.expects(Kind::Arrow)
                    && !self.is_after_operand()
                    && self.kind(self.at + 1) == Some(Kind::CloseBracket) =>
            {
                Some("the brackets stand before the type of the elements: `[]i64`")
            }
            _ if self.is_behind_bracketed_type() => {
                Some("the brackets stand before the type of the elements: `[]i64`")
            }
            Kind::In if self.is_after_operand() => Some(
                "`in` belongs to `let … in …`, `{ e : x in xs }` or `loop … for x in xs do …`; whether x is in xs says \
                 `any (xs == x)`",
            ),
            Kind::CloseBracket if self.before() == Some(Kind::OpenIndex) => {
                Some("an index needs a position, or `:` for all: `a[:]`")
            }
            Kind::For | Kind::While if !self.expects(self.found) && !self.is_in_brace() => Some(
                "a loop is `loop x = 0 for i < n do x + i`; for each element, `{ e : x in xs }`",
            ),
            Kind::Wildcard if self.expects_expression() => {
                Some("`_` stands for a value that is not used, in patterns only")
            }
            _ if self.before() == Some(Kind::Import) => Some(
                "`import \"file.weft\"` takes the name of a file; what others import is there already",
            ),
            Kind::Arrow if self.is_after_operand() => Some("a function is `\\x -> e`"),
            Kind::CloseBrace
                if self.before() == Some(Kind::OpenBrace) && self.has_loop_before() =>
            {
                Some(
                    "there are no dictionaries: number the keys by `codes texts`; what belongs to each is an array, \
                     and `scatterWith (+) (replicate n 0) numbers values` adds to it",
                )
            }
            Kind::CloseBrace if self.before() == Some(Kind::OpenBrace) => {
                Some("an empty tuple is `()`, an empty array `[]`")
            }
            Kind::PrefixNot if self.is_after_operand() => Some("inequality is `!=`"),
            Kind::Def | Kind::Type | Kind::Import => {
                Some("a definition begins an item: put it on a line of its own, not indented")
            }
            Kind::Backslash => Some("a function is `\\x -> e`"),
            Kind::Comma if self.expects(Kind::Semicolon) && self.expects(Kind::Bar) => {
                Some("generators are separated by `;`, and a condition follows `|`")
            }
            Kind::Colon if self.expects(Kind::Bar) && self.is_in_brace() => {
                Some("a condition follows `|`: `{ x in xs | c }`")
            }
            Kind::Comma
                if self.expects(Kind::CloseBrace)
                    && !self.expects(Kind::Comma)
                    && self.reading.kinds[..self.at].contains(&Kind::Bar) =>
            {
                Some("two conditions are joined by `&&`")
            }
            Kind::OpenIndex | Kind::OpenBracket
                if self.expects(Kind::Equals)
                    && self.before() == Some(Kind::CloseBracket)
                    && self.reading.kinds[..self.at].contains(&Kind::With) =>
            {
                Some("indices stand in one pair of brackets: `(m with [i, j] = v)`")
            }
            Kind::Less if self.expects(Kind::Equals) && self.has_loop_before() => {
                Some("a loop has a state: `loop x = 0 for i < n do x + i`")
            }
            Kind::Bar
                if self.expects(Kind::In)
                    && self.kind(self.at + 1) == Some(Kind::Name)
                    && self.kind(self.at + 2) == Some(Kind::Equals) =>
            {
                Some("a record with more fields is `{..r, x = 1}`; `{r with x = 1}` replaces one")
            }
            Kind::Power if self.is_in_brace() && !self.is_after_operand() => {
                Some("all fields of a record are `..`: `{..r, x = 1}`")
            }
            Kind::Bar if self.is_after_operand() => Some(
                "for each element that passes: `{ e : x in xs | c }`; `or` is `||`, on bits `.|.`",
            ),
            _ if self.is_in_brace() && !self.is_after_operand() => {
                Some("braces hold a record `{x = 1}` or an apply-to-each `{ e : x in xs }`")
            }
            _ => None,
        }
    }

    /// `loop d = {}`, whose state would be a dictionary.
    fn has_loop_before(&self) -> bool {
        self.reading.kinds[..self.at].contains(&Kind::Loop)
    }

    /// Whether more tokens follow.
    fn is_followed(&self) -> bool {
        self.kind(self.at + 1).is_some()
    }

    /// Whether one of these words stands before.
    pub(super) fn has_word(&self, words: &[&str]) -> bool {
        (0..self.at).any(|token| self.is_word(token, words))
    }

    /// `(e : x in xs)`, read as an annotation.
    fn is_generator_in_parentheses(&self) -> bool {
        let colon = self.at.checked_sub(2).and_then(|token| self.kind(token));
        self.expects(Kind::Arrow)
            && self.expects(Kind::CloseParen)
            && colon == Some(Kind::Colon)
            && self.before() == Some(Kind::Name)
    }

    /// `[t]` where a type is needed, read as a size without the type of the elements.
    fn is_behind_bracketed_type(&self) -> bool {
        let Some(start) = self.at.checked_sub(3) else { return false };
        let is_open = matches!(self.kind(start), Some(Kind::OpenBracket | Kind::OpenIndex));
        is_open
            && self.before() == Some(Kind::CloseBracket)
            && matches!(self.kind(start + 1), Some(Kind::Name | Kind::TypeWord))
            && self.expects(Kind::OpenBracket)
            && !self.expects(Kind::Number)
            && !self.is_after_operand()
    }

    /// Whether the innermost open bracket is that of `f(…`, as calls are written elsewhere.
    fn is_in_call(&self) -> bool {
        let Some(open) = self.innermost() else { return false };
        self.kind(open) == Some(Kind::OpenParen)
            && open > 0
            && self.kind(open - 1) == Some(Kind::Name)
            && self.reading.span(open - 1, open).end == self.reading.span(open, open + 1).start
    }

    /// Whether the innermost open bracket is that of an index.
    fn is_in_index(&self) -> bool {
        self.innermost().is_some_and(|open| self.kind(open) == Some(Kind::OpenIndex))
    }

    /// The innermost open bracket.
    fn innermost(&self) -> Option<usize> {
        let mut closed = 0;
        for (index, kind) in self.reading.kinds[..self.at].iter().enumerate().rev() {
            if CLOSERS.contains(*kind) {
                closed += 1;
            } else if OPENERS.contains(*kind) && closed > 0 {
                closed -= 1;
            } else if OPENERS.contains(*kind) {
                return Some(index);
            }
        }
        None
    }

    /// Whether what stands before, up to the bracket around it, is an update of an element.
    fn is_behind_update(&self) -> bool {
        let mut closed = 0;
        for kind in self.reading.kinds[..self.at].iter().rev() {
            match kind {
                Kind::With if closed == 0 => return true,
                Kind::Comma if closed == 0 => return false,
                kind if CLOSERS.contains(*kind) => closed += 1,
                kind if OPENERS.contains(*kind) && closed == 0 => return false,
                kind if OPENERS.contains(*kind) => closed -= 1,
                _ => {}
            }
        }
        false
    }

    /// Whether the innermost open bracket is a brace that was taken for a record's or a filter's.
    fn is_in_brace(&self) -> bool {
        let open = self.innermost().and_then(|open| self.kind(open));
        matches!(open, Some(Kind::OpenBrace | Kind::OpenFilter))
    }
}
