//! Programs on the device beside its limits, and beside what else the machine has for them.
//!
//! A time is the median of runs that are timed by events of the device, over three sets of inputs in turn, so
//! that its caches do not hold them. Each program runs as it is, without fusion, and without sharing.

pub(super) mod compiling;
mod loops;
mod once;
mod peers;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use weft_cpu::Workers;
use weft_device::{Again, Beside, Config, Description, Device, Kernels};
use weft_ir::leaves::value_to_leaves;
use weft_ir::{Value, plan};
use weft_session::Session;

use super::programs::{BANDWIDTH, PROGRAMS, Program};
use super::watch::Watch;
use super::{NO_TIME, Options, PATIENCE, Step, golden, say, session};

/// Memory of a run.
const MEMORY: u64 = 100 << 30;

/// The bytes that the device clears before each run: its caches hold nothing of the inputs then, and the host is
/// ahead of it, so that its clock counts nothing that the host does.
const CLEARED: u64 = 1 << 30;

/// The modes that programs run in: the words of the report, and what is switched off.
const MODES: [(&str, Option<&str>); 3] =
    [("full", None), ("no fusion", Some("fusion")), ("no sharing", Some("sharing"))];

/// What the programs take of the time for them and their peers.
const OWN_PART: f64 = 0.6;

/// How often something is done.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Sets of inputs.
    sets: usize,
    /// Runs that are timed.
    runs: usize,
}

/// The medians of a program in a mode.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// By the clock of the device.
    device: Duration,
    /// With all that the host does, in runs before which nothing is cleared.
    host: Duration,
    launches: u64,
    /// Functions launched as parts of graphs; a kernel may be several.
    in_graphs: u64,
    graphs: u64,
    /// Functions that did not wait for all before them.
    beside: u64,
}

/// Prints a section for `bench/LOG.md`: a table of the programs, then those of short kernels with and
/// without graphs and streams, then how long compilers and the host take.
pub(super) fn time(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let found = weft_device::find().map_err(|absent| io::Error::other(absent.to_string()))?;
    let (small, runs) = (options.is_small, if options.is_small { 1 } else { 30 });
    let effort = Effort { sets: if small { 2 } else { 3 }, runs };
    writeln!(out, "\n## {}\n", found[0])?;
    if options.is_once {
        return once::run(&found[0], options, out);
    }
    if options.has(Step::Programs) {
        programs(&found[0], effort, options, out)?;
    }
    if options.has(Step::Loops) {
        loops::time(&found[0], effort, options, out)?;
        writeln!(out)?;
    }
    if options.has(Step::Compile) {
        match options.is_over(Step::Compile, 1.0) {
            true => writeln!(out, "- The compiler was not timed: {NO_TIME}.")?,
            false => compiling::time(&found[0], options, out)?,
        }
    }
    Ok(())
}

/// How many times slower the memory is than that of which the limits tell.
fn bandwidth(device: &mut Device, small: bool, out: &mut dyn Write) -> io::Result<f64> {
    match device.copying(if small { 1 << 20 } else { 2 << 30 }) {
        Ok(Some(rate)) => {
            writeln!(
                out,
                "Copying on the device reads and writes {:.2} TB/s: limits that are bytes are those of {:.1} TB/s, in proportion.\n",
                rate / 1e12,
                BANDWIDTH / 1e12
            )?;
            Ok(BANDWIDTH / rate)
        }
        Ok(None) => Ok(1.0),
        Err(why) => {
            writeln!(out, "What copying reaches is not known: {why}.\n")?;
            Ok(1.0)
        }
    }
}

