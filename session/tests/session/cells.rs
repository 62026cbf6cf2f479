//! Cells as transactions: what a session shows, keeps, and lets go.

use crate::transcript::{CONFIG, Transcript};
use weft_session::{Cancel, Cell, Event, Keep, Outcome, Session, Sink};

#[test]
fn a_bare_expression_is_shown_and_is_it() {
    let mut session = Transcript::new();
    session.check("1 + 1", "2");
    session.check("it * 3", "6");
    session.check("\"text\"", "text");
    session.check("it", "text");
}

#[test]
fn a_binding_answers_with_its_type() {
    let mut session = Transcript::new();
    session.check("x = iota 5", "x : [5]i64");
    session.check("(lo, hi) = (minimum x, 2.5)", "lo : i64\nhi : f64");
    session.check("def double n = 2 * n", "double : Num a => a -> a");
    session.check("type point = {x: f64, y: f64}", "type point");
    session.check("sum x + hi", "E0302");
    session.check("double lo", "0");
}

#[test]
fn a_semicolon_shows_nothing() {
    let mut session = Transcript::new();
    session.check("1 + 1;", "");
    session.check("it", "2");
}

#[test]
fn items_are_evaluated_one_after_the_other() {
    let mut session = Transcript::new();
    session.check("x = 2\nx + 1\ny = x * it\ny", "x : i64\n3\ny : i64\n6");
}

#[test]
fn a_type_is_told_once() {
    let mut session = Transcript::new();
    session.check("x = iota 3\nx", "[3]i64 [0, 1, 2]");
    // Each of these says something that the other does not.
    session.check("x = iota 3\nx;", "x : [3]i64");
    session.check("x = iota 3\nx\nx = iota 2", "[3]i64 [0, 1, 2]\nx : [2]i64");
    session.check("x = iota 3\nreverse x", "x : [3]i64\n[3]i64 [2, 1, 0]");
    session.check("t = \"text\"\nt", "t : [4]char\ntext");
    session.check("(x, y) = (iota 2, 7)\nx\ny", "y : i64\n[2]i64 [0, 1]\n7");
    let taken_back = "(nothing of this cell is kept: `x`, `y` are as before)";
    session.check(
        "x = iota 2\ny = 3\nx\ny // 0",
        &format!("y : i64\n[2]i64 [0, 1]\nE0604\n{taken_back}"),
    );
}

#[test]
fn a_cell_with_a_type_error_changes_nothing() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    session.check("x = 2\ny = x + \"text\"\nz = 3", "E0302");
    session.check("x", "1");
    session.check("z", "E0201");
}

#[test]
fn a_cell_that_traps_changes_nothing() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    let taken_back = "(nothing of this cell is kept: `x` is as before)";
    session.check("x = 2\nx // 0", &format!("x : i64\nE0604\n{taken_back}"));
    session.check("x", "1");
}

#[test]
fn an_item_that_does_not_parse_is_reported_once() {
    let mut session = Transcript::new();
    session.check("1 < 2 < 3", "E0117");
    session.check("x = 1 < 2 < 3\ny = true + 1", "E0117, E0303");
}

#[test]
fn errors_of_several_items_are_all_reported() {
    let mut session = Transcript::new();
    session.check("a = nothing\nb = 1 +\nc = true + 1", "E0201, E0120, E0303");
}

#[test]
fn errors_do_not_hide_the_names_of_timed_bindings() {
    let mut session = Transcript::new();
    session.check(":time q = 3\nx = [1 : i64]\nq + 1", "E0101");
    session.check(":time q = nothing\nq + 1", "E0201");
    session.check(":time q = 1 +\nq + 1", "E0120");
    session.check("x = nothing\n:time y = x + 1\ny", "E0201");
    session.check("x = nothing\n:time true + 1", "E0201, E0303");
}

#[test]
fn results_have_numbers() {
    let mut session = Transcript::new();
    session.check("10", "10");
    session.check("20", "20");
    session.check("_1 + _2", "30");
    session.check("Out[1] * Out[3]", "300");
    session.check("In[2]", "20");
    session.check("map (\\x -> x + Out[1]) [1, 2]", "[2]i64 [11, 12]");
    session.check("Out[99]", "E0504");
    session.check("In[99]", "E0504");
    session.check("_99 + 1", "E0504");
    session.check(":type _99", "E0504");
    session.check("(\\_99 -> _99) 1", "1");
}

#[test]
fn old_results_are_let_go_when_they_take_too_much() {
    let mut session = Transcript::new();
    session.check(":set outputs 1M", "");
    session.check("iota 100000", "[100000]i64 [0, 1, 2, …, 99998, 99999]");
    session.check("iota 100001;", "");
    session.check("Out[2]", "E0504");
    session.check("length Out[3]", "100001");
}

