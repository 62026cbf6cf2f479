//! The golden kernels (`cuda/gate/plans`), on the device and on the CPU: equal bits, or the same fault.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, thread};

use weft_cpu::{KernelCache, Workers};
use weft_device::{Config, Device, Halt, Kernels};
use weft_ir::flat::{Dimension, Leaf, Size, Type};
use weft_ir::{Array, Column, ColumnBuilder, Scalar, ScalarType, Stop, Value, plan};

use super::watch::Watch;
use super::{Options, stem};
use crate::{pages, repository};

/// The element types that are put where a plan says `f32`.
const TYPES: [&str; 4] = ["f32", "f64", "i32", "i64"];
/// So many of them are floats, which alone these operations take.
const FLOATS: usize = 2;
const OF_FLOATS: [&str; 6] = ["div", "sqrt", "exp", "log", "sin", "fma"];

/// Memory of a run.
const MEMORY: u64 = 32 << 30;

/// The extents of arrays of one axis, and beside each those of more axes. From 4097 on there are several tiles in every kernel,
/// from 300 001 more than there are blocks at once, and the last has more tiles than are folded at once.
const EXTENTS: [(usize, usize); 8] = [
    (0, 0),
    (1, 1),
    (70, 70),
    (513, 70),
    (2000, 130),
    (4097, 300),
    (300_001, 1300),
    (17_000_001, 4096),
];
/// Those of a device that is emulated.
const FEW: [(usize, usize); 2] = [(0, 0), (70, 70)];

/// From this extent on, floats have all digits that they have room for, so that the order of sums shows, and each run is made
/// several times, since what is not in order may go well once.
const MANY: usize = 2000;
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
    let (types, list): (usize, &[(usize, usize)]) =
        if options.is_small { (1, &FEW) } else { (TYPES.len(), &EXTENTS) };
    let (mut held, mut broken, mut left_out) = (0, 0, 0);
    let watch = Watch::new(STUCK);
    let plans = pages::files(&repository().join("cuda/gate/plans"), "plan")?;
    for path in options.chosen(plans, |path| stem(path)) {
        let name = stem(&path);
        let text = fs::read_to_string(&path)?;
        for (ty, program) in programs(&text).into_iter().take(types) {
            let Some(program) = program else {
                writeln!(out, "golden {name}: no plan for {ty}")?;
                broken += 1;
                continue;
            };
            let kernels = device.kernels(program);
            let mut pace = Pace::default();
            for (at, extents) in list.iter().enumerate() {
                if pace.of(extents.0) > PATIENCE {
                    left_out += list.len() - at;
                    break;
                }
                let place = format!("golden {name}, {ty}, extents of {}", extents.0);
                watch.on(place.clone());
                let inputs = inputs(&kernels.plan, *extents);
                let times = if extents.0 < MANY { 1 } else { TIMES };
                let answer = compare(&mut device, &kernels, &workers, &inputs, times);
                held += u32::from(answer.is_ok());
                match answer {
                    Ok(time) => pace.note(extents.0, time),
                    Err(why) => {
                        broken += 1;
                        writeln!(out, "{place}: {why}")?;
                        out.flush()?;
                    }
                }
                if device.contexts() > 1 || device.is_lost() {
                    // What comes behind a device that was lost may be a consequence.
                    writeln!(
                        out,
                        "golden kernels: the device was lost, by {name} or what ran before; {held} hold so far, and \
                         another process goes on with `--only golden --from`"
                    )?;
                    return Ok(false);
                }
            }
        }
    }
    if left_out > 0 {
        writeln!(out, "golden kernels: {left_out} left out, which take long on the CPU")?;
    }
    writeln!(out, "golden kernels: {held} runs give the bits of the CPU, {broken} do not")?;
    Ok(broken == 0 && held > 0)
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

    /// What one of this extent may take: in proportion to it, or to its square if the last one looked like that.
    fn of(&self, extent: usize) -> Duration {
        let [(before, took_before), (last, took)] = self.runs;
        let grown = |from: usize, to: usize| to as f64 / from.max(1) as f64;
        let is_square =
            took.as_secs_f64() > took_before.as_secs_f64() * grown(before, last).powf(1.5);
        let growth = grown(last, extent).powi(if is_square { 2 } else { 1 });
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

/// Inputs all of whose extents are about the same; those of two or more axes are smaller.
fn inputs(program: &plan::Program, (extent, of_more): (usize, usize)) -> Vec<Value> {
    let widest = program.inputs.iter().map(|leaf| leaf.axes.len()).max().unwrap_or(1);
    let sizes =
        Sizes { extent: if widest > 1 { of_more } else { extent }, has_digits: extent >= MANY };
    let mut offsets = BTreeMap::new();
    let input = |leaf: &Leaf| value(leaf, &program.types, sizes, &mut offsets);
    program.inputs.iter().map(input).collect()
}

/// How large inputs are.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    extent: usize,
    /// Whether floats have all their digits.
    has_digits: bool,
}

