//! The rules of the code that a machine can check. Each test lists every place that breaks its rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_lang::builtins;
use weft_tests::{markdown, pages, repository};

/// The crates with what they may depend on, as ARCHITECTURE.md draws it, and what their tests may use beside that.
const CRATES: [(&str, &[&str], &[&str]); 16] = [
    ("files", &[], &[]),
    ("ir", &[], &[]),
    ("lang", &["ir"], &[]),
    ("interp", &["ir", "lang"], &[]),
    // Its tests compare with the interpreter.
    ("passes", &["ir"], &["lang", "interp"]),
    ("codegen", &["files", "ir"], &[]),
    ("lanes", &["ir"], &[]),
    ("cpu", &["ir", "lanes", "codegen"], &[]),
    ("emulator", &[], &[]),
    ("cuda", &["ir", "codegen", "emulator"], &[]),
    // Its tests have a feature of its own, and run on the stand-in.
    ("device", &["ir", "codegen", "cuda"], &["device", "stand-in"]),
    ("device/stand-in", &["cuda", "emulator"], &[]),
    ("session", &["files", "ir", "lang", "interp", "passes", "cpu", "cuda", "device"], &[]),
    ("jupyter-kernel", &["files", "session"], &[]),
    ("repl", &["files", "session", "jupyter-kernel", "tests"], &[]),
    (
        "tests",
        &["ir", "lang", "interp", "passes", "session", "cpu", "device"],
        &["cuda", "stand-in"],
    ),
];

/// The most lines of a source file.
const LONGEST: usize = 600;

#[test]
fn every_source_says_what_it_is_and_is_short() {
    verify(sources().iter().filter_map(|source| {
        let lines = source.text.lines().count();
        if !source.text.starts_with("//! ") {
            Some(format!("{}:1: the first line is no `//!`", source.name))
        } else if lines > LONGEST {
            Some(format!("{}: {lines} lines; split it by subject", source.name))
        } else {
            None
        }
    }));
}

#[test]
fn files_have_names_that_say_something() {
    let empty = ["utils", "util", "helpers", "helper", "common", "manager", "misc", "mod"];
    verify(sources().iter().filter_map(|source| {
        let stem = Path::new(&source.name).file_stem()?.to_str()?;
        empty.contains(&stem).then(|| format!("{}: find a name for its subject", source.name))
    }));
}

#[test]
fn unfinished_code_is_not_committed() {
    // In two parts, so that this file does not find itself.
    let words = [
        concat!("to", "do!"),
        concat!("unimple", "mented!"),
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
        concat!("#[ig", "nore"),
        concat!("#[should_", "panic"),
        concat!("db", "g!("),
    ];
    verify(sources().iter().flat_map(|source| occurrences(source, &words)));
}

#[test]
fn nothing_depends_on_a_particular_machine() {
    let words = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/tm", "p/"),
        concat!("index.crates", ".io"),
        concat!("static.crates", ".io"),
        concat!("files.python", "hosted"),
    ];
    let root = repository();
    let mut found = Vec::new();
    for ending in ["rs", "md", "toml", "weft", "sh"] {
        for text in texts(&root, ending) {
            found.extend(occurrences(&text, &words));
        }
    }
    for name in ["weft", "test", ".ci/run", ".gitignore"] {
        found.extend(occurrences(&read(&root.join(name)), &words));
    }
    verify(found);
}

#[test]
#[allow(clippy::print_stdout, reason = "what was skipped")]
fn only_what_belongs_to_the_project_lies_at_its_root() {
    let known = [
        ".gitignore",
        "ARCHITECTURE.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "rustfmt.toml",
        "test",
        "weft",
    ];
    // What is committed: whoever works here may keep other files beside it.
    let listed = Command::new("git").arg("ls-files").current_dir(repository()).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        println!("skipped: there is no git that could say what is committed");
        return;
    };
    let listed = String::from_utf8_lossy(&listed.stdout);
    let unknown = listed.lines().filter(|path| !path.contains('/') && !known.contains(path));
    verify(unknown.map(|name| format!("{name}: a file that nothing names")));
}

