//! Every program in `examples/` runs with the `weft` command, and its own checks hold.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use weft_lang::builtins;
use weft_session::reference;
use weft_tests::{pages, repository};

/// How long an example may take in a build without optimisation.
const LIMIT: Duration = Duration::from_secs(180);

#[test]
fn every_example_runs() {
    let weft = weft_command();
    let folder = tempfile::tempdir().expect("a temporary folder");
    prepare(folder.path());
    let examples = pages::files(&repository().join("examples"), "weft").expect("the examples");
    assert!(!examples.is_empty(), "there are no examples");
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run_rest = || {
        while let Some(example) = examples.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(failure) = run(&weft, folder.path(), example) {
                failures.lock().expect("no panic").push(failure);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(run_rest);
        run_rest();
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// A cell that does says so, and its reader may want the function.
#[test]
fn no_notebook_hides_a_function() {
    let notebooks = pages::files(&repository().join("examples"), "ipynb").expect("the notebooks");
    let builtin = builtins::all().map(|entry| entry.name);
    let reference = reference();
    // `rows` and `columns` are forms of their own, which are there beside a variable of that name.
    let own = reference.iter().map(|function| function.name);
    let own = own.filter(|name| !["rows", "columns"].contains(name));
    let functions: BTreeSet<&str> = builtin.chain(own).collect();
    let (mut bound, mut hidden) = (0, Vec::new());
    for path in notebooks {
        let text = fs::read_to_string(&path).expect("an example");
        for line in text.lines() {
            // A line is a string within the lists of JSON.
            let line = line.trim_start().trim_start_matches('"');
            let definition = line.strip_prefix("def ");
            let Some(name) = definition.unwrap_or(line).split([' ', '(']).next() else { continue };
            if definition.is_some() || line[name.len()..].starts_with(" = ") {
                bound += 1;
                if functions.contains(name) {
                    hidden.push(format!("{} hides `{name}`", path.display()));
                }
            }
        }
    }
    assert!(hidden.is_empty(), "{hidden:?}");
    assert!(bound > 50, "only {bound} lines bind a name");
}

/// A folder that looks like the repository to the examples, but into which they may write.
fn prepare(folder: &Path) {
    let own = folder.join("examples");
    fs::create_dir_all(own.join("out")).expect("a folder for outputs");
    let copied = pages::files(&repository().join("examples"), "weft").expect("the examples");
    let data = fs::read_dir(repository().join("examples/data")).expect("the examples' data");
    let data = data.filter_map(|entry| Some(entry.ok()?.path()));
    fs::create_dir_all(own.join("data")).expect("a folder for data");
    for path in copied.into_iter().chain(data) {
        let relative = path.strip_prefix(repository()).expect("a path in the repository");
        fs::copy(&path, folder.join(relative)).expect("a copy of a file");
    }
}

/// The command, built as the tests are.
fn weft_command() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.parent().and_then(Path::parent).expect("target/profile/deps/test");
    let weft = profile.join(format!("weft{}", std::env::consts::EXE_SUFFIX));
    if is_current(&weft) {
        return weft;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "weft-repl"]).current_dir(repository());
    build.arg("--target-dir").arg(profile.parent().expect("the target folder"));
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo runs").success(), "`weft` does not build");
    weft
}

/// Whether the command is newer than all that it is made of. It is, if the whole workspace is being
/// tested; building it again, alone, would build its dependencies again with other features.
fn is_current(weft: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let Some(built) = changed(weft) else { return false };
    let folders = [
        "files",
        "ir",
        "lang",
        "interp",
        "passes",
        "codegen",
        "lanes",
        "cpu",
        "emulator",
        "cuda",
        "device",
        "session",
        "jupyter-kernel",
        "repl",
        "docs/errors",
    ];
    let sources = folders.iter().flat_map(|folder| {
        // What is compiled in stands beside the sources.
        let endings = ["rs", "toml", "md", "weft", "h", "cu", "cpp"];
        endings.into_iter().flat_map(move |ending| {
            pages::files(&repository().join(folder), ending).expect("the sources")
        })
    });
    sources.map(|path| changed(&path)).all(|time| time.is_some_and(|time| time <= built))
}

fn run(weft: &Path, folder: &Path, example: &Path) -> Result<(), String> {
    let example = example.strip_prefix(repository()).expect("a path in the repository");
    let log = folder.join(example.with_extension("log"));
    let output = fs::File::create(&log).expect("a file for the output");
    let mut child = Command::new(weft)
        .arg(example)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(output.try_clone().expect("the file for the output"))
        .stdout(output)
        .spawn()
        .expect("`weft` starts");
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("`weft` can be waited for") {
            Some(status) => break status,
            None if started.elapsed() > LIMIT => {
                child.kill().expect("`weft` can be stopped");
                child.wait().expect("`weft` has ended");
                return Err(format!("{}: takes too long", example.display()));
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&fs::read(&log).expect("the output")).into_owned();
    Err(format!("{}: {status}\n{text}", example.display()))
}
