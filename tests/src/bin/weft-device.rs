//! `weft-device`: checks Weft on a machine with a device, and times it there (`bench/device.sh`).
//!
//! `weft-device [--small] [--no-times] [--python PYTHON]`. The files of the repository are looked for where
//! `WEFT_ROOT` says. Exit code 0 if all checks hold.

#![allow(clippy::print_stderr, reason = "it is a main program")]

use std::process::ExitCode;
use std::{env, io};

use weft_tests::device_check::{self, Options};

fn main() -> ExitCode {
    let mut options = Options { is_small: false, timed: true, python: None };
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--small" => options.is_small = true,
            "--no-times" => options.timed = false,
            "--python" => options.python = arguments.next().map(Into::into),
            other => {
                eprintln!("weft-device: what is {other}?");
                return ExitCode::from(2);
            }
        }
    }
    match device_check::run(&options, &mut io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("weft-device: {error}");
            ExitCode::FAILURE
        }
    }
}
