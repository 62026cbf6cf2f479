//! Indices that are known to be in range, so that nothing checks them.
//!
//! Note [Known ranges]. What a stencil reads is clamped to the array, and most loops index what they run
//! over. A few rules on the definition of an index prove that: it is at least 0, and it is below an
//! extent. That an extent is not 0 follows where the index depends on a dimension of that extent, for
//! then it is only computed at a point of it. Sorting orders are in range as well, but checked: the check
//! is what still reads an order, whose keys may be errors, where the sorted elements are all the same. What these rules
//! say nothing of may be a sum (Note [Sums in range]).

mod sums;

use weft_ir::flat::{Dimension, Size};
use weft_ir::{Scalar, ScalarOp};

use super::Flattener;
use super::scalar::{Control, Definition, ScalarId};
use super::view::Length;
use sums::Sums;

/// How deep definitions are looked into.
const MOST_STEPS: u32 = 12;
/// Sums of indices and constants below this do not wrap.
const SMALL: i64 = 1 << 40;

impl Flattener<'_> {
    /// Whether an extent is known not to be 0 at the points of the current context.
    pub(super) fn is_extent_of_point(&self, size: Size) -> bool {
        Range { flattener: self, around: self.context.space.len() }.is_positive(size)
    }

    /// Whether an index is known to be in `0 .. length`.
    pub(super) fn is_index_below(&self, index: ScalarId, length: Length) -> bool {
        let Length::Uniform(size) = length else { return false };
        let range = Range { flattener: self, around: self.scalars.depth(index) };
        range.is_natural(index, MOST_STEPS) && range.is_below(index, size, MOST_STEPS)
            || Sums::new(self, self.scalars.depth(index)).is_below(index, size)
    }

    /// The two values that a result of a conditional may be.
    fn branches(&self, id: ScalarId) -> Option<(ScalarId, ScalarId)> {
        let Definition::Result(control, number) = self.scalars.node(id).definition else {
            return None;
        };
        match &self.scalars.controls[control.0 as usize] {
            Control::If { then, otherwise, .. } => {
                Some((then.1[number as usize], otherwise.1[number as usize]))
            }
            Control::While { .. } => None,
        }
    }
}

/// What is known at the points of the outermost dimensions.
struct Range<'f, 'p> {
    flattener: &'f Flattener<'p>,
    /// How many dimensions.
    around: usize,
}

