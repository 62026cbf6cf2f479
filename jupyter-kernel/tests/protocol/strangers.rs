//! Messages that nobody should send: forged, replayed, cut short, with fields missing or of the
//! wrong type, and bytes that are no message at all.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use weft_jupyter_kernel::client::Channel;
use weft_jupyter_kernel::wire::{Key, Message};
use zeromq::ZmqMessage;

use crate::bench::{Bench, PATIENCE};

fn message(kind: &str, content: Value) -> Message {
    Message::new(kind, "s", json!({}).into(), content)
}

#[test]
fn forged_and_replayed_messages_do_nothing() {
    let mut bench = Bench::start();
    let steal = message("execute_request", json!({"code": "stolen = 1"}));
    for guess in ["guess", ""] {
        bench.client.send(Channel::Shell, Key::new(guess).encode(&[], &steal));
    }
    let end = message("shutdown_request", json!({"restart": false}));
    bench.client.send(Channel::Control, Key::new("guess").encode(&[], &end));
    let replayed = Key::new(&bench.connection.key).encode(&[], &steal);
    for _ in 0..3 {
        bench.client.send(Channel::Shell, replayed.clone());
    }
    // One cell has run: the replayed one, the first time.
    assert_eq!(bench.run("stolen").0["execution_count"], 2);
}

#[test]
fn messages_that_are_cut_short_or_damaged_do_nothing() {
    let mut bench = Bench::start();
    let key = Key::new(&bench.connection.key);
    let whole = message("execute_request", json!({"code": "stolen = 1"}));
    let whole = key.encode(&[], &whole).into_vec();
    let send = |bench: &mut Bench, frames: Vec<Bytes>| {
        if let Ok(message) = ZmqMessage::try_from(frames) {
            bench.client.send(Channel::Shell, message);
        }
    };
    for count in 1..whole.len() {
        send(&mut bench, whole[..count].to_vec());
        send(&mut bench, whole[count..].to_vec());
    }
    for index in 1..whole.len() {
        let mut cut = whole.clone();
        cut[index] = cut[index].slice(..cut[index].len() / 2);
        send(&mut bench, cut);
        let mut damaged = whole.clone();
        damaged[index] = Bytes::from_static(b"\xff\xfe{");
        send(&mut bench, damaged);
    }
    assert_eq!(bench.run("1").0["execution_count"], 1);
}

#[test]
fn fields_may_be_missing_or_of_the_wrong_type() {
    let mut bench = Bench::start();
    let fields = [
        "code",
        "cursor_pos",
        "detail_level",
        "silent",
        "store_history",
        "stop_on_error",
        "user_expressions",
        "hist_access_type",
        "n",
        "session",
        "start",
        "stop",
        "pattern",
        "unique",
        "output",
        "comm_id",
        "target_name",
        "data",
    ];
    let odd = [json!(null), json!(-3), json!(1e300), json!("odd"), json!([1]), json!({"x": []})];
    let kinds = [
        "execute",
        "complete",
        "inspect",
        "is_complete",
        "history",
        "comm_info",
        "kernel_info",
        "unheard",
    ];
    for kind in kinds {
        let kind = format!("{kind}_request");
        bench.client.request(Channel::Shell, &kind, json!({}));
        for value in &odd {
            let content = fields.iter().map(|field| ((*field).to_owned(), value.clone()));
            let content = Value::Object(content.collect());
            bench.client.request(Channel::Shell, &kind, content);
            bench.client.request(Channel::Shell, &kind, value.clone());
        }
    }
    for kind in ["comm_open", "comm_msg", "comm_close", "execute_reply", ""] {
        bench.client.request(Channel::Shell, kind, json!({}));
    }
    // Headers in which nothing is what it should be.
    let key = Key::new(&bench.connection.key);
    for header in [json!({}), json!({"msg_type": "execute_request"}), json!({"msg_type": 7})] {
        let mut odd = message("", json!({"code": "2 + 2"}));
        odd.header = header.into();
        bench.client.send(Channel::Shell, key.encode(&[], &odd));
    }
    // The last of them failed, and what is queued behind it is not run.
    bench.run("0");
    assert_eq!(bench.result("1 + 1"), "2");
    assert_eq!(bench.ask("kernel_info_request", json!({}))["status"], "ok");
    assert!(bench.child.try_wait().unwrap().is_none());
}

#[test]
fn bytes_that_are_no_message_are_survived() {
    let mut bench = Bench::start();
    let connection = &bench.connection;
    let ports = [
        connection.shell_port,
        connection.control_port,
        connection.iopub_port,
        connection.stdin_port,
        connection.hb_port,
    ];
    // The greeting of ZMTP 3.0 without security, and a READY command that says what we are.
    let mut greeting = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0];
    greeting.extend(b"NULL");
    greeting.resize(64, 0);
    let mut ready = b"\x05READY\x0bSocket-Type\0\0\0\x06DEALER".to_vec();
    ready.splice(0..0, [4, u8::try_from(ready.len()).unwrap()]);
    let hostile: [&[u8]; 6] = [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        &greeting[..20],
        &greeting,
        // A frame that claims to be of 2^28 bytes. (One of 2^62 ends the process: the library
        // reserves what is claimed and offers no limit.)
        &[&greeting[..], &ready, &[2, 0, 0, 0, 0, 0x10, 0, 0, 0, 7]].concat(),
        // A command in the middle of nowhere.
        &[&greeting[..], &ready, &[4, 3, 200, 65, 66]].concat(),
    ];
    for port in ports {
        for bytes in hostile {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
            let _ = stream.write_all(bytes);
            let _ = stream.read(&mut [0; 256]);
        }
    }
    assert_eq!(bench.result("1 + 1"), "2");
    assert!(bench.client.beats(PATIENCE));
    // Those who come later are served too.
    let mut late =
        weft_jupyter_kernel::client::Client::connect(&bench.connection, PATIENCE).unwrap();
    let id = late.request(Channel::Control, "kernel_info_request", json!({}));
    assert!(late.reply(Channel::Control, &id, PATIENCE).is_ok());
}
