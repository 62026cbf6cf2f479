//! What a reader points at: the word or operator at the cursor, else the function that is applied
//! around it.

use std::ops::Range;

use weft_lang::syntax::{TokenClass, tokens};

/// The byte ranges that inspection at `cursor` could be about, the closest first: what stands at
/// the cursor, what ends there, the head of the application that it is in.
pub(crate) fn subjects(text: &str, cursor: usize) -> Vec<Range<usize>> {
    let tokens: Vec<Token> =
        tokens(text).into_iter().map(|(class, range)| Token { class, range }).collect();
    let under = tokens.iter().filter(|token| token.range.contains(&cursor));
    let before = tokens.iter().filter(|token| token.range.end == cursor);
    let here = under.chain(before).filter(|token| token.has_meaning());
    here.map(|token| token.range.clone()).chain(applied(text, &tokens, cursor)).collect()
}

struct Token {
    class: TokenClass,
    range: Range<usize>,
}

impl Token {
    /// Whether documentation could know it.
    fn has_meaning(&self) -> bool {
        matches!(
            self.class,
            TokenClass::Name | TokenClass::Type | TokenClass::Operator | TokenClass::Command
        )
    }

    fn is_word(&self) -> bool {
        matches!(self.class, TokenClass::Name | TokenClass::Type)
    }
}

/// The first word of the application around the cursor, if that is a word: what stands after the
/// closest open bracket, operator, keyword or beginning of an item.
fn applied(text: &str, tokens: &[Token], cursor: usize) -> Option<Range<usize>> {
    let mut depth = 0;
    let mut head: Option<&Token> = None;
    for token in tokens.iter().rev().skip_while(|token| token.range.end > cursor) {
        let word = &text[token.range.clone()];
        match token.class {
            TokenClass::Bracket if matches!(word, ")" | "]" | "}") => depth += 1,
            TokenClass::Bracket if depth == 0 => break,
            TokenClass::Bracket => depth -= 1,
            _ if depth > 0 => {}
            TokenClass::Operator
            | TokenClass::Punctuation
            | TokenClass::Keyword
            | TokenClass::Command => break,
            _ => {}
        }
        if depth == 0 {
            head = Some(token);
        }
        if text[..token.range.start].ends_with('\n') {
            break;
        }
    }
    head.filter(|token| token.is_word()).map(|token| token.range.clone())
}

#[cfg(test)]
mod tests {
    use super::subjects;

    /// The texts that inspection is about where `^` stands.
    #[track_caller]
    fn check(marked: &str, expect: &[&str]) {
        let cursor = marked.find('^').unwrap();
        let text = marked.replace('^', "");
        let found: Vec<&str> = subjects(&text, cursor).into_iter().map(|at| &text[at]).collect();
        assert_eq!(found, expect, "{marked}");
    }

    #[test]
    fn what_stands_there_comes_first() {
        check("1 + s^um xs", &["sum"]);
        check("sum^", &["sum", "sum"]);
        check("1 ^+ 2", &["+"]);
    }

    #[test]
    fn else_the_function_that_is_applied() {
        check("scanl (+) 0 ^", &["scanl"]);
        check("1 + fold (\\x y -> x) ^", &["fold"]);
        check("f (take 3 ^)", &["take"]);
        check("x = 1\nmap ^", &["map"]);
        check("(^", &[]);
    }
}
