//! Where checks stand.
//!
//! Note [A check belongs to a value]. An error is observable only if its value is needed. So a check is
//! no statement of the host, but part of a scalar (`Definition::Checked`): the code that computes the
//! scalar makes it. Three rules keep it there.
//!
//! - *Under a condition.* What a branch or loop needs from outside is computed before it, unless it may
//!   fail: then it is computed inside ([`super::compile`]). Dear scalars are not, for a loop would
//!   compute them again and again.
//! - *Outside of a dimension.* A scalar that does not depend on the inner dimensions is computed once
//!   for all points that need it. If it may fail, then only where there is such a point: `minimum r` is
//!   no error for an empty row of `{ r - minimum r : r in rows }`. Where the condition says no more
//!   than that there is a point, it is no check at all.
//! - *On the host.* A condition that the host knows is checked there, once, before the kernel runs that
//!   needs it, and only if that kernel has a point.
//!
//! What stays eager are checks of whole arrays: that lengths agree, that rows are regular, that
//! segments cover their array. A fault is no verdict anyway (`Note [Faults without values]` in
//! `weft_ir`); these rules make needless ones rare, not impossible.
//!
//! Note [Rows that are not read]. The index of a row is checked where an element of the row is read, or,
//! where the row is stored, at the points that need the row. A map that only goes along rows reads
//! no element: then all their indices are checked. And so are those of rows that are known to have
//! no elements.

use weft_ir::flat::{Dimension, Size};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::Flattener;
use super::local::scalars_of;
use super::scalar::{Definition, ScalarId};
use super::view::{Source, Value, View};

