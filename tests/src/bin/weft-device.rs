//! `weft-device`: checks Weft on a machine with a device, and times it there (`bench/device.sh`).
//!
//! `weft-device [--small] [--no-times] [--python PYTHON]`. The files of the repository are looked for where
//! `WEFT_ROOT` says. Exit code 0 if all checks hold.
//!
//! `weft-device --compiler`: how long NVRTC takes for the programs that are timed. That needs no device.
//! `weft-device --compile-once PLAN` is what this starts for each that is the first of a process.

#![allow(clippy::print_stderr, reason = "it is a main program")]

use std::process::ExitCode;
use std::{env, io};

use weft_tests::device_check::{self, Options, compiler};

fn main() -> ExitCode {
    let mut options = Options { is_small: false, timed: true, python: None };
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--small" => options.is_small = true,
            "--no-times" => options.timed = false,
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
