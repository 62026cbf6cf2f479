//! Collective operations: over the context's space with one more dimension.

use std::rc::Rc;

use weft_ir::flat::{Dimension, Operation, Operator, Size, Start, Statement, Type, Var};
use weft_ir::nested::{self, Atom, Lambda, ScanForm};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::compile::Sharing;
use super::layout::parts_of;
use super::local::{is_local, scalars_of};
use super::materialise::zeros_thunk;
use super::scalar::ScalarId;
use super::survey::surely_read;
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome, unsupported};

impl<'p> Flattener<'p> {
    pub(super) fn map(
        &mut self,
        lambda: &'p Lambda,
        arrays: Vec<Rc<View<'p>>>,
    ) -> Outcome<Vec<Value<'p>>> {
        let outer = self.context.clone();
        self.check_unread(lambda, &arrays);
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

    /// Checks the rows that a lambda may not look at (Note [Rows that are not read]).
    fn check_unread(&mut self, lambda: &Lambda, arrays: &[Rc<View<'p>>]) {
        if self.region.is_some() {
            return;
        }
        for (read, array) in surely_read(lambda).into_iter().zip(arrays) {
            if !read {
                self.check_rows(array);
            }
        }
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
        let length = self.length(&arrays[0]);
        let (length, zero) = (self.length_scalar(length), self.scalars.integer(0));
        let some = self.op(ScalarOp::Gt, &[length, zero]);
        let sure = self.scalars.known_scalar(some) == Some(Scalar::Bool(true));
        let outer = self.context.clone();
        let Some((lambda, rows)) = self.enter_rows(operator, arrays, &starts)? else {
            return unsupported("a fold whose operator is not element by element", self.span);
        };
        let inner = self.context.clone();
        let starts = rows.starts.clone();
        let start_thunk = self.thunk(&starts, self.depth(), Sharing::Store);
        let (_, index) = self.enter_arrays(&rows.arrays);
        let elements = self.row_elements(&rows.arrays, index, &rows.indices);
        let space = self.context.space.clone();
        let thunk = self.thunk(&elements, space.len(), Sharing::Store);
        self.context = inner;
        let flat = self.flat_operator(lambda, &rows.order);
        if flat.is_err() && rows.dimensions.is_empty() && is_local(&operator.body) {
            // An operator that depends on the element is a loop of that element.
            self.context = outer;
            return self.local_fold(operator, start, arrays);
        }
        let operator = flat?;
        let types: Vec<ScalarType> = arrays.iter().map(|array| array.ty.element).collect();
        let unchecked = matches!(start, nested::Start::None) && !sure;
        let start = match start {
            nested::Start::None if sure => Start::None,
            // That there is nothing to fold is checked where the result is needed.
            nested::Start::None => Start::IfEmpty(zeros_thunk(self.depth(), &types)),
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
        let values = results
            .into_iter()
            .zip(arrays)
            .map(|(var, array)| {
                let ty = array.ty.element();
                self.stored_part(var, ty, prefix.clone(), rows.dimensions.clone())
            })
            .collect();
        Ok(if unchecked { self.assert(some, FaultKind::EmptyArray, values) } else { values })
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
        let inner = self.context.clone();
        let start_thunk = self.thunk(&rows.starts.clone(), self.depth(), Sharing::Store);
        let (dimension, index) = self.enter_arrays(&rows.arrays);
        let elements = self.row_elements(&rows.arrays, index, &rows.indices);
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
        results
            .into_iter()
            .zip(arrays)
            .map(|(var, array)| {
                let value = self.stored_part(var, array.ty, prefix.clone(), axes.clone());
                match value {
                    // Rows were scanned column by column.
                    Value::Array(view) => self.last_axis_first(
                        view,
                        &rows.dimensions,
                        (&rows.arrays[0], full.is_some()),
                    ),
                    Value::Scalar(_) => panic!("flatten: a scan yields arrays"),
                }
            })
            .collect()
    }

    /// An array with the axis outermost that is behind these dimensions: as long as the array, or by one longer. (What is
    /// stored there knows nothing of it where one of the dimensions is 0.)
    fn last_axis_first(
        &mut self,
        view: Rc<View<'p>>,
        dimensions: &[Dimension],
        (scanned, is_longer): (&View<'p>, bool),
    ) -> Outcome<Value<'p>> {
        let (outer, ty) = (self.context.clone(), view.ty);
        if dimensions.is_empty() {
            return Ok(Value::Array(view));
        }
        let mut length = self.length(scanned);
        if is_longer {
            let (all, one) = (self.length_scalar(length), self.scalars.integer(1));
            let longer = self.op(ScalarOp::Add, &[all, one]);
            length = self.scalar_length(longer);
        }
        let mut turned = view;
        for depth in (0..dimensions.len()).rev() {
            let mut part = turned;
            for dimension in &dimensions[..depth] {
                let index = self.enter(*dimension);
                let element = self.element_unchecked(&part, index);
                part = self.array(element)?;
            }
            let length = Some(length).filter(|_| depth == 0);
            turned = self.view(part.ty, Source::Transposed(part, length));
            if depth > 0 {
                let stored = self.materialise(&turned)?;
                let (var, inner) = parts_of(&stored);
                self.context = outer.clone();
                let (prefix, axes) = (self.identity(), [&dimensions[..depth], &inner[..]].concat());
                let value = self.stored_part(var, ty, prefix, axes);
                turned = self.array(value)?;
            }
        }
        Ok(Value::Array(turned))
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
    ) -> Outcome<Option<(&'p Lambda, Rows<'p>)>> {
        let rank = arrays[0].ty.rank - 1;
        let mut rows = Rows {
            order: Vec::new(),
            dimensions: Vec::new(),
            indices: Vec::new(),
            starts: Vec::new(),
            arrays: Vec::new(),
        };
        if arrays.iter().any(|array| array.ty.rank != rank + 1) {
            return Ok(None);
        }
        let Some((lambda, order)) = operator_of_elements(operator) else { return Ok(None) };
        rows.order = order;
        let mut values: Vec<Value<'p>> = starts.to_vec();
        let regular: Vec<Rc<View<'p>>> = arrays
            .iter()
            .map(|array| self.regular_rows(array, rank + 1))
            .collect::<Outcome<_>>()?;
        if rank > 0 {
            let zero = self.scalars.integer(0);
            let mut parts: Vec<Value<'p>> =
                regular.iter().map(|array| self.element_unchecked(array, zero)).collect();
            for _ in 0..rank {
                let views: Vec<Rc<View<'p>>> =
                    parts.into_iter().map(|part| self.array(part)).collect::<Outcome<_>>()?;
                let starts: Vec<Rc<View<'p>>> =
                    values.into_iter().map(|start| self.array(start)).collect::<Outcome<_>>()?;
                // The start values have the extents also where there is no row.
                let all: Vec<Length> =
                    starts.iter().chain(&views).map(|view| self.length(view)).collect();
                for &length in &all[1..] {
                    self.check_equal(all[0], length);
                }
                let Length::Uniform(size) = all[0] else {
                    return unsupported("a fold of ragged rows", self.span);
                };
                let index = self.enter(Dimension::Dense(size));
                values = starts.iter().map(|view| self.element_unchecked(view, index)).collect();
                parts = views.iter().map(|view| self.element_unchecked(view, index)).collect();
                rows.dimensions.push(Dimension::Dense(size));
                rows.indices.push(index);
            }
        }
        rows.starts = scalars_of(values);
        rows.arrays = regular;
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
    pub(super) fn flat_operator(
        &mut self,
        lambda: &'p Lambda,
        order: &[usize],
    ) -> Outcome<Operator> {
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
                let ty = nested::Type::scalar(ScalarType::I64).array();
                match self.under(dimension, ty, kept, &[]) {
                    Value::Array(kept) => {
                        let source = Source::Gathered(kept, Rc::clone(array));
                        Ok(Value::Array(self.view(array.ty, source)))
                    }
                    Value::Scalar(_) => panic!("flatten: positions are an array"),
                }
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
}

/// The axes of the elements of a fold of arrays, entered.
struct Rows<'p> {
    /// Which parameter of the operator each parameter of the inner lambda is.
    order: Vec<usize>,
    dimensions: Vec<Dimension>,
    indices: Vec<ScalarId>,
    /// The start values at the current position.
    starts: Vec<ScalarId>,
    /// The arrays, whose rows are regular.
    arrays: Vec<Rc<View<'p>>>,
}

/// The operator on scalars by which an operator on arrays of one rank combines their elements, and
/// which parameter of the whole each of its parameters is; none if it combines them otherwise.
pub(super) fn operator_of_elements(operator: &Lambda) -> Option<(&Lambda, Vec<usize>)> {
    let rank = operator.params[0].1.rank;
    if operator.params.iter().any(|(_, ty)| ty.rank != rank) {
        return None;
    }
    let (mut lambda, mut order) = (operator, (0..operator.params.len()).collect::<Vec<_>>());
    for _ in 0..rank {
        let (inner, positions) = element_by_element(lambda)?;
        order = positions.into_iter().map(|position| order[position]).collect();
        lambda = inner;
    }
    Some((lambda, order))
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
    let captures = inner
        .free_variables()
        .iter()
        .any(|var| lambda.params.iter().any(|(param, _)| param == var));
    (all && !captures && results.eq(lambda.body.results.iter().copied())).then_some((inner, order))
}
