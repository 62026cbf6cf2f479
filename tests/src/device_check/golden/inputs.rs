//! What golden kernels are run with: inputs so large, and of such shapes, that every way of each skeleton is taken.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use weft_ir::flat::{Dimension, Leaf, Size, Type, Var};
use weft_ir::{Array, Column, ColumnBuilder, Scalar, ScalarType, Value, plan};

/// The extents of a plan's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// All are the same: where the arrays have one axis, two, and more.
    Even([usize; 3]),
    /// Of the first array of the most axes one is long, the first or the last, and all other extents are short.
    Oblong { side: Side, long: usize, short: usize },
}

/// One of the axes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Last,
}

/// From 4097 on there are several tiles in every kernel, from 300 001 more than there are blocks at once, and the last has
/// more tiles than are folded at once. Rows of 5, 131, 1283 and 4099 elements begin at odd places in memory. Of those that
/// are oblong there are rows of nothing, rows of several tiles, and more rows that go through the same places than threads
/// fill half of a device.
pub(super) const SHAPES: [Shape; 13] = [
    Shape::Even([0, 0, 0]),
    Shape::Even([1, 1, 1]),
    Shape::Even([5, 5, 5]),
    Shape::Oblong { side: Side::First, long: 70, short: 0 },
    Shape::Oblong { side: Side::Last, long: 70, short: 0 },
    Shape::Even([70, 70, 20]),
    Shape::Even([513, 70, 35]),
    Shape::Even([2000, 131, 66]),
    Shape::Even([4097, 300, 67]),
    Shape::Oblong { side: Side::First, long: 30_011, short: 31 },
    Shape::Oblong { side: Side::Last, long: 30_011, short: 31 },
    // The points of a matrix product are just numbered in 32 bits.
    Shape::Even([300_001, 1283, 131]),
    Shape::Even([17_000_001, 4099, 259]),
];

/// Those of a device that is emulated.
pub(super) const FEW: [Shape; 5] = [
    Shape::Even([0, 0, 0]),
    Shape::Oblong { side: Side::First, long: 70, short: 0 },
    Shape::Even([70, 70, 20]),
    Shape::Oblong { side: Side::First, long: 131, short: 3 },
    Shape::Oblong { side: Side::Last, long: 131, short: 3 },
];

/// From this extent on, floats have all digits that they have room for, so that the order of sums shows.
const MANY: usize = 2000;

/// The most ragged rows.
const MOST_ROWS: usize = 1_000_003;

impl Shape {
    /// The extent that a plan has most of.
    pub(super) fn extent(self, program: &plan::Program) -> usize {
        match self {
            Shape::Even(extents) => {
                let axes = widest(program).map_or(0, |leaf| leaf.axes.len());
                let is_ragged = |leaf: &Leaf| leaf.axes.iter().any(|axis| dense(axis).is_none());
                match program.inputs.iter().any(is_ragged) {
                    // Rows do not grow with their number.
                    true => extents[0].min(MOST_ROWS),
                    false => extents[axes.clamp(1, 3) - 1],
                }
            }
            Shape::Oblong { short, .. } => short,
        }
    }

    pub(super) fn is_even(self) -> bool {
        matches!(self, Shape::Even(_))
    }

    /// Whether there is so much of it that the order of what is done shows.
    pub(super) fn is_large(self) -> bool {
        match self {
            Shape::Even([extent, ..]) | Shape::Oblong { long: extent, .. } => extent >= MANY,
        }
    }

