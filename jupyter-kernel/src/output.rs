//! What a session says while a cell runs, on its way to the clients.

use std::sync::Arc;

use serde_json::{Value, json};
use weft_session::{Event, Footer, Progress, Report, Shown, Sink};

use crate::answers::{Shared, lock};
use crate::colours::settled;
use crate::content::Failure;
use crate::display::{self, WIDTH};
use crate::publish::Outlet;

/// How a cell is heard.
pub(crate) struct Heard {
    /// Whether nothing is published.
    pub(crate) silent: bool,
    /// Whether history and `Out[n]` have the cell.
    pub(crate) stored: bool,
    /// Its number.
    pub(crate) number: usize,
    /// Whether its text is for the pager.
    pub(crate) is_question: bool,
    /// Whether it says itself how long it took.
    pub(crate) tells_time: bool,
}

/// What is left to be said in the reply.
pub(crate) struct Said {
    /// The text for the pager, if the cell is a question.
    pub(crate) page: Option<String>,
    /// The first error.
    pub(crate) failure: Option<Failure>,
    /// What the cell has cost, if it succeeded.
    pub(crate) cost: Option<Footer>,
    /// Whether an interrupt came while a value was being written.
    pub(crate) is_cut: bool,
}

/// Publishes the events of a cell.
pub(crate) struct Output<'a> {
    outlet: &'a Outlet,
    parent: &'a Arc<Value>,
    shared: &'a Shared,
    heard: Heard,
    said: Said,
    /// The id of the bar that shows progress, once there is one.
    bar: Option<String>,
    /// Whether anything but a bar has been published.
    has_output: bool,
}

impl<'a> Output<'a> {
    /// The output of the cell with that header.
    pub(crate) fn new(
        outlet: &'a Outlet,
        parent: &'a Arc<Value>,
        shared: &'a Shared,
        heard: Heard,
    ) -> Output<'a> {
        let page = heard.is_question.then(String::new);
        let said = Said { page, failure: None, cost: None, is_cut: false };
        Output { outlet, parent, shared, heard, said, bar: None, has_output: false }
    }

    /// What has not been published.
    pub(crate) fn finish(mut self) -> Said {
        self.no_progress();
        self.said
    }

    fn stream(&mut self, name: &'static str, text: &str) {
        if !self.heard.silent {
            self.begin_output();
            self.outlet.stream(name, self.parent, format!("{text}\n"));
        }
    }

    fn report(&mut self, report: &Report) {
        match failure_in(report) {
            Some(failure) => self.said.failure = Some(failure),
            // A remark is no error: clients colour what comes as one.
            None => self.stream("stdout", settled(&report.render(true, WIDTH)).trim_end()),
        }
    }

    fn shown(&mut self, shown: &Shown) {
        let Some((data, metadata)) = display::bundle(shown, &self.shared.cancel) else {
            self.said.is_cut = true;
            return;
        };
        if self.heard.stored
            && let Some(text) = data["text/plain"].as_str()
        {
            lock(&self.shared.history).set_output(text);
        }
        let mut content = json!({"data": data, "metadata": metadata, "transient": {}});
        let kind = if shown.is_last { "execute_result" } else { "display_data" };
        if shown.is_last {
            content["execution_count"] = json!(self.heard.number);
        }
        self.begin_output();
        self.outlet.publish(kind, self.parent, content);
    }

    /// What a command has drawn beside its text.
    fn drawing(&mut self, svg: &str) {
        if !self.heard.silent && self.said.page.is_none() {
            self.begin_output();
            let data = json!({"image/svg+xml": svg, "text/plain": "the same as a picture"});
            let content = json!({"data": data, "metadata": {}, "transient": {}});
            self.outlet.publish("display_data", self.parent, content);
        }
    }

    /// Something but a bar comes: what comes first takes the place of the bar, so that notebooks keep nothing of it.
    fn begin_output(&mut self) {
        if !self.has_output && self.bar.take().is_some() {
            self.outlet.publish("clear_output", self.parent, json!({"wait": true}));
        }
        self.has_output = true;
    }

    /// A bar that grows in its place.
    fn progress(&mut self, progress: &Progress) {
        if self.heard.silent {
            return;
        }
        let is_first = self.bar.is_none();
        let id = self.bar.get_or_insert_with(|| uuid::Uuid::new_v4().to_string());
        let kind = if is_first { "display_data" } else { "update_display_data" };
        self.outlet.publish(kind, self.parent, display::update(display::bar(progress), id));
    }

    /// Takes the bar away. Where there is other output before it, nothing is left in its place, and another bar may come there.
    fn no_progress(&mut self) {
        if self.has_output {
            if let Some(id) = &self.bar {
                let content = display::update(display::no_bar(), id);
                self.outlet.publish("update_display_data", self.parent, content);
            }
        } else if self.bar.take().is_some() {
            self.outlet.publish("clear_output", self.parent, json!({"wait": false}));
        }
    }

    fn footer(&mut self, footer: Footer) {
        if !self.heard.silent && footer.wanted && !self.heard.tells_time {
            self.begin_output();
            let content = display::footer(&footer);
            self.outlet.publish("display_data", self.parent, content);
        }
        self.said.cost = Some(footer);
    }
}

impl Sink for Output<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Shown(_) if self.heard.silent => {}
            Event::Shown(shown) => self.shown(&shown),
            Event::Bound { name, ty } => self.stream("stdout", &format!("{name} : {ty}")),
            Event::Defined { name, ty } if ty.is_empty() => {
                self.stream("stdout", &format!("type {name}"));
            }
            Event::Defined { name, ty } => self.stream("stdout", &format!("{name} : {ty}")),
            Event::Text(text) => match &mut self.said.page {
                Some(page) => page.push_str(&text),
                None => self.stream("stdout", &text),
            },
            Event::Drawing(svg) => self.drawing(&svg),
            Event::Note(text) | Event::Notice(text) => self.stream("stderr", &text),
            Event::Report(report) => self.report(&report),
            Event::Progress(Some(progress)) => self.progress(&progress),
            Event::Progress(None) => self.no_progress(),
            Event::Footer(footer) => self.footer(footer),
        }
    }
}

/// The first error of a report, with the whole of it as text.
pub(crate) fn failure_in(report: &Report) -> Option<Failure> {
    let error = report.error()?;
    let text = report.render(true, WIDTH);
    Some(Failure {
        name: error.code.to_owned(),
        summary: error.message.replace('\n', " "),
        traceback: text.trim_end().lines().map(settled).collect(),
    })
}
