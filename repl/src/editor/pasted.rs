//! What is meant by a text that was copied from elsewhere.

use weft_session::{Completeness, completeness};

/// Of the record of a session, or of a page of the manual, what was typed: without prompts, answers and fences.
pub(super) fn pasted(text: &str) -> String {
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else {
        return text.to_owned();
    };
    // One line alone may compare two numbers, `3> 2`.
    let is_program =
        text.trim_end().lines().count() == 1 && completeness(text) == Completeness::Complete;
    if prompted(first).is_some() && !is_program {
        typed(text)
    } else if first.trim_start().starts_with(FENCE) {
        fenced(text)
    } else {
        text.to_owned()
    }
}

const FENCE: &str = "```";

/// What stands behind the prompt of a line.
fn prompted(line: &str) -> Option<&str> {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let has_number = rest.len() < line.trim_start().len();
    let rest = rest.strip_prefix('>').filter(|_| has_number)?;
    rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))
}

/// The lines behind prompts.
fn typed(text: &str) -> String {
    let further = |line: &str| {
        let rest = line.trim_start().trim_start_matches('·');
        (rest.len() < line.trim_start().len())
            .then(|| rest.strip_prefix(' ').unwrap_or(rest).to_owned())
    };
    let lines =
        text.lines().filter_map(|line| prompted(line).map(str::to_owned).or_else(|| further(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines between fences of programs, which say nothing else.
fn fenced(text: &str) -> String {
    let (mut lines, mut inside) = (Vec::new(), None);
    for line in text.lines() {
        match (line.trim_start().strip_prefix(FENCE), inside) {
            (Some(name), None) => inside = Some(matches!(name.trim(), "" | "weft")),
            (Some(_), Some(_)) => inside = None,
            (None, Some(true)) => lines.push(line),
            (None, _) => {}
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::pasted;

    #[test]
    fn programs_are_as_they_are() {
        for text in ["x = 1\ny > 2", "  5", "", "def f x =\n  x", "3> 2", "3> 2\n"] {
            assert_eq!(pasted(text), text);
        }
    }

    #[test]
    fn of_a_session_what_was_typed_is_taken() {
        let text = "1> xs = iota 3\nxs : [3]i64\n2> def f x =\n··   x + 1\nf : i64 -> i64\n3> f xs\n[3]i64 [1, 2, 3]\n";
        assert_eq!(pasted(text), "xs = iota 3\ndef f x =\n  x + 1\nf xs");
        assert_eq!(pasted("12> sum xs\n6\n13> "), "sum xs\n");
        assert_eq!(pasted("2> y = 3"), "y = 3");
    }

    #[test]
    fn of_a_page_the_programs_are_taken() {
        let text = "```weft\nxs = iota 3\n```\n```value\n[0, 1, 2]\n```\n\nAnd so on.\n\n```weft\nsum xs\n```\n";
        assert_eq!(pasted(text), "xs = iota 3\nsum xs");
    }
}
