//! The manual's page of operations, made from the tables of builtins and of what is written in Weft.

use std::fmt::Write as _;

use weft_lang::builtins::{self, Entry};
use weft_session::{Reference, reference};

const HEAD: &str = "# Operations

Every operation with its type, its cost and an example; most of those from Tables on are written in Weft, and
`:doc source NAME` shows how. This page is made from the tables that `:doc` prints from
(`UPDATE_EXPECT=1 ./test --test manual` rewrites it), and the examples are tests. The functions that read
files are in [files.md](files.md), the forms of the language in [syntax.md](syntax.md).

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
    let mut subject = "";
    for function in reference() {
        if function.subject != subject {
            subject = function.subject;
            let (first, rest) = subject.split_at(1);
            page += &format!("\n## {}{rest}\n", first.to_uppercase());
        }
        own_section(&mut page, &function);
    }
    page
}

fn own_section(page: &mut String, function: &Reference) {
    let Reference { name, heading, doc, example, result, .. } = function;
    write!(page, "\n### `{name}`\n\n`{heading}`\n\n{doc}\n\n```weft\n{example}\n```\n")
        .expect("writing to a string");
    if !result.is_empty() {
        write!(page, "```value\n{result}\n```\n").expect("writing to a string");
    }
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
