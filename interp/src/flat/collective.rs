//! The operations along the last dimension of a space, and scatter.

use std::cmp::Ordering;

use weft_ir::flat::{Dimension, Operator, ScanForm, Space, Start, Thunk, Var};
use weft_ir::leaves::Stored;
use weft_ir::{Scalar, ScalarType, Stop, math};

use crate::flat::scalar::{Frame, OperatorFunction, ThunkFunction};
use crate::flat::tree::{self, Tree};
use crate::flat::{Machine, finish};

/// The components of a value that is reduced or scanned.
type Components = Vec<Scalar>;

/// Which scan.
pub(super) struct Scan {
    pub(super) form: ScanForm,
    pub(super) from_right: bool,
    /// The last dimension of the results, in full form.
    pub(super) full: Option<Dimension>,
}

impl<'a> Machine<'a> {
    pub(super) fn reduce(
        &mut self,
        space: &Space,
        thunk: &Thunk,
        operator: &Operator,
        start: &Start<Thunk>,
    ) -> Result<Vec<Stored>, Stop> {
        let (outer, rows) = self.resolve(space).split_last();
        let function = self.thunk(thunk);
        let mut frame = function.frame();
        let mut operator = OperatorFunction::new(operator, self.types);
        let mut start = self.start(start);
        let mut builders = self.builders(&function.types(), outer.points())?;
        outer.each_point(&mut |point, row| {
            let mut tree = Tree::new();
            for index in rows.range(row) {
                let element = function.at_row(self, point, index, &mut frame)?.to_vec();
                tree.push(element, &mut |a: &Components, b| operator.combine(self, a, b))?;
            }
            let folded = tree.finish(&mut |a, b| operator.combine(self, a, b))?;
            let result = match (&mut start, folded) {
                (Start::None, None) => self.bug("a row without elements and no start"),
                (Start::None | Start::IfEmpty(_), Some(folded)) => folded,
                (Start::IfEmpty((start, frame)) | Start::Combined((start, frame)), None) => {
                    start.at(self, point, frame)?.to_vec()
                }
                (Start::Combined((start, frame)), Some(folded)) => {
                    let start = start.at(self, point, frame)?;
                    operator.combine(self, start, &folded)?
                }
            };
            for (builder, scalar) in builders.iter_mut().zip(result) {
                builder.push_scalar(scalar);
            }
            Ok(())
        })?;
        Ok(finish(builders, &outer.storage()))
    }

