//! Conditionals of the host, whose branches are blocks, and what they have in common with its loops: blocks, and the
//! layouts of results and state, which are stored arrays.
//!
//! Note [Common layouts]. An array that two branches yield, or that a loop carries, needs one layout. An
//! axis is *fixed* if its extent is known outside, *carried* if its extent is a scalar that travels
//! with the array, *ragged* if its descriptor does. A conditional takes the least general layout
//! that both branches have. A loop starts with the layout of the initial state, with all extents
//! fixed; where the body's result does not fit, the axis becomes more general and the body is
//! flattened again.

use std::collections::{HashMap, HashSet};

use weft_ir::flat::{Block, Dimension, Operation, Size, Statement, Type, Var, storage};
use weft_ir::nested::{self, Body};
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::layout::parts_of;
use super::scalar::ScalarId;
use super::view::{MOST_STEPS, Source, Value};
use super::{Flattener, Outcome};

/// An axis in a layout (Note [Common layouts]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Fixed(Size),
    Carried,
    Ragged,
}

/// The layout of a leaf: its type and axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    ty: nested::Type,
    pub(super) axes: Vec<Axis>,
}

impl<'p> Flattener<'p> {
    /// A conditional of the host.
    pub(super) fn host_if(
        &mut self,
        condition: ScalarId,
        then: &'p Body,
        otherwise: &'p Body,
    ) -> Outcome<Vec<Value<'p>>> {
        // What may fail is computed where it is needed (Note [A check belongs to a value]).
        self.store_free(&[then, otherwise], false);
        self.store_needed(condition, &[then, otherwise]);
        let may_fail = self.may_be_error(condition, MOST_STEPS);
        let condition = self.host_scalar(condition);
        if may_fail && then.results.iter().any(|result| self.atom_type(result).rank > 0) {
            // What is known of the arrays whatever it is, as a common length, relies on it.
            let (value, span) = (self.scalars.host(condition, ScalarType::Bool), self.span);
            let there = self.scalars.op(ScalarOp::Eq, &[value, value], None, span);
            self.check(there, FaultKind::AssertionFailed);
        }
        let before = self.types.len() as u32;
        let mut branches = Vec::new();
        for body in [then, otherwise] {
            self.open();
            let values = self.body(body).and_then(|values| self.stored_values(values));
            let statements = self.close();
            branches.push((values?, statements));
        }
        let layouts: Vec<Layout> = branches[0]
            .0
            .iter()
            .zip(&branches[1].0)
            .map(|(a, b)| self.joined_layout(a, b, before))
            .collect();
        let mut blocks = Vec::new();
        for (values, statements) in branches {
            self.open_again(statements);
            let results = self.converted_all(&values, &layouts);
            let statements = self.close();
            blocks.push(Block { statements, results });
        }
        let (results, values) = self.carriers(&layouts);
        let otherwise = blocks.pop().expect("two blocks");
        let then = blocks.pop().expect("two blocks");
        let operation = Operation::If { condition, then, otherwise };
        let span = self.span;
        self.emit(Statement { results, operation, span });
        Ok(values)
    }

    /// Stores the scalars from outside that bodies use, so that these do not compute them again; those
    /// that may fail too, if it is said so.
    pub(super) fn store_free(&mut self, bodies: &[&'p Body], fallible: bool) {
        for var in nested::free_variables(bodies) {
            if let Some(Value::Scalar(id)) = self.bound.get(&var) {
                let node = self.scalars.node(*id);
                let wanted = node.home.is_none() && node.stored.is_none() && node.cost > 1;
                if wanted && (fallible || !node.may_fail) && node.depth <= self.depth() {
                    let id = *id;
                    self.store(&[id], super::compile::Sharing::Store);
                }
            }
        }
    }

    /// Stores the scalars that a condition needs, that its branches use, and that are results of loops, or elements of arrays
    /// which something has been written to since: a branch that reads such an array keeps it from being written to where it
    /// is.
    fn store_needed(&mut self, condition: ScalarId, branches: &[&'p Body]) {
        let wanted = |var: &nested::Var| match self.bound.get(var) {
            Some(&Value::Scalar(id)) => {
                let again = self.scalars.is_loop(id) || self.scalars.reads_any(id, &self.written);
                (again && self.scalars.depth(id) == 0).then_some(id)
            }
            Some(Value::Array(_)) | None => None,
        };
        let free = nested::free_variables(branches);
        let wanted: Vec<ScalarId> = free.iter().filter_map(wanted).collect();
        if wanted.is_empty() {
            return;
        }
        let needed = self.scalars.needed_for(condition);
        for id in wanted.into_iter().filter(|id| needed.contains(id)) {
            // Where one of these checks fails, the condition has no value either.
            let value = self.checked_now(id);
            self.store(&[value], super::compile::Sharing::Store);
        }
    }

    /// Stores the scalars that are put behind arrays, as `x` in `(xs ++ [x], ys ++ [y])`, and that are made of elements of
    /// another array which something is put behind: its reader would keep that from growing where it is.
    pub(super) fn store_appended(&mut self, results: &[Value<'p>]) {
        let appended = |result: &Value<'p>| {
            let Value::Array(view) = result else { return None };
            let Source::Concat(first, second) = &view.source else { return None };
            match (&first.source, &second.source) {
                (Source::Stored { var, prefix, .. }, Source::Literal(elements))
                    if prefix.is_empty() =>
                {
                    let scalars = elements.iter().filter_map(|element| match element {
                        Value::Scalar(id) => Some(*id),
                        Value::Array(_) => None,
                    });
                    Some((*var, scalars.collect::<Vec<_>>()))
                }
                _ => None,
            }
        };
        let appended: Vec<(Var, Vec<ScalarId>)> = results.iter().filter_map(appended).collect();
        for (own, scalars) in &appended {
            let vars = appended.iter().map(|(var, _)| *var);
            let others: HashSet<Var> = vars.filter(|var| var != own).collect();
            for id in scalars {
                let node = self.scalars.node(*id);
                let is_of_host = node.depth == 0 && node.home.is_none() && node.stored.is_none();
                if is_of_host && self.scalars.reads_any(*id, &others) {
                    let value = self.checked_now(*id);
                    self.store(&[value], super::compile::Sharing::Store);
                }
            }
        }
    }

    /// The values, all stored over the current context.
    pub(super) fn stored_values(&mut self, values: Vec<Value<'p>>) -> Outcome<Vec<Value<'p>>> {
        let mut stored = Vec::new();
        for value in values {
            stored.push(match value {
                Value::Array(view) => Value::Array(self.materialise(&view)?),
                Value::Scalar(id) => {
                    let ty = nested::Type::scalar(self.scalars.ty(id));
                    let var = self.store_here(id);
                    let prefix = self.identity();
                    self.stored_part(var, ty, prefix, Vec::new())
                }
            });
        }
        Ok(stored)
    }

    /// The layout of a stored value, as seen from before variable `before` was made.
    pub(super) fn layout(&self, value: &Value<'p>, before: u32) -> Layout {
        let Value::Array(view) = value else {
            return Layout { ty: value.ty(self), axes: Vec::new() };
        };
        let axes = parts_of(view).1.into_iter().map(|axis| match axis {
            Dimension::Ragged { .. } => Axis::Ragged,
            Dimension::Dense(size) => match self.same_size(size) {
                Size::Var(var) if var.0 >= before => Axis::Carried,
                size => Axis::Fixed(size),
            },
        });
        Layout { ty: view.ty, axes: axes.collect() }
    }

    /// A layout with the sizes of another, where checks have shown theirs to be equal.
    pub(super) fn in_sizes_of(&self, known: &Layout, found: &Layout) -> Layout {
        let axes = known.axes.iter().zip(&found.axes).map(|axes| match axes {
            (Axis::Fixed(known), Axis::Fixed(found)) if self.same_size(*known) == *found => {
                Axis::Fixed(*known)
            }
            (_, found) => *found,
        });
        Layout { ty: found.ty, axes: axes.collect() }
    }

    fn joined_layout(&self, a: &Value<'p>, b: &Value<'p>, before: u32) -> Layout {
        more_general(&self.layout(a, before), &self.layout(b, before))
    }

    /// Fresh variables for values of these layouts, and the values.
    pub(super) fn carriers(&mut self, layouts: &[Layout]) -> (Vec<Var>, Vec<Value<'p>>) {
        let mut vars = Vec::new();
        let mut values = Vec::new();
        let integer = |flattener: &mut Self| {
            flattener.typed(Type { element: ScalarType::I64, extents: Vec::new() })
        };
        for layout in layouts {
            let mut extents = storage(&self.context.space);
            let mut axes = Vec::new();
            for axis in &layout.axes {
                match *axis {
                    Axis::Fixed(size) => {
                        extents.push(size);
                        axes.push(Dimension::Dense(size));
                    }
                    Axis::Carried => {
                        let size = integer(self);
                        vars.push(size);
                        extents.push(Size::Var(size));
                        axes.push(Dimension::Dense(Size::Var(size)));
                    }
                    Axis::Ragged => {
                        let (ends, total) = (integer(self), integer(self));
                        let offsets = self.typed(Type {
                            element: ScalarType::I64,
                            extents: vec![Size::Var(ends)],
                        });
                        vars.extend([ends, total, offsets]);
                        extents = vec![Size::Var(total)];
                        axes.push(Dimension::Ragged { offsets, total: Size::Var(total) });
                    }
                }
            }
            let data = self.typed(Type { element: layout.ty.element, extents });
            vars.push(data);
            let prefix = self.identity();
            values.push(self.stored_part(data, layout.ty, prefix, axes));
        }
        (vars, values)
    }

    /// The variables that hold values in these layouts, in the order of [`Self::carriers`].
    pub(super) fn converted_all(&mut self, values: &[Value<'p>], layouts: &[Layout]) -> Vec<Var> {
        let mut vars = Vec::new();
        for (value, layout) in values.iter().zip(layouts) {
            match value {
                Value::Scalar(id) => vars.push(self.store_here(*id)),
                Value::Array(view) => {
                    let (var, axes) = parts_of(view);
                    self.converted(var, &axes, layout, &mut vars);
                }
            }
        }
        vars
    }

    fn converted(&mut self, var: Var, axes: &[Dimension], layout: &Layout, vars: &mut Vec<Var>) {
        let mut extents = storage(&self.context.space);
        let mut rows = self.product(&extents);
        for (axis, wanted) in axes.iter().zip(&layout.axes) {
            match (*axis, wanted) {
                (Dimension::Dense(_), Axis::Fixed(size)) => {
                    extents.push(*size);
                    rows = self.product(&[rows, *size]);
                }
                (Dimension::Dense(size), Axis::Carried) => {
                    let scalar = self.scalars.size(size);
                    vars.push(self.host_scalar(scalar));
                    extents.push(size);
                    rows = self.product(&[rows, size]);
                }
                (Dimension::Dense(size), Axis::Ragged) => {
                    let offsets = self.new_offsets(rows, |flattener, row| {
                        let size = flattener.scalars.size(size);
                        flattener.op(ScalarOp::Mul, &[row, size])
                    });
                    let total = self.product(&[rows, size]);
                    self.push_descriptor(rows, offsets, total, vars);
                    extents = vec![total];
                    rows = total;
                }
                (Dimension::Ragged { offsets, total }, _) => {
                    self.push_descriptor(rows, offsets, total, vars);
                    extents = vec![total];
                    rows = total;
                }
            }
        }
        vars.push(self.reshaped(var, extents));
    }

    fn push_descriptor(&mut self, rows: Size, offsets: Var, total: Size, vars: &mut Vec<Var>) {
        let ends = self.size_plus(rows, 1);
        let (ends, total) = (self.scalars.size(ends), self.scalars.size(total));
        let (ends, total) = (self.host_scalar(ends), self.host_scalar(total));
        vars.extend([ends, total, offsets]);
    }

    /// Opens a block of the host.
    pub(super) fn open(&mut self) {
        self.open_again(Vec::new());
    }

    /// Opens a block that has statements already.
    fn open_again(&mut self, statements: Vec<Statement>) {
        self.blocks.push(statements);
        self.stored.push(Vec::new());
        self.checked.push(HashSet::new());
        self.extents.push(HashSet::new());
        self.descriptors.push(HashMap::new());
        self.equal_before.push(self.equal.clone());
    }

    /// Closes a block: what it stored and checked is not known outside.
    pub(super) fn close(&mut self) -> Vec<Statement> {
        for id in self.stored.pop().expect("a block is open") {
            self.scalars.node_mut(id).stored = None;
        }
        self.checked.pop();
        self.extents.pop();
        self.descriptors.pop();
        self.equal = self.equal_before.pop().expect("a block is open");
        self.blocks.pop().expect("a block is open")
    }
}

/// The least general layout that both fit (Note [Common layouts]).
pub(super) fn more_general(a: &Layout, b: &Layout) -> Layout {
    let axes = a.axes.iter().zip(&b.axes).map(|(a, b)| match (a, b) {
        (Axis::Ragged, _) | (_, Axis::Ragged) => Axis::Ragged,
        (Axis::Fixed(a), Axis::Fixed(b)) if a == b => Axis::Fixed(*a),
        _ => Axis::Carried,
    });
    Layout { ty: a.ty, axes: axes.collect() }
}
