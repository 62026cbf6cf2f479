//! What goes out: one task a socket, fed through a channel, so that no client can hold up a cell.
//! Streams are collected for a moment: a front end that gets every line as a message of its own
//! soon cuts the output off.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::channel::mpsc as monitor;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use zeromq::{PubSocket, RouterSendHalf, SocketEvent, SocketSend};

use crate::wire::{Key, Message};

/// How long text of a stream waits for more.
const COALESCE: Duration = Duration::from_millis(50);
/// Text beyond this many bytes does not wait.
const LARGE: usize = 64 * 1024;
/// How long a reply may take to be handed to the system before it is given up.
const STALLED: Duration = Duration::from_secs(2);
/// A new subscriber is told that it will hear everything once its subscription has arrived, which
/// it sends right after the handshake. The library does not say when that is, and a machine that is
/// busy may take its time, so it is told again: so long after the handshake, until somebody is
/// answered. (Some clients do not know this message, and none expects it in the middle of a cell.)
const WELCOMES: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(15),
];

/// Where everything that the kernel says is handed in.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    session: Arc<str>,
    iopub: mpsc::UnboundedSender<Publication>,
    replies: mpsc::UnboundedSender<Reply>,
}

/// Which socket a request came from, and its reply goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Requests in turn.
    Shell,
    /// Requests that do not wait.
    Control,
}

/// A request with what is needed to answer it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Where it came from.
    pub(crate) channel: Channel,
    /// Who asked.
    pub(crate) identities: Vec<Bytes>,
    /// What.
    pub(crate) message: Message,
}

#[derive(Debug)]
pub(crate) enum Publication {
    Message(Message),
    Stream { parent: Arc<Value>, name: &'static str, text: String },
    Drained(oneshot::Sender<()>),
}

#[derive(Debug)]
pub(crate) enum Reply {
    Message { channel: Channel, identities: Vec<Bytes>, message: Message },
    Drained(oneshot::Sender<()>),
}

impl Outlet {
    /// An outlet, and the ends that [`publish`] and [`reply`] serve.
    pub(crate) fn new(
        session: &str,
    ) -> (Outlet, mpsc::UnboundedReceiver<Publication>, mpsc::UnboundedReceiver<Reply>) {
        let (iopub, publications) = mpsc::unbounded_channel();
        let (replies, pending) = mpsc::unbounded_channel();
        (Outlet { session: session.into(), iopub, replies }, publications, pending)
    }

    /// Publishes a message to all clients.
    pub(crate) fn publish(&self, kind: &str, parent: &Arc<Value>, content: Value) {
        let message = Message::new(kind, &self.session, Arc::clone(parent), content);
        // Once the sockets are gone nobody listens any more.
        let _ = self.iopub.send(Publication::Message(message));
    }

    /// Publishes text on `stdout` or `stderr`.
    pub(crate) fn stream(&self, name: &'static str, parent: &Arc<Value>, text: String) {
        let _ = self.iopub.send(Publication::Stream { parent: Arc::clone(parent), name, text });
    }

    /// Publishes `busy` or `idle`.
    pub(crate) fn status(&self, state: &str, parent: &Arc<Value>) {
        self.publish("status", parent, crate::content::status(state));
    }

    /// Answers a request: `x_request` with `x_reply`.
    pub(crate) fn reply(&self, request: &Request, content: Value) {
        self.reply_with(request, content, json!({"started": request.message.header["date"]}));
    }

    /// As [`Outlet::reply`], with facts about the reply. The status is added: some clients read it
    /// there.
    pub(crate) fn reply_with(&self, request: &Request, content: Value, metadata: Value) {
        let kind = request.message.kind();
        let kind = format!("{}_reply", kind.strip_suffix("_request").unwrap_or(kind));
        let parent = Arc::clone(&request.message.header);
        let mut message = Message::new(&kind, &self.session, parent, content);
        message.metadata = metadata;
        message.metadata["status"] = message.content["status"].clone();
        let identities = request.identities.clone();
        let _ = self.replies.send(Reply::Message { channel: request.channel, identities, message });
    }

