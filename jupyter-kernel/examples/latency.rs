//! Measures how long a notebook waits for the kernel.
//!
//! ```text
//! cargo run --release -p weft-jupyter-kernel --example latency -- target/release/weft
//! ```
//!
//! It prints, in milliseconds: from the start of the program to the answer to the first question, a
//! trivial cell there and back, completion while cells of many kinds run, and from the wish to interrupt
//! each of them to its end. Beside each time stands whether it is within the goal for ninety-nine of a
//! hundred (with fewer, the slowest); if one is not, the exit code is 1. A machine that does other
//! things meanwhile measures these.

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use jupyter_protocol::ConnectionInfo;
use serde_json::json;
use weft_jupyter_kernel::client::{Channel, Client, free_connection};
use weft_jupyter_kernel::wire::Message;

const PATIENCE: Duration = Duration::from_secs(20);
const STARTS: usize = 10;
const CELLS: usize = 500;
const INTERRUPTS: usize = 20;
/// Completions while one cell runs.
const COMPLETIONS: usize = 5;

/// The goals.
const READY: Duration = Duration::from_millis(300);
const CELL: Duration = Duration::from_millis(10);
const COMPLETION: Duration = Duration::from_millis(20);
const INTERRUPT: Duration = Duration::from_millis(200);

/// Cells that do not end, with what they are and what comes before them. `@` is another number for
/// every cell, which makes another program of it.
const ENDLESS: [(&str, &str, &str); 11] = [
    ("a loop of scalars", "", "loop x = 0 while x >= 0 do (x + 1) % 7"),
    ("a reduction", "", "sum { sqrt (f64 i) : i in iota 60000000000 }"),
    (
        "a kernel over rows",
        "n = 50000000",
        "sum { maximum { (i * j) % 7 : j in iota 3000 } : i in iota n }",
    ),
    (
        "a kernel of few points",
        "n = 1000000000000",
        "{ (loop x = i for k < n do (x * 5 + k) % 1001) : i in iota 64 }",
    ),
    (
        "a loop around kernels",
        "",
        "loop v = iota 100000 while length v > 0 do { (x + 1) % 7 : x in v }",
    ),
    (
        "scans in a loop",
        "n = 1000000000",
        "loop v = iota 40000 for k < n do { x % 1001 : x in scan (+) k v }",
    ),
    (
        "sorts in a loop",
        "n = 1000000000",
        "loop v = iota 40000 for k < n do sort { (x * 31 + k) % 1001 : x in v }",
    ),
    (
        "scatters in a loop",
        "n = 1000000000",
        "loop v = iota 4000 for k < n do scatterWith (+) v { (x * 31 + k) % 4000 : x in v } v",
    ),
    ("products of matrices", "m = fill (4000, 4000) 1.5", "matmul m (matmul m m)"),
    (
        "a wait for the C compiler",
        ":set tier 1\nn = 60000000000",
        "sum { sqrt (f64 (i + @)) + f64 (i // (@ + 3)) : i in iota n }",
    ),
    (
        "the interpreter",
        ":backend interp",
        "iterate 1000000000 (\\v -> { (x * 3 + 1) % 1000 : x in v }) (iota 1000)",
    ),
];

fn main() -> ExitCode {
    let Some(program) = std::env::args_os().nth(1) else {
        println!("usage: latency PATH-OF-WEFT");
        return ExitCode::from(2);
    };
    let mut goals = Goals::default();
    match measure(&program, &mut goals) {
        Ok(()) if goals.missed == 0 => {
            println!("all {} goals are reached", goals.reached);
            ExitCode::SUCCESS
        }
        Ok(()) => {
            println!("{} goals are reached, {} are not", goals.reached, goals.missed);
            ExitCode::FAILURE
        }
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure(program: &OsString, goals: &mut Goals) -> Result<(), String> {
    let mut ready = Vec::new();
    for _ in 0..STARTS {
        let started = Instant::now();
        let mut kernel = Kernel::start(program)?;
        kernel.ask("kernel_info_request", json!({}))?;
        ready.push(started.elapsed());
    }
    goals.report("kernel ready", ready, READY);

    let mut kernel = Kernel::start(program)?;
    let mut times = Vec::new();
    for _ in 0..CELLS {
        let asked = Instant::now();
        let id = kernel.ask("execute_request", json!({"code": "1 + 1"}))?;
        kernel.client.published(&id, PATIENCE)?;
        times.push(asked.elapsed());
    }
    goals.report("trivial cell, with all that it publishes", times, CELL);

    for (what, before, code) in ENDLESS {
        let mut kernel = Kernel::start(program)?;
        kernel.ask("execute_request", json!({"code": before}))?;
        let mut completions = Vec::new();
        let mut interrupts = Vec::new();
        for round in 0..INTERRUPTS {
            let code = code.replace('@', &round.to_string());
            let cell =
                kernel.client.request(Channel::Shell, "execute_request", json!({"code": code}));
            let begun = |message: &Message| {
                message.kind() == "execute_input" && message.parent["msg_id"] == *cell
            };
            kernel.client.expect(Channel::Iopub, PATIENCE, begun)?;
            // Another point of its run each time.
            sleep(Duration::from_millis(round as u64 * 5));
            for _ in 0..COMPLETIONS {
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
        goals.report(&format!("completion during {what}"), completions, COMPLETION);
        goals.report(&format!("interrupt of {what}"), interrupts, INTERRUPT);
    }
    Ok(())
}

/// How many goals are reached.
#[derive(Default)]
struct Goals {
    reached: usize,
    missed: usize,
}

impl Goals {
    /// Prints the median and the slowest of a hundred, and whether that is within the goal.
    fn report(&mut self, what: &str, mut times: Vec<Duration>, goal: Duration) {
        times.sort();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        let verdict = if late <= goal { "ok    " } else { "MISSED" };
        *(if late <= goal { &mut self.reached } else { &mut self.missed }) += 1;
        println!(
            "{verdict} {what}: median {:.1} ms, p99 {:.1} ms (goal {:.0} ms), n = {}",
            milliseconds(median),
            milliseconds(late),
            milliseconds(goal),
            times.len()
        );
    }
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
        // A kernel that has been compiled by an earlier run would not be compiled again.
        .env("XDG_CACHE_HOME", file.with_file_name("cache"))
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", Path::new(program).display()))
}
