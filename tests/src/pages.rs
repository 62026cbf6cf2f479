//! Which pages there are.

use std::path::{Path, PathBuf};
use std::{fs, io};

use weft_lang::builtins;
use weft_session::reference;

use crate::markdown::{Case, Expectation, Page, Section, Stage, parse};

/// The name of the page that the table of builtins makes.
pub const BUILTINS: &str = "table of builtins";

/// The README, the manual, the pages of the error codes, and the suite.
///
/// # Errors
/// A page that cannot be read.
pub fn all(root: &Path) -> io::Result<Vec<Page>> {
    let mut paths = vec![root.join("README.md")];
    for folder in ["docs/manual", "docs/errors", "suite"] {
        paths.extend(files(&root.join(folder), "md")?);
    }
    // It is made from the table of builtins, which is a page of its own below.
    paths.retain(|path| !path.ends_with("docs/manual/operations.md"));
    let mut pages = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        pages.push(parse(&name, &text));
    }
    pages.push(builtins_page());
    Ok(pages)
}

/// The files below a folder with that ending, in alphabetical order. A folder that does not exist
/// has none.
///
/// # Errors
/// A folder that cannot be read.
pub fn files(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.exists() {
        return Ok(found);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The example of every builtin and of every function written in Weft, whose value the tables give; its
/// line is its place in the tables. What draws must simply run.
fn builtins_page() -> Page {
    let builtins = builtins::all().map(|entry| (entry.name, entry.example, entry.result));
    let own = reference();
    let own = own.iter().map(|function| (function.name, function.example, function.result));
    let sections = builtins.chain(own).enumerate().map(|(index, (name, example, result))| {
        let line = index + 1;
        let expectation =
            Expectation { stage: Stage::Value, line, body: result.to_owned(), place: 0..0 };
        let case = Case {
            line,
            source: example.to_owned(),
            fails: None,
            expectations: if result.is_empty() { Vec::new() } else { vec![expectation] },
        };
        Section { heading: format!("`{name}`"), cases: vec![case] }
    });
    Page { name: BUILTINS.to_owned(), sections: sections.collect(), ..Page::default() }
}
