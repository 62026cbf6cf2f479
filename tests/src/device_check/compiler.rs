//! How long the compiler of the device takes for the programs that are timed: no device has to be there.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use weft_device::{Config, Texts, load_compiler};
use weft_ir::plan;

use super::programs::PROGRAMS;
use super::timing::{compiling, median, milliseconds, planned};
use super::{say, session};

/// The architecture that is compiled for: of an H200.
const ARCHITECTURE: u32 = 90;

/// How many processes compile a program as the first thing that they do.
const PROCESSES: usize = 5;

/// How often it is compiled in one process, where the compiler has worked before.
const TIMES: usize = 7;

/// A cell whose ten kernels are of ten kinds.
const TEN: &str = "(x * 2.0 + y, sum (x * y), scanl1 (+) y, { v in x | v > 0.5 }, histogram 256 (i64 (x * 256.0)), \
                   sort x, { sum row : row in m }, { maximum column : column in transpose m }, \
                   matmul m m, scatterWith (+) (replicate 5000 0.0f32) (i64 (y * 5000.0)) x)";

/// What its names are.
const OF_TEN: &str =
    "x = (random 1 400 : []f32)\ny = (random 2 400 : []f32)\nm = reshape (20, 20) x";

/// Programs that are only compiled.
const OTHERS: [(&str, &str, &str); 2] = [
    ("saxpy", "x = (random 1 400 : []f32)\ny = (random 2 400 : []f32)\na = 2.5f32", "a * x + y"),
    ("ten kinds of kernels", OF_TEN, TEN),
];

/// Prints a table: the time of the first compilation of a process, and of later ones.
///
/// # Errors
/// If nothing can be written, there is no compiler, or a program does not compile.
pub fn time(out: &mut dyn Write) -> io::Result<bool> {
    let (release, loaded) = load_compiler().map_err(io::Error::other)?;
    let (major, minor) = release;
    writeln!(
        out,
        "NVRTC {major}.{minor}, sm_{ARCHITECTURE}; loading it took {:.1} ms here. Milliseconds, medians and least of \
         {PROCESSES} processes that compile once, and of {TIMES} times in one; then, of these, the processor time of \
         all texts and of the longest one (least). {} compilers at once.\n",
        milliseconds(loaded),
        compilers()
    )?;
    writeln!(
        out,
        "| program | texts | KB | functions | others | first, median | least | later, median | least | processor | longest text | code, KB |"
    )?;
    writeln!(
        out,
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )?;
    let folder = env::temp_dir().join(format!("weft-compiler-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let told = programs().and_then(|programs| {
        programs.iter().try_for_each(|(name, plan)| row(name, plan, &folder, out))
    });
    fs::remove_dir_all(&folder)?;
    told.map(|()| true)
}

/// Compiles a plan in this process, and prints how long that took with loading the compiler, in nanoseconds.
///
/// # Errors
/// As of [`time`].
pub fn once(plan: &Path, out: &mut dyn Write) -> io::Result<bool> {
    let program = parsed(&fs::read_to_string(plan)?)?;
    let texts = Texts::new(&program, ARCHITECTURE, compilers());
    let begun = Instant::now();
    texts.compile().map_err(io::Error::other)?;
    writeln!(out, "{}", begun.elapsed().as_nanos())?;
    Ok(true)
}

fn compilers() -> usize {
    Config::of_environment().compilers
}

fn parsed(text: &str) -> io::Result<plan::Program> {
    let program = plan::parse(text).map_err(|error| io::Error::other(format!("{error:?}")))?;
    plan::check(&program).map_err(|error| io::Error::other(format!("{error:?}")))?;
    Ok(program)
}

/// The plans of all programs by name.
fn programs() -> io::Result<Vec<(String, plan::Program)>> {
    let timed = PROGRAMS.iter().map(|program| {
        let setup = program.setup.replace("N_", &program.small.to_string()).replace("S_", "1");
        (program.name, setup, program.expression)
    });
    let others = OTHERS.iter().map(|(name, setup, cell)| (*name, (*setup).to_owned(), *cell));
    let mut all = Vec::new();
    for (name, setup, expression) in timed.chain(others) {
        let mut session = session("cpu");
        let said = say(&mut session, &setup);
        if !said.is_done {
            return Err(io::Error::other(format!("{name}: {}", said.errors.concat())));
        }
        let planned = planned(&mut session, expression, None);
        let (plan, _) = planned.map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        all.push((name.to_owned(), plan));
    }
    all.push(("ten maps".to_owned(), compiling::program(10)));
    Ok(all)
}

fn row(name: &str, plan: &plan::Program, folder: &Path, out: &mut dyn Write) -> io::Result<()> {
    let path = folder.join("plan");
    fs::write(&path, plan.to_string())?;
    let texts = Texts::new(plan, ARCHITECTURE, compilers());
    let mut first = Vec::new();
    for _ in 0..PROCESSES {
        let told = Command::new(env::current_exe()?).arg("--compile-once").arg(&path).output()?;
        let time = String::from_utf8_lossy(&told.stdout).trim().parse().map(Duration::from_nanos);
        let failed = |_| io::Error::other(String::from_utf8_lossy(&told.stderr).into_owned());
        first.push(time.map_err(failed)?);
    }
    let (mut later, mut bytes) = (Vec::new(), 0);
    let (mut processor, mut longest) = (Duration::MAX, Duration::MAX);
    for time in 0..=TIMES {
        let compiled = texts.compile();
        let compiled = compiled.map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        bytes = compiled.bytes;
        if time > 0 {
            later.push(compiled.time);
            processor = processor.min(compiled.units.iter().sum());
            longest = longest.min(compiled.units.into_iter().max().unwrap_or_default());
        }
    }
    let kilobytes = |bytes: usize| bytes as f64 / 1e3;
    let both = |times: &mut [Duration]| {
        let middle = milliseconds(median(times));
        format!("{middle:.0} | {:.0}", milliseconds(times[0]))
    };
    writeln!(
        out,
        "| {name} | {} | {:.0} | {} | {} | {} | {} | {:.0} | {:.0} | {:.0} |",
        texts.units.len(),
        kilobytes(texts.units.iter().map(|unit| unit.text.len()).sum()),
        texts.units.iter().map(|unit| unit.functions.len()).sum::<usize>(),
        texts.rare.len(),
        both(&mut first),
        both(&mut later),
        milliseconds(processor),
        milliseconds(longest),
        kilobytes(bytes)
    )
}
