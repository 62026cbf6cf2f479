//! The examples of the table of builtins.

use crate::source::check;

#[test]
fn every_example_yields_its_result() {
    let mut failed = Vec::new();
    for entry in weft_lang::builtins::all() {
        let checked = std::panic::catch_unwind(|| check(entry.example, entry.result));
        if checked.is_err() {
            failed.push(entry.name);
        }
    }
    assert!(failed.is_empty(), "the examples of {failed:?}");
}
