//! Kernels that do not depend on each other, in several streams: always what came with one.

use weft_cuda::{Broken, Halt};
use weft_device::{Beside, Config, Ran};
use weft_ir::{FaultKind, Value};

use crate::bench::{ALL, Bench, PLAIN, numbers};
use crate::bench::{fault, in_both_orders, interrupted_behind, lost_by_failing_calls};
use crate::plans::{changed, joined, launch, sweep};
use crate::{assert_same, f32s, result};

/// A program of one array: its steps, and the array that it yields.
fn program(steps: &[String], output: &str) -> String {
    format!("input a1: [a0]f32\n{}output {output}: [a0]f32\n", steps.concat())
}

/// Does something to each of the numbers.
fn each(of: impl Fn(f32) -> f32) -> Value {
    f32s(numbers().into_iter().map(of))
}

/// Writes the number of its place into an array, where it is.
fn replaced(array: &str, to: &str) -> String {
    format!(
        "  launch \"replace\" [a0] (r0)
    r1: f32 = cast_f32 r0
    yield r0 r1
    scatter r1 at r0 into {array} to {to}: [a0]f32
  end
  free {array}
"
    )
}

/// The sum of an array.
fn sum(from: &str, to: &str) -> String {
    format!(
        "  launch \"reduce\" [a0] (r0)
    r1: f32 = read {from} r0
    yield r1
    reduce r1 as (r2: f32) to {to}: f32
    by (r3: f32) (r4: f32)
      r5: f32 = add r3 r4
      yield r5
    from ()
      yield 0.0f32
  end
"
    )
}

/// Runs a program with one stream, and with several whatever comes first in them: how the last of these went.
#[track_caller]
fn runs_as(text: &str, expected: &Value) -> Ran {
    let plain = Bench::new(PLAIN).run(text);
    assert_eq!(plain.traffic.beside, 0);
    assert_same(&result(plain), expected, "with one stream");
    let mut bench = Bench::new(ALL);
    let program = bench.program(text);
    let [_, last] = [true, false].map(|last_first| {
        bench.stand_in.set_last_first(last_first);
        bench.yields(&program, expected, &format!("with several, {last_first}"))
    });
    last
}

pub(crate) fn what_is_independent_runs_beside() {
    let steps = [
        changed("add", "a1", "1.0f32", "a20"),
        changed("mul", "a1", "2.0f32", "a21"),
        changed("sub", "a1", "3.0f32", "a22"),
        changed("mul", "a20", "4.0f32", "a23"),
        joined("add", "a23", "a21", "a24"),
        "free a20 a21 a23\n".to_owned(),
        joined("sub", "a24", "a22", "a25"),
    ];
    let of = |number: f32| ((number + 1.0) * 4.0 + number * 2.0) - (number - 3.0);
    let ran = runs_as(&program(&steps, "a25"), &each(of));
    // The second, the third, and the one that goes on behind the first.
    assert_eq!(ran.traffic.beside, 4, "{:?}", ran.traffic);
    // One after the other, nothing runs beside anything.
    let steps = [changed("add", "a1", "1.0f32", "a20"), changed("mul", "a20", "2.0f32", "a21")];
    let ran = runs_as(&program(&steps, "a21"), &each(|number| (number + 1.0) * 2.0));
    assert_eq!(ran.traffic.beside, 0);
}

/// A kernel with a loop: each number is halved as often as it is beyond 1.
fn halved(from: &str, to: &str) -> String {
    format!(
        "  launch \"halve\" [a0] (r0)
    r1: f32 = read {from} r0
    r2: f32 = while (r3: f32 = r1)
      r4: bool = gt r3 1.0f32
      yield r4
    do
      r5: f32 = mul r3 0.5f32
      yield r5
    yield r2
    store r2 to {to}: [a0]f32
  end
"
    )
}

