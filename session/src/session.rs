//! A session: cells in, events out. A cell is a transaction: it yields the next state, or it
//! changes nothing.

mod moments;

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use weft_ir::{ColumnBuilder, ScalarType, Span, Type, Value};
use weft_lang::typed::GlobalId;
use weft_lang::{Binding, Diagnostic, Global, builtins};

use crate::complete::Snapshot;
use crate::engine::{Engine, Statistics};
use crate::files::Loader;
use crate::modes::Modes;
use crate::plan::{Change, Planner, Step};
use crate::progress;
use crate::remarks::{Told, causes};
use crate::run::{Runner, Stop};
use crate::sink::{Cancel, Event, Outcome, Sink};
use crate::sources::Sources;
use crate::stack::{NotRun, no_stack, on_large_stack};
use crate::state::State;

/// How a session starts.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bytes that the arrays of a run may take; see [`crate::memory::default_limit`].
    pub memory: u64,
    /// Whether programs may read and write files.
    pub io: bool,
}

/// A cell of the log.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number.
    pub number: usize,
    /// Its text.
    pub text: Arc<str>,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// A cell to evaluate.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// What diagnostics call it: a file's path. `None` for `In[n]`.
    pub name: Option<&'a str>,
    /// Its text.
    pub text: &'a str,
    /// What the paths of its imports are relative to.
    pub directory: &'a Path,
}

impl<'a> Cell<'a> {
    /// A cell as it is typed at a prompt.
    pub fn typed(text: &'a str) -> Cell<'a> {
        Cell { name: None, text, directory: Path::new("") }
    }
}

/// What a session remembers of a cell that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All of it: the cell has a number, and its result is `it` and `Out[n]`.
    Everything,
    /// What it defines. The next cell gets the number that this one could have had.
    Definitions,
    /// Nothing: it only asks.
    Nothing,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    engine: Arc<Engine>,
    sources: Sources,
    io: bool,
    /// Whether a program may load standard input.
    input: bool,
    /// What has been remarked on.
    told: Told,
    next_number: usize,
    log: Vec<Entry>,
    /// The states after the cells that changed something, oldest first; never empty.
    states: Vec<Moment>,
    /// The one that counts. Those after it can be redone.
    position: usize,
    /// Which of the states held after each cell, by its id: for `:goto`.
    after: BTreeMap<usize, usize>,
    /// The id of the next state.
    next_id: usize,
}

/// The state after a cell.
#[derive(Clone, Debug)]
struct Moment {
    /// Tells it from all others that this session has had.
    id: usize,
    /// The cell that made it.
    number: usize,
    state: Arc<State>,
}

impl Session {
    /// A session in which nothing is defined.
    pub fn new(config: &Config) -> Session {
        let state = Arc::new(State::new(Modes::new(config.memory)));
        Session {
            engine: Arc::new(Engine::default()),
            sources: Sources::default(),
            io: config.io,
            input: false,
            told: Told::default(),
            next_number: 1,
            log: Vec::new(),
            states: vec![Moment { id: 0, number: 0, state }],
            position: 0,
            after: BTreeMap::from([(0, 0)]),
            next_id: 1,
        }
    }

    /// A session beside another one, to ask what must not disturb that: it begins with a state of it.
    pub(crate) fn aside(state: Arc<State>, sources: Sources) -> Session {
        Session {
            engine: Arc::new(Engine::default()),
            sources,
            io: false,
            input: false,
            told: Told::default(),
            next_number: 1,
            log: Vec::new(),
            states: vec![Moment { id: 0, number: 0, state }],
            position: 0,
            after: BTreeMap::from([(0, 0)]),
            next_id: 1,
        }
    }

    /// Where programs have run so far.
    pub fn statistics(&self) -> Statistics {
        self.engine.statistics()
    }

    /// Sets a mode, as `:set` does.
    ///
    /// # Errors
    /// If there is no such mode, or it does not take that value: what would be right.
    pub fn set_mode(&mut self, name: &str, value: &str) -> Result<(), String> {
        let mut state = (**self.state()).clone();
        state.modes.set(name, value)?;
        self.states[self.position].state = Arc::new(state);
        Ok(())
    }

