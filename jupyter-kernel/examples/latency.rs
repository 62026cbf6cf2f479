//! Measures how long a notebook waits for the kernel.
//!
//! ```text
//! cargo run --release -p weft-jupyter-kernel --example latency -- target/release/weft
//! ```
//!
//! It prints, in milliseconds: from the start of the program to the answer to the first question, a
//! trivial cell there and back, completion while a cell runs on one thread and on all, and from the
//! wish to interrupt a cell to its end.

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use jupyter_protocol::ConnectionInfo;
use serde_json::json;
use weft_jupyter_kernel::client::{Channel, Client, free_connection};

const PATIENCE: Duration = Duration::from_secs(20);
const STARTS: usize = 10;
const CELLS: usize = 500;
const INTERRUPTS: usize = 20;

/// Cells that do not end, with what they are.
const ENDLESS: [(&str, &str); 3] = [
    ("a loop of scalars", "loop x = 0 while x >= 0 do (x + 1) % 7"),
    ("a kernel on all threads", "sum { sqrt (f64 i) : i in iota 60000000000 }"),
    (
        "a loop around kernels",
        "loop v = iota 100000 while length v > 0 do { (x + 1) % 7 : x in v }",
    ),
];

fn main() -> ExitCode {
    let Some(program) = std::env::args_os().nth(1) else {
        println!("usage: latency PATH-OF-WEFT");
        return ExitCode::from(2);
    };
    match measure(&program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure(program: &OsString) -> Result<(), String> {
    let mut ready = Vec::new();
    for _ in 0..STARTS {
        let started = Instant::now();
        let mut kernel = Kernel::start(program)?;
        kernel.ask("kernel_info_request", json!({}))?;
        ready.push(started.elapsed());
    }
    report("kernel ready", ready);

    let mut kernel = Kernel::start(program)?;
    let mut times = Vec::new();
    for _ in 0..CELLS {
        let asked = Instant::now();
        let id = kernel.ask("execute_request", json!({"code": "1 + 1"}))?;
        kernel.client.published(&id, PATIENCE)?;
        times.push(asked.elapsed());
    }
    report("trivial cell, with all that it publishes", times);

    for (what, code) in ENDLESS {
        let mut completions = Vec::new();
        let mut interrupts = Vec::new();
        for _ in 0..INTERRUPTS {
            let cell =
                kernel.client.request(Channel::Shell, "execute_request", json!({"code": code}));
            for _ in 0..CELLS / INTERRUPTS {
                let asked = Instant::now();
                kernel.ask("complete_request", json!({"code": "1 + s", "cursor_pos": 5}))?;
                completions.push(asked.elapsed());
            }
            let asked = Instant::now();
            let wish = kernel.client.request(Channel::Control, "interrupt_request", json!({}));
            let reply = kernel.client.reply(Channel::Shell, &cell, PATIENCE)?;
            interrupts.push(asked.elapsed());
            // What nobody takes would in the end hold up this client.
            kernel.client.reply(Channel::Control, &wish, PATIENCE)?;
            kernel.client.published(&cell, PATIENCE)?;
            if reply.text("ename") != "Interrupted" {
                return Err(format!("{what} ended by itself: {}", reply.content));
            }
        }
        report(&format!("completion while {what} runs"), completions);
        report(&format!("interrupt of {what}"), interrupts);
    }
    Ok(())
}

/// Prints the median and the slowest of a hundred.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let milliseconds = |index: usize| times[index].as_secs_f64() * 1e3;
    let (median, late) = (milliseconds(times.len() / 2), milliseconds(times.len() * 99 / 100));
    println!("{what}: median {median:.1} ms, p99 {late:.1} ms, n = {}", times.len());
}

/// A kernel as a child, and a client of it.
struct Kernel {
    child: Child,
    client: Client,
    _folder: tempfile::TempDir,
}

impl Kernel {
    fn start(program: &OsString) -> Result<Kernel, String> {
        let connection = free_connection()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = folder.path().join("connection.json");
        let child = spawn(program, &connection, &file)?;
        let client = Client::connect(&connection, PATIENCE)?;
        Ok(Kernel { child, client, _folder: folder })
    }

    /// Asks, and waits for the reply. The id of the request.
    fn ask(&mut self, kind: &str, content: serde_json::Value) -> Result<String, String> {
        let id = self.client.request(Channel::Shell, kind, content);
        self.client.reply(Channel::Shell, &id, PATIENCE)?;
        Ok(id)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(program: &OsString, connection: &ConnectionInfo, file: &Path) -> Result<Child, String> {
    let text = serde_json::to_string(connection).map_err(|error| error.to_string())?;
    std::fs::write(file, text).map_err(|error| error.to_string())?;
    Command::new(program)
        .args(["jupyter", "kernel", "-f"])
        .arg(file)
        .env("WEFT_KERNEL_HISTORY", "")
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", Path::new(program).display()))
}
