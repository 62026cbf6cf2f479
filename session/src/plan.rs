//! The first half of a cell: parse it, check all of it, load what it loads. Nothing of the program
//! runs until every item of the cell has checked, so a cell with a type error changes nothing.
//!
//! Commands and imports are taken out of the items and planned where they stand; the items between
//! them are checked together.

use std::collections::BTreeSet;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_ir::{Span, Type};
use weft_lang::ast::{ExprKind, Item, ItemKind};
use weft_lang::diagnostic::Severity;
use weft_lang::typed::{self, GlobalId, Program};
use weft_lang::{
    CheckedItem, CheckedKind, Config, Diagnostic, Environment, Global, check, render, syntax,
};

use crate::commands::{self, Alone, Call};
use crate::files::{Loader, forbidden};
use crate::footer::{Footer, Phase};
use crate::inquiry::Inquiry;
use crate::io;
use crate::modes::Modes;
use crate::numbered::{self, Numbered};
use crate::origin::{AliasItem, Meanings, Origin};
use crate::references;
use crate::session::Entry;
use crate::sources::Sources;
use crate::state::State;

/// Something to do once all of a cell has checked.
#[derive(Debug)]
pub(crate) enum Step {
    /// An item of the program.
    Item {
        /// The item.
        item: CheckedItem,
        /// Whether values and definitions are reported; those of imported files are not.
        shown: bool,
    },
    /// `:time e`.
    Timed {
        /// The expression.
        item: CheckedItem,
        /// How long it took to parse.
        parse: Duration,
        /// How long it took to check.
        check: Duration,
    },
    /// A question about how a program is compiled.
    Inquire {
        /// What is asked.
        inquiry: Inquiry,
        /// The program.
        program: Box<Program>,
        /// Its type.
        ty: Type,
    },
    /// `:cache`.
    Cache {
        /// Whether to forget everything first.
        clear: bool,
    },
    /// What a command says; it was known when it was planned.
    Text(String),
    /// `:vars`, with the names that it sees.
    Variables(Environment),
    /// `:mem`, with the names that it sees.
    Memory(Environment),
    /// `:devices`.
    Devices,
    /// Say it if there is no GPU, which was asked for.
    NeedsGpu,
    /// `:set mode value`: how the steps after it run.
    Modes(Box<Modes>),
    /// `:show e`.
    Whole(CheckedItem),
    /// `:save x "file"`.
    SaveValue {
        /// The value.
        program: Box<Program>,
        /// Its type.
        ty: Type,
        /// The file.
        path: PathBuf,
        /// The command.
        span: Span,
    },
    /// `:save file.weft`.
    SaveSource {
        /// The text of the file.
        text: String,
        /// The file.
        path: PathBuf,
        /// The command.
        span: Span,
    },
    /// `:quit`.
    Quit,
}

/// A cell whose items have been checked.
pub(crate) struct Planner<'a> {
    /// The session as the next item sees it; without the values that the cell will compute.
    pub(crate) state: State,
    /// All texts.
    pub(crate) sources: &'a mut Sources,
    /// The cells so far.
    pub(crate) log: &'a [Entry],
    /// What to do.
    pub(crate) steps: Vec<Step>,
    /// What was found.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What becomes of the state: most commands only look.
    pub(crate) change: Change,
    /// A command that must have a cell for itself.
    pub(crate) alone: Option<(Alone, Call)>,
    /// How long parsing and checking took so far.
    pub(crate) footer: Footer,
    /// Reads files.
    pub(crate) loader: Loader<'a>,
    /// The files being imported, outermost first.
    importing: Vec<PathBuf>,
    /// The files that this cell has imported.
    imported: BTreeSet<PathBuf>,
    /// Whether the items at hand report what they do.
    shown: bool,
}

