//! A small client of the protocol: `weft jupyter doctor` and the tests talk to kernels with it.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use jupyter_protocol::ConnectionInfo;
use jupyter_protocol::connection_info::Transport;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use zeromq::{
    DealerSocket, ReqSocket, Socket, SocketRecv, SocketSend, SubSocket, ZmqError, ZmqMessage,
};

use crate::wire::{Key, Message};

/// A client that is connected to a kernel.
pub struct Client {
    runtime: Runtime,
    shell: DealerSocket,
    control: DealerSocket,
    iopub: SubSocket,
    heartbeat: ReqSocket,
    key: Key,
    session: String,
}

/// A socket to listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Replies to requests in turn.
    Shell,
    /// Replies to requests that do not wait.
    Control,
    /// What all clients hear.
    Iopub,
}

/// A connection on this machine, on ports that are free now.
///
/// Ports that the system hands out are not used: it could give them to somebody else before the kernel
/// listens, even to the near end of a connection. Nor does this process look at a port twice before it
/// has been through all: to look is to listen for a moment, and a client that waits for the kernel of
/// another connection would meet that.
///
/// # Errors
/// If there are no free ports.
pub fn free_connection() -> Result<ConnectionInfo, String> {
    let key = uuid::Uuid::new_v4();
    let candidates = (0..CHOSEN_PORTS)
        .map(|_| FIRST_PORT + NEXT_PORT.fetch_add(1, Ordering::Relaxed) % CHOSEN_PORTS);
    let mut listeners = Vec::new();
    let mut ports = Vec::new();
    for port in candidates {
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            listeners.push(listener);
            ports.push(port);
        }
        if let [shell_port, iopub_port, stdin_port, control_port, hb_port] = ports[..] {
            return Ok(ConnectionInfo {
                ip: "127.0.0.1".to_owned(),
                transport: Transport::TCP,
                shell_port,
                iopub_port,
                stdin_port,
                control_port,
                hb_port,
                key: key.to_string(),
                signature_scheme: "hmac-sha256".to_owned(),
                kernel_name: Some("weft".to_owned()),
            });
        }
    }
    Err("no free port".to_owned())
}

/// Ports from here on are neither privileged nor handed out by the systems that Weft runs on (Linux
/// begins at 32768, others at 49152).
const FIRST_PORT: u16 = 16_384;
const CHOSEN_PORTS: u16 = 16_384;

/// Which of them this process looks at next. It begins anywhere, and goes round: the number of ports
/// divides that of the numbers.
static NEXT_PORT: LazyLock<AtomicU16> = LazyLock::new(|| {
    let (_, chance) = uuid::Uuid::new_v4().as_u64_pair();
    AtomicU16::new(chance as u16)
});

/// How long after a connection has failed the next is tried.
const AGAIN: Duration = Duration::from_millis(50);

/// Sockets that are connected to a kernel.
async fn sockets(
    connection: &ConnectionInfo,
) -> Result<(SubSocket, DealerSocket, DealerSocket, ReqSocket), ZmqError> {
    let mut iopub = SubSocket::new();
    iopub.subscribe("").await?;
    iopub.connect(&connection.iopub_url()).await?;
    let mut shell = DealerSocket::new();
    shell.connect(&connection.shell_url()).await?;
    let mut control = DealerSocket::new();
    control.connect(&connection.control_url()).await?;
    let mut heartbeat = ReqSocket::new();
    heartbeat.connect(&connection.hb_url()).await?;
    Ok((iopub, shell, control, heartbeat))
}

