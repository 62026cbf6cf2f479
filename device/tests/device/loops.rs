//! Loops, whose turns become graphs: always what came without them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weft_cuda::Halt;
use weft_device::Ran;
use weft_device::stand_in::StandIn;
use weft_ir::{FaultKind, Stop, Value};

use crate::bench::{ALL, Bench, PLAIN, fault, numbers};
use crate::bench::{interrupted, interrupted_behind, lost_by_failing_calls};
use crate::plans::{changed, joined, launch, sweep};
use crate::{assert_same, f32s, result};

/// A program that changes an array `a3` so many times: the steps of a turn, whose number is `a2`, and the
/// variable with the array behind it.
fn looped(turns: u32, body: &str, next: &str) -> String {
    format!(
        "input a1: [a0]f32
a9: i64 = host
  yield 0i64
a10: i64, a8: [a0]f32 = while (a2: i64 = a9, a3: [a0]f32 = a1)
  a4: bool = host
    r0: i64 = read a2
    r1: bool = lt r0 {turns}i64
    yield r1
  yield a4
do
  a7: i64 = host
    r0: i64 = read a2
    r1: i64 = add r0 1i64
    yield r1
{body}  yield a7 {next}
output a8: [a0]f32
"
    )
}

fn swept(numbers: &[f32]) -> Vec<f32> {
    (0..numbers.len()).map(|at| 0.5 * (numbers[at.saturating_sub(1)] + numbers[at])).collect()
}

/// Does something to the numbers so many times.
fn times(turns: u32, step: impl Fn(&[f32], u32) -> Vec<f32>) -> Value {
    f32s((0..turns).fold(numbers(), |numbers, turn| step(&numbers, turn)))
}

/// Runs a program with and without graphs: what the run with graphs was.
#[track_caller]
fn runs_as(text: &str, expected: &Value) -> Ran {
    let plain = Bench::new(PLAIN).run(text);
    assert_eq!((plain.traffic.graphs, plain.traffic.in_graphs), (0, 0));
    assert_same(&result(plain), expected, "without graphs");
    let mut bench = Bench::new(ALL);
    let program = bench.program(text);
    bench.yields(&program, expected, "with graphs");
    bench.yields(&program, expected, "again")
}

