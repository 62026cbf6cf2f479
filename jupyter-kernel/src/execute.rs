//! The thread that runs cells, one after the other, in a session that it owns.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Value, json};
use weft_session::{Cell, Event, Outcome, Report, Session, Sink};

use crate::answers::{Shared, lock};
use crate::content::{self, Failure};
use crate::display::{self, WIDTH};
use crate::publish::{Outlet, Request};

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
        let failed = reply["status"] == "error";
        let mut queued = Vec::new();
        if failed && request.message.flag("stop_on_error", true) {
            while let Ok(request) = requests.recv_timeout(QUIET) {
                queued.push(request);
            }
        }
        executor.outlet.reply(&request, reply);
        executor.outlet.status("idle", &parent);
        for request in queued {
            executor.abort(&request);
        }
    }
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

    /// Runs a cell. The content of its reply.
    fn execute(&mut self, request: &Request) -> Value {
        let message = &request.message;
        let parent = &message.header;
        let code = message.text("code");
        let silent = message.flag("silent", false);
        let number = self.session.next_number();
        if !silent {
            let input = json!({"code": code, "execution_count": number});
            self.outlet.publish("execute_input", parent, input);
            if message.flag("store_history", true) && !code.trim().is_empty() {
                lock(&self.shared.history).add(number, code);
            }
        }
        if code.trim() == ":clear" {
            self.outlet.publish("clear_output", parent, json!({"wait": false}));
            return content::executed(number, None);
        }
        let mut output = Output {
            outlet: &self.outlet,
            parent,
            shared: &self.shared,
            silent,
            page: is_question(code).then(String::new),
            failure: None,
        };
        {
            let mut running = lock(&self.shared.running);
            self.shared.cancel.reset();
            *running = true;
        }
        let outcome = self.session.eval(Cell::typed(code), &mut output, &self.shared.cancel);
        *lock(&self.shared.running) = false;
        let (page, failure) = (output.page.take(), output.failure.take());
        *lock(&self.shared.snapshot) = self.session.snapshot();
        let failure = match outcome {
            Outcome::Done => {
                return content::executed(number, page.as_deref().filter(|page| !page.is_empty()));
            }
            Outcome::Quit => return content::quit(number),
            Outcome::Failed(code) => failure.unwrap_or_else(|| plain_failure(&code, &code)),
            Outcome::Interrupted => {
                plain_failure("Interrupted", "interrupted; everything is as before")
            }
            Outcome::Bug(problem) => failure
                .unwrap_or_else(|| plain_failure("E0901", &format!("a bug in Weft: {problem}"))),
        };
        if !silent {
            self.outlet.publish("error", parent, content::error_output(&failure));
        }
        content::failed(number, &failure)
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
        let text = report.render(true, WIDTH);
        match report.error() {
            Some(error) => {
                self.failure = Some(Failure {
                    name: error.code.to_owned(),
                    summary: error.message.replace('\n', " "),
                    traceback: text.trim_end().lines().map(str::to_owned).collect(),
                });
            }
            None => self.stream("stderr", text.trim_end()),
        }
    }
}

impl Sink for Output<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Shown(_) if self.silent => {}
            Event::Shown(shown) => {
                let (data, metadata) = display::bundle(&shown);
                if let Some(text) = data["text/plain"].as_str() {
                    lock(&self.shared.history).set_output(text);
                }
                let is_picture = data["image/png"].is_string();
                let mut content = json!({"data": data, "metadata": metadata, "transient": {}});
                let kind = if shown.is_last { "execute_result" } else { "display_data" };
                if shown.is_last {
                    content["execution_count"] = json!(shown.number);
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
        }
    }
}

/// Whether a cell is `name?` or `name??`, whose answer goes to the pager.
fn is_question(code: &str) -> bool {
    let code = code.trim();
    code.ends_with('?') && !code.contains(char::is_whitespace)
}

fn plain_failure(name: &str, summary: &str) -> Failure {
    let traceback = vec![format!("\x1b[31m{name}\x1b[0m: {summary}")];
    Failure { name: name.to_owned(), summary: summary.to_owned(), traceback }
}