impl<'a> Planner<'a> {
    /// A planner of one cell.
    pub(crate) fn new(
        state: State,
        sources: &'a mut Sources,
        log: &'a [Entry],
        loader: Loader<'a>,
    ) -> Planner<'a> {
        Planner {
            state,
            sources,
            log,
            steps: Vec::new(),
            diagnostics: Vec::new(),
            change: Change::Nothing,
            alone: None,
            footer: Footer::default(),
            loader,
            importing: Vec::new(),
            imported: BTreeSet::new(),
            shown: true,
        }
    }

    /// Makes the modes of the state those of the steps to come.
    pub(crate) fn change_modes(&mut self) {
        self.change = Change::Something;
        self.steps.push(Step::Modes(Box::new(self.state.modes.clone())));
    }

    /// Whether something is wrong.
    pub(crate) fn failed(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Plans a text. Paths of imports are relative to `directory`.
    pub(crate) fn text(&mut self, name: &str, text: &str, directory: &Path) {
        let id = self.sources.add(name, text);
        let started = Instant::now();
        let parsed = syntax::parse(id, text);
        self.footer.add(Phase::Parse, started.elapsed());
        let mut unread: Vec<Span> = parsed.diagnostics.iter().map(Diagnostic::span).collect();
        unread.sort_unstable_by_key(|place| place.start);
        self.diagnostics.extend(parsed.diagnostics);
        let is_only_item = parsed.items.len() == 1 && self.importing.is_empty();
        let mut pending = Vec::new();
        for item in parsed.items {
            match item.kind {
                ItemKind::Command { name, argument: _, argument_span } => {
                    self.check(mem::take(&mut pending), &unread);
                    let call = Call {
                        name,
                        argument: self.sources.slice(argument_span).to_owned(),
                        argument_span,
                        directory: directory.to_owned(),
                        is_only_item,
                    };
                    if let Err(diagnostic) = commands::plan(self, call) {
                        self.diagnostics.push(*diagnostic);
                    }
                }
                ItemKind::Import { path, path_span } => {
                    self.check(mem::take(&mut pending), &unread);
                    if let Err(diagnostic) = self.import(&directory.join(&*path), path_span) {
                        self.diagnostics.push(*diagnostic);
                    }
                }
                ItemKind::Def(_)
                | ItemKind::TypeAlias { .. }
                | ItemKind::Binding { .. }
                | ItemKind::Expr { .. } => pending.push(item),
            }
        }
        self.check(pending, &unread);
        if is_only_item && let Some(command) = commands::meant(text.trim()) {
            for found in self.diagnostics.iter_mut().filter(|found| found.code == "E0201") {
                found.help = vec![format!("commands begin with a colon: `:{command}`")];
            }
        }
    }

    /// Plans the items of another file for their definitions: it shows nothing, and does nothing
    /// if the cell has imported the file already.
    fn import(&mut self, path: &Path, span: Span) -> Result<(), Box<Diagnostic>> {
        let is_done = fs::canonicalize(path)
            .is_ok_and(|path| self.imported.contains(&path) && !self.importing.contains(&path));
        if is_done {
            return Ok(());
        }
        let shown = mem::replace(&mut self.shown, false);
        let known = self.diagnostics.len();
        let result = self.file(path, span);
        self.shown = shown;
        let place = self.sources.place(span);
        for found in &mut self.diagnostics[known..] {
            found.notes.push(format!("`{}` is imported at {place}", path.display()));
        }
        result
    }

    /// Plans the items of another file.
    pub(crate) fn file(&mut self, path: &Path, span: Span) -> Result<(), Box<Diagnostic>> {
        if !self.loader.allowed {
            return Err(Box::new(forbidden(span)));
        }
        if let Some(loader) = io::loader_of(path) {
            let message = format!("`{}` holds data, no program", path.display());
            return Err(Box::new(
                Diagnostic::error("E0505", message, span, "asked for here").help(format!(
                    "data is read into a name: `x = {loader} \"{}\"`",
                    path.display()
                )),
            ));
        }
        let text = read_source(path).map_err(|problem| {
            let message = format!("cannot read `{}`: {problem}", path.display());
            Box::new(Diagnostic::error("E0505", message, span, "asked for here"))
        })?;
        let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if self.importing.contains(&canonical) {
            let chain: Vec<String> =
                self.importing.iter().map(|path| path.display().to_string()).collect();
            let message = format!("`{}` imports itself", path.display());
            let diagnostic = Diagnostic::error("E0505", message, span, "imported again here")
                .note(format!("the files being imported are {}", chain.join(", ")));
            return Err(Box::new(diagnostic));
        }
        self.imported.insert(canonical.clone());
        self.importing.push(canonical);
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        self.text(&path.display().to_string(), &text, &directory);
        self.importing.pop();
        Ok(())
    }

    /// Checks an expression that is the argument of a command, or part of it. `None` if something
    /// is wrong with it, which is then reported. What the state sees stays as it is.
    pub(crate) fn expression(&mut self, span: Span) -> Option<Expression> {
        self.argument(span, Argument::Expression)
    }

    /// As [`Planner::expression`], for an argument that may bind names.
    pub(crate) fn expression_or_binding(&mut self, span: Span) -> Option<Expression> {
        self.argument(span, Argument::ExpressionOrBinding)
    }

    /// The path that a text literal holds, with escapes as in every text. `None` if it holds none, which is then
    /// reported.
    pub(crate) fn path(&mut self, span: Span) -> Option<PathBuf> {
        let text = render::Sources::text(&*self.sources, span.source);
        let parsed = syntax::parse_item(span.source, text, span.range());
        let is_broken = !parsed.diagnostics.is_empty();
        self.diagnostics.extend(parsed.diagnostics);
        if is_broken {
            return None;
        }
        let path = if let [Item { kind: ItemKind::Expr { value, .. }, .. }] = &parsed.items[..]
            && let ExprKind::Text(bytes) = &value.kind
        {
            std::str::from_utf8(bytes).ok().map(PathBuf::from)
        } else {
            None
        };
        if path.is_none() {
            let message = "the name of a file is a text of UTF-8";
            self.diagnostics.push(Diagnostic::error("E0502", message, span, "this is none"));
        }
        path
    }

    fn argument(&mut self, span: Span, wanted: Argument) -> Option<Expression> {
        let started = Instant::now();
        let text = render::Sources::text(&*self.sources, span.source);
        let parsed = syntax::parse_item(span.source, text, span.range());
        let broken = !parsed.diagnostics.is_empty();
        self.diagnostics.extend(parsed.diagnostics);
        let mut items = parsed.items;
        let is_wanted = matches!(&items[..], [item] if wanted.admits(&item.kind));
        if !is_wanted {
            if !broken {
                let message = "an expression is needed here";
                let remark = if items.is_empty() { "nothing is here" } else { "this is none" };
                let diagnostic = Diagnostic::error("E0502", message, span, remark);
                self.diagnostics.push(match &items[..] {
                    [Item { kind: ItemKind::Binding { .. }, .. }] => diagnostic
                        .help("bind it in a line of its own, or leave the name and `=` away here"),
                    _ => diagnostic,
                });
            }
            return None;
        }
        self.resolve_numbers(&mut items);
        let parse = started.elapsed();
        let started = Instant::now();
        let checked = check(&items, &self.state.environment, &self.config(), &mut self.loader);
        let check = started.elapsed();
        self.diagnostics.append(&mut self.loader.doubts);
        self.footer.add(Phase::Parse, parse);
        self.footer.add(Phase::Type, check);
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        let is_wrong = broken || checked.diagnostics.iter().any(is_error);
        // What else is wrong with a text that does not parse may only follow from that.
        if !broken {
            let found = checked.diagnostics.into_iter().map(|found| self.numbered(found));
            let found: Vec<Diagnostic> = found.collect();
            self.diagnostics.extend(found);
        }
        match checked.items.into_iter().next().filter(|_| !is_wrong) {
            Some(item) => {
                self.state.values.extend(checked.loaded);
                Some(Expression { item, environment: checked.environment, parse, check })
            }
            None => {
                // Its names are known to be broken, so that their uses are not reported again.
                if wanted == Argument::ExpressionOrBinding {
                    self.state.environment = checked.environment;
                }
                None
            }
        }
    }

    /// Takes over what a checked item defines: its names, or `it`, when it is to be shown.
    pub(crate) fn adopt(&mut self, item: &CheckedItem, environment: Environment) {
        let before = mem::replace(&mut self.state.environment, environment);
        let change = match item.kind {
            CheckedKind::Show { .. } | CheckedKind::ShowFunction { .. } => Change::Results,
            CheckedKind::Bind { .. } | CheckedKind::Define { .. } | CheckedKind::Alias { .. } => {
                Change::Something
            }
        };
        self.change = self.change.max(change);
        self.remember(item, &mut Meanings::new(before));
    }

    /// Checks items, of which those are broken in which one of the places that could not be read lies; these are in
    /// the order of the text, as the items are.
    fn check(&mut self, mut items: Vec<Item>, unread: &[Span]) {
        if items.is_empty() {
            return;
        }
        let is_shown = |item: &Item| matches!(item.kind, ItemKind::Expr { .. });
        let change = if items.iter().all(is_shown) { Change::Results } else { Change::Something };
        self.change = self.change.max(change);
        let known = self.diagnostics.len();
        self.resolve_numbers(&mut items);
        let mut missing: Vec<Span> =
            self.diagnostics[known..].iter().map(Diagnostic::span).collect();
        missing.sort_unstable_by_key(|place| place.start);
        // Texts of thousands of lines are pasted, so each is looked up.
        let has_one_of = |item: &Span, places: &[Span]| {
            let first = places.partition_point(|place| place.start < item.start);
            let near = places[first..].iter().take_while(|place| place.start <= item.end);
            near.into_iter().any(|place| item.contains(*place))
        };
        let has_unread = |item: &Span| has_one_of(item, unread) || has_one_of(item, &missing);
        let broken: Vec<Span> = items.iter().map(|item| item.span).filter(has_unread).collect();
        let is_broken = |place: Span| {
            let after = broken.partition_point(|item| item.start <= place.start);
            broken[..after].last().is_some_and(|item| item.contains(place))
        };
        let started = Instant::now();
        let checked = check(&items, &self.state.environment, &self.config(), &mut self.loader);
        self.diagnostics.append(&mut self.loader.doubts);
        self.footer.add(Phase::Type, started.elapsed());
        let before = mem::replace(&mut self.state.environment, checked.environment);
        self.state.values.extend(checked.loaded);
        // What else is wrong with an item that does not parse may only follow from that.
        let found = checked.diagnostics.into_iter().filter(|found| !is_broken(found.span()));
        let found: Vec<Diagnostic> = found.map(|found| self.numbered(found)).collect();
        self.diagnostics.extend(found);
        let mut meanings = Meanings::new(before);
        for item in checked.items {
            self.remember(&item, &mut meanings);
            self.steps.push(Step::Item { item, shown: self.shown });
        }
    }

    fn config(&self) -> Config {
        Config { float: self.state.modes.float }
    }

    fn resolve_numbers(&mut self, items: &mut [Item]) {
        let cells = Cells { log: self.log, state: &self.state };
        let mut missing = Vec::new();
        let is_bound = |name: &&str| self.state.environment.lookup(name).is_some();
        let taken = numbered::NAMES.into_iter().filter(is_bound).collect();
        numbered::resolve(items, &cells, taken, &mut missing);
        self.diagnostics.extend(missing.iter().map(numbered::Missing::report));
    }

    /// A finding; where it is that `_7` is unknown, the one that there is no such result.
    fn numbered(&self, found: Diagnostic) -> Diagnostic {
        let span = found.span();
        match numbered::output_number(self.sources.slice(span)) {
            Some(number) if found.code == "E0201" => {
                numbered::Missing { what: "Out", number, span }.report()
            }
            _ => found,
        }
    }

    /// Notes where the definitions of an item come from.
    fn remember(&mut self, item: &CheckedItem, meanings: &mut Meanings) {
        let named = meanings.named(self.sources.slice(item.span), &self.state.aliases);
        meanings.define(item);
        let is_result = |global: &GlobalId| {
            self.state.origins.get(global).is_some_and(|origin| origin.anonymous)
        };
        let places = |body: &typed::Expr| references::places(body, item.span, &is_result);
        let (globals, binds, uses, anonymous, results) = match &item.kind {
            CheckedKind::Define { name, global, .. } => {
                let (uses, results) = match self.state.environment.global(*global) {
                    Some(Global::Function(function)) => {
                        (references::of_expr(&function.body), places(&function.body))
                    }
                    Some(Global::Value { .. }) | None => (BTreeSet::new(), Vec::new()),
                };
                (vec![*global], vec![Arc::clone(name)], uses, false, results)
            }
            CheckedKind::Bind { program, names, .. } => {
                let globals = names.iter().map(|name| name.global).collect();
                let binds = names.iter().map(|name| Arc::clone(&name.name)).collect();
                (globals, binds, references::of_program(program), false, places(&program.entry))
            }
            CheckedKind::Show { program, global, .. } => {
                let uses = references::of_program(program);
                (vec![*global], Vec::new(), uses, true, places(&program.entry))
            }
            CheckedKind::Alias { name } => {
                let alias = Arc::new(AliasItem { item: item.span, named });
                self.state.aliases.insert(Arc::clone(name), alias);
                return;
            }
            CheckedKind::ShowFunction { .. } => return,
        };
        let float = self.state.modes.float;
        let origin =
            Arc::new(Origin { item: item.span, binds, uses, anonymous, results, float, named });
        for global in globals {
            self.state.origins.insert(global, Arc::clone(&origin));
        }
    }
}

