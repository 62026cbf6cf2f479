//! What else the machine has for the programs: `bench/device_peers.py`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

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

/// Runs the peers.
pub(super) fn times(options: &Options) -> Peers {
    let none =
        |why: &str| Peers { times: BTreeMap::new(), skipped: vec![format!("all skipped: {why}")] };
    let Some(python) = &options.python else { return none("no Python was named") };
    match answer(python, &repository().join("bench/device_peers.py"), options.is_small) {
        Err(why) => none(why.lines().last().unwrap_or_default()),
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
            _ => peers.skipped.push(line.to_owned()),
        }
    }
    peers
}

fn answer(python: &Path, script: &Path, is_small: bool) -> Result<String, String> {
    let mut command = Command::new(python);
    command.arg(script);
    if is_small {
        command.arg("--small");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn lines_of_the_peers() {
        let peers = of_text("dot\ttorch\t0.05\n1 skipped\nskipped: all of jax: none\n");
        assert_eq!(peers.of("dot"), [("torch".to_owned(), 0.05)]);
        assert!(peers.of("filter").is_empty());
        assert_eq!(peers.skipped, ["1 skipped", "skipped: all of jax: none"]);
    }
}
