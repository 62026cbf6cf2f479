//! The thread that runs cells, one after the other, in a session that it owns.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Map, Value, json};
use weft_session::{Cancel, Cell, Collected, Event, Keep, Outcome, Session};

use crate::answers::{Shared, lock};
use crate::content::{self, Failure};
use crate::display;
use crate::output::{Heard, Output, Said, failure_in};
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
        let done = catch_unwind(AssertUnwindSafe(|| executor.execute(&request)));
        let reply = done.unwrap_or_else(|_| executor.broken_off(&request));
        let failed = reply.content["status"] == "error";
        let mut queued = Vec::new();
        // What is silent is asked by a client for itself: it ends no cell of the user's.
        let ends_queue =
            request.message.flag("stop_on_error", true) && !request.message.flag("silent", false);
        if failed && ends_queue {
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
        self.shared.begin();
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
            let problem = lock(&self.shared.history).add(number, code);
            if let Some(problem) = problem {
                self.outlet.stream("stderr", parent, format!("{problem}\n"));
            }
        }
        let (clears, code) = without_clear(code);
        if clears {
            self.outlet.publish("clear_output", parent, json!({"wait": false}));
        }
        let (is_question, tells_time) = (is_question(&code), tells_time(&code));
        let heard = Heard { silent, stored, number, is_question, tells_time };
        let mut output = Output::new(&self.outlet, parent, &self.shared, heard);
        let keep = if stored { Keep::Everything } else { Keep::Definitions };
        let cell = Cell::typed(&code);
        let outcome = self.session.eval_as(cell, keep, &mut output, &self.shared.cancel);
        let Said { page, failure, cost, is_cut } = output.finish();
        let failure = failure_of(&outcome, failure).or_else(|| is_cut.then(unwritten));
        let content = match failure {
            Some(failure) => {
                if !silent {
                    self.outlet.publish("error", parent, content::error_output(&failure));
                }
                content::failed(number, &failure)
            }
            None if outcome == Outcome::Quit => {
                // Consoles ask and leave; notebooks pass over the wish.
                if !silent {
                    let said = "a console ends with that; a notebook's kernel goes on, and \
                                Kernel > Shut Down ends it\n";
                    self.outlet.stream("stderr", parent, said.to_owned());
                }
                content::quit(number)
            }
            None => {
                let answers = self.answers(&message.content["user_expressions"]);
                content::executed(number, page.filter(|page| !page.is_empty()), answers)
            }
        };
        self.shared.end();
        *lock(&self.shared.snapshot) = self.session.snapshot();
        let mut metadata = json!({"started": started});
        if let Some(cost) = cost {
            metadata["weft"] = content::cost(&cost);
        }
        Reply { content, metadata }
    }

    /// The answer to a cell on which the kernel itself broke off. (Bugs behind the session come as
    /// [`Outcome::Bug`].) What was bound stays.
    fn broken_off(&self, request: &Request) -> Reply {
        self.shared.end();
        let failure = plain_failure("E0901", "a bug in Weft: the kernel broke off");
        let (parent, content) = (&request.message.header, content::error_output(&failure));
        self.outlet.publish("error", parent, content);
        let number = self.session.next_number().saturating_sub(1);
        Reply { content: content::failed(number, &failure), metadata: json!({}) }
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
                None => answer(&sink.events, &self.shared.cancel),
            };
            answers.insert(name.clone(), answer);
        }
        answers
    }

    /// Answers a request that came too late to be run.
    fn abort(&self, request: &Request) {
        self.shared.abort();
        let parent = &request.message.header;
        self.outlet.status("busy", parent);
        self.outlet.reply(request, content::aborted());
        self.outlet.status("idle", parent);
    }
}

/// Whether a cell is `name?` or `name??`, whose answer goes to the pager.
fn is_question(code: &str) -> bool {
    let code = code.trim();
    code.ends_with('?') && !code.contains(char::is_whitespace)
}

/// Whether a cell is one command that says how long something takes.
fn tells_time(code: &str) -> bool {
    let command = code.trim().strip_prefix(':').filter(|_| !code.trim().contains('\n'));
    let name = command.and_then(|command| command.split_whitespace().next()).unwrap_or("");
    name.len() > 1 && ["time", "bench", "compare"].iter().any(|known| known.starts_with(name))
}

/// The text after `:clear` on its first line, and whether it is there. The line stays, as a comment, so
/// that places in reports are right, and a cell of nothing else is counted.
fn without_clear(code: &str) -> (bool, String) {
    let (first, rest) = code.split_once('\n').unwrap_or((code, ""));
    match first.trim_end() == ":clear" {
        true => (true, format!("--\n{rest}")),
        false => (false, code.to_owned()),
    }
}

/// What went wrong; `None` if nothing did.
fn failure_of(outcome: &Outcome, reported: Option<Failure>) -> Option<Failure> {
    match outcome {
        Outcome::Done | Outcome::Quit => None,
        Outcome::Failed(code) => Some(reported.unwrap_or_else(|| plain_failure(code, code))),
        Outcome::Interrupted => Some(plain_failure("Interrupted", "everything is as before")),
        Outcome::Bug(problem) => {
            let problem = format!("a bug in Weft: {problem}");
            Some(reported.unwrap_or_else(|| plain_failure("E0901", &problem)))
        }
    }
}

/// The last value that an expression showed, else what it said.
fn answer(events: &[Event], cancel: &Cancel) -> Value {
    let value = events.iter().rev().find_map(|event| match event {
        Event::Shown(shown) => display::bundle(shown, cancel),
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

/// An interrupt that came when the values were there already.
fn unwritten() -> Failure {
    plain_failure("Interrupted", "a value is not written; what was computed is kept")
}

fn plain_failure(name: &str, summary: &str) -> Failure {
    let traceback = vec![format!("\x1b[31m{name}\x1b[0m: {summary}")];
    Failure { name: name.to_owned(), summary: summary.to_owned(), traceback }
}

#[cfg(test)]
mod tests {
    use super::{tells_time, without_clear};

    #[test]
    fn some_commands_tell_the_time() {
        assert!(tells_time(":time 1 + 1") && tells_time(":ti 1") && tells_time(":bench 2"));
        assert!(!tells_time(":type 1") && !tells_time("1 + 1") && !tells_time(":time 1\n2"));
    }

    #[test]
    fn a_first_line_may_clear() {
        assert_eq!(without_clear(":clear"), (true, "--\n".to_owned()));
        assert_eq!(without_clear(":clear \n1 + 1"), (true, "--\n1 + 1".to_owned()));
        assert!(!without_clear("1 + 1\n:clear").0);
    }
}