#[test]
fn what_undo_keeps_is_bounded_by_what_is_set_now() {
    let mut session = Transcript::new();
    session.check("x = iota 1000000", "x : [1000000]i64");
    session.check("x = iota 1000001", "x : [1000001]i64");
    session.check("y = 1", "y : i64");
    session.check(":goto 1", "as after In[1]");
    session.check(":goto 3", "as after In[3]");
    session.check(":set outputs 1M", "");
    session.check("y = 2", "y : i64");
    session.check(":goto 1", "E0504");
    session.check(":goto 3", "as after In[3]");
}

#[test]
fn a_redefinition_says_who_still_uses_the_old_one() {
    let mut session = Transcript::new();
    session.check("def f n = n + 1\ndef g n = f n * 2", "f : Num a => a -> a\ng : Num a => a -> a");
    session.check("x = 5\ndef h n = n + x", "x : i64\nh : i64 -> i64");
    session.check("def f n = n - 1", "f : Num a => a -> a\n(`g` still uses the old `f`)");
    session.check("g 10", "22");
    session.check("x = 6", "x : i64\n(`h` still uses the old `x`)");
    session.check("h 1", "6");
    session.check("def g n = f n\ndef h n = n", "g : Num a => a -> a\nh : a -> a");
}

#[test]
fn a_function_shows_its_type() {
    let mut session = Transcript::new();
    session.check("map sqrt", "a function : Float a => []a -> []a\n(one argument is missing)");
    session.check(
        "fold max [1, 5, 2]",
        "a function : Num a => [][]a -> []a\n(`fold op z xs` begins with z; from the first element on it is `fold1 max [1, 5, 2]`)",
    );
    session.check(
        "max (3, 4)",
        "a function : (Num a, Num b) => (a, b) -> (a, b)\n(arguments stand one after the other, without commas: `max 3 4`)",
    );
    session.check("fold max", "a function : Ord a => a -> []a -> a\n(1 of 3 arguments given)");
    session.check("sqrt", "a function : Float a => a -> a");
    session.check("(* 2)", "a function : Num a => a -> a");
}

#[test]
fn a_cell_that_fails_takes_back_what_it_has_told() {
    let mut session = Transcript::new();
    session.check("a = 1", "a : i64");
    session.check(
        "a = 2\ndef f x = x\na\n[1][a]",
        "a : i64\nf : a -> a\n2\nE0601\n(nothing of this cell is kept: `a` is as before; `f` is not defined)",
    );
    session.check("a", "1");
    session.check("f 1", "E0201");
    session.check("[1][a]", "E0601");
    session.check(
        "b = sum (iota 10)\n1 // (b - 45)",
        "b : i64\nE0604\n(nothing of this cell is kept: `b` is not defined)",
    );
}

#[test]
fn a_trap_shows_the_calls_across_cells() {
    let mut session = Transcript::new();
    session.check("def pick xs = xs[5]", "pick : []a -> a");
    session.eval("1 + pick [1, 2]");
    let report = session.last_report();
    assert!(report.contains("In[1]") && report.contains("In[2]"), "{report}");
    assert!(report.contains("index 5"), "{report}");
}

#[test]
fn deep_programs_neither_run_nor_drop_over_the_stack() {
    let mut session = Transcript::new();
    let chain = vec!["1"; 15_000].join(" + ");
    session.check(&chain, "15000");
    session.check(&format!("def deep x = x + {chain}"), "deep : Num a => a -> a");
}

#[test]
fn a_bug_is_reported_and_survived() {
    struct Faulty(Vec<String>);
    impl Sink for Faulty {
        fn event(&mut self, event: Event) {
            match event {
                Event::Report(report) => self.0.push(report.render(false, 80)),
                _ => panic!("a fault for the test"),
            }
        }
    }
    let mut session = Session::new(&CONFIG);
    let mut sink = Faulty(Vec::new());
    let outcome = session.eval(Cell::typed("x = 1"), &mut sink, &Cancel::new());
    assert_eq!(outcome, Outcome::Bug("a fault for the test".to_owned()));
    assert!(sink.0[0].contains("E0901"), "{:?}", sink.0);
    assert!(session.value("x").is_none());
    let mut sink = weft_session::Collected::default();
    let outcome = session.eval(Cell::typed("2"), &mut sink, &Cancel::new());
    assert_eq!(outcome, Outcome::Done);
}