    /// Waits until everything so far is with the system.
    pub(crate) async fn drain(&self) {
        let (done, published) = oneshot::channel();
        let _ = self.iopub.send(Publication::Drained(done));
        let (done, replied) = oneshot::channel();
        let _ = self.replies.send(Reply::Drained(done));
        let _ = timeout(STALLED, published).await;
        let _ = timeout(STALLED, replied).await;
        // The library has queues of its own, which it does not let one wait for.
        sleep(Duration::from_millis(150)).await;
    }
}

/// Serves the replies.
pub(crate) async fn reply(
    mut pending: mpsc::UnboundedReceiver<Reply>,
    mut shell: RouterSendHalf,
    mut control: RouterSendHalf,
    key: Key,
) {
    // Those who took nothing the last time. They must not hold up others again and again.
    let mut stalled: HashSet<Vec<Bytes>> = HashSet::new();
    while let Some(next) = pending.recv().await {
        match next {
            Reply::Message { channel, identities, message } => {
                let frames = key.encode(&identities, &message);
                let patience = if stalled.contains(&identities) { Duration::ZERO } else { STALLED };
                let socket = match channel {
                    Channel::Shell => &mut shell,
                    Channel::Control => &mut control,
                };
                // A client that has gone away, or that reads nothing, does without.
                match timeout(patience, socket.send(frames)).await {
                    Ok(_) => stalled.remove(&identities),
                    Err(_) => stalled.insert(identities),
                };
            }
            Reply::Drained(done) => {
                let _ = done.send(());
            }
        }
    }
}

/// Serves the publications.
pub(crate) async fn publish(
    mut pending: mpsc::UnboundedReceiver<Publication>,
    mut events: monitor::Receiver<SocketEvent>,
    mut publisher: Publisher,
) {
    let mut accepted = Instant::now();
    let mut welcomes = WELCOMES.iter();
    // The welcome that comes next.
    let mut welcome: Option<Instant> = None;
    let (mut told, mut answered) = (false, false);
    let mut monitored = true;
    loop {
        let far = Instant::now() + Duration::from_secs(3600);
        let stream_due = publisher.stream.as_ref().map_or(far, |stream| stream.due);
        if told && answered {
            welcome = None;
        }
        tokio::select! {
            next = pending.recv() => match next {
                None => return,
                Some(Publication::Message(message)) => {
                    answered = true;
                    publisher.flush().await;
                    publisher.send(&message).await;
                }
                Some(Publication::Stream { parent, name, text }) => {
                    publisher.add(parent, name, text).await;
                }
                Some(Publication::Drained(done)) => {
                    publisher.flush().await;
                    let _ = done.send(());
                }
            },
            event = events.next(), if monitored => match event {
                Some(SocketEvent::Accepted(..)) => {
                    accepted = Instant::now();
                    (told, answered) = (false, false);
                    welcomes = WELCOMES.iter();
                    welcome = welcomes.next().map(|after| accepted + *after);
                }
                Some(_) => {}
                None => monitored = false,
            },
            () = sleep_until(stream_due), if publisher.stream.is_some() => publisher.flush().await,
            () = sleep_until(welcome.unwrap_or(far)), if welcome.is_some() => {
                welcome = welcomes.next().map(|after| accepted + *after);
                told = true;
                publisher.welcome().await;
            }
        }
    }
}

/// The socket that all clients listen to. It drops messages for a client that does not read, and
/// never waits for one.
pub(crate) struct Publisher {
    /// The socket.
    pub(crate) socket: PubSocket,
    /// Signs.
    pub(crate) key: Key,
    /// The session of the kernel.
    pub(crate) session: Arc<str>,
    /// Text that waits for more.
    pub(crate) stream: Option<Stream>,
}

/// Text of one cell on one stream.
pub(crate) struct Stream {
    parent: Arc<Value>,
    name: &'static str,
    text: String,
    due: Instant,
}

impl Publisher {
    async fn add(&mut self, parent: Arc<Value>, name: &'static str, text: String) {
        match &mut self.stream {
            Some(stream) if stream.name == name && Arc::ptr_eq(&stream.parent, &parent) => {
                stream.text.push_str(&text);
            }
            Some(_) | None => {
                self.flush().await;
                self.stream = Some(Stream { parent, name, text, due: Instant::now() + COALESCE });
            }
        }
        if self.stream.as_ref().is_some_and(|stream| stream.text.len() > LARGE) {
            self.flush().await;
        }
    }

    async fn flush(&mut self) {
        if let Some(stream) = self.stream.take() {
            let content = json!({"name": stream.name, "text": stream.text});
            let message = Message::new("stream", &self.session, stream.parent, content);
            self.send(&message).await;
        }
    }

    async fn send(&mut self, message: &Message) {
        let topic = format!("kernel.{}.{}", self.session, message.kind());
        let _ = self.socket.send(self.key.encode(&[Bytes::from(topic)], message)).await;
    }

    async fn welcome(&mut self) {
        let content = json!({"subscription": ""});
        let message = Message::new("iopub_welcome", &self.session, Arc::new(json!({})), content);
        let _ = self.socket.send(self.key.encode(&[Bytes::new()], &message)).await;
    }
}
