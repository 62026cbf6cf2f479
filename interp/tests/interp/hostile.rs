//! The examples of the builtins with one number replaced: no change may make the interpreter panic.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use weft_interp::Limits;

use crate::source::{LIMITS, try_run};

/// What a number is replaced by.
const REPLACEMENTS: &[&str] =
    &["(1 // 0)", "0", "(-1)", "65", "1000003", "(2 ** 62)", "(0.0 / 0.0)", "[]", "[1, 1 // 0]"];

#[test]
fn no_number_makes_a_builtin_panic() {
    let limits = Limits { memory: 1 << 24, ..LIMITS };
    let (mut run, mut panicked) = (0, Vec::new());
    for entry in weft_lang::builtins::all() {
        for number in numbers(entry.example) {
            for replacement in REPLACEMENTS {
                let is_count = matches!(entry.name, "iterate");
                if is_count && *replacement == "(2 ** 62)" {
                    // It would take as long as it says.
                    continue;
                }
                let mut text = entry.example.to_owned();
                text.replace_range(number.clone(), replacement);
                match try_run(&text, &limits, &AtomicBool::new(false)) {
                    Some(Ok(_)) => run += 1,
                    Some(Err(())) => panicked.push(text),
                    None => {}
                }
            }
        }
    }
    assert!(panicked.is_empty(), "{panicked:#?}");
    assert!(run > 1000, "only {run} programs ran");
}

/// Where numbers stand in a program.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let mut end = start;
        let in_word =
            start > 0 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'.');
        while end < bytes.len()
            && (bytes[end].is_ascii_digit() || (end > start && bytes[end] == b'.'))
        {
            end += 1;
        }
        if end > start && !in_word {
            ranges.push(start..end);
        }
        start = end.max(start + 1);
    }
    ranges
}
