//! Loops inside of apply-to-each as functions of one row, or as kernels with a thread for each, and loops inside of loops: that there are such functions, and
//! what happens where they give up, are interrupted, or come late. That they compute the right values, `native` shows with the page
//! `suite/compiled/rows.md`. They need a C compiler.

use std::io::{self, Write as _};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session, Sink, display};

/// A session on the CPU, whose functions are there at once, or when they are ready.
fn session(tier: &str) -> Session {
    let mut session = Session::new(&Config { memory: 1 << 30, io: false });
    for (mode, value) in [("backend", "cpu"), ("threads", "3"), ("tier", tier)] {
        session.set_mode(mode, value).expect("a mode of the session");
    }
    session
}

/// A session on the emulated device; none, after saying so, where that cannot be built.
fn emulated() -> Option<Session> {
    let has_compiler =
        Command::new("g++").arg("--version").output().is_ok_and(|found| found.status.success());
    if !has_compiler {
        // Past the capture of a passing test's output.
        let _ = writeln!(io::stderr(), "skipped: a test of rows on the emulated device: no g++");
        return None;
    }
    let mut session = session("1");
    session.set_mode("backend", "gpu-emulated").expect("a mode of the session");
    Some(session)
}

/// What a cell shows, and everything that it says.
fn run(session: &mut Session, cell: &str) -> (String, String) {
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
    assert!(matches!(outcome, Outcome::Done), "{cell}: {outcome:?} {:?}", sink.events);
    let value = sink.events.iter().rev().find_map(|event| match event {
        Event::Shown(shown) => Some(display::literal(&shown.value, &shown.ty)),
        _ => None,
    });
    (value.unwrap_or_default(), format!("{:?}", sink.events))
}

/// What the interpreter says that a program is.
fn interpreted(session: &mut Session, program: &str) -> String {
    session.set_mode("backend", "interp").expect("a mode");
    let (value, _) = run(session, program);
    session.set_mode("backend", "cpu").expect("a mode");
    value
}

/// How many kernels were launched, by the words of `:time`.
fn launches(said: &str) -> u64 {
    let (before, _) = said.split_once(" kernel launch").unwrap_or_else(|| panic!("{said}"));
    let number: String = before.chars().rev().take_while(char::is_ascii_digit).collect();
    number.chars().rev().collect::<String>().parse().expect("a number")
}

const DATA: &str = "\
g = { { (i * 7919 + j * 104729) % 1000 : j in iota 20 } : i in iota 100 }
w = { { (i * 31 + j * 17) % 10 : j in iota (i % 7) } : i in iota 100 }";

#[test]
fn a_loop_of_each_row_launches_nothing() {
    let mut session = session("1");
    run(&mut session, DATA);
    for program in [
        "{ (loop a = r for k < 20 do (a with [(a[k] + k) % 20] = a[k] + 1)) : r in g }",
        "{ (loop (a, i) = (r, 0) while i < length r && a[i] != 3 do ((a with [i] = a[i] * 2), i + 1)).0 : r in g }",
        "{ (loop a = r for k < length r do (a with [k] = a[k] + k)) : r in w }",
        "{ (loop a = r for k < 5 do { x * 3 + a[0] : x in a }) : r in g }",
    ] {
        let (found, said) = run(&mut session, &format!(":time {program}"));
        // What copies the state before its first turn, and packs rows that end by themselves.
        assert!(launches(&said) <= 2, "{program}: {said}");
        assert_eq!(found, interpreted(&mut session, program), "{program}");
    }
}

#[test]
fn a_loop_of_each_row_sees_what_is_made_for_it() {
    let mut session = session("1");
    run(&mut session, DATA);
    run(
        &mut session,
        "def mark a = loop t = replicate 7 0 for i < length a do (t with [a[i] % 7] = t[a[i] % 7] + i)",
    );
    for (program, most) in [
        ("{ mark (take i r ++ r) : r in g ; i in iota 100 }", 4),
        ("{ mark r[i:] : r in w ; i in { length q // 2 : q in w } }", 2),
        ("{ mark (drop (i % 9) g[0]) : i in iota 100 }", 2),
    ] {
        let (found, said) = run(&mut session, &format!(":time {program}"));
        assert!(launches(&said) <= most, "{program}: {said}");
        assert_eq!(found, interpreted(&mut session, program), "{program}");
    }
}

