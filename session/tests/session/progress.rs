//! How far long cells have come.

use weft_session::{Cancel, Cell, Event, Outcome, Progress, Session, Sink};

use crate::transcript::CONFIG;

/// Stops the cell as soon as it is known to move on.
struct Impatient {
    cancel: Cancel,
    told: Vec<Progress>,
}

impl Sink for Impatient {
    fn event(&mut self, event: Event) {
        if let Event::Progress(Some(progress)) = event {
            if self.told.first().is_some_and(|first| progress.done > first.done) {
                self.cancel.cancel();
            }
            self.told.push(progress);
        }
    }
}

/// Runs a cell that takes too long, which must tell of work of that size.
#[track_caller]
fn check(backend: &str, code: &str, total: u64) {
    let mut session = Session::new(&CONFIG);
    session.set_mode("backend", backend).unwrap();
    let cancel = Cancel::new();
    let mut sink = Impatient { cancel: cancel.clone(), told: Vec::new() };
    let outcome = session.eval(Cell::typed(code), &mut sink, &cancel);
    assert_eq!(outcome, Outcome::Interrupted, "{code}");
    assert!(sink.told.len() > 1, "{code} told nothing");
    for progress in sink.told {
        assert_eq!(progress.total, total, "{code}");
        assert!(progress.activity.starts_with("evaluating In[1]"), "{}", progress.activity);
    }
    assert_eq!(cancel.progress(), None, "{code}");
}

#[test]
fn long_kernels_tell_how_far_they_have_come() {
    check("cpu", "sum { sqrt (f64 i) : i in iota 60000000000 }", 60_000_000_000);
    // Of integers, since a product of floats takes hardly more than a second.
    check("cpu", "m = fill (4000, 4000) 3\np = matmul m m", 16_000_000);
}

#[test]
fn lines_that_run_together_tell_how_far_they_have_come() {
    let cell = "v = f64 (iota 10)
s = sum v + sum { sqrt (f64 i) : i in iota 60000000000 }
t = maximum v";
    check("cpu", cell, 60_000_000_000);
}

#[test]
fn few_points_with_much_work_each_tell_how_far_they_have_come() {
    check("cpu", "{ (loop x = i for k < 400000 do (x * 5 + k) % 1001) : i in iota 8000 }", 8000);
}

#[test]
fn loops_that_count_tell_how_far_they_have_come() {
    let step = "(\\v -> { (x * 3 + 1) % 1000 : x in v })";
    check("cpu", &format!("iterate 1000000000 {step} (iota 100000)"), 1_000_000_000);
    check("cpu", "loop x = 0 for i < 10 ** 11 do (x + i) % 7", 100_000_000_000);
}

#[test]
fn loops_that_run_row_by_row_tell_how_many_rows_are_done() {
    let rows = "{ { i + j : j in iota 20 } : i in iota 4000 }";
    let turns = "(loop (a, k) = (r, 0) while k < 10 ** 6 do ((a with [k % 20] = k), k + 1)).0";
    check("cpu", &format!("{{ {turns} : r in {rows} }}"), 4000);
}

#[test]
fn so_do_sequences() {
    check("cpu", "foldSeq (+) 0 (produce (10 ** 10) (\\i -> i % 7))", 32);
    check("interp", "foldSeq (+) 0 (produce (10 ** 8) (\\i -> i % 7))", 32);
    // Of what is shown one after the other, the items count.
    let slow = "streamOut (produce 1000 (\\i -> loop x = i for j < 10 ** 6 do (x + j) % 7))";
    check("cpu", slow, 1000);
    check("interp", slow, 1000);
}

#[test]
fn so_does_the_interpreter() {
    check("interp", "loop x = 0 for i < 10 ** 11 do (x + i) % 7", 100_000_000_000);
    check("interp", "iterate 1000000000 (\\x -> (x * 3 + 1) % 1000) 1", 1_000_000_000);
    let endless = "loop x = i for j < 10 ** 5 do (x + j) % 7";
    check("interp", &format!("sum {{ {endless} : i in iota 100000 }}"), 100_000);
    check("interp", &format!("sum (map (\\i -> {endless}) (iota 100000))"), 100_000);
}

/// Stops a comparison when the first interpreter is at work.
struct Comparing {
    cancel: Cancel,
    progress: Vec<Progress>,
    texts: Vec<String>,
}

impl Sink for Comparing {
    fn event(&mut self, event: Event) {
        match event {
            Event::Progress(Some(progress)) => {
                if progress.activity.contains("on flat") {
                    self.cancel.cancel();
                }
                self.progress.push(progress);
            }
            Event::Text(text) => self.texts.push(text),
            _ => {}
        }
    }
}

#[test]
fn a_comparison_tells_which_engine_runs_and_what_is_known_when_it_is_interrupted() {
    let mut session = Session::new(&CONFIG);
    session.set_mode("tier", "0").unwrap();
    let cancel = Cancel::new();
    let mut sink = Comparing { cancel: cancel.clone(), progress: Vec::new(), texts: Vec::new() };
    let cell = Cell::typed(":compare sum { sqrt (f64 i) : i in iota 40000000 }");
    let outcome = session.eval(cell, &mut sink, &cancel);
    assert_eq!(outcome, Outcome::Interrupted, "{:?}", sink.texts);
    let last = sink.progress.last().expect("it tells what runs");
    assert_eq!(last.activity, "comparing In[1]:1 on flat");
    assert!(last.done >= 3 && last.total > last.done, "{last:?}");
    let text = sink.texts.concat();
    let lines: Vec<&str> = text.lines().collect();
    let says = |name: &str, verdict: &str| {
        lines.iter().any(|line| line.starts_with(name) && line.contains(verdict))
    };
    assert!(says("cpu  ", "1686548"), "{text}");
    assert!(says("cpu, no fusion", "the same bits"), "{text}");
    assert!(says("cpu, no sharing", "the same bits"), "{text}");
    assert!(says("flat", "interrupted"), "{text}");
    assert!(lines.last() == Some(&"not begun: interp; nested"), "{text}");
    assert_eq!(cancel.progress(), None);
}
