//! What a statement of nested becomes: scalars are delayed, re-indexing makes views, and the rest goes
//! to [`super::collective`] and [`super::control`].

use std::rc::Rc;

use weft_ir::flat::{self, Dimension, Size};
use weft_ir::nested::{self, Operation};
use weft_ir::{Column, FaultKind, Scalar, ScalarOp, ScalarType};

use super::layout::parts_of;
use super::local::{folds_for_elements, is_local, is_scalar_code, scalars_of};
use super::scalar::{Definition, ScalarId};
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome, TOO_LONG, unsupported};

/// What is put together of more parts than this is stored: an element of it is a choice among all, and
/// towers of concatenations have exponentially many.
const MOST_PARTS: usize = 32;

/// The same where nothing can be stored.
const MOST_PARTS_OF_ELEMENT: usize = 1024;

impl<'p> Flattener<'p> {
    pub(super) fn statement(
        &mut self,
        statement: &'p nested::Statement,
    ) -> Outcome<Vec<Value<'p>>> {
        if self.is_too_long() {
            return unsupported(TOO_LONG, statement.span);
        }
        let (home, span) = (self.region, self.span);
        let one = |value| Ok(vec![value]);
        match &statement.operation {
            Operation::Scalar(ScalarOp::Ge, atoms) if self.asks_for_array(atoms) => {
                let length = self.scalar_atom(&atoms[0]);
                let there = self.scalars.constant(Scalar::Bool(true));
                one(Value::Scalar(match self.scalars.node(length).definition {
                    Definition::Checked(_, condition, kind) => {
                        self.scalars.checked(there, condition, kind, home, span)
                    }
                    _ => there,
                }))
            }
            Operation::Scalar(op, args) => {
                let args: Vec<_> = args.iter().map(|arg| self.scalar_atom(arg)).collect();
                one(Value::Scalar(self.scalar_operation(*op, &args)))
            }
            Operation::Random(kind, args) => {
                let args: Vec<_> = args.iter().map(|arg| self.scalar_atom(arg)).collect();
                one(Value::Scalar(self.scalars.random(*kind, &args, home, span)))
            }
            Operation::Assert { condition, kind, values } => {
                let condition = self.scalar_atom(condition);
                let values: Vec<Value<'p>> = values.iter().map(|atom| self.atom(atom)).collect();
                Ok(self.assert(condition, *kind, values))
            }
            Operation::If { condition, then, otherwise } => {
                let condition = self.scalar_atom(condition);
                let are_scalars = statement.results.iter().all(|(_, ty)| ty.rank == 0);
                self.conditional(condition, [then, otherwise], are_scalars)
            }
            Operation::While { .. } | Operation::For { .. } => self.repetition(statement),
            Operation::Call(function, _) => {
                let name = &self.program.functions[function.0 as usize].name;
                unsupported(format!("`{name}` calls itself in a way that is not compiled"), span)
            }
            Operation::Length(array) => {
                let array = self.array_atom(array);
                let length = self.length(&array);
                let length = self.length_scalar(length);
                self.lengths.extend(statement.results.iter().map(|(var, _)| *var));
                one(Value::Scalar(self.checked_as(length, &array)))
            }
            Operation::Index(array, indices) => {
                let mut value = Value::Array(self.array_atom(array));
                for index in indices {
                    let index = self.scalar_atom(index);
                    let array = self.array(value)?;
                    value = self.element(&array, index, span)?;
                }
                one(value)
            }
            Operation::Literal(atoms) => {
                let elements: Vec<Value<'p>> = atoms.iter().map(|atom| self.atom(atom)).collect();
                let ty = elements[0].ty(self).array();
                one(Value::Array(self.view(ty, Source::Literal(elements))))
            }
            Operation::Constant(column) => one(self.constant(column, statement.results[0].1)),
            Operation::Iota(length) => {
                let length = self.scalar_atom(length);
                let length = self.scalar_length(length);
                let ty = nested::Type::scalar(ScalarType::I64).array();
                one(Value::Array(self.view(ty, Source::Iota(length))))
            }
            Operation::Replicate(length, value) => {
                let length = self.scalar_atom(length);
                let length = self.scalar_length(length);
                let value = self.atom(value);
                let ty = value.ty(self).array();
                one(Value::Array(self.view(ty, Source::Replicate(length, value))))
            }
            Operation::Concat(first, second) => {
                let (first, second) = (self.part(first)?, self.part(second)?);
                one(Value::Array(self.view(first.ty, Source::Concat(first, second))))
            }
            Operation::Map(lambda, arrays) => {
                let arrays: Vec<_> = arrays.iter().map(|array| self.array_atom(array)).collect();
                if home.is_some() || self.delaying {
                    self.local_map(lambda, arrays)
                } else {
                    self.map_for_all_rows(lambda, arrays)
                }
            }
            Operation::Fold { operator, start, arrays } => {
                let arrays: Vec<_> = arrays.iter().map(|array| self.array_atom(array)).collect();
                if home.is_some() {
                    self.local_fold(operator, start, &arrays)
                } else {
                    self.fold(operator, start, &arrays)
                }
            }
            operation if home.is_some() => unsupported(
                format!(
                    "{} inside a condition, a loop or an operator of an element",
                    described(operation)
                ),
                span,
            ),
            Operation::Scan { form, from_right, operator, start, arrays } => {
                let arrays: Vec<_> = arrays.iter().map(|array| self.array_atom(array)).collect();
                self.scan((*form, *from_right), operator, start, &arrays)
            }
            Operation::Pack { flags, arrays } => {
                let flags = self.array_atom(flags);
                let arrays: Vec<_> = arrays.iter().map(|array| self.array_atom(array)).collect();
                self.pack(&flags, &arrays)
            }
            Operation::Scatter { destinations, indices, values, operator, drops } => {
                let destinations: Vec<_> =
                    destinations.iter().map(|array| self.array_atom(array)).collect();
                let indices = self.array_atom(indices);
                let values: Vec<_> = values.iter().map(|array| self.array_atom(array)).collect();
                self.scatter(&destinations, &indices, &values, operator.as_ref(), *drops)
            }
            Operation::Update { array, indices, value } => {
                let array = self.array_atom(array);
                let indices: Vec<_> = indices.iter().map(|index| self.scalar_atom(index)).collect();
                let value = self.atom(value);
                Ok(vec![self.update(&array, &indices, value)?])
            }
            Operation::SortOrder { keys, descending } => {
                let keys: Vec<_> = keys.iter().map(|array| self.array_atom(array)).collect();
                Ok(vec![self.sort_order(&keys, *descending)?])
            }
            Operation::Transpose(array) => {
                let array = self.array_atom(array);
                let ty = array.ty;
                let source = match self.row_length_here(&array)? {
                    Some(length) => Source::Transposed(array, Some(length)),
                    None if self.depth() > 0 && home.is_none() => {
                        let (matrix, length) = self.matrix(&array)?;
                        Source::Transposed(matrix, Some(length))
                    }
                    None => Source::Transposed(self.regular_rows(&array, 2)?, None),
                };
                one(Value::Array(self.view(ty, source)))
            }
            Operation::Reshape { array, from, extents } => {
                let array = self.array_atom(array);
                let extents: Vec<_> = extents.iter().map(|atom| self.scalar_atom(atom)).collect();
                Ok(vec![self.reshape(&array, *from, &extents, statement.results[0].1)?])
            }
            Operation::Extent(array, axis) => {
                let array = self.array_atom(array);
                let rows = if *axis > 0 { self.existence_of_rows(&array) } else { None };
                let extent = self.extent(&array, *axis)?;
                one(Value::Scalar(match rows {
                    None => extent,
                    Some(rows) => {
                        self.scalars.checked(extent, rows, FaultKind::IndexOutOfRange, home, span)
                    }
                }))
            }
            Operation::Flatten(array) => {
                let array = self.array_atom(array);
                Ok(vec![self.flattened(&array)?])
            }
            Operation::Segments(counts, array) => {
                let (counts, array) = (self.array_atom(counts), self.array_atom(array));
                Ok(vec![self.segments(&counts, &array)?])
            }
        }
    }

    /// An operator on scalars. The second operand of `&&` and `||` may be one that must not be looked at.
    fn scalar_operation(&mut self, op: ScalarOp, args: &[ScalarId]) -> ScalarId {
        match (op, args) {
            (ScalarOp::And, &[a, b]) if self.scalars.node(b).may_fail => {
                let no = self.scalars.constant(Scalar::Bool(false));
                self.select(a, b, no)
            }
            (ScalarOp::Or, &[a, b]) if self.scalars.node(b).may_fail => {
                let yes = self.scalars.constant(Scalar::Bool(true));
                self.select(a, yes, b)
            }
            (ScalarOp::Select, &[condition, a, b]) => self.select(condition, a, b),
            _ => self.scalars.op(op, args, self.region, self.span),
        }
    }

    /// A conditional, whose results may all be scalars.
    fn conditional(
        &mut self,
        condition: ScalarId,
        [then, otherwise]: [&'p nested::Body; 2],
        are_scalars: bool,
    ) -> Outcome<Vec<Value<'p>>> {
        match self.scalars.known_scalar(condition) {
            Some(Scalar::Bool(true)) => return self.body(then),
            Some(Scalar::Bool(false)) => return self.body(otherwise),
            _ => {}
        }
        if are_scalars && then.statements.is_empty() && otherwise.statements.is_empty() {
            let pairs = then.results.iter().zip(&otherwise.results);
            let selected = pairs.map(|(a, b)| {
                let (a, b) = (self.scalar_atom(a), self.scalar_atom(b));
                Value::Scalar(self.select(condition, a, b))
            });
            return Ok(selected.collect());
        }
        let again = !are_scalars && (folds_for_elements(then) || folds_for_elements(otherwise));
        let local = is_local(then) && is_local(otherwise) && (self.depth() == 0 || !again);
        let simple = local && are_scalars && is_scalar_code(then) && is_scalar_code(otherwise);
        let host = self.region.is_none() && self.scalars.depth(condition) == 0;
        if host && !simple {
            self.host_if(condition, then, otherwise)
        } else if self.region.is_none() && !local {
            self.divided_if(condition, then, otherwise)
        } else {
            self.local_if(condition, then, otherwise)
        }
    }

    /// One of two scalars; of what may fail only the chosen one is computed.
    pub(super) fn select(&mut self, condition: ScalarId, a: ScalarId, b: ScalarId) -> ScalarId {
        let fails = [a, b].iter().any(|&id| self.scalars.node(id).may_fail);
        match self.scalars.known_scalar(condition) {
            Some(Scalar::Bool(holds)) => return if holds { a } else { b },
            _ if a == b || !fails => {}
            _ => {
                let outer = self.region;
                let regions = (self.scalars.region(outer), self.scalars.region(outer));
                let (then, otherwise) = (vec![Value::Scalar(a)], vec![Value::Scalar(b)]);
                let joined = self.join(condition, (regions.0, then), (regions.1, otherwise));
                return scalars_of(joined)[0];
            }
        }
        self.op(ScalarOp::Select, &[condition, a, b])
    }

    /// The values, each with the check of a condition.
    pub(super) fn assert(
        &mut self,
        condition: ScalarId,
        kind: FaultKind,
        values: Vec<Value<'p>>,
    ) -> Vec<Value<'p>> {
        let (home, span) = (self.region, self.span);
        let everywhere = home.is_none();
        let mut checked = false;
        values
            .into_iter()
            .map(|value| match value {
                Value::Scalar(id) => {
                    Value::Scalar(self.scalars.checked(id, condition, kind, home, span))
                }
                Value::Array(view) if everywhere => {
                    if !checked {
                        self.check_everywhere(condition, kind);
                        checked = true;
                    }
                    Value::Array(view)
                }
                Value::Array(view) => {
                    let ty = view.ty;
                    Value::Array(self.view(ty, Source::Checked(view, condition, kind)))
                }
            })
            .collect()
    }

    /// The extent of an axis, regular as those before it.
    fn extent(&mut self, array: &Rc<View<'p>>, axis: usize) -> Outcome<ScalarId> {
        if axis == 1
            && let Some(length) = self.row_length_here(array)?
        {
            return Ok(self.length_scalar(length));
        }
        if axis == 1 && self.depth() > 0 && self.region.is_none() {
            let (_, length) = self.matrix(array)?;
            return Ok(self.length_scalar(length));
        }
        let array = self.regular_rows(array, axis + 1)?;
        let zero = self.scalars.integer(0);
        let mut value = Value::Array(array);
        for _ in 0..axis {
            let array = self.array(value)?;
            value = self.element_unchecked(&array, zero);
        }
        let array = self.array(value)?;
        let length = self.length(&array);
        Ok(self.length_scalar(length))
    }

    /// Whether a length is compared with 0, which says no more than that the array is a value.
    fn asks_for_array(&self, atoms: &[nested::Atom]) -> bool {
        matches!(atoms, [nested::Atom::Var(length), nested::Atom::Scalar(Scalar::I64(0))]
            if self.lengths.contains(length))
    }

    /// A scalar about an array, if that is a value.
    pub(super) fn checked_as(&mut self, scalar: ScalarId, array: &View<'p>) -> ScalarId {
        let Some(condition) = self.existence(array) else { return scalar };
        let (home, span) = (self.region, self.span);
        self.scalars.checked(scalar, condition, FaultKind::IndexOutOfRange, home, span)
    }

    /// A constant array.
    fn constant(&mut self, column: &Column, ty: nested::Type) -> Value<'p> {
        let mut axes = vec![Dimension::Dense(Size::Constant(column.len() as i64))];
        let mut column = column;
        let rebased;
        if !matches!(column, Column::Dense { .. } | Column::Ragged { .. }) {
            let var =
                self.constant_array(column.clone(), vec![Size::Constant(column.len() as i64)]);
            return self.stored_part(var, ty, Vec::new(), axes);
        }
        loop {
            match column {
                Column::Dense { extent, inner, .. } => {
                    axes.push(Dimension::Dense(Size::Constant(*extent as i64)));
                    column = inner;
                }
                Column::Ragged { offsets, inner } => {
                    let offsets = offsets.as_slice();
                    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
                    let based: Vec<i64> =
                        offsets.iter().map(|offset| (offset - first) as i64).collect();
                    let rows = Size::Constant(based.len() as i64);
                    let var = self.constant_array(Column::I64(based.into()), vec![rows]);
                    let total = Size::Constant((last - first) as i64);
                    axes.push(Dimension::Ragged { offsets: var, total });
                    if first != 0 || last != inner.len() {
                        rebased = inner.slice(first, last - first);
                        return self.constant_rest(rebased, axes, ty);
                    }
                    column = inner;
                }
                _ => {
                    let extents = flat::storage(&axes);
                    let var = self.constant_array(column.clone(), extents);
                    return self.stored_part(var, ty, Vec::new(), axes);
                }
            }
        }
    }

    /// The rest of a constant whose outer axes are known.
    fn constant_rest(
        &mut self,
        column: Column,
        mut axes: Vec<Dimension>,
        ty: nested::Type,
    ) -> Value<'p> {
        let inner = nested::Type { rank: ty.rank + 1 - axes.len(), element: ty.element };
        if inner.rank == 1 {
            let extents = flat::storage(&axes);
            let var = self.constant_array(column, extents);
            return self.stored_part(var, ty, Vec::new(), axes);
        }
        match self.constant(&column, inner) {
            Value::Array(view) => match &view.source {
                Source::Stored { var, axes: rest, .. } => {
                    axes.extend_from_slice(&rest[1..]);
                    self.stored_part(*var, ty, Vec::new(), axes)
                }
                _ => panic!("flatten: a constant is stored"),
            },
            Value::Scalar(_) => panic!("flatten: a constant is an array"),
        }
    }

    fn constant_array(&mut self, column: Column, extents: Vec<Size>) -> flat::Var {
        let element = column.scalar_type().expect("a column of scalars");
        let var = self.typed(flat::Type { element, extents });
        let (operation, span) = (flat::Operation::Constant(column), self.span);
        self.emit(flat::Statement { results: vec![var], operation, span });
        var
    }

    /// Whether the length is the same at all points.
    pub(super) fn uniform(length: Length) -> Option<Size> {
        match length {
            Length::Uniform(size) => Some(size),
            Length::Varying(_) => None,
        }
    }

    /// The same array with its first `axes` axes regular and of extents that the host knows.
    pub(super) fn regular(&mut self, array: &Rc<View<'p>>, axes: usize) -> Outcome<Rc<View<'p>>> {
        let outer = self.context.clone();
        let mut value = Value::Array(Rc::clone(array));
        let mut regular = true;
        for _ in 0..axes {
            let view = self.array(value)?;
            let length = self.length(&view);
            let Some(size) = Self::uniform(length) else {
                regular = false;
                break;
            };
            let index = self.enter(Dimension::Dense(size));
            if view.ty.rank == 1 {
                break;
            }
            value = self.element_unchecked(&view, index);
        }
        self.context = outer;
        if regular { Ok(Rc::clone(array)) } else { self.regularise(array, axes) }
    }
}