#[test]
fn a_cell_that_is_not_counted_leaves_no_result() {
    let mut session = Transcript::new();
    session.check("40 + 2", "42");
    let mut eval = |text: &str, keep| {
        let mut sink = weft_session::Collected::default();
        session.session.eval_as(Cell::typed(text), keep, &mut sink, &Cancel::new())
    };
    assert_eq!(eval("hidden = 5\nhidden + 1", Keep::Definitions), Outcome::Done);
    assert_eq!(eval("lost = 5\nlost + 1", Keep::Nothing), Outcome::Done);
    assert_eq!(eval(":undo", Keep::Nothing), Outcome::Failed("E0503".to_owned()));
    assert_eq!(session.session.next_number(), 2);
    session.check("it + hidden", "47");
    session.check("Out[2]", "47");
    session.check("lost", "E0201");
}

#[test]
fn a_long_computation_is_cancelled_soon_and_changes_nothing() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    for endless in [
        "x = loop a = 0 while true do a + 1",
        "x = loop a = 0.0 for i < 1000000 do sum (sqrt (f64 (iota 1000000) + a))",
        "x = map (\\i -> loop a = i while true do a + 1) (iota 10)",
    ] {
        let cancel = Cancel::new();
        let canceller = cancel.clone();
        let timer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            canceller.cancel();
            std::time::Instant::now()
        });
        assert_eq!(session.eval_with(endless, &cancel), Outcome::Interrupted, "{endless}");
        let cancelled = timer.join().expect("the timer does not panic");
        // 200 ms is the promise on a quiet machine; the tests may share theirs.
        assert!(cancelled.elapsed().as_millis() < 2000, "{endless}");
    }
    session.check("x", "1");
}

#[test]
fn remarks_are_told_of_cells_that_do_not_end() {
    let mut session = Transcript::new();
    for endless in [
        "x = loop a = fold (-) 0 [1, 2, 3] while true do a + 1",
        "xs = [1, 2, 3]\ny = fold (-) 0 xs\nx = loop a = y while true do a + 1",
        "xs = sqrt [1.0, 2.0]\ny = fold (-) 0.0 xs\nz = sum (loop a = xs while true do a + y)",
    ] {
        let cancel = Cancel::new();
        let canceller = cancel.clone();
        let timer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            canceller.cancel();
        });
        assert_eq!(session.eval_with(endless, &cancel), Outcome::Interrupted, "{endless}");
        timer.join().expect("the timer does not panic");
        assert_eq!(session.last_report().matches("E0318").count(), 1, "{endless}");
    }
    session.check("[1, 2][fold (-) 5 [1, 2]]", "E0318\nE0601");
}

#[test]
fn beyond_the_memory_limit_is_an_error() {
    let mut session = Transcript::new();
    session.check("fill (1_000_000, 1_000_000) 0.0", "E0701");
    session.check("1", "1");
}

#[test]
fn the_memory_limit_points_at_the_cell_at_hand() {
    let mut session = Transcript::new();
    for cell in ["n = 10", "def twice n = sort (iota n * 2)", "small = twice n", "n = 10000000000"]
    {
        session.eval(cell);
    }
    session.check("big = sort (iota n * 2)", "E0701");
    let report = session.last_report();
    assert!(report.contains("│ big = sort"), "{report}");
    session.check("huge = twice n", "E0701");
    let report = session.last_report();
    assert!(report.contains("def twice n = sort (iota n * 2)"), "{report}");
}

#[test]
fn drawing_commands_draw_whatever_has_their_names() {
    let mut session = Transcript::new();
    let plotted = session.eval(":plot [1, 2, 3]");
    session.eval("plot = [1, 2, 3]");
    assert_eq!(session.eval(":plot plot"), plotted);
    let drawn = session.eval(":image [[0.0, 1.0]]");
    session.eval("def image x = x");
    assert_eq!(session.eval(":image image [[0.0, 1.0]]"), drawn);
    session.check("builtinPlot", "E0201");
}

#[test]
fn a_session_may_begin_with_definitions() {
    let mut session = Transcript::new();
    session.eval("k = 3");
    session.session.begin_here();
    session.check(":undo", "E0504");
    session.check("k = 4", "k : i64");
    session.eval(":undo");
    session.check("k", "3");
}

#[test]
fn modes_are_part_of_the_state() {
    let mut session = Transcript::new();
    session.check(":set float f32", "");
    session.check(":type 1.5", "1.5 : f32");
    session.check(":undo", "as at the start");
    session.check(":type 1.5", "1.5 : f64");
}

