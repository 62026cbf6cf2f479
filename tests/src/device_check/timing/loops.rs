//! Programs of short kernels: loops with and without graphs of the driver, and kernels that do not depend on each other
//! with several streams and with one.

use std::io::{self, Write};
use std::thread;

use weft_cpu::Workers;
use weft_device::{Beside, Config, Description, Device};

use super::{Effort, Times, golden, leaves, milliseconds, planned, replayed};
use crate::device_check::programs::{BRANCHES, LOOPS, Short};
use crate::device_check::watch::Watch;
use crate::device_check::{NO_TIME, Options, PATIENCE, Step, say, session};

/// What is switched off in one of two runs, with the words of its table.
struct Means {
    title: &'static str,
    columns: &'static str,
    without: fn(Config) -> Config,
    counts: fn(&Times) -> String,
}

const GRAPHS: Means = Means {
    title: "Loops with graphs, and without: milliseconds by the clock of the device, and of the host.",
    columns: "| loop | size | kernels | graphs | functions in them |",
    without: |config| Config { graphs: false, ..config },
    counts: |with| format!("{} | {}", with.graphs, with.in_graphs),
};

const STREAMS: Means = Means {
    title: "Kernels that do not depend on each other, with several streams, and with one: milliseconds as above.",
    columns: "| program | size | kernels | functions beside others |",
    without: |config| Config { streams: Beside::Nothing, ..config },
    counts: |with| with.beside.to_string(),
};

/// Prints two tables, with what is asked for of their programs.
pub(super) fn time(
    description: &Description,
    effort: Effort,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = |means: &'static Means| move |program: &'static Short| (means, program);
    let all = LOOPS.iter().map(of(&GRAPHS)).chain(BRANCHES.iter().map(of(&STREAMS)));
    let chosen = options.chosen(all, |(_, program)| program.name.to_owned());
    let workers = Workers::new(thread::available_parallelism().map_or(1, usize::from));
    let watch = Watch::new(PATIENCE);
    let mut title = "";
    for (at, (means, program)) in chosen.iter().enumerate() {
        if options.is_over(Step::Loops, 1.0) {
            let (left, all, name) = (chosen.len() - at, chosen.len(), program.name);
            writeln!(
                out,
                "\n- {left} of {all} loops and branches skipped: {NO_TIME}; the first is {name}."
            )?;
            break;
        }
        if title != means.title {
            title = means.title;
            writeln!(
                out,
                "\n{title}\n\n{} with | with, host | without | without, host | factor |",
                means.columns
            )?;
            // The columns of numbers stand to the right.
            let numbers = means.columns.matches('|').count() - 2 + 5;
            writeln!(out, "| --- |{}", " ---: |".repeat(numbers))?;
        }
        let next = chosen.get(at + 1).map(|(_, next)| next.name.to_owned());
        watch.on(format!("| {}", program.name), next);
        row(description, &workers, (means, program), effort, options, out)?;
        out.flush()?;
    }
    Ok(())
}

/// A line about a program: as it is, and with something switched off.
fn row(
    description: &Description,
    workers: &Workers,
    (means, program): (&Means, &Short),
    effort: Effort,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let size = if options.is_small { program.small } else { program.size };
    let all = Config {
        cache: None,
        cache_bytes: 0,
        graphs: true,
        streams: Beside::Long,
        ..Config::of_environment()
    };
    let times = measured(description, workers, program, size, effort, &all).and_then(|with| {
        let config = (means.without)(all.clone());
        let without = measured(description, workers, program, size, effort, &config)?;
        Ok((with, without))
    });
    match times {
        Ok((with, without)) => writeln!(
            out,
            "| {} | {size} | {} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {:.2} |",
            program.name,
            with.launches,
            (means.counts)(&with),
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
    workers: &Workers,
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
    golden::compare(&mut device, &kernels, workers, &inputs, 2)?;
    replayed(&mut device, &kernels, &[inputs], effort.runs)
}
