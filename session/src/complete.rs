//! Completion, inspection and "is this complete", answered from a snapshot of the session, so that
//! they work while a cell runs.

mod local;
mod subject;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use weft_ir::{ScalarType, Type};
use weft_lang::builtins;
use weft_lang::syntax::{self, Completeness};
use weft_lang::{Binding, Environment, Global};

use crate::commands::{self, COMMANDS, describe_name, type_of_name};
use crate::explain;
use crate::hint;
use crate::inquiry::Stage;
use crate::inspect::subjects;
use crate::modes::Modes;
use crate::prelude;
use crate::sources::Sources;
use crate::state::State;
use crate::topics;

/// The session at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) state: Arc<State>,
    pub(crate) sources: Sources,
}

/// What could stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completions {
    /// The byte where the text to be replaced begins; it ends at the cursor.
    pub start: usize,
    /// The candidates, in alphabetical order.
    pub candidates: Vec<Candidate>,
}

impl Completions {
    /// Ends the names of files, within a text, with a quote.
    fn close_texts(&mut self) {
        let files = self.candidates.iter_mut().filter(|one| !one.text.ends_with('/'));
        files.for_each(|file| file.text.push('"'));
    }
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
            let mut found = paths(before, open, takes_a_program(before, open));
            // Editors that close quotes themselves have one behind the cursor.
            if !text[before.len()..].starts_with('"') {
                found.close_texts();
            }
            return found;
        }
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, c)| is_name_character(*c))
            .last()
            .map_or(before.len(), |(index, _)| index);
        let word = &before[start..];
        let line = before.rsplit('\n').next().unwrap_or(before);
        let Some(command) = line.strip_prefix(':') else {
            let candidates = self.behind(text, start).names(text, start, word);
            return Completions { start, candidates };
        };
        let candidates = match command.split_once(' ') {
            None => self.commands(word),
            Some((name, arguments)) => {
                let name = commands::named(name).map_or("", |command| command.name);
                if name == "load" {
                    return paths(before, before.len() - arguments.trim_start().len(), true);
                }
                self.argument(name, arguments, word)
                    .unwrap_or_else(|| self.behind(text, start).names(text, start, word))
            }
        };
        Completions { start, candidates }
    }

    /// The session as it would be behind the items of a text that stand before the one at byte `cursor`.
    fn behind(&self, text: &str, cursor: usize) -> Snapshot {
        let items = local::items_before(text, cursor);
        if items.trim().is_empty() {
            return self.clone();
        }
        match hint::environment_after(self, items) {
            Some(environment) => {
                let state = Arc::new(self.state.seen_by(environment));
                Snapshot::new(state, self.sources.clone())
            }
            None => self.clone(),
        }
    }

    /// What stands at byte `cursor`: a name or an operator, else the function that is applied
    /// there.
    pub fn inspect(&self, text: &str, cursor: usize, detail: Detail) -> Option<String> {
        let about = |name: &str| describe_name(&self.state, &self.sources, name, detail);
        subjects(text, cursor).into_iter().find_map(|range| about(&text[range]))
    }

    /// What could stand as the last word of the arguments of a command; `None` if that is part of
    /// an expression.
    fn argument(&self, command: &str, arguments: &str, word: &str) -> Option<Vec<Candidate>> {
        let is_first = arguments.trim_start() == word;
        let plain = |text: &str| Candidate { text: text.to_owned(), detail: String::new() };
        let mut found: Vec<Candidate> = match command {
            "help" => return Some(self.commands(word.trim_start_matches(':'))),
            "set" if is_first => {
                let modes = self.state.modes.names();
                modes.map(|(name, detail)| Candidate { text: name.to_owned(), detail }).collect()
            }
            "set" => {
                let mode = arguments.split_whitespace().next().unwrap_or_default();
                Modes::choices(mode).iter().map(|choice| plain(choice)).collect()
            }
            "backend" => Modes::choices("backend").iter().map(|choice| plain(choice)).collect(),
            "cache" => vec![plain("clear")],
            "ir" if is_first => Stage::ALL.iter().map(|stage| plain(stage.name())).collect(),
            "explain" => explain::codes()
                .chain(explain::reasons())
                .map(|code| Candidate { text: code.to_owned(), detail: title(code) })
                .collect(),
            "goto" => self
                .sources
                .cells()
                .map(|(number, text)| Candidate {
                    text: number.to_owned(),
                    detail: first_line(text),
                })
                .collect(),
            "free" => {
                let names = self.state.environment.names();
                let own = names.filter(|(name, binding)| !prelude::is_own(name, binding));
                own.map(|(name, _)| self.named(name)).collect()
            }
            _ => return None,
        };
        let upper = word.to_uppercase();
        found.retain(|one| one.text.starts_with(word) || one.text.starts_with(&upper));
        Some(if matches!(command, "set" | "ir" | "goto") {
            found
        } else {
            sorted(found.into_iter())
        })
    }

    /// A name of the session with its type.
    fn named(&self, name: &str) -> Candidate {
        let detail = type_of_name(&self.state, name).unwrap_or_default();
        Candidate { text: name.to_owned(), detail }
    }

    fn commands(&self, word: &str) -> Vec<Candidate> {
        let commands = COMMANDS.iter().filter(|command| command.name.starts_with(word));
        sorted(commands.map(|command| Candidate {
            text: command.name.to_owned(),
            detail: command.doc.to_owned(),
        }))
    }

    fn names(&self, text: &str, start: usize, word: &str) -> Vec<Candidate> {
        if let Some(record) = text[..start].strip_suffix('.') {
            let found = self.fields(record, word);
            let of = subject::subject(record);
            // A local name, or one that is bound only behind, as that of a generator is.
            let is_local = is_name(of)
                && (self.state.environment.lookup(of).is_none()
                    || local::names(text, start).contains(of));
            return match found.is_empty() && is_local {
                true => self.fields_of_all(word),
                false => found,
            };
        }
        if word.is_empty() {
            return Vec::new();
        }
        let own = self.state.environment.names().filter(|(name, _)| name.starts_with(word));
        // A local name hides others; the one that is being written is none yet.
        let locals = local::names(text, start);
        let locals: Vec<&str> =
            locals.into_iter().filter(|name| name.starts_with(word) && *name != word).collect();
        let own = own.filter(|(name, _)| !locals.contains(&&***name));
        let own = own.map(|(name, _)| self.named(name));
        let builtins = builtins::all().filter(|entry| {
            entry.name.starts_with(word)
                && !locals.contains(&entry.name)
                && self.state.environment.lookup(entry.name).is_none()
        });
        let builtins = builtins.map(|entry| Candidate {
            text: entry.name.to_owned(),
            detail: entry.signature.to_owned(),
        });
        let forms = topics::TOPICS.iter().flat_map(|topic| {
            // A name that its own form does not have is one of other languages.
            let is_own = |name: &str| {
                topic.heading.split(|c| !is_name_character(c)).any(|part| part == name)
            };
            let named = topic.names.iter().filter(|name| name.starts_with(word));
            named.filter(move |name| is_own(name)).map(|name| Candidate {
                text: (*name).to_owned(),
                detail: topic.heading.to_owned(),
            })
        });
        let forms = forms.filter(|one| self.state.environment.lookup(&one.text).is_none());
        let local =
            |name: &&str| Candidate { text: (*name).to_owned(), detail: "local".to_owned() };
        sorted(own.chain(builtins).chain(forms).chain(locals.iter().map(local)))
    }

    /// The fields of the expression that a text ends with, or of its elements: `a.b`, `(f x)[0]`.
    fn fields(&self, before: &str, word: &str) -> Vec<Candidate> {
        let expression = subject::subject(before);
        let ty = match self.type_of_path(expression) {
            Some(ty) => Some(ty.clone()),
            None => hint::type_of_expression(self, expression),
        };
        let Some(Type::Record(fields)) = ty.as_ref().map(element) else { return Vec::new() };
        let fields = fields.iter().filter(|(name, _)| name.starts_with(word));
        sorted(
            fields.map(|(name, ty)| Candidate { text: name.to_string(), detail: ty.to_string() }),
        )
    }

    /// The fields of all tables and records of the session: what a local name has is not known while it is written.
    fn fields_of_all(&self, word: &str) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for (_, binding) in self.state.environment.names() {
            let Binding::Global(global) = binding else { continue };
            let Some(Global::Value { ty, .. }) = self.state.environment.global(*global) else {
                continue;
            };
            let Type::Record(fields) = element(ty) else { continue };
            for (name, ty) in fields.iter().filter(|(name, _)| name.starts_with(word)) {
                if found.iter().all(|one| *one.text != **name) {
                    // Of a table, a row is what is gone through.
                    found.push(Candidate {
                        text: name.to_string(),
                        detail: element(ty).to_string(),
                    });
                }
            }
        }
        sorted(found.into_iter())
    }

    /// The type of a value or of a field of it: `a.b`.
    fn type_of_path(&self, path: &str) -> Option<&Type> {
        let mut steps = path.split('.');
        let Some(Binding::Global(global)) = self.state.environment.lookup(steps.next()?) else {
            return None;
        };
        let Some(Global::Value { ty, .. }) = self.state.environment.global(*global) else {
            return None;
        };
        steps.try_fold(element(ty), |ty, step| field(ty, step).map(element))
    }
}

