//! What replies say, as JSON. Every field that the protocol names is there: some clients take a
//! missing or null field for an error.

use serde_json::{Map, Value, json};
use weft_session::Footer;

use crate::wire::Message;

/// How the kernel describes itself.
pub(crate) fn kernel_info() -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "status": "ok",
        "protocol_version": crate::wire::PROTOCOL_VERSION,
        "implementation": "weft",
        "implementation_version": version,
        "language_info": {
            "name": "weft",
            "version": version,
            "mimetype": "text/x-weft",
            "file_extension": ".weft",
            // What `weft jupyter install` and the Python package `weft-pygments` bring along. A
            // front end without them shows plain text.
            "pygments_lexer": "weft",
            "codemirror_mode": "weft",
            "nbconvert_exporter": "script",
        },
        "banner": format!(
            "Weft {version}: a small functional array language. \
             `:help` lists the commands, `name?` says what a function does."
        ),
        "debugger": false,
        "help_links": [
            {
                "text": "The protocol of Jupyter kernels",
                "url": "https://jupyter-client.readthedocs.io/en/stable/messaging.html",
            },
        ],
        "supported_features": ["iopub_welcome"],
    })
}

/// The state of the kernel: `busy`, `idle`, `starting`.
pub(crate) fn status(state: &str) -> Value {
    json!({ "execution_state": state })
}

/// A cell that went well. `page` is text for the pager; `answers` are those to the expressions that
/// the client asked for besides.
pub(crate) fn executed(number: usize, page: Option<String>, answers: Map<String, Value>) -> Value {
    let payload: Vec<Value> = page
        .map(|text| json!({"source": "page", "data": {"text/plain": text}, "start": 0}))
        .into_iter()
        .collect();
    json!({
        "status": "ok",
        "execution_count": number,
        "user_expressions": answers,
        "payload": payload,
    })
}

/// A cell with `:quit`: the front end asks, and then shuts the kernel down.
pub(crate) fn quit(number: usize) -> Value {
    json!({
        "status": "ok",
        "execution_count": number,
        "user_expressions": {},
        "payload": [{"source": "ask_exit", "keepkernel": false}],
    })
}

/// A cell that failed.
pub(crate) fn failed(number: usize, error: &Failure) -> Value {
    json!({
        "status": "error",
        "execution_count": number,
        "user_expressions": {},
        "payload": [],
        "ename": error.name,
        "evalue": error.summary,
        "traceback": error.traceback,
    })
}

/// The same failure as output of the cell.
pub(crate) fn error_output(error: &Failure) -> Value {
    json!({"ename": error.name, "evalue": error.summary, "traceback": error.traceback})
}

/// An expression that was asked for besides a cell and has no value.
pub(crate) fn no_answer(error: &Failure) -> Value {
    let mut answer = error_output(error);
    answer["status"] = json!("error");
    answer
}

/// What a cell has cost, for the metadata of its reply: seconds for each phase, and counts.
pub(crate) fn cost(footer: &Footer) -> Value {
    let phases = footer.phases.iter().map(|(phase, time)| {
        let seconds = time.as_secs_f64();
        (phase.name().to_owned(), json!(seconds))
    });
    json!({
        "seconds": phases.collect::<Map<String, Value>>(),
        "cache_hits": footer.cache_hits,
        "cache_misses": footer.cache_misses,
        "bytes_moved": footer.bytes_moved,
    })
}

/// A failure as front ends show it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// The code, such as `E0601`.
    pub(crate) name: String,
    /// One line.
    pub(crate) summary: String,
    /// The report with its carets, in ANSI colours, line by line.
    pub(crate) traceback: Vec<String>,
}

/// What was not run because a cell before it failed.
pub(crate) fn aborted() -> Value {
    json!({"status": "aborted"})
}

/// The answer to a request to debug, which names another protocol's request: as that protocol refuses one.
pub(crate) fn no_debugger(message: &Message) -> Value {
    let problem = "Weft has no debugger: `:ir` and `:fuse` show what becomes of a program";
    json!({
        "status": "error",
        "ename": "NotSupported",
        "evalue": problem,
        "traceback": [],
        "type": "response",
        "request_seq": message.content["seq"],
        "command": message.content["command"],
        "success": false,
        "message": problem,
    })
}
