//! The device program: what is checked and timed on a machine with a device, from a binary that was built
//! elsewhere (`bench/device.sh`).
//!
//! First everything is checked: the golden kernels against the CPU, bit by bit, at several sizes; the pages
//! of the suite against the interpreter; the examples, which check themselves. Only if all of that holds
//! are programs timed, beside what else the machine has for them.

pub mod compiler;
mod golden;
mod programs;
mod schedule;
mod timing;
mod watch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, thread};

use weft_ir::{Type, Value};
use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session, Statistics};

pub use self::schedule::Schedule;
use self::watch::Watch;
use crate::engine::{Engine, GPU, INTERPRETER};
use crate::runner;
use crate::{pages, repository};

/// How much is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// Small sizes, and few pages: to try the program where the device is emulated.
    pub is_small: bool,
    /// What is done, in the order of [`Step`].
    pub steps: Vec<Step>,
    /// Parts of names, with commas between them: only golden plans, pages, examples and programs that have one of
    /// them in their name.
    pub only: Option<String>,
    /// A name, or a part of one: of a list that has it, nothing that comes before.
    pub from: Option<String>,
    /// How many pages are checked at once; as many as there are processors without.
    pub threads: Option<usize>,
    /// Whether programs are timed even if not all checks hold.
    pub times_anyway: bool,
    /// Whether each program that would be timed runs once, without more: a profiler tells the rest.
    pub is_once: bool,
    /// The Python that runs the peers; none are timed without.
    pub python: Option<PathBuf>,
    /// What a run of the peers has printed; they do not run then.
    pub peers: Option<PathBuf>,
    /// How many seconds the peers of one library may take.
    pub peers_limit: u64,
    /// How long all of it may take.
    pub schedule: Schedule,
}

/// A part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Checks the golden kernels.
    Golden,
    /// Checks the pages.
    Pages,
    /// Checks the examples.
    Examples,
    /// Times programs beside their limits and peers.
    Programs,
    /// Times loops with graphs and without, and programs with several streams and with one.
    Loops,
    /// Times the compiler, and the host.
    Compile,
}

impl Step {
    /// All of them, with their names.
    pub const ALL: [(&str, Step); 6] = [
        ("golden", Step::Golden),
        ("pages", Step::Pages),
        ("examples", Step::Examples),
        ("programs", Step::Programs),
        ("loops", Step::Loops),
        ("compile", Step::Compile),
    ];

    fn is_check(self) -> bool {
        self < Step::Programs
    }
}

impl Options {
    fn has(&self, step: Step) -> bool {
        self.steps.contains(&step)
    }

    fn is_about(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.split(',').any(|part| name.contains(part)))
    }

    /// How much time is left for this part of a step, if there is a limit.
    fn left(&self, step: Step, part: f64) -> Option<Duration> {
        self.schedule.left(step, part, &self.steps)
    }

    /// Whether no more of a step is begun, in this part of its time.
    fn is_over(&self, step: Step, part: f64) -> bool {
        self.left(step, part) == Some(Duration::ZERO)
    }

    /// What of a list is asked for.
    fn chosen<T>(&self, list: impl IntoIterator<Item = T>, name: impl Fn(&T) -> String) -> Vec<T> {
        let mut list: Vec<T> = list.into_iter().collect();
        if let Some(from) = &self.from {
            // A whole name may be a part of one that comes before.
            let whole = list.iter().position(|item| name(item) == *from);
            let first = whole.or_else(|| list.iter().position(|item| name(item).contains(from)));
            list.drain(..first.unwrap_or_default());
        }
        list.retain(|item| self.is_about(&name(item)));
        list
    }
}

/// So many pages are checked beside each other: what is known is said after each such number.
const TOGETHER: usize = 20;

/// Why something was skipped.
const NO_TIME: &str = "the time for it is over (`--seconds`)";