#[test]
fn a_mode_holds_for_what_stands_after_it() {
    let mut session = Transcript::new();
    session.check(
        "iota 7\n:set elements 6\niota 7",
        "[7]i64 [0, 1, 2, 3, 4, 5, 6]\n[7]i64 [0, 1, 2, …, 5, 6]",
    );
}

#[test]
fn undo_redo_goto_and_reset() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    session.check("x = 2", "x : i64");
    session.check(":type x", "x : i64");
    session.check(":undo", "as after In[1]");
    session.check("x", "1");
    session.check(":redo", "as after In[2]");
    session.check("x", "2");
    session.check(":redo", "E0504");
    session.check(":undo", "as after In[1]");
    session.check("x = 3", "x : i64");
    session.check(":redo", "E0504");
    session.check(":goto 0", "as at the start");
    session.check("x", "E0201");
    session.check(":goto 1", "as after In[1]");
    session.check(":reset", "everything is forgotten; `:undo` brings it back");
    session.check("x", "E0201");
    session.check(":undo", "as after In[1]");
    session.check("x\n:undo", "E0503");
}

#[test]
fn an_error_in_a_file_says_who_imported_it() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::write(folder.path().join("inner.weft"), "x = nothing\n").expect("a file");
    std::fs::write(folder.path().join("outer.weft"), "import \"inner.weft\"\n").expect("a file");
    let mut session = Transcript::new();
    session.check(&format!("1\nimport \"{}/outer.weft\"", folder.path().display()), "E0201");
    let report = session.last_report();
    let report: Vec<&str> = report.split_whitespace().filter(|word| *word != "│").collect();
    let report = report.join(" ");
    let inner = format!("inner.weft` is imported at {}/outer.weft:1", folder.path().display());
    assert!(report.contains(&inner), "{report}");
    assert!(report.contains("outer.weft` is imported at In[1]:2"), "{report}");
}

#[test]
fn several_steps_at_once() {
    let mut session = Transcript::new();
    session.check("a = 1", "a : i64");
    session.check("a = 2", "a : i64");
    session.check("a = 3", "a : i64");
    session.check(":undo 2 -- both", "as after In[1]");
    session.check(":undo 2", "E0504");
    session.check("a", "1");
    session.check(":redo 3", "E0504");
    session.check(":redo 2", "as after In[3]");
    session.check("a", "3");
    for misuse in [":undo x", ":undo 0", ":redo -1", ":vars a", ":mem a", ":reset a", ":goto"] {
        session.check(misuse, "E0502");
    }
    session.check(":vars -- all", "a  : i64\nit : i64");
}

#[test]
fn goto_finds_what_held_after_a_cell() {
    let mut session = Transcript::new();
    for cell in ["a = 1", "a = 2", "a = 3", ":undo", "a", ":goto 0"] {
        session.eval(cell);
    }
    session.check(":goto 5", "as after In[2]");
    session.check("a", "2");
    session.check(":goto 99", "E0504");
    assert!(session.last_report().contains("no cell 99"), "{}", session.last_report());
    session.check("a", "2");
    session.check(":goto 3", "as after In[3]");
    session.check(":goto 4", "as after In[2]");
    // What another cell replaces is gone.
    session.check("a = 4", "a : i64");
    session.check(":goto 3", "E0504");
    session.check("a", "4");
    // A cell that fails leaves what was there.
    session.check("b = nothing", "E0201");
    session.check("a = 5", "a : i64");
    session.check(":goto 16", "as after In[13]");
    session.check("a", "4");
}

#[test]
fn what_is_taken_back_was_there_or_not() {
    let mut session = Transcript::new();
    session.check("a = 1", "a : i64");
    session.check(
        "def f x = x\n[1][f 5]",
        "f : a -> a\nE0601\n(nothing of this cell is kept: `f` is not defined)",
    );
    session.check(
        "a = 2\nb = 3\nc = 4\n[1][5]",
        "a : i64\nb : i64\nc : i64\nE0601\n\
         (nothing of this cell is kept: `a` is as before; `b`, `c` are not defined)",
    );
}

#[test]
fn what_only_shows_is_no_step() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    session.check("x = 20", "x : i64");
    session.check("x", "20");
    assert!(session.eval(":time x + 1").starts_with("21"));
    session.check(":undo", "as after In[1]");
    session.check("it", "E0201");
    session.check("x + 5", "6");
    session.check(":show it + _7", "12");
    session.check(":redo", "as after In[2]");
    session.check("(it, Out[3])", "(21, 20)");
    session.check(":undo", "as after In[1]");
    session.check("(it, Out[7])", "(12, 6)");
    session.check("Out[3]", "E0504");
}
