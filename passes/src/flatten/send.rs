//! Scatters and updates: elements go to places that other values name.

use std::rc::Rc;

use weft_ir::flat::{Dimension, Operation, Operator, Size, Statement};
use weft_ir::nested::{Lambda, Type};
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::collective::operator_of_elements;
use super::compile::Sharing;
use super::layout::parts_of;
use super::local::scalars_of;
use super::scalar::ScalarId;
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome, unsupported};

impl<'p> Flattener<'p> {
    pub(super) fn scatter(
        &mut self,
        destinations: &[Rc<View<'p>>],
        indices: &Rc<View<'p>>,
        values: &[Rc<View<'p>>],
        operator: Option<&'p Lambda>,
        drops: bool,
    ) -> Outcome<Vec<Value<'p>>> {
        let operator = match operator {
            None => None,
            Some(lambda) => {
                let Some((lambda, order)) = operator_of_elements(lambda) else {
                    let reason = "a scatter whose operator is not element by element";
                    return unsupported(reason, self.span);
                };
                Some(self.flat_operator(lambda, &order)?)
            }
        };
        let stored: Vec<Rc<View<'p>>> =
            destinations.iter().map(|array| self.materialise(array)).collect::<Outcome<_>>()?;
        if operator.is_none() {
            // Each by itself, for their elements may differ in rank.
            let mut results = Vec::new();
            for (destination, value) in stored.iter().zip(values) {
                if self.are_rows_of_any_length(destination, value)? {
                    results.push(self.scattered_rows(destination, indices, value, drops)?);
                    continue;
                }
                let one = self.scatter_joined(
                    std::slice::from_ref(destination),
                    indices,
                    std::slice::from_ref(value),
                    None,
                    drops,
                )?;
                results.extend(one);
            }
            return Ok(results);
        }
        self.scatter_joined(&stored, indices, values, operator, drops)
    }

    fn scatter_joined(
        &mut self,
        stored: &[Rc<View<'p>>],
        indices: &Rc<View<'p>>,
        values: &[Rc<View<'p>>],
        operator: Option<Operator>,
        drops: bool,
    ) -> Outcome<Vec<Value<'p>>> {
        let outer = self.context.clone();
        let length = self.length(&stored[0]);
        let mut sources = vec![Rc::clone(indices)];
        sources.extend(values.iter().cloned());
        let (_, index) = self.enter_arrays(&sources);
        let target = scalars_of(vec![self.element_unchecked(indices, index)])[0];
        let (zero, extent) = (self.scalars.integer(0), self.length_scalar(length));
        let low = self.op(ScalarOp::Ge, &[target, zero]);
        let high = self.op(ScalarOp::Lt, &[target, extent]);
        let mut fits = self.op(ScalarOp::And, &[low, high]);
        let minus_one = self.scalars.integer(-1);
        let dropped = self.op(ScalarOp::Eq, &[target, minus_one]);
        if drops {
            fits = self.op(ScalarOp::Or, &[fits, dropped]);
        }
        let span = self.span;
        let target = self.scalars.checked(target, fits, FaultKind::IndexOutOfRange, None, span);
        let elements: Vec<Value<'p>> =
            values.iter().map(|array| self.element_unchecked(array, index)).collect();
        let rows: Vec<Value<'p>> =
            stored.iter().map(|array| self.element_unchecked(array, target)).collect();
        let results =
            self.write(stored, rows, elements, operator, drops.then_some((dropped, minus_one)));
        self.context = outer;
        results
    }

    /// Writes values over the current space to where parts of stored arrays are. Rows are written
    /// element by element; several components have the same extents.
    fn write(
        &mut self,
        stored: &[Rc<View<'p>>],
        targets: Vec<Value<'p>>,
        values: Vec<Value<'p>>,
        operator: Option<Operator>,
        dropped: Option<(ScalarId, ScalarId)>,
    ) -> Outcome<Vec<Value<'p>>> {
        let (mut targets, mut values) = (targets, values);
        while let Value::Array(part) = &targets[0] {
            let of_target = self.length(part);
            let Length::Uniform(size) = of_target else {
                return unsupported("replacing rows of a ragged array", self.span);
            };
            let mut rows = Vec::new();
            for row in targets.iter().chain(&values) {
                let row = self.array(row.clone())?;
                let length = self.length(&row);
                self.check_equal(of_target, length);
                // Rows without elements are written nowhere: their places are looked at by themselves.
                self.check_without_elements(&row, Dimension::Dense(size));
                rows.push(row);
            }
            let index = self.enter(Dimension::Dense(size));
            let elements = rows.iter().map(|row| self.element_unchecked(row, index));
            targets = elements.collect();
            values = targets.split_off(stored.len());
        }
        let place = scalars_of(targets)[0];
        let mut wanted = self.storage_indices(place);
        if let Some((dropped, minus_one)) = dropped {
            wanted[0] = self.op(ScalarOp::Select, &[dropped, minus_one, wanted[0]]);
        }
        wanted.extend(scalars_of(values));
        let space = self.context.space.clone();
        let thunk = self.thunk(&wanted, space.len(), Sharing::Store);
        let mut results = Vec::new();
        let mut vars = Vec::new();
        for array in stored {
            let (var, axes) = parts_of(array);
            let ty = self.types[var.0 as usize].clone();
            let result = self.typed(ty);
            let Source::Stored { prefix, .. } = &array.source else {
                panic!("flatten: materialise stores")
            };
            vars.push((var, result));
            let view =
                self.view(array.ty, Source::Stored { var: result, prefix: prefix.clone(), axes });
            results.push(Value::Array(view));
        }
        self.written.extend(vars.iter().map(|(var, _)| *var));
        let operation = Operation::Scatter {
            space,
            thunk,
            destinations: vars.iter().map(|(var, _)| *var).collect(),
            operator,
        };
        let span = self.span;
        let vars = vars.into_iter().map(|(_, result)| result).collect();
        self.emit(Statement { results: vars, operation, span });
        Ok(results)
    }

    /// The storage indices of an element of a stored array.
    pub(super) fn storage_indices(&self, element: ScalarId) -> Vec<ScalarId> {
        match &self.scalars.node(element).definition {
            super::scalar::Definition::Read(_, index) => index.clone(),
            _ => panic!("flatten: an element of a stored array is a read"),
        }
    }

    pub(super) fn update(
        &mut self,
        array: &Rc<View<'p>>,
        indices: &[ScalarId],
        value: Value<'p>,
    ) -> Outcome<Value<'p>> {
        if let (&[index], Value::Array(row)) = (indices, &value)
            && self.rows_may_differ(array, row)?
        {
            return self.replaced_row(array, index, row);
        }
        let stored = self.materialise(array)?;
        let outer = self.context.clone();
        // One point.
        self.enter(Dimension::Dense(Size::Constant(1)));
        let mut target = Value::Array(Rc::clone(&stored));
        for &index in indices {
            let view = self.array(target)?;
            let span = self.span;
            target = self.element(&view, index, span)?;
        }
        let results = self.write(&[stored], vec![target], vec![value], None, None);
        self.context = outer;
        Ok(results?.remove(0))
    }

    /// Whether arrays hold rows, of which some may differ in their extents.
    fn are_rows_of_any_length(
        &mut self,
        array: &Rc<View<'p>>,
        rows: &Rc<View<'p>>,
    ) -> Outcome<bool> {
        let outer = self.context.clone();
        // Any row: its index is not looked at.
        let index = self.enter(Dimension::Dense(Size::Constant(1)));
        let differ = match self.element_unchecked(rows, index) {
            Value::Array(row) => self.rows_may_differ(array, &row),
            Value::Scalar(_) => Ok(false),
        };
        self.context = outer;
        differ
    }

    /// Whether the rows of an array may have other extents than a row that is to replace one of them.
    /// Extents that are alike at all points are taken to agree, which is checked.
    fn rows_may_differ(&mut self, array: &View<'p>, row: &Rc<View<'p>>) -> Outcome<bool> {
        let outer = self.context.clone();
        // Any row: its index is not looked at.
        let index = self.enter(Dimension::Dense(Size::Constant(1)));
        let mut pair = (self.element_unchecked(array, index), Value::Array(Rc::clone(row)));
        let mut differ = false;
        while let (Value::Array(old), Value::Array(new)) = &pair {
            differ |= match (self.length(old), self.length(new)) {
                (Length::Uniform(Size::Constant(old)), Length::Uniform(Size::Constant(new))) => {
                    old != new
                }
                (Length::Uniform(_), Length::Uniform(_)) => false,
                (Length::Varying(_), _) | (_, Length::Varying(_)) => true,
            };
            if differ {
                break;
            }
            let index = self.enter(Dimension::Dense(Size::Constant(1)));
            pair = (self.element_unchecked(old, index), self.element_unchecked(new, index));
        }
        self.context = outer;
        Ok(differ)
    }

    /// An array with another row, of any length, at an index.
    fn replaced_row(
        &mut self,
        array: &Rc<View<'p>>,
        place: ScalarId,
        row: &Rc<View<'p>>,
    ) -> Outcome<Value<'p>> {
        let length = self.length(array);
        let (zero, length) = (self.scalars.integer(0), self.length_scalar(length));
        let low = self.op(ScalarOp::Ge, &[place, zero]);
        let high = self.op(ScalarOp::Lt, &[place, length]);
        let fits = self.op(ScalarOp::And, &[low, high]);
        self.check_everywhere(fits, FaultKind::IndexOutOfRange);
        self.chosen_rows(
            array,
            |flattener, index| flattener.op(ScalarOp::Eq, &[index, place]),
            |_, _| Value::Array(Rc::clone(row)),
        )
    }

