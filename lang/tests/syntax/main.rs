//! The parser, seen from outside: trees as s-expressions, reports by code, hostile input.

mod completeness;
mod dump;
mod errors;
mod expressions;
mod hostile;
mod items;
mod pages;
mod render;
mod soup;

use weft_ir::SourceId;
use weft_lang::syntax::{Parsed, parse};

/// Parses a text that must be right, and compares the trees of its items, one a line.
fn check(input: &str, expect: &str) {
    let parsed = parse(SourceId(0), input);
    assert_eq!(codes(&parsed), "", "{input}\n{:#?}", parsed.diagnostics);
    let items: Vec<String> = parsed.items.iter().map(dump::item).collect();
    assert_eq!(items.join("\n"), expect, "{input}");
}

/// The codes of all diagnostics, with `+` behind those that say "incomplete".
fn codes(parsed: &Parsed) -> String {
    let codes: Vec<String> = parsed
        .diagnostics
        .iter()
        .map(|found| format!("{}{}", found.code, if found.incomplete { "+" } else { "" }))
        .collect();
    codes.join(" ")
}

/// Runs a test whose trees are too deep for the stack of a test's thread.
fn on_a_large_stack<R: Send>(test: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
        let handle = builder.spawn_scoped(scope, test).expect("a thread");
        handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