/// How long an example may take, or a program with the inputs that the host makes for it.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Checks, then times, and reports line by line. Yields whether all checks hold.
///
/// # Errors
/// If nothing can be written, or the files of the repository cannot be read.
pub fn run(options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    let found = match weft_device::find() {
        Ok(found) => found,
        Err(absent) => {
            writeln!(out, "no device: {absent}")?;
            return Ok(false);
        }
    };
    for description in &found {
        writeln!(out, "device: {description}; {} bytes", description.bytes)?;
    }
    let plans = repository().join("cuda/gate/plans");
    if !plans.is_dir() {
        let missing = format!(
            "there is no folder {}; WEFT_ROOT says where it is looked for",
            plans.display()
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, missing));
    }
    env::set_current_dir(repository())?;
    // Sessions come one after the other, and opening a context takes long.
    let kept = weft_device::keep_contexts();
    let mut all_hold = true;
    for (step, check) in [
        (Step::Golden, golden::check as fn(&Options, &mut dyn Write) -> io::Result<bool>),
        (Step::Pages, check_pages),
        (Step::Examples, check_examples),
    ] {
        if options.has(step) {
            all_hold &= check(options, out)?;
            out.flush()?;
        }
    }
    if options.steps.iter().all(|step| step.is_check()) {
        return Ok(all_hold);
    }
    // What is timed has all of the device.
    drop(kept);
    if !all_hold {
        writeln!(out, "not all checks hold")?;
    }
    if all_hold || options.times_anyway {
        timing::time(options, out)?;
    } else {
        writeln!(out, "so nothing is timed (`--times-anyway` does)")?;
    }
    Ok(all_hold)
}

/// The pages of the suite and of the manual, on the device and on the interpreter.
fn check_pages(options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    let mut pages = pages::all(&repository())?;
    if options.is_small {
        pages.retain(|page| page.name.ends_with("fusion/producers.md"));
    }
    let pages = options.chosen(pages, |page| page.name.clone());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let threads = options.threads.unwrap_or(threads);
    let engines: [&dyn Engine; 2] = [&INTERPRETER, &GPU];
    let (mut passed, mut failed, mut compiled, mut unsupported) = (0, 0, 0, 0);
    let mut done = 0;
    for some in pages.chunks(TOGETHER) {
        if options.is_over(Step::Pages, 1.0) {
            let (left, next) = (pages.len() - done, &some[0].name);
            writeln!(
                out,
                "pages: {left} of {} skipped: {NO_TIME}; the first is {next}",
                pages.len()
            )?;
            break;
        }
        let config = runner::Config { limit: LIMIT, threads };
        let results = runner::run(some, &engines, &config);
        for (page, result) in some.iter().zip(&results.pages) {
            passed += result.passed;
            failed += result.failures.len();
            for failure in &result.failures {
                writeln!(out, "{}:{}: {}", page.name, failure.line, failure.message.trim_end())?;
            }
        }
        let ran = results.engines.get(GPU.name()).copied().unwrap_or_default();
        compiled += ran.compiled;
        unsupported += ran.unsupported;
        done += some.len();
        writeln!(out, "{done} of {} pages: {passed} cases hold, {failed} do not", pages.len())?;
        out.flush()?;
    }
    writeln!(
        out,
        "pages: {passed} cases hold, {failed} do not; {compiled} programs ran on the device, {unsupported} were not compiled"
    )?;
    Ok(failed == 0 && (done == 0 || passed > 0 && compiled > 0))
}

