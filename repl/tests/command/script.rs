//! Programs from a file, an expression and standard input: what is printed where, and exit codes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn weft(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(arguments).env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

/// The command, between pipes, and what writes to it.
pub(crate) fn start(arguments: &[&str]) -> (Child, ChildStdin) {
    let mut child = weft(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let stdin = child.stdin.take().expect("a pipe");
    (child, stdin)
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let (child, mut stdin) = start(arguments);
    // The command may end before it has read everything.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

/// Runs the command and compares its exit code and standard output; gives its standard error.
#[track_caller]
fn check(arguments: &[&str], input: &str, code: i32, stdout: &str) -> String {
    let output = run(arguments, input.as_bytes());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?} {input:?}\n{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{arguments:?}\n{stderr}");
    stderr
}

#[test]
fn expressions_print_their_value() {
    check(&["-e", "sum (iota 10)"], "", 0, "45\n");
    check(&["-e", "x = 20", "-e", "x + 1"], "", 0, "21\n");
    check(&["-e", "map length args", "one", "three"], "", 0, "[2]i64 [3, 5]\n");
    let iris = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/iris.csv");
    let program = "d = loadCsv args[0]\nlength d.target";
    check(&["-e", program, iris], "", 0, "150\n");
    let (folder, name) = iris.rsplit_once('/').expect("a folder");
    let program = "d = loadCsv (args[1] ++ \"/\" ++ args[0])\nlength d.target";
    check(&["-e", program, name, folder], "", 0, "150\n");
}

#[test]
fn bindings_print_nothing() {
    check(&["-"], "x = 1\ndef f y = y\ntype t = i64\n1 + 1;\n", 0, "");
    check(&[], "x = 1\nf = 2\nx + f\n\"text\"\n", 0, "3\ntext\n");
}

#[test]
fn an_incomplete_last_item_is_an_error_with_a_caret() {
    let stderr = check(&[], "1 + 1\nsum (iota 10\n", 1, "");
    assert!(stderr.contains("E0102") && stderr.contains("<stdin>:2:5"), "{stderr}");
    assert!(stderr.contains("sum (iota 10"), "{stderr}");
    assert!(!stderr.contains('\x1b'), "colours without a terminal: {stderr}");
}

#[test]
fn exit_codes() {
    let stderr = check(&["-e", "1 // 0"], "", 1, "");
    assert!(stderr.contains("E0604"), "{stderr}");
    let stderr = check(&["--nonsense"], "", 2, "");
    assert!(stderr.contains("--nonsense") && stderr.contains("--help"), "{stderr}");
    check(&["no-such-file.weft"], "", 2, "");
    check(&["--backend", "interp", "-e", "1"], "", 0, "1\n");
    check(&["-e", "1\n:quit\n2"], "", 0, "1\n");
    check(&["--version"], "", 0, &format!("weft {}\n", env!("CARGO_PKG_VERSION")));
    let help = run(&["--help"], b"");
    assert!(help.status.success() && help.stdout.starts_with(b"weft: a small"));
}

#[test]
fn pages_are_tested() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let page = folder.path().join("page.md");
    let source = "# Sums\n```weft\nxs = iota 5\n```\n```weft\nsum xs\n```\n```value\n10\n```\n\
                ```python\nprint(1)\n```\n```weft\nxs[7]\n```\n```trap\nE0601\n```\n";
    fs::write(&page, source).expect("a file");
    let name = text(&page);
    let passed = format!("ok     {name} (3 cells)\n3 cells passed, 0 failed, 0 updated\n");
    check(&["test", name], "", 0, &passed);
    check(&["test", text(folder.path())], "", 0, &passed);
    fs::write(&page, source.replace("10", "11")).expect("a file");
    let output = run(&["test", name], b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("page.md:") && said.contains("Sums: ") && said.contains("1 failed"),
        "{said}"
    );
    let updated = format!("ok     {name} (3 cells)\n2 cells passed, 0 failed, 1 updated\n");
    check(&["test", "--update", name], "", 0, &updated);
    assert_eq!(fs::read_to_string(&page).expect("the page"), source);
    let stderr = check(&["test", "no-such-page.md"], "", 2, "");
    assert!(stderr.contains("no-such-page.md"), "{stderr}");
    let empty = folder.path().join("empty.md");
    fs::write(&empty, "Nothing to run.\n").expect("a page");
    let stderr =
        check(&["test", text(&empty)], "", 1, &format!("ok     {} (0 cells)\n", empty.display()));
    assert!(stderr.contains("there are no cells"), "{stderr}");
    check(&["test"], "", 2, "");
}

#[test]
fn random_programs_are_the_same_on_all_engines() {
    let output = run(&["fuzz", "--programs", "5", "--seed", "3"], b"");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.starts_with("5 programs, no difference"), "{said}");
    let stderr = check(&["fuzz", "everything"], "", 2, "");
    assert!(stderr.contains("weft fuzz --help"), "{stderr}");
}

#[test]
fn values_before_an_error_are_printed() {
    check(&["-e", "1", "-e", "2 // 0", "-e", "3"], "", 1, "1\n");
}

