//! Loops, whose turns become graphs: always what came without them.

use std::sync::atomic::AtomicBool;

use weft_cuda::{Broken, Halt};
use weft_device::{Config, Device, Kernels, Ran};
use weft_ir::{Stop, Value};

use crate::{assert_same, f32s, kernels, result, run, stand_in};

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

/// A kernel over `a0` points `r0`.
fn launch(code: &str, result: &str) -> String {
    let code: String = code.lines().map(|line| format!("    {}\n", line.trim())).collect();
    format!(
        "  launch \"map\" [a0] (r0)\n{code}    yield r9\n    store r9 to {result}: [a0]f32\n  end\n"
    )
}

/// Elements become the mean of them and their left neighbours.
fn sweep(from: &str, to: &str) -> String {
    let code = format!(
        "r1: i64 = add r0 -1i64
         r2: i64 = max r1 0i64
         r3: f32 = read {from} r2
         r4: f32 = read {from} r0
         r5: f32 = add r3 r4
         r9: f32 = mul 0.5f32 r5"
    );
    launch(&code, to)
}

fn swept(numbers: &[f32]) -> Vec<f32> {
    (0..numbers.len()).map(|at| 0.5 * (numbers[at.saturating_sub(1)] + numbers[at])).collect()
}

/// Elements of two arrays, put together.
fn joined(operator: &str, left: &str, right: &str, to: &str) -> String {
    let code = format!(
        "r1: f32 = read {left} r0
         r2: f32 = read {right} r0
         r9: f32 = {operator} r1 r2"
    );
    launch(&code, to)
}

/// Elements and a number, put together.
fn changed(operator: &str, from: &str, number: &str, to: &str) -> String {
    launch(&format!("r1: f32 = read {from} r0\nr9: f32 = {operator} r1 {number}"), to)
}

fn opened(graphs: bool) -> Device {
    let config = Config { cache: None, cache_bytes: 0, graphs };
    let found = weft_device::find().expect("a device");
    Device::open(found[0].clone(), &config).expect("a context")
}

fn numbers() -> Vec<f32> {
    vec![8.0, -4.0, 0.5, 16.0, 2.0, 1.0, -64.0]
}

/// Does something to the numbers so many times.
fn times(turns: u32, step: impl Fn(&[f32], u32) -> Vec<f32>) -> Value {
    f32s((0..turns).fold(numbers(), |numbers, turn| step(&numbers, turn)))
}