#[test]
fn imports_name_what_they_import() {
    verify(sources().iter().flat_map(|source| {
        source.numbered().filter_map(|(number, line)| {
            let line = line.trim_start();
            let is_import = line.starts_with("use ") || line.starts_with("pub use ");
            // Unit tests see all of their module.
            (is_import && line.contains("::*") && line != "use super::*;")
                .then(|| format!("{}:{number}: a glob import", source.name))
        })
    }));
}

#[test]
fn crates_depend_on_each_other_as_drawn() {
    let mut broken = Vec::new();
    let workspace = read(&repository().join("Cargo.toml")).text;
    let members = workspace.lines().find(|line| line.starts_with("members")).unwrap_or_default();
    let members: Vec<&str> = members.split('"').skip(1).step_by(2).collect();
    let known: Vec<&str> = CRATES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(members, known, "the crates of the workspace");
    for (name, allowed, of_tests) in CRATES {
        let manifest = read(&repository().join(name).join("Cargo.toml"));
        let mut is_of_tests = false;
        for (number, line) in manifest.numbered() {
            if line.starts_with('[') {
                is_of_tests = line.ends_with("dev-dependencies]");
            }
            let Some(rest) = line.strip_prefix("weft-") else { continue };
            let other = rest.split(['.', ' ', '=']).next().unwrap_or_default();
            if !(allowed.contains(&other) || is_of_tests && of_tests.contains(&other)) {
                broken.push(format!("{}:{number}: `{name}` must not use `{other}`", manifest.name));
            }
        }
    }
    verify(broken);
}

#[test]
fn the_architecture_knows_every_crate_and_stays_short() {
    let page = read(&repository().join("ARCHITECTURE.md"));
    let missing: Vec<String> = CRATES
        .iter()
        .filter(|(name, ..)| !page.text.contains(&format!("`{name}`")))
        .map(|(name, ..)| format!("ARCHITECTURE.md: nothing about `{name}`"))
        .collect();
    verify(missing);
    assert!(page.text.lines().count() < 200, "ARCHITECTURE.md has 200 lines or more");
}

#[test]
fn only_one_module_knows_ariadne() {
    verify(sources().iter().filter(|source| !source.name.starts_with("lang/src/render")).flat_map(
        |source| occurrences(source, &[concat!("ariadne", "::"), concat!("use ", "ariadne")]),
    ));
}

#[test]
fn unsafe_code_is_where_it_belongs() {
    let words = [concat!("unsafe", " {"), concat!("unsafe", " fn"), concat!("unsafe", " impl")];
    let own = ["lanes/src/", "cpu/src/", "device/src/", "device/stand-in/", "files/src/mapped.rs"];
    let others = sources();
    let others = others.iter().filter(|source| !own.iter().any(|own| source.name.starts_with(own)));
    verify(others.flat_map(|source| occurrences(source, &words)));
}

#[test]
fn the_language_reads_no_files_clocks_or_variables() {
    let own = ["ir/src/", "lang/src/", "interp/src/"];
    let sources = sources();
    let sources =
        sources.iter().filter(|source| own.iter().any(|own| source.name.starts_with(own)));
    verify(sources.flat_map(touches_the_world));
}

