//! What the driver demands, or takes its time for: loading, large copies, contexts that are lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weft_cuda::{Broken, Halt};
use weft_device::{Beside, Config, Device};
use weft_ir::{Exhausted, Stop, Value};

use crate::bench::ALL;
use crate::runs::interrupted;
use crate::{assert_same, device, f32_of, f32s, golden, kernels, result, run, stand_in};

/// A kernel that never ends if there is a number that is not negative.
const ENDLESS: &str = "launch \"endless\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = while (r3: f32 = r1)
    r4: bool = ge r3 0.0f32
    yield r4
  do
    r5: f32 = add r3 1.0f32
    yield r5
  yield r2
  store r2 to a2: [a0]f32
end
";

/// Runs a program to its end, but no longer than a while.
fn ended(device: &mut Device, text: &str, inputs: &[Value]) -> Value {
    let kernels = kernels(device, text);
    let (cancel, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2000 {
                thread::sleep(Duration::from_millis(10));
                if is_done.load(Ordering::SeqCst) {
                    return;
                }
            }
            cancel.store(true, Ordering::SeqCst);
        });
        let ran = device.run(&kernels, inputs, 1 << 30, &cancel, &mut |_| {});
        is_done.store(true, Ordering::SeqCst);
        result(ran)
    })
}

/// What ends kernels comes behind what says that they go on, even if that has not been done yet.
pub(crate) fn an_interrupt_at_once_is_not_lost() {
    stand_in();
    let mut device = device();
    let text = format!("input a1: [a0]f32\n{ENDLESS}output a2: [a0]f32\n");
    let below = f32s([-1.0]);
    assert_same(&ended(&mut device, &text, std::slice::from_ref(&below)), &below, "it ends");
    let endless = kernels(&device, &text);
    for _ in 0..3 {
        let cancel = AtomicBool::new(false);
        let ran = device.run(&endless, &[f32s([1.0])], 1 << 30, &cancel, &mut |_| {
            cancel.store(true, Ordering::SeqCst);
        });
        assert_eq!(ran.results.err(), Some(Halt::Stop(Stop::Exhausted(Exhausted::Interrupted))));
    }
    assert_same(&ended(&mut device, &text, std::slice::from_ref(&below)), &below, "behind them");
    assert_eq!(device.contexts(), 1);
}

/// Code that is compiled late is loaded when the device is idle, and waiting for that can be interrupted.
pub(crate) fn waiting_to_load_can_be_interrupted() {
    stand_in();
    let mut device = device();
    let both = kernels(
        &device,
        &format!(
            "input a1: [a0]f32\ninput a4: [a3]f32\n{ENDLESS}\
             launch \"sum\" [a3] (r6)\n\
             \x20 r7: f32 = read a4 r6\n\
             \x20 yield r7\n\
             \x20 reduce r7 as (r8: f32) to a5: f32\n\
             \x20 by (r9: f32) (r10: f32)\n\
             \x20   r11: f32 = add r9 r10\n\
             \x20   yield r11\n\
             \x20 from ()\n\
             \x20   yield 0.0f32\n\
             end\n\
             output a2: [a0]f32\noutput a5: f32\n"
        ),
    );
    let results = run(&mut device, &both, &[f32s([-1.0]), f32s([1.0, 2.0])]).results;
    assert_eq!(f32_of(&results.expect("results")[1]), 3.0);
    // A fold of no elements is one of short rows, which is compiled then.
    interrupted(&mut device, &both, &[f32s([1.0]), f32s([])]);
    let results = run(&mut device, &both, &[f32s([-1.0]), f32s([])]).results;
    assert_eq!(f32_of(&results.expect("results")[1]), 0.0);
}