    /// The number of the next cell.
    pub fn next_number(&self) -> usize {
        self.next_number
    }

    /// The cells so far.
    pub fn log(&self) -> &[Entry] {
        &self.log
    }

    /// What completion and inspection look at; a cell that runs meanwhile does not disturb it.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(Arc::clone(self.state()), self.sources.clone())
    }

    /// The value and type of a visible name.
    pub fn value(&self, name: &str) -> Option<(Value, Type)> {
        self.state().named_value(name).map(|(value, ty)| (value.clone(), ty.clone()))
    }

    /// Binds a name to a value from outside, such as `args` for a script.
    pub fn bind(&mut self, name: &str, value: Value, ty: Type) {
        let mut state = (**self.state()).clone();
        let global = state.environment.fresh();
        let span = Span::default();
        state.environment.define(global, Global::Value { name: name.into(), ty, span });
        state.environment.bind(name.into(), Binding::Global(global));
        state.values.insert(global, value);
        self.states[self.position].state = Arc::new(state);
    }

    /// Binds a name to texts: `[][]char`.
    pub fn bind_texts(&mut self, name: &str, texts: &[String]) {
        let text = Type::array(Type::Scalar(ScalarType::Char));
        let mut builder = ColumnBuilder::new(&text);
        texts.iter().for_each(|text| builder.push(&Value::text(text)));
        self.bind(name, Value::Array(Arc::new(builder.finish_array())), Type::array(text));
    }

    /// Evaluates a cell. Events go to the sink while it runs; `cancel` stops it from another
    /// thread, and the session is then as before.
    ///
    /// It runs on a thread of its own, whose stack carries the deepest programs that the parser
    /// lets through.
    pub fn eval(&mut self, cell: Cell<'_>, sink: &mut dyn Sink, cancel: &Cancel) -> Outcome {
        self.eval_as(cell, Keep::Everything, sink, cancel)
    }

    /// As [`Session::eval`], for a cell of which less may be remembered.
    pub fn eval_as(
        &mut self,
        cell: Cell<'_>,
        keep: Keep,
        sink: &mut dyn Sink,
        cancel: &Cancel,
    ) -> Outcome {
        if cell.text.trim().is_empty() {
            return Outcome::Done;
        }
        let number = self.next_number;
        if keep == Keep::Everything {
            self.next_number += 1;
            self.log.push(Entry { number, text: cell.text.into(), succeeded: false });
        }
        let outcome = progress::watched(sink, cancel, |sink| {
            on_large_stack(|stack| self.eval_here(number, cell, keep, stack, sink, cancel))
        });
        let outcome = outcome.unwrap_or_else(|problem| {
            let (diagnostic, outcome) = match problem {
                NotRun::NoStack => (no_stack(), Outcome::Failed("E0701".to_owned())),
                NotRun::Panic(problem) => (bug(&problem), Outcome::Bug(problem)),
            };
            sink.event(Event::Report(self.sources.report(vec![diagnostic])));
            outcome
        });
        cancel.set_activity(String::new());
        self.note_moment(number, keep);
        if keep == Keep::Everything
            && let Some(entry) = self.log.last_mut()
        {
            entry.succeeded = matches!(outcome, Outcome::Done | Outcome::Quit);
        }
        outcome
    }

    /// Lets programs load standard input, which is not where they come from.
    pub fn let_load_input(&mut self) {
        self.input = true;
    }

    fn eval_here(
        &mut self,
        number: usize,
        cell: Cell<'_>,
        keep: Keep,
        stack: usize,
        sink: &mut dyn Sink,
        cancel: &Cancel,
    ) -> Outcome {
        let name = cell.name.map_or_else(|| keep.cell_name(number), str::to_owned);
        let text = question(cell.text).unwrap_or_else(|| cell.text.to_owned());
        cancel.set_activity(format!("checking {name}"));
        let before = Arc::clone(self.state());
        let loader = Loader {
            allowed: self.io,
            input: self.input,
            limit: before.modes.memory,
            doubts: Vec::new(),
            cancel,
            interrupted: false,
            values: &before.values,
            saved: Vec::new(),
        };
        let mut state = (*before).clone();
        // States side by side, after an `:undo`, call no two values the same.
        for moment in &self.states {
            state.environment.skip_ids_of(&moment.state.environment);
        }
        let mut planner = Planner::new(state, &mut self.sources, &self.log, loader);
        planner.text(&name, &text, cell.directory);
        if planner.loader.interrupted || cancel.is_cancelled() {
            return Outcome::Interrupted;
        }
        let (failed, mut diagnostics) = (planner.failed(), mem::take(&mut planner.diagnostics));
        diagnostics.sort_by_key(|diagnostic| {
            let span = diagnostic.span();
            (span.source, span.start)
        });
        let (mut state, steps, alone) = (planner.state, planner.steps, planner.alone);
        // The steps change the modes one after the other.
        state.modes = before.modes.clone();
        let (change, mut footer) = (planner.change, planner.footer);
        if failed {
            let causes = causes(&steps, &diagnostics, &state, &self.sources);
            return self.fail([causes, diagnostics].concat(), sink);
        }
        if !diagnostics.is_empty() {
            sink.event(Event::Report(self.sources.report(diagnostics)));
        }
        if let Some((alone, call)) = alone {
            if keep == Keep::Nothing {
                let message = format!("`:{}` would change the session", call.name.name);
                let here = "only a cell may";
                let diagnostic = Diagnostic::error("E0503", message, call.name.span, here);
                return self.fail(vec![diagnostic], sink);
            }
            return match self.time_travel(alone, &call, number, sink) {
                Ok(()) => Outcome::Done,
                Err(diagnostic) => self.fail(vec![*diagnostic], sink),
            };
        }
        let mut runner =
            Runner::new(state, &self.engine, &self.sources, sink, cancel, number, self.io);
        runner.stack = stack;
        if steps.iter().any(|step| matches!(step, Step::Memory(_))) {
            runner.kept_for_undo = self.kept_for_undo();
        }
        let tells_time = steps.iter().any(|step| matches!(step, Step::Timed { .. }));
        runner.told = mem::take(&mut self.told);
        let result = runner.steps(steps);
        let (state, shown, announced) = (runner.state, runner.shown, runner.announced);
        self.told = runner.told;
        footer.merge(&runner.footer);
        let outcome = match result {
            Ok(()) => Outcome::Done,
            Err(Stop::Quit) => Outcome::Quit,
            Err(Stop::Interrupted) => {
                retract(&announced, &before, sink);
                return Outcome::Interrupted;
            }
            Err(Stop::Failed(diagnostic)) => {
                let outcome = self.fail(vec![*diagnostic], sink);
                retract(&announced, &before, sink);
                return outcome;
            }
            Err(Stop::Bug(problem)) => {
                sink.event(Event::Report(self.sources.report(vec![bug(&problem)])));
                retract(&announced, &before, sink);
                return Outcome::Bug(problem);
            }
        };
        match (keep, change) {
            (Keep::Everything, Change::Something) => {
                self.commit(number, &before, state, shown, sink);
            }
            (Keep::Everything, Change::Results) => self.keep_result(number, state, shown),
            (Keep::Definitions, Change::Something) => {
                let state = without_result(state, &before);
                self.commit(number.saturating_sub(1), &before, state, None, sink);
            }
            (Keep::Definitions, Change::Results) | (Keep::Nothing, _) | (_, Change::Nothing) => {}
        }
        // `:time` has told already.
        footer.wanted = match self.state().modes.footer {
            Some(wanted) => wanted,
            None => footer.is_long() && !tells_time,
        };
        sink.event(Event::Footer(footer));
        outcome
    }

    fn state(&self) -> &Arc<State> {
        &self.states[self.position].state
    }

    fn fail(&self, diagnostics: Vec<Diagnostic>, sink: &mut dyn Sink) -> Outcome {
        let is_error = |d: &&Diagnostic| d.severity == weft_lang::diagnostic::Severity::Error;
        let code = diagnostics.iter().find(is_error).map_or("", |diagnostic| diagnostic.code);
        sink.event(Event::Report(self.sources.report(diagnostics)));
        Outcome::Failed(code.to_owned())
    }

    /// Takes over what a cell has made of the state.
    fn commit(
        &mut self,
        number: usize,
        before: &State,
        mut state: State,
        shown: Option<GlobalId>,
        sink: &mut dyn Sink,
    ) {
        if let Some(global) = shown {
            state.keep_output(number, global);
        }
        note_old_meanings(before, &state, sink);
        state.collect_garbage();
        self.add_moment(number, state);
        self.forget_old_states();
    }

    /// Takes over what a cell has shown into the state that it has looked at.
    fn keep_result(&mut self, number: usize, mut state: State, shown: Option<GlobalId>) {
        if let Some(global) = shown {
            state.keep_output(number, global);
        }
        state.collect_garbage();
        self.states[self.position].state = Arc::new(state);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Programs nest deeply, and so does dropping them.
        let mut states = mem::take(&mut self.states);
        let _ = on_large_stack(|_| states.clear());
        // Where there is no such stack, they are left.
        mem::forget(states);
    }
}