#[test]
fn rows_that_turn_out_to_differ_are_left_to_kernels() {
    let mut session = session("1");
    run(&mut session, DATA);
    for program in [
        "{ iterate r[0] (\\d -> (d with [0] = d[0] ++ [1])) [[0], [1]] : r in { take 1 q : q in [[3], [1]] } }",
        "{ loop d = [[], []] for x in r do (d with [0] = [x]) : r in take 8 w }",
        "{ loop d = replicate 3 [] for x in r do (d with [x % 3] = d[x % 3] ++ [x]) : r in w }",
    ] {
        let (found, said) = run(&mut session, &format!(":time {program}"));
        // Else the interpreter has decided.
        assert!(said.contains("on cpu"), "{program}: {said}");
        assert_eq!(found, interpreted(&mut session, program), "{program}");
    }
}

#[test]
fn a_function_comes_back_behind_a_turn_that_is_too_large_for_it() {
    let mut session = session("1");
    run(
        &mut session,
        "def marked n m = loop s = replicate m 0 for i < n do if i % 100 == 0 then { x + sum s : x in s } else (s with [i % m] = i)",
    );
    // A sum of more elements than functions add up, in every hundredth turn.
    let (found, said) = run(&mut session, ":time sum (marked 1000 5000)");
    assert!(launches(&said) < 100, "{said}");
    assert_eq!(found, interpreted(&mut session, "sum (marked 1000 5000)"));
}

/// How many plans there are, by the words of `:cache`.
fn plans(session: &mut Session) -> u64 {
    let (_, said) = run(session, ":cache");
    let (before, _) = said.split_once(" plans of ").unwrap_or_else(|| panic!("{said}"));
    let number: String = before.chars().rev().take_while(char::is_ascii_digit).collect();
    number.chars().rev().collect::<String>().parse().expect("a number")
}

#[test]
fn a_device_has_a_thread_for_each_row() {
    let Some(mut session) = emulated() else { return };
    run(&mut session, DATA);
    // How many kernels there are at most: what rows begin with, and whether any goes on.
    for (program, most) in [
        ("{ (loop a = r for k < 20 do (a with [(a[k] + k) % 20] = a[k] + 1)) : r in g }", 1),
        (
            "{ (loop (a, i) = (r, 0) while i < length r && a[i] != 3 do ((a with [i] = a[i] * 2), i + 1)).0 : r in g }",
            2,
        ),
        ("{ (loop a = r for k < length r do (a with [k] = a[k] + k)) : r in w }", 2),
        // An array as it was before a turn is needed: side by side.
        ("{ (loop a = r for k < 5 do { x * 3 + a[0] : x in a }) : r in g }", 99),
    ] {
        let (found, said) = run(&mut session, &format!(":time {program}"));
        assert!(launches(&said) <= most, "{program}: {said}");
        assert_eq!(launches(&said) <= 2, most <= 2, "{program}: {said}");
        session.set_mode("backend", "interp").expect("a mode");
        let (expected, _) = run(&mut session, program);
        session.set_mode("backend", "gpu-emulated").expect("a mode");
        assert_eq!(found, expected, "{program}");
        let (_, said) = run(&mut session, &format!(":fuse {program}"));
        assert_eq!(said.contains("Row by row on the GPU, a thread for each"), most <= 2, "{said}");
    }
    // What the rows were is still there.
    assert_eq!(run(&mut session, "sum (map sum g)").0, run(&mut session, "sum (flatten g)").0);
}