/// All units are loaded before the first kernel, also where that is of a function that is compiled alone.
pub(crate) fn units_are_loaded_before_a_rare_function() {
    stand_in();
    let mut device = device();
    // Of no elements, and what that comes to never does if there is a number that is not negative.
    let both = kernels(
        &device,
        "input a1: [a0]f32
input a3: [a2]f32
launch \"sum\" [a2] (r0)
  r1: f32 = read a3 r0
  yield r1
  reduce r1 as (r2: f32) to a4: f32
  by (r3: f32) (r4: f32)
    r5: f32 = add r3 r4
    yield r5
  from ()
    r6: f32 = read a1 0i64
    r7: f32 = while (r8: f32 = r6)
      r9: bool = ge r8 0.0f32
      yield r9
    do
      r10: f32 = add r8 1.0f32
      yield r10
    yield r7
end
launch \"more\" [a0] (r11)
  r12: f32 = read a1 r11
  r13: f32 = add r12 1.0f32
  yield r13
  store r13 to a5: [a0]f32
end
output a4: f32
output a5: [a0]f32
",
    );
    interrupted(&mut device, &both, &[f32s([1.0]), f32s([])]);
    let results = run(&mut device, &both, &[f32s([-1.0]), f32s([])]).results.expect("results");
    assert_eq!(f32_of(&results[0]), -1.0);
    assert_same(&results[1], &f32s([0.0]), "the other one");
}

/// As is what comes behind kernels in one large copy.
pub(crate) fn waiting_to_copy_can_be_interrupted() {
    stand_in();
    let mut device = device();
    let constant = (0..20_000).map(|number| format!("{number}.0f32")).collect::<Vec<_>>().join(" ");
    let both = kernels(
        &device,
        &format!(
            "input a1: [a0]f32\n{ENDLESS}\
             a5: [20000]f32 = constant f32[{constant}]\n\
             output a2: [a0]f32\noutput a5: [20000]f32\n"
        ),
    );
    interrupted(&mut device, &both, &[f32s([1.0])]);
    let results = run(&mut device, &both, &[f32s([-1.0])]).results.expect("results");
    assert_same(&results[1], &f32s((0..20_000).map(|number| number as f32)), "the constant");
}

/// Buffers outlive their context, so they are given back before it goes.
pub(crate) fn a_lost_context_has_nothing() {
    let stand_in = stand_in();
    let numbers = f32s((0..1000).map(|number| number as f32));
    let mut lost = 0;
    for call in 1..60 {
        let mut device = device();
        let kernels = golden(&device, "prefix_sum");
        result(run(&mut device, &kernels, &[f32s([1.0])]));
        stand_in.fail(call, false);
        let ran = run(&mut device, &kernels, std::slice::from_ref(&numbers));
        let why = match ran.results {
            Err(Halt::Broken(Broken::Lost(why))) => Some(why),
            Ok(_) | Err(_) => None,
        };
        stand_in.fail(0, false);
        lost += u32::from(why.is_some());
        result(run(&mut device, &kernels, std::slice::from_ref(&numbers)));
        // What cannot be given back is lost, but of what the host has let go of nothing is.
        if why.is_none_or(|why| !why.contains("freeing")) {
            assert_eq!(stand_in.lost_bytes(), 0, "call {call}");
        }
        stand_in.set_memory(64 << 20);
    }
    assert!(lost > 5, "{lost} contexts lost");
}

/// A driver that refuses a new context is asked three times, and then no more.
pub(crate) fn a_driver_that_refuses_is_left_alone() {
    let stand_in = stand_in();
    let mut device = device();
    let kernels = golden(&device, "prefix_sum");
    let input = [f32s([1.0, 2.0])];
    result(run(&mut device, &kernels, &input));
    let mut why = || match run(&mut device, &kernels, &input).results {
        Err(Halt::Broken(Broken::Lost(why))) => why,
        other => panic!("{other:?}"),
    };
    stand_in.set_refusing(true);
    stand_in.fail(1, true);
    let said = [why(), why(), why()];
    assert!(!said[1].contains("new start") && said[2].contains("new start"), "{said:?}");
    let calls = stand_in.calls();
    assert_eq!((why(), stand_in.calls()), (said[2].clone(), calls));
    stand_in.set_refusing(false);
}

