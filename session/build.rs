//! Makes tables of the pages in `docs/errors` and of the reasons of `:fuse` in the manual, so that the
//! program carries them.

#![allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    // As it is now: the script may have been compiled in another folder.
    let docs = env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo");
    let docs = Path::new(&docs).join("../docs");
    let folder = docs.join("errors");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the pages of errors are there");
    let mut pages: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    let mut table = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for page in &pages {
        let code = page.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(table, "    ({code:?}, include_str!({:?})),", page.display().to_string())
            .expect("writing to a string");
    }
    table.push_str("];\n");
    // The reasons of `:fuse` are paragraphs of one page.
    let manual = docs.join("manual/compiler.md");
    println!("cargo::rerun-if-changed={}", manual.display());
    let text = fs::read_to_string(manual).expect("the manual is there");
    table.push_str("const REASONS: &[(&str, &str)] = &[\n");
    for part in text.split("\n### F").skip(1) {
        let end = part.find("\n## ").unwrap_or(part.len());
        let (code, _) = part.split_once(':').unwrap_or((part, ""));
        let page = format!("# F{}", part[..end].trim_end());
        writeln!(table, "    (\"F{code}\", {page:?}),").expect("writing to a string");
    }
    table.push_str("];\n");
    let target = Path::new(&env::var_os("OUT_DIR").expect("set by cargo")).join("error_pages.rs");
    fs::write(target, table).expect("the build folder can be written");
}
