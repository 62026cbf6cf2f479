//! Text to tokens, cut into items.
//!
//! An item starts where a line starts at or left of the column of the very first token, which is
//! column 0 unless the whole text is indented. The lexer decides what only adjacent characters
//! decide: whether a `[` indexes, a `-` is a prefix, a `.` selects a field. What brackets and
//! `let` blocks decide is left to [`super::layout`].

mod foreign;
mod operator;
mod word;

use std::sync::Arc;

use weft_ir::{SourceId, Span};

use super::MAX_REPORTS;
use super::kind::{CONTINUES, KEYWORDS, Kind};
use super::literal::bulk;
use crate::ast::Number;
use crate::diagnostic::Diagnostic;

/// A half-open byte range of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The first byte.
    pub(super) start: u32,
    /// One past the last byte.
    pub(super) end: u32,
}

impl Place {
    /// The place as a span of `source`.
    pub(super) fn span(self, source: SourceId) -> Span {
        Span { source, start: self.start, end: self.end }
    }

    /// The place as a range for slicing.
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The tokens of a source.
#[derive(Debug, Default)]
pub(super) struct Lexemes {
    /// What the tokens are.
    pub(super) kinds: Vec<Kind>,
    /// Where they are, one for each kind.
    pub(super) places: Vec<Place>,
    /// The index of each item's first token.
    pub(super) items: Vec<usize>,
    /// The index of the first token of each line that has one.
    pub(super) lines: Vec<usize>,
    /// The values of the [`Kind::Numbers`] tokens, by their first byte.
    pub(super) numbers: Vec<(u32, Arc<[Number]>)>,
    /// The comments.
    pub(super) comments: Vec<Place>,
    /// What is wrong: the first [`MAX_REPORTS`] findings.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// How many findings more there are.
    pub(super) more: usize,
}

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// As items, to be parsed.
    Items,
    /// As the one item that it is, to be parsed.
    OneItem,
    /// As items, every token on its own, to be coloured.
    Colours,
}

/// Reads the tokens of `range` of `text`.
pub(super) fn lex(
    source: SourceId,
    text: &str,
    range: std::ops::Range<usize>,
    purpose: Purpose,
) -> Lexemes {
    let mut lexer = Lexer {
        source,
        text: &text[..range.end],
        at: range.start,
        purpose,
        indent: 0,
        is_line_start: true,
        base: None,
        lexemes: Lexemes::default(),
    };
    lexer.run();
    lexer.lexemes
}

struct Lexer<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
    purpose: Purpose,
    /// The indentation of this line.
    indent: u32,
    /// Whether no token of this line has been seen.
    is_line_start: bool,
    /// The column in which items start.
    base: Option<u32>,
    lexemes: Lexemes,
}

