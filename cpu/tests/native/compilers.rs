//! The compiler and the cache: switching while a program runs, no compiler, bad ones, other processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weft_cpu::{Native, NativeConfig, Statistics, Tier};

use crate::{config, f32s, i64s, same, try_run};

const MAP: &str = "input a1: [a0]f32
launch \"map\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = exp r1
  r3: f32 = log r2
  r4: f32 = tanh r3
  yield r4
  store r4 to a2: [a0]f32
end
output a2: [a0]f32
";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A program that stands for a compiler.
fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("compiler");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("mine");
    path
}

/// Runs with such compilers; what became of the functions, and the notice.
fn with_compilers(compilers: Vec<String>, tier: Tier) -> (Statistics, Option<String>) {
    with_patience(compilers, tier, Duration::from_secs(60))
}

/// As [`with_compilers`], which may take so long.
fn with_patience(
    compilers: Vec<String>,
    tier: Tier,
    patience: Duration,
) -> (Statistics, Option<String>) {
    let config = NativeConfig { compilers, patience, ..config(None) };
    let native = Native::new(config);
    let inputs = [f32s(3000)];
    let expected = try_run(MAP, &inputs, 1, None).expect("a value");
    for _ in 0..3 {
        let found = try_run(MAP, &inputs, 1, Some((&native, tier))).expect("a value");
        assert!(same(&expected, &found));
    }
    let notice = native.take_notice();
    assert_eq!(native.take_notice(), None, "a notice comes once");
    (native.statistics(), notice)
}

#[test]
fn without_a_compiler_everything_is_interpreted() {
    let (statistics, notice) =
        with_compilers(vec!["no-such-compiler".to_owned(), String::new()], Tier::Native);
    assert_eq!(statistics.compiled, 0);
    assert!(notice.expect("a notice").contains("no C compiler answers"));
}

#[test]
fn a_folder_that_cannot_be_written_is_named_once_and_tried_again() {
    let folder = folder();
    // No folder can be made there as long as there is a file.
    let scratch = folder.path().join("scratch");
    fs::write(&scratch, "").expect("a file");
    let config = NativeConfig { scratch: scratch.clone(), ..config(None) };
    let has_compiler = config.has_compiler();
    let native = Native::new(config);
    let run = || try_run(MAP, &[f32s(3000)], 1, Some((&native, Tier::Native))).expect("a value");
    run();
    let notice = native.take_notice().expect("a notice");
    assert!(notice.contains("cannot write to the folder for temporary files"), "{notice}");
    assert!(notice.contains(&scratch.display().to_string()), "{notice}");
    run();
    assert_eq!(native.take_notice(), None, "it has been said");
    assert_eq!(native.statistics().compiled, 0);
    fs::remove_file(&scratch).expect("the file");
    run();
    assert_eq!(native.statistics().compiled, u64::from(has_compiler));
}

#[test]
fn a_compiler_that_fails_is_told_once() {
    let folder = folder();
    let path = script(
        folder.path(),
        "if [ \"$1\" = --version ]; then echo bad 1.0; else echo 'error: too tired' >&2; exit 1; fi",
    );
    let (statistics, notice) = with_compilers(vec![path.display().to_string()], Tier::Native);
    assert_eq!((statistics.compiled, statistics.failed), (0, 1));
    assert!(notice.expect("a notice").contains("too tired"));
}