#[test]
fn long_programs_say_nothing_of_how_far_they_are() {
    let stderr = check(&["-e", "loop x = 0 for i < 1000000 do (x + i) % 7"], "", 0, "0\n");
    assert_eq!(stderr, "");
}

#[test]
fn files_run_with_imports_beside_them() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    fs::write(folder.path().join("lib.weft"), "def double x = 2 * x\n").expect("a file");
    let program = folder.path().join("main.weft");
    fs::write(&program, "import \"lib.weft\"\ndouble 21\nlength args\n").expect("a file");
    check(&[text(&program), "a", "--help"], "", 0, "42\n2\n");
    fs::write(&program, b"x = \"caf\xe9\"\n").expect("a file");
    let stderr = check(&[text(&program)], "", 2, "");
    assert!(stderr.contains("not UTF-8") && stderr.contains("byte 8"), "{stderr}");
    let stderr = check(&["--no-io", "-e", "loadText \"x\""], "", 1, "");
    assert!(stderr.contains("E0506"), "{stderr}");
}

/// A limit for the size of files stands for a disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = "x = iota 1000000\n:save x \"x.npy\"\n";
    fs::write(folder.path().join("p.weft"), program).unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" p.weft", env!("CARGO_BIN_EXE_weft")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("E0405"), "{stderr}");
    let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["p.weft"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = weft(&["-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // The pipe is closed before anything is written to it.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all("iota 100\n".repeat(2000).as_bytes()).expect("the command reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_first_line_for_the_system_is_a_comment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.weft");
    fs::write(&path, "#!/usr/bin/env weft\n1 + 1\nnothing\n").expect("a file");
    let stderr = check(&[text(&path)], "", 1, "");
    assert!(stderr.contains("p.weft:3:1"), "{stderr}");
    let stderr = check(&["run", "p.weft"], "", 2, "");
    assert!(stderr.contains("`weft program.weft`"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error() {
    for text in ["sum (iota 3)", ":show iota 3", "1 / 0.0\n[1][2]"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let output = weft(&["-e", text]).stdout(full).output().expect("the command ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("weft: cannot write to standard output: "), "{text}: {stderr}");
        assert_eq!(output.status.code(), Some(4), "{text}");
    }
}

#[test]
fn it_starts_and_ends_soon() {
    let started = Instant::now();
    check(&["-e", "1 + 1"], "", 0, "2\n");
    // 50 ms is the promise for the release build on a quiet machine.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of plain characters")
}

#[test]
fn modes_come_from_the_command_line() {
    let program = "xs = map f64 (iota 10)\n:fuse sum (xs * xs)\n";
    let first_line = |arguments: &[&str]| {
        let output = run(arguments, program.as_bytes());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text.lines().next().unwrap_or_default().to_owned())
    };
    let fused = "1 kernel stores 0 arrays and reads 1".to_owned();
    assert_eq!(first_line(&[]), (Some(0), fused));
    let unfused = "2 kernels store 1 array and read 2 (fusion is switched off)".to_owned();
    assert_eq!(first_line(&["--no-fusion"]), (Some(0), unfused));
    for arguments in [["--backend", "interp"], ["--backend", "cpu"], ["--no-sharing", "-"]] {
        check(&arguments, "def f x = x * x\nf (f (sum (iota 4)))\n", 0, "1296\n");
    }
    let how = |backend: &str| {
        let output = run(&["--backend", backend], b":time sum (iota 4)\n");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(how("interp").contains("on the interpreter"), "{}", how("interp"));
    assert!(how("cpu").contains("on cpu"), "{}", how("cpu"));
    let stderr = check(&["--backend", "abacus"], "1\n", 2, "");
    assert!(stderr.contains("not `abacus`"), "{stderr}");
}

/// What `:help` says of commands that take files is what they print.
#[test]
fn help_shows_what_examples_with_files_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (command, example) in [
        ("load", ":load \"examples/dot.weft\""),
        ("reload", ":load \"examples/dot.weft\"\n:reload"),
    ] {
        let run = |text: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
            let output = command.args(["-e", text]).current_dir(&root).output();
            String::from_utf8(output.expect("the command runs").stdout).expect("UTF-8")
        };
        let help = run(&format!(":help {command}"));
        let printed: Vec<&str> =
            help.lines().map(str::trim).skip_while(|line| !line.starts_with('>')).collect();
        let printed: Vec<&str> =
            printed.into_iter().filter(|line| !line.starts_with('>')).collect();
        assert_eq!(run(example).lines().collect::<Vec<_>>(), printed, "{help}");
    }
}

#[test]
fn it_is_said_when_something_else_ran_than_was_asked_for() {
    let devices = run(&["-e", ":devices"], b"");
    let absent = String::from_utf8_lossy(&devices.stdout).contains("gpu     none");
    let ran = run(&["--backend", "gpu", "-e", "sum (iota 5)"], b"");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "10\n");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(said.starts_with("weft: no GPU: "), absent, "{said}");
}