impl<'a> Lexer<'a> {
    fn run(&mut self) {
        if self.at == 0 && self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        if self.rest().starts_with("#!") {
            // For the system, which starts `weft` with such a file.
            self.line_comment();
        }
        self.measure_indent();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.is_line_start = true;
                    self.measure_indent();
                }
                b' ' | b'\t' | b'\r' | b'\x0c' => self.at += 1,
                b'-' if self.peek(1) == Some(b'-') => self.line_comment(),
                b'{' if self.peek(1) == Some(b'-') => self.block_comment(),
                b':' if self.starts_item(Kind::Colon) => self.command(),
                b'0'..=b'9' => self.number(),
                b'"' => self.text_literal(),
                b'\'' => self.character_literal(),
                b'(' => self.symbol(Kind::OpenParen, 1),
                b')' => self.symbol(Kind::CloseParen, 1),
                b'[' => self.open_bracket(),
                b']' => self.symbol(Kind::CloseBracket, 1),
                b'{' => self.symbol(Kind::OpenBrace, 1),
                b'}' => self.symbol(Kind::CloseBrace, 1),
                b',' => self.symbol(Kind::Comma, 1),
                b';' => self.symbol(Kind::Semicolon, 1),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.word(),
                0x80.. => self.beyond_ascii(),
                _ => self.operator(),
            }
        }
    }

    /// The byte that many places ahead.
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn measure_indent(&mut self) {
        let mut column = 0;
        for byte in self.text.as_bytes()[self.at..].iter() {
            match byte {
                b' ' => column += 1,
                b'\t' => column = (column / 8 + 1) * 8,
                _ => break,
            }
        }
        self.indent = column;
    }

    /// Whether a token of that kind, put here, is the first of an item.
    fn starts_item(&self, kind: Kind) -> bool {
        match self.base {
            None => true,
            Some(base) => {
                self.is_line_start
                    && self.indent <= base
                    && !CONTINUES.contains(kind)
                    && self.purpose != Purpose::OneItem
            }
        }
    }

    /// Appends a token that ends at byte `end`, and goes on there.
    fn push(&mut self, kind: Kind, end: usize) {
        let token = self.lexemes.kinds.len();
        if self.starts_item(kind) {
            self.base.get_or_insert(self.indent);
            self.lexemes.items.push(token);
        }
        if self.is_line_start {
            self.lexemes.lines.push(token);
            self.is_line_start = false;
        }
        if matches!(kind, Kind::Equals | Kind::Colon) {
            self.keyword_as_field(kind);
        }
        self.lexemes.kinds.push(kind);
        self.lexemes.places.push(Place { start: self.at as u32, end: end as u32 });
        self.at = end;
    }

    fn symbol(&mut self, kind: Kind, length: usize) {
        self.push(kind, self.at + length);
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.has_reported_enough() {
            self.lexemes.more += 1;
        } else {
            self.lexemes.diagnostics.push(diagnostic);
        }
    }

    fn has_reported_enough(&self) -> bool {
        self.lexemes.diagnostics.len() >= MAX_REPORTS
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }

    /// The token before this place, if it is of the same item.
    fn previous(&self) -> Option<Kind> {
        if self.starts_item(Kind::Invalid) {
            return None;
        }
        self.lexemes.kinds.last().copied()
    }

    /// Whether an operand ends exactly here.
    fn touches_operand(&self) -> bool {
        self.previous().is_some_and(Kind::ends_operand) && !self.has_space_before()
    }

    fn has_space_before(&self) -> bool {
        self.lexemes.places.last().is_none_or(|place| place.end as usize != self.at)
    }

    /// Whether a blank follows after `length` bytes.
    fn has_space_after(&self, length: usize) -> bool {
        self.peek(length).is_none_or(|byte| byte.is_ascii_whitespace())
    }

    /// `{type = 1}`, `{in: i64}`: before `=` and `:` a field of a record may be spelt like a
    /// keyword, since the columns of a file may be, and before `=` like a constant, `{pi = 1}`. (`{ pi : x in xs }` is an
    /// array.)
    fn keyword_as_field(&mut self, next: Kind) {
        let place = self.lexemes.places.last();
        let is_word = place
            .is_some_and(|place| self.text.as_bytes()[place.start as usize].is_ascii_alphabetic());
        let [.., before, last] = &mut self.lexemes.kinds[..] else { return };
        let is_field = match before {
            Kind::OpenBrace | Kind::Comma => true,
            Kind::With => next == Kind::Equals,
            _ => false,
        };
        let is_constant = || match last {
            Kind::True | Kind::False => true,
            Kind::Number => is_word,
            _ => false,
        };
        if is_field && (KEYWORDS.contains(*last) || next == Kind::Equals && is_constant()) {
            *last = Kind::Name;
        }
    }

    fn line_comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.comment(length);
    }

    fn block_comment(&mut self) {
        let bytes = self.rest().as_bytes();
        let (mut depth, mut length) = (1, 2);
        while depth > 0 {
            match bytes.get(length..length + 2) {
                Some(b"{-") => {
                    depth += 1;
                    length += 2;
                }
                Some(b"-}") => {
                    depth -= 1;
                    length += 2;
                }
                Some(_) => length += 1,
                None => {
                    let open = self.span(self.at, self.at + 2);
                    let mut diagnostic = Diagnostic::error(
                        "E0105",
                        "a comment is not closed",
                        open,
                        "it opens here",
                    )
                    .help("close it with `-}`; comments nest");
                    if !self.has_space_after(2) {
                        diagnostic = diagnostic
                            .help("a brace before a minus needs a space: `{ -1 : x in xs }`");
                    }
                    diagnostic.incomplete = true;
                    self.report(diagnostic);
                    length = bytes.len();
                    break;
                }
            }
        }
        let has_newline = bytes[..length].contains(&b'\n');
        self.comment(length);
        if depth > 0 {
            // What the comment swallowed may have been anything.
            return self.push(Kind::Invalid, self.at);
        }
        if has_newline && self.is_line_start {
            // What follows on the comment's last line stands where it stands.
            self.indent = super::columns::column(self.text, self.at);
        }
    }

    fn comment(&mut self, length: usize) {
        let end = self.at + length;
        self.lexemes.comments.push(Place { start: self.at as u32, end: end as u32 });
        self.at = end;
    }

    /// `:name argument…`: everything up to the next item, verbatim.
    fn command(&mut self) {
        let rest = self.rest();
        let name = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.symbol(Kind::Command, name);
        let start = self.at;
        let mut end = start;
        loop {
            let line = self.rest().find('\n').unwrap_or(self.rest().len());
            self.at += line;
            end = if self.text[start..self.at].trim().is_empty() { end } else { self.at };
            let mut next = self.at;
            while self.text[next..].starts_with('\n') {
                next += 1;
                let line = &self.text[next..];
                let blank = line.len() - line.trim_start_matches([' ', '\t', '\r']).len();
                if line[blank..].starts_with('\n') {
                    next += blank;
                } else {
                    self.at = next;
                    self.measure_indent();
                    break;
                }
            }
            self.is_line_start = true;
            if self.rest().is_empty() || self.starts_item(Kind::Invalid) {
                break;
            }
        }
        let argument = &self.text[start..end];
        let from = start + (argument.len() - argument.trim_start().len());
        let to = start + argument.trim_end().len();
        let after = self.at;
        self.is_line_start = false;
        self.at = from.min(to.max(start));
        self.push(Kind::Argument, to.max(self.at));
        self.at = after;
        self.is_line_start = true;
    }

    fn open_bracket(&mut self) {
        if self.touches_operand() {
            return self.symbol(Kind::OpenIndex, 1);
        }
        if self.purpose != Purpose::Colours {
            let base = match self.purpose {
                Purpose::OneItem => None,
                _ => Some(self.base.unwrap_or(self.indent)),
            };
            if let Some((numbers, length)) = bulk::numbers(&self.rest()[1..], base) {
                self.lexemes.numbers.push((self.at as u32, numbers.into()));
                return self.symbol(Kind::Numbers, 1 + length);
            }
        }
        self.symbol(Kind::OpenBracket, 1);
    }
}