impl Keep {
    /// What diagnostics call a cell that has no name.
    fn cell_name(self, number: usize) -> String {
        match self {
            Keep::Everything => format!("In[{number}]"),
            Keep::Definitions => "unnumbered cell".to_owned(),
            Keep::Nothing => "expression".to_owned(),
        }
    }
}

/// The state in which `it` is what it was: nobody has seen the result.
fn without_result(mut state: State, before: &State) -> State {
    match before.environment.lookup("it") {
        Some(binding) => state.environment.bind("it".into(), binding.clone()),
        None => state.environment.unbind("it"),
    }
    state
}

/// Says which functions still mean something else by a name that has been redefined.
fn note_old_meanings(before: &State, after: &State, sink: &mut dyn Sink) {
    for (name, binding) in after.environment.names() {
        let Binding::Global(new) = binding else { continue };
        let Some(Binding::Global(old)) = before.environment.lookup(name) else { continue };
        if old == new || &**name == "it" {
            continue;
        }
        let users = after.users(*old);
        let names: Vec<String> = users.iter().map(|user| format!("`{user}`")).collect();
        let note = match &names[..] {
            [] => continue,
            [user] => format!("{user} still uses the old `{name}`"),
            [first @ .., last] => {
                format!("{} and {last} still use the old `{name}`", first.join(", "))
            }
        };
        sink.event(Event::Note(note));
    }
}