    pub(super) fn scan(
        &mut self,
        space: &Space,
        thunk: &Thunk,
        scan: Scan,
        operator: &Operator,
        start: &Start<Thunk>,
    ) -> Result<Vec<Stored>, Stop> {
        let mut result_space = space.clone();
        if let (Some(last), Some(full)) = (result_space.last_mut(), scan.full) {
            *last = full;
        }
        let results = self.resolve(&result_space);
        let (storage, count) = (results.storage(), results.points());
        let (_, result_rows) = results.split_last();
        let (outer, rows) = self.resolve(space).split_last();
        let function = self.thunk(thunk);
        let mut frame = function.frame();
        let mut operator = OperatorFunction::new(operator, self.types);
        let mut start = self.start(start);
        let mut builders = self.builders(&function.types(), count)?;
        outer.each_point(&mut |point, row| {
            let range = rows.range(row);
            self.admit(range.clone().count() as u128 * component_bytes(&function))?;
            let mut values: Vec<Components> = Vec::new();
            for index in range {
                values.push(function.at_row(self, point, index, &mut frame)?.to_vec());
            }
            if scan.from_right {
                values.reverse();
            }
            let mut combine = |machine: &mut Machine<'_>, a: &Components, b: &Components| {
                let (left, right) = if scan.from_right { (b, a) } else { (a, b) };
                operator.combine(machine, left, right)
            };
            tree::scan(&mut values, &mut |a, b| combine(self, a, b))?;
            if let Start::Combined((start, frame)) = &mut start {
                let start = start.at(self, point, frame)?.to_vec();
                for value in &mut values {
                    *value = combine(self, &start, value)?;
                }
                if scan.form != ScanForm::Inclusive {
                    values.insert(0, start);
                }
            }
            if scan.form == ScanForm::Exclusive {
                values.pop();
            }
            if scan.from_right {
                values.reverse();
            }
            if result_rows.range(row).count() != values.len() {
                self.bug(&format!("row {row} of the results has not {} elements", values.len()));
            }
            for value in values {
                for (builder, scalar) in builders.iter_mut().zip(value) {
                    builder.push_scalar(scalar);
                }
            }
            Ok(())
        })?;
        Ok(finish(builders, &storage))
    }

    pub(super) fn filter(&mut self, space: &Space, thunk: &Thunk) -> Result<Vec<Stored>, Stop> {
        let extents = self.resolve(space);
        let points = extents.points();
        let (outer, rows) = extents.split_last();
        let function = self.thunk(thunk);
        let mut frame = function.frame();
        let mut builders = self.builders(&function.types()[1..], points)?;
        let mut count = 0_i64;
        let mut offsets = self.builders(&[ScalarType::I64], outer.points() + 1)?;
        offsets[0].push_scalar(Scalar::I64(0));
        outer.each_point(&mut |point, row| {
            for index in rows.range(row) {
                self.memory.step()?;
                let results = function.at_row(self, point, index, &mut frame)?;
                if results[0] == Scalar::Bool(true) {
                    count += 1;
                    for (builder, scalar) in builders.iter_mut().zip(&results[1..]) {
                        builder.push_scalar(*scalar);
                    }
                }
            }
            offsets[0].push_scalar(Scalar::I64(count));
            Ok(())
        })?;
        let kept = finish(builders, &[count as usize]);
        let mut results = Vec::new();
        if space.len() > 1 {
            let length = offsets[0].len();
            results.extend(finish(offsets, &[length]));
        }
        results.push(Stored::scalar(Scalar::I64(count)));
        results.extend(kept);
        Ok(results)
    }

    pub(super) fn scatter(
        &mut self,
        space: &Space,
        thunk: &Thunk,
        destinations: &[Var],
        operator: Option<&Operator>,
    ) -> Result<Vec<Stored>, Stop> {
        let extents = self.variable(destinations[0]).extents.clone();
        let space = self.resolve(space);
        let function = self.thunk(thunk);
        let mut frame = function.frame();
        let bytes = component_bytes(&function);
        self.admit(space.points().saturating_mul(bytes))?;
        // The target of each value, as a position in the destinations' storage.
        let mut sent: Vec<(usize, Components)> = Vec::new();
        space.each_point(&mut |point, _| {
            self.memory.step()?;
            let results = function.at(self, point, &mut frame)?;
            let (indices, values) = results.split_at(extents.len());
            if indices[0] == Scalar::I64(-1) {
                return Ok(());
            }
            match target(indices, &extents) {
                Some(position) => sent.push((position, values.to_vec())),
                None => self.bug(&format!("{indices:?} is no target in {extents:?}")),
            }
            Ok(())
        })?;
        let stored = self.all(destinations);
        let length = stored[0].elements.len();
        self.admit(length as u128 * bytes)?;
        let mut values: Vec<Components> = (0..length)
            .map(|position| {
                let component = |stored: &Stored| stored.elements.scalar(position);
                stored.iter().filter_map(component).collect()
            })
            .collect();
        match operator {
            None => {
                for (position, value) in sent {
                    values[position] = value;
                }
            }
            Some(operator) => {
                let mut operator = OperatorFunction::new(operator, self.types);
                // Values that meet stay in order.
                sent.sort_by_key(|(position, _)| *position);
                for group in sent.chunk_by(|a, b| a.0 == b.0) {
                    let mut tree = Tree::new();
                    for (_, value) in group {
                        let mut combine =
                            |a: &Components, b: &Components| operator.combine(self, a, b);
                        tree.push(value.clone(), &mut combine)?;
                    }
                    let folded = tree.finish(&mut |a, b| operator.combine(self, a, b))?;
                    if let Some(folded) = folded {
                        let value = &mut values[group[0].0];
                        *value = operator.combine(self, value, &folded)?;
                    }
                }
            }
        }
        let types: Vec<ScalarType> =
            destinations.iter().map(|var| self.types[var.0 as usize].element).collect();
        let mut builders = self.builders(&types, length as u128)?;
        for value in values {
            for (builder, scalar) in builders.iter_mut().zip(value) {
                builder.push_scalar(scalar);
            }
        }
        Ok(finish(builders, &extents))
    }

    pub(super) fn sort(
        &mut self,
        space: &Space,
        thunk: &Thunk,
        descending: bool,
    ) -> Result<Vec<Stored>, Stop> {
        let extents = self.resolve(space);
        let (storage, points) = (extents.storage(), extents.points());
        let (outer, rows) = extents.split_last();
        let function = self.thunk(thunk);
        let mut frame = function.frame();
        let mut builders = self.builders(&[ScalarType::I64], points)?;
        outer.each_point(&mut |point, row| {
            let range = rows.range(row);
            self.admit(range.clone().count() as u128 * component_bytes(&function))?;
            let mut keys: Vec<(i64, Components)> = Vec::new();
            for index in range {
                self.memory.step()?;
                keys.push((index, function.at_row(self, point, index, &mut frame)?.to_vec()));
            }
            keys.sort_by(|(_, a), (_, b)| if descending { compare(b, a) } else { compare(a, b) });
            for (index, _) in keys {
                builders[0].push_scalar(Scalar::I64(index));
            }
            Ok(())
        })?;
        Ok(finish(builders, &storage))
    }

    /// The thunk of the start values, resolved.
    fn start(&self, start: &Start<Thunk>) -> Start<(ThunkFunction, Frame)> {
        let resolve = |thunk| {
            let function = self.thunk(thunk);
            let frame = function.frame();
            (function, frame)
        };
        match start {
            Start::None => Start::None,
            Start::Combined(thunk) => Start::Combined(resolve(thunk)),
            Start::IfEmpty(thunk) => Start::IfEmpty(resolve(thunk)),
        }
    }
}

/// What the components of a value take while they are collected.
fn component_bytes(function: &ThunkFunction) -> u128 {
    (size_of::<(usize, Components)>() + function.types().len() * size_of::<Scalar>()) as u128
}

/// The position in storage of an element, if there is one with these indices.
fn target(indices: &[Scalar], extents: &[usize]) -> Option<usize> {
    let mut position = 0;
    for (index, extent) in indices.iter().zip(extents) {
        let index = match index {
            Scalar::I64(index) => usize::try_from(*index).ok().filter(|index| index < extent)?,
            other => panic!("{other:?} is no index"),
        };
        position = position * extent + index;
    }
    Some(position)
}

/// Lexicographically, in the total order.
fn compare(a: &[Scalar], b: &[Scalar]) -> Ordering {
    let pairs = a.iter().zip(b);
    pairs.fold(Ordering::Equal, |order, (a, b)| order.then_with(|| math::total_cmp(*a, *b)))
}
