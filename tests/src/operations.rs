//! The manual's page of operations, made from the table of builtins.

use std::fmt::Write as _;

use weft_lang::builtins::{self, Entry};

const HEAD: &str = "# Operations

Every operation with its type, its cost and an example. This page is made from the table that
`:doc` prints from (`UPDATE_EXPECT=1 ./test --test manual` rewrites it), and the examples are tests.

In types, `array s a` is an array of `a`s that an index of type `s` addresses: `i64` for one axis, a
tuple of them for more; `window s a` and `boundary s a` belong to stencils. Implicit map does the
rest: see [types.md](types.md).
";

/// The text of `docs/manual/operations.md`.
pub fn page() -> String {
    let mut subjects: Vec<&str> = Vec::new();
    for entry in builtins::all() {
        if !subjects.contains(&entry.subject) {
            subjects.push(entry.subject);
        }
    }
    let mut page = HEAD.to_owned();
    for subject in &subjects {
        let (first, rest) = subject.split_at(subject.chars().next().map_or(0, char::len_utf8));
        page += &format!("\n## {}{rest}\n", first.to_uppercase());
        for entry in builtins::all().filter(|entry| entry.subject == *subject) {
            section(&mut page, entry);
        }
    }
    page
}

fn section(page: &mut String, entry: &Entry) {
    let Entry { name, signature, parameters, doc, complexity, example, result, .. } = entry;
    let call = format!("{name} {parameters}");
    write!(
        page,
        "\n### `{}`\n\n`{name} : {signature}`\n\n{doc} ({complexity})\n\n```weft\n{example}\n```\n\
         ```value\n{result}\n```\n",
        call.trim_end()
    )
    .expect("writing to a string");
}
