//! The colours of a cell while it is typed.

use weft_session::{TokenClass, tokens};

use super::screen::Style;

/// Cells longer than this are not coloured: every key draws them again.
const LONGEST: usize = 20_000;

/// How the parts of a cell look, in order. The bracket at the cursor and its partner are marked.
pub(super) fn styles(cell: &str, cursor: usize) -> Vec<Style> {
    if cell.len() > LONGEST {
        return Vec::new();
    }
    let tokens = tokens(cell);
    let brackets: Vec<usize> = tokens
        .iter()
        .filter(|(class, _)| *class == TokenClass::Bracket)
        .map(|(_, range)| range.start)
        .collect();
    let pair = pair_at(cell, &brackets, cursor);
    tokens
        .into_iter()
        .filter_map(|(class, range)| {
            let style = match class {
                TokenClass::Keyword | TokenClass::Command => "35",
                TokenClass::Number => "36",
                TokenClass::String => "32",
                TokenClass::Type => "33",
                TokenClass::Comment => "2",
                TokenClass::Invalid => "31",
                TokenClass::Bracket if pair.contains(&Some(range.start)) => "1;4",
                TokenClass::Name
                | TokenClass::Field
                | TokenClass::Operator
                | TokenClass::Bracket
                | TokenClass::Punctuation => return None,
            };
            Some((range, style))
        })
        .collect()
}

/// The bracket under the cursor or before it, and the one that belongs to it.
fn pair_at(cell: &str, brackets: &[usize], cursor: usize) -> [Option<usize>; 2] {
    let bytes = cell.as_bytes();
    let here = [Some(cursor), cursor.checked_sub(1)]
        .into_iter()
        .flatten()
        .find(|at| brackets.contains(at));
    let mut open: Vec<usize> = Vec::new();
    for &at in brackets {
        if matches!(bytes[at], b'(' | b'[' | b'{') {
            open.push(at);
        } else if let Some(partner) = open.pop() {
            let fits =
                matches!((bytes[partner], bytes[at]), (b'(', b')') | (b'[', b']') | (b'{', b'}'));
            if fits && here.is_some_and(|here| here == at || here == partner) {
                return [Some(partner), Some(at)];
            }
        }
    }
    [None, None]
}

#[cfg(test)]
mod tests {
    use super::styles;

    #[test]
    fn tokens_have_colours() {
        assert_eq!(styles("x + y", 0), []);
        assert_eq!(styles("let é = 1", 0), [(0..3, "35"), (9..10, "36")]);
        assert_eq!(styles("\"a\" -- b", 0), [(0..3, "32"), (4..8, "2")]);
    }

    #[test]
    fn brackets_show_their_partner() {
        assert_eq!(styles("f (x [y])", 9), [(2..3, "1;4"), (8..9, "1;4")]);
        assert_eq!(styles("f (x [y])", 5), [(5..6, "1;4"), (7..8, "1;4")]);
        assert_eq!(styles("f (x [y])", 4), []);
        assert_eq!(styles("f (x", 3), []);
    }
}
