//! What was typed, in this session and in earlier ones: a file with a JSON array a line,
//! `[session, line, text]`. Without a file the history lasts as long as the kernel.

use std::collections::HashSet;
use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use weft_files::{Access, FileSystem, Host, Lines};

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
    /// Where they are kept.
    file: Option<(PathBuf, Lines)>,
    /// Why they are not, if nobody has been told.
    problem: Option<String>,
    /// Whether somebody has been told.
    told: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    session: u64,
    line: u64,
    input: String,
    /// The result as text; not kept between sessions.
    output: Option<String>,
}

impl Entry {
    /// As the file has it.
    fn line(&self) -> String {
        format!("{}\n", json!([self.session, self.line, self.input]))
    }
}

fn not_kept(path: &Path, error: &io::Error) -> String {
    format!("what is typed is not kept in {}: {error}", path.display())
}

impl History {
    /// The history in that file, which is made if need be; one of this session only without it.
    pub(crate) fn open(files: Arc<dyn FileSystem>, path: Option<PathBuf>) -> History {
        let mut history =
            History { entries: Vec::new(), session: 1, file: None, problem: None, told: false };
        let Some(path) = path else { return history };
        let (mut lines, bytes) = match Lines::open(files, &path, "") {
            Ok(found) => found,
            Err(error) => {
                history.problem = Some(not_kept(&path, &error));
                return history;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut entries: Vec<Entry> = text.lines().filter_map(parse).collect();
        let too_many = entries.len().saturating_sub(KEPT);
        entries.drain(..too_many);
        if too_many > KEPT {
            // If that fails, the file is merely long.
            drop(lines.replace(&entries.iter().map(Entry::line).collect::<String>()));
        }
        history.session = entries.iter().map(|entry| entry.session).max().unwrap_or(0) + 1;
        History { entries, file: Some((path, lines)), ..history }
    }

    /// Adds a cell. If the cells are not kept on disk, the first time, a sentence that says why.
    pub(crate) fn add(&mut self, line: usize, input: &str) -> Option<String> {
        let entry = Entry {
            session: self.session,
            line: line as u64,
            input: input.to_owned(),
            output: None,
        };
        if let Some((path, lines)) = &mut self.file
            && let Err(error) = lines.add(&entry.line())
        {
            // The disk may have room again for the next one.
            self.problem = Some(not_kept(path, &error));
        }
        self.entries.push(entry);
        let problem = self.problem.take().filter(|_| !self.told);
        self.told |= problem.is_some();
        problem
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
    // If there is no folder, writing to it says so.
    drop(Host.make_folder(&folder, Access::Private));
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
    use std::fs;
    use weft_files::with_every_fault;

    fn open(path: &Path) -> History {
        History::open(Arc::new(Host), Some(path.to_owned()))
    }

    fn ask(history: &History, content: Value) -> Vec<Value> {
        let request = Message::new("history_request", "s", Arc::new(json!({})), content);
        history.answer(&request)["history"].as_array().unwrap().clone()
    }

    #[test]
    fn tail_range_and_search() {
        let mut history = History::open(Arc::new(Host), None);
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
        open(&path).add(1, "two\nlines");
        fs::write(&path, fs::read_to_string(&path).unwrap() + "broken\n[9,1,\"half a li").unwrap();
        let mut second = open(&path);
        second.add(1, "x");
        let third = open(&path);
        for history in [&second, &third] {
            let all = ask(history, json!({"hist_access_type": "tail", "n": 9}));
            assert_eq!(all, [json!([1, 1, "two\nlines"]), json!([2, 1, "x"])]);
        }
    }

    #[test]
    fn no_cell_is_lost_but_those_that_fail() {
        with_every_fault(|files| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("history");
            fs::write(&path, "[1,1,\"old\"]\n").unwrap();
            let mut history = History::open(files.shared(), Some(path.clone()));
            let said: Vec<String> =
                (1..4).filter_map(|line| history.add(line, &format!("cell {line}"))).collect();
            assert_eq!(said.len(), usize::from(files.has_failed()));
            assert!(said.iter().all(|said| said.contains("history") && said.contains("not kept")));
            assert_eq!(open(&path).add(1, "last"), None);
            let found: Vec<String> =
                open(&path).entries.into_iter().map(|entry| entry.input).collect();
            assert_eq!((&*found[0], &*found[found.len() - 1]), ("old", "last"), "{found:?}");
            assert!(found.len() == 5 || !said.is_empty(), "{found:?}");
        });
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
