//! Stencils: functions of the neighbourhood of each element, in rank 1, 2 and 3.

use std::rc::Rc;

use weft_ir::{ScalarOp, Span, Type};

use super::Call;
use super::make::into_shape;
use super::reduce::{Tree, scalar_type};
use crate::apply::Callee;
use crate::code::Node;
use crate::collect::Collector;
use crate::elements::Elements;
use crate::extents::Known;
use crate::machine::{Machine, Outcome, Stop, Unwind};
use crate::operator::{Operator, number};
use crate::value::{Val, under};

/// What lies outside an array.
#[derive(Debug)]
pub(crate) enum Boundary {
    /// The nearest element of the edge.
    Clamp,
    /// The elements in reverse, without repeating the edge; of one element it is that element.
    Mirror,
    /// The array again.
    Wrap,
    /// Everywhere the same.
    Constant(Val),
    /// A function of the index.
    Outside(Val),
}

/// What a stencil's function reads: an array around one of its elements.
#[derive(Debug)]
pub(crate) struct Window {
    grid: Rc<Grid>,
    /// The index of the element.
    centre: Vec<i64>,
}

/// A regular array and what lies around it.
#[derive(Debug)]
struct Grid {
    /// In row-major order.
    elements: Elements,
    extents: Vec<usize>,
    boundary: Rc<Boundary>,
}

impl Machine<'_> {
    /// `constant c`.
    pub(super) fn constant(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        Ok(Val::Boundary(Rc::new(Boundary::Constant(call.value(0)))))
    }

    /// `outside g`.
    pub(super) fn outside(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        Ok(Val::Boundary(Rc::new(Boundary::Outside(call.value(0)))))
    }

    /// `stencil boundary f xs`.
    pub(super) fn stencil(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let boundary = boundary(call.value(0))?;
        let function = call.value(1);
        let grid = self.grid(&mut call, 2, &boundary)?;
        let count = grid.elements.len();
        self.over_grid(&call, &grid.extents, count, |machine, mut collector, ty, indices| {
            machine.with_callee(&function, 1, call.span, |machine, callee| {
                for centre in indices {
                    let window = Val::Window(Rc::new(Window { grid: Rc::clone(&grid), centre }));
                    let val = machine.apply(callee, [window])?;
                    machine.collect(&mut collector, val)?;
                }
                machine.with_known_extents(collector, ty, callee, 1)
            })
        })
    }

    /// `stencil2 boundary f xs ys`: two windows on arrays of one shape.
    pub(super) fn stencil2(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let boundary = boundary(call.value(0))?;
        let function = call.value(1);
        let first = self.grid(&mut call, 2, &boundary)?;
        let second = self.grid(&mut call, 3, &boundary)?;
        for (left, right) in first.extents.iter().zip(&second.extents) {
            self.same_length(call.name(), *left, *right, call.span)?;
        }
        let count = first.elements.len();
        self.over_grid(&call, &first.extents, count, |machine, mut collector, ty, indices| {
            machine.with_callee(&function, 2, call.span, |machine, callee| {
                for centre in indices {
                    let grid = Rc::clone(&first);
                    let left = Val::Window(Rc::new(Window { grid, centre: centre.clone() }));
                    let right = Val::Window(Rc::new(Window { grid: Rc::clone(&second), centre }));
                    let val = machine.apply(callee, [left, right])?;
                    machine.collect(&mut collector, val)?;
                }
                machine.with_known_extents(collector, ty, callee, 2)
            })
        })
    }

    /// `convolve boundary kernel xs`: at each element the sum of `kernel[j] * xs[i + j - k // 2]` over
    /// all j in row-major order, where k are the kernel's extents; the sum is a fold from 0.
    pub(super) fn convolve(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let boundary = boundary(call.value(0))?;
        let kernel = self.grid(&mut call, 1, &boundary)?;
        let grid = self.grid(&mut call, 2, &boundary)?;
        let leaf = under(call.result(), grid.extents.len()).clone();
        let offsets: Vec<Vec<i64>> = indices(&kernel.extents)
            .map(|index| {
                let axes = index.iter().zip(&kernel.extents);
                axes.map(|(at, extent)| at - (extent / 2) as i64).collect()
            })
            .collect();
        let times = Operator::binary(ScalarOp::Mul, &leaf);
        let plus = Callee::Operator(Operator::binary(ScalarOp::Add, &leaf), call.span);
        let zero = Val::of_scalar(number(0, scalar_type(&leaf)));
        let count = grid.elements.len();
        self.over_grid(&call, &grid.extents, count, |machine, mut collector, _, indices| {
            for centre in indices {
                let mut tree = Tree::default();
                for (at, offset) in offsets.iter().enumerate() {
                    let neighbour = machine.read_grid(&grid, &centre, offset, call.span)?;
                    let weighted =
                        times.apply(machine, &[kernel.elements.get(at), neighbour], call.span);
                    tree.push(machine, &plus, weighted)?;
                }
                let val = match tree.finish(machine, &plus)? {
                    Some(sum) => machine.apply(&plus, [zero.clone(), sum])?,
                    None => zero.clone(),
                };
                machine.collect(&mut collector, val)?;
            }
            Ok(machine.finish(collector))
        })
    }

    /// An argument that is a regular array, with its boundary.
    fn grid(
        &mut self,
        call: &mut Call<'_>,
        index: usize,
        boundary: &Rc<Boundary>,
    ) -> Outcome<Rc<Grid>> {
        let mut elements = call.array(index)?;
        let rank = call.param(index).rank();
        let extents = self.extents(call, &elements, rank)?;
        for depth in 1..rank {
            let ty = under(call.param(index), depth + 1);
            elements = self.concatenate_rows(&elements, ty, call.span)?;
        }
        Ok(Rc::new(Grid { elements, extents, boundary: Rc::clone(boundary) }))
    }

    /// The array of these extents whose elements `fill` collects, given the indices in order.
    fn over_grid(
        &mut self,
        call: &Call<'_>,
        extents: &[usize],
        count: usize,
        fill: impl FnOnce(&mut Self, Collector, &Type, Indices) -> Outcome<Elements>,
    ) -> Outcome<Val> {
        let ty: &Type = under(call.result(), extents.len());
        self.admit_elements(count as u128, ty, call.span)?;
        let collector = Collector::new(ty, call.span);
        let elements = fill(self, collector, ty, indices(extents))?;
        Ok(into_shape(elements, extents, call.result()))
    }

    /// What a function of `windows` windows was applied to; where that is nothing, with the extents that its rows have
    /// anyway.
    fn with_known_extents(
        &mut self,
        collector: Collector,
        ty: &Type,
        callee: &Callee,
        windows: usize,
    ) -> Outcome<Elements> {
        let elements = self.finish(collector);
        Ok(self.with_extents(elements, ty, |machine| {
            machine.known_of_call(callee, vec![Known::Nothing; windows])
        })?)
    }

    /// `w[offset]`.
    #[inline(never)]
    pub(crate) fn read_window(
        &mut self,
        window: &Node,
        offset: &[i64],
        span: Span,
    ) -> Result<Val, Unwind> {
        self.look(window, |machine, window| match window {
            Val::Window(window) => machine.read_grid(&window.grid, &window.centre, offset, span),
            error => Ok(error.clone()),
        })
    }

    /// The element at an offset from a centre, or what the boundary has there.
    fn read_grid(
        &mut self,
        grid: &Grid,
        centre: &[i64],
        offset: &[i64],
        span: Span,
    ) -> Result<Val, Unwind> {
        let mut position = 0;
        for ((at, by), extent) in centre.iter().zip(offset).zip(&grid.extents) {
            let index = at.saturating_add(*by);
            let index = match usize::try_from(index) {
                Ok(inside) if inside < *extent => inside,
                _ => match &*grid.boundary {
                    Boundary::Clamp => clamp(index, *extent),
                    Boundary::Mirror => mirror(index, *extent),
                    Boundary::Wrap => index.rem_euclid(*extent as i64) as usize,
                    Boundary::Constant(val) => return Ok(val.clone()),
                    Boundary::Outside(function) => {
                        return self.call(function, vec![shifted(centre, offset)], span);
                    }
                },
            };
            position = position * extent + index;
        }
        Ok(grid.elements.get(position))
    }
}