/// As a session runs programs: what is done soon takes a stream of its own nowhere.
pub(crate) fn only_what_takes_long_goes_beside() {
    let mut bench = Bench::new(Config { streams: Beside::Long, ..ALL });
    let short = [
        changed("add", "a1", "1.0f32", "a20"),
        changed("mul", "a1", "2.0f32", "a21"),
        joined("add", "a20", "a21", "a22"),
    ];
    let short = bench.program(&program(&short, "a22"));
    let ran = bench.yields(&short, &each(|number| number + 1.0 + number * 2.0), "short ones");
    assert_eq!(ran.traffic.beside, 0, "{:?}", ran.traffic);
    let long = [
        changed("add", "a1", "1.0f32", "a20"),
        halved("a1", "a21"),
        joined("add", "a20", "a21", "a22"),
    ];
    let long = bench.program(&program(&long, "a22"));
    let of = |number: f32| {
        let mut half = number;
        while half > 1.0 {
            half *= 0.5;
        }
        number + 1.0 + half
    };
    let ran = bench.yields(&long, &each(of), "a long one");
    assert_eq!(ran.traffic.beside, 1, "{:?}", ran.traffic);
}

/// What is overwritten has been read by all who have to, wherever they are.
pub(crate) fn what_is_overwritten_has_been_read() {
    let steps = [
        changed("add", "a1", "1.0f32", "a20"),
        changed("mul", "a20", "2.0f32", "a21"),
        changed("mul", "a20", "3.0f32", "a22"),
        sweep("a20", "a23"),
        replaced("a20", "a24"),
        joined("add", "a21", "a22", "a25"),
        joined("add", "a23", "a24", "a26"),
        joined("add", "a25", "a26", "a27"),
    ];
    let more: Vec<f32> = numbers().iter().map(|number| number + 1.0).collect();
    let of = |(at, number): (usize, &f32)| {
        let mean = 0.5 * (more[at.saturating_sub(1)] + number);
        (number * 2.0 + number * 3.0) + (mean + at as f32)
    };
    let ran = runs_as(&program(&steps, "a27"), &f32s(more.iter().enumerate().map(of)));
    assert!(ran.traffic.beside > 1, "{:?}", ran.traffic);
}

/// Scalars of one kernel, constants of the host, what the host looks at, and buffers that go between.
pub(crate) fn what_comes_between_is_in_order() {
    let constant =
        "  a30: [7]f32 = constant f32[1.0f32 2.0f32 3.0f32 4.0f32 5.0f32 6.0f32 7.0f32]\n";
    let with_constant = "r1: i64 = rem r0 7i64
                         r2: f32 = read a30 r1
                         r3: f32 = read a20 r0
                         r9: f32 = mul r2 r3";
    let with_sum = "r1: f32 = read a31
                    r2: f32 = read a21 r0
                    r9: f32 = sub r2 r1";
    let look =
        "  a33: f32 = host\n    r0: f32 = read a32\n    r1: f32 = add r0 0.5f32\n    yield r1\n";
    let with_look = "r1: f32 = read a33
                     r2: f32 = read a22 r0
                     r9: f32 = add r2 r1";
    let steps = [
        changed("add", "a1", "1.0f32", "a20"),
        changed("sub", "a1", "1.0f32", "a21"),
        sum("a20", "a31"),
        constant.to_owned(),
        launch(with_constant, "a22"),
        launch(with_sum, "a23"),
        "free a20 a21 a30\n".to_owned(),
        sum("a23", "a32"),
        changed("mul", "a22", "1.0f32", "a24"),
        look.to_owned(),
        launch(with_look, "a25"),
        changed("mul", "a23", "0.5f32", "a26"),
        joined("add", "a24", "a26", "a27"),
        "free a22 a23 a24 a26\n".to_owned(),
        joined("add", "a25", "a27", "a28"),
    ];
    let all = numbers();
    let total: f32 = all.iter().map(|number| number + 1.0).sum();
    let less: Vec<f32> = all.iter().map(|number| (number - 1.0) - total).collect();
    let looked = less.iter().sum::<f32>() + 0.5;
    let of = |at: usize| {
        let product = (at as f32 + 1.0) * (all[at] + 1.0);
        (product + looked) + (product + 0.5 * less[at])
    };
    let ran = runs_as(&program(&steps, "a28"), &f32s((0..all.len()).map(of)));
    assert!(ran.traffic.beside > 3, "{:?}", ran.traffic);
}