impl Flattener<'_> {
    /// The scalar without the checks that say no more than that the current space has a point.
    pub(super) fn without_sure_checks(&mut self, id: ScalarId) -> ScalarId {
        let mut id = id;
        while let Definition::Checked(value, condition, _) = self.scalars.node(id).definition
            && self.holds_at_points(condition)
        {
            id = value;
        }
        id
    }

    /// Whether a condition is that one of the dimensions around has an index.
    fn holds_at_points(&mut self, condition: ScalarId) -> bool {
        let Definition::Op(ScalarOp::Gt, args) = &self.scalars.node(condition).definition else {
            return false;
        };
        self.scalars.known_integer(args[1]) == Some(0)
            && (0..self.depth()).any(|depth| self.some_point(depth, depth + 1) == condition)
    }

    /// Whether the dimensions `from .. to` of the space have a point, as a scalar of the dimensions
    /// before.
    fn some_point(&mut self, from: usize, to: usize) -> ScalarId {
        let outer = self.context.clone();
        self.context.space.truncate(from);
        self.context.levels.truncate(from);
        let region = self.region.take();
        let dimensions = &outer.space[from..to];
        let zero = self.scalars.integer(0);
        let ragged = dimensions.iter().any(|axis| matches!(axis, Dimension::Ragged { .. }));
        let count = if ragged {
            let prefix = self.identity();
            let one = self.scalars.integer(1);
            let mut start = self.linear(&prefix);
            let mut end = self.op(ScalarOp::Add, &[start, one]);
            for dimension in dimensions {
                (start, end) = match *dimension {
                    Dimension::Dense(size) => {
                        let size = self.scalars.size(size);
                        let first = self.op(ScalarOp::Mul, &[start, size]);
                        (first, self.op(ScalarOp::Mul, &[end, size]))
                    }
                    Dimension::Ragged { offsets, .. } => {
                        let span = self.span;
                        let ty = ScalarType::I64;
                        let first = self.scalars.read(offsets, ty, &[start], None, span);
                        (first, self.scalars.read(offsets, ty, &[end], None, span))
                    }
                };
            }
            self.op(ScalarOp::Sub, &[end, start])
        } else {
            let mut product = self.scalars.integer(1);
            for dimension in dimensions {
                if let Dimension::Dense(size) = *dimension {
                    let size = self.scalars.size(self.same_size(size));
                    product = self.op(ScalarOp::Mul, &[product, size]);
                }
            }
            product
        };
        let some = self.op(ScalarOp::Gt, &[count, zero]);
        self.context = outer;
        self.region = region;
        some
    }

    /// A scalar that may fail, for the points of the first `depth` dimensions of the space, of which it
    /// depends on fewer: nothing and no fault where there is no such point.
    pub(super) fn where_needed(&mut self, id: ScalarId, depth: usize) -> ScalarId {
        let some = self.some_point(self.scalars.depth(id), depth);
        let zero = self.scalars.constant(Scalar::zero(self.scalars.ty(id)));
        match self.scalars.known_scalar(some) {
            Some(Scalar::Bool(true)) => return id,
            Some(_) => return zero,
            None => {}
        }
        if let Some(&guarded) = self.guarded.get(&(id, some)) {
            return guarded;
        }
        let region = self.region.take();
        let regions = (self.scalars.region(None), self.scalars.region(None));
        let (then, otherwise) = (vec![Value::Scalar(id)], vec![Value::Scalar(zero)]);
        let joined = self.join(some, (regions.0, then), (regions.1, otherwise));
        self.region = region;
        let guarded = scalars_of(joined)[0];
        self.guarded.insert((id, some), guarded);
        guarded
    }

    /// Makes the host check a condition that it knows, before a kernel over the first `depth`
    /// dimensions of the space, if that has a point.
    pub(super) fn check_on_host(&mut self, condition: ScalarId, kind: FaultKind, depth: usize) {
        let some = self.some_point(0, depth);
        match self.scalars.known_scalar(some) {
            Some(Scalar::Bool(true)) => return self.check(condition, kind),
            Some(_) => return,
            None if some == condition => return,
            None => {}
        }
        let condition = match self.scalars.node(condition).may_fail {
            true => self.where_needed(condition, depth),
            false => condition,
        };
        let region = self.region.take();
        let none = self.op(ScalarOp::Not, &[some]);
        let needed = self.op(ScalarOp::Or, &[none, condition]);
        self.region = region;
        self.check(needed, kind);
    }

    /// The scalar without the checks at its outside, which the host makes now.
    pub(super) fn checked_now(&mut self, id: ScalarId) -> ScalarId {
        let mut id = id;
        while let Definition::Checked(value, condition, kind) = self.scalars.node(id).definition {
            if self.scalars.depth(id) > 0 {
                break;
            }
            self.check(condition, kind);
            id = value;
        }
        id
    }

    /// Checks the index of a row that is known to have no elements (Note [Rows that are not read]).
    pub(super) fn check_without_elements(
        &mut self,
        row: &View<'_>,
        condition: ScalarId,
        kind: FaultKind,
    ) {
        let Source::Stored { axes, .. } = &row.source else { return };
        let is_empty = axes.iter().any(|axis| match *axis {
            Dimension::Dense(size) => self.same_size(size) == Size::Constant(0),
            Dimension::Ragged { .. } => false,
        });
        if is_empty && self.region.is_none() {
            self.check_everywhere(condition, kind);
        }
    }

    /// Whether an array is a row whose index was checked.
    pub(super) fn is_checked_row(&self, row: &View<'_>) -> bool {
        let Source::Stored { prefix, .. } = &row.source else { return false };
        prefix.iter().any(|&(index, _)| {
            matches!(self.scalars.node(index).definition, Definition::Checked(..))
        })
    }

    /// Checks the indices of rows whose elements are not read (Note [Rows that are not read]).
    pub(super) fn check_rows(&mut self, row: &View<'_>) {
        let Source::Stored { prefix, .. } = &row.source else { return };
        for &(index, _) in prefix {
            if let Definition::Checked(_, condition, kind) = self.scalars.node(index).definition {
                self.check_everywhere(condition, kind);
            }
        }
    }
}