/// Where a source names a module or a clock of the standard library by which it would see something of the machine.
fn touches_the_world(source: &Text) -> Vec<String> {
    let clocks = ["SystemTime", "Instant"];
    let modules = ["fs", "env", "net", "process", "io", "os"];
    let mut found = Vec::new();
    let mut line = 1;
    // A path of the library, or all that `use` takes of it: `std::{fs, io}` may go over several lines.
    for (at, part) in source.text.split("std::").enumerate() {
        if at > 0 {
            let end = match part.starts_with('{') {
                true => part.find(';').unwrap_or(part.len()),
                false => part.find(|letter: char| !is_of_word(letter)).unwrap_or(part.len()),
            };
            let mut words = part[..end].split(|letter: char| !is_of_word(letter));
            if let Some(word) = words.find(|word| modules.contains(word)) {
                found.push(format!("{}:{line}: `std::{word}`", source.name));
            }
        }
        line += part.matches('\n').count();
    }
    for (number, line) in source.numbered() {
        let mut words = line.split(|letter: char| !is_of_word(letter));
        let clock = words.find(|word| clocks.contains(word));
        found.extend(clock.map(|clock| format!("{}:{number}: `{clock}`", source.name)));
    }
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[test]
fn no_way_of_writing_an_import_hides_the_world() {
    let found = |text: &str| {
        let source = Text { name: "source".to_owned(), text: text.to_owned() };
        touches_the_world(&source)
    };
    assert_eq!(found("use std::fs;"), ["source:1: `std::fs`"]);
    assert_eq!(found("\nuse std::{\n    fmt,\n    fs::File,\n};"), ["source:2: `std::fs`"]);
    assert_eq!(found("use std::{fmt, io};"), ["source:1: `std::io`"]);
    assert_eq!(found("let now = Instant::now();"), ["source:1: `Instant`"]);
    assert!(found("use std::{fmt, iter};\nlet fs = std::mem::take(&mut io);").is_empty());
}

#[test]
fn the_minimum_version_of_rust_is_the_one_that_readers_are_told() {
    let manifest = read(&repository().join("Cargo.toml")).text;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.expect("the version that cargo asks for").trim_matches('"');
    let readme = read(&repository().join("README.md")).text;
    let told = format!("a Rust toolchain ({version} or later");
    assert!(readme.contains(&told), "README.md does not say `{told}`");
}

#[test]
fn every_error_code_has_a_page_and_a_test() {
    let root = repository();
    let mut broken = Vec::new();
    let mut codes = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        // A code is a literal of its own; what stands in the unit tests below counts as well.
        for text in source.text.split('"').filter(|text| markdown::is_code(text)) {
            codes.insert(text.to_owned());
        }
    }
    assert!(codes.len() > 50, "only {} codes were found", codes.len());
    let tested = tested_text(&root);
    for code in &codes {
        let path = root.join("docs/errors").join(format!("{code}.md"));
        let Ok(text) = fs::read_to_string(&path) else {
            broken.push(format!("docs/errors/{code}.md is missing"));
            continue;
        };
        let runs = ["error", "trap", "warning"]
            .iter()
            .any(|stage| text.contains(&format!("```weft,{stage}\n")));
        let headed = text.starts_with(&format!("# {code}: "));
        if !headed
            || runs != text.contains("\n## Wrong\n")
            || runs && !text.contains("\n## Right\n")
        {
            broken.push(format!("docs/errors/{code}.md: not of the form of the others"));
        }
        if !runs && !tested.contains(code.as_str()) {
            broken.push(format!("no test has {code}"));
        }
    }
    for path in pages::files(&root.join("docs/errors"), "md").expect("the pages of the codes") {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if !codes.contains(stem) && stem != "README" {
            broken.push(format!("docs/errors/{stem}.md is about no code of the sources"));
        }
    }
    verify(broken);
}

#[test]
fn every_builtin_is_documented() {
    verify(builtins::all().flat_map(|entry| {
        let fields = [
            ("doc", entry.doc),
            ("complexity", entry.complexity),
            ("example", entry.example),
            ("result", entry.result),
            ("subject", entry.subject),
        ];
        fields
            .into_iter()
            .filter(|(_, text)| text.trim().is_empty())
            .map(|(field, _)| format!("`{}` has no {field}", entry.name))
            .collect::<Vec<_>>()
    }));
}

#[test]
fn every_relative_link_leads_somewhere() {
    verify(texts(&repository(), "md").iter().flat_map(|page| {
        let folder = repository().join(&page.name).parent().map(Path::to_path_buf);
        links(&page.text)
            .into_iter()
            .filter_map(|(line, target)| {
                let path = target.split('#').next().unwrap_or_default();
                let exists = path.is_empty() || folder.as_ref()?.join(path).exists();
                (!exists).then(|| format!("{}:{line}: there is no `{target}`", page.name))
            })
            .collect::<Vec<_>>()
    }));
}

