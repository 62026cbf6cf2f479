//! Rows that are put behind stored rows.
//!
//! Note [Rows behind rows]. An array of rows that differ in length is its elements, one row after the
//! other, and the offsets of the rows. So rows behind rows are elements behind elements, and offsets behind
//! offsets:
//!
//! ```text
//! offsets[i] = if i < n + 1 then a.offsets[i] else a.total + b.offsets[i - n]
//! elements[k] = if k < a.total then a.elements[k] else b.elements[k - a.total]
//! ```
//!
//! Nothing has to look for the row that an element lies in, and both begin with what there was, as it is:
//! where a loop collects rows, a back end may let them grow in place. The second array is stored for that, also
//! where its elements could be computed on their way; so this is done where the first one is stored
//! already, as the state of a loop is.

use std::rc::Rc;

use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::{ScalarOp, ScalarType, nested};

use super::layout::parts_of;
use super::local::scalars_of;
use super::scalar::ScalarId;
use super::view::{Source, Value, View};
use super::{Flattener, Outcome};

impl<'p> Flattener<'p> {
    /// A concatenation, stored by its parts, if the first one is rows of different lengths that are stored
    /// (Note [Rows behind rows]).
    pub(super) fn rows_behind_rows(&mut self, view: &View<'p>) -> Outcome<Option<Rc<View<'p>>>> {
        let Source::Concat(first, second) = &view.source else { return Ok(None) };
        if self.depth() > 0 || self.region.is_some() || !has_ragged_rows(first) {
            return Ok(None);
        }
        let second = self.materialise(second)?;
        let ((first, first_axes), (second, second_axes)) = (parts_of(first), parts_of(&second));
        let (Dimension::Dense(mut rows), Dimension::Dense(mut more)) =
            (first_axes[0], second_axes[0])
        else {
            return Ok(None);
        };
        let mut axes = vec![Dimension::Dense(self.sum(rows, more))];
        // The extents of the elements in storage, of both and of the whole.
        let mut extents = (vec![rows], vec![more]);
        for (axis, other) in first_axes[1..].iter().zip(&second_axes[1..]) {
            match (*axis, *other) {
                (Dimension::Dense(size), Dimension::Dense(same))
                    if self.same_size(size) == self.same_size(same) =>
                {
                    (rows, more) = (self.product(&[rows, size]), self.product(&[more, size]));
                    extents.0.push(size);
                    extents.1.push(size);
                    axes.push(Dimension::Dense(size));
                }
                (axis, other) => {
                    let total = self.total(rows, axis);
                    let behind = self.total(more, other);
                    let offsets = self.offsets_behind((rows, axis, total), (more, other));
                    (rows, more) = (total, behind);
                    extents = (vec![total], vec![behind]);
                    axes.push(Dimension::Ragged { offsets, total: self.sum(total, behind) });
                }
            }
        }
        let first = self.elements_of(first, extents.0, view.ty.element);
        let second = self.elements_of(second, extents.1, view.ty.element);
        let elements = self.view(first.ty, Source::Concat(first, second));
        let elements = self.materialise(&elements)?;
        let (var, _) = parts_of(&elements);
        let prefix = self.identity();
        Ok(Some(self.view(view.ty, Source::Stored { var, prefix, axes })))
    }

    /// The offsets of rows and others behind them, which are along these axes; the first have so many elements.
    fn offsets_behind(
        &mut self,
        (rows, axis, total): (Size, Dimension, Size),
        (more, other): (Size, Dimension),
    ) -> Var {
        let both = self.sum(rows, more);
        let ends = self.size_plus(rows, 1);
        self.new_offsets(both, |flattener, end| {
            let (ends, total) = (flattener.scalars.size(ends), flattener.scalars.size(total));
            let before = flattener.op(ScalarOp::Lt, &[end, ends]);
            let offset = flattener.branch(
                before,
                None,
                |flattener| Value::Scalar(flattener.row_end(axis, end)),
                |flattener| {
                    let one = flattener.scalars.integer(1);
                    let row = flattener.op(ScalarOp::Sub, &[end, ends]);
                    let end = flattener.op(ScalarOp::Add, &[row, one]);
                    let offset = flattener.row_end(other, end);
                    Value::Scalar(flattener.op(ScalarOp::Add, &[total, offset]))
                },
            );
            scalars_of(vec![offset])[0]
        })
    }

    /// How many elements so many rows have.
    fn row_end(&mut self, axis: Dimension, rows: ScalarId) -> ScalarId {
        match axis {
            Dimension::Dense(size) => {
                let size = self.scalars.size(size);
                self.op(ScalarOp::Mul, &[rows, size])
            }
            Dimension::Ragged { offsets, .. } => {
                let (home, span) = (self.region, self.span);
                self.scalars.read(offsets, ScalarType::I64, &[rows], home, span)
            }
        }
    }

    /// How many elements all rows have.
    fn total(&mut self, rows: Size, axis: Dimension) -> Size {
        match axis {
            Dimension::Dense(size) => self.product(&[rows, size]),
            Dimension::Ragged { total, .. } => total,
        }
    }

    fn sum(&mut self, first: Size, second: Size) -> Size {
        let (first, second) = (self.scalars.size(first), self.scalars.size(second));
        let sum = self.op(ScalarOp::Add, &[first, second]);
        self.host_size(sum)
    }

    /// Stored elements as an array of these extents.
    fn elements_of(&mut self, var: Var, extents: Vec<Size>, element: ScalarType) -> Rc<View<'p>> {
        let own = &self.types[var.0 as usize].extents;
        let same = own.len() == extents.len()
            && own.iter().zip(&extents).all(|(a, b)| self.same_size(*a) == self.same_size(*b));
        let var = if same { var } else { self.reshaped(var, extents.clone()) };
        let ty = nested::Type { element, rank: extents.len() };
        let axes = extents.into_iter().map(Dimension::Dense).collect();
        self.view(ty, Source::Stored { var, prefix: Vec::new(), axes })
    }
}

/// Whether an array is stored, with rows that differ in length.
fn has_ragged_rows(view: &View<'_>) -> bool {
    match &view.source {
        Source::Stored { prefix, axes, .. } => {
            prefix.is_empty() && axes.iter().any(|axis| matches!(axis, Dimension::Ragged { .. }))
        }
        _ => false,
    }
}