/// A loop between kernels in several streams.
pub(crate) fn loops_come_behind_and_before() {
    let looped = format!(
        "a9: i64 = host
  yield 0i64
a10: i64, a8: [a0]f32 = while (a2: i64 = a9, a3: [a0]f32 = a20)
  a4: bool = host
    r0: i64 = read a2
    r1: bool = lt r0 70i64
    yield r1
  yield a4
do
  a7: i64 = host
    r0: i64 = read a2
    r1: i64 = add r0 1i64
    yield r1
{}  free a3
  yield a7 a50
free a20
",
        joined("min", "a3", "a21", "a50")
    );
    let steps = [
        changed("add", "a1", "1.0f32", "a20"),
        changed("mul", "a1", "0.5f32", "a21"),
        changed("mul", "a1", "0.25f32", "a22"),
        looped,
        changed("mul", "a8", "2.0f32", "a23"),
        joined("sub", "a22", "a21", "a24"),
        "free a8 a22\n".to_owned(),
        joined("add", "a23", "a24", "a25"),
    ];
    let of = |number: f32| {
        let least = (number + 1.0).min(number * 0.5);
        least * 2.0 + (number * 0.25 - number * 0.5)
    };
    let ran = runs_as(&program(&steps, "a25"), &each(of));
    assert!(ran.traffic.beside > 2 && ran.traffic.in_graphs > 32, "{:?}", ran.traffic);
}

/// A kernel with a check: the elements are less than a number. Another kind of fault for each.
fn checked(from: &str, below: &str, kind: &str, to: &str) -> String {
    let code = format!(
        "r1: f32 = read {from} r0
         r2: bool = lt r1 {below}
         check r2 {kind}
         r9: f32 = add r1 0.0f32"
    );
    launch(&code, to)
}

/// A kernel that reads beyond the end unless the elements of another array are small.
fn relying(on: &str, from: &str, to: &str) -> String {
    let code = format!(
        "r1: f32 = read {on} r0
         r2: f32 = max r1 0.0f32
         r3: f32 = div r2 100.0f32
         r4: i64 = cast_i64 r3
         r5: i64 = mul r4 1000i64
         r6: i64 = add r0 r5
         r9: f32 = read {from} r6"
    );
    launch(&code, to)
}

pub(crate) fn behind_a_failed_check_nothing_is_done() {
    let text = |first: &str, second: &str| {
        let steps = [
            changed("mul", "a1", "10.0f32", "a20"),
            checked("a1", first, "assert", "a21"),
            checked("a1", second, "division", "a22"),
            relying("a20", "a1", "a23"),
            joined("add", "a21", "a22", "a24"),
            joined("add", "a20", "a23", "a25"),
            joined("add", "a24", "a25", "a26"),
        ];
        program(&steps, "a26")
    };
    // In this order, also where the second one could fail first.
    for mut bench in in_both_orders(&numbers()) {
        let mut kind = |first, second| fault(bench.run(&text(first, second)));
        assert_eq!(kind("8.0f32", "1.0f32"), FaultKind::AssertionFailed);
        assert_eq!(kind("9.0f32", "1.0f32"), FaultKind::AssertionFailed);
        assert_eq!(kind("99.0f32", "16.0f32"), FaultKind::DivisionByZero);
        assert_eq!(bench.device.contexts(), 1);
    }
}

