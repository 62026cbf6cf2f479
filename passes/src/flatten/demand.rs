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
//! no element, and one that reads them under a condition may read none: then it is checked that all
//! these rows are values ([`Flattener::existence`]), and so it is for rows that are known to have no
//! elements. Of rows that turn out to have none nothing is read either: that there are elements, or that
//! the row is a value where the host knows, is a check of the host, which costs nothing; if it fails, the
//! interpreter looks. A concatenation is read where one of its parts is, and the other need not be: so an
//! element of the one is read only if the other is a value.

use weft_ir::flat::{Dimension, Size};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::Flattener;
use super::local::scalars_of;
use super::scalar::{Definition, ScalarId};
use super::view::{Length, Source, Value, View};

impl<'p> Flattener<'p> {
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
    pub(super) fn some_point(&mut self, from: usize, to: usize) -> ScalarId {
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

    /// Whether an array is a value, as a condition that holds or may fail; none if it is one for sure
    /// (Note [Rows that are not read]).
    pub(super) fn existence(&mut self, view: &View<'p>) -> Option<ScalarId> {
        match &view.source {
            Source::Stored { prefix, .. } => {
                let indices: Vec<ScalarId> = prefix.iter().map(|&(index, _)| index).collect();
                indices.into_iter().fold(None, |all, index| {
                    let index = self.definedness(index);
                    self.both(all, index)
                })
            }
            Source::Iota(length) | Source::Replicate(length, _) => self.length_definedness(*length),
            Source::Concat(first, second) => {
                let (first, second) = (self.existence(first), self.existence(second));
                self.both(first, second)
            }
            Source::Transposed(inner, _) => {
                let (inner, rows) = (self.existence(inner), self.existence_of_rows(inner));
                self.both(inner, rows)
            }
            Source::Column(inner, index) => {
                let (inner, index) = (self.existence(inner), self.definedness(*index));
                self.both(inner, index)
            }
            Source::Gathered(indices, array) => {
                let (indices, array) = (self.existence(indices), self.existence(array));
                self.both(indices, array)
            }
            Source::Literal(_) => None,
            Source::Choice(condition, then, otherwise, _) => {
                let may_fail = self.reads_fallible(*condition);
                let (mut first, mut second) = (None, None);
                let chosen = self.branch(
                    *condition,
                    Some((then.0, otherwise.0)),
                    |flattener| flattener.existence_value(&then.1, &mut first),
                    |flattener| flattener.existence_value(&otherwise.1, &mut second),
                );
                let doubtful = may_fail || first.is_some() || second.is_some();
                doubtful.then(|| scalars_of(vec![chosen])[0])
            }
            Source::Checked(inner, condition, _) => {
                let inner = self.existence(inner);
                self.both(Some(*condition), inner)
            }
            Source::Delayed(delayed, _) => {
                let arrays = delayed.arrays.clone();
                arrays.iter().fold(None, |all, array| {
                    let exists = self.existence(array);
                    self.both(all, exists)
                })
            }
        }
    }

    /// Whether the rows of an array whose rows differ in kind are values, and the rows of these, as a condition;
    /// none if they are for sure. Of rows that are alike the array has the extents, and tells as much.
    pub(super) fn existence_of_rows(&mut self, view: &View<'p>) -> Option<ScalarId> {
        match &view.source {
            Source::Literal(elements) => elements.iter().fold(None, |all, element| {
                let Value::Array(row) = element else { return all };
                let (row, inner) = (self.existence(row), self.existence_of_rows(row));
                let row = self.both(row, inner);
                self.both(all, row)
            }),
            Source::Concat(first, second) => {
                let (first, second) =
                    (self.existence_of_rows(first), self.existence_of_rows(second));
                self.both(first, second)
            }
            Source::Replicate(length, Value::Array(row)) => {
                let (zero, length) = (self.scalars.integer(0), self.length_scalar(*length));
                let none = self.op(ScalarOp::Le, &[length, zero]);
                let mut rows = None;
                // Of no rows none is an error.
                let chosen = self.branch(
                    none,
                    None,
                    |flattener| flattener.condition_value(None),
                    |flattener| {
                        let (row, inner) =
                            (flattener.existence(row), flattener.existence_of_rows(row));
                        rows = flattener.both(row, inner);
                        flattener.condition_value(rows)
                    },
                );
                rows.is_some().then(|| scalars_of(vec![chosen])[0])
            }
            Source::Choice(condition, then, otherwise, _) => {
                let (mut first, mut second) = (None, None);
                let chosen = self.branch(
                    *condition,
                    Some((then.0, otherwise.0)),
                    |flattener| {
                        first = flattener.existence_of_rows(&then.1);
                        flattener.condition_value(first)
                    },
                    |flattener| {
                        second = flattener.existence_of_rows(&otherwise.1);
                        flattener.condition_value(second)
                    },
                );
                (first.is_some() || second.is_some()).then(|| scalars_of(vec![chosen])[0])
            }
            Source::Checked(inner, ..) => self.existence_of_rows(inner),
            Source::Transposed(inner, _) => self.existence_of_rows(inner),
            Source::Stored { .. }
            | Source::Iota(_)
            | Source::Replicate(_, Value::Scalar(_))
            | Source::Column(..)
            | Source::Gathered(..)
            | Source::Delayed(..) => None,
        }
    }

    fn existence_value(&mut self, view: &View<'p>, known: &mut Option<ScalarId>) -> Value<'p> {
        *known = self.existence(view);
        self.condition_value(*known)
    }

    fn condition_value(&mut self, known: Option<ScalarId>) -> Value<'p> {
        Value::Scalar(known.unwrap_or_else(|| self.scalars.constant(Scalar::Bool(true))))
    }

    /// Whether a scalar has a value, as a condition; none if it has one for sure.
    fn definedness(&mut self, id: ScalarId) -> Option<ScalarId> {
        if let Definition::Checked(value, condition, _) = self.scalars.node(id).definition {
            let value = self.definedness(value);
            return self.both(Some(condition), value);
        }
        self.scalars.node(id).may_fail.then(|| {
            // Any use of an integer will do.
            let least = self.scalars.integer(i64::MIN);
            self.op(ScalarOp::Ge, &[id, least])
        })
    }

    fn length_definedness(&mut self, length: Length) -> Option<ScalarId> {
        match length {
            // The host has it.
            Length::Uniform(_) => None,
            Length::Varying(id) => self.definedness(id),
        }
    }

    fn both(&mut self, first: Option<ScalarId>, second: Option<ScalarId>) -> Option<ScalarId> {
        match (first, second) {
            (Some(first), Some(second)) if first != second => {
                let no = self.scalars.constant(Scalar::Bool(false));
                Some(self.select(first, second, no))
            }
            (Some(condition), _) | (None, Some(condition)) => Some(condition),
            (None, None) => None,
        }
    }

    /// Checks that arrays are values, at all points of the current context: their elements are not
    /// read (Note [Rows that are not read]).
    pub(super) fn check_rows(&mut self, rows: &View<'p>) {
        if let Some(condition) = self.existence(rows) {
            self.check_everywhere(condition, FaultKind::IndexOutOfRange);
        }
    }

    /// Checks that arrays are values if there may be no element to read in this dimension of them
    /// (Note [Rows that are not read]).
    pub(super) fn check_without_elements(&mut self, rows: &View<'p>, dimension: Dimension) {
        // Lengths of ragged rows are read by the index of the row.
        let Dimension::Dense(size) = dimension else { return };
        if self.region.is_some() || self.is_extent_of_point(size) {
            return;
        }
        let size = self.same_size(size);
        if let Size::Constant(length) = size {
            if length == 0 {
                self.check_rows(rows);
            }
            return;
        }
        let Some(exists) = self.existence(rows) else { return };
        let (length, zero) = (self.scalars.size(size), self.scalars.integer(0));
        let mut read = self.op(ScalarOp::Gt, &[length, zero]);
        for dimension in self.context.space.clone() {
            let around = match dimension {
                Dimension::Dense(size) => size,
                Dimension::Ragged { total, .. } => total,
            };
            let around = self.scalars.size(self.same_size(around));
            let none = self.op(ScalarOp::Eq, &[around, zero]);
            read = self.op(ScalarOp::Or, &[none, read]);
        }
        if self.scalars.depth(exists) == 0 && self.scalars.node(exists).home.is_none() {
            // The host can look itself, if only where nothing is read.
            let yes = self.scalars.constant(Scalar::Bool(true));
            read = self.select(read, yes, exists);
        }
        self.check(read, FaultKind::IndexOutOfRange);
    }
}
