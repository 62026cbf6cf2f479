//! What is advised to those who know words of other languages can be typed as it stands.

use std::collections::BTreeSet;

use weft_lang::suggest;

use crate::transcript::Transcript;

/// What the lines talk about.
const NAMES: &[&str] = &[
    "xs = [1.0, 4.0, 2.0]",
    "ys = [3.0, 1.0, 2.0]",
    "(x, y, z, a, b) = (2.0, 3.0, 0.0, 0.5, 1.5)",
    "(i, j, k, n, h, w) = (2, 2, 1, 3, 2, 2)",
    "m = [[1.0, 2.0], [3.0, 4.0]]",
    "xss = [[1.0], [2.0]]",
    "texts = [\"ab\", \"c\"]",
    "(text, part, other) = (\"ab c\", \"b\", \"x\")",
    "r = {x = 1.0}",
    "t = {x = [1.0, 2.0]}",
    "edges = [0.0, 1.0]",
    "(is, js) = ([0, 1, 1], [0, 1, 0])",
    "(keys, values) = ([1, 2, 1], [1.0, 2.0, 3.0])",
    "(shape, value, bins) = ((2, 3), 1.0, 3)",
    "(low, high, seed) = (0, 10, 1)",
    "(start, stop, step) = (0.0, 1.0, 0.5)",
    "(c, e) = (true, 1)",
    "op = max",
    "def f v = v + 1.0",
    "def p v = v > 1.0",
];

#[test]
fn every_line_to_type_is_right() {
    let mut session = Transcript::new();
    session.define(NAMES);
    let helps: BTreeSet<&str> = suggest::foreign_words().map(|(_, help)| help).collect();
    let quoted = helps.iter().flat_map(|help| help.split('`').skip(1).step_by(2));
    // Commands and files want a file, a definition would hide what the lines talk about, `…` stands for
    // anything, a word alone is a name, and the last six talk about something else.
    let is_line = |text: &&str| {
        text.contains(' ')
            && !text.contains('…')
            && !text.starts_with(':')
            && !text.starts_with("load")
            && !text.starts_with("def ")
            && ![
                "else if",
                "[a, b, c]",
                "mapWithIndex f xs",
                "flatten (map f xs)",
                "solve a b",
                "leastSquares a b",
            ]
            .contains(text)
    };
    let mut lines = 0;
    for line in quoted.filter(is_line) {
        session.eval(line);
        assert_eq!(session.last_report(), "", "{line}");
        lines += 1;
    }
    assert!(lines > 150, "{lines}");
}

#[test]
fn a_word_of_another_language_comes_before_a_name_that_is_near() {
    let mut session = Transcript::new();
    let words = [
        ("sign 1.0", "signum x"),
        ("arcsin 1.0", "asin x"),
        ("flip [1]", "reverse xs"),
        ("sample [1]", "shuffle"),
        ("zfill 1", "replicate"),
        ("minimumBy 1", "argmin"),
        ("accumulate 1", "scan"),
        ("to_csv 1", ".csv"),
    ];
    for (cell, text) in words {
        session.eval(cell);
        let report = session.last_report();
        assert!(report.contains(text) && !report.contains("did you mean"), "{cell}\n{report}");
    }
}