/// What the argument of a command may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    /// An expression.
    Expression,
    /// An expression, or a pattern with a value for it.
    ExpressionOrBinding,
}

impl Argument {
    fn admits(self, item: &ItemKind) -> bool {
        match item {
            ItemKind::Expr { .. } => true,
            ItemKind::Binding { .. } => self == Argument::ExpressionOrBinding,
            ItemKind::Def(_)
            | ItemKind::TypeAlias { .. }
            | ItemKind::Command { .. }
            | ItemKind::Import { .. } => false,
        }
    }
}

/// What a cell does to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// It only looks.
    Nothing,
    /// It shows: `it` and `Out[n]` are others, which is no step for `:undo`.
    Results,
    /// Names, modes or files are others.
    Something,
}

/// A checked expression of a command.
pub(crate) struct Expression {
    /// The expression.
    pub(crate) item: CheckedItem,
    /// What the next item would see if it were a cell.
    pub(crate) environment: Environment,
    /// How long it took to parse.
    pub(crate) parse: Duration,
    /// How long it took to check.
    pub(crate) check: Duration,
}

struct Cells<'a> {
    log: &'a [Entry],
    state: &'a State,
}

impl Numbered for Cells<'_> {
    fn input(&self, number: usize) -> Option<Arc<str>> {
        let entry = self.log.iter().find(|entry| entry.number == number)?;
        Some(Arc::clone(&entry.text))
    }

    fn has_output(&self, number: usize) -> bool {
        self.state.outputs.contains_key(&number)
    }
}

/// The most bytes that a source file may have. People write some thousands; a device never ends.
pub const SOURCE_BYTES: u64 = 64_000_000;

/// The text of a source file; the error says what is wrong with it.
pub(crate) fn read_source(path: &Path) -> Result<String, String> {
    let bytes = weft_files::read_regular(path, SOURCE_BYTES).map_err(|error| {
        // The operating system's number adds nothing for the reader.
        error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..position].iter().filter(|byte| **byte == b'\n').count();
        format!("byte {position}, in line {line}, is not UTF-8")
    })
}
