//! Each program once and nothing beside it, for a profiler, which says what it has found between the lines of this.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_device::{Again, Config, Description, Device};

use super::{MEMORY, leaves, planned};
use crate::device_check::programs::{PROGRAMS, Program};
use crate::device_check::{NO_TIME, Options, Step, say, session};

/// Runs what is asked for of the programs.
pub(super) fn run(
    description: &Description,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let config = Config { cache: None, cache_bytes: 0, ..Config::of_environment() };
    let mut device = Device::open(description.clone(), &config).map_err(io::Error::other)?;
    let about = options.chosen(PROGRAMS, |program| program.name.to_owned());
    for (at, program) in about.iter().enumerate() {
        if options.is_over(Step::Programs, 1.0) {
            let (left, all, name) = (about.len() - at, about.len(), program.name);
            writeln!(out, "{left} of {all} programs skipped: {NO_TIME}; the first is {name}")?;
            break;
        }
        writeln!(out, "program {}", program.name)?;
        out.flush()?;
        if let Err(why) = once(&mut device, program, options.is_small) {
            writeln!(out, "not on the device: {why}")?;
        }
    }
    Ok(())
}

fn once(device: &mut Device, program: &Program, is_small: bool) -> Result<(), String> {
    let size = if is_small { program.small } else { program.size };
    let mut session = session("cpu");
    let setup = program.setup.replace("N_", &size.to_string()).replace("S_", "1");
    let said = say(&mut session, &setup);
    if !said.is_done {
        return Err(said.errors.concat());
    }
    let (plan, names) = planned(&mut session, program.expression, None)?;
    let inputs = leaves(&mut session, &names)?;
    let kernels = device.kernels(plan);
    let again: Again = Arc::new(|_| panic!("nobody looks at the results"));
    let never = AtomicBool::new(false);
    let ran = device.run_deferring(&kernels, &inputs, MEMORY, &never, again, &mut |_| {});
    ran.results.map(|_| ()).map_err(|halt| format!("{halt:?}"))
}