impl<'p> Flattener<'p> {
    /// An array whose first `axes` axes but the outermost are regular. How many rows there are may
    /// differ from point to point.
    pub(super) fn regular_rows(
        &mut self,
        array: &Rc<View<'p>>,
        axes: usize,
    ) -> Outcome<Rc<View<'p>>> {
        let length = self.length(array);
        if axes == 1 {
            return Ok(Rc::clone(array));
        }
        if Self::uniform(length).is_none() {
            let stored = self.materialise(array)?;
            let (_, dimensions) = parts_of(&stored);
            if dimensions[1..axes].iter().all(|axis| matches!(axis, Dimension::Dense(_))) {
                return Ok(stored);
            }
        }
        self.regular(array, axes)
    }

    /// An array to be a part of a concatenation.
    fn part(&mut self, atom: &nested::Atom) -> Outcome<Rc<View<'p>>> {
        let array = self.array_atom(atom);
        if self.region.is_some() || self.delaying {
            let too_many = parts(&array, MOST_PARTS_OF_ELEMENT) >= MOST_PARTS_OF_ELEMENT;
            return if too_many { unsupported(TOO_LONG, self.span) } else { Ok(array) };
        }
        if parts(&array, MOST_PARTS) < MOST_PARTS {
            return Ok(array);
        }
        let stored = self.materialise(&array)?;
        if let nested::Atom::Var(var) = atom {
            self.bind(*var, Value::Array(Rc::clone(&stored)));
        }
        Ok(stored)
    }
}

