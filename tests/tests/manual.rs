//! The pages of the manual that are made from tables say what the tables say.
//! `UPDATE_EXPECT=1` rewrites them.

use std::{env, fs};

use weft_passes::fuse::{Reason, Remark};
use weft_tests::{operations, repository};

#[test]
fn the_page_of_operations_is_current() {
    let path = repository().join("docs/manual/operations.md");
    let expected = operations::page();
    if env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        fs::write(&path, &expected).expect("the page can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let differing =
        found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = differing.unwrap_or(found.lines().count().min(expected.lines().count())) + 1;
    assert!(
        found == expected,
        "docs/manual/operations.md:{line} is not what the table of builtins says; run this with \
         UPDATE_EXPECT=1"
    );
}

#[test]
fn every_code_of_fuse_has_a_section() {
    let page = fs::read_to_string(repository().join("docs/manual/compiler.md")).expect("the page");
    let headings = page.lines().filter_map(|line| line.strip_prefix("### F"));
    let headings: Vec<String> =
        headings.filter_map(|rest| Some(format!("F{}", rest.split_once(':')?.0))).collect();
    let reasons = Reason::ALL.into_iter().map(Reason::code);
    let mut codes: Vec<&str> = reasons.chain(Remark::ALL.into_iter().map(Remark::code)).collect();
    codes.sort_unstable();
    assert_eq!(headings, codes);
}