/// Runs a program with and without graphs: what the run with graphs was.
#[track_caller]
fn runs_as(text: &str, expected: &Value) -> Ran {
    stand_in();
    let input = f32s(numbers());
    let mut device = opened(false);
    let program = kernels(&device, text);
    let plain = run(&mut device, &program, std::slice::from_ref(&input));
    assert_eq!((plain.traffic.graphs, plain.traffic.in_graphs), (0, 0));
    assert_same(&result(plain), expected, "without graphs");
    drop(device);
    let mut device = opened(true);
    let first = run(&mut device, &program, std::slice::from_ref(&input));
    assert_same(&result(first), expected, "with graphs");
    let ran = run(&mut device, &program, std::slice::from_ref(&input));
    let Ran { results, traffic } = ran;
    assert_same(&result(Ran { results: results.clone(), traffic }), expected, "again");
    assert_eq!(device.contexts(), 1);
    // Of all that the run had, its input and its results are left.
    assert!(device.residency().arrays <= 3, "{:?}", device.residency());
    Ran { results, traffic }
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

/// A loop whose condition the host reads: what comes between is a graph.
pub(crate) fn turns_may_end_by_what_they_compute() {
    let text = "input a1: [a0]f32
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
  launch \"map\" [a0] (r0)
    r1: f32 = read a3 r0
    r2: f32 = mul r1 0.75f32
    yield r2
    store r2 to a7: [a0]f32
  end
  free a3
  yield a7
output a9: [a0]f32
";
    let mut expected = numbers();
    while expected.iter().copied().fold(0.0, f32::max) > 0.001 {
        expected.iter_mut().for_each(|number| *number *= 0.75);
    }
    let ran = runs_as(text, &f32s(expected));
    assert!(ran.traffic.graphs > 20, "{:?}", ran.traffic);
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
    stand_in();
    let (mut device, input) = (opened(true), f32s(numbers()));
    let holds = kernels(&device, &checked(80, 1000));
    let ran = run(&mut device, &holds, std::slice::from_ref(&input));
    assert!(ran.traffic.in_graphs >= 3 * 32, "{:?}", ran.traffic);
    assert_same(&result(ran), &f32s(numbers().iter().map(|_| 0.0)), "no check fails");
    for limit in [1, 2, 30, 70, 79] {
        let fails = kernels(&device, &checked(80, limit));
        let ran = run(&mut device, &fails, std::slice::from_ref(&input));
        let results = ran.results;
        assert!(matches!(results, Err(Halt::Stop(Stop::Fault(_)))), "{limit}: {results:?}");
    }
    assert_eq!(device.contexts(), 1);
}

/// What turns keep for each other goes where others need the room.
pub(crate) fn what_turns_keep_makes_room() {
    let stand_in = stand_in();
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
    let input = f32s((0..100).map(|at| at as f32));
    let expected = f32s((0..100).map(|at| at as f32 * 0.5_f32.powi(40)));
    let mut device = opened(true);
    let program = kernels(&device, &text);
    let ran = run(&mut device, &program, std::slice::from_ref(&input));
    assert!(ran.traffic.in_graphs > 100, "{:?}", ran.traffic);
    assert_same(&result(ran), &expected, "with much room");
    drop(device);
    // Room for the largest, the arrays of the loop, and little more, but not for all that turns would keep.
    stand_in.set_memory(4 * (700 + 500));
    let mut device = opened(true);
    let ran = run(&mut device, &program, std::slice::from_ref(&input));
    assert_same(&result(ran), &expected, "with little room");
    assert_eq!(device.contexts(), 1);
    let ran = run(&mut device, &program, std::slice::from_ref(&input));
    assert_same(&result(ran), &expected, "again");
}

/// Room is wanted for something that no turn before has wanted, while work waits that needs what turns keep.
pub(crate) fn what_waits_is_done_before_its_buffers_go() {
    for turn in 60..76 {
        wants_room_in_turn(turn);
    }
}

fn wants_room_in_turn(large: u32) {
    let stand_in = stand_in();
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
    // The large array, the input, and three of those that turns take, but no more.
    stand_in.set_memory(4 * (600 + 4 * 100 + 2));
    let mut device = opened(true);
    let program = kernels(&device, &text);
    let ran = run(&mut device, &program, &[f32s(first.iter().copied())]);
    assert!(ran.traffic.in_graphs >= 64, "{large}: {:?}", ran.traffic);
    assert_same(&result(ran), &expected, &format!("turn {large}"));
    assert_eq!(device.contexts(), 1, "turn {large}");
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
    let stand_in = stand_in();
    stand_in.set_graphs(false);
    let text = looped(100, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let mut device = opened(true);
    let program = kernels(&device, &text);
    let ran = run(&mut device, &program, &[f32s(numbers())]);
    stand_in.set_graphs(true);
    assert_eq!((ran.traffic.graphs, device.contexts()), (0, 1));
    assert_same(&result(ran), &times(100, |numbers, _| swept(numbers)), "without graphs");
}

/// Runs loops with a call failing: whether it was reached, and whether the device was lost.
fn with_failing_call(programs: &[(Kernels, Value)], call: u64, sticky: bool) -> (bool, bool) {
    let stand_in = stand_in();
    let mut device = opened(true);
    let input = f32s(numbers());
    let before = stand_in.calls();
    stand_in.fail(call, sticky);
    let mut is_lost = false;
    for (program, expected) in programs {
        match run(&mut device, program, std::slice::from_ref(&input)).results {
            Ok(results) => assert_same(&results[0], expected, &format!("call {call}")),
            Err(Halt::Broken(Broken::Lost(why))) => {
                assert!(why.contains("failed") || why.contains("do not compile"), "{why}");
                is_lost = true;
            }
            Err(halt) => panic!("call {call}: {halt:?}"),
        }
    }
    let was_reached = stand_in.calls() - before >= call;
    stand_in.fail(0, false);
    let (program, expected) = &programs[0];
    let again = result(run(&mut device, program, std::slice::from_ref(&input)));
    assert_same(&again, expected, &format!("after call {call}"));
    (was_reached, is_lost)
}

pub(crate) fn any_call_of_a_loop_may_fail() {
    stand_in();
    let code = "r1: f32 = read a3 r0
                r2: i64 = read a2
                r3: f32 = cast_f32 r2
                r9: f32 = add r1 r3";
    let text = looped(40, &format!("{}  free a3\n", launch(code, "a20")), "a20");
    let step =
        |numbers: &[f32], turn: u32| numbers.iter().map(|number| number + turn as f32).collect();
    let device = opened(true);
    let programs = [(kernels(&device, &text), times(40, step))];
    drop(device);
    let mut lost = 0;
    for call in 1.. {
        let (reached, is_lost) = with_failing_call(&programs, call, false);
        let (_, is_lost_for_good) = with_failing_call(&programs, call, true);
        lost += u32::from(is_lost) + u32::from(is_lost_for_good);
        if !reached {
            break;
        }
    }
    // The nodes of the graph alone are 32, and as many have their parameters changed.
    assert!(lost > 2 * 64, "{lost} contexts lost");
}

/// A run that is interrupted while operations wait for the rest of their graph.
pub(crate) fn a_loop_may_be_interrupted_anywhere() {
    stand_in();
    let text = looped(80, &format!("{}  free a3\n", sweep("a3", "a20")), "a20");
    let expected = times(80, |numbers, _| swept(numbers));
    let mut device = opened(true);
    let program = kernels(&device, &text);
    let input = f32s(numbers());
    for turn in (0..80).step_by(7) {
        let (cancel, mut launched) = (AtomicBool::new(false), 0);
        let ran = device.run(&program, std::slice::from_ref(&input), 1 << 30, &cancel, &mut |_| {
            launched += 1;
            cancel.store(launched > turn, std::sync::atomic::Ordering::SeqCst);
        });
        let interrupted = Stop::Exhausted(weft_ir::Exhausted::Interrupted);
        assert_eq!(ran.results.err(), Some(Halt::Stop(interrupted)), "turn {turn}");
        let again = run(&mut device, &program, std::slice::from_ref(&input));
        assert_same(&result(again), &expected, &format!("after turn {turn}"));
    }
    assert_eq!(device.contexts(), 1);
}