/// The boundary that an argument is.
fn boundary(val: Val) -> Outcome<Rc<Boundary>> {
    match val {
        Val::Boundary(boundary) => Ok(boundary),
        Val::Error(error) => Err(Stop::Error(error)),
        other => panic!("{other:?} is no boundary"),
    }
}

/// The nearest index inside.
fn clamp(index: i64, extent: usize) -> usize {
    index.clamp(0, extent as i64 - 1) as usize
}

/// The index inside that is reflected there; the edges are the mirrors.
fn mirror(index: i64, extent: usize) -> usize {
    if extent == 1 {
        return 0;
    }
    let last = extent as i64 - 1;
    let folded = index.rem_euclid(2 * last);
    folded.min(2 * last - folded) as usize
}

/// The index at an offset, as a value.
fn shifted(centre: &[i64], offset: &[i64]) -> Val {
    let mut parts: Vec<Val> =
        centre.iter().zip(offset).map(|(at, by)| Val::I64(at.saturating_add(*by))).collect();
    if parts.len() == 1 { parts.remove(0) } else { Val::tuple(parts) }
}

/// The indices of an array in row-major order.
struct Indices {
    extents: Vec<usize>,
    next: Option<Vec<i64>>,
}

fn indices(extents: &[usize]) -> Indices {
    let next = (!extents.contains(&0)).then(|| vec![0; extents.len()]);
    Indices { extents: extents.to_vec(), next }
}

impl Iterator for Indices {
    type Item = Vec<i64>;

    fn next(&mut self) -> Option<Vec<i64>> {
        let index = self.next.clone()?;
        let next = self.next.as_mut()?;
        let mut axis = next.len();
        loop {
            if axis == 0 {
                self.next = None;
                return Some(index);
            }
            axis -= 1;
            next[axis] += 1;
            if next[axis] < self.extents[axis] as i64 {
                return Some(index);
            }
            next[axis] = 0;
        }
    }
}
