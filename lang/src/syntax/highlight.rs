//! The classes of tokens, for colouring.

use std::ops::Range;

use weft_ir::{ScalarType, SourceId};

use super::kind::{CLOSERS, KEYWORDS, Kind, OPENERS};
use super::lexer::{Purpose, lex};

/// What a piece of text is, as far as its colour goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenClass {
    /// `let`, `if`, ….
    Keyword,
    /// A variable, function or parameter.
    Name,
    /// The name of a scalar type, which is also a conversion; `seq`, `window2`.
    Type,
    /// `.x`, `.0`.
    Field,
    /// A number, `true`, `false`.
    Number,
    /// A text or a character.
    String,
    /// `+`, `|>`, `->`, `\`.
    Operator,
    /// `(`, `]`, `{`.
    Bracket,
    /// `,`, `;`, `:`, `=`, `|`.
    Punctuation,
    /// A comment.
    Comment,
    /// `:time`.
    Command,
    /// What cannot be read.
    Invalid,
}

/// The tokens of a text with their byte ranges, in order and without overlaps. Blanks have none.
pub fn tokens(text: &str) -> Vec<(TokenClass, Range<usize>)> {
    if u32::try_from(text.len()).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    classify(text, 0..text.len(), Purpose::Colours, &mut found);
    found.sort_by_key(|(_, range)| range.start);
    found
}

fn classify(
    text: &str,
    range: Range<usize>,
    purpose: Purpose,
    found: &mut Vec<(TokenClass, Range<usize>)>,
) {
    let lexemes = lex(SourceId(0), text, range, purpose);
    found.extend(lexemes.comments.iter().map(|place| (TokenClass::Comment, place.range())));
    for (&kind, place) in lexemes.kinds.iter().zip(&lexemes.places) {
        let range = place.range();
        if range.is_empty() {
            continue;
        }
        // A command's argument is mostly an expression, and contains no further command.
        if kind == Kind::Argument {
            classify(text, range, Purpose::OneItem, found);
        } else {
            found.push((class(kind, &text[range.clone()]), range));
        }
    }
}

fn class(kind: Kind, text: &str) -> TokenClass {
    match kind {
        Kind::Name if ScalarType::from_name(text).is_some() => TokenClass::Type,
        Kind::Name | Kind::Wildcard => TokenClass::Name,
        Kind::TypeWord => TokenClass::Type,
        Kind::Number | Kind::Numbers | Kind::True | Kind::False => TokenClass::Number,
        Kind::Char | Kind::Text => TokenClass::String,
        Kind::Invalid => TokenClass::Invalid,
        Kind::Field => TokenClass::Field,
        Kind::Command | Kind::Argument => TokenClass::Command,
        Kind::Equals | Kind::Colon | Kind::Bar | Kind::Comma | Kind::Semicolon => {
            TokenClass::Punctuation
        }
        _ if KEYWORDS.contains(kind) => TokenClass::Keyword,
        _ if OPENERS.contains(kind) || CLOSERS.contains(kind) => TokenClass::Bracket,
        _ => TokenClass::Operator,
    }
}