    /// Rows of any lengths sent to their places: first the number of the row that each place gets.
    fn scattered_rows(
        &mut self,
        destination: &Rc<View<'p>>,
        indices: &Rc<View<'p>>,
        rows: &Rc<View<'p>>,
        drops: bool,
    ) -> Outcome<Value<'p>> {
        let ty = Type::scalar(ScalarType::I64).array();
        let none = Value::Scalar(self.scalars.integer(-1));
        let length = self.length(destination);
        let none = self.view(ty, Source::Replicate(length, none));
        let none = self.materialise(&none)?;
        let count = self.length(rows);
        let numbers = self.view(ty, Source::Iota(count));
        let sources = self.scatter_joined(&[none], indices, &[numbers], None, drops)?.remove(0);
        let sources = self.array(sources)?;
        self.chosen_rows(
            destination,
            |flattener, index| {
                let source = scalars_of(vec![flattener.element_unchecked(&sources, index)])[0];
                let zero = flattener.scalars.integer(0);
                flattener.op(ScalarOp::Ge, &[source, zero])
            },
            |flattener, index| {
                let source = scalars_of(vec![flattener.element_unchecked(&sources, index)])[0];
                flattener.element_unchecked(rows, source)
            },
        )
    }

    /// An array with other rows, of any lengths, where a condition on their index holds.
    fn chosen_rows(
        &mut self,
        array: &Rc<View<'p>>,
        replaced: impl FnOnce(&mut Self, ScalarId) -> ScalarId,
        row: impl FnOnce(&mut Self, ScalarId) -> Value<'p>,
    ) -> Outcome<Value<'p>> {
        let outer = self.context.clone();
        let (dimension, index) = self.enter_array(array);
        let replaced = replaced(self, index);
        let chosen = self.branch(
            replaced,
            None,
            |flattener| row(flattener, index),
            |flattener| flattener.element_unchecked(array, index),
        );
        let chosen = self.array(chosen)?;
        let stored = self.materialise(&chosen)?;
        self.context = outer;
        let (var, inner) = parts_of(&stored);
        Ok(self.under(dimension, array.ty, var, &inner))
    }
}
