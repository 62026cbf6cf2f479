//! The thread that runs cells, one after the other, in a session that it owns.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Map, Value, json};
use weft_session::{Cell, Collected, Event, Keep, Outcome, Report, Session, Sink};

use crate::answers::{Shared, lock};
use crate::content::{self, Failure};
use crate::display::{self, WIDTH};
use crate::publish::{Outlet, Request};
use crate::wire;

/// After an error the queue is emptied until nothing has come for this long: what a client had sent
/// before it could know of the error may still be on its way. The reply that tells it waits for
/// that, so that nothing sent in answer to it is lost.
const QUIET: Duration = Duration::from_millis(10);

/// Runs cells until there can be no more.
pub(crate) fn serve(requests: &Receiver<Request>, mut executor: Executor) {
    while let Ok(request) = requests.recv() {
        let parent = Arc::clone(&request.message.header);
        executor.outlet.status("busy", &parent);
        let reply = executor.execute(&request);
        let failed = reply.content["status"] == "error";
        let mut queued = Vec::new();
        if failed && request.message.flag("stop_on_error", true) {
            while let Ok(request) = requests.recv_timeout(QUIET) {
                queued.push(request);
            }
        }
        executor.outlet.reply_with(&request, reply.content, reply.metadata);
        executor.outlet.status("idle", &parent);
        for request in queued {
            executor.abort(&request);
        }
    }
}

/// The answer to a cell.
struct Reply {
    content: Value,
    metadata: Value,
}

/// The session with what it needs to be heard.
pub(crate) struct Executor {
    session: Session,
    shared: Shared,
    outlet: Outlet,
}

impl Executor {
    /// A fresh session.
    pub(crate) fn new(session: Session, shared: Shared, outlet: Outlet) -> Executor {
        Executor { session, shared, outlet }
    }

    /// Runs a cell. Its reply.
    fn execute(&mut self, request: &Request) -> Reply {
        let started = wire::now();
        {
            // Before anybody can know that the cell runs, so that no interrupt comes to nothing.
            let mut running = lock(&self.shared.running);
            self.shared.cancel.reset();
            *running = true;
        }
        let message = &request.message;
        let parent = &message.header;
        let code = message.text("code");
        let silent = message.flag("silent", false);
        // The protocol: what is silent is not stored, and what is not stored is not counted.
        let stored = !silent && message.flag("store_history", true);
        let number = self.session.next_number();
        let number = if stored { number } else { number.saturating_sub(1) };
        if !silent {
            let input = json!({"code": code, "execution_count": number});
            self.outlet.publish("execute_input", parent, input);
        }
        if stored && !code.trim().is_empty() {
            lock(&self.shared.history).add(number, code);
        }
        let reply = |content| Reply { content, metadata: json!({"started": started}) };
        let (clears, code) = without_clear(code);
        if clears {
            self.outlet.publish("clear_output", parent, json!({"wait": false}));
        }
        let mut output = Output {
            outlet: &self.outlet,
            parent,
            shared: &self.shared,
            silent,
            stored,
            number,
            page: is_question(&code).then(String::new),
            failure: None,
        };
        let keep = if stored { Keep::Everything } else { Keep::Definitions };
        let cell = Cell::typed(&code);
        let outcome = self.session.eval_as(cell, keep, &mut output, &self.shared.cancel);
        let (page, failure) = (output.page.take(), output.failure.take());
        let failure = failure_of(&outcome, failure);
        let content = match failure {
            Some(failure) => {
                if !silent {
                    self.outlet.publish("error", parent, content::error_output(&failure));
                }
                content::failed(number, &failure)
            }
            None if outcome == Outcome::Quit => content::quit(number),
            None => {
                let answers = self.answers(&message.content["user_expressions"]);
                content::executed(number, page.filter(|page| !page.is_empty()), answers)
            }
        };
        *lock(&self.shared.running) = false;
        *lock(&self.shared.snapshot) = self.session.snapshot();
        reply(content)
    }

    /// The values of the expressions that a client asks for besides a cell, by its own names for
    /// them. They change nothing.
    fn answers(&mut self, expressions: &Value) -> Map<String, Value> {
        let mut answers = Map::new();
        for (name, expression) in expressions.as_object().into_iter().flatten() {
            let mut sink = Collected::default();
            let cell = Cell::typed(expression.as_str().unwrap_or(""));
            let outcome = self.session.eval_as(cell, Keep::Nothing, &mut sink, &self.shared.cancel);
            let failure = sink.events.iter().find_map(|event| match event {
                Event::Report(report) => failure_in(report),
                _ => None,
            });
            let answer = match failure_of(&outcome, failure) {
                Some(failure) => content::no_answer(&failure),
                None => answer(&sink.events),
            };
            answers.insert(name.clone(), answer);
        }
        answers
    }

    /// Answers a request that came too late to be run.
    fn abort(&self, request: &Request) {
        let parent = &request.message.header;
        self.outlet.status("busy", parent);
        self.outlet.reply(request, content::aborted());
        self.outlet.status("idle", parent);
    }
}

