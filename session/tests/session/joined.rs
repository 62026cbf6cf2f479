//! Lines of a cell that run as one program: the same answers as one by one, with fewer kernels.

use std::sync::{Arc, Weak};

use weft_ir::{Array, Value};
use weft_session::{Cancel, Cell, Collected, Event, Outcome, Session, Sink};

use crate::transcript::{CONFIG, Transcript};

/// A session on threads of the CPU, whose lines run together or not.
fn session(join: &str) -> Transcript {
    let mut transcript = Transcript::new();
    for (mode, value) in [("backend", "cpu"), ("threads", "2"), ("join", join)] {
        transcript.session.set_mode(mode, value).expect("a mode");
    }
    transcript
}

/// The kernels of a cell, and the bytes that they move.
fn kernels(session: &mut Transcript, cell: &str) -> (u64, u64) {
    let mut sink = Collected::default();
    let outcome = session.session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
    assert!(matches!(outcome, Outcome::Done), "{cell}: {outcome:?}");
    let footer = sink.events.iter().find_map(|event| match event {
        Event::Footer(footer) => Some(footer),
        _ => None,
    });
    let footer = footer.expect("a cell that ran has a footer");
    (footer.cache_hits + footer.cache_misses, footer.bytes_moved)
}

#[test]
fn lines_that_read_one_array_are_one_kernel() {
    let cell = "s = sum xs\nm = maximum xs";
    let (mut together, mut apart) = (session("on"), session("off"));
    for session in [&mut together, &mut apart] {
        session.check("xs = f64 (iota 100000)", "xs : [100000]f64");
    }
    // The array is read once.
    assert_eq!(kernels(&mut together, cell), (1, 800_000));
    assert_eq!(kernels(&mut apart, cell), (2, 1_600_000));
    together.check("(s, m)", "(4999950000.0, 99999.0)");
    assert_eq!(together.session.statistics().joined, 1);
    assert_eq!(apart.session.statistics().joined, 0);
}

#[test]
fn a_line_reads_what_the_line_before_makes() {
    let cell = "n = 100000\nxs = f64 (iota n)\nys = xs * 0.5 + 1.0\nsum (ys * ys)";
    // Two arrays are written, and none is read.
    assert_eq!(kernels(&mut session("on"), cell), (1, 1_600_000));
    assert_eq!(kernels(&mut session("off"), cell).0, 3);
    session("on").check(cell, "n : i64\nxs : [100000]f64\nys : [100000]f64\n83337083387500.0");
}

#[test]
fn lines_that_nothing_connects_stay_apart() {
    let mut session = session("on");
    session.eval("xs = f64 (iota 100)\nys = iota 50");
    session.eval("a = sum xs\nb = sum ys\nc = a + 1.0");
    assert_eq!(session.session.statistics().joined, 0);
    session.eval("a = sum xs\nb = sum ys\nc = maximum xs");
    assert_eq!(session.session.statistics().joined, 1);
}

#[test]
fn numbers_of_a_cell_are_no_part_of_its_kernels() {
    let mut session = session("on");
    let cell = "n = 1000\nk = 2.0 * 1.5\nxs = f64 (iota n) * k\nys = xs + k\nsum (xs * ys)";
    let misses = |session: &mut Transcript, cell: &str| {
        let mut sink = Collected::default();
        session.session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
        let footers = sink.events.iter().filter_map(|event| match event {
            Event::Footer(footer) => Some(footer.cache_misses),
            _ => None,
        });
        footers.sum::<u64>()
    };
    assert_eq!(misses(&mut session, cell), 1);
    assert_eq!(misses(&mut session, &cell.replace("1000", "2000").replace("1.5", "2.5")), 0);
}

#[test]
fn definitions_and_shadowed_names_do_no_harm() {
    let mut session = session("on");
    let cell = "a = iota 4
def f (v : []i64) = v * a
b = f a
type t = []i64
a = reverse a
(lo, (hi, c)) = (minimum b, (maximum b, f a))
_ = sum c
sum (a * 10 + c)";
    session.check(
        cell,
        "a : [4]i64\nf : []i64 -> []i64\nb : [4]i64\ntype t\na : [4]i64\nlo : i64\nhi : i64\nc : [4]i64\n64",
    );
    session.check("(lo, hi)", "(0, 9)");
    session.check("a * 1000 + b * 10 + c", "[4]i64 [3000, 2012, 1042, 90]");
    // What reverses an array reads it in another order: a new group.
    assert_eq!(session.session.statistics().joined, 2);
    session.check(":goto 0", "as at the start");
    session.check("b", "E0201");
}

