//! Operators and punctuation, which only their neighbours tell apart.

use super::Lexer;
use super::word::word_length;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::Kind;
use crate::syntax::literal::number;

impl Lexer<'_> {
    pub(super) fn operator(&mut self) {
        let next = |ahead| self.peek(ahead).unwrap_or(0);
        let (kind, length) = match (next(0), next(1), next(2)) {
            (b'.', b'|', b'.') => (Kind::BitOr, 3),
            (b'.', b'^', b'.') => (Kind::BitXor, 3),
            (b'.', b'&', b'.') => (Kind::BitAnd, 3),
            (b'.', b'.', b'.' | b'=') => return self.foreign(),
            (b'.', b'.', _) => (Kind::Range, 2),
            (b'.', _, _) => return self.field(),
            (b'|', b'>', _) => (Kind::PipeRight, 2),
            (b'|', b'|', _) => (Kind::Or, 2),
            (b'|', b'=', after) if after != b'=' => return self.foreign(),
            (b'|', _, _) => (Kind::Bar, 1),
            (b'<', b'|', _) => (Kind::PipeLeft, 2),
            (b'<', b'=', _) => (Kind::LessEqual, 2),
            (b'<', b'<', _) => (Kind::ShiftLeft, 2),
            (b'<', b'>', _) => return self.foreign(),
            (b'<', b'-', b' ') if self.is_behind_first_name() => return self.foreign(),
            (b'<', _, _) => (Kind::Less, 1),
            (b'>', b'=', _) => (Kind::GreaterEqual, 2),
            (b'>', b'>', _) => (Kind::ShiftRight, 2),
            (b'>', _, _) => (Kind::Greater, 1),
            (b'=', b'=', b'=') | (b'!', b'=', b'=') => return self.foreign(),
            (b'=', b'=', _) => (Kind::Equal, 2),
            (b'=', b'>', _) => return self.foreign(),
            (b'=', _, _) => (Kind::Equals, 1),
            (b'!', b'=', _) => (Kind::NotEqual, 2),
            (b'!', b'!', _) if self.previous().is_some_and(Kind::ends_operand) => {
                return self.foreign();
            }
            (b'!', _, _) => (self.not(), 1),
            (b'&', b'&', _) => (Kind::And, 2),
            (b'+', b'+', _) => (Kind::Append, 2),
            (b'+' | b'-' | b'*' | b'%', b'=', after) if after != b'=' => return self.foreign(),
            (b'+', _, _) => (Kind::Plus, 1),
            (b'-', b'>', _) => (Kind::Arrow, 2),
            (b'-', _, _) => (self.minus(), 1),
            (b'*', b'*', b'=') | (b'/', b'/', b'=') if next(3) != b'=' => return self.foreign(),
            (b'*', b'*', _) => (Kind::Power, 2),
            (b'*', _, _) => (Kind::Times, 1),
            (b'/', b'=' | b'*', _) => return self.foreign(),
            (b'/', b'/', _) => (Kind::FloorDivide, 2),
            (b'/', _, _) => (Kind::Divide, 1),
            (b'%', _, _) => (Kind::Remainder, 1),
            (b'\\', _, _) => (Kind::Backslash, 1),
            (b':', b'=', _) => return self.foreign(),
            (b':', _, _) => (Kind::Colon, 1),
            _ => return self.foreign(),
        };
        self.symbol(kind, length);
    }

    /// A `-` subtracts after an operand, unless it has a space before it and none after; in `(-)`
    /// and `(x -)` it is the operator.
    fn minus(&self) -> Kind {
        let is_last = self.peek(1) == Some(b')');
        match self.previous() {
            Some(before) if before.ends_operand() => {
                if self.has_space_before() && !self.has_space_after(1) && !is_last {
                    Kind::ArgumentMinus
                } else {
                    Kind::Minus
                }
            }
            Some(Kind::OpenParen) if is_last => Kind::Minus,
            _ => Kind::PrefixMinus,
        }
    }

    fn not(&self) -> Kind {
        match self.previous() {
            Some(before)
                if before.ends_operand() && self.has_space_before() && !self.has_space_after(1) =>
            {
                Kind::ArgumentNot
            }
            _ => Kind::PrefixNot,
        }
    }

    /// `.name` or `.0` after an operand, or in a section.
    fn field(&mut self) {
        let after = &self.rest()[1..];
        let first = after.chars().next().unwrap_or(' ');
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let is_name = first == '_' || unicode_ident::is_xid_start(first);
        let length = if is_name { word_length(after) } else { digits };
        let end = self.at + 1 + length;
        if length == 0 {
            let span = self.span(self.at, end);
            self.report(
                Diagnostic::error("E0101", "a lone point", span, "expected a field's name").help(
                    match first {
                        '+' | '-' | '*' | '/' | '^' | '<' | '>' | '=' | '!' | '&' | '|' | '%' => {
                            "operators go through arrays without a point: `xs + ys`"
                        }
                        _ if first == ' ' && self.text[..self.at].ends_with(' ') => {
                            "one function after the other is `\\x -> f (g x)`"
                        }
                        _ => "a field is `r.x`, a component `t.0`, a range `a..b`",
                    },
                ),
            );
            return self.push(Kind::Invalid, end);
        }
        let in_section = matches!(self.previous(), Some(Kind::OpenParen));
        if self.touches_operand() || in_section {
            return self.push(Kind::Field, end);
        }
        if is_name {
            let word = after[..length].to_string();
            let span = self.span(self.at, end);
            self.report(
                Diagnostic::error(
                    "E0101",
                    format!("`.{word}` belongs to nothing"),
                    span,
                    "a field follows its record without a space",
                )
                .help(format!("the function that selects it is written `(.{word})`")),
            );
            let is_postfix = self.previous().is_some_and(Kind::ends_operand);
            return self.push(if is_postfix { Kind::Field } else { Kind::Invalid }, end);
        }
        let end = self.at + 1 + number::length(after.as_bytes());
        let written = &self.text[self.at..end];
        let span = self.span(self.at, end);
        let diagnostic = Diagnostic::error(
            "E0108",
            format!("`{written}` is not a number"),
            span,
            "a float has a digit on both sides of its point",
        )
        .help(format!("write 0{written}"));
        self.report(diagnostic);
        self.push(Kind::Invalid, end);
    }
}
