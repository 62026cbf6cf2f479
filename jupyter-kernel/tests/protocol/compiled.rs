//! Programs that run compiled: they stop when they are asked to, and leave everything as it was.

use std::time::{Duration, Instant};

use serde_json::json;
use weft_jupyter_kernel::client::Channel;
use weft_jupyter_kernel::wire::Message;

use crate::bench::{Bench, PATIENCE, SOON};

/// A program of every kind of kernel, and how large `n` has to be for it not to end. With a small one
/// it ends at once, and as a binding it does not change what is compiled.
const PROGRAMS: [(&str, &str, &str); 8] = [
    ("a reduction", "sum { f64 (i % 7) * 0.5 : i in iota n }", "80000000000"),
    ("rows", "sum { maximum { (i * j) % 7 : j in iota 3000 } : i in iota n }", "50000000"),
    (
        "a loop in a kernel",
        "{ (loop x = i for k < n do (x * 5 + k) % 1001) : i in iota 64 }",
        "1000000000000",
    ),
    (
        "a loop around kernels",
        "loop v = iota 40000 for k < n do { (x + k) % 1001 : x in v }",
        "1000000000",
    ),
    (
        "a scan in a loop",
        "loop v = iota 40000 for k < n do { x % 1001 : x in scan (+) k v }",
        "1000000000",
    ),
    (
        "a sort in a loop",
        "loop v = iota 40000 for k < n do sort { (x * 31 + k) % 1001 : x in v }",
        "1000000000",
    ),
    (
        "a scatter in a loop",
        "loop v = iota 4000 for k < n do scatterWith (+) v { (x * 31 + k) % 4000 : x in v } v",
        "1000000000",
    ),
    ("a loop of the host", "loop x = 0 for k < n do (x + k) % 7", "1000000000000"),
];

#[test]
fn interpreted_kernels_stop_when_they_are_asked_to() {
    stop_on_request("0");
}

#[test]
fn machine_code_stops_when_it_is_asked_to() {
    stop_on_request("1");
}

/// Runs every program, with kernels on that tier, and interrupts it.
fn stop_on_request(tier: &str) {
    let mut bench = Bench::start();
    bench.run(&format!(":backend cpu\n:set tier {tier}"));
    bench.run("kept = sum { i * i : i in iota 1000 }");
    let mut slowest = (Duration::ZERO, "");
    for (kind, program, large) in PROGRAMS {
        // Compiled it is, and it ends.
        bench.run("n = 3");
        let said = bench.printed(&format!(":time {program}"));
        assert!(said.contains("on cpu"), "{kind}: {said}");
        bench.run(&format!("n = {large}"));
        for pause in [20, 60] {
            let id = bench.send(&format!("kept = 0\n{program}"));
            let begun =
                |m: &Message| m.kind() == "execute_input" && m.parent["msg_id"] == id.as_str();
            bench.client.expect(Channel::Iopub, PATIENCE, begun).unwrap();
            std::thread::sleep(Duration::from_millis(pause));
            let asked = Instant::now();
            bench.interrupt();
            let reply = bench.client.reply(Channel::Shell, &id, PATIENCE).unwrap();
            let took = asked.elapsed();
            assert_eq!(reply.text("ename"), "Interrupted", "{kind}: {}", reply.content);
            // A C compiler that has been started goes on to its end.
            assert!(took < SOON, "{kind}: {took:?}");
            slowest = slowest.max((took, kind));
            assert_eq!(bench.result("kept"), "332833500", "{kind}");
        }
        // What was interrupted runs to its end when there is less to do.
        let (reply, _) = bench.run(&format!("n = 3\n{program}"));
        assert_eq!(reply["status"], "ok", "{kind}");
    }
    let (took, kind) = slowest;
    println!(
        "slowest interrupt of a compiled program, tier {tier}: {took:?}, {kind} (goal: 200 ms)"
    );
}

#[test]
fn a_fault_of_a_compiled_program_is_an_error_and_no_more() {
    let mut bench = Bench::start();
    bench.run(":backend cpu\nkept = iota 5");
    for (program, code) in [
        ("{ 10 // (x - 3) : x in kept }", "E0604"),
        ("{ kept[x + 1] : x in kept }", "E0601"),
        ("sum (iota (10 ** 12) ++ [1])", "E0701"),
        // Nobody stores these numbers, and yet they are too many.
        ("sum { f64 i * 0.5 : i in iota (10 ** 13) }", "E0701"),
        ("kept = assert (sum kept < 0) kept", "E0611"),
    ] {
        let (reply, _) = bench.execute(json!({"code": program}));
        assert_eq!(reply["ename"], code, "{program}: {reply}");
        assert_eq!(bench.result("sum kept"), "10", "{program}");
    }
}
