//! The kernel as a whole: binds the sockets, starts the threads, hands out requests, and ends when
//! it is told to or when nobody is left who could tell it.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use bytes::Bytes;
use jupyter_protocol::ConnectionInfo;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedSender;
use weft_files::{FileSystem, Host};
use weft_session::{Cancel, Config, Session};
use zeromq::{PubSocket, RepSocket, RouterRecvHalf, RouterSocket, Socket, SocketRecv, SocketSend};

use crate::answers::{self, Shared};
use crate::execute::{self, Executor};
use crate::history::{self, History};
use crate::orphan;
use crate::publish::{self, Channel, Outlet, Publisher, Request};
use crate::wire::{Key, Seen};

/// Address space for threads that parse what users type; pages that are not touched cost nothing.
const STACK_BYTES: usize = 256 << 20;

/// Runs a kernel for the connection file until a client shuts it down. The error is a sentence.
pub fn run(connection_file: &Path, config: &Config) -> Result<(), String> {
    let connection = read_connection(&Host, connection_file)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let result = serve(&runtime, &connection, Session::new(config));
    // A cell that does not stop must not keep the process alive.
    runtime.shutdown_background();
    result
}

/// The file is read once.
fn read_connection(files: &dyn FileSystem, path: &Path) -> Result<ConnectionInfo, String> {
    let bytes =
        files.read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let connection: ConnectionInfo = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{} is no connection file: {error}", path.display()))?;
    if connection.signature_scheme != "hmac-sha256" && !connection.key.is_empty() {
        return Err(format!("the signature scheme {} is unknown", connection.signature_scheme));
    }
    Ok(connection)
}

/// The sockets, bound to the address that the connection file names, and no other.
struct Sockets {
    shell: RouterSocket,
    control: RouterSocket,
    stdin: RouterSocket,
    heartbeat: RepSocket,
    iopub: PubSocket,
}

impl Sockets {
    fn new() -> Sockets {
        Sockets {
            shell: RouterSocket::new(),
            control: RouterSocket::new(),
            stdin: RouterSocket::new(),
            heartbeat: RepSocket::new(),
            iopub: PubSocket::new(),
        }
    }

    async fn bind(&mut self, connection: &ConnectionInfo) -> Result<(), String> {
        let failed = |error| format!("cannot bind a socket: {error}");
        self.shell.bind(&connection.shell_url()).await.map_err(failed)?;
        self.control.bind(&connection.control_url()).await.map_err(failed)?;
        self.stdin.bind(&connection.stdin_url()).await.map_err(failed)?;
        self.iopub.bind(&connection.iopub_url()).await.map_err(failed)?;
        // Last: whoever hears it beat may take the rest for ready.
        self.heartbeat.bind(&connection.hb_url()).await.map_err(failed)?;
        Ok(())
    }
}

fn serve(runtime: &Runtime, connection: &ConnectionInfo, session: Session) -> Result<(), String> {
    let key = Key::new(&connection.key);
    let name = uuid::Uuid::new_v4().to_string();
    let (outlet, publications, replies) = Outlet::new(&name);
    let (sockets, events) = runtime.block_on(async {
        let mut sockets = Sockets::new();
        // Before anybody can connect: who is not seen to connect is never welcomed.
        let events = sockets.iopub.monitor();
        sockets.bind(connection).await?;
        Ok::<_, String>((sockets, events))
    })?;
    let (shell_out, shell_in) = sockets.shell.split();
    let (control_out, control_in) = sockets.control.split();

    let publisher =
        Publisher { socket: sockets.iopub, key: key.clone(), session: name.into(), stream: None };
    runtime.spawn(publish::publish(publications, events, publisher));
    runtime.spawn(publish::reply(replies, shell_out, control_out, key.clone()));
    runtime.spawn(heartbeat(sockets.heartbeat));
    outlet.status("starting", &Arc::new(json!({})));

    let shared = Shared {
        snapshot: Arc::new(Mutex::new(session.snapshot())),
        history: Arc::new(Mutex::new(History::open(Arc::new(Host), history::file()))),
        cancel: Cancel::new(),
        cells: Arc::default(),
    };
    let (cells, pending_cells) = mpsc::channel();
    let executor = Executor::new(session, shared.clone(), outlet.clone());
    start("weft-cells", move || execute::serve(&pending_cells, executor))?;
    let (questions, pending_questions) = mpsc::channel();
    let (answering, answer_outlet) = (shared.clone(), outlet.clone());
    start("weft-answers", move || {
        answers::serve(&pending_questions, &answering, &answer_outlet);
    })?;

    let (end, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let dispatcher = Dispatcher { key, cells, questions, shared: shared.clone(), outlet, end };
    let outlet = dispatcher.outlet.clone();
    runtime.spawn(receive(Channel::Shell, shell_in, dispatcher.clone()));
    runtime.spawn(receive(Channel::Control, control_in, dispatcher.clone()));
    let mut stdin = sockets.stdin;
    // Nothing is ever asked for, but what comes must not pile up.
    runtime.spawn(async move { while stdin.recv().await.is_ok() {} });
    runtime.block_on(async {
        let interrupts = async {
            while tokio::signal::ctrl_c().await.is_ok() {
                // A signal has no header.
                shared.interrupt(&json!({}));
            }
        };
        tokio::select! {
            _ = ended.recv() => {}
            () = orphan::wait() => {}
            () = terminated() => {}
            () = async { interrupts.await; std::future::pending().await } => {}
        }
        shared.interrupt(&json!({}));
        outlet.drain().await;
    });
    Ok(())
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    let started = builder.spawn(work);
    started.map(|_| ()).map_err(|error| format!("the system gives no thread: {error}"))
}

/// Waits for the request to end that systems send.
async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut signals) = signal(SignalKind::terminate()) {
            signals.recv().await;
            return;
        }
    }
    std::future::pending().await
}

