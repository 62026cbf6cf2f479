//! Loops with and without graphs of the driver.

use std::io::{self, Write};

use weft_device::{Config, Description, Device};

use super::{Effort, Times, leaves, milliseconds, planned, replayed};
use crate::device_check::programs::{LOOPS, Loop};
use crate::device_check::{Options, say, session};

/// Prints a table.
pub(super) fn time(
    description: &Description,
    effort: Effort,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "\nLoops with graphs, and without: milliseconds by the clock of the device, and of the host.\n"
    )?;
    writeln!(
        out,
        "| loop | size | kernels | graphs | functions in them | with | with, host | without | without, host | factor |"
    )?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    for program in LOOPS {
        let size = if options.is_small { program.small } else { program.size };
        let times = measured(description, program, size, effort, true).and_then(|with| {
            measured(description, program, size, effort, false).map(|without| (with, without))
        });
        match times {
            Ok((with, without)) => writeln!(
                out,
                "| {} | {size} | {} | {} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {:.2} |",
                program.name,
                with.launches,
                with.graphs,
                with.in_graphs,
                milliseconds(with.device),
                milliseconds(with.host),
                milliseconds(without.device),
                milliseconds(without.host),
                without.host.as_secs_f64() / with.host.as_secs_f64(),
            )?,
            Err(why) => writeln!(out, "| {} | {size} | not on the device: {why} |", program.name)?,
        }
    }
    Ok(())
}

fn measured(
    description: &Description,
    program: &Loop,
    size: u64,
    effort: Effort,
    graphs: bool,
) -> Result<Times, String> {
    let mut device =
        Device::open(description.clone(), &Config { cache: None, cache_bytes: 0, graphs })?;
    let mut session = session("cpu");
    let said = say(&mut session, &program.setup.replace("N_", &size.to_string()));
    if !said.is_done {
        return Err(said.errors.concat());
    }
    let (plan, names) = planned(&mut session, program.expression, None)?;
    let inputs = leaves(&mut session, &names)?;
    let kernels = device.kernels(plan);
    replayed(&mut device, &kernels, &[inputs], effort.runs)
}
