//! A kernel as a child process, and a client that speaks to it through its sockets.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jupyter_protocol::ConnectionInfo;
use serde_json::{Value, json};
use tempfile::TempDir;
use weft_jupyter_kernel::client::{Channel, Client, free_connection};
use weft_jupyter_kernel::wire::Message;
use weft_session::Config;

/// How long anything may take that has to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long what comes at once may take: tests share their machine, and what it takes on a quiet one
/// is measured by `examples/latency.rs`.
pub(crate) const SOON: Duration = Duration::from_secs(10);
const CONNECTION: &str = "WEFT_TEST_CONNECTION";
/// The connection file in the folder of a bench.
pub(crate) const FILE: &str = "connection.json";

/// Not a test of its own: the tests start this program again with a connection file, and then this
/// is the kernel.
#[test]
fn kernel_as_child() {
    if let Some(file) = std::env::var_os(CONNECTION) {
        let config = Config { memory: 1 << 30, io: false };
        assert_eq!(weft_jupyter_kernel::run(file.as_ref(), &config), Ok(()));
    }
}

/// A process that does not outlive its test, however that ends.
pub(crate) struct Process(pub(crate) Child);

impl Deref for Process {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Process {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A kernel and a client of it.
pub(crate) struct Bench {
    pub(crate) child: Process,
    pub(crate) client: Client,
    pub(crate) connection: ConnectionInfo,
    pub(crate) folder: TempDir,
}

/// A connection, and a folder with its file.
pub(crate) fn connection() -> (ConnectionInfo, TempDir) {
    let connection = free_connection().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = serde_json::to_string(&connection).unwrap();
    std::fs::write(folder.path().join(FILE), text).unwrap();
    (connection, folder)
}

/// A kernel for the connection file in a folder, where its history is too.
pub(crate) fn kernel(folder: &Path, environment: &[(&str, String)]) -> Process {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bench::kernel_as_child"])
        .env(CONNECTION, folder.join(FILE))
        .env("WEFT_KERNEL_HISTORY", folder.join("history"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        // If these tests are killed, it ends as well.
        .env("JPY_PARENT_PID", std::process::id().to_string())
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    Process(child)
}

impl Bench {
    pub(crate) fn start() -> Bench {
        Bench::start_with(&[])
    }

    pub(crate) fn start_with(environment: &[(&str, String)]) -> Bench {
        let (connection, folder) = connection();
        let child = kernel(folder.path(), environment);
        let client = Client::connect(&connection, PATIENCE).unwrap();
        Bench { child, client, connection, folder }
    }

    /// Shuts the kernel down and starts another one on the same ports, as front ends do.
    pub(crate) fn restart(&mut self) {
        let content = json!({"restart": true});
        let id = self.client.request(Channel::Control, "shutdown_request", content);
        self.client.reply(Channel::Control, &id, PATIENCE).unwrap();
        assert!(self.wait_for_end(PATIENCE));
        self.child = kernel(self.folder.path(), &[]);
        self.client = Client::connect(&self.connection, PATIENCE).unwrap();
    }

    /// Ends the kernel as `kill -9` does, and starts another one on the same ports.
    pub(crate) fn kill_and_start_again(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = kernel(self.folder.path(), &[]);
        self.client = Client::connect(&self.connection, PATIENCE).unwrap();
    }

    /// Stops what runs, from outside.
    pub(crate) fn interrupt(&mut self) {
        let id = self.client.request(Channel::Control, "interrupt_request", json!({}));
        let reply = self.client.reply(Channel::Control, &id, PATIENCE).unwrap();
        assert_eq!(reply.text("status"), "ok");
    }

    /// Everything that a cell prints.
    pub(crate) fn printed(&mut self, code: &str) -> String {
        let (_, published) = self.run(code);
        let streams = published.iter().filter(|message| message.kind() == "stream");
        streams.map(|message| message.text("text")).collect()
    }

    pub(crate) fn ask(&mut self, kind: &str, content: Value) -> Value {
        let id = self.client.request(Channel::Shell, kind, content);
        self.client.reply(Channel::Shell, &id, PATIENCE).unwrap().content
    }

    pub(crate) fn send(&mut self, code: &str) -> String {
        self.client.request(Channel::Shell, "execute_request", json!({"code": code}))
    }

    /// Runs a cell: its reply, and what was published for it.
    pub(crate) fn run(&mut self, code: &str) -> (Value, Vec<Message>) {
        self.execute(json!({"code": code}))
    }

    /// As [`Bench::run`], for any request to execute.
    pub(crate) fn execute(&mut self, content: Value) -> (Value, Vec<Message>) {
        let id = self.client.request(Channel::Shell, "execute_request", content);
        let reply = self.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
        (reply.content, self.client.published(&id, PATIENCE).unwrap())
    }

    /// The result of a cell as text.
    pub(crate) fn result(&mut self, code: &str) -> String {
        let (_, published) = self.run(code);
        let result = published.iter().find(|message| message.kind() == "execute_result");
        let result = result.unwrap_or_else(|| panic!("{code} gave {published:#?}"));
        result.content["data"]["text/plain"].as_str().unwrap().to_owned()
    }

    pub(crate) fn wait_for_end(&mut self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Instant::now() < end {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}
