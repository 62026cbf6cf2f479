//! Reads whose places are affine in the indices of the space.
//!
//! Note [Affine reads]. What takes a part of an array leaves no trace but offsets and checks where it is fused:
//! `matmul m[:, 100:] h` reads `m` at k + 100, once it has seen that this is inside. The offsets and the
//! extents are known when the kernel is launched. So integers are followed through sums, differences and
//! multiples as affine functions of the indices, and conditions on them by the least and the greatest value over
//! the space. Where all checks hold, and a read's indices are affine, its elements are those of a matrix that
//! begins somewhere in the array.

use std::collections::BTreeMap;

use weft_ir::code::{Operand, Operation, Register};
use weft_ir::{Scalar, ScalarOp};

use crate::execute::Source;
use crate::launch::Launch;

/// The most dimensions of a space of products.
pub(super) const DIMENSIONS: usize = 6;

/// The elements that a read takes, one at each point.
#[derive(Clone, Copy, Debug)]
pub(super) struct AffineRead {
    /// By number.
    pub(super) array: usize,
    /// The first of them.
    pub(super) offset: usize,
    /// How far apart neighbours stand along each dimension of the space, and nothing for those that there are not.
    pub(super) strides: [usize; DIMENSIONS],
}

/// A constant, and a multiple of each index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Affine {
    constant: i128,
    multiples: [i128; DIMENSIONS],
}

/// What is known of a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// An `i64` that does not wrap at any point.
    Number(Affine),
    /// The same at all points.
    Truth(bool),
}

impl Launch<'_> {
    /// The affine reads of the body by their registers, over a space of these extents, none of them zero and no
    /// more than [`DIMENSIONS`]; nothing if it cannot be told that all checks hold.
    pub(super) fn affine_reads(&self, space: &[usize]) -> Option<BTreeMap<Register, AffineRead>> {
        let mut extents = [1; DIMENSIONS];
        extents.get_mut(..space.len())?.copy_from_slice(space);
        let mut known = BTreeMap::new();
        for (dimension, &index) in self.kernel.indices.iter().enumerate() {
            known.insert(index, Known::Number(Affine::index(dimension, 0)));
        }
        let mut reads = BTreeMap::new();
        for instruction in &self.kernel.body.instructions {
            let found = match &instruction.operation {
                Operation::Scalar(op, operands) => {
                    let operands: Option<Vec<Known>> =
                        operands.iter().map(|operand| of_operand(operand, &known)).collect();
                    operands.and_then(|operands| evaluate(*op, &operands, extents))
                }
                Operation::Read(var, indices) => {
                    let array = self.bound.arrays.iter().position(|array| array == var)?;
                    if let Source::Scalar(scalar) = &self.sources[array] {
                        of_scalar(*scalar)
                    } else {
                        let read = self.affine_read(array, indices, &known, extents);
                        let register = instruction.results.first()?.0;
                        reads.extend(read.map(|read| (register, read)));
                        None
                    }
                }
                Operation::Check(condition, _) => match of_operand(condition, &known)? {
                    Known::Truth(true) => None,
                    Known::Truth(false) | Known::Number(_) => return None,
                },
                Operation::Random(..) => None,
                Operation::If { .. } | Operation::While { .. } => return None,
            };
            if let (Some(found), Some((register, _))) = (found, instruction.results.first()) {
                known.insert(*register, found);
            }
        }
        Some(reads)
    }

    /// What a read takes, if all its indices are affine and none of the strides is negative.
    fn affine_read(
        &self,
        array: usize,
        indices: &[Operand],
        known: &BTreeMap<Register, Known>,
        extents: [usize; DIMENSIONS],
    ) -> Option<AffineRead> {
        let Source::Array { elements, strides, .. } = &self.sources[array] else { return None };
        let place = Affine::place(indices, strides, known)?;
        let (least, greatest) = place.range(extents)?;
        if least < 0 || greatest >= elements.len() as i128 {
            return None;
        }
        let mut steps = [0; DIMENSIONS];
        for (step, multiple) in steps.iter_mut().zip(place.multiples) {
            *step = usize::try_from(multiple).ok()?;
        }
        Some(AffineRead { array, offset: usize::try_from(place.constant).ok()?, strides: steps })
    }
}