fn value(
    leaf: &Leaf,
    types: &[Type],
    sizes: Sizes,
    offsets: &mut BTreeMap<u32, Vec<usize>>,
) -> Value {
    let element = types[leaf.data.0 as usize].element;
    let fixed = |size: Size| match size {
        Size::Constant(value) => value as usize,
        Size::Var(_) => sizes.extent,
    };
    // From the outermost axis inwards: how many rows each has.
    let mut rows = vec![1_usize];
    for axis in &leaf.axes {
        let before = rows[rows.len() - 1];
        rows.push(match axis {
            Dimension::Dense(size) => before * fixed(*size),
            Dimension::Ragged { offsets: var, .. } => {
                let ragged = offsets.entry(var.0).or_insert_with(|| ragged(before));
                ragged[before]
            }
        });
    }
    let count = rows[rows.len() - 1];
    let mut column = elements(element, count, sizes.has_digits);
    if leaf.axes.is_empty() {
        return Value::Scalar(column.scalar(0).expect("one element"));
    }
    for (at, axis) in leaf.axes.iter().enumerate().skip(1).rev() {
        let (len, inner) = (rows[at], Box::new(column));
        column = match axis {
            Dimension::Dense(size) => Column::Dense { len, extent: fixed(*size), inner },
            Dimension::Ragged { offsets: var, .. } => {
                Column::Ragged { offsets: offsets[&var.0].clone().into(), inner }
            }
        };
    }
    Value::Array(Arc::new(Array::new(column)))
}

/// Offsets of rows of 0 to 6 elements.
fn ragged(rows: usize) -> Vec<usize> {
    let mut offsets = vec![0];
    for row in 0..rows {
        offsets.push(offsets[row] + row % 7);
    }
    offsets
}

/// Small numbers in no order, whose sums are exact unless they have all their digits.
fn elements(ty: ScalarType, count: usize, has_digits: bool) -> Column {
    let mut builder = ColumnBuilder::new(&weft_ir::Type::Scalar(ty));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = (state % 7) as u8;
        let digits = if has_digits { (state >> 40) as f32 / 16_777_216.0 } else { 0.0 };
        builder.push_scalar(match ty {
            ScalarType::I8 => Scalar::I8(number as i8),
            ScalarType::I16 => Scalar::I16(i16::from(number)),
            ScalarType::I32 => Scalar::I32(i32::from(number)),
            ScalarType::I64 => Scalar::I64(i64::from(number)),
            ScalarType::U8 => Scalar::U8(number),
            ScalarType::U16 => Scalar::U16(u16::from(number)),
            ScalarType::U32 => Scalar::U32(u32::from(number)),
            ScalarType::U64 => Scalar::U64(u64::from(number)),
            ScalarType::F32 => Scalar::F32((f32::from(number) + digits) / 4.0),
            ScalarType::F64 => Scalar::F64((f64::from(number) + f64::from(digits)) / 4.0),
            ScalarType::Bool => Scalar::Bool(number > 3),
            ScalarType::Char => Scalar::Char(b'a' + number),
        });
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use weft_ir::{Exhausted, Fault, FaultKind, Span, Stop};

    use super::{Pace, is_same, programs};
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

    #[test]
    fn what_looks_at_all_pairs_takes_the_square() {
        let runs = |first, second| {
            let mut pace = Pace::default();
            assert_eq!(pace.of(70), Duration::ZERO);
            pace.note(2000, Duration::from_micros(first));
            pace.note(4000, Duration::from_micros(second));
            pace.of(400_000)
        };
        assert!(runs(50, 100) < Duration::from_millis(11));
        assert!(runs(5000, 20_000) > Duration::from_secs(199));
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
