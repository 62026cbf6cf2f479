//! What messages call tokens, and what was expected.

use crate::syntax::kind::{BINARY, Kind, KindSet};

/// What a message calls a token.
pub(super) fn describe(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Name | Kind::TypeWord => format!("the name `{}`", short(text)),
        Kind::Number => format!("the number {}", short(text)),
        Kind::Text => format!("the text {}", short(text)),
        Kind::Char => format!("the character {text}"),
        Kind::Numbers => "an array".into(),
        Kind::Invalid => "this".into(),
        Kind::NewLine => "the next line".into(),
        _ => format!("`{}`", short(text)),
    }
}

/// What was expected, in at most three alternatives.
pub(super) fn expectation(expected: KindSet, end_expected: bool) -> String {
    // In the order in which they help.
    const STRUCTURE: [Kind; 20] = [
        Kind::Then,
        Kind::Else,
        Kind::Do,
        Kind::For,
        Kind::While,
        Kind::Equals,
        Kind::Arrow,
        Kind::In,
        Kind::CloseParen,
        Kind::CloseBracket,
        Kind::CloseBrace,
        Kind::Colon,
        Kind::Comma,
        Kind::Semicolon,
        Kind::Bar,
        Kind::With,
        Kind::Less,
        Kind::Text,
        Kind::Number,
        Kind::OpenBracket,
    ];
    let mut words: Vec<String> = Vec::new();
    if expected.includes(KindSet::of(&[Kind::Backslash, Kind::Number])) {
        words.push("an expression".into());
    } else if expected.contains(Kind::Wildcard) {
        words.push("a pattern".into());
    } else if expected.includes(KindSet::of(&[Kind::TypeWord, Kind::OpenParen, Kind::OpenBracket]))
        && !expected.contains(Kind::Number)
    {
        words.push("a type".into());
    } else if expected.contains(Kind::Name) && !expected.contains(Kind::Number) {
        words.push("a name".into());
    }
    let is_after_operand = expected.includes(BINARY);
    let is_covered = |kind: Kind| {
        let begins_expression = matches!(kind, Kind::Text | Kind::Number | Kind::OpenBracket);
        let has_general_word = !words.is_empty() || is_after_operand;
        (begins_expression && has_general_word)
            || (kind == Kind::Less && is_after_operand)
            || (kind == Kind::Semicolon && end_expected)
    };
    let structure: Vec<String> = STRUCTURE
        .into_iter()
        .filter(|kind| expected.contains(*kind) && !is_covered(*kind))
        .filter_map(Kind::spelling_or_class)
        .collect();
    words.extend(structure);
    if words.is_empty() && is_after_operand {
        words.push("an operator".into());
    }
    if end_expected {
        words.push("the end of the item".into());
    }
    const MOST: usize = 3;
    words.truncate(MOST);
    match words.split_last() {
        None => "an operator".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

impl Kind {
    fn spelling_or_class(self) -> Option<String> {
        match self {
            Kind::Text => Some("a text".into()),
            Kind::Number => Some("a number".into()),
            _ => self.spelling().map(|spelling| format!("`{spelling}`")),
        }
    }
}

fn short(text: &str) -> String {
    const MOST: usize = 30;
    if text.chars().count() <= MOST {
        return text.into();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
