//! Runs: results, code, interrupts.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

use weft_cuda::Halt;
use weft_device::{Beside, Config, Device, Kernels};
use weft_ir::{Exhausted, Stop, Value};

use crate::{assert_same, device, f32_of, f32s, golden, kernels, result, run, stand_in};

pub(crate) fn the_device_is_found_and_described() {
    stand_in();
    let found = weft_device::find().expect("a device");
    assert_eq!(
        found[0].to_string(),
        "Weft's stand-in, sm_90, 1 multiprocessors; driver of CUDA 13.0, NVRTC 12.99"
    );
    assert_eq!(found[0].bytes, 64 << 20);
}

/// Whatever is missing, it is said what.
pub(crate) fn what_is_missing_is_said() {
    let stand_in = stand_in();
    let why = || match weft_device::find() {
        Ok(found) => panic!("{found:?}"),
        Err(absent) => absent.to_string(),
    };
    stand_in.set_release(11080);
    assert_eq!(why(), "the driver is for CUDA 11.8; it takes one for 12.8 or later");
    stand_in.set_release(13000);
    stand_in.set_devices(0);
    assert_eq!(why(), "the CUDA driver knows of no device");
    stand_in.set_devices(1);
    stand_in.set_architecture(3);
    assert_eq!(why(), "the compiler knows nothing for a device of architecture sm_30");
    stand_in.set_architecture(9);
    stand_in.set_compiler(12060);
    assert_eq!(
        why(),
        "the compiler is of CUDA 12.6; it takes one of 12.8 or later (if there is one, LD_LIBRARY_PATH must name its \
         folder first)"
    );
    stand_in.set_compiler(12990);
    assert_eq!(weft_device::find().map(|found| found.len()), Ok(1));
    // Other processes find one of the libraries alone, or none.
    for (library, why) in [
        (
            None,
            "no CUDA driver was found (the library libcuda.so.1, which comes with NVIDIA's driver)",
        ),
        (
            Some("libcuda.so"),
            "there is a device, but no compiler for it (the library libnvrtc.so of CUDA; if it is installed, \
             LD_LIBRARY_PATH must name its folder)",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        if let Some(name) = library {
            let own = env::var("LD_LIBRARY_PATH").expect("the folder of the stand-in");
            let own = Path::new(own.split(':').next().unwrap_or_default()).join(name);
            symlink(fs::canonicalize(own).expect("the stand-in"), folder.path().join(name))
                .expect("a link");
        }
        let program = env::current_exe().expect("this program");
        let output = Command::new(program)
            .arg(crate::DESCRIBE)
            .env("LD_LIBRARY_PATH", folder.path())
            .output()
            .expect("this program");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // The machine may have what is missing here.
        let is_said = said.trim_end() == why;
        assert!(is_said || said.starts_with("on this machine: "), "{said}");
    }
}

pub(crate) fn results_are_those_of_the_host() {
    stand_in();
    let mut device = device();
    for length in [0, 1, 1000, 5000] {
        let numbers = || (0..length).map(|at| (at % 17) as f32 - 8.0);
        let inputs = [f32s(numbers())];
        let scanned = golden(&device, "prefix_sum");
        let sums = numbers().scan(0.0, |sum, number| {
            *sum += number;
            Some(*sum)
        });
        assert_same(&result(run(&mut device, &scanned, &inputs)), &f32s(sums), "sums");
        let filtered = golden(&device, "filter");
        let kept = numbers().filter(|number| *number > 0.0).map(|number| number * 2.0);
        assert_same(&result(run(&mut device, &filtered, &inputs)), &f32s(kept), "filter");
        let multiplied = golden(&device, "dot");
        let dot: f32 = numbers().map(|number| number * number).sum();
        let both = [inputs[0].clone(), inputs[0].clone()];
        assert_eq!(f32_of(&result(run(&mut device, &multiplied, &both))), dot, "{length}");
    }
    let unequal = [f32s([1.0]), f32s([1.0, 2.0])];
    let multiplied = golden(&device, "dot");
    let halted = run(&mut device, &multiplied, &unequal).results;
    assert!(matches!(halted, Err(Halt::Stop(Stop::Fault(_)))), "{halted:?}");
    assert_eq!(device.contexts(), 1);
}

pub(crate) fn many_modules_are_unloaded() {
    let stand_in = stand_in();
    let config = Config { modules: 3, ..crate::CONFIG };
    let found = weft_device::find().expect("a device");
    let mut device = Device::open(found[0].clone(), &config).expect("a context");
    let plans = ["prefix_sum", "filter", "dot"].map(|name| golden(&device, name));
    let inputs = [f32s([1.0, -2.0, 3.0]), f32s([1.0, 0.0, 1.0])];
    drop(stand_in.profile());
    let (mut loaded, mut unloaded, mut first) = (0, 0, Vec::new());
    for turn in 0..4 {
        for (number, plan) in plans.iter().enumerate() {
            let count = if number == 2 { 2 } else { 1 };
            let found = result(run(&mut device, plan, &inputs[..count]));
            // Behind that, code that was there before is loaded once more.
            match first.get(number) {
                None => first.push(found),
                Some(expected) => assert_same(&found, expected, "the same again"),
            }
            for (name, calls, _) in stand_in.profile() {
                loaded += if name == "cuModuleLoadData" { calls } else { 0 };
                unloaded += if name == "cuModuleUnload" { calls } else { 0 };
            }
            // A run begins with two at most, and has one or two.
            assert!(loaded - unloaded <= 4, "{loaded} loaded, {unloaded} unloaded, turn {turn}");
        }
    }
    assert!(unloaded >= 9, "{unloaded} unloaded");
    assert_eq!(device.contexts(), 1);
}

pub(crate) fn code_is_kept_in_memory_and_on_disk() {
    stand_in();
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config {
        cache: Some(folder.path().join("code")),
        cache_bytes: 1 << 20,
        graphs: true,
        streams: Beside::All,
        compilers: 1,
        modules: 4096,
        cleared: 0,
    };
    let open = || {
        let found = weft_device::find().expect("a device");
        Device::open(found[0].clone(), &config).expect("a context")
    };
    let inputs = [f32s([1.0, 2.0])];
    let mut first = open();
    let scanned = golden(&first, "prefix_sum");
    assert!(!run(&mut first, &scanned, &inputs).traffic.cached);
    assert!(run(&mut first, &scanned, &inputs).traffic.cached);
    assert_eq!(first.statistics().compiled, 1);
    drop(first);
    let mut second = open();
    assert_same(&result(run(&mut second, &scanned, &inputs)), &f32s([1.0, 3.0]), "from disk");
    let found = second.statistics();
    assert_eq!((found.compiled, found.from_disk), (0, 1));
}

pub(crate) fn what_is_hardly_ever_launched_is_compiled_then() {
    stand_in();
    let mut device = device();
    let multiplied = golden(&device, "dot");
    let dot = |device: &mut Device, numbers: &[f32]| {
        let input = f32s(numbers.iter().copied());
        f32_of(&result(run(device, &multiplied, &[input.clone(), input])))
    };
    assert_eq!(dot(&mut device, &[3.0, 4.0]), 25.0);
    assert_eq!(device.statistics().compiled, 1);
    // A fold of no elements is one of short rows.
    assert_eq!(dot(&mut device, &[]), 0.0);
    assert_eq!(device.statistics().compiled, 2);
    assert_eq!((dot(&mut device, &[]), dot(&mut device, &[2.0])), (0.0, 4.0));
    assert_eq!(device.statistics().compiled, 2);
}

/// Interrupts a run when one of its kernels has begun; how many were launched after that.
pub(crate) fn interrupted(device: &mut Device, kernels: &Kernels, inputs: &[Value]) -> u64 {
    let (stand_in, cancel) = (stand_in(), AtomicBool::new(false));
    thread::scope(|scope| {
        let before = stand_in.begun();
        let running = scope.spawn(|| {
            let ran = device.run(kernels, inputs, 1 << 30, &cancel, &mut |_| {});
            ran.results
        });
        while stand_in.begun() == before && !running.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        cancel.store(true, Ordering::SeqCst);
        let launched = stand_in.launches();
        let results = running.join().expect("a run");
        let interrupted = Halt::Stop(Stop::Exhausted(Exhausted::Interrupted));
        assert_eq!(results.err(), Some(interrupted));
        stand_in.launches() - launched
    })
}

/// Runs a program behind one that was interrupted; how often the kernels of both accessed memory from then on.
fn accesses_behind(device: &mut Device, then: impl FnOnce(&mut Device)) -> u64 {
    let stand_in = stand_in();
    then(device);
    assert_eq!(device.contexts(), 1);
    stand_in.late_accesses()
}

pub(crate) fn a_long_kernel_can_be_interrupted() {
    stand_in();
    let mut device = device();
    let multiplied = golden(&device, "dot");
    let few = f32s([3.0, 4.0]);
    let squares = [few.clone(), few];
    assert_eq!(f32_of(&result(run(&mut device, &multiplied, &squares))), 25.0);
    // Many tiles of 4096 elements, each of them read from both arrays: some 20 million accesses.
    let many = f32s((0..4_000_000).map(|_| 1.0));
    interrupted(&mut device, &multiplied, &[many.clone(), many]);
    let accesses = accesses_behind(&mut device, |device| {
        assert_eq!(f32_of(&result(run(device, &multiplied, &squares))), 25.0);
    });
    // At most the tile at hand; all others only look whether they are to begin.
    assert!(accesses < 100_000, "{accesses} accesses");
}

pub(crate) fn an_endless_loop_in_a_kernel_can_be_interrupted() {
    stand_in();
    let mut device = device();
    let endless = kernels(
        &device,
        "input a1: [a0]f32\n\
         launch \"map\" [a0] (r0)\n\
         \x20 r1: f32 = read a1 r0\n\
         \x20 r2: f32 = while (r3: f32 = r1)\n\
         \x20   r4: bool = ge r3 0.0f32\n\
         \x20   yield r4\n\
         \x20 do\n\
         \x20   r5: f32 = add r3 1.0f32\n\
         \x20   yield r5\n\
         \x20 yield r2\n\
         \x20 store r2 to a2: [a0]f32\n\
         end\n\
         output a2: [a0]f32\n",
    );
    let below = f32s([-1.0, -2.0]);
    let ended = result(run(&mut device, &endless, std::slice::from_ref(&below)));
    assert_same(&ended, &below, "loops that do not begin");
    interrupted(&mut device, &endless, &[f32s([0.0, 1.0])]);
    let accesses = accesses_behind(&mut device, |device| {
        let ended = result(run(device, &endless, std::slice::from_ref(&below)));
        assert_same(&ended, &below, "after an endless loop");
    });
    assert!(accesses < 1000, "{accesses} accesses");
}

/// Scalars that kernels compute stay where kernels read them, and a check that fails stops what comes behind.
pub(crate) fn nothing_is_read_that_nothing_depends_on() {
    stand_in();
    let mut device = device();
    let text = |limit: &str| {
        format!(
            "input a1: [a0]f32\n\
             launch \"sum\" [a0] (r0)\n\
             \x20 r1: f32 = read a1 r0\n\
             \x20 r2: bool = lt r1 {limit}\n\
             \x20 check r2 assert\n\
             \x20 yield r1\n\
             \x20 reduce r1 as (r3: f32) to a2: f32\n\
             \x20 by (r4: f32) (r5: f32)\n\
             \x20   r6: f32 = add r4 r5\n\
             \x20   yield r6\n\
             \x20 from ()\n\
             \x20   yield 0.0f32\n\
             end\n\
             launch \"map\" [a0] (r7)\n\
             \x20 r8: f32 = read a1 r7\n\
             \x20 r9: f32 = read a2\n\
             \x20 r10: f32 = div r8 r9\n\
             \x20 yield r10\n\
             \x20 store r10 to a3: [a0]f32\n\
             end\n\
             output a3: [a0]f32\n"
        )
    };
    let holds = kernels(&device, &text("100.0f32"));
    let input = f32s([1.0, 2.0, 5.0]);
    let ran = run(&mut device, &holds, std::slice::from_ref(&input));
    // The result, and the word that says that no check has failed.
    assert_eq!(ran.traffic.downloaded, 12 + 4);
    assert_same(&result(ran), &f32s([0.125, 0.25, 0.625]), "shares");
    let fails = kernels(&device, &text("5.0f32"));
    let ran = run(&mut device, &fails, std::slice::from_ref(&input));
    assert!(matches!(ran.results, Err(Halt::Stop(Stop::Fault(_)))), "{:?}", ran.results);
    assert_eq!(ran.traffic.downloaded, 4);
    assert_same(&result(run(&mut device, &holds, &[f32s([3.0])])), &f32s([1.0]), "afterwards");
    assert_eq!(device.contexts(), 1);
}

pub(crate) fn a_long_plan_can_be_interrupted() {
    stand_in();
    let mut device = device();
    let endless = kernels(
        &device,
        "input a1: [a0]f32\n\
         a3: [a0]f32 = while (a2: [a0]f32 = a1)\n\
         \x20 a4: bool = host\n\
         \x20   yield true\n\
         \x20 yield a4\n\
         do\n\
         \x20 launch \"map\" [a0] (r0)\n\
         \x20   r1: f32 = read a2 r0\n\
         \x20   r2: f32 = add r1 1.0f32\n\
         \x20   yield r2\n\
         \x20   store r2 to a5: [a0]f32\n\
         \x20 end\n\
         \x20 yield a5\n\
         output a3: [a0]f32\n",
    );
    let launched = interrupted(&mut device, &endless, &[f32s([0.0, 1.0])]);
    // At most one that was under way.
    assert!(launched <= 1, "{launched} launches");
    let multiplied = golden(&device, "dot");
    let inputs = [f32s([3.0]), f32s([4.0])];
    let accesses = accesses_behind(&mut device, |device| {
        assert_eq!(f32_of(&result(run(device, &multiplied, &inputs))), 12.0);
    });
    // What was queued, two slices at most, does nothing.
    assert!(accesses < 1000, "{accesses} accesses");
}

pub(crate) fn copying_has_a_rate() {
    let stand_in = stand_in();
    let mut device = device();
    let held = device.residency();
    let rate = device.copying(1 << 16).expect("room");
    assert!(rate.is_none_or(|rate| rate > 0.0), "{rate:?}");
    assert_eq!(device.residency(), held);
    stand_in.set_memory(1 << 16);
    let why = device.copying(1 << 20).expect_err("no room for two");
    assert!(why.contains("allocating memory"), "{why}");
    assert_eq!(device.contexts(), 1);
}
