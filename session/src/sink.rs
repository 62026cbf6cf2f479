//! What a session tells its front end while a cell runs: plain data, rendered by whoever listens.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use weft_ir::{Meter, Type, Value};

use crate::display;
use crate::footer::{Footer, Progress};
use crate::plot;
use crate::sources::Report;

/// Listens to a session.
pub trait Sink: Send {
    /// Something happened.
    fn event(&mut self, event: Event);
}

/// What can happen while a cell runs.
#[derive(Clone, Debug)]
pub enum Event {
    /// A bare expression has a value.
    Shown(Shown),
    /// A name is bound to a value, whose type with its extents is given.
    Bound {
        /// The name.
        name: String,
        /// The type.
        ty: String,
    },
    /// A function or type was defined.
    Defined {
        /// The name.
        name: String,
        /// Its type; empty for a type alias.
        ty: String,
    },
    /// What a command has to say.
    Text(String),
    /// The text before it as a picture, in SVG, for those who can show one.
    Drawing(String),
    /// A remark that only matters to somebody at a prompt.
    Note(String),
    /// A remark for everybody: that something else ran than was asked for.
    Notice(String),
    /// Errors or warnings.
    Report(Report),
    /// How far a long piece of work of known size has come; sent some times a second, at first
    /// after a moment. Nothing when that piece has ended and the cell goes on.
    Progress(Option<Progress>),
    /// What the cell has cost: the last event of one that succeeds.
    Footer(Footer),
}

/// A value to show.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The number of the cell: the value is `Out[n]` and `_n` from now on.
    pub number: usize,
    /// The value.
    pub value: Value,
    /// Its type.
    pub ty: Type,
    /// How much of it to show.
    pub limits: display::Options,
    /// Whether the cell shows nothing after it.
    pub is_last: bool,
    /// Whether somebody asked to see all of it: a terminal shows it page by page.
    pub whole: bool,
}

impl Shown {
    /// The value as text for a screen of `width` cells. `None` if it is cancelled meanwhile.
    pub fn text(&self, width: usize, colour: bool, cancel: &Cancel) -> Option<String> {
        let options = self.options(width, colour);
        let mut text = display::text(&self.value, &self.ty, &options, cancel)?;
        let left_out = || display::left_out(&text, &self.value, cancel);
        if let Some(remark) = self.whole.then(left_out).flatten() {
            text.push_str(&format!("\n({remark})"));
        }
        Some(text)
    }

    /// Whether more rows or columns are asked for, by `:show` or `:set`, than are shown by themselves.
    pub fn asks_for_more(&self) -> bool {
        let usual = display::Options::new(self.limits.width);
        self.limits.max_rows > usual.max_rows || self.limits.max_columns > usual.max_columns
    }

    /// The value as an HTML table, if it has rows and columns; at most `bytes` long.
    pub fn html(&self, bytes: usize) -> Option<String> {
        display::html(&self.value, &self.ty, &self.limits, bytes)
    }

    /// The picture that the value is, if it is one.
    pub fn picture(&self) -> Option<display::Picture> {
        display::picture(&self.value, &self.ty)
    }

    /// The plot that the value is, as an SVG document, if it is one.
    pub fn svg(&self) -> Option<String> {
        plot::svg(&self.value, &self.ty)
    }

    /// The value in LaTeX, if it is a scalar or a small vector or matrix of numbers.
    pub fn latex(&self) -> Option<String> {
        display::latex(&self.value, &self.ty, self.limits.digits)
    }

    /// A line of statistics, if the array is a large one of numbers: it visits every element, unless it is
    /// cancelled.
    pub fn statistics(&self, cancel: &Cancel) -> Option<String> {
        const LARGE: usize = 1000;
        (display::size(&self.value) >= LARGE)
            .then(|| display::statistics(&self.value, &self.ty, self.limits.digits, cancel))
            .flatten()
    }

    fn options(&self, width: usize, colour: bool) -> display::Options {
        display::Options { width: width.max(20), colour, ..self.limits.clone() }
    }
}

/// How a cell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The session has moved on.
    Done,
    /// The program is wrong, and the session as before; the sink has the report. The code is that
    /// of the first error.
    Failed(String),
    /// The cell was interrupted, and the session is as before.
    Interrupted,
    /// The program met a bug of ours; the session is as before.
    Bug(String),
    /// `:quit`.
    Quit,
}

/// Asks a running cell to stop; shared between threads.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    activity: Arc<Mutex<String>>,
    meter: Arc<Meter>,
}

impl Cancel {
    /// Not cancelled, nothing going on.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Takes the wish back: called before a cell, never during one.
    pub fn reset(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// What is going on, in words: `evaluating In[7]:2`.
    pub fn activity(&self) -> String {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How far what is going on has come, where that is known.
    pub fn progress(&self) -> Option<Progress> {
        let reading = self.meter.read()?;
        Some(Progress { activity: self.activity(), done: reading.done, total: reading.total })
    }

    /// Where those who work say how far they have come.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The flag itself, for those who poll it.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Says what is going on.
    pub(crate) fn set_activity(&self, activity: String) {
        *self.activity.lock().unwrap_or_else(PoisonError::into_inner) = activity;
    }
}

/// A sink that keeps everything: for tests, and for front ends that answer at once.
#[derive(Debug, Default)]
pub struct Collected {
    /// The events in order.
    pub events: Vec<Event>,
}

impl Sink for Collected {
    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