#[test]
fn an_error_is_that_of_the_first_line_that_has_one() {
    let lines =
        ["a = { 7 // x : x in xs }", "b = xs[k]", "c = xs ++ xs", "d = maximum (take (k - 3) xs)"];
    for (xs, k) in
        [("[1, 2, 3]", 1), ("[1, 0, 3]", 1), ("[1, 2, 3]", 3), ("[1, 0, 3]", 9), ("[1, 2, 3]", 4)]
    {
        for skipped in 0..=lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != skipped);
            let kept: Vec<&str> = kept.map(|(_, line)| *line).collect();
            let cell = format!("xs = {xs}\nk = {k}\n{}\nsum xs", kept.join("\n"));
            let (mut together, mut apart) = (session("on"), session("off"));
            let expected = apart.eval(&cell);
            assert_eq!(together.eval(&cell), expected, "{cell}");
            assert_eq!(together.last_report(), apart.last_report(), "{cell}");
            assert_eq!(together.eval("a"), apart.eval("a"), "{cell}");
        }
    }
}

#[test]
fn what_has_no_room_together_runs_one_by_one() {
    let mut session = session("on");
    session.session.set_mode("memory", "1M").expect("a mode");
    let cell = "a = f64 (iota 100000)\nb = a + 1.0\nc = b * 2.0";
    let told = "a : [100000]f64\nb : [100000]f64\nc : [100000]f64";
    session.check(cell, told);
    assert_eq!(session.session.statistics().apart, 1);
    session.check("c[99999]", "200000.0");
    // That is known from now on.
    session.check(cell, told);
    let statistics = session.session.statistics();
    assert_eq!((statistics.joined, statistics.apart), (0, 2));
}

#[test]
fn a_line_that_is_not_compiled_runs_alone() {
    let mut session = session("on");
    // What sorts inside an operator runs on the interpreter.
    let cell = "m = [[1, 2], [3, 4]]
a = map sum m
b = fold (\\x y -> (sort [x, y, 1])[0]) 9 a
c = a + b
d = sum (a * c)
d + sum c";
    session.check(cell, "m : [2][2]i64\na : [2]i64\nb : i64\nc : [2]i64\nd : i64\n80");
    let statistics = session.session.statistics();
    assert_eq!((statistics.unsupported, statistics.joined), (1, 1), "{statistics:?}");
}

#[test]
fn rows_keep_the_layout_that_they_turn_out_to_have() {
    let mut session = session("on");
    let cell = "parts = segments [2, 2, 2] (iota 6)\nt = transpose parts\nsum t";
    session.check(cell, "parts : [3][2]i64\nt : [2][3]i64\n[2]i64 [6, 9]");
    assert_eq!(session.session.statistics().faults, 0);
}

#[test]
fn what_is_read_again_and_again_is_in_memory_before() {
    let mut session = session("on");
    session.check("m = fill (3, 3) 1.5\np = matmul m m", "m : [3][3]f64\np : [3][3]f64");
    session.check("xs = iota 4\nd = { sum (abs (xs - x)) : x in xs }", "xs : [4]i64\nd : [4]i64");
    assert_eq!(session.session.statistics().joined, 0);
    // Its rows are read once.
    session.check("q = p * 2.0\ns = { maximum row : row in q }", "q : [3][3]f64\ns : [3]f64");
    let statistics = session.session.statistics();
    assert_eq!((statistics.joined, statistics.apart), (1, 0));
}

/// Notes which of the arrays shown so far are still there when the next one is shown.
#[derive(Default)]
struct Watching {
    shown: Vec<Weak<Array>>,
    alive: Vec<usize>,
}

impl Sink for Watching {
    fn event(&mut self, event: Event) {
        if let Event::Shown(shown) = event
            && let Value::Array(array) = &shown.value
        {
            self.alive.push(self.shown.iter().filter(|array| array.strong_count() > 0).count());
            self.shown.push(Arc::downgrade(array));
        }
    }
}

#[test]
fn a_shown_value_that_nothing_can_ask_for_is_let_go() {
    let mut session = Session::new(&CONFIG);
    let mut sink = Watching::default();
    let cell = "a = iota 5\na + 1\na + 2\na + 3\nb = it\na + 4\na + 5";
    session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
    assert_eq!(sink.alive, [0, 0, 0, 0, 0]);
    let (value, _) = session.value("b").expect("it is bound");
    assert_eq!(value.bytes(), 40);
    let mut sink = Watching::default();
    session.eval(Cell::typed("a\nit + 1\n:vars\n[it, it]"), &mut sink, &Cancel::new());
    let outcome = session.eval(Cell::typed("sum (flatten it)"), &mut sink, &Cancel::new());
    assert_eq!(outcome, Outcome::Done);
}

