//! `weft-device`: checks Weft on a machine with a device, and times it there (`bench/device.sh`).
//!
//! `weft-device [--small] [--only STEP[,STEP…]] [--name TEXT[,TEXT…]] [--from TEXT] [--threads N] [--times-anyway] [--no-times]
//! [--once] [--python PYTHON] [--peers FILE] [--peers-limit SECONDS] [--seconds SECONDS]`. Steps are `golden`, `pages`, `examples`, `programs`, `loops` and `compile`; all without `--only`.
//! `--name` chooses what has one of the texts in its name, `--from` leaves out what comes before the first that has it, so that
//! another process goes on where one had to end; `--threads` says how many pages are checked at once; `--peers` takes what `bench/device_peers.py` has printed, else each library has
//! `--peers-limit` seconds (110). `--once` runs each program once instead of timing it, for a profiler. With `--seconds` the steps share so much time; what would begin later is skipped, and said. The files
//! of the repository are looked for where `WEFT_ROOT` says. Exit code 0 if all checks hold, 3 if something did not end.
//!
//! `weft-device --compiler`: how long NVRTC takes for the programs that are timed. That needs no device.
//! `weft-device --compile-once PLAN` is what this starts for each that is the first of a process.

#![allow(clippy::print_stderr, reason = "it is a main program")]

use std::process::ExitCode;
use std::{env, io};

use weft_tests::device_check::{self, Options, Schedule, Step, compiler};

fn main() -> ExitCode {
    let mut options = Options {
        is_small: false,
        steps: Step::ALL.map(|(_, step)| step).to_vec(),
        only: None,
        from: None,
        threads: None,
        times_anyway: false,
        is_once: false,
        python: None,
        peers: None,
        // Five of them in one call of ten minutes.
        peers_limit: 110,
        schedule: Schedule::unlimited(),
    };
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--small" => options.is_small = true,
            "--no-times" => options.steps.retain(|step| *step < Step::Programs),
            "--once" => options.is_once = true,
            "--times-anyway" => options.times_anyway = true,
            "--only" => match arguments.next().as_deref().map(steps) {
                Some(Some(steps)) => options.steps = steps,
                Some(None) | None => {
                    eprintln!(
                        "weft-device: --only takes {}",
                        Step::ALL.map(|(name, _)| name).join(", ")
                    );
                    return ExitCode::from(2);
                }
            },
            "--name" => options.only = arguments.next(),
            "--from" => options.from = arguments.next(),
            "--threads" => match arguments.next().and_then(|number| number.parse().ok()) {
                Some(threads) => options.threads = Some(threads),
                None => {
                    eprintln!("weft-device: --threads takes a number");
                    return ExitCode::from(2);
                }
            },
            "--peers" => options.peers = arguments.next().map(Into::into),
            "--peers-limit" => match arguments.next().and_then(|seconds| seconds.parse().ok()) {
                Some(seconds) => options.peers_limit = seconds,
                None => {
                    eprintln!("weft-device: --peers-limit takes seconds");
                    return ExitCode::from(2);
                }
            },
            "--seconds" => match arguments.next().and_then(|seconds| seconds.parse().ok()) {
                Some(seconds) => options.schedule = Schedule::seconds(seconds),
                None => {
                    eprintln!("weft-device: --seconds takes a number");
                    return ExitCode::from(2);
                }
            },
            "--compiler" => return ended(compiler::time(&mut io::stdout())),
            "--compile-once" => {
                let plan = arguments.next().unwrap_or_default();
                return ended(compiler::once(plan.as_ref(), &mut io::stdout()));
            }
            "--python" => options.python = arguments.next().map(Into::into),
            other => {
                eprintln!("weft-device: what is {other}?");
                return ExitCode::from(2);
            }
        }
    }
    ended(device_check::run(&options, &mut io::stdout()))
}

/// The steps of these names.
fn steps(names: &str) -> Option<Vec<Step>> {
    let of = |name| Step::ALL.iter().find(|(own, _)| *own == name).map(|(_, step)| *step);
    names.split(',').map(of).collect()
}

fn ended(all_hold: io::Result<bool>) -> ExitCode {
    match all_hold {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("weft-device: {error}");
            ExitCode::FAILURE
        }
    }
}