pub(crate) fn turns_become_graphs() {
    let text = looped(200, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let ran = runs_as(&text, &times(200, |numbers, _| swept(numbers)));
    // Two turns take two buffers; 32 of them are a graph.
    assert_eq!((ran.traffic.graphs, ran.traffic.in_graphs), (6, 192));
    let few = looped(5, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let ran = runs_as(&few, &times(5, |numbers, _| swept(numbers)));
    assert_eq!(ran.traffic.graphs, 0);
}

/// What kernels are told about a turn besides addresses may differ from turn to turn.
pub(crate) fn numbers_of_turns_are_those_of_the_turn() {
    let code = "r1: f32 = read a3 r0
                r2: i64 = read a2
                r3: f32 = cast_f32 r2
                r4: f32 = mul 0.5f32 r1
                r9: f32 = add r4 r3";
    let text = looped(150, &format!("{}  free a3\n", launch(code, "a20")), "a20");
    let step = |numbers: &[f32], turn: u32| {
        numbers.iter().map(|number| 0.5 * number + turn as f32).collect()
    };
    let ran = runs_as(&text, &times(150, step));
    assert!(ran.traffic.in_graphs >= 128, "{:?}", ran.traffic);
}

/// The stand-in runs nodes in another order wherever the edges allow it.
pub(crate) fn what_depends_on_each_other_waits() {
    // Two kernels that read the same, one that needs both, and one that writes what the first has read.
    let branches = format!(
        "{}{}{}{}  free a3 a20 a21 a22\n",
        changed("add", "a3", "1.0f32", "a20"),
        changed("mul", "a3", "0.5f32", "a21"),
        joined("sub", "a20", "a21", "a22"),
        joined("min", "a22", "a21", "a23"),
    );
    let step = |numbers: &[f32], _| {
        let both = |number: &f32| {
            let (more, less) = (number + 1.0, number * 0.5);
            (more - less).min(less)
        };
        numbers.iter().map(both).collect()
    };
    let ran = runs_as(&looped(60, &branches, "a23"), &times(60, step));
    assert!(ran.traffic.in_graphs >= 4 * 32, "{:?}", ran.traffic);
    // One that reads what the next one overwrites.
    let in_place = format!(
        "{}  launch \"replace\" [a0] (r0)
    r1: f32 = cast_f32 r0
    yield r0 r1
    scatter r1 at r0 into a3 to a21: [a0]f32
  end
  free a3
{}  free a20 a21
",
        changed("mul", "a3", "0.5f32", "a20"),
        joined("add", "a20", "a21", "a22"),
    );
    let step = |numbers: &[f32], _| {
        numbers.iter().enumerate().map(|(at, number)| 0.5 * number + at as f32).collect()
    };
    let ran = runs_as(&looped(60, &in_place, "a22"), &times(60, step));
    assert!(ran.traffic.in_graphs >= 4 * 32, "{:?}", ran.traffic);
}

/// A loop whose condition the host reads: what comes between is a graph, if it is worth one.
pub(crate) fn turns_may_end_by_what_they_compute() {
    let text = |maps: usize| {
        let step = |at: usize| {
            let from = if at == 0 { 3 } else { 19 + at };
            let factor = if at == 0 { "0.75f32" } else { "1.0f32" };
            changed("mul", &format!("a{from}"), factor, &format!("a{}", 20 + at))
                + &format!("  free a{from}\n")
        };
        let steps: String = (0..maps).map(step).collect();
        format!(
            "input a1: [a0]f32
a9: [a0]f32 = while (a3: [a0]f32 = a1)
  launch \"reduce\" [a0] (r0)
    r1: f32 = read a3 r0
    yield r1
    reduce r1 as (r2: f32) to a5: f32
    by (r3: f32) (r4: f32)
      r5: f32 = max r3 r4
      yield r5
    from ()
      yield 0.0f32
  end
  a6: bool = host
    r0: f32 = read a5
    r1: bool = gt r0 0.001f32
    yield r1
  yield a6
do
{steps}  yield a{}
output a9: [a0]f32
",
            19 + maps
        )
    };
    let mut expected = numbers();
    while expected.iter().copied().fold(0.0, f32::max) > 0.001 {
        expected.iter_mut().for_each(|number| *number *= 0.75);
    }
    let ran = runs_as(&text(16), &f32s(expected.iter().copied()));
    assert!(ran.traffic.graphs > 20, "{:?}", ran.traffic);
    let ran = runs_as(&text(1), &f32s(expected));
    assert_eq!(ran.traffic.graphs, 0, "{:?}", ran.traffic);
}

pub(crate) fn turns_of_other_extents_are_other_turns() {
    let text = "input a1: [a0]f32
a9: i64 = host
  yield 0i64
a10: i64, a11: i64, a8: [a11]f32 = while (a2: i64 = a9, a12: i64 = a0, a3: [a12]f32 = a1)
  a4: bool = host
    r0: i64 = read a2
    r1: bool = lt r0 90i64
    yield r1
  yield a4
do
  a7: i64, a13: i64 = host
    r0: i64 = read a2
    r1: i64 = add r0 1i64
    r2: i64 = read a12
    r3: i64 = add r2 1i64
    r4: bool = lt r0 50i64
    r5: i64 = select r4 r3 r2
    yield r1 r5
  launch \"map\" [a13] (r0)
    r1: i64 = read a12
    r2: i64 = sub r1 1i64
    r3: i64 = min r0 r2
    r4: f32 = read a3 r3
    r5: f32 = add r4 1.0f32
    yield r5
    store r5 to a20: [a13]f32
  end
  free a3
  yield a7 a13 a20
output a8: [a11]f32
";
    let step = |numbers: &[f32], turn| {
        let more = usize::from(turn < 50);
        let last = numbers.len() - 1;
        (0..numbers.len() + more).map(|at| numbers[at.min(last)] + 1.0).collect()
    };
    let ran = runs_as(text, &times(90, step));
    // As long as the extents grow, no turn is like another.
    assert_eq!(ran.traffic.graphs, 1, "{:?}", ran.traffic);
}

/// Loops in a loop: the inner one becomes graphs if it has many turns, else the turns of the outer one do.
pub(crate) fn loops_in_loops() {
    for (outer, inner) in [(6, 100), (40, 3), (3, 5)] {
        let body = format!(
            "{before}  a30: i64 = host
    yield 0i64
  a31: i64, a32: [a0]f32 = while (a33: i64 = a30, a34: [a0]f32 = a20)
    a35: bool = host
      r0: i64 = read a33
      r1: bool = lt r0 {inner}i64
      yield r1
    yield a35
  do
    a36: i64 = host
      r0: i64 = read a33
      r1: i64 = add r0 1i64
      yield r1
{sweep}    free a34
    yield a36 a37
  free a20
{behind}  free a3 a32
",
            before = changed("add", "a3", "2.0f32", "a20"),
            sweep = sweep("a34", "a37"),
            behind = joined("sub", "a32", "a3", "a38"),
        );
        let step = |numbers: &[f32], _| {
            let more: Vec<f32> = numbers.iter().map(|number| number + 2.0).collect();
            let inner = (0..inner).fold(more, |numbers, _| swept(&numbers));
            inner.iter().zip(numbers).map(|(inner, number)| inner - number).collect()
        };
        let ran = runs_as(&looped(outer, &body, "a38"), &times(outer, step));
        let least = [0, 128, 384][usize::from(outer > 5) + usize::from(inner > 50)];
        assert!(ran.traffic.in_graphs >= least, "{outer} x {inner}: {:?}", ran.traffic);
    }
}

/// A turn whose check fails, and a kernel behind it that relies on that check, but needs nothing else of it.
fn checked(turns: u32, limit: u32) -> String {
    let check = format!(
        "r1: i64 = read a2
         r2: bool = lt r1 {limit}i64
         check r2 assert
         r9: f32 = read a3 r0"
    );
    let relies = format!(
        "r1: i64 = read a2
         r2: i64 = sub r1 {}i64
         r3: i64 = max r2 0i64
         r4: i64 = mul r3 1000i64
         r5: i64 = add r0 r4
         r9: f32 = read a3 r5",
        limit - 1
    );
    let body = format!(
        "{}{}{}  free a3 a20 a21\n",
        launch(&check, "a20"),
        launch(&relies, "a21"),
        joined("sub", "a20", "a21", "a22"),
    );
    looped(turns, &body, "a22")
}

pub(crate) fn behind_a_failed_check_nothing_is_done() {
    let mut bench = Bench::new(ALL);
    let ran = bench.run(&checked(80, 1000));
    assert!(ran.traffic.in_graphs >= 3 * 32, "{:?}", ran.traffic);
    assert_same(&result(ran), &f32s(numbers().iter().map(|_| 0.0)), "no check fails");
    for limit in [1, 2, 30, 70, 79] {
        let results = bench.run(&checked(80, limit)).results;
        assert!(matches!(results, Err(Halt::Stop(Stop::Fault(_)))), "{limit}: {results:?}");
    }
    assert_eq!(bench.device.contexts(), 1);
}

/// Two kernels of a turn with checks, of which neither needs the other: the one that comes first in the turn says what
/// the fault is. The second one fails in an earlier turn or in the same.
pub(crate) fn the_first_check_of_a_turn_comes_first() {
    let text = |first: u32, second: u32| {
        let check = |limit: u32, kind: &str, to: &str| {
            let code = format!(
                "r1: i64 = read a2
                 r2: bool = lt r1 {limit}i64
                 check r2 {kind}
                 r9: f32 = read a3 r0"
            );
            launch(&code, to)
        };
        let body = format!(
            "{}{}{}  free a3 a20 a21\n",
            check(first, "assert", "a20"),
            check(second, "division", "a21"),
            joined("min", "a20", "a21", "a22"),
        );
        looped(80, &body, "a22")
    };
    let ran = runs_as(&text(80, 80), &f32s(numbers()));
    assert!(ran.traffic.in_graphs >= 3 * 32, "{:?}", ran.traffic);
    let mut bench = Bench::new(ALL);
    for (first, second) in [(40, 40), (70, 70), (60, 61), (61, 60), (75, 50)] {
        let expected = match first <= second {
            true => FaultKind::AssertionFailed,
            false => FaultKind::DivisionByZero,
        };
        assert_eq!(fault(bench.run(&text(first, second))), expected, "{first} {second}");
    }
    assert_eq!(bench.device.contexts(), 1);
}

/// What turns keep for each other goes where others need the room.
pub(crate) fn what_turns_keep_makes_room() {
    // Arrays of 200, 300, ... elements beside one of 100: each is wanted once.
    let mut body = String::new();
    for (number, elements) in (0..6).map(|at| (40 + 2 * at, 200 + 100 * at)) {
        body.push_str(&format!(
            "  launch \"map\" [{elements}] (r0)
    r1: f32 = cast_f32 r0
    yield r1
    store r1 to a{number}: [{elements}]f32
  end
  launch \"map\" [a0] (r0)
    r1: f32 = read a{number} r0
    r2: f32 = read a3 r0
    r3: f32 = add r1 r2
    yield r3
    store r3 to a{next}: [a0]f32
  end
  free a{number} a{next}
",
            next = number + 1,
        ));
    }
    body.push_str(&format!("{}  free a3\n", changed("mul", "a3", "0.5f32", "a20")));
    let text = looped(40, &body, "a20");
    let expected = f32s((0..100).map(|at| at as f32 * 0.5_f32.powi(40)));
    let mut bench = Bench::of(ALL, (0..100).map(|at| at as f32));
    let program = bench.program(&text);
    let ran = bench.again(&program);
    assert!(ran.traffic.in_graphs > 100, "{:?}", ran.traffic);
    assert_same(&result(ran), &expected, "with much room");
    let mut bench = Bench::of(ALL, (0..100).map(|at| at as f32));
    // Room for the largest, the arrays of the loop, and little more, but not for all that turns would keep.
    bench.stand_in.set_memory(4 * (700 + 500));
    assert_same(&result(bench.again(&program)), &expected, "with little room");
    assert_eq!(bench.device.contexts(), 1);
    assert_same(&result(bench.again(&program)), &expected, "again");
}

/// Room is wanted for something that no turn before has wanted, while work waits that needs what turns keep.
pub(crate) fn what_waits_is_done_before_its_buffers_go() {
    for turn in 60..76 {
        wants_room_in_turn(turn);
    }
}

fn wants_room_in_turn(large: u32) {
    let body = format!(
        "{before}  a25: bool = host
    r0: i64 = read a2
    r1: bool = eq r0 {large}i64
    yield r1
  a26: [a0]f32 = if a25
    launch \"map\" [600] (r0)
      r1: f32 = cast_f32 r0
      yield r1
      store r1 to a40: [600]f32
    end
    launch \"map\" [a0] (r0)
      r1: f32 = read a40 r0
      r2: f32 = read a20 r0
      r3: f32 = add r1 r2
      yield r3
      store r3 to a41: [a0]f32
    end
    free a40
    yield a41
  else
    launch \"map\" [a0] (r0)
      r1: f32 = read a20 r0
      r2: f32 = mul r1 0.5f32
      yield r2
      store r2 to a42: [a0]f32
    end
    yield a42
  free a20
{same}{behind}  free a3 a26 a28
",
        before = changed("add", "a3", "1.0f32", "a20"),
        same = changed("mul", "a26", "1.0f32", "a28"),
        behind = joined("sub", "a28", "a3", "a27"),
    );
    let text = looped(90, &body, "a27");
    let first: Vec<f32> = (0..100).map(|at| at as f32).collect();
    let step = |numbers: Vec<f32>, turn| -> Vec<f32> {
        let changed = numbers.iter().enumerate().map(|(at, number)| {
            let more = number + 1.0;
            let other = if turn == large { at as f32 + more } else { 0.5 * more };
            other - number
        });
        changed.collect()
    };
    let expected = f32s((0..90).fold(first.clone(), step));
    let mut bench = Bench::of(ALL, first);
    // The large array, the input, and three of those that turns take, but no more.
    bench.stand_in.set_memory(4 * (600 + 4 * 100 + 2));
    let ran = bench.run(&text);
    assert!(ran.traffic.in_graphs >= 64, "{large}: {:?}", ran.traffic);
    assert_same(&result(ran), &expected, &format!("turn {large}"));
    assert_eq!(bench.device.contexts(), 1, "turn {large}");
}

/// What a turn brings to the device is there when it is used, and not before.
pub(crate) fn constants_come_between_kernels() {
    let constant =
        |number: u32, elements: &str| format!("  a{number}: [7]f32 = constant f32[{elements}]\n");
    let add = |from: &str, constant: &str, to: &str| {
        launch(
            &format!(
                "r1: i64 = rem r0 7i64
                 r2: f32 = read {constant} r1
                 r3: f32 = read {from} r0
                 r9: f32 = add r2 r3"
            ),
            to,
        )
    };
    let body = format!(
        "{}{}{}  free a50 a3\n{}{}  free a51 a20\n{}{}{}  free a52 a21\n",
        constant(50, "1.0f32 2.0f32 3.0f32 4.0f32 5.0f32 6.0f32 7.0f32"),
        add("a3", "a50", "a19"),
        changed("mul", "a19", "0.5f32", "a20"),
        constant(51, "9.0f32 8.0f32 7.0f32 6.0f32 5.0f32 4.0f32 3.0f32"),
        add("a20", "a51", "a21"),
        constant(52, "0.5f32 0.5f32 0.5f32 0.5f32 0.5f32 0.5f32 0.5f32"),
        add("a21", "a52", "a22"),
        changed("mul", "a22", "0.25f32", "a23"),
    );
    let step = |numbers: &[f32], _| {
        let of = |(at, number): (usize, &f32)| {
            let at = at as f32;
            0.25 * (0.5 * (number + 1.0 + at) + 9.0 - at + 0.5)
        };
        numbers.iter().enumerate().map(of).collect()
    };
    runs_as(&looped(20, &body, "a23"), &times(20, step));
}

/// Where the driver knows no graphs, there are none.
pub(crate) fn without_graphs_all_is_launched() {
    let text = looped(100, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let mut bench = Bench::new(ALL);
    bench.stand_in.set_graphs(false);
    let ran = bench.run(&text);
    bench.stand_in.set_graphs(true);
    assert_eq!((ran.traffic.graphs, bench.device.contexts()), (0, 1));
    assert_same(&result(ran), &times(100, |numbers, _| swept(numbers)), "without graphs");
}

pub(crate) fn any_call_of_a_loop_may_fail() {
    let code = "r1: f32 = read a3 r0
                r2: i64 = read a2
                r3: f32 = cast_f32 r2
                r9: f32 = add r1 r3";
    let text = looped(40, &format!("{}  free a3\n", launch(code, "a20")), "a20");
    let step =
        |numbers: &[f32], turn: u32| numbers.iter().map(|number| number + turn as f32).collect();
    let lost = lost_by_failing_calls(&text, &times(40, step));
    // The nodes of the graph alone are 32, and as many have their parameters changed.
    assert!(lost > 2 * 64, "{lost} contexts lost");
}

/// A run that is interrupted while operations wait for the rest of their graph.
pub(crate) fn a_loop_may_be_interrupted_anywhere() {
    let text = looped(80, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let expected = times(80, |numbers, _| swept(numbers));
    interrupted_behind(&mut Bench::new(ALL), &text, (0..80).step_by(7), &expected);
}

/// A run that is interrupted while a graph is on the device that takes a second, whatever it is told.
pub(crate) fn a_graph_in_flight_can_be_interrupted() {
    let text = looped(200, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let expected = times(200, |numbers, _| swept(numbers));
    let mut bench = Bench::new(ALL);
    let program = bench.program(&text);
    let before = bench.again(&program);
    assert!(before.traffic.graphs > 4, "{:?}", before.traffic);
    assert_same(&result(before), &expected, "before");
    let (cancel, in_graphs) = (AtomicBool::new(false), bench.stand_in.begun_in_graphs());
    bench.stand_in.set_delay(30);
    let results = thread::scope(|scope| {
        let own = StandIn::find().expect("the stand-in");
        let (running, cancel) =
            (scope.spawn(|| bench.observed(&program, &cancel, &mut || {})), &cancel);
        while own.begun_in_graphs() < in_graphs + 3 && !running.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        cancel.store(true, Ordering::SeqCst);
        running.join().expect("a run").results
    });
    let done = bench.stand_in.begun_in_graphs() - in_graphs;
    bench.stand_in.set_delay(0);
    assert_eq!(results.err(), Some(interrupted()));
    // What is left of a graph of 32 would take 900 ms; it is not waited for.
    assert!(done < 32, "{done} kernels had begun");
    // Nothing is lost, and what was queued does not get into what comes behind it.
    assert_eq!(bench.device.resident_bytes(&bench.input), 4 * numbers().len() as u64);
    assert_same(&bench.input, &f32s(numbers()), "the input");
    assert_same(&result(bench.again(&program)), &expected, "behind it");
    assert_eq!(bench.device.contexts(), 1);
}