/// The table of the programs.
fn programs(
    description: &Description,
    effort: Effort,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let small = options.is_small;
    let config = Config {
        cache: None,
        cache_bytes: 0,
        graphs: true,
        streams: Beside::Long,
        ..Config::of_environment()
    };
    let mut device = Device::open(description.clone(), &config).map_err(io::Error::other)?;
    let slower = bandwidth(&mut device, small, out)?;
    writeln!(
        out,
        "Medians of {} runs by events of the device, over {} sets of inputs in turn, behind {} MB that it clears; \
         milliseconds. The time with the host is of other runs, before which it clears nothing.\n",
        effort.runs,
        effort.sets,
        if small { 1 } else { CLEARED >> 20 }
    )?;
    writeln!(
        out,
        "| program | size | full | no fusion | no sharing | with the host | launches | limit | share of it |"
    )?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
    let about = options.chosen(PROGRAMS, |program| program.name.to_owned());
    let watch = Watch::new(PATIENCE);
    let workers = Workers::new(thread::available_parallelism().map_or(1, usize::from));
    let mut own = Vec::new();
    // The peers have the rest of the time for this.
    let part = if options.python.is_some() && options.peers.is_none() { OWN_PART } else { 1.0 };
    let mut skipped = None;
    for (number, program) in about.iter().enumerate() {
        if options.is_over(Step::Programs, part) {
            skipped = Some((about.len() - number, program.name));
            break;
        }
        let next = about.get(number + 1).map(|next| next.name.to_owned());
        watch.on(format!("| {}", program.name), next);
        let size = if small { program.small } else { program.size };
        let modes = if small && number > 0 { 1 } else { MODES.len() };
        match measured(&mut device, &workers, program, size, effort, modes) {
            Ok(times) => {
                row(program, size, &times, slower, options, out)?;
                own.extend(times[0].as_ref().map(|full| (program.name, milliseconds(full.device))));
            }
            Err(why) => writeln!(out, "| {} | {size} | not on the device: {why} |", program.name)?,
        }
        out.flush()?;
    }
    writeln!(out)?;
    if let Some((left, first)) = skipped {
        writeln!(
            out,
            "- {left} of {} programs skipped: {NO_TIME}; the first is {first}.",
            about.len()
        )?;
    }
    for program in PROGRAMS.iter().filter(|program| program.limited_by != "bytes") {
        writeln!(out, "- The limit of {} is {}.", program.name, program.limited_by)?;
    }
    out.flush()?;
    // The device is theirs now.
    drop(device);
    drop(watch);
    let peers = peers::times(options, out);
    beside_peers(&own, &peers, out)
}

/// The table of the programs beside their peers.
fn beside_peers(own: &[(&str, f64)], peers: &peers::Peers, out: &mut dyn Write) -> io::Result<()> {
    if own.iter().any(|(name, _)| !peers.of(name).is_empty()) {
        writeln!(out, "\nA factor above 1: the peer takes longer.\n")?;
        writeln!(out, "| program | Weft | best peer | factor | other peers |")?;
        writeln!(out, "| --- | ---: | --- | ---: | --- |")?;
    }
    for (name, time) in own {
        let mut of_program = peers.of(name);
        of_program.sort_by(|a, b| a.1.total_cmp(&b.1));
        let Some((peer, best)) = of_program.first() else { continue };
        let rest = of_program.iter().skip(1);
        let rest = rest.map(|(peer, theirs)| format!("{peer} {theirs:.4} ({:.2})", theirs / time));
        let rest = rest.collect::<Vec<_>>().join(", ");
        writeln!(
            out,
            "| {name} | {time:.4} | {peer} {best:.4} | **{:.2}** | {rest} |",
            best / time
        )?;
    }
    writeln!(out)?;
    peers.skipped.iter().try_for_each(|line| writeln!(out, "- Peers: {line}."))
}

fn row(
    program: &Program,
    size: u64,
    times: &[Result<Times, String>; 3],
    slower: f64,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cell = |times: &Result<Times, String>| match times {
        Ok(times) => format!("{:.4}", milliseconds(times.device)),
        Err(why) => why.replace('|', "/"),
    };
    let limit = program.limit * if program.limited_by.starts_with("bytes") { slower } else { 1.0 };
    let [full, no_fusion, no_sharing] = times;
    let (mut host, mut launches, mut share) = Default::default();
    if let Ok(full) = full {
        let own = milliseconds(full.device);
        host = format!("{:.4}", milliseconds(full.host));
        launches = full.launches.to_string();
        // A small size says nothing about the limit of the whole one.
        if !options.is_small {
            share = format!("{:.0} %", 100.0 * limit / own);
        }
    }
    let name = program.name;
    let (full, no_fusion, no_sharing) = (cell(full), cell(no_fusion), cell(no_sharing));
    writeln!(
        out,
        "| {name} | {size} | {full} | {no_fusion} | {no_sharing} | {host} | {launches} | {limit:.3} | {share} |"
    )
}