/// The examples: each ends without an error, and runs on the device.
fn check_examples(options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    let examples = pages::files(&repository().join("examples"), "weft")?;
    if options.is_small {
        writeln!(out, "examples: {} skipped: they are large", examples.len())?;
        return Ok(true);
    }
    let (mut failed, mut held, mut skipped) = (0, 0, 0);
    let watch = Watch::new(PATIENCE);
    let chosen = options.chosen(&examples, |path| stem(path));
    for (at, example) in chosen.iter().enumerate() {
        let (name, next) = (stem(example), chosen.get(at + 1));
        if options.is_over(Step::Examples, 1.0) {
            let left = chosen.len() - at;
            writeln!(
                out,
                "examples: {left} of {} skipped: {NO_TIME}; the first is {name}",
                chosen.len()
            )?;
            skipped = left;
            break;
        }
        watch.on(format!("example {name}"), next.map(|path| stem(path)));
        let begun = Instant::now();
        let mut session = session("gpu");
        let said = say(&mut session, &format!(":load \"examples/{name}.weft\""));
        let ran = session.statistics();
        if said.is_done && is_compiled(&ran) {
            held += 1;
            writeln!(out, "example {name} holds, {:.1} s", begun.elapsed().as_secs_f64())?;
        } else {
            failed += 1;
            let (errors, notes) = (said.errors.concat(), said.notes.concat());
            writeln!(out, "example {name}: {errors}{notes} {ran:?}")?;
        }
        out.flush()?;
    }
    writeln!(out, "examples: {held} hold, {failed} do not")?;
    Ok(failed == 0 && (held > 0 || skipped > 0))
}

/// Whether programs ran, and all of them on the device, but for those that are small.
fn is_compiled(ran: &Statistics) -> bool {
    let Statistics { compiled, elsewhere, unsupported, faults, bugs, .. } = *ran;
    compiled > 0 && [elsewhere, unsupported, faults, bugs] == [0; 4]
}

/// The name of a file without its ending.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a cell says.
struct Said {
    is_done: bool,
    texts: Vec<String>,
    notes: Vec<String>,
    errors: Vec<String>,
    /// The values that it shows.
    values: Vec<(Value, Type)>,
}

fn session(backend: &str) -> Session {
    let mut session = Session::new(&Config { memory: 64 << 30, io: true });
    session.set_mode("backend", backend).expect("a back end");
    session
}

fn say(session: &mut Session, source: &str) -> Said {
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(source), &mut sink, &Cancel::default());
    let mut said = Said {
        is_done: matches!(outcome, Outcome::Done),
        texts: Vec::new(),
        notes: Vec::new(),
        errors: Vec::new(),
        values: Vec::new(),
    };
    for event in sink.events {
        match event {
            Event::Text(text) => said.texts.push(text),
            Event::Note(note) | Event::Notice(note) => said.notes.push(note),
            Event::Shown(shown) => said.values.push((shown.value.clone(), shown.ty.clone())),
            Event::Report(report) => said.errors.push(report.render(false, 100)),
            _ => {}
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use weft_session::Statistics;

    use super::{Options, Schedule, is_compiled};

    #[test]
    fn what_ran_nowhere_or_elsewhere_did_not_run_on_the_device() {
        let ran = Statistics { compiled: 3, interpreted: 2, joined: 1, ..Statistics::default() };
        assert!(is_compiled(&ran));
        for wrong in [
            Statistics::default(),
            Statistics { interpreted: 5, ..Statistics::default() },
            Statistics { elsewhere: 1, ..ran },
            Statistics { unsupported: 1, ..ran },
            Statistics { faults: 1, ..ran },
            Statistics { bugs: 1, ..ran },
        ] {
            assert!(!is_compiled(&wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_list_begins_with_a_whole_name_or_else_with_a_part_of_one() {
        let chosen = |from: &str, only: Option<&str>| {
            let options = Options {
                is_small: true,
                steps: Vec::new(),
                only: only.map(str::to_owned),
                from: Some(from.to_owned()),
                threads: None,
                times_anyway: false,
                is_once: false,
                python: None,
                peers: None,
                peers_limit: 1,
                schedule: Schedule::unlimited(),
            };
            options.chosen(["column_sums", "filter", "sums", "tables"], |name| (*name).to_owned())
        };
        assert_eq!(chosen("sums", None), ["sums", "tables"]);
        assert_eq!(chosen("sum", None), ["column_sums", "filter", "sums", "tables"]);
        assert_eq!(chosen("filter", Some("sum,tab")), ["sums", "tables"]);
        assert_eq!(chosen("none", Some("filter")), ["filter"]);
    }
}
