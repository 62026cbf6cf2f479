//! The golden kernels (`cuda/gate/plans`), on the device and on the CPU: equal bits, or the same fault.

mod inputs;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fmt, fs, thread};

use weft_cpu::{KernelCache, Workers};
use weft_device::{Config, Device, Halt, Kernels};
use weft_ir::{Stop, Value, plan};

use self::inputs::{FEW, SHAPES, Shape, inputs};
use super::watch::{Watch, goes_on};
use super::{NO_TIME, Options, Step, stem};
use crate::{pages, repository};

/// The element types that are put where a plan says `f32`.
const TYPES: [&str; 4] = ["f32", "f64", "i32", "i64"];
/// So many of them are floats, which alone these operations take.
const FLOATS: usize = 2;
const OF_FLOATS: [&str; 6] = ["div", "sqrt", "exp", "log", "sin", "fma"];

/// Memory of a run.
const MEMORY: u64 = 32 << 30;

/// Large inputs are run several times, since what is not in order may go well once.
const TIMES: usize = 5;

/// How long a run may take on the CPU, by what a smaller one took.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one on the device may take, with what the compiler needs.
const STUCK: Duration = Duration::from_secs(60);

pub(super) fn check(options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    let found = weft_device::find().map_err(|absent| io::Error::other(absent.to_string()))?;
    let mut device = Device::open(found[0].clone(), &Config::of_environment())
        .map_err(|why| io::Error::other(format!("the device does not open: {why}")))?;
    let workers = Workers::new(thread::available_parallelism().map_or(1, usize::from));
    let (types, shapes): (usize, &[Shape]) =
        if options.is_small { (1, &FEW) } else { (TYPES.len(), &SHAPES) };
    let mut all = Counts::default();
    let watch = Watch::new(STUCK);
    let plans = pages::files(&repository().join("cuda/gate/plans"), "plan")?;
    let plans = options.chosen(plans, |path| stem(path));
    let mut entries = Vec::new();
    for path in &plans {
        let text = fs::read_to_string(path)?;
        let of_types = programs(&text).into_iter().take(types).enumerate();
        entries.extend(of_types.map(|(order, (ty, program))| (order, stem(path), ty, program)));
    }
    if options.left(Step::Golden, 1.0).is_some() {
        // Each plan with one type before any with another.
        entries.sort_by_key(|(order, ..)| *order);
    }
    let names: Vec<String> = entries.iter().map(|(_, name, ..)| name.clone()).collect();
    let (count, mut begun) = (entries.len(), 0);
    for (at, (_, name, ty, program)) in entries.into_iter().enumerate() {
        let next = names[at..].iter().find(|next| **next != name).cloned();
        if options.is_over(Step::Golden, 1.0) {
            let left = count - at;
            writeln!(
                out,
                "golden kernels: {left} of {count} skipped: {NO_TIME}; the first is {name} {ty}"
            )?;
            break;
        }
        begun += 1;
        let Some(program) = program else {
            writeln!(out, "golden {name}: no plan for {ty}")?;
            all.broken += 1;
            continue;
        };
        let kernels = device.kernels(program);
        let (since, mut own, mut pace) = (Instant::now(), Counts::default(), Pace::default());
        for shape in shapes.iter().filter(|shape| !shape.is_left_out(&kernels.plan)) {
            let extent = shape.extent(&kernels.plan);
            if shape.is_even() && pace.of(extent) > PATIENCE {
                own.left_out += 1;
                continue;
            }
            let place = format!("golden {name}, {ty}, {shape}");
            watch.on(place.clone(), next.clone());
            let inputs = inputs(&kernels.plan, *shape);
            let times = if shape.is_large() { TIMES } else { 1 };
            match compare(&mut device, &kernels, &workers, &inputs, times) {
                Ok(time) => {
                    own.held += 1;
                    if shape.is_even() {
                        pace.note(extent, time);
                    }
                }
                Err(why) => {
                    own.broken += 1;
                    writeln!(out, "{place}: {why}")?;
                    out.flush()?;
                }
            }
            if device.contexts() > 1 || device.is_lost() {
                // What comes behind a device that was lost may be a consequence.
                writeln!(
                    out,
                    "golden kernels: the device was lost, by {name} or what ran before; {} hold so far; {}",
                    all.held + own.held,
                    goes_on(next.as_deref())
                )?;
                return Ok(false);
            }
        }
        // Whoever ends this process knows how far it has come.
        writeln!(out, "golden {name} {ty}: {own}, {:.1} s", since.elapsed().as_secs_f64())?;
        out.flush()?;
        all.add(own);
    }
    writeln!(out, "golden kernels: {all}; those give the bits of the CPU")?;
    // Where nothing was begun, nothing is wrong.
    Ok(all.broken == 0 && (all.held > 0 || begun == 0))
}

