//! The names that the item around the cursor binds: parameters, `let`, loops and generators.

use std::collections::BTreeSet;
use std::ops::Range;

/// The local names of the item that byte `cursor` of a text lies in, wherever in the item they are bound. They
/// are found by the words around them, as the item need not be whole yet.
pub(super) fn names(text: &str, cursor: usize) -> BTreeSet<&str> {
    let tokens = tokens(&text[item(text, cursor)]);
    let mut found = BTreeSet::new();
    // What ends the pattern or the parameters that are being read.
    let mut end: &[&str] = &[];
    // An annotation binds nothing; the brackets that are open in one.
    let mut in_type: Option<usize> = None;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or("\n", |before| tokens[before]);
        if end.contains(token) {
            (end, in_type) = (&[], None);
        }
        match *token {
            "\\" => (end, in_type) = (&["->"], None),
            "let" | "loop" | "def" | ";" => (end, in_type) = (&["=", "in", "for"], None),
            "for" => (end, in_type) = (&["in", "<", "do"], None),
            ":" if !end.is_empty() => in_type = in_type.or(Some(0)),
            "(" | "[" | "{" => in_type = in_type.map(|open| open + 1),
            ")" | "]" | "}" => in_type = in_type.and_then(|open| open.checked_sub(1)),
            "," => in_type = in_type.filter(|open| *open > 0),
            // What a generator binds stands before its `in`, what a line of a `let` does before its `=`.
            "in" => found.extend(names_of(&tokens[pattern_before(&tokens, at, &[":", ";", "{"])])),
            "=" => found.extend(names_of(&tokens[pattern_before(&tokens, at, &["\n"])])),
            word if is_name(word) && !is_keyword(word) => {
                // The name of a `def` is one of the session; that of a field is none.
                let is_field = before == "." || tokens.get(at + 1) == Some(&"=") && !starts(before);
                if !end.is_empty() && in_type.is_none() && before != "def" && !is_field {
                    found.insert(word);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a pattern can begin after a word of a `let`, a `loop` or a line.
fn starts(word: &str) -> bool {
    matches!(word, "let" | "loop" | ";" | "\n") || is_name(word) || word == ")"
}

/// The names, brackets and commas before a token, where one of `begins` stands before them; else nothing.
fn pattern_before(tokens: &[&str], at: usize, begins: &[&str]) -> Range<usize> {
    let mut start = at;
    let mut open = 0_usize;
    while let Some(before) = start.checked_sub(1) {
        match tokens[before] {
            ")" | "]" | "}" => open += 1,
            token if open == 0 && begins.contains(&token) => return start..at,
            "(" | "[" | "{" if open > 0 => open -= 1,
            "\n" | "," | "_" => {}
            ":" | "=" if open > 0 => {}
            word if is_name(word) && !is_keyword(word) => {}
            _ => break,
        }
        start = before;
    }
    at..at
}

/// The names that a pattern binds: neither fields nor types.
fn names_of<'a>(pattern: &[&'a str]) -> Vec<&'a str> {
    let is_bound = |at: usize| {
        let is_typed = at > 0 && pattern[at - 1] == ":";
        is_name(pattern[at]) && !is_typed && pattern.get(at + 1) != Some(&"=")
    };
    (0..pattern.len()).filter(|at| is_bound(*at)).map(|at| pattern[at]).collect()
}

/// The items before the one that byte `cursor` of a text lies in.
pub(super) fn items_before(text: &str, cursor: usize) -> &str {
    &text[..item(text, cursor).start]
}

/// The lines of the item: from the last one that begins at the margin to the next that does.
fn item(text: &str, cursor: usize) -> Range<usize> {
    // These go on with the item before.
    const GOES_ON: [&str; 8] = ["in", "then", "else", "do", ")", "]", "}", "|"];
    let begins = |at: &usize| {
        let line = &text[*at..];
        let first = line.split(|c: char| !is_word_character(c)).next().unwrap_or_default();
        let goes_on =
            GOES_ON.iter().any(|word| *word == first || line.starts_with(word) && first.is_empty());
        *at == 0 || line.starts_with(|c: char| !c.is_whitespace()) && !goes_on
    };
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(lines).filter(begins).collect();
    let start = starts.iter().copied().rfind(|start| *start <= cursor).unwrap_or(0);
    let end = starts.iter().copied().find(|start| *start > cursor).unwrap_or(text.len());
    start..end
}

/// Words, the symbols that matter, and the ends of lines.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => 1,
            _ if first.is_whitespace() => first.len_utf8(),
            '"' => rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '-' if rest.starts_with("->") => 2,
            '=' if rest.starts_with("==") => 2,
            _ if is_word_character(first) => {
                rest.find(|c: char| !is_word_character(c)).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        let is_blank = first.is_whitespace() && first != '\n';
        if !is_blank && !token.starts_with("--") {
            tokens.push(token);
        }
        rest = behind;
    }
    tokens
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'')
}

fn is_name(token: &str) -> bool {
    token != "_" && token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 14] = [
        "def", "let", "in", "if", "then", "else", "loop", "for", "while", "do", "with", "true",
        "false", "by",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::names;

    /// The cursor is at the `|`.
    fn check(text: &str, expected: &[&str]) {
        let cursor = text.find('|').expect("a cursor");
        let text = text.replacen('|', "", 1);
        assert_eq!(names(&text, cursor).into_iter().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn parameters_and_local_names() {
        check("def area width (height : f64) = wi|", &["height", "width"]);
        check("map (\\left right -> le|", &["left", "right"]);
        check("let total = 1 in to|", &["total"]);
        check("let total = 1\n    count = 2\nin co|", &["count", "total"]);
        check("let (low, high) = p in hi|", &["high", "low"]);
        check("loop (a, b) = (0, 1) for step < 10 do st|", &["a", "b", "step"]);
        check("{ va| : value in xs ; other in ys }", &["other", "value"]);
        check("{ va| : (value, _, other) in xs }", &["other", "value"]);
        check(
            "{ va| : {value, at = other} in xs ; (i, (j, k)) in ys }",
            &["i", "j", "k", "other", "value"],
        );
        check("{ map (\\item -> it|) row : row in rows }", &["item", "row"]);
        check("{ x : row in rows ; (\\item -> it|) }", &["item", "row"]);
        check("let total = 1\n\tcount = 2\nin co|", &["count", "total"]);
        check(
            "def f x =\n\tlet (low, high) = x\n\t\tother = 1\n\tin o|",
            &["high", "low", "other", "x"],
        );
    }

    #[test]
    fn what_other_items_bind_is_not_seen() {
        check("def f x = x\ndef g y = |", &["y"]);
        check("x = 3\n|", &[]);
        check("f \"let word = 1\" -- let other = 2\n|", &[]);
    }
}
