//! A session whose events are text, so that a test is a list of cells and answers.

use std::path::Path;

use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session};

/// How the sessions of the tests start.
pub(crate) const CONFIG: Config = Config { memory: 1 << 30, io: true };

/// A session with what its last cell said.
pub(crate) struct Transcript {
    pub(crate) session: Session,
    events: Vec<Event>,
    directory: std::path::PathBuf,
}

impl Transcript {
    pub(crate) fn new() -> Transcript {
        Transcript::with(&CONFIG, Path::new(""))
    }

    /// A session whose cells stand in a folder.
    pub(crate) fn with(config: &Config, directory: &Path) -> Transcript {
        let directory = directory.to_owned();
        Transcript { session: Session::new(config), events: Vec::new(), directory }
    }

    /// Evaluates a cell and compares its events, a line each: values, types, remarks in
    /// parentheses, and the codes of diagnostics.
    #[track_caller]
    pub(crate) fn check(&mut self, cell: &str, expect: &str) {
        let found = self.eval(cell);
        assert_eq!(found, expect, "\nin the cell\n{cell}\n{}", self.last_report());
    }

    /// Evaluates cells about which there is nothing to say.
    #[track_caller]
    pub(crate) fn define(&mut self, cells: &[&str]) {
        for cell in cells {
            self.eval(cell);
            assert_eq!(self.last_report(), "", "{cell}");
        }
    }

    /// Evaluates a cell; its events as text.
    pub(crate) fn eval(&mut self, cell: &str) -> String {
        let outcome = self.eval_with(cell, &Cancel::new());
        assert!(!matches!(outcome, Outcome::Bug(_) | Outcome::Interrupted), "{cell}: {outcome:?}");
        let lines: Vec<String> = self.events.iter().map(event_text).collect();
        lines.join("\n")
    }

    /// Evaluates a cell that somebody may cancel.
    pub(crate) fn eval_with(&mut self, text: &str, cancel: &Cancel) -> Outcome {
        let mut sink = Collected::default();
        let cell = Cell { name: None, text, directory: &self.directory };
        let outcome = self.session.eval(cell, &mut sink, cancel);
        // Times differ from run to run.
        sink.events.retain(|event| {
            !matches!(event, Event::Drawing(_) | Event::Progress(_) | Event::Footer(_))
        });
        self.events = sink.events;
        outcome
    }

    /// The diagnostics of the last cell in full.
    pub(crate) fn last_report(&self) -> String {
        let reports = self.events.iter().filter_map(|event| match event {
            Event::Report(report) => Some(report.render(false, 100)),
            _ => None,
        });
        reports.collect()
    }
}

fn event_text(event: &Event) -> String {
    match event {
        Event::Shown(shown) => shown.text(80, false, &Cancel::new()).expect("nobody cancels it"),
        Event::Bound { name, ty } => format!("{name} : {ty}"),
        Event::Defined { name, ty } if ty.is_empty() => format!("type {name}"),
        Event::Defined { name, ty } => format!("{name} : {ty}"),
        Event::Text(text) => text.clone(),
        Event::Note(text) | Event::Notice(text) => format!("({text})"),
        Event::Report(report) => {
            let codes: Vec<&str> = report.diagnostics.iter().map(|found| found.code).collect();
            codes.join(", ")
        }
        Event::Drawing(_) | Event::Progress(_) | Event::Footer(_) => String::new(),
    }
}
