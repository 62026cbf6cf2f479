//! Programs on the device beside its limits, and beside what else the machine has for them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use super::{Options, say, session};
use crate::repository;

/// A program.
struct Program {
    name: &'static str,
    /// With `N_` for the size.
    setup: &'static str,
    expression: &'static str,
    size: usize,
    small: usize,
    /// What an H200 needs at least for the whole size, in milliseconds: an estimate from its bandwidth.
    limit: f64,
}

/// As `bench/programs.py` and `bench/device_peers.py` have them.
const PROGRAMS: &[Program] = &[
    Program {
        name: "dot",
        setup: "x = (random 1 N_ : []f32)\ny = (random 2 N_ : []f32)",
        expression: "sum (x * y)",
        size: 20_000_000,
        small: 2000,
        limit: 0.037,
    },
    Program {
        name: "prefix sum",
        setup: "x = (random 1 N_ : []f32) - 0.5",
        expression: "scanl1 (+) x",
        size: 100_000_000,
        small: 2000,
        limit: 0.186,
    },
    Program {
        name: "filter",
        setup: "x = (random 1 N_ : []f32)",
        expression: "{ v in x | v > 0.5 }",
        size: 100_000_000,
        small: 2000,
        limit: 0.140,
    },
    Program {
        name: "histogram",
        setup: "x = (random 1 N_ : []f32)",
        expression: "histogram 256 (i64 (x * 256.0))",
        size: 100_000_000,
        small: 2000,
        limit: 0.093,
    },
    Program {
        name: "sort",
        setup: "x = i32 (randomInt 9 (-2147483648) 2147483648 N_)",
        expression: "sort x",
        size: 4_000_000,
        small: 300,
        limit: 0.033,
    },
    Program {
        name: "matrix product",
        setup: "a = reshape (N_, N_) (random 1 (N_ * N_) : []f32)\n\
                b = reshape (N_, N_) (random 2 (N_ * N_) : []f32)",
        expression: "matmul a b",
        size: 4096,
        small: 16,
        limit: 2.05,
    },
];

/// Prints a table: what the device took, how much of that its limit is, and the fastest peer.
pub(super) fn time(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (peers, skipped) = peers(options);
    writeln!(
        out,
        "| program | size | on the device, ms | with the host, ms | share of the limit | peers, ms |"
    )?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | --- |")?;
    for program in PROGRAMS {
        let size = if options.is_small { program.small } else { program.size };
        let mut session = session("gpu");
        let setup = say(&mut session, &program.setup.replace("N_", &size.to_string()));
        let measured = say(&mut session, &format!(":bench {}", program.expression));
        let text = measured.texts.concat();
        let whole = text.split(" (median").next().and_then(milliseconds);
        let device = text.lines().find(|line| line.contains("of it on the device"));
        let device = device.and_then(|line| milliseconds(line.split(" of it").next()?));
        let (Some(whole), Some(device)) = (whole, device) else {
            let why = [setup.errors.concat(), measured.errors.concat(), text].concat();
            writeln!(out, "| {} | {size} | not on the device: {} |", program.name, why.trim())?;
            continue;
        };
        let share = match options.is_small {
            true => "-".to_owned(),
            false => format!("{:.0} %", 100.0 * program.limit / device),
        };
        let others = peers.get(program.name).map_or(String::new(), |times: &Vec<(String, f64)>| {
            let one =
                |(peer, time): &(String, f64)| format!("{peer} {time:.3} ({:.2}×)", time / device);
            times.iter().map(one).collect::<Vec<_>>().join(", ")
        });
        let name = program.name;
        writeln!(out, "| {name} | {size} | {device:.3} | {whole:.3} | {share} | {others} |")?;
    }
    writeln!(out, "{}", skipped.trim_end())?;
    writeln!(out, "a factor above 1: the peer takes longer than the device's own time")
}

/// The times of the peers by program, and what was skipped.
fn peers(options: &Options) -> (BTreeMap<String, Vec<(String, f64)>>, String) {
    let none = |why: &str| (BTreeMap::new(), format!("peers: all skipped: {why}"));
    let Some(python) = &options.python else { return none("no Python was named") };
    let script = repository().join("bench/device_peers.py");
    match answer(python, &script, options.is_small) {
        Err(why) => none(&why),
        Ok(text) => {
            let mut peers: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
            let mut skipped = String::new();
            for line in text.lines() {
                match line.split('\t').collect::<Vec<_>>()[..] {
                    [program, peer, time] => {
                        let Ok(time) = time.parse() else { continue };
                        peers.entry(program.to_owned()).or_default().push((peer.to_owned(), time));
                    }
                    _ => skipped.push_str(&format!("peers: {line}\n")),
                }
            }
            (peers, skipped)
        }
    }
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

/// `15.6 µs` as a number.
fn milliseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let factor = match unit {
        "s" => 1e3,
        "ms" => 1.0,
        "µs" => 1e-3,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn times_are_read_back() {
        assert_eq!(milliseconds("2.50 ms"), Some(2.5));
        assert_eq!(milliseconds("250 µs"), Some(0.25));
        assert_eq!(milliseconds("1.50 s"), Some(1500.0));
        assert_eq!(milliseconds("fast"), None);
    }
}