#[test]
fn a_compiler_that_breaks_down_over_vectors_is_asked_for_none() {
    let folder = folder();
    // As GCC 12 breaks down: an error of its own is the first that it says.
    let text =
        "case \"$*\" in --version) exec cc --version ;; *-fno-openmp-simd*) exec cc \"$@\" ;; esac
echo 'kernels.c:1: error: unrecognizable insn:' >&2
echo 'kernels.c:1: internal compiler error: in extract_insn, at recog.cc:2791' >&2
exit 1";
    let path = script(folder.path(), text);
    let (statistics, notice) = with_compilers(vec![path.display().to_string()], Tier::Native);
    assert_eq!((statistics.compiled, statistics.failed, notice), (1, 0, None));
    // Or over vectors that it makes by itself.
    let path = script(folder.path(), &text.replace("openmp-simd", "tree-vectorize"));
    let (statistics, notice) = with_compilers(vec![path.display().to_string()], Tier::Native);
    assert_eq!((statistics.compiled, statistics.failed, notice), (1, 0, None));
    // Where it breaks down all the same, that is what is said.
    let path = script(folder.path(), &text.replace("*-fno-openmp-simd*) exec cc \"$@\" ;; ", ""));
    let (statistics, notice) = with_compilers(vec![path.display().to_string()], Tier::Native);
    assert_eq!((statistics.compiled, statistics.failed), (0, 1));
    let notice = notice.expect("a notice");
    assert!(notice.contains("internal compiler error: in extract_insn"), "{notice}");
}

#[test]
fn a_compiler_that_writes_nothing_or_rubbish_does_no_harm() {
    for rubbish in
        ["", "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo rubbish > \"$2\"; shift; done; true"]
    {
        let folder = folder();
        let text = format!("if [ \"$1\" = --version ]; then echo odd 1.0; fi\n{rubbish}");
        let path = script(folder.path(), &text);
        let (statistics, notice) = with_compilers(vec![path.display().to_string()], Tier::Native);
        assert_eq!((statistics.compiled, statistics.failed), (0, 1));
        assert!(notice.is_some());
    }
}

#[test]
fn a_compiler_that_hangs_is_killed() {
    let folder = folder();
    let text = "if [ \"$1\" = --version ]; then echo slow 1.0; else exec sleep 1000; fi";
    let path = script(folder.path(), text);
    let begin = Instant::now();
    let (compilers, patience) = (vec![path.display().to_string()], Duration::from_secs(1));
    let (statistics, notice) = with_patience(compilers, Tier::Native, patience);
    assert_eq!((statistics.compiled, statistics.failed), (0, 1));
    assert!(notice.expect("a notice").contains("longer than"));
    assert!(begin.elapsed() < Duration::from_secs(100));
}

#[test]
fn a_compiler_that_is_killed_leaves_nothing_behind() {
    let folder = folder();
    // As compilers do, it has files of its own, and does not come to removing them.
    let left = folder.path().join("left");
    let text = format!(
        "if [ \"$1\" = --version ]; then echo slow 1.0; exit; fi
         mktemp -p \"${{TMPDIR:-/tmp}}\" > {}; exec sleep 1000",
        left.display()
    );
    let path = script(folder.path(), &text);
    let (compilers, patience) = (vec![path.display().to_string()], Duration::from_secs(1));
    let (statistics, _) = with_patience(compilers, Tier::Native, patience);
    assert_eq!((statistics.compiled, statistics.failed), (0, 1));
    let left = fs::read_to_string(left).expect("it has begun");
    assert!(left.starts_with('/') && !Path::new(left.trim_end()).exists(), "{left}");
}

#[test]
fn the_next_compiler_is_tried() {
    let (statistics, notice) =
        with_compilers(vec!["no-such-compiler".to_owned(), "cc".to_owned()], Tier::Native);
    assert_eq!((statistics.compiled, statistics.failed), (1, 0));
    assert_eq!(statistics.known, 2, "the same function again in each preparation");
    assert_eq!(notice, None);
}

#[test]
fn the_block_interpreter_asks_no_compiler() {
    let (statistics, notice) = with_compilers(vec!["cc".to_owned()], Tier::Interpreted);
    assert_eq!((statistics, notice), (Statistics::default(), None));
}

