//! What can run a case. The reference interpreter is the only engine so far; the others will be
//! listed in [`all`], and every `value` is then checked on each.

use weft_ir::{Type, Value};
use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session};

/// An engine under test.
pub trait Engine: Sync {
    /// What reports call it.
    fn name(&self) -> &'static str;
    /// A session in which nothing is defined.
    fn open(&self) -> Box<dyn Evaluator>;
}

/// A session of an engine: the cases of a section, one after the other.
pub trait Evaluator: Send {
    /// Evaluates a cell, until it ends or `cancel` asks it to stop.
    fn evaluate(&mut self, source: &str, cancel: &Cancel) -> Answer;
}

/// What came of a cell.
#[derive(Debug)]
pub enum Answer {
    /// It ran.
    Done {
        /// The last value that it showed.
        shown: Option<(Value, Type)>,
        /// What its commands printed, a text each.
        texts: Vec<String>,
    },
    /// It did not check, or it trapped.
    Failed {
        /// The code of the first error.
        code: String,
        /// The whole report as text, without colours.
        report: String,
    },
    /// It stopped because it was asked to.
    Interrupted,
    /// The engine panicked, with this message.
    Bug(String),
}

/// Every engine that there is.
pub fn all() -> Vec<&'static dyn Engine> {
    vec![&Interpreter]
}

/// The reference interpreter, behind a session.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter;

/// Bytes that the arrays of a case may take.
const MEMORY: u64 = 2 << 30;

/// Reports are laid out for a terminal this wide, so that no message is cut.
const REPORT_WIDTH: usize = 200;

impl Engine for Interpreter {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn open(&self) -> Box<dyn Evaluator> {
        Box::new(Session::new(&Config { memory: MEMORY, io: true }))
    }
}

impl Evaluator for Session {
    fn evaluate(&mut self, source: &str, cancel: &Cancel) -> Answer {
        let mut sink = Collected::default();
        match self.eval(Cell::typed(source), &mut sink, cancel) {
            Outcome::Done | Outcome::Quit => done(sink),
            Outcome::Failed(code) => {
                let reports = sink.events.iter().filter_map(|event| match event {
                    Event::Report(report) => Some(report.render(false, REPORT_WIDTH)),
                    _ => None,
                });
                Answer::Failed { code, report: reports.collect() }
            }
            Outcome::Interrupted => Answer::Interrupted,
            Outcome::Bug(message) => Answer::Bug(message),
        }
    }
}

fn done(sink: Collected) -> Answer {
    let mut shown = None;
    let mut texts = Vec::new();
    for event in sink.events {
        match event {
            Event::Shown(value) => shown = Some((value.value, value.ty)),
            Event::Text(text) => texts.push(text),
            _ => {}
        }
    }
    Answer::Done { shown, texts }
}
