//! Completion, inspection, "is this complete", history: answered from a snapshot on a thread of
//! their own, so that they come while a cell runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weft_session::{Cancel, Candidate, Completeness, Detail, Snapshot, completeness};

use crate::content::{self, Failure};
use crate::history::History;
use crate::publish::{Outlet, Request};
use crate::wire::Message;

/// Types up to this many characters are shown in menus of completions.
const TYPE_LENGTH: usize = 40;

/// What the threads of the kernel share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// The session after the last cell.
    pub(crate) snapshot: Arc<Mutex<Snapshot>>,
    /// What was typed.
    pub(crate) history: Arc<Mutex<History>>,
    /// Stops the running cell.
    pub(crate) cancel: Cancel,
    /// The cells that wait or run.
    pub(crate) cells: Arc<Mutex<Cells>>,
}

/// The cells that the kernel has and has not answered.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// How many have come and not begun.
    waiting: usize,
    /// Whether one is running.
    running: bool,
    /// Whether the next one is to stop as soon as it begins: somebody who sees it marked as running
    /// cannot know that it still waits.
    stop_next: bool,
    /// A wish to stop that came when there was no cell.
    early: Option<Early>,
}

/// A wish to stop a cell that had not come: requests for cells and wishes come through different sockets, and
/// what was sent later may come first.
#[derive(Debug)]
struct Early {
    /// The session of the client.
    session: String,
    /// When the client sent it.
    date: String,
    /// When it came.
    came: Instant,
}

/// How long a wish to stop waits for the cell that it is about.
const OVERTAKEN: Duration = Duration::from_secs(1);

impl Early {
    /// The wish with that header; none without a date.
    fn new(header: &Value) -> Option<Early> {
        let (session, date) = sent(header)?;
        Some(Early { session: session.to_owned(), date: date.to_owned(), came: Instant::now() })
    }

    /// Whether the cell with that header was sent before it. Clocks of several clients are not compared.
    fn is_about(&self, cell: &Value) -> bool {
        self.came.elapsed() < OVERTAKEN
            && sent(cell)
                .is_some_and(|(session, date)| session == self.session && date < &*self.date)
    }
}

/// From which session a message was sent, and when: one client writes all dates in one form.
fn sent(header: &Value) -> Option<(&str, &str)> {
    Some((header["session"].as_str()?, header["date"].as_str()?.trim_end_matches('Z')))
}

/// The content, whatever happened to a thread that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// A cell has come, in a request with that header.
    pub(crate) fn queue(&self, header: &Value) {
        let mut cells = lock(&self.cells);
        if let Some(early) = cells.early.take() {
            cells.stop_next = early.is_about(header);
        }
        cells.waiting += 1;
    }

    /// A cell begins.
    pub(crate) fn begin(&self) {
        let mut cells = lock(&self.cells);
        cells.waiting = cells.waiting.saturating_sub(1);
        cells.running = true;
        self.cancel.reset();
        if std::mem::take(&mut cells.stop_next) {
            self.cancel.cancel();
        }
    }

    /// The cell that runs has ended.
    pub(crate) fn end(&self) {
        lock(&self.cells).running = false;
    }

    /// A cell that waits will not run.
    pub(crate) fn abort(&self) {
        let mut cells = lock(&self.cells);
        cells.waiting = cells.waiting.saturating_sub(1);
        cells.stop_next &= cells.waiting > 0;
    }

    /// Stops the running cell, else the one that comes next of those that wait, else one that the client
    /// had sent before; a wish to stop never hits a later one. The wish came in a request with that header.
    pub(crate) fn interrupt(&self, header: &Value) {
        let mut cells = lock(&self.cells);
        if cells.running {
            self.cancel.cancel();
        } else if cells.waiting > 0 {
            cells.stop_next = true;
        } else {
            cells.early = Early::new(header);
        }
    }
}

