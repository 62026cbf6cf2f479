//! The pages of the error codes of syntax: the wrong example has that error and the right one
//! none.

use std::fs;
use std::path::PathBuf;

use weft_ir::SourceId;
use weft_lang::syntax::parse;

use super::codes;

/// The codes that no example in a page can have: a source of 4 GiB, and one that is no text.
const WITHOUT_EXAMPLE: [&str; 2] = ["E0118", "E0119"];

const CODES: std::ops::RangeInclusive<u32> = 101..=124;

#[test]
fn every_code_has_a_page_that_is_true() {
    for code in CODES.map(|number| format!("E0{number}")) {
        let page = page(&code);
        assert!(page.starts_with(&format!("# {code}: ")), "{code}: no title");
        if WITHOUT_EXAMPLE.contains(&&*code) {
            continue;
        }
        let wrong =
            fence(&page, "weft,error").unwrap_or_else(|| panic!("{code}: no wrong example"));
        let right = fence(&page, "weft").unwrap_or_else(|| panic!("{code}: no right example"));
        let found = codes(&parse(SourceId(0), &wrong));
        let kinds: Vec<&str> = found.split(' ').map(|code| code.trim_end_matches('+')).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == code), "{code}: {found}");
        assert_eq!(codes(&parse(SourceId(0), &right)), "", "{code}");
    }
}

fn page(code: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "docs", "errors", &format!("{code}.md")]
        .iter()
        .collect();
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{code}: {error}"))
}

/// The text of the first fence with that label.
fn fence(page: &str, label: &str) -> Option<String> {
    let start = format!("```{label}\n");
    let text = &page[page.find(&start)? + start.len()..];
    Some(text[..text.find("```")?].into())
}
