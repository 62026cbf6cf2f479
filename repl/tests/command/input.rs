//! What a program loads that the command is handed over a pipe.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{io::Write as _, thread};

use rustix::process::{Pid, Signal, kill_process};

use crate::script::start;

/// Runs a command line of a shell in a folder of its own that has these files; `weft` stands for the command.
fn shell(line: &str, files: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let weft = Path::new(env!("CARGO_BIN_EXE_weft")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("bash")
        .args(["-c", line])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", weft.display()))
        .stdin(Stdio::null())
        .output()
        .expect("a shell")
}

#[track_caller]
fn check(line: &str, files: &[(&str, &str)], stdout: &str) {
    let output = shell(line, files);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{line}\n{stderr}");
    assert!(output.status.success(), "{line}\n{stderr}");
}

const TABLE: (&str, &str) = ("a.csv", "x,y\n1,2.5\n3,4.5\n");

#[test]
fn standard_input_is_a_file() {
    check("cat a.csv | weft -e 'sum (loadCsv \"/dev/stdin\").y'", &[TABLE], "7.0\n");
    check("weft -e 'sum (loadCsv \"/dev/stdin\").y' < a.csv", &[TABLE], "7.0\n");
    let program = ("p.weft", "t = loadCsv args[0]\nsum t.x\nlength (loadLines args[0])\n");
    check("cat a.csv | weft p.weft /dev/stdin", &[TABLE, program], "4\n3\n");
    let stream = "weft -e 'foldSeq (+) 0 { length l : l in streamLines \"/dev/stdin\" }'";
    check(&format!("seq 100000 | {stream}"), &[], "488895\n");
    // By another name it is the same pipe, which has been read.
    let twice = "length (loadText \"/dev/stdin\") + length (loadText \"/dev/fd/0\")";
    check(&format!("printf abc | weft -e '{twice}'"), &[], "6\n");
    // The null device ends at once.
    check("weft -e 'length (loadText \"/dev/stdin\")'", &[], "0\n");
}

#[test]
fn outputs_of_commands_are_files() {
    let line =
        "weft -e 'sum (loadCsv args[0]).x + length (loadText args[1])' <(cat a.csv) <(printf abc)";
    check(line, &[TABLE], "7\n");
}

#[test]
fn a_program_on_standard_input_cannot_load_it() {
    let output = shell("echo 'loadText \"/dev/stdin\"' | weft", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("E0401") && stderr.contains("no file for a program here"), "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
}

#[test]
fn other_pipes_and_devices_are_refused() {
    let output =
        shell("mkfifo pipe; weft -e 'loadText \"pipe\"'; weft -e 'loadText \"/dev/zero\"'", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.matches("is a device or a pipe").count(), 2, "{stderr}");
}

#[test]
fn waiting_for_input_can_be_interrupted() {
    let (child, mut stdin) = start(&["-e", "length (loadText \"/dev/stdin\")"]);
    stdin.write_all(b"some text").expect("the command reads");
    // Once it waits for more it has its handler for the signal.
    let waits = |id: u32| {
        let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm"));
        tasks.map(name).any(|name| name.is_ok_and(|name| name.trim() == "pipe"))
    };
    for _ in 0..600 {
        if !cfg!(target_os = "linux") || waits(child.id()) {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let output = child.wait_with_output().expect("the command ends");
    drop(stdin);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn too_much_input_is_refused() {
    let zeros = File::open("/dev/zero").expect("the device");
    let output = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["-e", ":set memory 8M", "-e", "length (loadBytes \"/dev/stdin\")"])
        .stdin(zeros)
        .output()
        .expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("more than the limit of 8388608 bytes"), "{stderr}");
}
