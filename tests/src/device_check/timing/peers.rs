//! What else the machine has for the programs: `bench/device_peers.py`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use super::super::Options;
use crate::repository;

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
pub(super) fn times(options: &Options) -> Peers {
    let none =
        |why: &str| Peers { times: BTreeMap::new(), skipped: vec![format!("all skipped: {why}")] };
    if let Some(file) = &options.peers {
        return match fs::read_to_string(file) {
            Ok(text) => of_text(&text),
            Err(error) => none(&format!("{}: {error}", file.display())),
        };
    }
    let Some(python) = &options.python else { return none("no Python was named") };
    match answer(python, &repository().join("bench/device_peers.py"), options.is_small) {
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

/// What the peers print. How they end comes last: what they have printed before counts.
fn answer(python: &Path, script: &Path, is_small: bool) -> io::Result<String> {
    let mut command = Command::new(python);
    command.arg(script);
    if is_small {
        command.arg("--small");
    }
    // What the libraries of CUDA are found by here is not for them, which bring their own.
    if let Some(path) = env::var_os("WEFT_PEERS_LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", path);
    }
    let output = command.output()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim_end().lines().last().unwrap_or_default().replace('\t', " ");
        text += &format!("\nthe peers ended with {}: {last}\n", output.status);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
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
        std::fs::write(&script, lines).expect("a script");
        let text = answer("sh".as_ref(), &script, false).expect("it starts");
        let peers = of_text(&text);
        assert_eq!(peers.of("dot"), [("torch".to_owned(), 0.05)]);
        assert_eq!(peers.skipped, ["the peers ended with exit status: 139: broken"]);
    }
}
