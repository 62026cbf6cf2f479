//! Memory, recursion, interrupts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weft_interp::Limits;
use weft_ir::{Array, Buf, Column, Exhausted, Failure, Fetch, Looks, Value};

use crate::source::{LIMITS, check, exhausted, run_reading, run_with};

#[track_caller]
fn check_memory(text: &str) {
    let limits = Limits { memory: 1 << 24, ..LIMITS };
    match exhausted(text, &limits) {
        Exhausted::Memory { wanted, limit, .. } => {
            assert!(limit == limits.memory && wanted > 0, "{text}: {wanted} of {limit}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn memory_is_asked_for_before_it_is_taken() {
    check_memory("iota (10 ** 12)");
    check_memory("length (iota (10 ** 12))");
    check_memory("replicate (10 ** 12) 1u8");
    check_memory("replicate (10 ** 6) (iota 1000)");
    check_memory("generate (10 ** 6, 10 ** 6) (\\(i, j) -> i)");
    check_memory("fill (10 ** 6, 10 ** 6) 0");
    check_memory("outer (+) (iota 100000) (iota 100000)");
    check_memory("matmul (fill (100000, 1) 1) (fill (1, 100000) 1)");
    check_memory("histogram (10 ** 12) [0]");
    check_memory("identity 1000000");
    check_memory("random 1 (10 ** 12)");
    check_memory("linspace 0.0 1.0 (10 ** 12)");
    check_memory("0..(10 ** 12)");
    check_memory("loop a = [1] for i < 100 do a ++ a");
    check_memory("{ iota 1000000 : i in iota 1000000 }");
    check_memory("{ { { i + j + k : k in iota 1000 } : j in iota 1000 } : i in iota 1000 }");
    check_memory("windows 100000 (iota 200000)");
}

#[test]
fn calls_nest_only_so_deep() {
    let text = "def f n = 1 + f (n + 1)\nf 0";
    match exhausted(text, &LIMITS) {
        Exhausted::Recursion { depth, span } => {
            assert_eq!(depth, LIMITS.recursion + 1);
            assert_eq!(&text[span.range()], "f (n + 1)");
        }
        other => panic!("{other:?}"),
    }
    // That many calls may be nested, and no more.
    let text = "def g n = if n == 1 then 1 else 1 + g (n - 1)\ng ";
    let limits = Limits { recursion: 10, ..LIMITS };
    let cancel = AtomicBool::new(false);
    assert!(run_with(&format!("{text}10"), &limits, &cancel).is_ok());
    assert!(matches!(
        exhausted(&format!("{text}11"), &limits),
        Exhausted::Recursion { depth: 11, .. }
    ));
    // The host's stack is a limit too.
    let text = "def f n = 1 + f (n + 1)\nf 0";
    let deepest = |stack: usize| {
        let limits = Limits { recursion: u64::MAX, stack, ..LIMITS };
        match exhausted(text, &limits) {
            Exhausted::Stack { depth, bytes, span } => {
                assert_eq!(bytes, stack as u64 / 2);
                assert_eq!(&text[span.range()], "f (n + 1)");
                depth
            }
            other => panic!("{other:?}"),
        }
    };
    let (small, large) = (deepest(LIMITS.stack / 8), deepest(LIMITS.stack));
    assert!(small * 7 < large && large < small * 9, "{small} {large}");
    let text = "def f n = { 1 + sum (f (n + i)) : i in [1] }\nf 0";
    assert!(matches!(exhausted(text, &LIMITS), Exhausted::Recursion { .. }));
}

#[test]
fn deep_expressions_are_evaluated() {
    let sum = vec!["1"; 2_000].join(" + ");
    check(&sum, "2000");
    let lets: String = (0..200).map(|i| format!("let x{} = x{i} + 1 in ", i + 1)).collect();
    check(&format!("let x0 = 0 in {lets} x200"), "200");
}

#[test]
fn an_interrupt_is_seen_soon() {
    for text in [
        "loop x = 0 while true do x + 1",
        "def f n = if n < 0 then 0 else f (n + 1)\nf 0",
        "def g n = if n == 0 then 0 else g (n - 1) + g (n - 1)\ng 60",
        "length { x * x : x in iota 30000000 }",
        "sum (sort (randomInt 1 0 1000000 20000000))",
        "sum (iota 30000000 * 2 + 1) + (loop x = 0 while true do x)",
        "iterate (10 ** 15) (\\x -> x + 1) 0",
        "fold (\\a b -> a + b) 0 (iota 30000000)",
        "indexWhere (\\x -> x < 0) (iota 30000000)",
        "loop a = iota 1000000 while true do reverse a",
    ] {
        let cancel = AtomicBool::new(false);
        let limits = Limits { memory: 1 << 32, ..LIMITS };
        let (result, waited) = std::thread::scope(|scope| {
            let run = scope.spawn(|| run_with(text, &limits, &cancel));
            std::thread::sleep(Duration::from_millis(30));
            cancel.store(true, Ordering::Relaxed);
            let start = Instant::now();
            (run.join().expect("no panic"), start.elapsed())
        });
        assert_eq!(result.err(), Some(Failure::Exhausted(Exhausted::Interrupted)), "{text}");
        assert!(waited < Duration::from_secs(20), "{text}: seen after {waited:?}");
    }
}

#[test]
fn functions_nest_only_so_deep() {
    let text = "let g = iterate 1000000 (\\f -> \\x -> f (x + 1)) (\\x -> x) in 5";
    assert!(matches!(exhausted(text, &LIMITS), Exhausted::Recursion { .. }));
    check("iterate 5000 (\\f -> \\x -> f (x + 1)) (\\x -> x) 0", "5000");
}

#[test]
fn arrays_of_nothing_are_not_free() {
    check_memory("reverse (fill (3, 2 ** 40, 0) 0)");
    check_memory("fill (2 ** 40, 2 ** 20, 0) 0");
    check_memory("[transpose (fill (0, 2 ** 40) 0)]");
    check("shape (fill (0, 2 ** 40) 0)", "(0, 2 ** 40)");
}

#[test]
fn equal_errors_share_their_memory() {
    check("length (iota 1000000 // 0)", "1000000");
}

#[test]
fn arrays_are_updated_in_place() {
    // A copy per step would move 80 gigabytes.
    check("sum (loop a = replicate 100000 0 for i < 100000 do (a with [i] = 1))", "100000");
    check(
        "(loop (a, n) = (replicate 100000 0, 0) while n < 100000 do ((a with [n] = 1), n + 1)).0 |> sum",
        "100000",
    );
    check(
        "sum ((iterate 100000 (\\(a, n) -> ((a with [n] = 1), n + 1)) (replicate 100000 0, 0)).0)",
        "100000",
    );
    check(
        "def go a n = if n == 100000 then sum a else go (a with [n] = 1) (n + 1)\ngo (replicate 100000 0) 0",
        "100000",
    );
}

/// Elements that somebody else would have to compute again; he is interrupted in that.
#[derive(Debug, Default)]
struct Lost {
    fetched: AtomicBool,
}

impl Fetch<f64> for Lost {
    fn fetch(&self) -> Vec<f64> {
        self.fetched.store(true, Ordering::SeqCst);
        vec![1.0, 2.0]
    }

    fn bring(&self, _looks: Looks, cancel: &AtomicBool) -> bool {
        cancel.store(true, Ordering::SeqCst);
        false
    }
}

#[test]
fn bringing_what_is_read_can_be_interrupted() {
    let (lost, cancel) = (Arc::new(Lost::default()), AtomicBool::new(false));
    let read = |value: &Value| match value {
        Value::Array(_) => {
            let own = Arc::clone(&lost);
            Value::Array(Arc::new(Array::new(Column::F64(Buf::deferred(2, own)))))
        }
        other => other.clone(),
    };
    let cell = "xs = [1.0, 2.0]\ndef total n = n * sum xs\ntotal 2.0";
    let failure = run_reading(cell, &LIMITS, &cancel, &read).expect_err("it is interrupted");
    assert!(matches!(failure, Failure::Exhausted(Exhausted::Interrupted)), "{failure:?}");
    assert!(!lost.fetched.load(Ordering::SeqCst), "nobody waits for what takes long");
}