impl Range<'_, '_> {
    fn is_natural(&self, id: ScalarId, steps: u32) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return false };
        let natural = |id: ScalarId| self.is_natural(id, steps);
        match &self.flattener.scalars.node(id).definition {
            Definition::Constant(..) => self.constant(id).is_some_and(|value| value >= 0),
            Definition::Index(_) => true,
            Definition::Checked(value, ..) => natural(*value),
            Definition::Result(..) => {
                self.flattener.branches(id).is_some_and(|(a, b)| natural(a) && natural(b))
            }
            Definition::Op(op, args) => match (op, &args[..]) {
                (ScalarOp::Max, &[a, b]) => natural(a) || natural(b),
                (ScalarOp::Min, &[a, b]) => natural(a) && natural(b),
                (ScalarOp::Select, &[_, a, b]) => natural(a) && natural(b),
                (ScalarOp::Add, &[a, b]) => self.is_small(a, steps) && self.is_small(b, steps),
                (ScalarOp::Sub, &[a, b]) => {
                    self.constant(b) == Some(1)
                        && self.extent(a).is_some_and(|a| self.is_positive(a))
                        || self.mirrored(id).is_some()
                }
                (ScalarOp::Mod, &[_, b]) => {
                    self.constant(b).is_some_and(|b| b > 0)
                        || self.extent(b).is_some_and(|b| self.is_positive(b))
                }
                (ScalarOp::FloorDiv | ScalarOp::Quot, &[a, b]) => {
                    natural(a) && self.constant(b).is_some_and(|b| b > 0)
                }
                _ => false,
            },
            Definition::Host(_)
            | Definition::Param(_)
            | Definition::Random(..)
            | Definition::Read(..) => false,
        }
    }

    fn is_below(&self, id: ScalarId, size: Size, steps: u32) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return false };
        let size = self.flattener.same_size(size);
        let below = |id: ScalarId| self.is_below(id, size, steps);
        match &self.flattener.scalars.node(id).definition {
            Definition::Constant(..) => match (self.constant(id), size) {
                (Some(value), Size::Constant(size)) => value < size,
                (value, _) => value == Some(0) && self.is_positive(size),
            },
            Definition::Index(level) => {
                let levels = &self.flattener.context.levels;
                let depth = levels.iter().position(|other| other == level);
                depth.is_some_and(|depth| match self.flattener.context.space[depth] {
                    Dimension::Dense(extent) => self.at_most(extent, size),
                    Dimension::Ragged { .. } => false,
                })
            }
            Definition::Checked(value, ..) => below(*value),
            Definition::Result(..) => {
                self.flattener.branches(id).is_some_and(|(a, b)| below(a) && below(b))
            }
            Definition::Op(op, args) => match (op, &args[..]) {
                (ScalarOp::Min, &[a, b]) => below(a) || below(b),
                (ScalarOp::Max, &[a, b]) => below(a) && below(b),
                (ScalarOp::Select, &[_, a, b]) => below(a) && below(b),
                (ScalarOp::Sub, _)
                    if self.mirrored(id).is_some_and(|extent| self.at_most(extent, size)) =>
                {
                    true
                }
                (ScalarOp::Sub, &[a, b]) if self.constant(b).is_some_and(|b| b > 0) => {
                    self.extent(a).is_some_and(|a| self.at_most(a, size))
                        || self.is_small(a, steps) && below(a)
                }
                (ScalarOp::Add, &[a, b])
                    if self.constant(b).is_some_and(|b| (-SMALL..0).contains(&b)) =>
                {
                    self.is_small(a, steps) && below(a)
                }
                (ScalarOp::Mod, &[_, b]) => {
                    self.constant(b).is_none_or(|b| b > 0)
                        && self
                            .extent(b)
                            .is_some_and(|b| self.is_positive(b) && self.at_most(b, size))
                }
                (ScalarOp::FloorDiv | ScalarOp::Quot, &[a, b]) => {
                    self.constant(b).is_some_and(|b| b > 0) && self.is_natural(a, steps) && below(a)
                }
                _ => false,
            },
            Definition::Host(_)
            | Definition::Param(_)
            | Definition::Random(..)
            | Definition::Read(..) => false,
        }
    }

    /// Whether it is at least 0 and far from the greatest integer.
    fn is_small(&self, id: ScalarId, steps: u32) -> bool {
        let Some(steps) = steps.checked_sub(1) else { return false };
        match &self.flattener.scalars.node(id).definition {
            Definition::Constant(..) => {
                self.constant(id).is_some_and(|value| (0..SMALL).contains(&value))
            }
            Definition::Index(_) => true,
            Definition::Op(ScalarOp::Add, args) => {
                args.iter().all(|&arg| self.is_small(arg, steps))
            }
            _ => false,
        }
    }

    /// The extent of an index that counts down from the last one: `n - 1 - i` or `n - i - 1`, where
    /// `i` is an index of a dimension of `n`.
    fn mirrored(&self, id: ScalarId) -> Option<Size> {
        let difference = |id: ScalarId| match &self.flattener.scalars.node(id).definition {
            Definition::Op(ScalarOp::Sub, args) => Some((args[0], args[1])),
            _ => None,
        };
        let (rest, last) = difference(id)?;
        let (extent, middle) = difference(rest)?;
        let (one, index) =
            if self.constant(last) == Some(1) { (last, middle) } else { (middle, last) };
        let extent = self.extent(extent)?;
        let counts_down = self.constant(one) == Some(1) && self.is_below(index, extent, 1);
        (counts_down && self.is_natural(index, 1)).then_some(extent)
    }

    fn at_most(&self, extent: Size, size: Size) -> bool {
        match (self.flattener.same_size(extent), self.flattener.same_size(size)) {
            (Size::Constant(extent), Size::Constant(size)) => extent <= size,
            (extent, size) => extent == size,
        }
    }

    /// Whether an extent is not 0, at the points of the dimensions around.
    fn is_positive(&self, size: Size) -> bool {
        let size = self.flattener.same_size(size);
        matches!(size, Size::Constant(1..))
            || self.flattener.context.space[..self.around.min(self.flattener.context.space.len())]
                .iter()
                .any(|dimension| match dimension {
                    Dimension::Dense(extent) => self.flattener.same_size(*extent) == size,
                    Dimension::Ragged { .. } => false,
                })
    }

    /// The scalar as an extent.
    fn extent(&self, id: ScalarId) -> Option<Size> {
        match &self.flattener.scalars.node(id).definition {
            Definition::Host(var) => Some(self.flattener.same_size(Size::Var(*var))),
            _ => self.constant(id).map(Size::Constant),
        }
    }

    fn constant(&self, id: ScalarId) -> Option<i64> {
        match self.flattener.scalars.known_scalar(id) {
            Some(Scalar::I64(value)) => Some(value),
            _ => None,
        }
    }
}
