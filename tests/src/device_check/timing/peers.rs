//! What else the machine has for the programs: `bench/device_peers.py`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use super::super::{NO_TIME, Options, Step};
use crate::repository;

/// How many libraries `bench/device_peers.py` knows.
const LIBRARIES: u64 = 5;

/// The times of the peers.
pub(super) struct Peers {
    /// In milliseconds, by program.
    times: BTreeMap<String, Vec<(String, f64)>>,
    /// What was skipped, and why.
    pub(super) skipped: Vec<String>,
}

impl Peers {
    /// The peers of a program, with their times in milliseconds.
    pub(super) fn of(&self, program: &str) -> Vec<(String, f64)> {
        self.times.get(program).cloned().unwrap_or_default()
    }
}

/// Runs the peers, or takes what a run of them has printed into a file.
pub(super) fn times(options: &Options, out: &mut dyn Write) -> Peers {
    let none =
        |why: &str| Peers { times: BTreeMap::new(), skipped: vec![format!("all skipped: {why}")] };
    if let Some(file) = &options.peers {
        return match fs::read_to_string(file) {
            Ok(text) => of_text(&text),
            Err(error) => none(&format!("{}: {error}", file.display())),
        };
    }
    let Some(python) = &options.python else { return none("no Python was named") };
    let limit = match options.left(Step::Programs, 1.0) {
        Some(left) => options.peers_limit.min(left.as_secs() / LIBRARIES),
        None => options.peers_limit,
    };
    if limit == 0 {
        return none(NO_TIME);
    }
    match answer(python, &repository().join("bench/device_peers.py"), options.is_small, limit, out)
    {
        Err(why) => none(why.to_string().lines().last().unwrap_or_default()),
        Ok(text) => of_text(&text),
    }
}

/// Lines `program<TAB>peer<TAB>milliseconds`; all others say what was skipped.
fn of_text(text: &str) -> Peers {
    let mut peers = Peers { times: BTreeMap::new(), skipped: Vec::new() };
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match (&fields[..], fields.last().and_then(|time| time.parse::<f64>().ok())) {
            ([program, peer, _], Some(time)) => {
                peers
                    .times
                    .entry((*program).to_owned())
                    .or_default()
                    .push(((*peer).to_owned(), time));
            }
            _ if line.trim().is_empty() => {}
            _ => peers.skipped.push(line.to_owned()),
        }
    }
    peers
}

