//! What can run a case: a session on each of its back ends, with the passes of the compiler on and
//! off. Every `value` is checked on all of them.

use weft_ir::{Type, Value};
use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session, Statistics};

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
    /// Where its programs ran so far.
    fn statistics(&self) -> Statistics;
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
        /// What was remarked on it, all the same: the codes, and the report as text.
        remarks: (Vec<String>, String),
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
    /// It was stopped, as it took longer than so many seconds.
    Late(u64),
}

/// Every engine that there is.
pub fn all() -> Vec<&'static dyn Engine> {
    vec![&INTERPRETER, &NESTED, &FLAT, &CPU, &THREADED, &UNFUSED, &UNSHARED]
}

/// Every engine, and the interpreter of plans: the pages of the suite meet that one in the tests of `passes`.
pub fn all_and_plans() -> Vec<&'static dyn Engine> {
    all().into_iter().chain([&PLAN as &dyn Engine]).collect()
}

/// A session on one back end.
#[derive(Clone, Copy, Debug)]
pub struct Backend {
    name: &'static str,
    /// The modes that differ from the defaults.
    modes: &'static [(&'static str, &'static str)],
}

/// The reference interpreter.
pub const INTERPRETER: Backend = Backend { name: "interp", modes: &[("backend", "interp")] };
/// The interpreter of *nested*: what lowering makes.
pub const NESTED: Backend = Backend { name: "nested", modes: &[("backend", "nested")] };
/// The interpreter of *flat*: what sharing and flattening make.
pub const FLAT: Backend = Backend { name: "flat", modes: &[("backend", "flat")] };
/// The interpreter of *flat* on what plans say: what fusion makes, with every read checked.
pub const PLAN: Backend = Backend { name: "plan", modes: &[("backend", "plan")] };

/// The compiled path as it is by default, on one thread.
pub const CPU: Backend = Backend { name: "cpu", modes: &[("backend", "cpu"), ("threads", "1")] };
/// The compiled path on several threads.
pub const THREADED: Backend =
    Backend { name: "cpu, 3 threads", modes: &[("backend", "cpu"), ("threads", "3")] };
/// The compiled path without fusion.
pub const UNFUSED: Backend = Backend {
    name: "cpu without fusion",
    modes: &[("backend", "cpu"), ("threads", "1"), ("fusion", "off")],
};
/// The compiled path with native functions from the first run on. A C compiler takes its time, so it
/// has a test of its own.
pub const NATIVE: Backend =
    Backend { name: "cpu-native", modes: &[("backend", "cpu"), ("threads", "1"), ("tier", "1")] };
/// The compiled path without sharing.
pub const UNSHARED: Backend = Backend {
    name: "cpu without sharing",
    modes: &[("backend", "cpu"), ("threads", "1"), ("sharing", "off")],
};

/// The CUDA text of the kernels, on an emulated device. It is slower than all others together, so it
/// has a test of its own.
pub const EMULATED: Backend =
    Backend { name: "gpu-emulated", modes: &[("backend", "gpu-emulated")] };

/// The kernels on a device, or on what stands in for one.
pub const GPU: Backend = Backend { name: "gpu", modes: &[("backend", "gpu")] };

/// Bytes that the arrays of a case may take.
const MEMORY: u64 = 2 << 30;

/// Reports are laid out for a terminal this wide, so that no message is cut.
const REPORT_WIDTH: usize = 200;

impl Engine for Backend {
    fn name(&self) -> &'static str {
        self.name
    }

    fn open(&self) -> Box<dyn Evaluator> {
        let mut session = Session::new(&Config { memory: MEMORY, io: true });
        for (mode, value) in self.modes {
            session.set_mode(mode, value).expect("a mode of the session");
        }
        Box::new(session)
    }
}

impl Evaluator for Session {
    fn evaluate(&mut self, source: &str, cancel: &Cancel) -> Answer {
        let mut sink = Collected::default();
        let bugs = Session::statistics(self).bugs;
        let outcome = self.eval(Cell::typed(source), &mut sink, cancel);
        if Session::statistics(self).bugs > bugs {
            let notes = sink.events.iter().filter_map(|event| match event {
                Event::Note(note) | Event::Notice(note) => Some(note.as_str()),
                _ => None,
            });
            return Answer::Bug(notes.collect::<Vec<_>>().join("\n"));
        }
        if let Some(note) = elsewhere(&sink) {
            return Answer::Bug(note);
        }
        match outcome {
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

    fn statistics(&self) -> Statistics {
        Session::statistics(self)
    }
}

/// The note that a program did not run on the device on which it should, or not as C, because a compiler refused that.
fn elsewhere(sink: &Collected) -> Option<String> {
    let is_elsewhere = |note: &str| {
        let refused = note.contains(" failed: ") && note.contains("error:");
        note.contains("This ran on the CPU") || refused
    };
    sink.events.iter().find_map(|event| match event {
        Event::Notice(note) if is_elsewhere(note) => Some(note.clone()),
        _ => None,
    })
}

fn done(sink: Collected) -> Answer {
    let mut shown = None;
    let mut texts = Vec::new();
    let mut remarks = (Vec::new(), String::new());
    for event in sink.events {
        match event {
            Event::Shown(value) => shown = Some((value.value, value.ty)),
            Event::Text(text) => texts.push(text),
            Event::Report(report) => {
                remarks.0.extend(report.diagnostics.iter().map(|found| found.code.to_owned()));
                remarks.1 += &report.render(false, REPORT_WIDTH);
            }
            _ => {}
        }
    }
    Answer::Done { shown, texts, remarks }
}

#[cfg(test)]
mod tests {
    use weft_session::{Collected, Event};

    use super::elsewhere;

    #[test]
    fn code_that_a_compiler_refuses_is_a_bug() {
        let found = |notice: &str| {
            let mut sink = Collected::default();
            sink.events.push(Event::Notice(notice.to_owned()));
            elsewhere(&sink).is_some()
        };
        assert!(found("cc failed: kernels.c:815:17: error: redefinition of 'r1'"));
        assert!(!found("there is no C compiler: cc, gcc and clang are not found"));
    }
}
