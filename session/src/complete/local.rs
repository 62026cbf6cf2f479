//! The names that the item around the cursor binds: parameters, `let`, loops and generators.

use std::collections::BTreeSet;

/// The local names of the item that byte `cursor` of a text lies in, wherever in the item they are bound. They
/// are found by the words around them, as the item need not be whole yet.
pub(super) fn names(text: &str, cursor: usize) -> BTreeSet<&str> {
    let tokens = tokens(item(text, cursor));
    let mut found = BTreeSet::new();
    // What ends the pattern or the parameters that are being read.
    let mut end: &[&str] = &[];
    // An annotation binds nothing.
    let mut in_type = false;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or("\n", |before| tokens[before]);
        if end.contains(token) {
            (end, in_type) = (&[], false);
        }
        match *token {
            "\\" => end = &["->"],
            "let" | "loop" | "def" | ";" => end = &["=", "in", "for"],
            "for" => end = &["in", "<", "do"],
            ":" => in_type = true,
            ")" | "," => in_type = false,
            word if is_name(word) && !is_keyword(word) => {
                let next = tokens.get(at + 1).copied().unwrap_or("\n");
                // The name of a `def` is one of the session.
                let is_parameter = !end.is_empty() && !in_type && before != "def" && before != ".";
                // A pattern of a generator, or a line of a `let`.
                let of_generator = next == "in" && matches!(before, ":" | ";");
                let is_bound = of_generator || next == "=" && before == "\n" && at > 0;
                if is_parameter || is_bound {
                    found.insert(word);
                }
            }
            _ => {}
        }
    }
    found
}

/// The lines of the item: from the last one that begins at the margin to the next that does.
fn item(text: &str, cursor: usize) -> &str {
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
    &text[start..end]
}

/// Words, the symbols that matter, and the ends of lines.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => 1,
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
        if !token.starts_with(' ') && !token.starts_with("--") {
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
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
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
    }

    #[test]
    fn what_other_items_bind_is_not_seen() {
        check("def f x = x\ndef g y = |", &["y"]);
        check("x = 3\n|", &[]);
        check("f \"let word = 1\" -- let other = 2\n|", &[]);
    }
}
