//! From the titles of a table's columns to the names of a record's fields.

use std::collections::{HashMap, HashSet};

use weft_ir::Name;

/// Words that cannot name a field.
const RESERVED: [&str; 22] = [
    "def", "do", "else", "false", "for", "if", "import", "in", "inf", "let", "loop", "nan", "pi",
    "seq", "then", "true", "type", "while", "window1", "window2", "window3", "with",
];

/// A distinct identifier for each title. What is no letter or digit becomes `_`, once for a run
/// and never at the ends: `sepal length (cm)` is `sepal_length_cm`. A title that begins with a
/// digit gets a `c` before it, a reserved word an underscore after it, an empty title is `c` and
/// its position, and the second of two equal names ends in `_2`.
pub(super) fn names(titles: &[&str]) -> Vec<Name> {
    let mut taken: HashSet<String> = HashSet::new();
    // The number that the next name of this kind tries first.
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut names = Vec::with_capacity(titles.len());
    for (index, title) in titles.iter().enumerate() {
        let name = identifier(title, index);
        let mut distinct = name.clone();
        while !taken.insert(distinct.clone()) {
            let number = next.entry(name.clone()).or_insert(2);
            distinct = format!("{name}_{number}");
            *number += 1;
        }
        names.push(Name::from(distinct));
    }
    names
}

fn identifier(title: &str, index: usize) -> String {
    let letter = |symbol: char| symbol != '_' && unicode_ident::is_xid_continue(symbol);
    let words: Vec<&str> =
        title.split(|symbol| !letter(symbol)).filter(|word| !word.is_empty()).collect();
    let name = words.join("_");
    match name.chars().next() {
        None => format!("c{index}"),
        Some(first) if !unicode_ident::is_xid_start(first) => format!("c{name}"),
        Some(_) if RESERVED.contains(&name.as_str()) => format!("{name}_"),
        Some(_) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    fn check(titles: &[&str], expected: &[&str]) {
        let names = names(titles);
        assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn titles_become_identifiers() {
        check(&["sepal length (cm)", "Größe", "a_b"], &["sepal_length_cm", "Größe", "a_b"]);
        check(&["2013", "", "in", "--"], &["c2013", "c1", "in_", "c3"]);
    }

    #[test]
    fn duplicates_are_numbered() {
        check(&["x", "x", "x_2", "x"], &["x", "x_2", "x_2_2", "x_3"]);
    }
}