    /// Whether a plan is not run with it: what is oblong may be the same from both sides, or have one long extent
    /// several times, which are too many points.
    pub(super) fn is_left_out(self, program: &plan::Program) -> bool {
        let other =
            |side| Shape::Oblong { side, long: 0, short: 0 }.long(program).map(|(var, _)| var);
        match (self, self.long(program)) {
            (Shape::Even(_), _) => false,
            (Shape::Oblong { .. }, None) => true,
            (Shape::Oblong { side, .. }, Some((long, _))) => {
                let is_long = |axis: &&Dimension| dense(axis) == Some(Size::Var(long));
                let is_square = |step: &plan::Step| match step {
                    plan::Step::Launch(kernel) => kernel.space.iter().filter(is_long).count() > 1,
                    _ => false,
                };
                (side == Side::Last && other(Side::First) == other(Side::Last))
                    || program.body.steps.iter().any(is_square)
            }
        }
    }

    /// The variable that is long, with its value.
    fn long(self, program: &plan::Program) -> Option<(Var, usize)> {
        let Shape::Oblong { side, long, .. } = self else { return None };
        let var = |axis| match dense(axis) {
            Some(Size::Var(var)) => Some(var),
            Some(Size::Constant(_)) | None => None,
        };
        let mut axes = widest(program)?.axes.iter().filter_map(var);
        let var = if side == Side::First { axes.next() } else { axes.next_back() };
        var.map(|var| (var, long))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Even([extent, ..]) => write!(f, "extents of {extent}"),
            Shape::Oblong { side: Side::First, long, short } => {
                write!(f, "{long} rows, all else of {short}")
            }
            Shape::Oblong { side: Side::Last, long, short } => {
                write!(f, "rows of {long}, all else of {short}")
            }
        }
    }
}

/// The first of the inputs with the most axes.
fn widest(program: &plan::Program) -> Option<&Leaf> {
    program.inputs.iter().rev().max_by_key(|leaf| leaf.axes.len())
}

fn dense(axis: &Dimension) -> Option<Size> {
    match axis {
        Dimension::Dense(size) => Some(*size),
        Dimension::Ragged { .. } => None,
    }
}

/// Inputs of a shape.
pub(super) fn inputs(program: &plan::Program, shape: Shape) -> Vec<Value> {
    let sizes = Sizes {
        extent: shape.extent(program),
        long: shape.long(program),
        has_digits: shape.is_large(),
    };
    let mut offsets = BTreeMap::new();
    let input = |leaf: &Leaf| value(leaf, &program.types, sizes, &mut offsets);
    program.inputs.iter().map(input).collect()
}

/// How large inputs are.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    extent: usize,
    /// What is not of that extent.
    long: Option<(Var, usize)>,
    /// Whether floats have all their digits.
    has_digits: bool,
}

impl Sizes {
    fn of(self, size: Size) -> usize {
        match (size, self.long) {
            (Size::Constant(value), _) => value as usize,
            (Size::Var(var), Some((long, extent))) if var == long => extent,
            (Size::Var(_), _) => self.extent,
        }
    }
}

fn value(
    leaf: &Leaf,
    types: &[Type],
    sizes: Sizes,
    offsets: &mut BTreeMap<u32, Vec<usize>>,
) -> Value {
    let element = types[leaf.data.0 as usize].element;
    // From the outermost axis inwards: how many rows each has.
    let mut rows = vec![1_usize];
    for axis in &leaf.axes {
        let before = rows[rows.len() - 1];
        rows.push(match axis {
            Dimension::Dense(size) => before * sizes.of(*size),
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
            Dimension::Dense(size) => Column::Dense { len, extent: sizes.of(*size), inner },
            Dimension::Ragged { offsets: var, .. } => {
                Column::Ragged { offsets: offsets[&var.0].clone().into(), inner }
            }
        };
    }
    Value::Array(Arc::new(Array::new(column)))
}

/// Offsets of rows of 0 to 6 elements, with some of several blocks of 64, fewer of several tiles, and one of many.
fn ragged(rows: usize) -> Vec<usize> {
    let mut offsets = vec![0];
    for row in 0..rows {
        offsets.push(
            offsets[row]
                + match row {
                    1500 => 300_000,
                    row if row % 1024 == 40 => 5000,
                    row if row % 64 == 11 => 70,
                    row => row % 7,
                },
        );
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
