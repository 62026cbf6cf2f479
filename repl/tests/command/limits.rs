//! What the system does not give: length of files, address space, an end of what is read.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs a line of a shell in a folder; `$W` is the command. What takes too long is ended.
fn shell(folder: &Path, line: &str) -> Output {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env("W", env!("CARGO_BIN_EXE_weft"))
        .current_dir(folder)
        .stdin(fs::File::open("/dev/null").expect("the null device"))
        .stdout(fs::File::create(folder.join("stdout")).expect("a file"))
        .stderr(fs::File::create(folder.join("stderr")).expect("a file"))
        .spawn()
        .expect("a shell");
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("an answer") {
            break status;
        }
        if started.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("`{line}` does not end");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let read = |name: &str| fs::read(folder.join(name)).expect("its output");
    Output { status, stdout: read("stdout"), stderr: read("stderr") }
}

/// Runs a line, and compares its exit code; what it says on standard error.
#[track_caller]
fn check(folder: &Path, line: &str, code: i32) -> String {
    let output = shell(folder, line);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}\n{:?}\n{stderr}", output.status);
    stderr
}

/// The files in a folder beside those of [`shell`].
fn left(folder: &Path) -> Vec<String> {
    let names =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("it").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "stdout" && name != "stderr").collect()
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_leaves_nothing() {
    let folder = folder();
    let line = "ulimit -f 100; exec \"$W\" -e ':save iota 100000 \"x.npy\"'";
    let stderr = check(folder.path(), line, 1);
    assert!(stderr.contains("E0405") && stderr.contains("File too large"), "{stderr}");
    assert_eq!(left(folder.path()), [""; 0]);
}

#[test]
fn pipes_and_devices_are_no_source_files() {
    let folder = folder();
    check(folder.path(), "mkfifo pipe.weft && mkdir folder.weft", 0);
    for (text, problem) in [
        (":load pipe.weft", "a device or a pipe"),
        ("import \"pipe.weft\"", "a device or a pipe"),
        (":load /dev/zero", "a device or a pipe"),
        (":load folder.weft", "it is a folder, not a file"),
    ] {
        let stderr = check(folder.path(), &format!("exec \"$W\" -e '{text}'"), 1);
        assert!(stderr.contains("E0505") && stderr.contains(problem), "{text}: {stderr}");
    }
}

#[test]
fn programs_have_an_end() {
    let folder = folder();
    for line in ["exec \"$W\" /dev/zero", "cat /dev/zero | \"$W\""] {
        let stderr = check(folder.path(), line, 2);
        assert!(stderr.contains("more than 64000000 bytes"), "{line}: {stderr}");
    }
    // What a shell names for the output of a command.
    let output =
        shell(folder.path(), "mkfifo pipe; echo '1 + 1' > pipe & sleep 0.1; exec \"$W\" pipe");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
}

#[test]
fn text_that_is_not_utf_8_has_one_exit_code() {
    let folder = folder();
    for line in ["printf '\\351' | \"$W\"", "printf '\\351' > p.weft; exec \"$W\" p.weft"] {
        let stderr = check(folder.path(), line, 2);
        assert!(stderr.contains("is not UTF-8: byte 0, in line 1"), "{stderr}");
    }
}

/// Address space is taken by far more than arrays, so that exact numbers differ from machine to machine.
#[test]
fn little_address_space_is_a_limit_of_memory() {
    let folder = folder();
    let line =
        "ulimit -v 1500000; exec \"$W\" -e 'sort { (a * 7919) % 1000003 : a in iota 60000000 }'";
    let stderr = check(folder.path(), line, 1);
    assert!(stderr.contains("E0701"), "{stderr}");
    let stderr = check(folder.path(), "ulimit -v 150000; exec \"$W\" -e 'sum (iota 1000)'", 1);
    assert!(stderr.contains("E0701") && stderr.contains("may have 153600000 in all"), "{stderr}");
    assert!(stderr.contains("`ulimit -v`"), "{stderr}");
}

/// A cell then runs on a stack of an eighth.
#[test]
fn little_address_space_is_a_limit_of_depth() {
    let folder = folder();
    let deep = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("a file");
        check(folder.path(), &format!("ulimit -v 900000; exec \"$W\" {name}"), 1)
    };
    let chain = " + 1".repeat(19_000);
    for (name, body) in [
        ("calls.weft", "1 + f (n - 1)"),
        ("rows.weft", "sum { f (n - 1) + i : i in iota 1 }"),
        ("chain.weft", &format!("f (n - 1){chain}")),
    ] {
        let text = format!(
            ":set backend interp\n:set recursion 100000000\ndef f n = if n == 0 then 0 else {body}\nf 9000000\n"
        );
        let stderr = deep(name, &text);
        assert!(stderr.contains("E0702"), "{name}: {stderr}");
        assert!(stderr.contains("67108864 bytes that the stack has"), "{name}: {stderr}");
        assert!(!stderr.contains(":set recursion"), "{name}: {stderr}");
    }
    // What the parser lets through has room, and a chain of functions is not expanded for ever.
    let functions: String =
        (1..40_000).map(|i| format!("def f{i} x = f{} x + 1\n", i - 1)).collect();
    let text = format!("1{chain}\ndef f0 x = x\n{functions}f39999 1\n");
    assert!(deep("functions.weft", &text).contains("calls are nested 10001 deep"));
}

/// The threads that run kernels have small stacks.
#[test]
fn long_chains_of_arrays_run_on_every_thread() {
    let folder = folder();
    let text = format!("x = iota 3\nsum (x{})\n", " ++ x".repeat(2_500));
    fs::write(folder.path().join("chain.weft"), text).expect("a file");
    let output = shell(folder.path(), "exec \"$W\" chain.weft");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7503\n", "{output:?}");
}

#[test]
fn what_a_killed_process_left_goes_with_the_next_save() {
    let folder = folder();
    // Larger than any number that a process may have.
    let part = folder.path().join(".weft-4294967295-3.part");
    let file = fs::File::create(&part).expect("a file");
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600)).expect("its time");
    check(folder.path(), "exec \"$W\" -e ':save iota 3 \"x.npy\"'", 0);
    assert_eq!(left(folder.path()), ["x.npy"]);
}