/// How runs ended.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    held: u32,
    broken: u32,
    /// Those that would take long on the CPU.
    left_out: u32,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.held += other.held;
        self.broken += other.broken;
        self.left_out += other.left_out;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hold", self.held)?;
        if self.broken > 0 {
            write!(f, ", {} do not", self.broken)?;
        }
        match self.left_out {
            0 => Ok(()),
            many => write!(f, ", {many} left out, which take long on the CPU"),
        }
    }
}

/// The program with each of the types, if it is one: one that says no `f32` is the same with all, and what divides or takes roots
/// does so with floats.
fn programs(text: &str) -> Vec<(&'static str, Option<plan::Program>)> {
    let is_of_floats = text.lines().any(|line| {
        let operation = line.split(" = ").nth(1).and_then(|code| code.split(' ').next());
        operation.is_some_and(|operation| OF_FLOATS.contains(&operation))
    });
    let types = match (text.contains("f32"), is_of_floats) {
        (false, _) => &TYPES[..1],
        (true, true) => &TYPES[..FLOATS],
        (true, false) => &TYPES[..],
    };
    let with = |ty: &'static str| {
        let literal = if ty.starts_with('i') { "" } else { ".0" };
        let text = text.replace(".0f32", &format!("{literal}{ty}")).replace("f32", ty);
        (ty, plan::parse(&text).ok().filter(|program| plan::check(program).is_ok()))
    };
    types.iter().map(|ty| with(ty)).collect()
}

/// How long runs take as they grow.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// The last two extents, and what they took.
    runs: [(usize, Duration); 2],
}

impl Pace {
    fn note(&mut self, extent: usize, took: Duration) {
        self.runs = [self.runs[1], (extent, took)];
    }

    /// What one of this extent may take: in proportion to it, to its square or to its cube, whichever the last one looked
    /// like.
    fn of(&self, extent: usize) -> Duration {
        let [(before, took_before), (last, took)] = self.runs;
        let grown = |from: usize, to: usize| to as f64 / from.max(1) as f64;
        let looks_like = |power: i32| {
            let half_a_power_less =
                took_before.as_secs_f64() * grown(before, last).powf(f64::from(power) - 0.5);
            // What has hardly grown tells nothing.
            before > 0 && last > before && took.as_secs_f64() > half_a_power_less
        };
        let power = [3, 2].into_iter().find(|power| looks_like(*power)).unwrap_or(1);
        let growth = grown(last, extent).powi(power);
        Duration::try_from_secs_f64(took.as_secs_f64() * growth).unwrap_or(Duration::MAX)
    }
}