/// What the peers print, which is passed on line by line: whoever ends this process has what they have told by then. How
/// they end comes last: what they have printed before counts.
fn answer(
    python: &Path,
    script: &Path,
    small: bool,
    limit: u64,
    out: &mut dyn Write,
) -> io::Result<String> {
    let mut command = Command::new(python);
    command.arg(script).arg("--limit").arg(limit.to_string());
    if small {
        command.arg("--small");
    }
    // What the libraries of CUDA are found by here is not for them, which bring their own.
    if let Some(path) = env::var_os("WEFT_PEERS_LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", path);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, mut stderr) =
        (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    // Else they wait for somebody to read their warnings.
    let said = thread::spawn(move || {
        let mut said = Vec::new();
        // What there is of it.
        drop(stderr.read_to_end(&mut said));
        said
    });
    let mut text = String::new();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(out, "{line}")?;
        out.flush()?;
        text += &line;
        text.push('\n');
    }
    let status = child.wait()?;
    let said = said.join().unwrap_or_default();
    if !status.success() {
        let said = String::from_utf8_lossy(&said);
        let last = said.trim_end().lines().last().unwrap_or_default().replace('\t', " ");
        text += &format!("\nthe peers ended with {status}: {last}\n");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{answer, of_text};

    #[test]
    fn lines_of_the_peers() {
        let peers = of_text("dot\ttorch\t0.05\n1 skipped\nskipped: all of jax: none\n");
        assert_eq!(peers.of("dot"), [("torch".to_owned(), 0.05)]);
        assert!(peers.of("filter").is_empty());
        assert_eq!(peers.skipped, ["1 skipped", "skipped: all of jax: none"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_was_printed_counts_however_it_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("peers");
        let lines = "printf 'dot\\ttorch\\t0.05\\n'; echo broken >&2; exit 139";
        fs::write(&script, lines).expect("a script");
        let mut out = Vec::new();
        let text = answer("sh".as_ref(), &script, true, 1, &mut out).expect("it starts");
        assert_eq!(out, b"dot\ttorch\t0.05\n");
        let peers = of_text(&text);
        assert_eq!(peers.of("dot"), [("torch".to_owned(), 0.05)]);
        assert_eq!(peers.skipped, ["the peers ended with exit status: 139: broken"]);
    }

    /// What the peers print if these modules are all that there is of them; nothing where there is no Python.
    #[cfg(target_os = "linux")]
    fn of_modules(folder: &std::path::Path, modules: &[(&str, &str)]) -> Option<super::Peers> {
        use std::process::Command;

        use crate::repository;

        let python = "python3".as_ref();
        let version = Command::new(python).arg("--version").output();
        version.ok().filter(|said| said.status.success())?;
        let script = folder.join("peers.py");
        fs::copy(repository().join("bench/device_peers.py"), &script).expect("the script");
        fs::create_dir(folder.join("device_peers")).expect("a folder");
        for (name, text) in [("__init__", "")].iter().chain(modules) {
            let file = folder.join("device_peers").join(name).with_extension("py");
            fs::write(file, text).expect("a module");
        }
        let text = answer(python, &script, true, 1, &mut Vec::new()).expect("it starts");
        Some(of_text(&text))
    }

    /// A library that takes too long ends with all that it has started, and the next one has its turn.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_takes_too_long_ends_with_all_that_it_has_started() {
        use std::path::Path;

        let folder = tempfile::tempdir().expect("a folder");
        let child = folder.path().join("child");
        // Libraries that are not there are said. This one waits for a process of its own.
        let numba = format!(
            "import subprocess\n\n\ndef run(size, report, flush):\n    print('dot', 'numba', 1, sep='\\t', \
             flush=True)\n    child = subprocess.Popen(['sleep', '1000'])\n    open({child:?}, \
             'w').write(str(child.pid))\n    child.wait()\n",
        );
        let Some(peers) = of_modules(folder.path(), &[("with_numba", &numba)]) else { return };
        assert!(
            peers.skipped.iter().any(|line| line.contains("all else of torch")),
            "{:?}",
            peers.skipped
        );
        let last = peers.skipped.last().expect("what was skipped");
        assert!(last.contains("the rest of numba"), "{last}");
        assert_eq!(peers.of("dot"), [("numba".to_owned(), 1.0)]);
        let child = fs::read_to_string(child).expect("it was started");
        // Nobody may have asked for how it ended.
        let state = fs::read_to_string(Path::new("/proc").join(child).join("stat"));
        assert!(state.is_err() || state.is_ok_and(|state| state.contains(") Z ")));
    }

    /// A library that another one is too new for fails in many ways, as it is imported or in one of its functions.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_fails_is_skipped_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let why = "module 'numpy' has no attribute 'row_stack'";
        let cupy = format!(
            "def run(size, report, flush):\n    def fails():\n        raise AttributeError({why:?})\n    \
             report('sort', 'cupy', fails, lambda: (), lambda run, _: run())\n    report('dot', 'cupy', lambda: 0, \
             lambda: (), lambda _run, _: 2.0)\n"
        );
        let numba = format!("raise AttributeError({why:?})\n");
        let modules = [("with_cupy", &cupy[..]), ("with_numba", &numba)];
        let Some(peers) = of_modules(folder.path(), &modules) else { return };
        for line in [
            format!("skipped: sort with cupy: AttributeError: {why}"),
            format!("skipped: all else of numba: AttributeError: {why}"),
        ] {
            assert!(peers.skipped.contains(&line), "{:?}", peers.skipped);
        }
        assert_eq!(peers.of("dot"), [("cupy".to_owned(), 2.0)]);
    }
}
