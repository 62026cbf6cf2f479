//! Completion, inspection and "is this complete", answered from a snapshot of the session, so that
//! they work while a cell runs.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use weft_ir::{ScalarType, Type};
use weft_lang::builtins;
use weft_lang::syntax::{self, Completeness};
use weft_lang::{Binding, Environment, Global};

use crate::commands::{COMMANDS, describe_name, type_of_name};
use crate::inspect::subjects;
use crate::modes::Modes;
use crate::sources::Sources;
use crate::state::State;

/// The session at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    state: Arc<State>,
    sources: Sources,
}

/// What could stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completions {
    /// The byte where the text to be replaced begins; it ends at the cursor.
    pub start: usize,
    /// The candidates, in alphabetical order.
    pub candidates: Vec<Candidate>,
}

/// Something that could stand there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// The whole text.
    pub text: String,
    /// Its type, or what it does; may be empty.
    pub detail: String,
}

/// How much inspection tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Type and documentation.
    Brief,
    /// The definition as well.
    Full,
}

impl Snapshot {
    pub(crate) fn new(state: Arc<State>, sources: Sources) -> Snapshot {
        Snapshot { state, sources }
    }

    /// What names mean.
    pub(crate) fn environment(&self) -> &Environment {
        &self.state.environment
    }

    /// The type of literals with a point.
    pub(crate) fn float(&self) -> ScalarType {
        self.state.modes.float
    }

    /// What could stand at byte `cursor` of a text: names with their types, fields after a point,
    /// commands after a colon, files in a text.
    pub fn complete(&self, text: &str, cursor: usize) -> Completions {
        let before = text.get(..cursor).unwrap_or(text);
        if let Some(open) = open_text(before) {
            return paths(before, open);
        }
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, c)| is_name_character(*c))
            .last()
            .map_or(before.len(), |(index, _)| index);
        let word = &before[start..];
        let line = before.rsplit('\n').next().unwrap_or(before);
        let candidates = if let Some(command) = line.strip_prefix(':') {
            match command.split_once(' ') {
                None => self.commands(word),
                Some((name, _)) if "help".starts_with(name) => self.commands(word),
                Some((name, rest)) if "set".starts_with(name) && rest.trim() == word => modes(word),
                Some(_) => self.names(before, start, word),
            }
        } else {
            self.names(before, start, word)
        };
        Completions { start, candidates }
    }

    /// What stands at byte `cursor`: a name or an operator, else the function that is applied
    /// there.
    pub fn inspect(&self, text: &str, cursor: usize, detail: Detail) -> Option<String> {
        let about = |name: &str| describe_name(&self.state, &self.sources, name, detail);
        subjects(text, cursor).into_iter().find_map(|range| about(&text[range]))
    }

    fn commands(&self, word: &str) -> Vec<Candidate> {
        let commands = COMMANDS.iter().filter(|command| command.name.starts_with(word));
        sorted(commands.map(|command| Candidate {
            text: command.name.to_owned(),
            detail: command.doc.to_owned(),
        }))
    }

    fn names(&self, before: &str, start: usize, word: &str) -> Vec<Candidate> {
        if let Some(record) = before[..start].strip_suffix('.') {
            let name_start = record
                .char_indices()
                .rev()
                .take_while(|(_, c)| is_name_character(*c))
                .last()
                .map_or(record.len(), |(index, _)| index);
            return self.fields(&record[name_start..], word);
        }
        if word.is_empty() {
            return Vec::new();
        }
        let own = self.state.environment.names().filter(|(name, _)| name.starts_with(word));
        let own = own.map(|(name, _)| Candidate {
            text: name.to_string(),
            detail: type_of_name(&self.state, name).unwrap_or_default(),
        });
        let builtins = builtins::all().filter(|entry| {
            entry.name.starts_with(word) && self.state.environment.lookup(entry.name).is_none()
        });
        let builtins = builtins.map(|entry| Candidate {
            text: entry.name.to_owned(),
            detail: entry.signature.to_owned(),
        });
        sorted(own.chain(builtins))
    }

    /// The fields of a value, or of its elements.
    fn fields(&self, name: &str, word: &str) -> Vec<Candidate> {
        let Some(Binding::Global(global)) = self.state.environment.lookup(name) else {
            return Vec::new();
        };
        let Some(Global::Value { ty, .. }) = self.state.environment.global(*global) else {
            return Vec::new();
        };
        let mut ty = ty;
        while let Type::Array(element) = ty {
            ty = element;
        }
        let Type::Record(fields) = ty else { return Vec::new() };
        let fields = fields.iter().filter(|(name, _)| name.starts_with(word));
        sorted(
            fields.map(|(name, ty)| Candidate { text: name.to_string(), detail: ty.to_string() }),
        )
    }
}

/// Whether a cell is whole, wrong, or needs another line. Commands and questions are one line.
pub fn completeness(text: &str) -> Completeness {
    if text.starts_with(':') || text.trim_end().ends_with('?') {
        return Completeness::Complete;
    }
    syntax::completeness(text)
}

fn modes(word: &str) -> Vec<Candidate> {
    let names = Modes::names().filter(|name| name.starts_with(word));
    sorted(names.map(|name| Candidate { text: name.to_owned(), detail: String::new() }))
}

/// The files and folders whose names go on from the text that is open at byte `open`.
fn paths(before: &str, open: usize) -> Completions {
    let written = &before[open..];
    let start = written.rfind('/').map_or(open, |slash| open + slash + 1);
    let (folder, beginning) = (&before[open..start], &before[start..]);
    let folder = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_hidden = name.starts_with('.') && !beginning.starts_with('.');
        if !name.starts_with(beginning) || is_hidden {
            return None;
        }
        let is_folder = entry.path().is_dir();
        Some(Candidate {
            text: if is_folder { format!("{name}/") } else { name },
            detail: String::new(),
        })
    });
    Completions { start, candidates: sorted(entries) }
}

/// The byte after the quote of a text that is not closed on the last line.
fn open_text(before: &str) -> Option<usize> {
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut open = None;
    let mut escaped = false;
    for (index, c) in before[line..].char_indices() {
        match c {
            '\\' if open.is_some() => escaped = !escaped,
            '"' if !escaped => open = if open.is_some() { None } else { Some(line + index + 1) },
            _ => escaped = false,
        }
    }
    open
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'')
}

fn sorted(candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort();
    candidates
}