/// Runs a plan on both, on the device so many times; how long the CPU took.
pub(super) fn compare(
    device: &mut Device,
    kernels: &Kernels,
    workers: &Workers,
    inputs: &[Value],
    times: usize,
) -> Result<Duration, String> {
    let program = &kernels.plan;
    let never = AtomicBool::new(false);
    let prepared = weft_cpu::prepare(program, &mut KernelCache::new());
    let config = weft_cpu::Config { workers, memory_limit: MEMORY };
    let begun = Instant::now();
    let expected = weft_cpu::run(program, &prepared, inputs, &config, &never, &mut |_| {});
    let took = begun.elapsed();
    for time in 0..times {
        let found = device.run(kernels, inputs, MEMORY, &never, &mut |_| {}).results;
        let answer = match (&expected, found) {
            (Ok(expected), Ok(found)) => {
                let same = expected.iter().zip(&found).all(|(a, b)| a.same_bits(b));
                if same { Ok(()) } else { Err("other bits than on the CPU".to_owned()) }
            }
            (Err(expected), Err(Halt::Stop(found))) if is_same(expected, &found) => Ok(()),
            (Ok(_), Err(halt)) => Err(format!("{halt:?}")),
            (Err(stop), found) => Err(format!("{stop:?} on the CPU, not {:?}", found.map(|_| ()))),
        };
        answer.map_err(|why| match time {
            0 => why,
            _ => format!("{why}, after {time} runs that held"),
        })?;
    }
    Ok(took)
}

