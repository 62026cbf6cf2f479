//! What was typed, in this session and in earlier ones: a file with a JSON array a line,
//! `[session, line, text]`. Without a file the history lasts as long as the kernel.

use std::collections::HashSet;
use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::wire::Message;

/// Entries of earlier sessions that are kept.
const KEPT: usize = 10_000;
/// Bytes of an output that are remembered.
const OUTPUT_BYTES: usize = 4_000;

/// The cells of this session and of earlier ones.
#[derive(Debug)]
pub(crate) struct History {
    entries: Vec<Entry>,
    session: u64,
    file: Option<File>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    session: u64,
    line: u64,
    input: String,
    /// The result as text; not kept between sessions.
    output: Option<String>,
}

impl History {
    /// The history in that file, which is made if need be; without one if that fails.
    pub(crate) fn open(path: Option<&Path>) -> History {
        let text = path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let all: Vec<Entry> = text.lines().filter_map(parse).collect();
        let recent = all[all.len().saturating_sub(KEPT)..].to_vec();
        if all.len() > 2 * KEPT
            && let Some(path) = path
        {
            rewrite(path, &recent);
        }
        let session = recent.iter().map(|entry| entry.session).max().unwrap_or(0) + 1;
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        // What people type is their own business.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = path.and_then(|path| options.open(path).ok());
        History { entries: recent, session, file }
    }

    /// Adds a cell.
    pub(crate) fn add(&mut self, line: usize, input: &str) {
        let entry = Entry {
            session: self.session,
            line: line as u64,
            input: input.to_owned(),
            output: None,
        };
        if let Some(file) = &mut self.file {
            // One write a line, so that several kernels can share the file.
            let text = format!("{}\n", json!([entry.session, entry.line, entry.input]));
            let _ = file.write_all(text.as_bytes());
        }
        self.entries.push(entry);
    }

    /// Notes the result of the last cell.
    pub(crate) fn set_output(&mut self, text: &str) {
        if let Some(entry) = self.entries.last_mut() {
            let end =
                (0..=text.len().min(OUTPUT_BYTES)).rev().find(|at| text.is_char_boundary(*at));
            entry.output = Some(text[..end.unwrap_or(0)].to_owned());
        }
    }

    /// Answers a `history_request`.
    pub(crate) fn answer(&self, request: &Message) -> Value {
        let count = request.count("n");
        let found: Vec<&Entry> = match request.text("hist_access_type") {
            "range" => self.range(&request.content),
            "search" => {
                let mut found: Vec<&Entry> = Vec::new();
                let pattern = request.text("pattern");
                let pattern = if pattern.is_empty() { "*" } else { pattern };
                found.extend(self.entries.iter().filter(|entry| matches(pattern, &entry.input)));
                if request.flag("unique", false) {
                    let mut seen = HashSet::new();
                    found.reverse();
                    found.retain(|entry| seen.insert(&entry.input));
                    found.reverse();
                }
                tail(found, count)
            }
            _ => tail(self.entries.iter().collect(), count.or(Some(1000))),
        };
        let with_output = request.flag("output", false);
        let entries: Vec<Value> = found
            .into_iter()
            .map(|entry| match with_output {
                true => json!([entry.session, entry.line, [entry.input, entry.output]]),
                false => json!([entry.session, entry.line, entry.input]),
            })
            .collect();
        json!({"status": "ok", "history": entries})
    }

    /// The lines from `start` up to `stop` of a session; 0 is this one, -1 the one before.
    fn range(&self, content: &Value) -> Vec<&Entry> {
        let number = |field: &str| content[field].as_i64();
        let this = i64::try_from(self.session).unwrap_or(i64::MAX);
        let session = number("session").unwrap_or(0);
        let session = if session <= 0 { this + session } else { session };
        let (start, stop) = (number("start").unwrap_or(0), number("stop").unwrap_or(i64::MAX));
        let line = |entry: &Entry| i64::try_from(entry.line).unwrap_or(i64::MAX);
        self.entries
            .iter()
            .filter(|entry| i64::try_from(entry.session) == Ok(session))
            .filter(|entry| (start..stop).contains(&line(entry)))
            .collect()
    }
}

/// The history file: `$WEFT_KERNEL_HISTORY` (empty: none), else `weft/notebook-history.jsonl` in
/// the user's state folder (XDG base directories).
pub(crate) fn file() -> Option<PathBuf> {
    if let Some(file) = env::var_os("WEFT_KERNEL_HISTORY") {
        return (!file.is_empty()).then(|| PathBuf::from(file));
    }
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    let folder = state?.join("weft");
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).ok()?;
    Some(folder.join("notebook-history.jsonl"))
}

fn parse(line: &str) -> Option<Entry> {
    let value: Value = serde_json::from_str(line).ok()?;
    Some(Entry {
        session: value[0].as_u64()?,
        line: value[1].as_u64()?,
        input: value[2].as_str()?.to_owned(),
        output: None,
    })
}

/// Keeps the file from growing for ever. If that fails it is merely long.
fn rewrite(path: &Path, entries: &[Entry]) {
    let Some(folder) = path.parent() else { return };
    let Ok(mut file) = tempfile::NamedTempFile::new_in(folder) else { return };
    let written = entries.iter().try_for_each(|entry| {
        writeln!(file, "{}", json!([entry.session, entry.line, entry.input]))
    });
    if written.is_ok() {
        let _ = file.persist(path);
    }
}

fn tail(entries: Vec<&Entry>, count: Option<usize>) -> Vec<&Entry> {
    let skipped = count.map_or(0, |count| entries.len().saturating_sub(count));
    entries.into_iter().skip(skipped).collect()
}

/// Whether a pattern with `*` and `?` fits the whole text.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star if what follows it does not fit.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            Some(_) | None => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn ask(history: &History, content: Value) -> Vec<Value> {
        let request = Message::new("history_request", "s", Arc::new(json!({})), content);
        history.answer(&request)["history"].as_array().unwrap().clone()
    }

    #[test]
    fn tail_range_and_search() {
        let mut history = History::open(None);
        for (line, text) in [(1, "a = 1"), (2, "sum b"), (3, "sum b"), (4, "c")] {
            history.add(line, text);
        }
        history.set_output("7");
        let last = ask(&history, json!({"hist_access_type": "tail", "n": 1, "output": true}));
        assert_eq!(last, [json!([1, 4, ["c", "7"]])]);
        let range = json!({"hist_access_type": "range", "session": 0, "start": 2, "stop": 4});
        assert_eq!(ask(&history, range).len(), 2);
        let search = json!({"hist_access_type": "search", "pattern": "sum*", "unique": true});
        assert_eq!(ask(&history, search), [json!([1, 3, "sum b"])]);
        assert_eq!(ask(&history, json!({})).len(), 4);
    }

    #[test]
    fn a_later_session_sees_an_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        History::open(Some(&path)).add(1, "two\nlines");
        fs::write(&path, fs::read_to_string(&path).unwrap() + "broken\n").unwrap();
        let mut second = History::open(Some(&path));
        second.add(1, "x");
        let all = ask(&second, json!({"hist_access_type": "tail", "n": 9}));
        assert_eq!(all, [json!([1, 1, "two\nlines"]), json!([2, 1, "x"])]);
    }

    #[test]
    fn patterns() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abcd", false),
            ("?b", "ab", true),
            ("*ab*", "xxabab", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
