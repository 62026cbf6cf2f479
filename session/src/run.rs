//! The second half of a cell: evaluate its items one after the other, and tell the sink.

mod group;
mod inquire;
mod lengths;
mod positions;
mod save;
mod sequence;

use std::collections::BTreeSet;
use std::mem;
use std::time::Instant;

use weft_ir::{Exhausted, Failure, Looks, Span, Trap, TrapKind, Type, Value};
use weft_lang::typed::{ExprKind, GlobalId, Program};
use weft_lang::{CheckedItem, CheckedKind, Diagnostic, builtins, is_loader, is_table_form, render};

use crate::commands::{devices_text, memory, variables};
use crate::display::{bound_type, has_heading};
use crate::engine::{Backend, Counters, Engine, Fallback, Job, Notice, Ran};
use crate::files;
use crate::footer::{Footer, Phase};
use crate::inquiry::Inquiry;
use crate::join::{Unit, last_uses, program, units};
use crate::modes::size_text;
use crate::plan::Step;
use crate::plot;
use crate::prelude;
use crate::references;
use crate::remarks::{self, Told};
use crate::sink::{Cancel, Event, Shown, Sink};
use crate::sources::Sources;
use crate::stack;
use crate::state::State;

/// Why a cell ends early.
pub(crate) enum Stop {
    /// The program is wrong.
    Failed(Box<Diagnostic>),
    /// Somebody asked for it.
    Interrupted,
    /// Weft is wrong.
    Bug(String),
    /// `:quit`.
    Quit,
}

/// Evaluates the steps of a cell.
pub(crate) struct Runner<'a> {
    /// The state, with the values so far.
    pub(crate) state: State,
    /// The last value that was shown.
    pub(crate) shown: Option<GlobalId>,
    /// The names of which was told that they are bound.
    pub(crate) announced: Vec<String>,
    /// What the steps have cost.
    pub(crate) footer: Footer,
    /// The bytes of the stack that it runs on.
    pub(crate) stack: usize,
    /// The bytes of values that only earlier and later states hold.
    pub(crate) kept_for_undo: u64,
    /// What the session has remarked on.
    pub(crate) told: Told,
    engine: &'a Engine,
    /// How the last program ran.
    last: Option<Ran>,
    sources: &'a Sources,
    sink: &'a mut dyn Sink,
    cancel: &'a Cancel,
    number: usize,
    io: bool,
    /// Whether the value at hand is shown with nothing left out.
    whole: bool,
    /// How many values the steps to come will show.
    to_show: usize,
    /// The values that the cell shows by their names alone, after their types.
    told_when_shown: BTreeSet<GlobalId>,
}