/// Whether two runs ended for the same reason. Not every check knows its place in the program.
fn is_same(expected: &Stop, found: &Stop) -> bool {
    match (expected, found) {
        (Stop::Fault(expected), Stop::Fault(found)) => expected.kind == found.kind,
        (Stop::Exhausted(expected), Stop::Exhausted(found)) => expected.code() == found.code(),
        (Stop::Fault(_), Stop::Exhausted(_)) | (Stop::Exhausted(_), Stop::Fault(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use weft_cuda::{Access, Broken, Policy, Target};
    use weft_ir::{Exhausted, Fault, FaultKind, Span, Stop};

    use super::inputs::{SHAPES, inputs};
    use super::{Counts, MEMORY, Pace, is_same, programs};
    use crate::device_check::stem;
    use crate::{pages, repository};

    #[test]
    fn every_plan_is_a_program_with_all_types_that_it_takes() {
        let plans = pages::files(&repository().join("cuda/gate/plans"), "plan").expect("plans");
        let mut counts = [0; 5];
        for path in plans {
            let text = fs::read_to_string(&path).expect("a plan");
            let programs = programs(&text);
            counts[programs.len()] += 1;
            for (ty, program) in programs {
                assert!(program.is_some(), "{} of {ty}", path.display());
            }
        }
        assert!(counts[1] > 1 && counts[2] > 1 && counts[4] > 10, "{counts:?}");
    }

    /// Does nothing, and knows what it was asked to launch. Its memory is all zeros.
    #[derive(Default)]
    struct Launches {
        next: u64,
        names: BTreeSet<String>,
    }

    impl Target for Launches {
        fn allocate(&mut self, bytes: u64, _element: usize, _name: &str) -> Result<u64, Broken> {
            self.next += bytes.next_multiple_of(256) + 256;
            Ok(self.next)
        }

        fn free(&mut self, _address: u64) -> Result<(), Broken> {
            Ok(())
        }

        fn write(&mut self, _address: u64, _bytes: &[u8]) -> Result<(), Broken> {
            Ok(())
        }

        fn read(&mut self, _address: u64, into: &mut [u8]) -> Result<(), Broken> {
            into.fill(0);
            Ok(())
        }

        fn copy(&mut self, _to: u64, _from: u64, _bytes: u64) -> Result<(), Broken> {
            Ok(())
        }

        fn clear(&mut self, _address: u64, _bytes: u64) -> Result<(), Broken> {
            Ok(())
        }

        fn launch(
            &mut self,
            entry: &str,
            _blocks: u32,
            _threads: u32,
            _parameters: &[Vec<u8>],
            _access: Access<'_>,
        ) -> Result<(), Broken> {
            self.names.insert(entry.to_owned());
            Ok(())
        }

        fn end_kernels(&mut self) -> Result<(), Broken> {
            // It has no results.
            Err(Broken::Interrupted)
        }
    }

    /// Each function of the golden kernels is launched with one of the shapes, on the device that most is known of.
    #[test]
    fn every_way_of_each_skeleton_is_taken() {
        let (policy, never) = (Policy::SM_90, AtomicBool::new(false));
        let config = weft_cuda::Config { policy: &policy, memory_limit: MEMORY };
        let (mut missing, mut common, mut launched) =
            (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for path in pages::files(&repository().join("cuda/gate/plans"), "plan").expect("plans") {
            let text = fs::read_to_string(&path).expect("a plan");
            let (_, program) = programs(&text).remove(0);
            let program = program.expect("a plan");
            let code = weft_cuda::generate(&program, &policy);
            let mut launches = Launches::default();
            // The largest takes long to make, and chooses nothing that another one does not.
            let shapes = SHAPES.iter().take(SHAPES.len() - 1);
            for shape in shapes.filter(|shape| !shape.is_left_out(&program)) {
                // Also where the plan has a fault.
                drop(weft_cuda::run_fallible(
                    &program,
                    &code,
                    &inputs(&program, *shape),
                    &mut launches,
                    &config,
                    &never,
                    &mut |_| {},
                ));
            }
            let own = code.entries.iter().map(|entry| &entry.name);
            let is_missing = |name: &&String| !launches.names.contains(*name);
            missing.extend(own.filter(is_missing).map(|name| format!("{}: {name}", stem(&path))));
            common.extend(code.common_entries.iter().map(|entry| entry.name.clone()));
            launched.extend(launches.names);
        }
        missing.extend(common.difference(&launched).cloned());
        // More points than 32 bits number take too long.
        missing.retain(|name| !name.ends_with("_wide") && name != "sort_widen");
        assert_eq!(
            missing,
            [
                // These loops are a kernel each, and nothing of their turns is launched.
                "loop: k1_scatter_vote",
                "loop: k1_scatter_write",
                "row_loops: k1_map",
                "row_loops: k2_scatter_vote",
                "row_loops: k2_scatter_write",
                // Of several keys, and of rows: the pages have these. And of keys that are all the same, as a single one
                // is; not here, where nobody counts.
                "sort_gather",
                "sort_order",
                "sort_restore",
                "sort_rows",
            ]
        );
    }

    #[test]
    fn how_runs_ended() {
        let mut counts = Counts { held: 8, ..Counts::default() };
        assert_eq!(counts.to_string(), "8 hold");
        counts.add(Counts { held: 1, broken: 2, left_out: 1 });
        assert_eq!(counts.to_string(), "9 hold, 2 do not, 1 left out, which take long on the CPU");
    }

    #[test]
    fn what_looks_at_all_pairs_takes_the_square() {
        let runs = |first, second| {
            let mut pace = Pace::default();
            assert_eq!(pace.of(70), Duration::ZERO);
            pace.note(0, Duration::from_micros(100));
            assert_eq!(pace.of(70), Duration::from_millis(7));
            pace.note(2000, Duration::from_micros(first));
            pace.note(4000, Duration::from_micros(second));
            pace.of(400_000)
        };
        assert!(runs(50, 100) < Duration::from_millis(11));
        assert!(runs(5000, 20_000) > Duration::from_secs(199));
        assert!(runs(5000, 20_000) < Duration::from_secs(201));
        assert!(runs(10, 80) > Duration::from_secs(79));
    }

    #[test]
    fn faults_of_another_kind_are_not_the_same() {
        let fault = |kind| Stop::from(Fault { kind, span: Span::default() });
        let (index, zero) = (FaultKind::IndexOutOfRange, FaultKind::DivisionByZero);
        assert!(is_same(&fault(index), &fault(index)));
        assert!(!is_same(&fault(index), &fault(zero)));
        assert!(!is_same(&fault(index), &Exhausted::Interrupted.into()));
    }
}
