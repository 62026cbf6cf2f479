//! The golden kernels (`cuda/gate/plans`), on the device and on the CPU: equal bits, or the same fault.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, thread};

use weft_cpu::{KernelCache, Workers};
use weft_device::{Config, Device};
use weft_ir::flat::{Dimension, Leaf, Size, Type};
use weft_ir::{Array, Column, ColumnBuilder, Scalar, ScalarType, Stop, Value, plan};

use super::Options;
use crate::{pages, repository};

/// The element types that are put where a plan says `f32`.
const TYPES: [&str; 4] = ["f32", "f64", "i32", "i64"];
/// Plans whose operations take floats only.
const FLOATS_ONLY: &str = "transcendental";

/// Memory of a run.
const MEMORY: u64 = 8 << 30;

pub(super) fn check(options: &Options, out: &mut dyn Write) -> io::Result<bool> {
    let found = weft_device::find().map_err(|absent| io::Error::other(absent.to_string()))?;
    let mut device = Device::open(found[0].clone(), &Config::of_environment())
        .map_err(|why| io::Error::other(format!("the device does not open: {why}")))?;
    let workers = Workers::new(thread::available_parallelism().map_or(1, usize::from));
    let (types, extents): (usize, &[usize]) =
        if options.is_small { (1, &[0, 70]) } else { (TYPES.len(), &[0, 1, 70, 513, 2000]) };
    let (mut held, mut broken) = (0, 0);
    for path in pages::files(&repository().join("cuda/gate/plans"), "plan")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !options.is_about(&name) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        // A plan that says no `f32` is the same with all types.
        let is_one = name == FLOATS_ONLY || !text.contains("f32");
        for ty in TYPES.iter().take(if is_one { 1 } else { types }) {
            let literal = if ty.starts_with('i') { "" } else { ".0" };
            let text = text.replace(".0f32", &format!("{literal}{ty}")).replace("f32", ty);
            let parsed = plan::parse(&text);
            let Some(program) = parsed.ok().filter(|program| plan::check(program).is_ok()) else {
                writeln!(out, "golden {name}: no plan for {ty}")?;
                broken += 1;
                continue;
            };
            let kernels = device.kernels(program);
            for &extent in extents {
                let answer = compare(&mut device, &kernels, &workers, extent);
                held += u32::from(answer.is_ok());
                if let Err(why) = answer {
                    broken += 1;
                    writeln!(out, "golden {name}, {ty}, extents of {extent}: {why}")?;
                    out.flush()?;
                }
                if device.contexts() > 1 || device.is_lost() {
                    // What comes behind a device that was lost may be a consequence.
                    writeln!(
                        out,
                        "golden kernels: the device was lost, by this run or the one before; {held} hold so far"
                    )?;
                    return Ok(false);
                }
            }
        }
    }
    writeln!(out, "golden kernels: {held} runs give the bits of the CPU, {broken} do not")?;
    Ok(broken == 0 && held > 0)
}

/// Runs a plan on both.
fn compare(
    device: &mut Device,
    kernels: &weft_device::Kernels,
    workers: &Workers,
    extent: usize,
) -> Result<(), String> {
    let program = &kernels.plan;
    let inputs = inputs(program, extent);
    let never = AtomicBool::new(false);
    let prepared = weft_cpu::prepare(program, &mut KernelCache::new());
    let config = weft_cpu::Config { workers, memory_limit: MEMORY };
    let expected = weft_cpu::run(program, &prepared, &inputs, &config, &never, &mut |_| {});
    let found = device.run(kernels, &inputs, MEMORY, &never, &mut |_| {}).results;
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            let same = expected.iter().zip(&found).all(|(a, b)| a.same_bits(b));
            if same { Ok(()) } else { Err("other bits".to_owned()) }
        }
        (Err(expected), Err(weft_device::Halt::Stop(found))) if is_same(&expected, &found) => {
            Ok(())
        }
        (Ok(_), Err(halt)) => Err(format!("{halt:?}")),
        (Err(stop), found) => Err(format!("{stop:?} on the CPU, not {:?}", found.map(|_| ()))),
    }
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
fn inputs(program: &plan::Program, extent: usize) -> Vec<Value> {
    let widest = program.inputs.iter().map(|leaf| leaf.axes.len()).max().unwrap_or(1);
    let extent = if widest > 1 { extent.min(70) } else { extent };
    let mut offsets = BTreeMap::new();
    let input = |leaf: &Leaf| value(leaf, &program.types, extent, &mut offsets);
    program.inputs.iter().map(input).collect()
}

fn value(
    leaf: &Leaf,
    types: &[Type],
    extent: usize,
    offsets: &mut BTreeMap<u32, Vec<usize>>,
) -> Value {
    let element = types[leaf.data.0 as usize].element;
    let fixed = |size: Size| match size {
        Size::Constant(value) => value as usize,
        Size::Var(_) => extent,
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
    let mut column = elements(element, count);
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

/// Small numbers, whose sums are exact, in no order.
fn elements(ty: ScalarType, count: usize) -> Column {
    let mut builder = ColumnBuilder::new(&weft_ir::Type::Scalar(ty));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let number = (state % 7) as u8;
        builder.push_scalar(match ty {
            ScalarType::I8 => Scalar::I8(number as i8),
            ScalarType::I16 => Scalar::I16(i16::from(number)),
            ScalarType::I32 => Scalar::I32(i32::from(number)),
            ScalarType::I64 => Scalar::I64(i64::from(number)),
            ScalarType::U8 => Scalar::U8(number),
            ScalarType::U16 => Scalar::U16(u16::from(number)),
            ScalarType::U32 => Scalar::U32(u32::from(number)),
            ScalarType::U64 => Scalar::U64(u64::from(number)),
            ScalarType::F32 => Scalar::F32(f32::from(number) / 4.0),
            ScalarType::F64 => Scalar::F64(f64::from(number) / 4.0),
            ScalarType::Bool => Scalar::Bool(number > 3),
            ScalarType::Char => Scalar::Char(b'a' + number),
        });
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use weft_ir::{Exhausted, Fault, FaultKind, Span, Stop};

    use super::is_same;

    #[test]
    fn faults_of_another_kind_are_not_the_same() {
        let fault = |kind| Stop::from(Fault { kind, span: Span::default() });
        let (index, zero) = (FaultKind::IndexOutOfRange, FaultKind::DivisionByZero);
        assert!(is_same(&fault(index), &fault(index)));
        assert!(!is_same(&fault(index), &fault(zero)));
        assert!(!is_same(&fault(index), &Exhausted::Interrupted.into()));
    }
}
