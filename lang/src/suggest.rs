//! "Did you mean": the known name nearest to an unknown one, and words of other languages.

mod words;

use weft_ir::ScalarType;

use words::WORDS;

/// The candidate that a user who typed `name` most probably meant, if one is near enough: one
/// mistake in a short word, two in a longer one. Of equally near ones the first wins.
///
/// ```
/// let known = ["map", "filter", "fold", "transpose"];
/// assert_eq!(weft_lang::suggest::closest("tranpose", known), Some("transpose"));
/// assert_eq!(weft_lang::suggest::closest("flod", known), Some("fold"));
/// assert_eq!(weft_lang::suggest::closest("x", known), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().collect();
    let most = match wanted.len() {
        0 | 1 => return None,
        2..=5 => 1,
        _ => 2,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().collect();
            // So a name of a million letters costs nothing.
            if letters.len().abs_diff(wanted.len()) > most {
                return None;
            }
            let is_other_case = candidate.to_lowercase() == name.to_lowercase();
            let far = if is_other_case { 0 } else { distance(&wanted, &letters) };
            // Of two or three letters, another one makes another word: `is` is not `i8`.
            if far > 0
                && wanted.len() < 4
                && letters.len() == wanted.len()
                && !is_swapped(&wanted, &letters)
            {
                return None;
            }
            // Who writes `scan1` means `scanl1` rather than `scan`.
            let key = (far, letters.last() != wanted.last());
            (far <= most && far < letters.len().max(2)).then_some((key, candidate))
        })
        .min_by_key(|(key, _)| *key)
        .map(|(_, candidate)| candidate)
}

/// What to write instead of a word that other languages put between two operands, or between two parts of a form.
pub fn foreign_operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "write `a && b`",
        "or" => "write `a || b`",
        "mod" => "write `a % b`",
        "div" => "write `a // b`",
        "xor" => "write `a .^. b` of integers, `a != b` of truth values",
        "is" => "write `a == b`",
        "where" => "a condition of an apply-to-each stands behind `|`: `{ x : x in xs | x > 0 }`",
        _ => return None,
    })
}

/// Whether a word is a type, here or in other languages.
pub(crate) fn is_type(word: &str) -> bool {
    const FOREIGN: [&str; 26] = [
        "int", "Int", "integer", "Integer", "long", "short", "uint", "unsigned", "signed",
        "size_t", "usize", "isize", "float", "Float", "double", "Double", "real", "boolean",
        "Bool", "Boolean", "string", "String", "str", "byte", "void", "number",
    ];
    FOREIGN.contains(&word) || ScalarType::from_name(word).is_some()
}

/// What to write instead of a word that other languages use, for words that are unknown here.
pub fn foreign_word(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(words, _)| words.contains(&word)).map(|(_, help)| *help)
}

/// All words of other languages that have an answer, with it.
pub fn foreign_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORDS.iter().flat_map(|(words, help)| words.iter().map(|word| (*word, *help)))
}

/// Whether two words have the same letters in another order.
fn is_swapped(one: &[char], other: &[char]) -> bool {
    let sorted = |letters: &[char]| {
        let mut letters = letters.to_vec();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// The least number of letters to insert, drop, replace, or swap with their neighbour (optimal
/// string alignment).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let replace = last[column] + usize::from(letter != other);
            let mut least = replace.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swap =
                row > 0 && column > 0 && letter == to[column - 1] && from[row - 1] == other;
            if is_swap {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, distance, foreign_word, foreign_words};

    #[test]
    fn distances() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        for (from, to, expect) in
            [("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(&letters(from), &letters(to)), expect, "{from} {to}");
        }
    }

    #[test]
    fn finds_what_was_meant() {
        let known = ["sum", "sqrt", "scanl", "scanl'", "length", "größe"];
        assert_eq!(closest("lenght", known), Some("length"));
        assert_eq!(closest("SUM", known), Some("sum"));
        assert_eq!(closest("grösse", known), Some("größe"));
        assert_eq!(closest("frobnicate", known), None);
        assert_eq!(closest("scanl", known), Some("scanl'"));
        assert_eq!(closest("", known), None);
        assert_eq!(closest("scan1", ["scan", "scanl", "scanl1"]), Some("scanl1"));
        assert_eq!(closest("sum1", known), Some("sum"));
    }

    #[test]
    fn short_words_with_another_letter_are_other_words() {
        assert_eq!(closest("is", ["i8"]), None);
        assert_eq!(closest("foo", ["for"]), None);
        assert_eq!(closest("mxa", ["max"]), Some("max"));
        assert_eq!(closest("su", ["sum"]), Some("sum"));
    }

    #[test]
    fn knows_other_languages() {
        assert!(foreign_word("lambda").is_some_and(|help| help.contains("\\x")));
        assert_eq!(foreign_word("velocity"), None);
    }

    #[test]
    fn no_word_has_two_answers() {
        let mut words: Vec<&str> = foreign_words().map(|(word, _)| word).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