/// `name?` and `name??` ask for documentation, `?` alone for help.
fn question(text: &str) -> Option<String> {
    let name = text.trim().strip_suffix('?')?;
    if name.is_empty() {
        return Some(":help".to_owned());
    }
    let (name, command) = match name.strip_suffix('?') {
        Some(name) => (name, ":doc source"),
        None => (name, ":doc"),
    };
    let name = name.trim();
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '"');
    is_name.then(|| format!("{command} {name}"))
}

/// Takes back what was told of names that a cell has bound before it failed: what they are is what they were
/// before.
fn retract(names: &[String], before: &State, sink: &mut dyn Sink) {
    const MOST: usize = 6;
    let told = &names[..names.len().min(MOST)];
    let (old, new): (Vec<&String>, Vec<&String>) = told.iter().partition(|name| {
        before.environment.lookup(name).is_some() || builtins::lookup(name).is_some()
    });
    let said = |names: &[&String], one: &str, several: &str| {
        let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match words.len() {
            0 => None,
            1 => Some(format!("{} {one}", words[0])),
            _ => Some(format!("{} {several}", words.join(", "))),
        }
    };
    let parts = [
        said(&old, "is as before", "are as before"),
        said(&new, "is not defined", "are not defined"),
        (names.len() > MOST).then(|| "…".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        sink.event(Event::Note(format!("nothing of this cell is kept: {}", parts.join("; "))));
    }
}

/// What a panic reports. It has no place: where the program stood is not known.
fn bug(problem: &str) -> Diagnostic {
    let message = format!("a bug in Weft: {problem}");
    let mut diagnostic = Diagnostic::error("E0901", message, Span::default(), "");
    diagnostic.labels.clear();
    diagnostic.help("the session is as before; please report this cell")
}
