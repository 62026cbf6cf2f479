//! Messages as they travel: frames, signatures, headers. A signature is checked before anything is
//! parsed, and what is parsed may lack any field.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hmac::{Hmac, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use zeromq::ZmqMessage;

/// What stands between the identities of the sender and the message.
const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The version of the protocol that is spoken: 5.4 has `iopub_welcome`.
pub const PROTOCOL_VERSION: &str = "5.4";

/// Signatures that are remembered, so that a message counts once only.
const REMEMBERED: usize = 65_536;

/// A message without the identities of its sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The header: `msg_id`, `msg_type`, `session` and so on.
    pub header: Arc<Value>,
    /// The header of the message that this one answers; `{}` if none.
    pub parent: Arc<Value>,
    /// Facts about the message.
    pub metadata: Value,
    /// What it says.
    pub content: Value,
}

impl Message {
    /// A new message in `session`.
    pub fn new(kind: &str, session: &str, parent: Arc<Value>, content: Value) -> Message {
        let header = json!({
            "msg_id": uuid::Uuid::new_v4().to_string(),
            "session": session,
            "username": "weft",
            "date": now(),
            "msg_type": kind,
            "version": PROTOCOL_VERSION,
        });
        Message { header: Arc::new(header), parent, metadata: json!({}), content }
    }

    /// The type of the message, such as `execute_request`; empty if it has none.
    pub fn kind(&self) -> &str {
        self.header["msg_type"].as_str().unwrap_or("")
    }

    /// A text among the contents; empty if it is missing.
    pub fn text(&self, field: &str) -> &str {
        self.content[field].as_str().unwrap_or("")
    }

    /// A truth value among the contents.
    pub fn flag(&self, field: &str, default: bool) -> bool {
        self.content[field].as_bool().unwrap_or(default)
    }

    /// A count among the contents.
    pub fn count(&self, field: &str) -> Option<usize> {
        self.content[field].as_u64().and_then(|count| usize::try_from(count).ok())
    }
}

/// The key that both sides sign with. It never appears in any output.
#[derive(Clone)]
pub struct Key(Vec<u8>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Why frames are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Too few frames, or no delimiter among them.
    Incomplete,
    /// The signature is not that of the frames.
    Forged,
    /// The same message came before.
    Replayed,
    /// The frames are signed, but one of them is not JSON.
    Malformed,
}

impl Key {
    /// The key of a connection file; an empty one means that nobody signs.
    pub fn new(key: &str) -> Key {
        Key(key.as_bytes().to_vec())
    }