/// A stream of numbers, the same in every run.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const INTEGERS: [&str; 3] = ["a", "b", "c"];
const FLOATS: [&str; 2] = ["f", "g"];
const SCALARS: [&str; 2] = ["s", "t"];

/// A line of a cell; `I`, `J` stand for arrays of integers, `F` for one of floats, `S`, `T` for scalars.
fn line(choices: &mut Choices) -> String {
    const LINES: &[&str] = &[
        "I = J + I",
        "I = map (\\x -> x * 3 - S) J",
        "I = scan (+) S J",
        "I = filter (\\x -> x > S) J",
        "I = reverse J",
        "I = sort J",
        "I = iota (S % 9)",
        "I = { x // S : x in J }",
        "I = take 3 J",
        "I = take (min 12 (length J)) (I ++ J)",
        "I = histogram 8 (abs J % 8)",
        "I = { J[i] : i in iota (length I) }",
        "I = step J",
        "I = sum (outer (\\x y -> x - y) I J)",
        "I = flatten (chunks 2 J)",
        "I = sum (chunks 2 J)",
        "I = first (sort I) + J",
        "F = f64 J",
        "F = F * 0.5 + sqrt (abs F)",
        "F = { x - sum F : x in F }",
        "F = sum (matmul [F, F] (transpose [F, F]))",
        "S = sum J",
        "S = maximum J % 5",
        "S = T + 1",
        "S = length J",
        "S = J[0]",
        "S = S // T",
        "S = 2",
        "S = i64 (floor (sum F * 0.001))",
        "(S, I) = (count (J > S), reverse I)",
        "(I, (S, _)) = (J * 2, (T, J))",
        "def step v = map (\\x -> x + S) v",
        "def step v = v + J",
    ];
    const SHOWN: &[&str] = &["I", "sum J", "F", "(S, I)", "S;", "it", "step", ":vars"];
    let template = match choices.below(8) {
        0 => choices.one(SHOWN),
        _ => choices.one(LINES),
    };
    if template.starts_with(':') || template == "step" {
        return template.to_owned();
    }
    let (i, j) = (choices.one(&INTEGERS), choices.one(&INTEGERS));
    let f = choices.one(&FLOATS);
    let (s, t) = (choices.one(&SCALARS), choices.one(&SCALARS));
    let named = |letter: char| match letter {
        'I' => i.to_owned(),
        'J' => j.to_owned(),
        'F' => f.to_owned(),
        'S' => s.to_owned(),
        'T' => t.to_owned(),
        other => other.to_string(),
    };
    template.chars().map(named).collect()
}

const START: &str = "a = [3, 1, 2, 5]\nb = iota 4 + 1\nc = [2, 2, 7]\nf = [0.5, 1.5, 2.5]\n\
                     g = [4.0, 1.0]\ns = 2\nt = 3\ndef step v = v * 2\n0";

#[test]
fn random_cells_say_the_same_joined_and_one_by_one() {
    let names = INTEGERS.iter().chain(&FLOATS).chain(&SCALARS);
    let (mut joined, mut failed) = (0, 0);
    for seed in 0..25 {
        let mut choices = Choices(seed);
        let mut sessions = [session("on"), session("off")];
        sessions.iter_mut().for_each(|session| assert!(!session.eval(START).is_empty()));
        for _ in 0..5 {
            let count = 2 + choices.below(20);
            let lines: Vec<String> = (0..count).map(|_| line(&mut choices)).collect();
            let cell = lines.join("\n");
            let [together, apart] = &mut sessions;
            let expected = apart.eval(&cell);
            assert_eq!(together.eval(&cell), expected, "seed {seed}, in the cell\n{cell}");
            assert_eq!(together.last_report(), apart.last_report(), "seed {seed}\n{cell}");
            failed += usize::from(!apart.last_report().is_empty());
            for name in names.clone() {
                let value = |session: &Transcript| session.session.value(name);
                let same = match (value(together), value(apart)) {
                    (Some((one, _)), Some((other, _))) => one.same_bits(&other),
                    (one, other) => one.is_none() && other.is_none(),
                };
                assert!(same, "seed {seed}: `{name}` differs after the cell\n{cell}");
            }
        }
        let statistics = sessions[0].session.statistics();
        assert_eq!(statistics.bugs, 0, "seed {seed}");
        joined += statistics.joined;
    }
    assert!(joined > 60 && failed > 10, "{joined} groups, {failed} cells that fail");
}