#[test]
fn code_that_runs_for_long_becomes_native_in_the_background() {
    let native = Native::new(config(None));
    let small = [f32s(100)];
    try_run(MAP, &small, 1, Some((&native, Tier::Automatic))).expect("a value");
    assert_eq!(native.statistics(), Statistics::default(), "tiny work stays interpreted");
    let inputs = [f32s(400_000)];
    let expected = try_run(MAP, &inputs, 1, None).expect("a value");
    let begin = Instant::now();
    while native.statistics().compiled == 0 && begin.elapsed() < Duration::from_secs(120) {
        let found = try_run(MAP, &inputs, 2, Some((&native, Tier::Automatic))).expect("a value");
        assert!(same(&expected, &found));
    }
    assert_eq!(native.statistics().failed, 0);
    assert_eq!(native.statistics().compiled, 1);
    let found = try_run(MAP, &inputs, 2, Some((&native, Tier::Automatic))).expect("a value");
    assert!(same(&expected, &found));
}

/// Two points with loops of so many turns.
fn two_loops(turns: i64) -> String {
    format!(
        "input a1: [a0]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64, r3: i64 = while (r4: i64 = r1, r5: i64 = 0i64)
    r6: bool = lt r5 {turns}i64
    yield r6
  do
    r7: i64 = shl r4 1i64
    r8: i64 = bit_xor r4 r7
    r9: i64 = add r5 1i64
    yield r8 r9
  yield r2
  store r2 to a2: [a0]i64
end
output a2: [a0]i64
"
    )
}

#[test]
fn a_block_that_takes_long_is_begun_again_by_a_function() {
    let native = Native::new(config(None));
    let inputs = [i64s(2, 1000)];
    // Not one that is done before there is a function.
    let text = two_loops(100);
    let expected = try_run(&text, &inputs, 1, None).expect("a value");
    let found = try_run(&text, &inputs, 1, Some((&native, Tier::Automatic))).expect("a value");
    assert!(same(&expected, &found));
    assert_eq!(native.statistics().overtaken, 0);
    // Some seconds on the interpreter, where a compiler takes a tenth of one.
    let text = two_loops(50_000_000);
    let expected = try_run(&text, &inputs, 1, Some((&native, Tier::Native))).expect("a value");
    let native = Native::new(config(None));
    let found = try_run(&text, &inputs, 1, Some((&native, Tier::Automatic))).expect("a value");
    assert!(same(&expected, &found));
    let statistics = native.statistics();
    assert_eq!((statistics.compiled, statistics.overtaken), (1, 1));
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_forgotten_is_unloaded() {
    let folder = folder();
    let cache = folder.path().join("cache");
    let native = Native::new(config(Some(&cache)));
    let inputs = [f32s(3000)];
    let run = || try_run(MAP, &inputs, 1, Some((&native, Tier::Native))).expect("a value");
    let expected = run();
    let is_loaded = || {
        let maps = fs::read_to_string("/proc/self/maps").expect("what is mapped");
        maps.contains(&*cache.to_string_lossy())
    };
    assert!(is_loaded(), "the next run may want it");
    native.forget();
    let begin = Instant::now();
    while is_loaded() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it is still loaded");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(same(&expected, &run()), "it is loaded again");
    assert_eq!((native.statistics().compiled, native.statistics().from_disk), (1, 1));
}

#[test]
fn another_process_finds_what_was_compiled() {
    let folder = folder();
    let cache = folder.path().join("cache");
    let inputs = [f32s(3000)];
    let expected = try_run(MAP, &inputs, 1, None).expect("a value");
    let run = || {
        // A service of its own, as another process has.
        let native = Native::new(config(Some(&cache)));
        let found = try_run(MAP, &inputs, 1, Some((&native, Tier::Native))).expect("a value");
        assert!(same(&expected, &found));
        let statistics = native.statistics();
        (statistics.compiled, statistics.from_disk, statistics.failed)
    };
    assert_eq!(run(), (1, 0, 0));
    assert_eq!(run(), (0, 1, 0));
    for file in fs::read_dir(&cache).expect("a folder").flatten() {
        if file.path().extension().is_some_and(|extension| extension == "so") {
            let bytes = fs::read(file.path()).expect("readable");
            fs::remove_file(file.path()).expect("mine");
            fs::write(file.path(), &bytes[..bytes.len() / 2]).expect("writable");
        }
    }
    assert_eq!(run(), (1, 0, 0), "half an object is none");
    assert_eq!(run(), (0, 1, 0));
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).expect("mine");
    assert_eq!(run(), (1, 0, 0), "a folder that is open to others is not used");
}