#[test]
fn a_device_has_one_thread_for_a_loop_with_nothing_parallel() {
    let Some(mut session) = emulated() else { return };
    run(
        &mut session,
        "xs = { i * i % 31 : i in iota 60 }\nm = { { i + j : j in iota 5 } : i in iota 4 }",
    );
    for (program, most) in [
        ("loop a = xs for i < 60 do (a with [i * 7 % 60] = a[i] + 1)", 1),
        ("loop s = 0 for x in xs do (s * 3 + x) % 1000", 1),
        ("loop (i, s) = (0, 0) while i < 60 && xs[i] != 7 do (i + 1, s + m[i % 4, i % 5])", 1),
        // A loop in a loop, a search for what an element is worth, and what a kernel has computed.
        (
            "(loop (a, s) = (xs, sum xs) for i < 5 do (loop (b, t) = (a, s) for j < i do ((b with [j] = t % 100), t + b[j + 1]))).0",
            2,
        ),
        // An array as it was before is needed, or there is work on whole arrays.
        ("loop a = xs for i < 3 do (a with [i] = sum a % 50)", 99),
    ] {
        let (found, said) = run(&mut session, &format!(":time {program}"));
        assert_eq!(launches(&said) <= 2, most <= 2, "{program}: {said}");
        assert!(launches(&said) <= most, "{program}: {said}");
        session.set_mode("backend", "interp").expect("a mode");
        let (expected, _) = run(&mut session, program);
        session.set_mode("backend", "gpu-emulated").expect("a mode");
        assert_eq!(found, expected, "{program}");
        let (_, said) = run(&mut session, &format!(":fuse {program}"));
        assert_eq!(said.contains("On one thread of the GPU:"), most <= 2, "{said}");
    }
    // An index beyond the array is said as ever.
    let mut sink = Collected::default();
    session.eval(Cell::typed("loop s = 0 for i < 61 do s + xs[i]"), &mut sink, &Cancel::new());
    let said = format!("{:?}", sink.events);
    assert!(said.contains("E0601") && said.contains("60"), "{said}");
}

#[test]
fn a_row_that_never_ends_on_a_device_can_be_interrupted() {
    let Some(mut session) = emulated() else { return };
    let later = Duration::from_millis(300);
    runs_until_interrupted(&mut session, &mut Collected::default(), &Cancel::new(), later);
}

#[test]
fn rows_that_are_too_long_for_a_function_are_left_to_kernels() {
    let mut session = session("1");
    let program = "{ sum (loop a = { i * x : i in iota n } for k < 9 do { y * 3 + a[k] : y in a }) : x in iota 4 }";
    // How many kernels it launches for rows of that length, and how many plans are made for that.
    let runs = |session: &mut Session, length: usize| {
        run(session, &format!("n = {length}"));
        let before = plans(session);
        let (found, said) = run(session, &format!(":time {program}"));
        let made = plans(session) - before;
        session.set_mode("backend", "interp").expect("a mode");
        assert_eq!(found, run(session, program).0, "{length}");
        session.set_mode("backend", "cpu").expect("a mode");
        (launches(&said), made)
    };
    // Before the loop and behind it; the loop is a function.
    let (around, made) = runs(&mut session, 10);
    assert!(around <= 2 && made == 1, "{around} {made}");
    // The same function, for more than pays surely: without a trial on this tier. Sums are those of three levels of a tree.
    let (much, made) = runs(&mut session, 5000);
    assert!(much <= around && made == 0, "{much} {made}");
    // It has no room for these rows.
    let (launched, made) = runs(&mut session, 140_000);
    assert!(launched >= around + 9 && made == 0, "{launched} {made}");
}

#[test]
fn rows_of_many_elements_are_folded_in_the_tree_of_the_language() {
    let mut session = session("1");
    let program = "{ loop s = 0.1 for k < 3 do s + sum { 0.1 + s * f64 (i + x) : i in iota n } : x in iota 4 }";
    for length in [0, 1, 63, 64, 65, 4095, 4096, 4097, 4160, 4161, 8191, 8192, 8193, 12_345] {
        run(&mut session, &format!("n = {length}"));
        let (found, said) = run(&mut session, &format!(":time {program}"));
        assert!(launches(&said) <= 2, "{length}: {said}");
        assert_eq!(found, interpreted(&mut session, program), "{length}");
    }
}

#[test]
fn a_loop_of_many_elements_at_each_row_is_tried_out() {
    // How many turns there are differs, as does what there is to do in one: it may be lost or won, at any turn.
    let mut session = session("auto");
    let program = "{ sum (loop a = { f64 (i * x) : i in iota 1000 } for k < 12 * x do { y * 0.5 + sum a / 1000.0 : y in a }) : x in iota 12 }";
    let expected = interpreted(&mut session, program);
    for _ in 0..12 {
        assert_eq!(run(&mut session, program).0, expected);
    }
}

/// Interrupts a run when it is told how many rows are done, which functions of rows count alone.
struct Impatient {
    cancel: Cancel,
    rows: u64,
    told: bool,
}

impl Sink for Impatient {
    fn event(&mut self, event: Event) {
        if let Event::Progress(Some(progress)) = event
            && progress.total == self.rows
        {
            self.told = true;
            self.cancel.cancel();
        }
    }
}