/// The times of a program in the first modes.
fn measured(
    device: &mut Device,
    workers: &Workers,
    program: &Program,
    size: u64,
    effort: Effort,
    modes: usize,
) -> Result<[Result<Times, String>; 3], String> {
    let cleared = if size == program.size { CLEARED } else { 1 << 20 };
    let mut sessions = Vec::new();
    for set in 1..=effort.sets {
        // The inputs are the host's: the first run of each set takes them to the device.
        let mut session = session("cpu");
        let setup = program.setup.replace("N_", &size.to_string()).replace("S_", &set.to_string());
        let said = say(&mut session, &setup);
        if !said.is_done {
            return Err(said.errors.concat());
        }
        sessions.push(session);
    }
    let mut names = None;
    let mut sets: Vec<Vec<Value>> = Vec::new();
    Ok([0, 1, 2].map(|mode| {
        let (_, switched_off) = MODES[mode];
        if mode >= modes {
            return Err(String::new());
        }
        let (plan, inputs) = planned(&mut sessions[0], program.expression, switched_off)?;
        if names.as_ref() != Some(&inputs) {
            let all = sessions.iter_mut().map(|session| leaves(session, &inputs));
            sets = all.collect::<Result<_, String>>()?;
            names = Some(inputs);
        }
        let kernels = device.kernels(plan);
        // In the other modes it is another program with the same value.
        if mode == 0 {
            golden::compare(device, &kernels, workers, &sets[0], 2)?;
        }
        device.set_cleared(cleared);
        let times = replayed(device, &kernels, &sets, effort.runs)?;
        device.set_cleared(0);
        let Times { host, .. } = replayed(device, &kernels, &sets, effort.runs)?;
        Ok(Times { host, ..times })
    }))
}

/// The plan of an expression, and the names of its inputs.
pub(super) fn planned(
    session: &mut Session,
    expression: &str,
    switched_off: Option<&str>,
) -> Result<(plan::Program, Vec<String>), String> {
    if let Some(name) = switched_off {
        session.set_mode(name, "off")?;
    }
    let said = say(session, &format!(":ir plan {expression}"));
    if let Some(name) = switched_off {
        session.set_mode(name, "on")?;
    }
    if !said.is_done {
        return Err(said.errors.concat());
    }
    let text = said.texts.concat();
    let inputs = text.lines().find_map(|line| line.strip_prefix("-- of ")).map(names);
    let program = plan::parse(&text).map_err(|error| format!("{error:?}"))?;
    plan::check(&program).map_err(|error| format!("{error:?}"))?;
    Ok((program, inputs.unwrap_or_default()))
}

/// The names in `xs : [](i32, f64), y : f32`.
fn names(inputs: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = inputs.split(|c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        c == ',' && depth == 0
    });
    let name = |part: &str| part.split(':').next().unwrap_or_default().trim().to_owned();
    parts.map(name).collect()
}

/// The leaves of the values of these names.
fn leaves(session: &mut Session, names: &[String]) -> Result<Vec<Value>, String> {
    let mut leaves = Vec::new();
    for name in names {
        let said = say(session, name);
        let (value, ty) = said.values.last().ok_or_else(|| said.errors.concat())?;
        leaves.extend(value_to_leaves(value, ty));
    }
    Ok(leaves)
}

/// Runs a program again and again, with each set of inputs in turn. Nobody looks at the results.
fn replayed(
    device: &mut Device,
    kernels: &Kernels,
    sets: &[Vec<Value>],
    runs: usize,
) -> Result<Times, String> {
    let never = AtomicBool::new(false);
    let again: Again = Arc::new(|_| panic!("nobody looks at the results"));
    let (mut launches, mut in_graphs, mut graphs, mut beside) = (0, 0, 0, 0);
    let mut once = |inputs: &[Value]| -> Result<(Duration, Duration), String> {
        launches = 0;
        let begun = Instant::now();
        let again = Arc::clone(&again);
        let ran =
            device.run_deferring(kernels, inputs, MEMORY, &never, again, &mut |_| launches += 1);
        let host = begun.elapsed();
        ran.results.map_err(|halt| format!("{halt:?}"))?;
        let weft_device::Traffic { in_graphs: own, graphs: all, beside: next_to, .. } = ran.traffic;
        (in_graphs, graphs, beside) = (own, all, next_to);
        Ok((ran.traffic.on_device, host))
    };
    for inputs in sets {
        once(inputs)?;
    }
    let all: Result<Vec<_>, String> = sets.iter().cycle().take(runs).map(|set| once(set)).collect();
    let (mut device, mut host): (Vec<Duration>, Vec<Duration>) = all?.into_iter().unzip();
    let (device, host) = (median(&mut device), median(&mut host));
    Ok(Times { device, host, launches, in_graphs, graphs, beside })
}

pub(super) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn the_names_of_inputs() {
        assert_eq!(names("rows : [][](i32, f64), x : []f64"), ["rows", "x"]);
        assert_eq!(names("p : {a: i32, b: f64}, n : i64"), ["p", "n"]);
    }
}