/// Among how many arrays an element of a view is chosen, if fewer than `most`.
fn parts(view: &View<'_>, most: usize) -> usize {
    match &view.source {
        Source::Concat(first, second) | Source::Choice(_, (_, first), (_, second), _) => {
            let number = parts(first, most);
            if number >= most { number } else { number + parts(second, most - number) }
        }
        Source::Transposed(inner, _)
        | Source::Column(inner, _)
        | Source::Gathered(_, inner)
        | Source::Checked(inner, ..) => parts(inner, most),
        Source::Stored { .. }
        | Source::Iota(_)
        | Source::Replicate(..)
        | Source::Literal(_)
        | Source::Delayed(..) => 1,
    }
}

/// What people call an operation.
fn described(operation: &Operation) -> &'static str {
    match operation {
        Operation::Scalar(..) | Operation::Random(..) => "a scalar operation",
        Operation::Assert { .. } => "a check",
        Operation::If { .. } => "a condition",
        Operation::While { .. } | Operation::For { .. } => "a loop",
        Operation::Call(..) => "a recursive call",
        Operation::Length(_) | Operation::Extent(..) => "a length",
        Operation::Index(..) => "indexing",
        Operation::Update { .. } => "replacing an element of an array",
        Operation::Literal(_) | Operation::Constant(_) => "an array literal",
        Operation::Iota(_) => "iota",
        Operation::Replicate(..) => "replicate",
        Operation::Map(..) => "a map",
        Operation::Fold { .. } => "a fold",
        Operation::Scan { .. } => "a scan",
        Operation::Pack { .. } => "a filter",
        Operation::Scatter { .. } => "a scatter",
        Operation::SortOrder { .. } => "sorting",
        Operation::Transpose(_) => "a transposition",
        Operation::Reshape { .. } => "reshaping",
        Operation::Flatten(_) => "flatten",
        Operation::Segments(..) => "segments",
        Operation::Concat(..) => "concatenation",
    }
}
