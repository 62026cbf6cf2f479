//! Inputs that come when they are needed, beside kernels of the same run.

use std::sync::atomic::{AtomicBool, Ordering};

use weft_cuda::{Broken, Halt};
use weft_device::{Kernels, Ran};
use weft_ir::Value;

use crate::bench::{ALL, Bench, PLAIN, interrupted};
use crate::plans::{changed, joined};
use crate::{assert_same, f32s, result};

/// Elements of an input.
const MANY: usize = 300;

/// Four inputs of one length: the first kernel reads the first one, the second one the second; the third one is read
/// by the host alone, one element of it, and the fourth one by nobody.
fn program() -> String {
    let look = "  a30: f32 = host\n    r0: f32 = read a3 2i64\n    yield r0\n";
    [
        "input a1: [a0]f32\ninput a2: [a0]f32\ninput a3: [a0]f32\ninput a4: [a0]f32\n",
        &changed("mul", "a1", "2.0f32", "a20"),
        &joined("add", "a20", "a2", "a21"),
        look,
        &crate::plans::launch(
            "r1: f32 = read a21 r0\nr2: f32 = read a30\nr9: f32 = add r1 r2",
            "a22",
        ),
        "output a22: [a0]f32\n",
    ]
    .concat()
}

fn inputs() -> Vec<Value> {
    (0..4).map(|which| f32s((0..MANY).map(|at| (which * MANY + at) as f32))).collect()
}

fn expected() -> Value {
    f32s((0..MANY).map(|at| (3 * at + MANY) as f32 + (2 * MANY + 2) as f32))
}

/// Runs a program; `observe` hears of every kernel that has been launched.
fn run(
    bench: &mut Bench,
    program: &Kernels,
    inputs: &[Value],
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(),
) -> Ran {
    bench.device.run(program, inputs, 1 << 30, cancel, &mut |_| observe())
}

/// Runs a program without an interrupt.
fn run_all(bench: &mut Bench, program: &Kernels, inputs: &[Value]) -> Ran {
    run(bench, program, inputs, &AtomicBool::new(false), &mut || {})
}

pub(crate) fn inputs_come_beside_kernels() {
    let each = 4 * MANY as u64;
    for last_first in [true, false] {
        let mut bench = Bench::new(ALL);
        bench.stand_in.set_last_first(last_first);
        let program = bench.program(&program());
        // While the compiler works, all come, beside no kernel.
        let place = format!("{last_first}");
        bench.stand_in.set_compiling(500);
        let ran = run_all(&mut bench, &program, &inputs());
        bench.stand_in.set_compiling(0);
        assert_eq!((ran.traffic.uploaded, ran.traffic.overlapped), (4 * each, 0), "{place}");
        assert_same(&result(ran), &expected(), &place);
        // Where there is no compiler to wait for, they come when they are needed.
        let own = inputs();
        let ran = run_all(&mut bench, &program, &own);
        assert_eq!((ran.traffic.uploaded, ran.traffic.overlapped), (3 * each, 2 * each), "{place}");
        assert_same(&result(ran), &expected(), &place);
        let resident: Vec<u64> = own.iter().map(|own| bench.device.resident_bytes(own)).collect();
        assert_eq!(resident, [each, each, each, 0], "{place}");
        let ran = run_all(&mut bench, &program, &own);
        assert_eq!((ran.traffic.uploaded, ran.traffic.reused), (0, 3 * each), "{place}");
        assert_same(&result(ran), &expected(), &place);
        assert_eq!(bench.device.contexts(), 1);
    }
    // With one stream, all come first.
    let mut bench = Bench::new(PLAIN);
    let program = bench.program(&program());
    let ran = run_all(&mut bench, &program, &inputs());
    assert_eq!((ran.traffic.uploaded, ran.traffic.overlapped), (4 * each, 0));
    assert_same(&result(ran), &expected(), "with one stream");
}

/// Before the second kernel is launched, its input has not come, and is not taken for one that has.
pub(crate) fn what_has_not_come_is_not_there() {
    let mut bench = Bench::new(ALL);
    let program = bench.program(&program());
    drop(run_all(&mut bench, &program, &inputs()));
    for kernels in 1..=3 {
        let (own, cancel, mut launched) = (inputs(), AtomicBool::new(false), 0);
        let ran = run(&mut bench, &program, &own, &cancel, &mut || {
            launched += 1;
            cancel.store(launched == kernels, Ordering::SeqCst);
        });
        assert_eq!(ran.results.err(), Some(interrupted()), "{kernels}");
        let here = own.iter().filter(|own| bench.device.resident_bytes(own) > 0).count();
        assert_eq!(here, kernels, "{kernels}");
        let ran = run_all(&mut bench, &program, &own);
        assert_same(&result(ran), &expected(), &format!("{kernels}"));
    }
    // Nobody holds the inputs any more, nor the results.
    drop(run_all(&mut bench, &program, &inputs()));
    assert_eq!((bench.device.residency().arrays, bench.device.contexts()), (4, 1));
}

pub(crate) fn any_call_may_fail_while_inputs_come() {
    let text = program();
    let mut lost = 0;
    for (call, sticky) in (1..).flat_map(|call| [(call, false), (call, true)]) {
        let mut bench = Bench::new(ALL);
        let program = bench.program(&text);
        drop(run_all(&mut bench, &program, &inputs()));
        let (own, before, place) = (inputs(), bench.stand_in.calls(), format!("call {call}"));
        bench.stand_in.fail(call, sticky);
        match run_all(&mut bench, &program, &own).results {
            Ok(results) => assert_same(&results[0], &expected(), &place),
            Err(Halt::Broken(Broken::Lost(why))) => {
                assert!(why.contains("failed"), "{why}");
                lost += 1;
            }
            Err(halt) => panic!("{place}: {halt:?}"),
        }
        let was_reached = bench.stand_in.calls() - before >= call;
        bench.stand_in.fail(0, false);
        let ran = run_all(&mut bench, &program, &own);
        assert_same(&result(ran), &expected(), &format!("after {place}"));
        if !was_reached {
            break;
        }
    }
    assert!(lost > 30, "{lost} contexts lost");
}

/// Inputs of loops are there before them, and of what comes behind too.
pub(crate) fn inputs_of_loops_come_before_them() {
    let text = format!(
        "input a1: [a0]f32\ninput a2: [a0]f32\n{}a9: i64 = host\n  yield 0i64
a10: i64, a8: [a0]f32 = while (a5: i64 = a9, a3: [a0]f32 = a20)
  a4: bool = host
    r0: i64 = read a5
    r1: bool = lt r0 40i64
    yield r1
  yield a4
do
  a7: i64 = host
    r0: i64 = read a5
    r1: i64 = add r0 1i64
    yield r1
{}  free a3
  yield a7 a21
output a8: [a0]f32
",
        changed("mul", "a1", "0.0f32", "a20"),
        joined("add", "a3", "a2", "a21")
    );
    for (config, overlapped) in [(ALL, 4 * MANY as u64), (PLAIN, 0)] {
        let mut bench = Bench::new(config);
        let program = bench.program(&text);
        let expected = f32s((MANY..2 * MANY).map(|at| 40.0 * at as f32));
        drop(run_all(&mut bench, &program, &inputs()[..2]));
        let ran = run_all(&mut bench, &program, &inputs()[..2]);
        assert_eq!(ran.traffic.overlapped, overlapped);
        assert_same(&result(ran), &expected, "a loop");
    }
}