#[test]
fn a_row_that_never_ends_can_be_interrupted() {
    let cancel = Cancel::new();
    let mut sink = Impatient { cancel: cancel.clone(), rows: 100, told: false };
    // Were it not told, it would not end.
    let later = Duration::from_secs(60);
    runs_until_interrupted(&mut session("1"), &mut sink, &cancel, later);
    assert!(sink.told);
}

/// Runs rows that never end, and interrupts that at the latest after so long.
fn runs_until_interrupted(
    session: &mut Session,
    sink: &mut dyn Sink,
    cancel: &Cancel,
    later: Duration,
) {
    run(session, DATA);
    let outcome = thread::scope(|scope| {
        let (over, is_over) = mpsc::channel::<()>();
        scope.spawn(move || {
            if is_over.recv_timeout(later) == Err(RecvTimeoutError::Timeout) {
                cancel.cancel();
            }
        });
        let cell = Cell::typed("{ (loop a = r while a[0] >= 0 do (a with [1] = a[0])) : r in g }");
        let outcome = session.eval(cell, sink, cancel);
        drop(over);
        outcome
    });
    assert!(matches!(outcome, Outcome::Interrupted), "{outcome:?}");
    assert_eq!(run(session, "sum (map sum g)").0, run(session, "sum (flatten g)").0);
}

#[test]
fn a_turn_that_takes_long_is_given_up_for_the_function() {
    let mut session = session("auto");
    // Row by row some milliseconds. Side by side the loop inside has no function of its own, as an element that it sees
    // may be out of range, and takes 8 times 24,000 turns of several launches: longer than a compiler on a busy machine.
    run(&mut session, "ws = { 12 + 11 * i : i in iota 8 }");
    let definition = "\
def best (ws : []i64) (n : i64) : i64 =
  (loop best = fill (n + 1) 0 for i < length ws do
    (loop b = best for c < n + 1 do
      (let w = ws[i] in let at = c - w in if at < 0 then b else (b with [c] = max b[c] (b[at] + w + i)))))[n]";
    run(&mut session, definition);
    let program = "{ best ws (24_000 - k) : k in iota 14 }";
    let (found, said) = run(&mut session, &format!(":time {program}"));
    assert!(launches(&said) < 300_000, "{said}");
    session.set_mode("backend", "interp").expect("a mode");
    assert_eq!(found, run(&mut session, program).0);
}

#[test]
fn rows_that_many_points_see_are_not_copied_for_each() {
    let mut session = session("1");
    // 400 rows of 2000, of which each point sees two: 160 000 points, 600 MB of copies.
    run(&mut session, "h = { { i + j : j in iota (2000 - i) } : i in iota 400 }");
    session.set_mode("memory", "256M").expect("a limit");
    let program = "sum (flatten (flatten { { (loop a = [y[0], 0] for k < 3 do (a with [0] = a[0] + x[k] + y[k])) : y in h } : x in h }))";
    assert_eq!(run(&mut session, program).0, "224400000");
}

#[test]
fn more_rows_without_elements_than_can_be_counted() {
    let mut session = session("1");
    for program in [
        "sum (flatten { (loop a = r for k < 3 do map (+ 1) a) : r in fill (2 ** 36, 0) 1 })",
        "sum (flatten { (loop a = r for k < length r do (a with [k] = 1)) : r in fill (2 ** 34, 0) 1 })",
    ] {
        assert_eq!(run(&mut session, program).0, "0", "{program}");
    }
}

#[test]
fn the_report_on_fusion_names_such_loops() {
    let mut session = session("1");
    run(&mut session, DATA);
    let (_, said) =
        run(&mut session, ":fuse { (loop a = r for k < 3 do (a with [k] = a[k] + k)) : r in g }");
    let (_, behind) = said.split_once("Row by row on the CPU").unwrap_or_else(|| panic!("{said}"));
    assert!(behind.contains("loop a = r for k < 3"), "{said}");
    // A loop of scalars is a part of its kernel.
    let (_, said) = run(&mut session, ":fuse { (loop s = 0 for k < 3 do s + r[k]) : r in g }");
    assert!(!said.contains("Row by row"), "{said}");
}