impl Affine {
    /// The index along a dimension, counted from its first value.
    pub(super) fn index(dimension: usize, first: usize) -> Affine {
        let mut affine = Affine { constant: first as i128, ..Affine::default() };
        affine.multiples[dimension] = 1;
        affine
    }

    /// The place in an array of the element at some indices.
    pub(super) fn place(
        indices: &[Operand],
        strides: &[i64],
        known: &BTreeMap<Register, Known>,
    ) -> Option<Affine> {
        let mut place = Affine::default();
        for (index, &stride) in indices.iter().zip(strides) {
            let Known::Number(index) = of_operand(index, known)? else { return None };
            place = place.plus(index.times(i128::from(stride))?)?;
        }
        Some(place)
    }

    /// Its value where all indices are zero.
    pub(super) fn constant(&self) -> i128 {
        self.constant
    }

    /// What it grows by along a dimension.
    pub(super) fn multiple(&self, dimension: usize) -> i128 {
        self.multiples[dimension]
    }

    fn plus(self, other: Affine) -> Option<Affine> {
        let mut sum = self;
        sum.constant = sum.constant.checked_add(other.constant)?;
        for (multiple, other) in sum.multiples.iter_mut().zip(other.multiples) {
            *multiple = multiple.checked_add(other)?;
        }
        Some(sum)
    }

    fn times(self, factor: i128) -> Option<Affine> {
        let mut product = self;
        product.constant = product.constant.checked_mul(factor)?;
        for multiple in &mut product.multiples {
            *multiple = multiple.checked_mul(factor)?;
        }
        Some(product)
    }

    fn minus(self, other: Affine) -> Option<Affine> {
        self.plus(other.times(-1)?)
    }

    fn is_constant(&self) -> bool {
        self.multiples == [0; DIMENSIONS]
    }

    /// The least and the greatest value over a space.
    pub(super) fn range(&self, extents: [usize; DIMENSIONS]) -> Option<(i128, i128)> {
        let (mut least, mut greatest) = (self.constant, self.constant);
        for (multiple, extent) in self.multiples.into_iter().zip(extents) {
            let last = multiple.checked_mul(extent as i128 - 1)?;
            least = least.checked_add(last.min(0))?;
            greatest = greatest.checked_add(last.max(0))?;
        }
        Some((least, greatest))
    }

    /// As a number that does not wrap at any point.
    fn number(self, extents: [usize; DIMENSIONS]) -> Option<Known> {
        let (least, greatest) = self.range(extents)?;
        let inside = least >= i128::from(i64::MIN) && greatest <= i128::from(i64::MAX);
        inside.then_some(Known::Number(self))
    }
}

pub(super) fn of_operand(operand: &Operand, known: &BTreeMap<Register, Known>) -> Option<Known> {
    match operand {
        Operand::Register(register) => known.get(register).copied(),
        Operand::Scalar(scalar) => of_scalar(*scalar),
    }
}

pub(super) fn of_scalar(scalar: Scalar) -> Option<Known> {
    match scalar {
        Scalar::I64(number) => {
            Some(Known::Number(Affine { constant: i128::from(number), ..Affine::default() }))
        }
        Scalar::Bool(truth) => Some(Known::Truth(truth)),
        _ => None,
    }
}