impl<'a> Runner<'a> {
    /// A runner of cell `number`.
    pub(crate) fn new(
        state: State,
        engine: &'a Engine,
        sources: &'a Sources,
        sink: &'a mut dyn Sink,
        cancel: &'a Cancel,
        number: usize,
        io: bool,
    ) -> Runner<'a> {
        Runner {
            state,
            shown: None,
            announced: Vec::new(),
            footer: Footer::default(),
            stack: stack::LEAST,
            kept_for_undo: 0,
            told: Told::default(),
            engine,
            last: None,
            sources,
            sink,
            cancel,
            number,
            io,
            whole: false,
            to_show: 0,
            told_when_shown: BTreeSet::new(),
        }
    }

    /// Does the steps of a cell, in order.
    pub(crate) fn steps(&mut self, steps: Vec<Step>) -> Result<(), Stop> {
        // So the last value that is shown is known when it comes.
        self.to_show = steps.iter().filter(|step| shows(step)).count();
        self.told_when_shown = steps.iter().filter_map(shown_with_type).collect();
        let mut last_uses = last_uses(&steps, &self.state).into_iter();
        for unit in units(steps, &self.state) {
            let steps = match unit {
                Unit::Step(step) => {
                    self.step(step)?;
                    1
                }
                Unit::Group(lines) => {
                    self.group(&lines)?;
                    lines.len()
                }
            };
            // What nothing can ask for any more makes room for what comes.
            for global in last_uses.by_ref().take(steps).flatten() {
                self.state.values.remove(&global);
            }
        }
        Ok(())
    }

    /// Does one step.
    fn step(&mut self, step: Step) -> Result<(), Stop> {
        self.check_cancelled()?;
        match step {
            Step::Item { item, shown } => self.item(&item, shown),
            Step::Timed { item, parse, check } => {
                let before = mem::take(&mut self.footer);
                self.item(&item, true)?;
                let mut own = mem::replace(&mut self.footer, before);
                self.footer.merge(&own);
                own.add(Phase::Parse, parse);
                own.add(Phase::Type, check);
                let how = self.last.as_ref().map(ran_text).unwrap_or_default();
                let text = format!("{}\n{how}", own.lines(79));
                self.sink.event(Event::Text(text.trim_end().to_owned()));
                Ok(())
            }
            Step::Inquire { inquiry, program, ty } => {
                if let Inquiry::Bench | Inquiry::Compare = inquiry {
                    self.remark(&program);
                }
                self.inquire(inquiry, &program, &ty)
            }
            Step::Cache { clear } => {
                if clear {
                    self.engine.clear();
                }
                self.sink.event(Event::Text(cache_text(self.engine)));
                Ok(())
            }
            Step::Text(text) => {
                self.sink.event(Event::Text(text));
                Ok(())
            }
            Step::Variables(environment) => {
                self.sink.event(Event::Text(variables(&environment, &self.state)));
                Ok(())
            }
            Step::Memory(environment) => {
                let on_device = |value: &Value| self.engine.resident_bytes(value);
                let text = memory(&self.state.seen_by(environment), self.kept_for_undo, &on_device);
                self.sink.event(Event::Text(text));
                Ok(())
            }
            Step::Devices => {
                let text = devices_text(&self.state.modes, self.engine.gpu());
                self.sink.event(Event::Text(text));
                Ok(())
            }
            Step::NeedsGpu => {
                if let Err(why) = self.engine.gpu() {
                    let text =
                        format!("there is none: {why}; until there is, programs run on the CPU");
                    self.sink.event(Event::Text(text));
                }
                Ok(())
            }
            Step::SaveValue { program, ty, path, span } => self.save(&program, &ty, &path, span),
            Step::SaveSource { text, path, span } => self.save_source(&text, &path, span),
            Step::Whole(item) => {
                self.whole = true;
                let result = self.item(&item, true);
                self.whole = false;
                result
            }
            Step::Modes(modes) => {
                self.state.modes = *modes;
                Ok(())
            }
            Step::Quit => Err(Stop::Quit),
        }
    }

    /// The files in which a program's inputs lie must be as they were when they were opened: a value never changes,
    /// and looking at what a file has no longer would end the process.
    fn check_files(&self, program: &Program, span: Span) -> Result<(), Stop> {
        let used = references::of_program(program);
        let mut used = used.iter().filter_map(|global| self.state.values.get(global));
        match used.find_map(Value::changed) {
            None => Ok(()),
            Some(what) => Err(Stop::Failed(Box::new(files::changed(what, span)))),
        }
    }

    fn check_cancelled(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    fn item(&mut self, item: &CheckedItem, shown: bool) -> Result<(), Stop> {
        // Whoever waits in vain for a value, or gets an error, may learn why.
        self.remark_item(item);
        let value = match program(item) {
            Some(program) => Some(self.run(program, item.span)?),
            None => None,
        };
        self.finish(item, value, shown)
    }

    /// Keeps the value of an item and tells of it. Items without a program have none.
    fn finish(
        &mut self,
        item: &CheckedItem,
        value: Option<Value>,
        shown: bool,
    ) -> Result<(), Stop> {
        self.remark_item(item);
        match (&item.kind, value) {
            (CheckedKind::Define { name, scheme, .. }, _) => {
                if shown {
                    let ty = plot::shortened(scheme.to_string()) + &hidden(name);
                    let name = name.to_string();
                    self.announced.push(name.clone());
                    self.sink.event(Event::Defined { name, ty });
                }
            }
            (CheckedKind::Alias { name }, _) => {
                if shown {
                    let (name, ty) = (name.to_string(), String::new());
                    self.announced.push(name.clone());
                    self.sink.event(Event::Defined { name, ty });
                }
            }
            (CheckedKind::Bind { names, .. }, Some(whole)) => {
                for bound in names {
                    let value = component(&whole, &bound.path);
                    if shown {
                        let name = bound.name.to_string();
                        let width = self.state.modes.limits.width;
                        let ty = bound_type(&name, &value, &bound.ty, width) + &hidden(&name);
                        self.announced.push(name.clone());
                        // Its type is about to stand before its value.
                        if !self.told_when_shown.contains(&bound.global) {
                            self.sink.event(Event::Bound { name, ty });
                        }
                    }
                    self.state.values.insert(bound.global, value);
                }
            }
            (CheckedKind::Show { ty, global, quiet, .. }, Some(value)) => {
                // What a device has lost may have to be computed again.
                if shown && !quiet && !value.bring(Looks::AtSome, self.cancel.flag()) {
                    return Err(Stop::Interrupted);
                }
                self.state.values.insert(*global, value.clone());
                self.shown = Some(*global);
                if shown && !quiet {
                    self.show(value, ty.clone());
                }
            }
            (CheckedKind::ShowFunction { scheme, sequence: Some(sequence), .. }, _) => {
                if shown {
                    self.sequence(sequence, &scheme.to_string(), item.span)?;
                }
            }
            (CheckedKind::ShowFunction { scheme, given, sequence: None, commas }, _) => {
                if shown {
                    let missing = match given {
                        Some(_) if let Some(help) = commas => format!("\n({help})"),
                        Some((given, takes)) if given + 1 == *takes => {
                            "\n(one argument is missing)".to_owned()
                        }
                        Some((given, takes)) => {
                            format!("\n({given} of {takes} arguments given)")
                        }
                        None => String::new(),
                    };
                    self.sink.event(Event::Text(format!("a function : {scheme}{missing}")));
                }
            }
            (CheckedKind::Bind { .. } | CheckedKind::Show { .. }, None) => {
                panic!("a program without a value")
            }
        }
        Ok(())
    }

    /// Tells what there is to say about the program of an item. Of inputs that have no values yet, nothing is said.
    fn remark_item(&mut self, item: &CheckedItem) {
        if let Some(program) = program(item) {
            self.remark(program);
        }
    }

    /// Tells what there is to say about a program.
    fn remark(&mut self, program: &Program) {
        let found = remarks::remarks(program, &self.state, self.sources, &mut self.told);
        if !found.is_empty() {
            self.sink.event(Event::Report(self.sources.report(found)));
        }
    }

    fn show(&mut self, value: Value, ty: Type) {
        let limits = match self.whole {
            true => self.state.modes.limits.for_paging(),
            false => self.state.modes.limits.clone(),
        };
        self.to_show = self.to_show.saturating_sub(1);
        let (number, is_last, whole) = (self.number, self.to_show == 0, self.whole);
        // Whoever listens may take long to write it.
        self.cancel.set_activity(format!("showing a value of In[{number}]"));
        self.sink.event(Event::Shown(Shown { number, value, ty, limits, is_last, whole }));
    }

    fn run(&mut self, program: &Program, span: Span) -> Result<Value, Stop> {
        self.run_with(program, span, &|_| None)
    }

    /// Runs a program, where `given` has the values of some of its inputs.
    fn run_with(
        &mut self,
        program: &Program,
        span: Span,
        given: &dyn Fn(GlobalId) -> Option<Value>,
    ) -> Result<Value, Stop> {
        self.check_files(program, span)?;
        self.cancel.set_activity(format!("evaluating {}", self.sources.place(span)));
        let mut smaller: Option<Program> = None;
        let (mut first, mut before): (Option<Failure>, Option<u64>) = (None, None);
        loop {
            let program = smaller.as_ref().unwrap_or(program);
            let begun = Instant::now();
            let failure = match self.run_once(program, given) {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            if sequence::wanted(&failure).is_none() {
                return Err(self.stop(failure, program));
            }
            // With fewer items at a time there may be room. If as much is wanted all the same, and only after a while,
            // it is what they come to; the first failure says most.
            let wanted = sequence::wanted(&failure);
            let helped = first.is_none() || wanted < before || begun.elapsed() < sequence::SHORT;
            let failure = first.take().unwrap_or(failure);
            match sequence::with_smaller_chunks(program).filter(|_| helped) {
                Some(next) => (smaller, first, before) = (Some(next), Some(failure), wanted),
                None => return Err(self.stop(failure, program)),
            }
        }
    }

    fn run_once(
        &mut self,
        program: &Program,
        given: &dyn Fn(GlobalId) -> Option<Value>,
    ) -> Result<Value, Failure> {
        let values = |global| given(global).unwrap_or_else(|| self.state.value(global));
        let job = Job {
            program,
            values: &values,
            modes: &self.state.modes,
            cancel: self.cancel.flag(),
            meter: self.cancel.meter(),
            stack: self.stack,
        };
        let (result, ran) = self.engine.run(&job);
        self.account(ran, "the interpreter ran this");
        result
    }

    fn stop(&self, failure: Failure, program: &Program) -> Stop {
        match failure {
            Failure::Exhausted(Exhausted::Interrupted) => Stop::Interrupted,
            Failure::Exhausted(Exhausted::Memory { wanted, limit, span })
                if span.source == prelude::SOURCE =>
            {
                let exhausted = Exhausted::Memory { wanted, limit, span: program.entry.span };
                Stop::Failed(Box::new(render::exhausted_diagnostic(&exhausted)))
            }
            Failure::Exhausted(exhausted) => {
                Stop::Failed(Box::new(render::exhausted_diagnostic(&exhausted)))
            }
            Failure::Trap(trap) => {
                Stop::Failed(Box::new(self.trapped(prelude::outside(*trap), program)))
            }
        }
    }

    /// What a trap reports, with what to write instead where the program shows it.
    fn trapped(&self, trap: Trap, program: &Program) -> Diagnostic {
        let diagnostic = render::trap_diagnostic(&trap);
        let text = self.sources.slice(trap.span);
        let is_slice = text.contains(':') && !text.ends_with(']');
        match trap.kind {
            TrapKind::IndexOutOfRange { extent, .. } if text.starts_with("histogram ") => {
                let help = format!(
                    "only the numbers from 0 to {} have a bin: leave out others, `{{ x in xs | x >= 0 && x < {extent} }}`",
                    extent.saturating_sub(1)
                );
                Diagnostic { help: vec![help], ..diagnostic }
            }
            TrapKind::IndexOutOfRange { index, extent } if is_slice && index > extent => diagnostic
                .help("`take n xs` and `drop n xs` take and leave as many elements as there are"),
            TrapKind::IndexOutOfRange { index, .. } if index < 0 => {
                match positions::from_the_end(self.sources, trap.span) {
                    Some(help) => Diagnostic { help: vec![help], ..diagnostic },
                    None => diagnostic,
                }
            }
            TrapKind::LengthMismatch { operation, left, right } => {
                let written = |span| self.sources.slice(span);
                match remarks::texts_compared(program, trap.span, &written) {
                    Some(help) => diagnostic.help(help),
                    None => {
                        let values = |global| self.state.values.get(&global).cloned();
                        let source = |span| self.sources.slice(span).to_owned();
                        let lengths = (&*operation, left, right);
                        lengths::explained(diagnostic, program, &values, lengths, &source)
                    }
                }
            }
            _ => diagnostic,
        }
    }

    /// Counts what a run has cost, and tells what people are to know of it: what was done instead, where
    /// the compiler broke off.
    fn account(&mut self, ran: Ran, instead: &str) {
        ran.phases.iter().for_each(|(phase, time)| self.footer.add(*phase, *time));
        self.footer.cache_hits += ran.counters.cached;
        self.footer.cache_misses += ran.counters.compiled;
        self.engine.note_cell(self.number, &ran.counters);
        let Counters { bytes_read, bytes_written, uploaded, downloaded, .. } = ran.counters;
        self.footer.bytes_moved += bytes_read + bytes_written + uploaded + downloaded;
        if let Some(Fallback::Bug(message)) = &ran.fallback {
            self.sink.event(Event::Notice(format!(
                "a bug in Weft: the compiler broke off ({message}); {instead} instead, and nothing \
                 is lost. Please report it with this cell."
            )));
        }
        if let Some(Notice { place, text }) = self.engine.take_notice() {
            let place = place.map(|span| format!("{}: ", self.sources.place(span)));
            self.sink.event(Event::Notice(format!("{}{text}", place.unwrap_or_default())));
        }
        self.last = Some(ran);
    }
}

/// What is said of a name that hides a function which came with Weft.
fn hidden(name: &str) -> String {
    let is_known = builtins::lookup(name).is_some()
        || prelude::has(name)
        || is_loader(name)
        || is_table_form(name);
    if !is_known {
        return String::new();
    }
    format!(" (hides the function; `:free {name}` brings it back)")
}

/// Whether a step shows a value.
fn shows(step: &Step) -> bool {
    match step {
        Step::Item { item, shown: true } | Step::Timed { item, .. } | Step::Whole(item) => {
            matches!(item.kind, CheckedKind::Show { quiet: false, .. })
        }
        _ => false,
    }
}

/// The value that a step shows by its name alone, if its type stands before it.
fn shown_with_type(step: &Step) -> Option<GlobalId> {
    let Step::Item { item, shown: true } = step else { return None };
    let CheckedKind::Show { program, ty, quiet: false, .. } = &item.kind else { return None };
    match program.entry.kind {
        ExprKind::Value(global) if has_heading(ty) => Some(global),
        _ => None,
    }
}

/// How a program ran, in a line.
fn ran_text(ran: &Ran) -> String {
    match &ran.fallback {
        Some(fallback) => fallback.to_string(),
        None if ran.backend == Backend::Interp => "on the interpreter".to_owned(),
        None => {
            let launches = ran.counters.launches;
            let launches = match launches {
                1 => "1 kernel launch".to_owned(),
                _ => format!("{launches} kernel launches"),
            };
            let graphs = match ran.counters.graphs {
                0 => String::new(),
                1 => ", 1 graph launch".to_owned(),
                graphs => format!(", {graphs} graph launches"),
            };
            let beside = match ran.counters.beside {
                0 => String::new(),
                beside => format!(", {beside} beside others"),
            };
            let copied = copied_text(&ran.counters);
            format!("on {}, {launches}{beside}{graphs}{copied}", ran.backend.name())
        }
    }
}

/// What was copied to a device and from it, where there was one.
fn copied_text(counters: &Counters) -> String {
    let Counters { uploaded, reused, downloaded, .. } = *counters;
    if uploaded + reused + downloaded == 0 {
        return String::new();
    }
    let text = |bytes: u64| size_text(bytes);
    let mut parts = vec![format!("{} copied to it", text(uploaded))];
    if reused > 0 {
        parts.push(format!("{} were there", text(reused)));
    }
    parts.push(format!("{} copied back", text(downloaded)));
    format!("; {}", parts.join(", "))
}

/// The fate of the functions that were to become machine code.
fn native_text(engine: &Engine) -> String {
    let functions = engine.native().statistics();
    format!(
        "{} functions became machine code, {} more were found on disk, {} failed",
        functions.compiled, functions.from_disk, functions.failed
    )
}

/// What the caches hold, and where programs ran.
fn cache_text(engine: &Engine) -> String {
    let (plans, kernels) = engine.kept();
    let ran = engine.statistics();
    let cells: String = engine
        .last_cells()
        .into_iter()
        .map(|(cell, cached, compiled)| {
            format!("\ncell {cell}: {cached} of {} kernels were in the cache", cached + compiled)
        })
        .collect();
    format!(
        "{plans} plans of {kernels} different kernels\n{} programs ran compiled, {} on the \
         interpreter, {} there because the compiled path cannot do them, {} because of a fault, {} \
         because of a bug\n{} groups of lines ran as one program, {} could not\n{}{cells}",
        ran.compiled,
        ran.interpreted,
        ran.unsupported,
        ran.faults,
        ran.bugs,
        ran.joined,
        ran.apart,
        native_text(engine)
    )
}

/// The part of a value that a name of a pattern stands for.
fn component(value: &Value, path: &[usize]) -> Value {
    let mut value = value;
    for &index in path {
        value = match value {
            Value::Tuple(parts) => &parts[index],
            Value::Scalar(_) | Value::Array(_) => panic!("a pattern that does not fit its value"),
        };
    }
    value.clone()
}
