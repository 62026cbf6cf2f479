//! Stencils.

use std::rc::Rc;

use weft_ir::nested::Atom;
use weft_ir::{FaultKind, ScalarOp};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::int;
use crate::lower::value::{Boundary, Grid, Value, Window, under};

impl<'p> Lowering<'p> {
    /// `stencil boundary f xs`.
    pub(super) fn stencil(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let boundary = boundary(&call.args[0]);
        let grid = self.grid(call, 2, &boundary);
        let leaves = self.over_grid(&grid.extents, &mut |lowering, centre| {
            let result = lowering.call(&call.args[1], vec![window(&grid, centre)])?;
            lowering.leaves(&result)
        })?;
        Ok(Value::array(leaves))
    }

    /// `stencil2 boundary f xs ys`.
    pub(super) fn stencil2(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let boundary = boundary(&call.args[0]);
        let first = self.grid(call, 2, &boundary);
        let second = self.grid(call, 3, &boundary);
        // One check an axis, so that each shows which sizes are equal.
        let mut extents = Vec::new();
        for (left, right) in first.extents.iter().zip(&second.extents) {
            let extent = if left == right {
                *left
            } else {
                let equal = self.compute(ScalarOp::Eq, &[*left, *right]);
                self.assert_one(equal, FaultKind::LengthMismatch, *left)
            };
            extents.push(self.set_count(extent));
        }
        let leaves = self.over_grid(&extents, &mut |lowering, centre| {
            let windows = vec![window(&first, centre), window(&second, centre)];
            let result = lowering.call(&call.args[1], windows)?;
            lowering.leaves(&result)
        })?;
        Ok(Value::array(leaves))
    }

    /// `convolve boundary kernel xs`: at each element the sum of `kernel[j] * xs[i + j - k // 2]` over
    /// all j in row-major order, where k are the kernel's extents.
    pub(super) fn convolve(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let boundary = boundary(&call.args[0]);
        let kernel = self.grid(call, 1, &boundary);
        let grid = self.grid(call, 2, &boundary);
        let mut weights = kernel.leaves[0];
        for _ in 1..kernel.extents.len() {
            weights = self.flatten_one(weights);
        }
        let count = self.length(weights);
        let middle: Vec<Atom> = kernel
            .extents
            .iter()
            .map(|extent| self.compute(ScalarOp::FloorDiv, &[*extent, int(2)]))
            .collect();
        let leaves = self.over_grid(&grid.extents, &mut |lowering, centre| {
            let positions = lowering.iota(count);
            let weighted = lowering.map(&[positions, weights], &mut |lowering, atoms| {
                let index = lowering.index_at(atoms[0], &kernel.extents);
                let offset: Vec<Atom> = index
                    .iter()
                    .zip(&middle)
                    .map(|(at, middle)| lowering.compute(ScalarOp::Sub, &[*at, *middle]))
                    .collect();
                let there = lowering.read_around(&grid, centre, &offset)?.expect_scalar();
                Ok(vec![lowering.compute(ScalarOp::Mul, &[atoms[1], there])])
            })?;
            Ok(vec![lowering.sum_of(weighted[0])?])
        })?;
        // Where there is no element, none of them reads the kernel.
        let leaves = leaves.iter().map(|leaf| self.if_there(kernel.leaves[0], *leaf)).collect();
        Ok(Value::array(leaves))
    }

    /// The index of a position in row-major order; there is one, so no extent is 0.
    fn index_at(&mut self, position: Atom, extents: &[Atom]) -> Vec<Atom> {
        let mut rest = position;
        let mut index = Vec::with_capacity(extents.len());
        for (axis, extent) in extents.iter().enumerate().rev() {
            if axis == 0 {
                index.push(rest);
                break;
            }
            index.push(self.compute(ScalarOp::Mod, &[rest, *extent]));
            rest = self.compute(ScalarOp::FloorDiv, &[rest, *extent]);
        }
        index.reverse();
        index
    }

    /// An argument that is a regular array, with its boundary.
    fn grid(&mut self, call: &Call<'p>, index: usize, boundary: &Rc<Boundary<'p>>) -> Rc<Grid<'p>> {
        let leaves = call.array(index);
        let rank = call.rank(index);
        let extents = (0..rank).map(|axis| self.extent(leaves[0], axis)).collect();
        let element = under(call.params[index], rank);
        Rc::new(Grid { leaves, element, extents, boundary: Rc::clone(boundary) })
    }
}

fn boundary<'p>(value: &Value<'p>) -> Rc<Boundary<'p>> {
    match value {
        Value::Boundary(boundary) => Rc::clone(boundary),
        _ => panic!("lower: a boundary is expected"),
    }
}

fn window<'p>(grid: &Rc<Grid<'p>>, centre: &[Atom]) -> Value<'p> {
    Value::Window(Rc::new(Window { grid: Rc::clone(grid), centre: centre.to_vec() }))
}
