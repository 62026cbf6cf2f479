//! Many processes with one cache of compiled functions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How many processes there are at once; `WEFT_PROCESSES` says otherwise.
const PROCESSES: usize = 16;
/// Kernels of which each process runs some: those of neighbours are the same.
const KERNELS: usize = 4;
/// How long all of them may take.
const PATIENCE: Duration = Duration::from_secs(240);

/// A process that has its kernels compiled, or finds them in the cache below that folder.
fn start(folder: &Path, number: usize) -> Child {
    let program = |kernel: usize| {
        let kernel = kernel % KERNELS;
        format!("sum {{ (i * {kernel} + 1) % 7 : i in iota 1000 }}")
    };
    Command::new(env!("CARGO_BIN_EXE_weft"))
        .env("XDG_CACHE_HOME", folder)
        .args(["-e", ":backend cpu", "-e", ":set tier 1"])
        .args(["-e", &program(number), "-e", &program(number + 1)])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

/// What the process prints.
fn expected(number: usize) -> String {
    let sum = |kernel: usize| (0..1000).map(|i| (i * (kernel % KERNELS) + 1) % 7).sum::<usize>();
    format!("{}\n{}\n", sum(number), sum(number + 1))
}

#[track_caller]
fn check(output: &Output, number: usize) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{number}: {stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected(number), "{number}: {stderr}");
    assert_eq!(stderr, "", "{number}");
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("weft/native")).into_iter().flatten().flatten();
    files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

#[test]
fn many_processes_share_the_cache_and_some_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = std::env::var("WEFT_PROCESSES").ok().and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or(PROCESSES);
    let started = Instant::now();
    let mut children: Vec<Option<Child>> =
        (0..count).map(|number| Some(start(folder.path(), number))).collect();
    // Every fourth dies somewhere on its way.
    for (number, child) in children.iter_mut().enumerate().skip(3).step_by(4) {
        sleep(Duration::from_millis(20));
        let mut child = child.take().expect("it was started");
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        assert!(number < count);
    }
    let mut left = 0;
    for (number, child) in children.into_iter().enumerate() {
        let Some(child) = child else { continue };
        check(&child.wait_with_output().expect("it ends"), number);
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
        left += 1;
    }
    assert_eq!(left, count - count / 4);
    let objects = files(folder.path(), "so").len();
    if objects == 0 && files(folder.path(), "entry").is_empty() {
        println!("skipped: there is no C compiler, so nothing is in the cache");
        return;
    }
    // What they have left is whole: those that come later compile nothing.
    for number in 0..KERNELS {
        check(&start(folder.path(), number).wait_with_output().expect("it ends"), number);
    }
    assert_eq!(files(folder.path(), "so").len(), objects);
    println!("{count} processes took {:?}, with {objects} objects", started.elapsed());
}

/// Whatever is in the cache, programs say the same.
#[test]
fn a_cache_that_is_damaged_is_mended() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = || check(&start(folder.path(), 0).wait_with_output().expect("it ends"), 0);
    run();
    for damage in [&b""[..], b"no object", b"\x7fELF"] {
        for path in files(folder.path(), "so").iter().chain(&files(folder.path(), "entry")) {
            fs::write(path, damage).expect("writable");
        }
        run();
        run();
    }
}