#[test]
fn what_is_known_before_a_loop_of_rows_may_come_of_what_may_fail() {
    let mut session = session("1");
    run(&mut session, DATA);
    let adds = "{ (loop a = r for k < 20 do (a with [k] = a[k] + ys[k])) : r in g }";
    let program = format!(
        "let n = sum {{ x // length w : x in flatten g }} in let ys = replicate 20 n in {adds}"
    );
    let (_, said) = run(&mut session, &format!(":fuse {program}"));
    assert!(said.contains("Row by row on the CPU"), "{said}");
    let (found, _) = run(&mut session, &program);
    assert_eq!(found, interpreted(&mut session, &program));
    let program = format!("let n = length g // length w in let ys = replicate 20 n in {adds}");
    let (_, said) = run(&mut session, &format!(":fuse {program}"));
    assert!(said.contains("Row by row on the CPU"), "{said}");
    // What only a turn would divide is not divided before the loop where there are no turns.
    run(&mut session, "z = 0");
    for (turns, by) in [("z", "z"), ("(r[0] - r[0])", "z"), ("(r[0] - r[0])", "(z * r[1])")] {
        let program = format!(
            "{{ (loop a = r for k < {turns} do (a with [k] = a[k] + 7 // {by})) : r in g }}"
        );
        let (found, said) = run(&mut session, &format!(":time {program}"));
        assert!(said.contains("on cpu"), "{program}: {said}");
        assert_eq!(found, interpreted(&mut session, &program), "{program}");
    }
}

#[test]
fn a_loop_inside_of_a_loop_replaces_elements_where_they_are() {
    let mut session = session("1");
    run(&mut session, "b = { i * 7919 % 11 : i in iota 150000 }");
    let definition = "\
def lcs (a : []i64) (b : []i64) = last (loop prev = fill (length b + 1) 0 for c in a do
  loop row = fill (length b + 1) 0 for j < length b do
    (row with [j + 1] = if b[j] == c then prev[j] + 1 else max row[j] prev[j + 1]))";
    run(&mut session, definition);
    // Of two arrays one is state of the loop outside, and the other one is copied before the loop inside begins.
    let beside = "\
def beside n = loop (a, s) = (iota n, 0) for i < 30 do
  let (c, d) = loop (c, d) = (a, replicate n i) for j < n do
    ((c with [j] = (c[j] + d[j]) % 97), (d with [(j * 3) % n] = (c[j] + j) % 17))
  in (c, s + sum d)";
    run(&mut session, beside);
    let (_, said) = run(&mut session, ":time (beside 20).1");
    assert_eq!(launches(&said), 1, "{said}");
    let (found, said) = run(&mut session, ":time (beside 4000).1");
    assert_eq!(launches(&said), 1, "{said}");
    assert_eq!(found, interpreted(&mut session, "(beside 4000).1"));
    // The whole is one function, in which the loop inside replaces elements of a row of its own. Longer rows are left to the
    // host, and to a function of the loop inside.
    for (rows, columns, most) in
        [(30, 20, 0..2), (30, 4000, 0..2), (30, 20_000, 0..2), (4, 140_000, 5..20)]
    {
        let program = format!("lcs (take {rows} b) (take {columns} b)");
        let (found, said) = run(&mut session, &format!(":time {program}"));
        assert!(most.contains(&launches(&said)), "{columns}: {said}");
        assert_eq!(found, interpreted(&mut session, &program));
    }
}

#[test]
fn loops_that_sort_launch_nothing() {
    let mut session = session("1");
    let program =
        "loop xs = [7] for i < 50 do take n (unique (xs ++ { (i * i + k) % 101 : k in iota n }))";
    run(&mut session, "n = 20");
    let (found, said) = run(&mut session, &format!(":time {program}"));
    assert_eq!(launches(&said), 0, "{said}");
    assert_eq!(found, interpreted(&mut session, program));
    // What is sorted soon is too long for the function.
    run(&mut session, "n = 600");
    let (found, said) = run(&mut session, &format!(":time {program}"));
    assert!(launches(&said) > 100, "{said}");
    assert_eq!(found, interpreted(&mut session, program));
    // The rows of a matrix go through it one after the other.
    run(&mut session, "m = chunks 12 { k * 7919 % 97 : k in iota 6000 }");
    let program = "{ sum (loop a = r for i < 9 do take 12 (sort (a ++ [i * 17 % 31]))) : r in m }";
    let (found, said) = run(&mut session, &format!(":time {program}"));
    assert!(launches(&said) <= 2, "{said}");
    assert_eq!(found, interpreted(&mut session, program));
}
