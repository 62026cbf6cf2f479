//! Programs of short kernels: loops with and without graphs of the driver, and kernels that do not depend on each other
//! with several streams and with one.

use std::io::{self, Write};

use weft_device::{Config, Description, Device};

use super::{Effort, Times, leaves, milliseconds, planned, replayed};
use crate::device_check::programs::{BRANCHES, LOOPS, Short};
use crate::device_check::{Options, say, session};

/// Prints two tables.
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
        let counts = |with: &Times| format!("{} | {}", with.graphs, with.in_graphs);
        row(
            description,
            program,
            effort,
            options,
            |config| Config { graphs: false, ..config },
            &counts,
            out,
        )?;
    }
    writeln!(
        out,
        "\nKernels that do not depend on each other, with several streams, and with one: milliseconds as above.\n"
    )?;
    writeln!(
        out,
        "| program | size | kernels | functions beside others | with | with, host | without | without, host | factor |"
    )?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    for program in BRANCHES {
        let counts = |with: &Times| with.beside.to_string();
        row(
            description,
            program,
            effort,
            options,
            |config| Config { streams: false, ..config },
            &counts,
            out,
        )?;
    }
    Ok(())
}

/// A line about a program: as it is, and with something switched off.
fn row(
    description: &Description,
    program: &Short,
    effort: Effort,
    options: &Options,
    without: fn(Config) -> Config,
    counts: &dyn Fn(&Times) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let size = if options.is_small { program.small } else { program.size };
    let all = Config {
        cache: None,
        cache_bytes: 0,
        graphs: true,
        streams: true,
        ..Config::of_environment()
    };
    let times = measured(description, program, size, effort, &all).and_then(|with| {
        let without = measured(description, program, size, effort, &without(all.clone()))?;
        Ok((with, without))
    });
    match times {
        Ok((with, without)) => writeln!(
            out,
            "| {} | {size} | {} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {:.2} |",
            program.name,
            with.launches,
            counts(&with),
            milliseconds(with.device),
            milliseconds(with.host),
            milliseconds(without.device),
            milliseconds(without.host),
            without.host.as_secs_f64() / with.host.as_secs_f64(),
        ),
        Err(why) => writeln!(out, "| {} | {size} | not on the device: {why} |", program.name),
    }
}

fn measured(
    description: &Description,
    program: &Short,
    size: u64,
    effort: Effort,
    config: &Config,
) -> Result<Times, String> {
    let mut device = Device::open(description.clone(), config)?;
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