/// What an operator yields, if that can be told for all points at once.
pub(super) fn evaluate(
    op: ScalarOp,
    operands: &[Known],
    extents: [usize; DIMENSIONS],
) -> Option<Known> {
    match *operands {
        [Known::Number(a), Known::Number(b)] => {
            // Conditions are those of the difference.
            let holds = |below: bool, same: bool, above: bool| {
                let (least, greatest) = a.minus(b)?.range(extents)?;
                let known = match (least, greatest) {
                    (0, 0) => same,
                    (_, ..0) => below,
                    (1.., _) => above,
                    (_, ..=0) if below == same => below,
                    (0.., _) if above == same => above,
                    (_, _) => return None,
                };
                Some(Known::Truth(known))
            };
            match op {
                ScalarOp::Add => a.plus(b)?.number(extents),
                ScalarOp::Sub => a.minus(b)?.number(extents),
                ScalarOp::Mul if b.is_constant() => a.times(b.constant)?.number(extents),
                ScalarOp::Mul if a.is_constant() => b.times(a.constant)?.number(extents),
                ScalarOp::Lt => holds(true, false, false),
                ScalarOp::Le => holds(true, true, false),
                ScalarOp::Gt => holds(false, false, true),
                ScalarOp::Ge => holds(false, true, true),
                ScalarOp::Eq => holds(false, true, false),
                ScalarOp::Ne => holds(true, false, true),
                ScalarOp::Min | ScalarOp::Max => {
                    let Known::Truth(first) =
                        holds(op == ScalarOp::Min, true, op == ScalarOp::Max)?
                    else {
                        return None;
                    };
                    Some(Known::Number(if first { a } else { b }))
                }
                // Only what all points have in common is taken off.
                ScalarOp::Mod | ScalarOp::FloorDiv if b.is_constant() && b.constant > 0 => {
                    let (least, greatest) = a.range(extents)?;
                    let quotient = least.div_euclid(b.constant);
                    let whole = Affine { constant: quotient, ..Affine::default() };
                    let same = quotient == greatest.div_euclid(b.constant);
                    let result = match op {
                        ScalarOp::Mod => a.minus(whole.times(b.constant)?)?,
                        _ => whole,
                    };
                    result.number(extents).filter(|_| same)
                }
                _ => None,
            }
        }
        [Known::Truth(a), Known::Truth(b)] => match op {
            ScalarOp::And | ScalarOp::BitAnd => Some(Known::Truth(a && b)),
            ScalarOp::Or | ScalarOp::BitOr => Some(Known::Truth(a || b)),
            _ => None,
        },
        [Known::Truth(a)] if op == ScalarOp::Not => Some(Known::Truth(!a)),
        _ => None,
    }
}

/// Where an operator that [`evaluate`] does not know becomes known on both sides, or at least on one: a dimension,
/// and the first index beyond. Nothing if it depends on several indices, or on none.
pub(super) fn border(
    op: ScalarOp,
    operands: &[Known],
    extents: [usize; DIMENSIONS],
) -> Option<(usize, usize)> {
    let [Known::Number(a), Known::Number(b)] = *operands else { return None };
    let compares = matches!(
        op,
        ScalarOp::Lt
            | ScalarOp::Le
            | ScalarOp::Gt
            | ScalarOp::Ge
            | ScalarOp::Eq
            | ScalarOp::Ne
            | ScalarOp::Min
            | ScalarOp::Max
    );
    let divides =
        matches!(op, ScalarOp::Mod | ScalarOp::FloorDiv) && b.is_constant() && b.constant > 0;
    if !compares && !divides {
        return None;
    }
    let differs = if compares { a.minus(b)? } else { a };
    let mut varying = (0..DIMENSIONS).filter(|&at| differs.multiples[at] != 0 && extents[at] > 1);
    let (Some(dimension), None) = (varying.next(), varying.next()) else { return None };
    let state = |index: usize| {
        let value = differs.constant + differs.multiples[dimension] * index as i128;
        match op {
            ScalarOp::Lt | ScalarOp::Ge | ScalarOp::Max => i128::from(value < 0),
            ScalarOp::Le | ScalarOp::Gt | ScalarOp::Min => i128::from(value <= 0),
            ScalarOp::Eq | ScalarOp::Ne => value.signum(),
            _ => value.div_euclid(b.constant),
        }
    };
    // All of these go one way along the dimension.
    let (mut same, mut beyond) = (0, extents[dimension]);
    let first = state(0);
    while beyond - same > 1 {
        let middle = same + (beyond - same) / 2;
        if state(middle) == first { same = middle } else { beyond = middle }
    }
    (beyond < extents[dimension]).then_some((dimension, beyond))
}