impl Client {
    /// Connects, and waits until the kernel says that everything it publishes will be heard.
    ///
    /// A connection that fails is tried again: before the kernel listens, somebody else may have, for a
    /// moment.
    ///
    /// # Errors
    /// If that takes longer than `patience`.
    pub fn connect(connection: &ConnectionInfo, patience: Duration) -> Result<Client, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let mut failure = None;
        let connecting = async {
            loop {
                match sockets(connection).await {
                    Ok(sockets) => return sockets,
                    Err(error) => failure = Some(error),
                }
                tokio::time::sleep(AGAIN).await;
            }
        };
        let connected = runtime.block_on(async { timeout(patience, connecting).await });
        let (iopub, shell, control, heartbeat) = connected.map_err(|_| match failure {
            None => "the kernel does not listen".to_owned(),
            Some(error) => format!("cannot connect: {error}"),
        })?;
        let key = Key::new(&connection.key);
        let session = uuid::Uuid::new_v4().to_string();
        let mut client = Client { runtime, shell, control, iopub, heartbeat, key, session };
        client.expect(Channel::Iopub, patience, |message| message.kind() == "iopub_welcome")?;
        Ok(client)
    }

    /// Sends a request. The result is its id.
    pub fn request(&mut self, channel: Channel, kind: &str, content: Value) -> String {
        let message = Message::new(kind, &self.session, Arc::new(json!({})), content);
        let id = message.header["msg_id"].as_str().unwrap_or("").to_owned();
        let frames = self.key.encode(&[], &message);
        self.send(channel, frames);
        id
    }

    /// Sends frames as they are.
    pub fn send(&mut self, channel: Channel, frames: ZmqMessage) {
        let Client { runtime, shell, control, .. } = self;
        // If nobody takes it, no reply will come, and that is noticed.
        let _ = match channel {
            Channel::Shell => runtime.block_on(shell.send(frames)),
            Channel::Control => runtime.block_on(control.send(frames)),
            Channel::Iopub => Ok(()),
        };
    }

    /// The next message; `None` if none comes in time.
    pub fn next(&mut self, channel: Channel, patience: Duration) -> Option<Message> {
        let Client { runtime, shell, control, iopub, .. } = self;
        let frames = runtime.block_on(async {
            match channel {
                Channel::Shell => timeout(patience, shell.recv()).await,
                Channel::Control => timeout(patience, control.recv()).await,
                Channel::Iopub => timeout(patience, iopub.recv()).await,
            }
        });
        let (_, message) = self.key.decode(frames.ok()?.ok()?, None).ok()?;
        Some(message)
    }

    /// The next message that is wanted; others are passed over.
    ///
    /// # Errors
    /// If it does not come in time.
    pub fn expect(
        &mut self,
        channel: Channel,
        patience: Duration,
        wanted: impl Fn(&Message) -> bool,
    ) -> Result<Message, String> {
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.next(channel, left) {
                Some(message) if wanted(&message) => return Ok(message),
                Some(_) => {}
                None => return Err(format!("no answer on {channel:?} within {patience:?}")),
            }
        }
    }

    /// The reply to the request with that id.
    ///
    /// # Errors
    /// If it does not come in time.
    pub fn reply(
        &mut self,
        channel: Channel,
        id: &str,
        patience: Duration,
    ) -> Result<Message, String> {
        self.expect(channel, patience, |message| message.parent["msg_id"] == id)
    }

    /// Everything published for the request with that id, up to `idle`.
    ///
    /// # Errors
    /// If that does not come in time.
    pub fn published(&mut self, id: &str, patience: Duration) -> Result<Vec<Message>, String> {
        let mut found = Vec::new();
        loop {
            let message =
                self.expect(Channel::Iopub, patience, |message| message.parent["msg_id"] == id)?;
            let is_idle = message.text("execution_state") == "idle";
            found.push(message);
            if is_idle {
                return Ok(found);
            }
        }
    }

    /// Whether the kernel's heart beats.
    pub fn beats(&mut self, patience: Duration) -> bool {
        let Client { runtime, heartbeat, .. } = self;
        let beat = async {
            heartbeat.send(ZmqMessage::from("beat")).await.ok()?;
            heartbeat.recv().await.ok()
        };
        runtime.block_on(async { timeout(patience, beat).await }).ok().flatten().is_some()
    }
}
