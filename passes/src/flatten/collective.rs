//! Collective operations: over the context's space with one more dimension.

use std::rc::Rc;

use weft_ir::flat::{Dimension, Operation, Operator, Size, Start, Statement, Type, Var, storage};
use weft_ir::nested::{self, Atom, Lambda, ScanForm};
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::compile::Sharing;
use super::local::scalars_of;
use super::scalar::ScalarId;
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome, unsupported};

impl<'p> Flattener<'p> {
    pub(super) fn map(
        &mut self,
        lambda: &'p Lambda,
        arrays: Vec<Rc<View<'p>>>,
    ) -> Outcome<Vec<Value<'p>>> {
        let outer = self.context.clone();
        let (dimension, index) = self.enter_arrays(&arrays);
        for (&(var, _), array) in lambda.params.iter().zip(&arrays) {
            let element = self.element_unchecked(array, index);
            self.bind(var, element);
        }
        let results = self.body(&lambda.body)?;
        // Arrays first: what they need of the scalars, the scalars' own code may then read.
        let mut stored = Vec::new();
        for result in &results {
            stored.push(match result {
                Value::Scalar(_) => None,
                Value::Array(view) => Some(self.materialise(view)?),
            });
        }
        let scalars: Vec<ScalarId> = results
            .iter()
            .filter_map(|result| match result {
                Value::Scalar(id) => Some(*id),
                Value::Array(_) => None,
            })
            .collect();
        let mut vars = self.store_all_here(&scalars).into_iter();
        self.context = outer;
        let types: Vec<nested::Type> = results.iter().map(|result| result.ty(self)).collect();
        Ok(stored
            .into_iter()
            .zip(types)
            .map(|(stored, ty)| {
                let (var, inner) = match &stored {
                    None => (vars.next().expect("one per scalar"), Vec::new()),
                    Some(view) => parts_of(view),
                };
                self.under(dimension, ty.array(), var, &inner)
            })
            .collect())
    }

    pub(super) fn fold(
        &mut self,
        operator: &'p Lambda,
        start: &'p nested::Start<Vec<Atom>>,
        arrays: &[Rc<View<'p>>],
    ) -> Outcome<Vec<Value<'p>>> {
        let starts: Vec<Value<'p>> = match start {
            nested::Start::None => Vec::new(),
            nested::Start::Combined(atoms) | nested::Start::IfEmpty(atoms) => {
                atoms.iter().map(|atom| self.atom(atom)).collect()
            }
        };
        if matches!(start, nested::Start::None) {
            let length = self.length(&arrays[0]);
            let (length, zero) = (self.length_scalar(length), self.scalars.integer(0));
            let some = self.op(ScalarOp::Gt, &[length, zero]);
            self.check_everywhere(some, FaultKind::EmptyArray);
        }
        let outer = self.context.clone();
        let Some((lambda, rows)) = self.enter_rows(operator, arrays, &starts)? else {
            return unsupported("a fold whose operator is not element by element", self.span);
        };
        let inner = self.context.clone();
        let starts = rows.starts.clone();
        let start_thunk = self.thunk(&starts, self.depth(), Sharing::Store);
        let (_, index) = self.enter_arrays(arrays);
        let elements = self.row_elements(arrays, index, &rows.indices);
        let space = self.context.space.clone();
        let thunk = self.thunk(&elements, space.len(), Sharing::Store);
        self.context = inner;
        let operator = self.flat_operator(lambda, &rows.order)?;
        let start = match start {
            nested::Start::None => Start::None,
            nested::Start::Combined(_) => Start::Combined(start_thunk),
            nested::Start::IfEmpty(_) => Start::IfEmpty(start_thunk),
        };
        let outer_space = self.context.space.clone();
        let results: Vec<Var> =
            arrays.iter().map(|array| self.array_over(&outer_space, array.ty.element)).collect();
        let operation = Operation::Reduce { space, thunk, operator, start };
        let span = self.span;
        self.emit(Statement { results: results.clone(), operation, span });
        self.context = outer;
        let prefix = self.identity();
        Ok(results
            .into_iter()
            .zip(arrays)
            .map(|(var, array)| {
                let ty = array.ty.element();
                self.stored_part(var, ty, prefix.clone(), rows.dimensions.clone())
            })
            .collect())
    }

    pub(super) fn scan(
        &mut self,
        (form, from_right): (ScanForm, bool),
        operator: &'p Lambda,
        start: &'p nested::Start<Vec<Atom>>,
        arrays: &[Rc<View<'p>>],
    ) -> Outcome<Vec<Value<'p>>> {
        let starts: Vec<Value<'p>> = match start {
            nested::Start::None => Vec::new(),
            nested::Start::Combined(atoms) | nested::Start::IfEmpty(atoms) => {
                atoms.iter().map(|atom| self.atom(atom)).collect()
            }
        };
        let outer = self.context.clone();
        let Some((lambda, rows)) = self.enter_rows(operator, arrays, &starts)? else {
            return unsupported("a scan whose operator is not element by element", self.span);
        };
        if rows.dimensions.len() > 1 {
            return unsupported("a scan of arrays of arrays", self.span);
        }
        let inner = self.context.clone();
        let start_thunk = self.thunk(&rows.starts.clone(), self.depth(), Sharing::Store);
        let (dimension, index) = self.enter_arrays(arrays);
        let elements = self.row_elements(arrays, index, &rows.indices);
        let space = self.context.space.clone();
        let thunk = self.thunk(&elements, space.len(), Sharing::Store);
        self.context = inner;
        let full = match form {
            ScanForm::Full => Some(self.one_more(dimension)),
            ScanForm::Inclusive | ScanForm::Exclusive => None,
        };
        let operator = self.flat_operator(lambda, &rows.order)?;
        let mut result_space = self.context.space.clone();
        result_space.push(full.unwrap_or(dimension));
        let results: Vec<Var> =
            arrays.iter().map(|array| self.array_over(&result_space, array.ty.element)).collect();
        let start = match start {
            nested::Start::None => Start::None,
            nested::Start::Combined(_) | nested::Start::IfEmpty(_) => Start::Combined(start_thunk),
        };
        let operation = Operation::Scan { space, thunk, form, from_right, operator, start, full };
        let span = self.span;
        self.emit(Statement { results: results.clone(), operation, span });
        self.context = outer;
        let axes: Vec<Dimension> =
            rows.dimensions.iter().copied().chain([full.unwrap_or(dimension)]).collect();
        let prefix = self.identity();
        Ok(results
            .into_iter()
            .zip(arrays)
            .map(|(var, array)| {
                let value = self.stored_part(var, array.ty, prefix.clone(), axes.clone());
                match value {
                    // Rows were scanned column by column.
                    Value::Array(view) if !rows.dimensions.is_empty() => {
                        Value::Array(self.view(array.ty, Source::Transposed(view)))
                    }
                    value => value,
                }
            })
            .collect())
    }

    /// The dimension with one more element a row.
    fn one_more(&mut self, dimension: Dimension) -> Dimension {
        match dimension {
            Dimension::Dense(size) => Dimension::Dense(self.size_plus(size, 1)),
            Dimension::Ragged { offsets, total } => {
                let rows = self.rows();
                let outer = std::mem::take(&mut self.context);
                let extent = self.types[offsets.0 as usize].extents[0];
                let row = self.enter(Dimension::Dense(extent));
                let span = self.span;
                let offset = self.scalars.read(offsets, ScalarType::I64, &[row], None, span);
                let shifted = self.op(ScalarOp::Add, &[offset, row]);
                let offsets = self.store_here(shifted);
                self.context = outer;
                let (total, rows) = (self.scalars.size(total), self.scalars.size(rows));
                let total = self.scalars.op(ScalarOp::Add, &[total, rows], None, span);
                Dimension::Ragged { offsets, total: self.host_size(total) }
            }
        }
    }

    /// For a fold of arrays by an operator that works element by element: enters the axes of the
    /// elements, so that each of their positions is a fold of scalars. None if the operator is no
    /// such one; for a fold of scalars there is nothing to enter.
    fn enter_rows(
        &mut self,
        operator: &'p Lambda,
        arrays: &[Rc<View<'p>>],
        starts: &[Value<'p>],
    ) -> Outcome<Option<(&'p Lambda, Rows)>> {
        let rank = arrays[0].ty.rank - 1;
        let mut rows = Rows {
            order: (0..operator.params.len()).collect(),
            dimensions: Vec::new(),
            indices: Vec::new(),
            starts: Vec::new(),
        };
        if arrays.iter().any(|array| array.ty.rank != rank + 1) {
            return Ok(None);
        }
        let mut lambda = operator;
        for _ in 0..rank {
            let Some((inner, order)) = element_by_element(lambda) else { return Ok(None) };
            rows.order = order.into_iter().map(|position| rows.order[position]).collect();
            lambda = inner;
        }
        let mut values: Vec<Value<'p>> = starts.to_vec();
        if rank > 0 {
            for array in arrays {
                let regular = self.regular(array, rank + 1)?;
                if !Rc::ptr_eq(&regular, array) {
                    return unsupported(
                        "a fold of rows that are not known to be regular",
                        self.span,
                    );
                }
            }
            let zero = self.scalars.integer(0);
            let mut row = self.element_unchecked(&arrays[0], zero);
            for _ in 0..rank {
                let view = self.array(row)?;
                let mut length = self.length(&view);
                let mut next = Vec::new();
                if let Some(Value::Array(start)) = values.first() {
                    // The start values have the extents also where there is no row.
                    let of_start = self.length(start);
                    self.check_equal(of_start, length);
                    length = of_start;
                }
                let Length::Uniform(size) = length else {
                    return unsupported("a fold of ragged rows", self.span);
                };
                let index = self.enter(Dimension::Dense(size));
                for value in values {
                    let array = self.array(value)?;
                    next.push(self.element_unchecked(&array, index));
                }
                values = next;
                rows.dimensions.push(Dimension::Dense(size));
                rows.indices.push(index);
                row = self.element_unchecked(&view, index);
            }
        }
        rows.starts = scalars_of(values);
        Ok(Some((lambda, rows)))
    }

    /// The elements at an index and at positions within them.
    fn row_elements(
        &mut self,
        arrays: &[Rc<View<'p>>],
        index: ScalarId,
        positions: &[ScalarId],
    ) -> Vec<ScalarId> {
        let elements = arrays
            .iter()
            .map(|array| {
                let mut value = self.element_unchecked(array, index);
                for &position in positions {
                    if let Value::Array(row) = value {
                        value = self.element_unchecked(&row, position);
                    }
                }
                value
            })
            .collect();
        scalars_of(elements)
    }

    /// An operator of scalars; `order` says which parameter of it stands where in the lambda.
    fn flat_operator(&mut self, lambda: &'p Lambda, order: &[usize]) -> Outcome<Operator> {
        let outer = self.region;
        let region = self.scalars.region(outer);
        let types: Vec<ScalarType> = lambda.params.iter().map(|(_, ty)| ty.element).collect();
        let mut params = vec![ScalarId(0); types.len()];
        for (&(var, ty), &position) in lambda.params.iter().zip(order) {
            let id = self.scalars.param(ty.element, region);
            params[position] = id;
            self.bind(var, Value::Scalar(id));
        }
        self.region = Some(region);
        let results = self.body(&lambda.body);
        self.region = outer;
        let results = scalars_of(results?);
        if self.scalars.depth_of(&results) > 0 {
            return unsupported("an operator that differs from element to element", self.span);
        }
        let (left, right) = params.split_at(params.len() / 2);
        Ok(self.operator(left, right, &results, region))
    }

    pub(super) fn pack(
        &mut self,
        flags: &Rc<View<'p>>,
        arrays: &[Rc<View<'p>>],
    ) -> Outcome<Vec<Value<'p>>> {
        let outer = self.context.clone();
        let mut all = vec![Rc::clone(flags)];
        all.extend(arrays.iter().cloned());
        let (_, index) = self.enter_arrays(&all);
        let mut wanted = scalars_of(vec![self.element_unchecked(flags, index)]);
        for array in arrays.iter().filter(|array| array.ty.rank == 1) {
            wanted.extend(scalars_of(vec![self.element_unchecked(array, index)]));
        }
        // Of arrays of arrays the positions of those that are kept.
        let positions = arrays.iter().any(|array| array.ty.rank > 1);
        if positions {
            wanted.push(index);
        }
        let space = self.context.space.clone();
        let thunk = self.thunk(&wanted, space.len(), Sharing::Store);
        self.context = outer;
        let mut results = Vec::new();
        let dimension = if self.depth() == 0 {
            let count = self.typed(Type { element: ScalarType::I64, extents: Vec::new() });
            results.push(count);
            Dimension::Dense(Size::Var(count))
        } else {
            let rows = self.rows();
            let extents = vec![self.size_plus(rows, 1)];
            let offsets = self.typed(Type { element: ScalarType::I64, extents });
            let total = self.typed(Type { element: ScalarType::I64, extents: Vec::new() });
            results.extend([offsets, total]);
            Dimension::Ragged { offsets, total: Size::Var(total) }
        };
        let mut kept_space = self.context.space.clone();
        kept_space.push(dimension);
        let counts = results.len();
        for &id in &wanted[1..] {
            let ty = self.scalars.ty(id);
            let var = self.array_over(&kept_space, ty);
            results.push(var);
        }
        let operation = Operation::Filter { space, thunk };
        let span = self.span;
        self.emit(Statement { results: results.clone(), operation, span });
        let mut vars = results[counts..].iter().copied();
        let kept = positions.then(|| *results.last().expect("the positions"));
        arrays
            .iter()
            .map(|array| {
                if array.ty.rank == 1 {
                    let var = vars.next().expect("one per vector");
                    return Ok(self.under(dimension, array.ty, var, &[]));
                }
                let kept = kept.expect("positions were kept");
                let outer = self.context.clone();
                self.enter_dimension(dimension);
                let here: Vec<ScalarId> =
                    self.identity().into_iter().map(|(index, _)| index).collect();
                let span = self.span;
                let index = self.scalars.read(kept, ScalarType::I64, &here, None, span);
                let row = self.element_unchecked(array, index);
                let row = self.array(row)?;
                let row = self.materialise(&row)?;
                self.context = outer;
                let (var, inner) = parts_of(&row);
                Ok(self.under(dimension, array.ty, var, &inner))
            })
            .collect()
    }

    pub(super) fn sort_order(
        &mut self,
        keys: &[Rc<View<'p>>],
        descending: bool,
    ) -> Outcome<Value<'p>> {
        let outer = self.context.clone();
        let (dimension, index) = self.enter_arrays(keys);
        let elements = self.row_elements(keys, index, &[]);
        let space = self.context.space.clone();
        let thunk = self.thunk(&elements, space.len(), Sharing::Store);
        let order = self.array_over(&space, ScalarType::I64);
        let operation = Operation::Sort { space, thunk, descending };
        let span = self.span;
        self.emit(Statement { results: vec![order], operation, span });
        let ty = nested::Type::scalar(ScalarType::I64).array();
        let order = match dimension {
            Dimension::Dense(_) => order,
            Dimension::Ragged { offsets, .. } => {
                // Positions become indices within the row.
                let here: Vec<ScalarId> =
                    self.identity().into_iter().map(|(index, _)| index).collect();
                let position = self.scalars.read(order, ScalarType::I64, &here, None, span);
                let inside = self.context.clone();
                self.context = outer.clone();
                let prefix = self.identity();
                let (start, _) = self.row_bounds(offsets, &prefix);
                self.context = inside;
                let local = self.op(ScalarOp::Sub, &[position, start]);
                self.store_here(local)
            }
        };
        self.context = outer;
        Ok(self.under(dimension, ty, order, &[]))
    }

    pub(super) fn scatter(
        &mut self,
        destinations: &[Rc<View<'p>>],
        indices: &Rc<View<'p>>,
        values: &[Rc<View<'p>>],
        operator: Option<&'p Lambda>,
        drops: bool,
    ) -> Outcome<Vec<Value<'p>>> {
        if operator.is_some() && destinations.iter().any(|array| array.ty.rank > 1) {
            return unsupported("a combining scatter of arrays", self.span);
        }
        let operator = match operator {
            None => None,
            Some(lambda) => {
                let order: Vec<usize> = (0..lambda.params.len()).collect();
                Some(self.flat_operator(lambda, &order)?)
            }
        };
        let stored: Vec<Rc<View<'p>>> =
            destinations.iter().map(|array| self.materialise(array)).collect::<Outcome<_>>()?;
        if operator.is_none() && stored.len() > 1 {
            // Each by itself, for their elements may differ in rank.
            let mut results = Vec::new();
            for (destination, value) in stored.iter().zip(values) {
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

    /// Writes values over the current space to where parts of stored arrays are.
    fn write(
        &mut self,
        stored: &[Rc<View<'p>>],
        targets: Vec<Value<'p>>,
        values: Vec<Value<'p>>,
        operator: Option<Operator>,
        dropped: Option<(ScalarId, ScalarId)>,
    ) -> Outcome<Vec<Value<'p>>> {
        let (mut target, mut values) = (targets[0].clone(), values);
        while let Value::Array(part) = &target {
            let row = self.array(values[0].clone())?;
            let (of_target, of_value) = (self.length(part), self.length(&row));
            self.check_equal(of_target, of_value);
            let Length::Uniform(size) = of_target else {
                return unsupported("replacing rows of a ragged array", self.span);
            };
            let index = self.enter(Dimension::Dense(size));
            target = self.element_unchecked(&Rc::clone(part), index);
            values = vec![self.element_unchecked(&row, index)];
        }
        let place = scalars_of(vec![target])[0];
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
    fn storage_indices(&self, element: ScalarId) -> Vec<ScalarId> {
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

    pub(super) fn reshape(
        &mut self,
        array: &Rc<View<'p>>,
        from: usize,
        extents: &[ScalarId],
        ty: nested::Type,
    ) -> Outcome<Value<'p>> {
        let array = self.regular(array, array.ty.rank)?;
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
        let (before, after) = (self.scalars.size(before), self.scalars.size(after));
        let span = self.span;
        let equal = self.scalars.op(ScalarOp::Eq, &[before, after], None, span);
        self.check(equal, FaultKind::BadShape);
        let mut storage_extents: Vec<Size> = storage(&self.context.space);
        storage_extents.extend(&sizes);
        storage_extents.extend(storage(&axes[from..]));
        let result = self.reshaped(var, storage_extents);
        let mut new_axes: Vec<Dimension> = sizes.into_iter().map(Dimension::Dense).collect();
        new_axes.extend_from_slice(&axes[from..]);
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
                (self.reshaped(var, extents), Dimension::Dense(both))
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

/// The axes of the elements of a fold of arrays, entered.
struct Rows {
    /// Which parameter of the operator each parameter of the inner lambda is.
    order: Vec<usize>,
    dimensions: Vec<Dimension>,
    indices: Vec<ScalarId>,
    /// The start values at the current position.
    starts: Vec<ScalarId>,
}

/// If a lambda is nothing but a map over its own parameters: the map's lambda, and which parameter
/// each of its arrays is.
fn element_by_element(lambda: &Lambda) -> Option<(&Lambda, Vec<usize>)> {
    let [statement] = &lambda.body.statements[..] else { return None };
    let nested::Operation::Map(inner, arrays) = &statement.operation else { return None };
    let order: Vec<usize> = arrays
        .iter()
        .map(|array| lambda.params.iter().position(|(var, _)| *array == Atom::Var(*var)))
        .collect::<Option<_>>()?;
    let mut seen = order.clone();
    seen.sort_unstable();
    let all = seen.iter().copied().eq(0..lambda.params.len());
    let results = statement.results.iter().map(|(var, _)| Atom::Var(*var));
    let captures = super::survey::free_variables(inner)
        .iter()
        .any(|var| lambda.params.iter().any(|(param, _)| param == var));
    (all && !captures && results.eq(lambda.body.results.iter().copied())).then_some((inner, order))
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
