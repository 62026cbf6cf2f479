//! Sequences, as far as only a session shows it: items that are shown, chunks that find no room, progress.

use weft_session::{Cancel, Outcome};

use crate::transcript::Transcript;

#[test]
fn items_are_shown_one_after_the_other() {
    let mut session = Transcript::new();
    session.check("streamOut (produce 3 (\\i -> iota i))", "[0]i64 []\n[1]i64 [0]\n[2]i64 [0, 1]");
    session.check("filter (> 1) (stream [1, 2, 3]) |> streamOut", "2\n3");
    session.check("streamOut (stream [1])\nit", "E0201");
    session.check("streamOut (produce 5 (\\i -> 6 // (3 - i)))", "2\n3\n6\nE0604");
}

#[test]
fn a_sequence_says_how_long_it_is() {
    let mut session = Transcript::new();
    let consumers = "(`foldSeq`, `elements`, `tabulate` and `collect` consume it; \
                     `streamOut` shows its items)";
    session.check("s = produce 12 f64", "s : seq f64");
    session.check("s", &format!("a sequence of 12 items : seq f64\n{consumers}"));
    session.check(
        "filter (> 1.0) s",
        &format!("a sequence of at most 12 items : seq f64\n{consumers}"),
    );
    session.check(":type map sqrt s", "map sqrt s : seq f64");
    // A definition of the name changes nothing of what it was.
    session.check("xs = [1, 2]\nt = stream xs\nxs = [5]", "xs : [2]i64\nt : seq i64\nxs : [1]i64");
    session.check("collect t", "[2]i64 [1, 2]");
}

#[test]
fn chunks_without_room_become_smaller() {
    let mut session = Transcript::new();
    // An item takes 80 kB while it is made, all together 400 MB; what is left of one is a number.
    let cell = "foldSeq (+) 0 (map (\\i -> let s = sort (randomInt i 0 100 10000) in last s - s[0]) (produce 5000 (\\i -> i)))";
    for engine in ["cpu", "interp"] {
        session.check(&format!(":backend {engine}"), "");
        session.check(":set memory 4M", "");
        session.check(cell, "495000");
    }
}

#[test]
fn items_that_are_shown_come_in_fewer_at_a_time_where_there_is_no_room() {
    let mut session = Transcript::new();
    session.check(":set memory 4M", "");
    let shown = session.eval("streamOut (map sum (map sort (produce 200 (\\i -> iota 50000))))");
    assert_eq!(shown, vec!["1249975000"; 200].join("\n"));
}

#[test]
fn what_is_not_a_program_says_that_it_is_a_sequence() {
    let mut session = Transcript::new();
    session.check("s = stream \"ab\"", "s : seq char");
    let text = "a sequence : seq char\n(it becomes a program where it is consumed)";
    session.check(":fuse s", text);
    session.check(":save s \"s.npy\"", "E0502");
}

#[test]
fn one_item_that_does_not_fit_is_an_error() {
    let mut session = Transcript::new();
    session.check(":set memory 4M", "");
    session.check(
        "foldSeq (+) 0 (map (\\i -> last (sort (iota 1000000 + i))) (produce 3 (\\i -> i)))",
        "E0701",
    );
}

/// How many bytes kernels read and write for an expression.
fn moved(session: &mut Transcript, expression: &str) -> f64 {
    let told = session.eval(&format!(":time {expression}"));
    let (_, moved) = told.split_once("moved ").unwrap_or_else(|| panic!("{told}"));
    let moved = moved.split_whitespace().next().expect("a number");
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
    let number = |(unit, scale): (&str, f64)| {
        let digits: Option<f64> = moved.strip_suffix(unit)?.parse().ok();
        Some(digits? * scale)
    };
    units.into_iter().find_map(number).unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn what_is_collected_is_not_copied_for_every_chunk() {
    let mut session = Transcript::new();
    session.check(":backend cpu", "");
    // Each item is a chunk. What is made of one is written, read, and written to its place.
    for (what, bytes) in [
        ("collect (map (\\i -> replicate (600000 + i % 2) (u8 i)) (produce 40 (\\i -> i)))", 24e6),
        (
            "collect (map (\\i -> [replicate 300000 (u8 i), replicate (300000 + i % 2) 1u8]) (produce 40 (\\i -> i)))",
            24e6,
        ),
        ("elements (map (\\i -> replicate 600000 (u8 i)) (produce 40 (\\i -> i)))", 24e6),
        ("loop out = [] for i < 40 do out ++ [replicate (600000 + i % 2) (u8 i)]", 24e6),
        (
            "collect (map (\\i -> (i, replicate (600000 + i % 2) (u8 i))) (produce 40 (\\i -> i)))",
            24e6,
        ),
    ] {
        let moved = moved(&mut session, what);
        assert!(moved < 6.0 * bytes, "{what}: {moved} bytes of {bytes}");
    }
}

#[test]
fn sequences_without_end_can_be_interrupted() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    for cell in
        ["foldSeq (+) 0 (produce (2**60) (\\i -> i))", "streamOut (produce (2**60) (\\i -> i))"]
    {
        let cancel = Cancel::new();
        let later = cancel.clone();
        let timer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            later.cancel();
        });
        assert_eq!(session.eval_with(cell, &cancel), Outcome::Interrupted, "{cell}");
        timer.join().expect("it sleeps");
        session.check("x", "1");
    }
}