#[test]
fn a_session_that_ends_takes_its_compiler_with_it() {
    let (scratch, folder) = (folder(), folder());
    let started = folder.path().join("started");
    let text = format!(
        "if [ \"$1\" = --version ]; then echo slow 1.0; exit; fi\ntouch {}\nsleep 100",
        started.display()
    );
    let compilers = vec![script(folder.path(), &text).display().to_string()];
    let config = NativeConfig { compilers, scratch: scratch.path().to_owned(), ..config(None) };
    let native = Native::new(config);
    let inputs = [f32s(100_000)];
    let deadline = Instant::now() + Duration::from_secs(60);
    while !started.exists() {
        assert!(Instant::now() < deadline, "the compiler is asked");
        try_run(MAP, &inputs, 1, Some((&native, Tier::Automatic))).expect("a value");
    }
    let left = || fs::read_dir(scratch.path()).expect("a folder").count();
    assert_eq!(left(), 1, "the compiler has a folder");
    let begin = Instant::now();
    drop(native);
    assert!(begin.elapsed() < Duration::from_secs(20), "nobody waits for the compiler");
    let deadline = Instant::now() + Duration::from_secs(60);
    while left() > 0 {
        assert!(Instant::now() < deadline, "the folder goes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_loop_does_not_wait_for_the_functions_of_kernels() {
    let folder = folder();
    let (go, came) = (folder.path().join("go"), folder.path().join("came"));
    // The functions that divide by 1237 are of kernels, and take until somebody says so.
    let text = format!(
        "if [ \"$1\" = --version ]; then exec cc --version; fi
for argument in \"$@\"; do
  case $argument in *.c) if grep -q 1237 $argument; then
    touch {}
    while [ ! -e {} ]; do sleep 0.02; done
  fi;; esac
done
exec cc \"$@\"",
        came.display(),
        go.display()
    );
    let compiler = script(folder.path(), &text);
    let config = NativeConfig { compilers: vec![compiler.display().to_string()], ..config(None) };
    let native = Native::new(config);
    let kernel = "input a1: [a0]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = mod r1 1237i64
  yield r2
  store r2 to a2: [a0]i64
end
output a2: [a0]i64
";
    let repeated = "input a1: [a0]i64
a2: i64 = host
  yield 0i64
a5: i64, a7: i64 = while (a8: i64 = a2, a10: i64 = a2)
  a11: bool = host
    r0: i64 = read a8
    r1: bool = lt r0 3000i64
    yield r1
  yield a11
do
  a12: i64, a13: i64 = host
    r0: i64 = read a8
    r1: i64 = read a10
    r2: i64 = mod r0 7i64
    r3: i64 = read a1 r2
    r4: i64 = add r1 r3
    r5: i64 = add r0 1i64
    yield r5 r4
  yield a12 a13
output a5: i64
output a7: i64
";
    let begin = Instant::now();
    let is_late = || begin.elapsed() > Duration::from_secs(60);
    let run = |text: &str, inputs: &[weft_ir::Value]| {
        let expected = try_run(text, inputs, 1, None).expect("a value");
        let found = try_run(text, inputs, 1, Some((&native, Tier::Automatic))).expect("a value");
        assert!(same(&expected, &found));
    };
    while !came.exists() && !is_late() {
        run(kernel, &[i64s(400_000, 5000)]);
    }
    assert!(came.exists(), "nobody asked for the function of the kernel");
    while native.statistics().compiled == 0 && !is_late() {
        run(repeated, &[i64s(7, 100)]);
    }
    let compiled = native.statistics().compiled;
    fs::write(&go, "").expect("a file");
    assert_eq!(compiled, 1, "the loop has waited");
    while native.statistics().compiled < 2 && !is_late() {
        run(kernel, &[i64s(400_000, 5000)]);
    }
    assert_eq!(native.statistics().compiled, 2);
}