/// Answers requests until there can be no more.
pub(crate) fn serve(requests: &Receiver<Request>, shared: &Shared, outlet: &Outlet) {
    for request in requests {
        let parent = Arc::clone(&request.message.header);
        outlet.status("busy", &parent);
        if let Some(answer) = guarded(|| answer(&request.message, shared)) {
            outlet.reply(&request, answer);
        } else if request.message.kind() == "comm_open" {
            // No comm target exists here; the client is told so.
            let id = &request.message.content["comm_id"];
            outlet.publish("comm_close", &parent, json!({"comm_id": id, "data": {}}));
        }
        outlet.status("idle", &parent);
    }
}

/// The answer, whatever happens on the way to it: a bug that one question meets must not leave the
/// next one unanswered.
fn guarded(answer: impl FnOnce() -> Option<Value>) -> Option<Value> {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
        let problem = "a bug in Weft: the answer broke off";
        let failure = Failure {
            name: "E0901".to_owned(),
            summary: problem.to_owned(),
            traceback: vec![problem.to_owned()],
        };
        Some(content::no_answer(&failure))
    })
}

fn answer(message: &Message, shared: &Shared) -> Option<Value> {
    let snapshot = || lock(&shared.snapshot).clone();
    match message.kind() {
        "kernel_info_request" => Some(content::kernel_info()),
        "complete_request" => Some(complete(&snapshot(), message)),
        "inspect_request" => Some(inspect(&snapshot(), message)),
        "is_complete_request" => Some(is_complete(message.text("code"))),
        "history_request" => Some(lock(&shared.history).answer(message)),
        "comm_info_request" => Some(json!({"status": "ok", "comms": {}})),
        "debug_request" => Some(content::no_debugger(message)),
        _ => None,
    }
}

fn complete(snapshot: &Snapshot, message: &Message) -> Value {
    let code = message.text("code");
    let cursor = byte_offset(code, message.count("cursor_pos"));
    let completions = snapshot.complete(code, cursor);
    let start = completions.start.min(cursor);
    let (from, to) = (code_points(code, start), code_points(code, cursor));
    let is_command = code[..start].ends_with(':');
    let mut candidates = completions.candidates;
    // A command that only this front end knows.
    if is_command && start == 1 && "clear".starts_with(&code[start..cursor]) {
        let detail = "clears the output of the cell".to_owned();
        candidates.push(Candidate { text: "clear".to_owned(), detail });
        candidates.sort();
    }
    let is_argument = code[..start].rsplit('\n').next().is_some_and(|line| line.starts_with(':'));
    let types: Vec<Value> = candidates
        .iter()
        .map(|candidate| {
            let kind = match candidate.detail.is_empty() {
                _ if is_command => "keyword".to_owned(),
                true if is_argument && !code[..start].contains('"') => "keyword".to_owned(),
                true => "path".to_owned(),
                false => kind(candidate),
            };
            json!({
                "text": candidate.text,
                "start": from,
                "end": to,
                "type": kind,
                "signature": candidate.detail,
            })
        })
        .collect();
    let matches: Vec<&str> = candidates.iter().map(|c| &*c.text).collect();
    json!({
        "status": "ok",
        "matches": matches,
        "cursor_start": from,
        "cursor_end": to,
        "metadata": {"_jupyter_types_experimental": types},
    })
}

/// What front ends show beside a name: its type, if that is short, otherwise what it is.
fn kind(candidate: &Candidate) -> String {
    let Candidate { text, detail } = candidate;
    // What has a form of its own is named in it.
    let is_form = detail.split(|c: char| !c.is_alphanumeric()).any(|part| part == text);
    let ty = if is_form { detail.rsplit_once(" : ").map(|(_, ty)| ty) } else { Some(&**detail) };
    match ty {
        None if detail.contains('"') => "function".to_owned(),
        None => "keyword".to_owned(),
        Some(_) if detail.contains('"') => "function".to_owned(),
        // It would be broken at blanks and hyphens.
        Some(ty) if ty.chars().count() <= TYPE_LENGTH => {
            ty.replace("->", "→").replace("=>", "⇒").replace(' ', "\u{a0}")
        }
        Some(ty) if ty.contains("->") => "function".to_owned(),
        Some(_) => "instance".to_owned(),
    }
}

