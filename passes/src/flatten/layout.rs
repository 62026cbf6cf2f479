//! Other shapes of the same elements: reshaping, regular rows, rows put together, segments.

use std::rc::Rc;

use weft_ir::flat::{Dimension, Size, Var, storage};
use weft_ir::nested;
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::local::scalars_of;
use super::scalar::ScalarId;
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome, unsupported};

impl<'p> Flattener<'p> {
    pub(super) fn reshape(
        &mut self,
        array: &Rc<View<'p>>,
        from: usize,
        extents: &[ScalarId],
        ty: nested::Type,
    ) -> Outcome<Value<'p>> {
        if from == extents.len() && self.has_extents(array, extents) {
            return Ok(Value::Array(Rc::clone(array)));
        }
        if from > 0 && extents.iter().any(|&extent| self.scalars.depth(extent) > 0) {
            // All elements in a row, and that is cut.
            let mut row = Rc::clone(array);
            for _ in 1..from {
                let (matrix, _) = self.matrix(&row)?;
                let flat = self.flattened(&matrix)?;
                row = self.array(flat)?;
            }
            return self.cut(&row, extents, ty);
        }
        // The axes behind keep their rows, ragged or not: there are as many.
        let array = self.regular(array, from)?;
        let stored = self.materialise(&array)?;
        let (var, axes) = parts_of(&stored);
        let old = storage(&axes[..from]);
        let mut sizes = Vec::new();
        for &extent in extents {
            match self.scalar_length(extent) {
                Length::Uniform(size) => sizes.push(size),
                Length::Varying(_) => {
                    return unsupported(
                        "reshape to extents that differ from row to row",
                        self.span,
                    );
                }
            }
        }
        let before = self.product(&old);
        let after = self.product(&sizes);
        if before != after {
            let (before, after) = (self.scalars.size(before), self.scalars.size(after));
            let span = self.span;
            let equal = self.scalars.op(ScalarOp::Eq, &[before, after], None, span);
            self.check(equal, FaultKind::BadShape);
        }
        let mut new_axes: Vec<Dimension> = sizes.into_iter().map(Dimension::Dense).collect();
        new_axes.extend_from_slice(&axes[from..]);
        let mut storage_extents = storage(&self.context.space);
        push_storage(&mut storage_extents, &new_axes);
        let result = self.reshaped(var, storage_extents);
        let prefix = self.identity();
        Ok(self.stored_part(result, ty, prefix, new_axes))
    }

    /// Whether the first axes of an array that was stored here are known to have these extents, of
    /// which some differ from point to point.
    fn has_extents(&mut self, array: &View<'p>, extents: &[ScalarId]) -> bool {
        let Source::Stored { prefix, axes, .. } = &array.source else { return false };
        let differ = extents.iter().any(|&extent| self.scalars.depth(extent) > 0);
        differ
            && self.is_identity(prefix)
            && axes.iter().zip(extents).all(|(axis, &extent)| {
                let known = match *axis {
                    Dimension::Dense(size) => {
                        let size = self.same_size(size);
                        self.scalars.size(size)
                    }
                    Dimension::Ragged { offsets, .. } => match self.known_row_length(offsets) {
                        Some(length) => length,
                        None => match self.length(array) {
                            Length::Varying(length) => length,
                            Length::Uniform(_) => return false,
                        },
                    },
                };
                self.unchecked(known) == self.unchecked(extent)
            })
    }

    /// The length of the rows of an array, if it is known to be one for all rows of a point.
    pub(super) fn row_length_here(&mut self, array: &View<'p>) -> Outcome<Option<Length>> {
        let here = self.depth();
        match &array.source {
            Source::Stored { prefix, axes, .. } if self.is_identity(prefix) => {
                return Ok(match axes[1] {
                    Dimension::Dense(size) => Some(Length::Uniform(size)),
                    Dimension::Ragged { offsets, .. } => {
                        let known = self.known_row_length(offsets);
                        known.map(|length| self.scalar_length(length))
                    }
                });
            }
            Source::Literal(elements) => {
                let mut lengths = Vec::new();
                for element in elements {
                    let row = self.array(element.clone())?;
                    lengths.push(self.length(&row));
                }
                let same = lengths.iter().all(|length| *length == lengths[0]);
                return Ok(same.then_some(lengths[0]));
            }
            _ => {}
        }
        let outer = self.context.clone();
        // Any row: its index is not looked at.
        let index = self.enter(Dimension::Dense(Size::Constant(1)));
        let row = self.element_unchecked(array, index);
        let row = self.array(row)?;
        let length = self.length(&row);
        self.context = outer;
        Ok(match length {
            Length::Varying(id) if self.scalars.depth(id) > here => None,
            length => Some(length),
        })
    }

    /// Notes that all rows of a descriptor have that length at the points of the dimensions around.
    pub(super) fn note_row_length(&mut self, offsets: Var, length: ScalarId) {
        let levels = self.context.levels[..self.scalars.depth(length)].to_vec();
        self.row_lengths.insert(offsets, (length, levels));
    }

    /// The length of the rows of a descriptor at the points of the dimensions around, if it is known.
    fn known_row_length(&self, offsets: Var) -> Option<ScalarId> {
        let (length, levels) = self.row_lengths.get(&offsets)?;
        self.context.levels.starts_with(levels).then_some(*length)
    }

    /// The matrix of each point as an array that is stored, and the length of its rows; a fault
    /// unless they have one length.
    pub(super) fn matrix(&mut self, array: &Rc<View<'p>>) -> Outcome<(Rc<View<'p>>, Length)> {
        let stored = self.materialise(array)?;
        let (_, axes) = parts_of(&stored);
        let offsets = match axes[1] {
            Dimension::Dense(size) => return Ok((stored, Length::Uniform(self.same_size(size)))),
            Dimension::Ragged { offsets, .. } => offsets,
        };
        let rows = self.length(&stored);
        let (rows, zero) = (self.length_scalar(rows), self.scalars.integer(0));
        let some = self.op(ScalarOp::Gt, &[rows, zero]);
        let length = self.branch(
            some,
            None,
            |flattener| flattener.row_length_at(&stored, zero),
            |_| Value::Scalar(zero),
        );
        let length = scalars_of(vec![length])[0];
        let outer = self.context.clone();
        let (_, index) = self.enter_array(&stored);
        let found = scalars_of(vec![self.row_length_at(&stored, index)])[0];
        let equal = self.op(ScalarOp::Eq, &[found, length]);
        self.check_everywhere(equal, FaultKind::Ragged);
        self.context = outer;
        self.note_row_length(offsets, length);
        Ok((stored, self.scalar_length(length)))
    }

    fn row_length_at(&mut self, matrix: &View<'p>, index: ScalarId) -> Value<'p> {
        match self.element_unchecked(matrix, index) {
            Value::Array(row) => {
                let length = self.length(&row);
                Value::Scalar(self.length_scalar(length))
            }
            Value::Scalar(_) => panic!("flatten: a matrix has rows"),
        }
    }

    fn unchecked(&self, id: ScalarId) -> ScalarId {
        let mut id = id;
        while let super::scalar::Definition::Checked(value, ..) = self.scalars.node(id).definition {
            id = value;
        }
        id
    }

    /// The outermost axis cut into axes whose extents differ from point to point.
    fn cut(
        &mut self,
        array: &Rc<View<'p>>,
        extents: &[ScalarId],
        ty: nested::Type,
    ) -> Outcome<Value<'p>> {
        let stored = self.materialise(array)?;
        let (var, axes) = parts_of(&stored);
        let mut product = self.scalars.integer(1);
        for &extent in extents {
            product = self.op(ScalarOp::Mul, &[product, extent]);
        }
        let length = self.length(&stored);
        let length = self.length_scalar(length);
        let equal = self.op(ScalarOp::Eq, &[product, length]);
        self.check_everywhere(equal, FaultKind::BadShape);
        let outer = self.context.clone();
        let mut storage_extents = storage(&outer.space);
        let mut new_axes = Vec::new();
        for &extent in extents {
            let dimension = match self.scalar_length(extent) {
                Length::Uniform(size) => Dimension::Dense(size),
                Length::Varying(length) => self.segments_of(length),
            };
            new_axes.push(dimension);
            self.enter_dimension(dimension);
        }
        self.context = outer;
        new_axes.extend_from_slice(&axes[1..]);
        push_storage(&mut storage_extents, &new_axes);
        let result = self.reshaped(var, storage_extents);
        let prefix = self.identity();
        Ok(self.stored_part(result, ty, prefix, new_axes))
    }

    /// A stored array whose first axes are made regular; a fault if they are not.
    pub(super) fn regularise(
        &mut self,
        array: &Rc<View<'p>>,
        count: usize,
    ) -> Outcome<Rc<View<'p>>> {
        let stored = self.materialise(array)?;
        let (var, axes) = parts_of(&stored);
        let mut rows = self.rows();
        let mut dense = Vec::new();
        for (number, axis) in axes.iter().enumerate() {
            let size = match *axis {
                Dimension::Dense(size) => size,
                Dimension::Ragged { .. } if number >= count => {
                    // What stays ragged keeps its descriptor, whose rows are the same.
                    dense.extend_from_slice(&axes[number..]);
                    break;
                }
                Dimension::Ragged { offsets, .. } => self.row_length(offsets, rows),
            };
            dense.push(Dimension::Dense(size));
            rows = self.product(&[rows, size]);
        }
        let mut extents = storage(&self.context.space);
        for axis in &dense {
            match *axis {
                Dimension::Dense(size) => extents.push(size),
                Dimension::Ragged { total, .. } => extents = vec![total],
            }
        }
        let result = self.reshaped(var, extents);
        let prefix = self.identity();
        Ok(self.view(array.ty, Source::Stored { var: result, prefix, axes: dense }))
    }

    /// The length of all rows of a descriptor; a fault if they differ.
    fn row_length(&mut self, offsets: Var, rows: Size) -> Size {
        let outer = std::mem::take(&mut self.context);
        let span = self.span;
        let rows_scalar = self.scalars.size(rows);
        let (zero, one) = (self.scalars.integer(0), self.scalars.integer(1));
        let some = self.scalars.op(ScalarOp::Gt, &[rows_scalar, zero], None, span);
        let length = self.branch(
            some,
            None,
            |flattener| {
                let home = flattener.region;
                let ty = ScalarType::I64;
                Value::Scalar(flattener.scalars.read(offsets, ty, &[one], home, span))
            },
            |_| Value::Scalar(zero),
        );
        let length = scalars_of(vec![length])[0];
        let size = self.host_size(length);
        let length = self.scalars.size(size);
        let row = self.enter(Dimension::Dense(rows));
        let next = self.op(ScalarOp::Add, &[row, one]);
        let start = self.scalars.read(offsets, ScalarType::I64, &[row], None, span);
        let end = self.scalars.read(offsets, ScalarType::I64, &[next], None, span);
        let found = self.op(ScalarOp::Sub, &[end, start]);
        let equal = self.op(ScalarOp::Eq, &[found, length]);
        self.check_everywhere(equal, FaultKind::Ragged);
        self.context = outer;
        size
    }

    pub(super) fn flattened(&mut self, array: &Rc<View<'p>>) -> Outcome<Value<'p>> {
        let stored = self.materialise(array)?;
        let (var, axes) = parts_of(&stored);
        let ty = array.ty.element();
        let rest = &axes[2..];
        let rows = self.rows();
        let prefix = self.identity();
        let host = self.depth() == 0;
        let outer_extents = storage(&self.context.space);
        let (var, axis) = match (axes[0], axes[1]) {
            (Dimension::Dense(n), Dimension::Dense(m)) => {
                let both = self.product(&[n, m]);
                let mut extents = outer_extents;
                extents.push(both);
                push_storage(&mut extents, rest);
                (self.seen_as(var, &extents), Dimension::Dense(both))
            }
            (Dimension::Dense(_), Dimension::Ragged { total, .. }) if host => {
                (var, Dimension::Dense(total))
            }
            (Dimension::Dense(n), Dimension::Ragged { offsets, total }) => {
                let offsets = self.new_offsets(rows, |flattener, row| {
                    let n = flattener.scalars.size(n);
                    let first = flattener.op(ScalarOp::Mul, &[row, n]);
                    flattener.offset(offsets, first)
                });
                (var, Dimension::Ragged { offsets, total })
            }
            (Dimension::Ragged { offsets, total }, Dimension::Dense(m)) => {
                let all = self.product(&[total, m]);
                let mut extents = vec![all];
                push_storage(&mut extents, rest);
                let var = self.reshaped(var, extents);
                let offsets = self.new_offsets(rows, |flattener, row| {
                    let first = flattener.offset(offsets, row);
                    let m = flattener.scalars.size(m);
                    flattener.op(ScalarOp::Mul, &[first, m])
                });
                (var, Dimension::Ragged { offsets, total: all })
            }
            (
                Dimension::Ragged { offsets: outer, .. },
                Dimension::Ragged { offsets: inner, total },
            ) => {
                let offsets = self.new_offsets(rows, |flattener, row| {
                    let first = flattener.offset(outer, row);
                    flattener.offset(inner, first)
                });
                (var, Dimension::Ragged { offsets, total })
            }
        };
        let mut new_axes = vec![axis];
        new_axes.extend_from_slice(rest);
        Ok(self.stored_part(var, ty, prefix, new_axes))
    }

    fn offset(&mut self, offsets: Var, row: ScalarId) -> ScalarId {
        let span = self.span;
        self.scalars.read(offsets, ScalarType::I64, &[row], None, span)
    }

    /// A segment descriptor of that many rows.
    pub(super) fn new_offsets(
        &mut self,
        rows: Size,
        offset: impl FnOnce(&mut Self, ScalarId) -> ScalarId,
    ) -> Var {
        let ends = self.size_plus(rows, 1);
        let outer = std::mem::take(&mut self.context);
        let row = self.enter(Dimension::Dense(ends));
        let offset = offset(self, row);
        let offsets = self.store_here(offset);
        self.context = outer;
        offsets
    }

    pub(super) fn segments(
        &mut self,
        counts: &Rc<View<'p>>,
        array: &Rc<View<'p>>,
    ) -> Outcome<Value<'p>> {
        let stored = self.materialise(array)?;
        let (var, axes) = parts_of(&stored);
        let length = self.length(&stored);
        let outer = self.context.clone();
        let (dimension, index) = self.enter_array(counts);
        let count = scalars_of(vec![self.element_unchecked(counts, index)])[0];
        let zero = self.scalars.integer(0);
        let natural = self.op(ScalarOp::Ge, &[count, zero]);
        // No array has more elements, and the sum of fewer than 2^23 lengths does not overflow.
        let most = self.scalars.integer(1 << 40);
        let within = self.op(ScalarOp::Le, &[count, most]);
        let natural = self.op(ScalarOp::And, &[natural, within]);
        self.check_everywhere(natural, FaultKind::BadLength);
        let Dimension::Ragged { offsets, total } = self.segments_of(count) else {
            panic!("flatten: segments make a descriptor")
        };
        self.context = outer;
        // The rows' lengths must sum to the array's, at every point.
        let covered = match dimension {
            Dimension::Dense(n) => {
                let prefix = self.identity();
                let row = self.linear(&prefix);
                let (n, one) = (self.scalars.size(n), self.scalars.integer(1));
                let first = self.op(ScalarOp::Mul, &[row, n]);
                let next = self.op(ScalarOp::Add, &[row, one]);
                let last = self.op(ScalarOp::Mul, &[next, n]);
                (first, last)
            }
            Dimension::Ragged { offsets: of_counts, .. } => {
                let prefix = self.identity();
                self.row_bounds(of_counts, &prefix)
            }
        };
        let (start, end) = (self.offset(offsets, covered.0), self.offset(offsets, covered.1));
        let sum = self.op(ScalarOp::Sub, &[end, start]);
        let length = self.length_scalar(length);
        let equal = self.op(ScalarOp::Eq, &[sum, length]);
        self.check_everywhere(equal, FaultKind::BadShape);
        // All elements under one axis of positions.
        let mut extents = vec![total];
        push_storage(&mut extents, &axes[1..]);
        let var = self.reshaped(var, extents);
        let mut new_axes = vec![dimension, Dimension::Ragged { offsets, total }];
        new_axes.extend_from_slice(&axes[1..]);
        let prefix = self.identity();
        Ok(self.stored_part(var, array.ty.array(), prefix, new_axes))
    }
}

/// The variable and axes of a stored array.
pub(super) fn parts_of(view: &View<'_>) -> (Var, Vec<Dimension>) {
    match &view.source {
        Source::Stored { var, axes, .. } => (*var, axes.clone()),
        _ => panic!("flatten: a stored array"),
    }
}

/// Adds the storage dimensions of inner axes.
pub(super) fn push_storage(extents: &mut Vec<Size>, axes: &[Dimension]) {
    for axis in axes {
        match *axis {
            Dimension::Dense(size) => extents.push(size),
            Dimension::Ragged { total, .. } => *extents = vec![total],
        }
    }
}