/// Elements at places that are elements of an array, which are checked.
fn gathered(places: &str, from: &str, to: &str) -> String {
    let code = format!(
        "r1: f32 = read {places} r0
         r2: i64 = cast_i64 r1
         r3: bool = ge r2 0i64
         r4: i64 = read a0
         r5: bool = lt r2 r4
         r6: bool = and r3 r5
         check r6 index
         r9: f32 = read {from} r2"
    );
    launch(&code, to)
}

/// What needs nothing of kernels with checks runs beside them, also other ones with checks.
pub(crate) fn checks_hold_nothing_back() {
    let text = |first: &str, second: &str, modulus: &str| {
        let steps = [
            launch(&format!("r1: i64 = mod r0 {modulus}\nr9: f32 = cast_f32 r1"), "a20"),
            checked("a1", first, "assert", "a21"),
            checked("a1", second, "division", "a22"),
            gathered("a20", "a1", "a23"),
            changed("mul", "a1", "0.5f32", "a24"),
            joined("add", "a21", "a22", "a25"),
            "free a21 a22\n".to_owned(),
            // Where the gather has failed, what it should have yielded is garbage.
            gathered("a23", "a1", "a26"),
            joined("add", "a24", "a25", "a27"),
            "free a23 a24 a25\n".to_owned(),
            joined("add", "a26", "a27", "a28"),
        ];
        program(&steps, "a28")
    };
    let inputs: Vec<f32> = (0..7).map(|at| at as f32).collect();
    let expected = f32s((0..7).map(|at| at as f32 * 2.5 + (at % 5) as f32));
    let (assert, division, index) =
        (FaultKind::AssertionFailed, FaultKind::DivisionByZero, FaultKind::IndexOutOfRange);
    for mut bench in in_both_orders(&inputs) {
        let program = bench.program(&text("7.0f32", "8.0f32", "5i64"));
        let ran = bench.yields(&program, &expected, "no check fails");
        // All but the first one and the last one, which needs all.
        assert_eq!(ran.traffic.beside, 7, "{:?}", ran.traffic);
        // Of several that fail, the first one, whichever comes first on the device.
        for (first, second, modulus, expected) in [
            ("3.0f32", "2.0f32", "5i64", assert),
            ("7.0f32", "2.0f32", "5i64", division),
            ("3.0f32", "7.0f32", "9i64", assert),
            ("7.0f32", "2.0f32", "9i64", division),
        ] {
            assert_eq!(fault(bench.run(&text(first, second, modulus))), expected);
        }
        let beyond = text("7.0f32", "7.0f32", "5i64").replace("mod r0", "add r0");
        assert_eq!(fault(bench.run(&beyond)), index);
        // What was there before is there still.
        bench.yields(&program, &expected, "again");
    }
}

/// Buffers of kernels that have no points, and so are not launched.
pub(crate) fn buffers_go_that_nobody_has_used() {
    let (text, _) = branches();
    for mut bench in in_both_orders(&[]) {
        assert_same(&result(bench.run(&text)), &f32s([]), "no elements");
        assert_eq!(bench.device.contexts(), 1);
    }
}

/// A sort by keys that are all the same: what the host has written of their digits, no kernel reads.
pub(crate) fn what_the_host_writes_is_there_before_its_buffer_goes() {
    let sort = "  launch \"sort\" [a0] (r0)
    r1: f32 = read a1 r0
    r2: f32 = mul r1 0.0f32
    r3: f32 = abs r2
    yield r3
    sort r3 to a21: [a0]i64
  end
";
    let gathered = "r1: i64 = read a21 r0
                    r2: bool = ge r1 0i64
                    r3: i64 = read a0
                    r4: bool = lt r1 r3
                    r5: bool = and r2 r4
                    check r5 index
                    r9: f32 = read a20 r1";
    let steps = [changed("add", "a1", "1.0f32", "a20"), sort.to_owned(), launch(gathered, "a22")];
    let ran = runs_as(&program(&steps, "a22"), &each(|number| number + 1.0));
    assert!(ran.traffic.beside > 0, "{:?}", ran.traffic);
}

