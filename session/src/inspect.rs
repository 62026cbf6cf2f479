//! What a reader points at: the word or operator at the cursor, else the function that is applied
//! around it.

use std::ops::Range;
use std::sync::Arc;

use weft_lang::syntax::{TokenClass, tokens};

use crate::complete::Snapshot;
use crate::session::{Cell, Keep, Session};
use crate::sink::{Cancel, Collected, Event};

impl Snapshot {
    /// The kernels that the expression around byte `cursor` becomes, as `:fuse` shows them; none if
    /// no expression stands there, or one that has errors.
    pub fn kernels(&self, text: &str, cursor: usize) -> Option<String> {
        let question = format!(":fuse {}", expression(text, cursor)?.replace('\n', " "));
        let mut aside = Session::aside(Arc::clone(&self.state), self.sources.clone());
        let mut said = Collected::default();
        aside.eval_as(Cell::typed(&question), Keep::Nothing, &mut said, &Cancel::new());
        said.events.into_iter().find_map(|event| match event {
            Event::Text(text) => Some(text),
            _ => None,
        })
    }
}

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

/// The expression of the item around `cursor`: an item begins in the first column and goes on where
/// lines are indented. Definitions, commands and imports are none.
pub(crate) fn expression(text: &str, cursor: usize) -> Option<&str> {
    let begins = |line: &str| line.chars().next().is_some_and(|c| !c.is_whitespace());
    let (mut start, mut end, mut offset) = (None, text.len(), 0);
    for line in text.split_inclusive('\n') {
        if begins(line) && offset <= cursor {
            start = Some(offset);
        } else if begins(line) {
            end = offset;
            break;
        }
        offset += line.len();
    }
    let item = text[start?..end].trim_end();
    let found: Vec<Token> =
        tokens(item).into_iter().map(|(class, range)| Token { class, range }).collect();
    let word = |index: usize| found.get(index).map(|token| &item[token.range.clone()]);
    match (word(0)?, word(1)) {
        ("def" | "type" | "import", _) => None,
        (first, _) if first.starts_with(':') || first.starts_with("--") => None,
        (_, Some("=")) => Some(item[found[1].range.end..].trim()),
        (_, _) => Some(item),
    }
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
    use super::{expression, subjects};

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

    #[test]
    fn the_expression_around_a_place() {
        let text = "xs = iota 3\nsum\n  (xs * 2)\ndef f x = x\n:vars\n";
        assert_eq!(expression(text, 2), Some("iota 3"));
        assert_eq!(expression(text, text.find("xs *").unwrap()), Some("sum\n  (xs * 2)"));
        assert_eq!(expression(text, text.find("def").unwrap()), None);
        assert_eq!(expression(text, text.find("vars").unwrap()), None);
        assert_eq!(expression("", 0), None);
        assert_eq!(expression("x == 1", 0), Some("x == 1"));
    }
}