/// Sends back what comes.
async fn heartbeat(mut socket: RepSocket) {
    loop {
        match socket.recv().await {
            Ok(beat) => {
                let _ = socket.send(beat).await;
            }
            // A client that leaves in the middle of a beat; wait for the next one.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    }
}

/// Where requests go.
#[derive(Clone)]
struct Dispatcher {
    key: Key,
    cells: mpsc::Sender<Request>,
    questions: mpsc::Sender<Request>,
    shared: Shared,
    outlet: Outlet,
    end: UnboundedSender<()>,
}

/// Serves one of the sockets that requests come from.
async fn receive(channel: Channel, mut socket: RouterRecvHalf, dispatcher: Dispatcher) {
    let mut seen = Seen::default();
    loop {
        let Ok(frames) = socket.recv().await else {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        // What is not signed with the key comes from a stranger, and strangers get no answer.
        let Ok((identities, message)) = dispatcher.key.decode(frames, Some(&mut seen)) else {
            continue;
        };
        let identities: Vec<Bytes> = identities;
        dispatcher.dispatch(Request { channel, identities, message });
    }
}

impl Dispatcher {
    fn dispatch(&self, request: Request) {
        let parent = Arc::clone(&request.message.header);
        match request.message.kind() {
            "execute_request" => {
                self.shared.queue(&parent);
                let _ = self.cells.send(request);
            }
            "interrupt_request" => {
                self.shared.interrupt(&parent);
                self.outlet.status("busy", &parent);
                self.outlet.reply(&request, json!({"status": "ok"}));
                self.outlet.status("idle", &parent);
            }
            "shutdown_request" => {
                self.shared.interrupt(&parent);
                let restart = request.message.flag("restart", false);
                let content = json!({"status": "ok", "restart": restart});
                self.outlet.status("busy", &parent);
                self.outlet.reply(&request, content.clone());
                self.outlet.publish("shutdown_reply", &parent, content);
                self.outlet.status("idle", &parent);
                let _ = self.end.send(());
            }
            "" => {}
            _ => {
                let _ = self.questions.send(request);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, read_connection};
    use crate::client::free_connection;
    use weft_files::with_every_fault;

    #[test]
    fn a_connection_file_that_is_wrong_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("connection.json");
        let problem = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_connection(&Host, &path).err()
        };
        let whole = serde_json::to_string(&free_connection().unwrap()).unwrap();
        assert_eq!(problem(&whole), None);
        let cut = problem(&whole[..whole.len() / 2]).unwrap();
        assert!(cut.contains("connection.json is no connection file"), "{cut}");
        let other = problem(&whole.replace("hmac-sha256", "md5")).unwrap();
        assert!(other.contains("md5"), "{other}");
        with_every_fault(|files| {
            std::fs::write(&path, &whole).unwrap();
            let found = read_connection(files, &path);
            assert_eq!(found.is_err(), files.has_failed());
            let said = found.err().unwrap_or_default();
            assert!(said.is_empty() || said.starts_with("cannot read "), "{said}");
        });
    }
}