/// What an array of arrays holds at last.
fn element(mut ty: &Type) -> &Type {
    while let Type::Array(element) = ty {
        ty = element;
    }
    ty
}

/// The type of a field or component.
fn field<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    match ty {
        Type::Record(fields) => fields.iter().find(|(own, _)| &**own == name).map(|(_, ty)| ty),
        Type::Tuple(parts) => parts.get(name.parse::<usize>().ok()?),
        Type::Scalar(_) | Type::Array(_) => None,
    }
}

/// The beginning of a cell, in a line.
fn first_line(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// What a page about an error is called: its heading without the code.
fn title(code: &str) -> String {
    let heading = explain::page(code).and_then(|page| page.lines().next()).unwrap_or_default();
    heading
        .trim_start_matches(['#', ' '])
        .trim_start_matches(code)
        .trim_start_matches([':', ' '])
        .to_owned()
}

/// Whether a cell is whole, wrong, or needs another line. Commands and questions are one line.
pub fn completeness(text: &str) -> Completeness {
    if text.starts_with(':') || text.trim_end().ends_with('?') {
        return Completeness::Complete;
    }
    syntax::completeness(text)
}

/// Whether the text that is open at byte `open` names a program: that of `import`, or of `:load`.
fn takes_a_program(before: &str, open: usize) -> bool {
    let line = before[..open].rsplit('\n').next().unwrap_or_default();
    let word = line.trim_end_matches('"').trim();
    let command = word.strip_prefix(':').and_then(commands::named);
    word == "import" || command.is_some_and(|command| command.name == "load")
}

/// The files and folders whose names go on from the text that is open at byte `open`; of files only
/// `programs` of Weft, if it is said so.
fn paths(before: &str, open: usize, programs: bool) -> Completions {
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
        if programs && !is_folder && !name.ends_with(".weft") {
            return None;
        }
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

/// Whether a text is a name, as it stands.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(is_name_character)
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'')
}

fn sorted(candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort();
    candidates
}
