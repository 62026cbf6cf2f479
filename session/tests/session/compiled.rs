//! What a cell compiles: a changed line compiles its own kernels only.

use weft_session::{Cancel, Cell, Collected, Event, Footer, Outcome, Session};

use crate::transcript::CONFIG;
use crate::transcript::Transcript;

/// Kernels that a cell found compiled, and kernels that it compiled.
fn cache(session: &mut Session, cell: &str) -> (u64, u64) {
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
    assert!(matches!(outcome, Outcome::Done), "{cell}: {outcome:?}");
    let footers = sink.events.iter().filter_map(|event| match event {
        Event::Footer(footer) => Some(footer),
        _ => None,
    });
    footers.fold((0, 0), |(hits, misses), footer: &Footer| {
        (hits + footer.cache_hits, misses + footer.cache_misses)
    })
}

const CELL: &str = "xs = map f64 (iota 100)
ys = map (\\x -> exp x * 2.0) xs
zs = scan (+) 0.0 ys
maximum zs";

#[test]
fn a_changed_line_compiles_its_kernels_only() {
    let mut session = Session::new(&CONFIG);
    session.set_mode("backend", "cpu").expect("a back end");
    session.set_mode("join", "off").expect("a mode");
    assert_eq!(cache(&mut session, CELL), (0, 4));
    assert_eq!(cache(&mut session, CELL), (4, 0));
    assert_eq!(cache(&mut session, &CELL.replace("2.0", "3.0")), (3, 1));
    // Names are no part of a kernel, and neither are lengths.
    let renamed = CELL.replace("ys", "other").replace("100", "200");
    assert_eq!(cache(&mut session, &renamed), (4, 0));
    let mut sink = Collected::default();
    session.eval(Cell::typed(":cache"), &mut sink, &Cancel::new());
    let told = sink.events.iter().any(|event| match event {
        Event::Text(text) => text.contains("cell 3: 3 of 4 kernels were in the cache"),
        _ => false,
    });
    assert!(told, "{:?}", sink.events);
}

#[test]
fn a_changed_line_compiles_the_kernels_of_its_group_only() {
    let mut session = Session::new(&CONFIG);
    session.set_mode("backend", "cpu").expect("a back end");
    let cell = format!("{CELL}\nus = iota 50\nvs = us * us + 2\nsum vs");
    let kernels = cache(&mut session, &cell);
    assert_eq!(kernels, (0, 3));
    assert_eq!(cache(&mut session, &cell), (3, 0));
    assert_eq!(cache(&mut session, &cell.replace("us + 2", "us + 3")), (2, 1));
    assert_eq!(cache(&mut session, &cell.replace("100", "200")), (3, 0));
}

#[test]
fn modes_change_kernels_and_no_result() {
    let mut session = Session::new(&CONFIG);
    session.set_mode("backend", "cpu").expect("a back end");
    let cell = "xs = map f64 (iota 100)\nsum (xs * xs + 1.0)";
    let kernels = |(hits, misses)| hits + misses;
    assert_eq!(kernels(cache(&mut session, cell)), 1);
    session.set_mode("join", "off").expect("a mode");
    assert_eq!(kernels(cache(&mut session, cell)), 2);
    session.set_mode("fusion", "off").expect("a mode");
    assert_eq!(kernels(cache(&mut session, cell)), 4);
}

/// Long for the emulated device, so it is no page.
#[test]
fn a_loop_that_its_body_needs_takes_more_turns_than_an_idle_one() {
    let cell = "{ x + sum (loop a = [3, 1, 2] while sum a < 70000 do a + 1) : x in [3, 1] }";
    let mut session = Session::new(&CONFIG);
    for backend in ["interp", "nested", "flat", "cpu"] {
        session.set_mode("backend", backend).expect("a back end");
        let mut sink = Collected::default();
        session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
        let is_shown = |event: &Event| match event {
            Event::Shown(shown) => shown
                .text(80, false, &Cancel::new())
                .is_some_and(|text| text.ends_with("[70005, 70003]")),
            _ => false,
        };
        assert!(sink.events.iter().any(is_shown), "{backend}: {:?}", sink.events);
    }
}

/// How many plans were made for a cell that ends with a fault.
fn plans_of_fault(session: &mut Session, cell: &str) -> u64 {
    let before = plans(session);
    let outcome = session.eval(Cell::typed(cell), &mut Collected::default(), &Cancel::new());
    assert!(matches!(outcome, Outcome::Failed(_)), "{cell}: {outcome:?}");
    plans(session) - before
}

/// How many plans `:cache` counts.
fn plans(session: &mut Session) -> u64 {
    let mut sink = Collected::default();
    session.eval(Cell::typed(":cache"), &mut sink, &Cancel::new());
    let number = |event: &Event| match event {
        Event::Text(text) => text.split_once(" plans of ")?.0.parse().ok(),
        _ => None,
    };
    sink.events.iter().find_map(number).expect("a number of plans")
}

#[test]
fn a_program_is_compiled_again_only_if_what_failed_may_have_been_moved() {
    let mut session = Session::new(&CONFIG);
    session.set_mode("backend", "cpu").expect("a back end");
    cache(&mut session, "vs = [3, 1, 2]\nis = [0, 1, 7]\nrows = [[1, 2], [3]]");
    // Of an element, in several ways.
    for cell in [
        "{ vs[i] : i in is }",
        "{ 10 // (i - 1) : i in is }",
        "{ sum vs[[i, i + 1]] : i in is }",
        "{ { vs[x * 4] : x in r } : r in rows }",
        "loop s = 0 for i in is do s + sum vs[[i]]",
    ] {
        assert_eq!(plans_of_fault(&mut session, cell), 1, "{cell}");
    }
    // Of none, or of the row around it.
    for cell in
        ["{ i + sum vs[[9]] : i in is }", "{ sum { x + sum vs[[r[0] * 3]] : x in r } : r in rows }"]
    {
        assert_eq!(plans_of_fault(&mut session, cell), 2, "{cell}");
    }
}

#[test]
fn what_has_no_room_for_an_array_of_what_is_invariant_runs_without() {
    let mut session = Transcript::new();
    session.check(":set memory 4M", "");
    session.eval("n = 1000000");
    let program = "sum { sum { k * popcount (gcd j 12) : j in iota n } : k in iota 3 }";
    let report = session.eval(&format!(":fuse {program}"));
    assert!(report.contains("Computed once for each element"), "{report}");
    let timed = session.eval(&format!(":time {program}"));
    assert!(timed.starts_with("4000002\n") && timed.contains("on cpu"), "{timed}");
    // What has no room anyway has none now.
    session.check("{ { k * popcount (gcd j 12) : j in iota n } : k in iota 3 }", "E0701");
}

#[test]
fn what_a_part_of_an_application_is_given_is_computed_once() {
    let mut session = Transcript::new();
    session.eval("def shift d p = {p with x = p.x + d}\nps = [{x = 1}, {x = 2}]");
    // As it is lowered, before anything is moved.
    let text = session.eval(":ir nested let step = shift (sum (ps.x)) in map step ps");
    let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
    assert!(place("fold") < place("map"), "{text}");
}