#[test]
fn every_note_stands_in_one_place() {
    // In two parts, so that this file does not find itself.
    let (word, begin) = (concat!("No", "te"), concat!("No", "te ["));
    let mut broken = Vec::new();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cited: Vec<(String, String)> = Vec::new();
    for ending in ["rs", "md", "weft", "cu", "h"] {
        for text in texts(&repository(), ending) {
            for (number, line) in text.numbered() {
                let place = format!("{}:{number}", text.name);
                // Rustdoc would take one word in brackets for a link.
                let line = line.replace("\\[", "[").replace("\\]", "]");
                let last = line.split_whitespace().last().unwrap_or_default();
                if last.trim_start_matches(['(', '`']) == word {
                    broken.push(format!("{place}: the name of a note is on the next line"));
                }
                let said = line.trim_start_matches([' ', '/', '!', '#', '-', '*']);
                for (at, part) in line.split(begin).enumerate().skip(1) {
                    let Some((name, rest)) = part.split_once(']') else {
                        broken
                            .push(format!("{place}: the name of a note goes on in the next line"));
                        continue;
                    };
                    let is_first = at == 1 && said.starts_with(begin);
                    match is_first && rest.starts_with(". ") {
                        true => places.entry(name.to_owned()).or_default().push(place.clone()),
                        false => cited.push((name.to_owned(), place.clone())),
                    }
                }
            }
        }
    }
    assert!(places.len() > 50, "only {} notes were found", places.len());
    let missing = cited.into_iter().filter(|(name, _)| !places.contains_key(name));
    broken.extend(missing.map(|(name, place)| format!("{place}: there is no note `{name}`")));
    let several = places.iter().filter(|(_, places)| places.len() > 1);
    broken.extend(several.map(|(name, places)| format!("{}: `{name}` is there before", places[1])));
    verify(broken);
}

/// Lists what breaks a rule.
#[track_caller]
fn verify(broken: impl IntoIterator<Item = String>) {
    let broken: Vec<String> = broken.into_iter().collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

/// A file of the repository.
struct Text {
    /// Its path from the root.
    name: String,
    text: String,
}

impl Text {
    /// The lines, counted from 1.
    fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    fn is_test(&self) -> bool {
        self.name.contains("/tests/") || self.name.ends_with("/tests.rs")
    }
}

fn read(path: &Path) -> Text {
    let name = path.strip_prefix(repository()).unwrap_or(path).display().to_string();
    let text = fs::read_to_string(path);
    Text { text: text.unwrap_or_else(|error| panic!("{name}: {error}")), name }
}

/// The files with that ending, but for what cargo and git keep.
fn texts(root: &Path, ending: &str) -> Vec<Text> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root).expect("the repository") {
        let path = entry.expect("an entry of the repository").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            paths.extend(pages::files(&path, ending).expect("a folder"));
        } else if path.extension().is_some_and(|own| own == ending) {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn sources() -> Vec<Text> {
    let sources = texts(&repository(), "rs");
    assert!(sources.len() > 100, "only {} sources were found", sources.len());
    sources
}

fn occurrences(text: &Text, words: &[&str]) -> Vec<String> {
    text.numbered()
        .flat_map(|(number, line)| {
            let found = words.iter().filter(move |word| line.contains(**word));
            found.map(move |word| format!("{}:{number}: `{word}`", text.name))
        })
        .collect()
}

/// All that the tests and the suite say.
fn tested_text(root: &Path) -> String {
    let tests = sources().into_iter().filter(Text::is_test);
    let mut all: String = tests.map(|source| source.text).collect();
    for folder in ["suite", "docs/manual"] {
        for path in pages::files(&root.join(folder), "md").expect("the pages") {
            all += &read(&path).text;
        }
    }
    all
}

/// The targets of the links of a page to places in the repository, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence {
            continue;
        }
        // What stands between backticks is code.
        let prose: String = line.split('`').step_by(2).collect();
        for part in prose.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            if !target.contains("://") && !target.starts_with("mailto:") {
                found.push((index + 1, target.to_owned()));
            }
        }
    }
    found
}