fn inspect(snapshot: &Snapshot, message: &Message) -> Value {
    let code = message.text("code");
    let cursor = byte_offset(code, message.count("cursor_pos"));
    let detail = match message.count("detail_level") {
        Some(level) if level > 0 => Detail::Full,
        Some(_) | None => Detail::Brief,
    };
    let mut found = snapshot.inspect(code, cursor, detail);
    if detail == Detail::Full {
        let parts = [found, snapshot.kernels(code, cursor)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        found = (!parts.is_empty()).then(|| parts.join("\n\n"));
    }
    let data = match &found {
        Some(text) => json!({"text/plain": text}),
        None => json!({}),
    };
    json!({"status": "ok", "found": found.is_some(), "data": data, "metadata": {}})
}

fn is_complete(code: &str) -> Value {
    match completeness(code) {
        Completeness::Complete => json!({"status": "complete"}),
        Completeness::Incomplete { indent } => {
            json!({"status": "incomplete", "indent": " ".repeat(indent)})
        }
        Completeness::Invalid => json!({"status": "invalid"}),
    }
}

/// The byte at a cursor position, which the protocol counts in code points; the end if there is
/// none.
fn byte_offset(text: &str, position: Option<usize>) -> usize {
    let position = position.unwrap_or(usize::MAX);
    text.char_indices().nth(position).map_or(text.len(), |(offset, _)| offset)
}

/// The code points before a byte.
fn code_points(text: &str, offset: usize) -> usize {
    text.get(..offset).map_or(0, |before| before.chars().count())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use weft_session::{Cancel, Config, Session};

    use super::{Shared, byte_offset, code_points, guarded};
    use crate::history::History;

    #[test]
    fn an_interrupt_stops_the_cell_that_waits_and_no_later_one() {
        let session = Session::new(&Config { memory: 1 << 20, io: false });
        let shared = Shared {
            snapshot: Arc::new(Mutex::new(session.snapshot())),
            history: Arc::new(Mutex::new(History::open(Arc::new(weft_files::Host), None))),
            cancel: Cancel::new(),
            cells: Arc::default(),
        };
        let run = || {
            shared.begin();
            let is_cancelled = shared.cancel.is_cancelled();
            shared.end();
            is_cancelled
        };
        // Headers of requests that the second client sends too, one after the other.
        let headers = |client: &str| {
            [1, 2, 3].map(|at| json!({"session": client, "date": format!("5.{at}Z")}))
        };
        let [first, second, third] = headers("a");
        let [other, ..] = headers("b");
        shared.interrupt(&second);
        shared.queue(&third);
        assert!(!run(), "nothing was there when it came");
        shared.queue(&first);
        shared.queue(&second);
        shared.interrupt(&third);
        assert!(run(), "it waited");
        assert!(!run(), "it came behind");
        shared.queue(&first);
        shared.interrupt(&second);
        shared.abort();
        shared.queue(&third);
        assert!(!run(), "the one before was meant");
        shared.interrupt(&third);
        shared.queue(&first);
        shared.queue(&second);
        assert!(run(), "the wish had overtaken it");
        assert!(!run(), "one wish stops one cell");
        shared.interrupt(&second);
        shared.queue(&other);
        assert!(!run(), "somebody else sent it");
        shared.queue(&first);
        assert!(!run(), "the wish has waited for one cell");
        shared.interrupt(&json!({}));
        shared.queue(&json!({}));
        assert!(!run(), "nobody knows which was first");
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error() {
        let answer = guarded(|| panic!("a fault for the test")).unwrap();
        assert_eq!((&answer["status"], &answer["ename"]), (&"error".into(), &"E0901".into()));
        assert_eq!(guarded(|| None), None);
    }

    #[test]
    fn cursors_count_code_points() {
        let text = "α + 𝔸b";
        assert_eq!(byte_offset(text, Some(5)), 9);
        assert_eq!(code_points(text, 9), 5);
        assert_eq!(byte_offset(text, Some(99)), text.len());
        assert_eq!(byte_offset(text, None), text.len());
    }
}
