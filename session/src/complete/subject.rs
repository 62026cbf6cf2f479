//! The expression before a point, whose fields could follow it.

use std::ops::Range;

use weft_lang::syntax::{TokenClass, tokens};

type Token = (TokenClass, Range<usize>);

/// The postfix expression that a text ends with, as far back as it goes: a name or something in
/// brackets, with fields and indices behind it. Empty if the text ends with something else.
pub(super) fn subject(before: &str) -> &str {
    let found = tokens(before);
    let mut rest = &found[..];
    let mut start = before.len();
    while let Some(((class, range), earlier)) = rest.split_last() {
        if range.end != start {
            return "";
        }
        let is_whole = match &before[range.clone()] {
            ")" | "]" | "}" => {
                let Some(open) = opening(before, rest) else { return "" };
                start = rest[open].1.start;
                rest = &rest[..open];
                !(before[start..].starts_with('[') && ends_operand(before, rest, start))
            }
            _ => {
                start = range.start;
                rest = earlier;
                match class {
                    TokenClass::Name => true,
                    TokenClass::Field => false,
                    _ => return "",
                }
            }
        };
        if is_whole {
            return &before[start..];
        }
    }
    ""
}

/// The bracket that the last one closes.
fn opening(text: &str, tokens: &[Token]) -> Option<usize> {
    let mut depth = 0;
    for (at, (_, range)) in tokens.iter().enumerate().rev() {
        match &text[range.clone()] {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a value stands right before byte `end`, so that a bracket there is an index.
fn ends_operand(text: &str, tokens: &[Token], end: usize) -> bool {
    tokens.last().is_some_and(|(class, range)| {
        let is_closed = matches!(&text[range.clone()], ")" | "]" | "}");
        range.end == end && (is_closed || matches!(class, TokenClass::Name | TokenClass::Field))
    })
}

#[cfg(test)]
mod tests {
    use super::subject;

    #[test]
    fn the_expression_before_a_point() {
        let check =
            |before: &str, expected: &str| assert_eq!(subject(before), expected, "{before}");
        check("r", "r");
        check("1 + r", "r");
        check("sum rows.x", "rows.x");
        check("f (g x)", "(g x)");
        check("f rows[0]", "rows[0]");
        check("f m[0][i + 1]", "m[0][i + 1]");
        check("f [r, s]", "[r, s]");
        check("(f x)[0].inner", "(f x)[0].inner");
        check("map f {r with x = 3}", "{r with x = 3}");
        check("x = p.0.a", "p.0.a");
        check("sum xs\n  + (last rows)", "(last rows)");
        check("r)", "");
        check("r +", "");
        check("", "");
    }
}
