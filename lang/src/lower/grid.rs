//! Index spaces of several axes, and reading around an element.

use std::rc::Rc;

use weft_ir::nested::{Atom, Operation, Type};
use weft_ir::{FaultKind, ScalarOp};

use super::builder::{BodyOf, Lowering, Outcome};
use super::operations::{bool_atom, int};
use super::value::{Boundary, Grid, Value, Window};

/// Offsets of windows are below this, so that no sum with an index wraps.
const MAX_OFFSET: u64 = 1 << 62;

impl<'p> Lowering<'p> {
    /// The extents that a program asks for: none is negative, and their product is below 2^63.
    pub(super) fn new_shape(&mut self, extents: &[Atom]) -> Vec<Atom> {
        let extents: Vec<Atom> = extents.iter().map(|extent| self.count(*extent)).collect();
        let Some((first, rest)) = extents.split_first() else { return extents };
        let (mut product, mut fits) = (*first, bool_atom(true));
        for extent in rest {
            let divisor = self.compute(ScalarOp::Max, &[*extent, int(1)]);
            let most = self.compute(ScalarOp::FloorDiv, &[int(i64::MAX), divisor]);
            let here = self.compute(ScalarOp::Le, &[product, most]);
            fits = self.compute(ScalarOp::And, &[fits, here]);
            product = self.compute(ScalarOp::Mul, &[product, *extent]);
        }
        self.assert(fits, FaultKind::BadLength, extents)
    }

    /// The array whose element at each index of a shape the body yields.
    pub(super) fn over_grid(
        &mut self,
        extents: &[Atom],
        body: BodyOf<'_, 'p>,
    ) -> Outcome<Vec<Atom>> {
        let leaves = self.nest(extents, &mut Vec::new(), body)?;
        Ok(self.keep_extents(leaves, extents))
    }

    fn nest(
        &mut self,
        extents: &[Atom],
        index: &mut Vec<Atom>,
        body: BodyOf<'_, 'p>,
    ) -> Outcome<Vec<Atom>> {
        let Some((extent, rest)) = extents.split_first() else { return body(self, index) };
        self.tabulate(*extent, &mut |lowering, at| {
            index.push(at);
            let result = lowering.nest(rest, index, body);
            index.pop();
            result
        })
    }

    /// The same arrays: no rows of a known length keep that length.
    pub(super) fn keep_extents(&mut self, leaves: Vec<Atom>, extents: &[Atom]) -> Vec<Atom> {
        if extents.len() < 2 {
            return leaves;
        }
        leaves.into_iter().map(|leaf| self.reshape(leaf, extents.len(), extents)).collect()
    }

    /// The first axes of an array with other extents.
    pub(super) fn reshape(&mut self, array: Atom, from: usize, extents: &[Atom]) -> Atom {
        let ty = self.type_of(array);
        let ty = Type { rank: ty.rank - from + extents.len(), ..ty };
        self.emit_one(Operation::Reshape { array, from, extents: extents.to_vec() }, ty)
    }

    /// `w[offset]`.
    pub(super) fn read_window(
        &mut self,
        window: &Window<'p>,
        offset: &[i64],
    ) -> Outcome<Value<'p>> {
        if offset.iter().any(|by| by.unsigned_abs() >= MAX_OFFSET) {
            return self.unsupported("an offset as large as that");
        }
        let offset: Vec<Atom> = offset.iter().map(|by| int(*by)).collect();
        self.read_around(&window.grid, &window.centre, &offset)
    }

    /// The element at an offset from a centre, or what the boundary has there.
    pub(super) fn read_around(
        &mut self,
        grid: &Rc<Grid<'p>>,
        centre: &[Atom],
        offset: &[Atom],
    ) -> Outcome<Value<'p>> {
        let shifted: Vec<Atom> = centre
            .iter()
            .zip(offset)
            .map(|(at, by)| self.compute(ScalarOp::Add, &[*at, *by]))
            .collect();
        let moved: Vec<usize> =
            (0..shifted.len()).filter(|axis| shifted[*axis] != centre[*axis]).collect();
        let outside = match &*grid.boundary {
            Boundary::Clamp | Boundary::Mirror | Boundary::Wrap => {
                let mut index = shifted;
                for axis in moved {
                    let extent = grid.extents[axis];
                    index[axis] =
                        self.back_inside(&grid.boundary, index[axis], offset[axis], extent);
                }
                let leaves = self.index_all(&grid.leaves, &index);
                return Ok(Value::of_leaves(grid.element, &leaves));
            }
            Boundary::Constant(_) | Boundary::Outside(_) if moved.is_empty() => {
                let leaves = self.index_all(&grid.leaves, &shifted);
                return Ok(Value::of_leaves(grid.element, &leaves));
            }
            outside @ (Boundary::Constant(_) | Boundary::Outside(_)) => outside,
        };
        let mut inside = bool_atom(true);
        for axis in moved {
            let low = self.compute(ScalarOp::Ge, &[shifted[axis], int(0)]);
            let high = self.compute(ScalarOp::Lt, &[shifted[axis], grid.extents[axis]]);
            let both = self.compute(ScalarOp::And, &[low, high]);
            inside = self.compute(ScalarOp::And, &[inside, both]);
        }
        self.choose(
            inside,
            grid.element,
            &mut |lowering| {
                let leaves = lowering.index_all(&grid.leaves, &shifted);
                Ok(Value::of_leaves(grid.element, &leaves))
            },
            &mut |lowering| match outside {
                Boundary::Outside(function) => {
                    lowering.call(function, vec![Value::index(&shifted)])
                }
                Boundary::Constant(value) => Ok(value.clone()),
                Boundary::Clamp | Boundary::Mirror | Boundary::Wrap => {
                    panic!("lower: these boundaries were handled")
                }
            },
        )
    }

    /// An index beyond the edge as the index of the element that lies there. The axis has elements.
    fn back_inside(
        &mut self,
        boundary: &Boundary<'p>,
        index: Atom,
        offset: Atom,
        extent: Atom,
    ) -> Atom {
        let last = self.compute(ScalarOp::Sub, &[extent, int(1)]);
        match boundary {
            Boundary::Mirror => {
                let period = self.compute(ScalarOp::Mul, &[int(2), last]);
                // One element is its own mirror image.
                let positive = self.compute(ScalarOp::Max, &[period, int(1)]);
                let folded = self.compute(ScalarOp::Mod, &[index, positive]);
                let reflected = self.compute(ScalarOp::Sub, &[period, folded]);
                self.compute(ScalarOp::Min, &[folded, reflected])
            }
            Boundary::Wrap => self.compute(ScalarOp::Mod, &[index, extent]),
            Boundary::Clamp | Boundary::Constant(_) | Boundary::Outside(_) => {
                let known = match offset {
                    Atom::Scalar(weft_ir::Scalar::I64(offset)) => offset.signum(),
                    _ => 0,
                };
                let low =
                    if known > 0 { index } else { self.compute(ScalarOp::Max, &[index, int(0)]) };
                if known < 0 { low } else { self.compute(ScalarOp::Min, &[low, last]) }
            }
        }
    }
}