/// Contexts that are kept are taken over with all that is loaded, and end with what keeps them.
pub(crate) fn contexts_are_kept() {
    let stand_in = stand_in();
    let others = stand_in.used_bytes();
    let found = weft_device::find().expect("a device");
    let config = Config {
        cache: None,
        cache_bytes: 0,
        graphs: true,
        streams: Beside::All,
        compilers: 4,
        modules: 4096,
        cleared: 1 << 16,
    };
    let once = || {
        let mut device = Device::open(found[0].clone(), &config).expect("a context");
        let kernels = golden(&device, "prefix_sum");
        let sums = result(run(&mut device, &kernels, &[f32s([1.0, 2.0])]));
        assert_same(&sums, &f32s([1.0, 3.0]), "sums");
        device.statistics().compiled
    };
    let kept = weft_device::keep_contexts();
    assert_eq!((once(), once()), (1, 0));
    let calls = stand_in.calls();
    let device = Device::open(found[0].clone(), &config).expect("a context");
    assert_eq!(stand_in.calls(), calls, "it is there");
    drop(device);
    let kept_bytes = stand_in.used_bytes() - others;
    assert!(kept_bytes < 100, "{kept_bytes} bytes are kept");
    drop(kept);
    assert_eq!((once(), stand_in.lost_bytes()), (1, 0));
}

/// A context that was kept is made current before it is used, also in another thread.
pub(crate) fn kept_contexts_are_made_current() {
    stand_in();
    let sums = || {
        let mut device = device();
        let kernels = golden(&device, "prefix_sum");
        assert_same(
            &result(run(&mut device, &kernels, &[f32s([1.0, 2.0])])),
            &f32s([1.0, 3.0]),
            "sums",
        );
        assert_eq!(device.contexts(), 1);
    };
    let _kept = weft_device::keep_contexts();
    sums();
    thread::scope(|scope| scope.spawn(sums).join().expect("no panic"));
    // Two at once, of which one has a new context: what was current then is not the one that was kept.
    let mut both = [device(), device()];
    for at in [0, 1, 0] {
        let device = &mut both[at];
        let kernels = golden(device, "prefix_sum");
        let sums = result(run(device, &kernels, &[f32s([2.0, 2.0])]));
        assert_same(&sums, &f32s([2.0, 4.0]), "sums");
        assert_eq!(device.contexts(), 1);
    }
    drop(both);
    sums();
}

/// What the device clears before runs goes when that are other bytes, and is no reason to lose it.
pub(crate) fn what_is_cleared_needs_room() {
    let stand_in = stand_in();
    let others = stand_in.used_bytes();
    let found = weft_device::find().expect("a device");
    let _kept = weft_device::keep_contexts();
    for cleared in [1 << 16, 1 << 18, 1 << 17] {
        let config = Config { cleared, ..ALL };
        let mut device = Device::open(found[0].clone(), &config).expect("a context");
        let kernels = golden(&device, "prefix_sum");
        let input = [f32s([1.0, 2.0])];
        for _ in 0..2 {
            result(run(&mut device, &kernels, &input));
            let used = stand_in.used_bytes() - others;
            assert!((cleared..cleared + 1000).contains(&used), "{used} of {cleared}");
        }
        if cleared == 1 << 17 {
            let config = Config { cleared: 1 << 20, ..ALL };
            drop(device);
            stand_in.set_memory(1 << 19);
            let mut device = Device::open(found[0].clone(), &config).expect("a context");
            match run(&mut device, &kernels, &input).results {
                Err(Halt::Broken(Broken::Memory { wanted, .. })) => assert_eq!(wanted, 1 << 20),
                other => panic!("{other:?}"),
            }
            assert!(!device.is_lost());
            stand_in.set_memory(64 << 20);
            result(run(&mut device, &kernels, &input));
            assert_eq!(device.contexts(), 1);
        }
    }
}