/// What a session says, on its way to the clients.
struct Output<'a> {
    outlet: &'a Outlet,
    parent: &'a Arc<Value>,
    shared: &'a Shared,
    silent: bool,
    /// Whether history and `Out[n]` have the cell.
    stored: bool,
    number: usize,
    /// The text for the pager, if the cell is a question.
    page: Option<String>,
    failure: Option<Failure>,
}

impl Output<'_> {
    fn stream(&self, name: &'static str, text: &str) {
        if !self.silent {
            self.outlet.stream(name, self.parent, format!("{text}\n"));
        }
    }

    fn report(&mut self, report: &Report) {
        match failure_in(report) {
            Some(failure) => self.failure = Some(failure),
            None => self.stream("stderr", report.render(true, WIDTH).trim_end()),
        }
    }
}

impl Sink for Output<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Shown(_) if self.silent => {}
            Event::Shown(shown) => {
                let (data, metadata) = display::bundle(&shown);
                if self.stored
                    && let Some(text) = data["text/plain"].as_str()
                {
                    lock(&self.shared.history).set_output(text);
                }
                let is_picture = data["image/png"].is_string();
                let mut content = json!({"data": data, "metadata": metadata, "transient": {}});
                let kind = if shown.is_last { "execute_result" } else { "display_data" };
                if shown.is_last {
                    content["execution_count"] = json!(self.number);
                }
                self.outlet.publish(kind, self.parent, content);
                if !is_picture && let Some(statistics) = shown.statistics() {
                    self.stream("stdout", &statistics);
                }
            }
            Event::Bound { name, ty } => self.stream("stdout", &format!("{name} : {ty}")),
            Event::Defined { name, ty } if ty.is_empty() => {
                self.stream("stdout", &format!("type {name}"));
            }
            Event::Defined { name, ty } => self.stream("stdout", &format!("{name} : {ty}")),
            Event::Text(text) => match &mut self.page {
                Some(page) => page.push_str(&text),
                None => self.stream("stdout", &text),
            },
            Event::Note(text) => self.stream("stderr", &text),
            Event::Report(report) => self.report(&report),
            Event::Progress(_) | Event::Footer(_) => {}
        }
    }
}

/// Whether a cell is `name?` or `name??`, whose answer goes to the pager.
fn is_question(code: &str) -> bool {
    let code = code.trim();
    code.ends_with('?') && !code.contains(char::is_whitespace)
}

/// The text after `:clear` on its first line, and whether it is there. The line stays, empty, so
/// that places in reports are right.
fn without_clear(code: &str) -> (bool, String) {
    let (first, rest) = code.split_once('\n').unwrap_or((code, ""));
    match first.trim_end() == ":clear" {
        true if rest.is_empty() => (true, String::new()),
        true => (true, format!("\n{rest}")),
        false => (false, code.to_owned()),
    }
}

/// What went wrong; `None` if nothing did.
fn failure_of(outcome: &Outcome, reported: Option<Failure>) -> Option<Failure> {
    match outcome {
        Outcome::Done | Outcome::Quit => None,
        Outcome::Failed(code) => Some(reported.unwrap_or_else(|| plain_failure(code, code))),
        Outcome::Interrupted => {
            Some(plain_failure("Interrupted", "interrupted; everything is as before"))
        }
        Outcome::Bug(problem) => {
            let problem = format!("a bug in Weft: {problem}");
            Some(reported.unwrap_or_else(|| plain_failure("E0901", &problem)))
        }
    }
}

/// The first error of a report, with the whole of it as text.
fn failure_in(report: &Report) -> Option<Failure> {
    let error = report.error()?;
    let text = report.render(true, WIDTH);
    Some(Failure {
        name: error.code.to_owned(),
        summary: error.message.replace('\n', " "),
        traceback: text.trim_end().lines().map(str::to_owned).collect(),
    })
}

/// The last value that an expression showed, else what it said.
fn answer(events: &[Event]) -> Value {
    let value = events.iter().rev().find_map(|event| match event {
        Event::Shown(shown) => Some(display::bundle(shown)),
        _ => None,
    });
    let text = || {
        let texts = events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(&**text),
            _ => None,
        });
        (json!({"text/plain": texts.collect::<Vec<_>>().join("\n")}), json!({}))
    };
    let (data, metadata) = value.unwrap_or_else(text);
    json!({"status": "ok", "data": data, "metadata": metadata})
}

fn plain_failure(name: &str, summary: &str) -> Failure {
    let traceback = vec![format!("\x1b[31m{name}\x1b[0m: {summary}")];
    Failure { name: name.to_owned(), summary: summary.to_owned(), traceback }
}

#[cfg(test)]
mod tests {
    use super::without_clear;

    #[test]
    fn a_first_line_may_clear() {
        assert_eq!(without_clear(":clear"), (true, String::new()));
        assert_eq!(without_clear(":clear \n1 + 1"), (true, "\n1 + 1".to_owned()));
        assert!(!without_clear("1 + 1\n:clear").0);
    }
}