/// Adds 2 so many times, by two kernels in two streams that read what is given back behind them.
fn given_back_late(times: usize) -> String {
    let mut steps = vec![changed("add", "a1", "0.0f32", "a20")];
    for at in 0..times {
        let (from, wide, other, to) = (20 + 4 * at, 21 + 4 * at, 22 + 4 * at, 24 + 4 * at);
        let [from, wide, other, to] = [from, wide, other, to].map(|number| format!("a{number}"));
        steps.push(changed("add", &from, "1.0f32", &wide));
        steps.push(changed("add", &from, "2.0f32", &other));
        steps.push(format!("free {from}\n"));
        steps.push(joined("max", &wide, &other, &to));
        steps.push(format!("free {wide} {other}\n"));
    }
    program(&steps, &format!("a{}", 20 + 4 * times))
}

/// More launches than a slice has. Where there is little room, what waits for others to be given back makes some.
pub(crate) fn what_is_given_back_late_makes_room() {
    let text = given_back_late(24);
    let expected = f32s((0..100).map(|at| at as f32 + 48.0));
    let input: Vec<f32> = (0..100).map(|at| at as f32).collect();
    for mut bench in in_both_orders(&input) {
        let program = bench.program(&text);
        let ran = bench.yields(&program, &expected, "with much room");
        assert!(ran.traffic.beside > 20, "{:?}", ran.traffic);
    }
    for mut bench in in_both_orders(&input) {
        // The input, and four arrays more.
        bench.stand_in.set_memory(4 * 5 * 100 + 8);
        let program = bench.program(&text);
        bench.yields(&program, &expected, "with little room");
    }
}

/// Buffers outlive their context, also those that wait for streams to join.
pub(crate) fn what_is_late_goes_with_a_lost_context() {
    let (text, expected) = (given_back_late(3), each(|number| number + 6.0));
    let mut lost = 0;
    for call in 1.. {
        let mut bench = Bench::new(ALL);
        let program = bench.program(&text);
        bench.yields(&program, &expected, "before");
        // As if nothing had been lost before.
        bench.stand_in.set_memory(64 << 20);
        let before = bench.stand_in.calls();
        bench.stand_in.fail(call, false);
        let why = match bench.again(&program).results {
            Err(Halt::Broken(Broken::Lost(why))) => why,
            Ok(_) if bench.stand_in.calls() - before < call => break,
            Ok(_) => continue,
            Err(halt) => panic!("call {call}: {halt:?}"),
        };
        bench.stand_in.fail(0, false);
        // What cannot be given back is lost.
        let is_told = why.contains("freeing");
        assert!(is_told || bench.stand_in.lost_bytes() == 0, "call {call}: {why}");
        lost += u32::from(!is_told);
    }
    assert!(lost > 10, "{lost} contexts lost");
}

fn branches() -> (String, Value) {
    let steps = [
        changed("add", "a1", "1.0f32", "a20"),
        changed("mul", "a1", "2.0f32", "a21"),
        joined("add", "a20", "a21", "a22"),
        "free a20 a21\n".to_owned(),
        changed("sub", "a1", "3.0f32", "a23"),
        joined("sub", "a22", "a23", "a24"),
    ];
    let of = |number: f32| ((number + 1.0) + number * 2.0) - (number - 3.0);
    (program(&steps, "a24"), each(of))
}

pub(crate) fn any_call_about_streams_may_fail() {
    let (text, expected) = branches();
    let lost = lost_by_failing_calls(&text, &expected);
    // Streams and their events alone are eleven.
    assert!(lost > 2 * 20, "{lost} contexts lost");
}

pub(crate) fn several_streams_can_be_interrupted_anywhere() {
    let (text, expected) = branches();
    for mut bench in in_both_orders(&numbers()) {
        interrupted_behind(&mut bench, &text, 0..5, &expected);
    }
}