    fn mac(&self, parts: &[Bytes]) -> Option<Hmac<Sha256>> {
        if self.0.is_empty() {
            return None;
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        parts.iter().for_each(|part| mac.update(part));
        Some(mac)
    }

    /// The frames of a message for the peer with these identities (or under this topic).
    pub fn encode(&self, identities: &[Bytes], message: &Message) -> ZmqMessage {
        let parts = [&*message.header, &*message.parent, &message.metadata, &message.content]
            .map(|part| Bytes::from(part.to_string()));
        let signature = match self.mac(&parts) {
            Some(mac) => hexadecimal(&mac.finalize().into_bytes()),
            None => String::new(),
        };
        let mut frames: VecDeque<Bytes> = identities.iter().cloned().collect();
        frames.push_back(Bytes::from_static(DELIMITER));
        frames.push_back(Bytes::from(signature));
        frames.extend(parts);
        let mut frames = frames.into_iter();
        let mut encoded = ZmqMessage::from(frames.next().unwrap_or_default());
        frames.for_each(|frame| encoded.push_back(frame));
        encoded
    }

    /// The message in the frames and the identities before it. `seen` makes sure that each message
    /// counts once; there is none on the side that trusts its peer.
    pub fn decode(
        &self,
        frames: ZmqMessage,
        seen: Option<&mut Seen>,
    ) -> Result<(Vec<Bytes>, Message), Rejected> {
        let mut identities = frames.into_vec();
        let delimiter = identities.iter().position(|frame| **frame == *DELIMITER);
        let parts = identities.split_off(delimiter.ok_or(Rejected::Incomplete)?);
        let [_, signature, signed @ ..] = &parts[..] else { return Err(Rejected::Incomplete) };
        let signed = signed.get(..4).ok_or(Rejected::Incomplete)?;
        if let Some(mac) = self.mac(signed) {
            let claimed = from_hexadecimal(signature).ok_or(Rejected::Forged)?;
            mac.verify_slice(&claimed).map_err(|_| Rejected::Forged)?;
            if seen.is_some_and(|seen| !seen.is_first(&claimed)) {
                return Err(Rejected::Replayed);
            }
        }
        let part = |index: usize| {
            let value: Value = serde_json::from_slice(&signed[index]).unwrap_or(Value::Null);
            if value.is_object() { value } else { Value::Object(Map::new()) }
        };
        // A message without a header cannot be answered; all other parts may be anything.
        let header: Value = serde_json::from_slice(&signed[0]).map_err(|_| Rejected::Malformed)?;
        let message = Message {
            header: Arc::new(header),
            parent: Arc::new(part(1)),
            metadata: part(2),
            content: part(3),
        };
        Ok((identities, message))
    }
}

/// The signatures that have come so far, as many as are remembered.
#[derive(Debug, Default)]
pub struct Seen {
    known: HashSet<Vec<u8>>,
    order: VecDeque<Vec<u8>>,
}

impl Seen {
    fn is_first(&mut self, signature: &[u8]) -> bool {
        if !self.known.insert(signature.to_vec()) {
            return false;
        }
        self.order.push_back(signature.to_vec());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

/// The time as the protocol writes it: ISO 8601, in UTC, to the microsecond.
pub(crate) fn now() -> String {
    chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message::new("execute_request", "s", Arc::new(json!({})), json!({"code": "1"}))
    }

    #[test]
    fn a_message_survives_the_way() {
        let key = Key::new("secret");
        let frames = key.encode(&[Bytes::from_static(b"peer")], &message());
        let (identities, back) = key.decode(frames, None).unwrap();
        assert_eq!(identities, [Bytes::from_static(b"peer")]);
        assert_eq!((back.kind(), back.text("code")), ("execute_request", "1"));
        assert_eq!(back.text("missing"), "");
    }

    #[test]
    fn a_forged_or_replayed_message_is_refused() {
        let (key, other) = (Key::new("secret"), Key::new("guess"));
        let mut seen = Seen::default();
        let forged = other.encode(&[], &message());
        assert_eq!(key.decode(forged, Some(&mut seen)), Err(Rejected::Forged));
        let frames = key.encode(&[], &message());
        assert!(key.decode(frames.clone(), Some(&mut seen)).is_ok());
        assert_eq!(key.decode(frames, Some(&mut seen)), Err(Rejected::Replayed));
    }

    #[test]
    fn the_key_does_not_show() {
        assert!(!format!("{:?}", Key::new("secret")).contains("secret"));
    }

    #[test]
    fn broken_frames_are_refused() {
        let key = Key::new("");
        let frames = |parts: &[&'static str]| {
            let mut message = ZmqMessage::from(parts[0]);
            parts[1..]
                .iter()
                .for_each(|part| message.push_back(Bytes::from_static(part.as_bytes())));
            message
        };
        assert_eq!(key.decode(frames(&["x"]), None), Err(Rejected::Incomplete));
        assert_eq!(key.decode(frames(&["<IDS|MSG>", "", "{}"]), None), Err(Rejected::Incomplete));
        let not_json = frames(&["<IDS|MSG>", "", "{", "{}", "{}", "{}"]);
        assert_eq!(key.decode(not_json, None), Err(Rejected::Malformed));
        let odd = frames(&["<IDS|MSG>", "", "{}", "7", "null", "[1"]);
        assert_eq!(key.decode(odd, None).unwrap().1.content, json!({}));
    }
}
