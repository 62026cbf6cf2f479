//! Implicit map: applying a function over the outer axes of its arguments.
//!
//! The arguments that carry the axes are traversed in lockstep. Where all of them have the same
//! shape there, the axes are taken off, the function is applied to each element of the flat columns,
//! and the axes are put back; so an empty axis keeps the extents inside it. Where the shapes differ
//! further in, the outermost axis is traversed row by row, and the rows that disagree are errors.

use std::rc::Rc;

use weft_ir::{Column, ColumnBuilder, Scalar, Span, TrapKind, Type, Unit};

use crate::apply::{Callee, Source};
use crate::collect::Collector;
use crate::elements::Elements;
use crate::extents::Known;
use crate::machine::{CHUNK, Machine, Unwind};
use crate::operator::{BinaryOperator, Operator};
use crate::value::{Val, arrays, element_type};
use crate::words::{scalar_of, word_at, word_of};

impl Machine<'_> {
    /// Applies a function over `depth` outer axes of the `Each` sources. `ty` is the type of one
    /// application's result, and `name` what messages call the function.
    pub(crate) fn lift(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        depth: usize,
        ty: &Type,
        name: &str,
        span: Span,
    ) -> Result<Val, Unwind> {
        self.lift_over(callee, sources, depth, ty, name, span, true)
    }

    /// `are_rows`, if the outermost axis is not several axes of the program's that were made one.
    #[expect(clippy::too_many_arguments)]
    fn lift_over(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        depth: usize,
        ty: &Type,
        name: &str,
        span: Span,
        are_rows: bool,
    ) -> Result<Val, Unwind> {
        let mut lengths = sources.iter().filter_map(|source| match source {
            Source::Each(elements) => Some(elements.len()),
            Source::Shared(_) => None,
        });
        let length = lengths.next().unwrap_or(0);
        if let Some(other) = lengths.find(|other| *other != length) {
            let (left, right) = (length as i64, other as i64);
            let operation = name.to_owned();
            return Ok(self.trap(TrapKind::LengthMismatch { operation, left, right }, span));
        }
        if depth == 1 && are_rows {
            return Ok(self.apply_to_rows(callee, sources, length, ty, span)?.into_val());
        }
        if depth == 1 {
            return Ok(self.apply_to_each(callee, sources, length, ty, span)?.into_val());
        }
        if let Some((axis, inner)) = take_off_axis(sources) {
            let inner = self.lift_over(callee, &inner, depth - 1, ty, name, span, false)?;
            let row = arrays(depth - 1, ty);
            return Ok(axis.put_back(inner, &row));
        }
        let mut collector = Collector::new(&arrays(depth - 1, ty), span);
        let places = self.places();
        if are_rows {
            self.begin_place(Unit::Row, span);
        }
        for index in 0..length {
            if are_rows {
                self.go_on_to(index);
            }
            let row = match row_sources(sources, index) {
                Ok(rows) => self.lift_over(callee, &rows, depth - 1, ty, name, span, are_rows)?,
                Err(error) => error,
            };
            self.collect(&mut collector, row)?;
        }
        self.end_places(places);
        Ok(self.finish(collector).into_val())
    }

    /// As [`Machine::apply_to_each`], for sources that are as users see them: errors remember in which row they
    /// were made.
    pub(crate) fn apply_to_rows(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        length: usize,
        ty: &Type,
        span: Span,
    ) -> Result<Elements, Unwind> {
        let places = self.places();
        self.begin_place(unit_of(sources), span);
        let result = self.apply_in_order(callee, sources, length, ty, span, true);
        self.end_places(places);
        result
    }

    /// Applies a function `length` times, to the elements of its sources. `ty` is the type of a
    /// result.
    pub(crate) fn apply_to_each(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        length: usize,
        ty: &Type,
        span: Span,
    ) -> Result<Elements, Unwind> {
        self.apply_in_order(callee, sources, length, ty, span, false)
    }

    /// `is_placed`, if the innermost place is that of this map.
    fn apply_in_order(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        length: usize,
        ty: &Type,
        span: Span,
        is_placed: bool,
    ) -> Result<Elements, Unwind> {
        if let Callee::Operator(operator, _) = callee
            && let Some(elements) = self.operate(*operator, sources, length, ty, span)?
        {
            return Ok(elements);
        }
        let mut collector = Collector::new(ty, span);
        let piece = self.meter.begin(length as u64);
        for index in 0..length {
            if let Some(piece) = &piece {
                piece.set(index as u64);
            }
            if is_placed {
                self.go_on_to(index);
            }
            let val = self.apply_at(callee, sources, index)?;
            self.collect(&mut collector, val)?;
        }
        let result = self.finish(collector);
        self.with_extents(result, ty, |machine| {
            let args = sources.iter().map(|source| match source {
                Source::Shared(val) => Known::of(val),
                Source::Each(elements) => Known::element_of(elements),
            });
            machine.known_of_call(callee, args.collect())
        })
    }

    /// Applies a scalar operator to scalar columns; nothing if the sources are something else, or if
    /// an application traps.
    fn operate(
        &mut self,
        operator: Operator,
        sources: &[Source],
        length: usize,
        ty: &Type,
        span: Span,
    ) -> Result<Option<Elements>, Unwind> {
        let Some(operands) = sources.iter().map(Operand::of).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        self.admit_elements(length as u128, ty, span)?;
        let mut builder = ColumnBuilder::with_capacity(ty, length);
        let mut start = 0;
        while start < length {
            let stop = length.min(start + CHUNK);
            if operate_on_columns(operator, &operands, start..stop, &mut builder).is_none() {
                return Ok(None);
            }
            self.poll()?;
            start = stop;
        }
        Ok(Some(Elements::packed(builder.finish())))
    }
}

/// What a map over these sources goes through.
fn unit_of(sources: &[Source]) -> Unit {
    let are_scalars = sources.iter().all(|source| match source {
        Source::Shared(_) => true,
        Source::Each(elements) => elements.are_scalars(),
    });
    if are_scalars { Unit::Element } else { Unit::Row }
}

/// An operand of a scalar operator that is applied many times.
enum Operand<'a> {
    Shared(Scalar),
    Each(&'a Column),
}

impl Operand<'_> {
    fn of(source: &Source) -> Option<Operand<'_>> {
        match source {
            Source::Shared(val) => val.scalar().map(Operand::Shared),
            Source::Each(Elements::Packed(column)) if column.scalar_type().is_some() => {
                Some(Operand::Each(column))
            }
            _ => None,
        }
    }

    #[inline]
    fn word(&self, index: usize) -> u64 {
        match self {
            Operand::Shared(scalar) => word_of(*scalar),
            Operand::Each(column) => word_at(column, index),
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Scalar {
        match self {
            Operand::Shared(scalar) => *scalar,
            Operand::Each(column) => match column.scalar(index) {
                Some(scalar) => scalar,
                None => unreachable!("only scalar columns are operands"),
            },
        }
    }
}

/// Appends the results at some positions; nothing if one of them traps.
fn operate_on_columns(
    operator: Operator,
    operands: &[Operand<'_>],
    positions: std::ops::Range<usize>,
    builder: &mut ColumnBuilder,
) -> Option<()> {
    match (operator, operands) {
        (Operator::Unary(function), [a]) => {
            for index in positions {
                builder.push_scalar(function(a.get(index)).ok()?);
            }
        }
        (Operator::Binary(BinaryOperator { words: Some((words, ty)), .. }), [a, b]) => {
            for index in positions {
                let word = words(a.word(index), b.word(index))?;
                builder.push_scalar(scalar_of(word, ty));
            }
        }
        (Operator::Binary(BinaryOperator { function, .. }), [a, b]) => {
            for index in positions {
                builder.push_scalar(function(a.get(index), b.get(index)).ok()?);
            }
        }
        (Operator::Ternary(function), [a, b, c]) => {
            for index in positions {
                builder.push_scalar(function(a.get(index), b.get(index), c.get(index)).ok()?);
            }
        }
        (Operator::And, [a, b]) => {
            for index in positions {
                let holds = a.get(index) == Scalar::Bool(true);
                builder.push_scalar(if holds { b.get(index) } else { Scalar::Bool(false) });
            }
        }
        (Operator::Or, [a, b]) => {
            for index in positions {
                let holds = a.get(index) == Scalar::Bool(true);
                builder.push_scalar(if holds { Scalar::Bool(true) } else { b.get(index) });
            }
        }
        (Operator::Select, [condition, a, b]) => {
            for index in positions {
                let holds = condition.get(index) == Scalar::Bool(true);
                builder.push_scalar(if holds { a.get(index) } else { b.get(index) });
            }
        }
        (Operator::Tuples(_), _) => return None,
        (operator, operands) => panic!("{operator:?} of {} operands", operands.len()),
    }
    Some(())
}

/// How the rows of an axis that was taken off lie in the flat elements.
enum Axis {
    Dense { len: usize, extent: usize },
    Ragged { lengths: Vec<usize> },
}

/// Takes the axis between the rows and their elements off all sources that have it, if they are
/// packed and their rows have the same lengths.
fn take_off_axis(sources: &[Source]) -> Option<(Axis, Vec<Source>)> {
    let mut axis: Option<Axis> = None;
    let mut inner = Vec::with_capacity(sources.len());
    for source in sources {
        let column = match source {
            Source::Shared(_) => {
                inner.push(source.clone());
                continue;
            }
            Source::Each(Elements::Packed(column)) => column,
            Source::Each(Elements::Boxed(_)) => return None,
        };
        match &axis {
            None => axis = Some(Axis::of(column)),
            Some(axis) if axis.suits(column) => {}
            Some(_) => return None,
        }
        inner.push(Source::Each(Elements::packed(column.flatten())));
    }
    Some((axis?, inner))
}

impl Axis {
    fn of(column: &Column) -> Axis {
        match column {
            Column::Dense { len, extent, .. } => Axis::Dense { len: *len, extent: *extent },
            column => Axis::Ragged {
                lengths: (0..column.len()).filter_map(|row| column.row_len(row)).collect(),
            },
        }
    }

    fn suits(&self, column: &Column) -> bool {
        match (self, column) {
            (Axis::Dense { len, extent }, Column::Dense { len: other_len, extent: other, .. }) => {
                (len, extent) == (other_len, other)
            }
            (Axis::Dense { len, extent }, column) => {
                *len > 0 && (0..*len).all(|row| column.row_len(row) == Some(*extent))
            }
            (Axis::Ragged { lengths }, column) => {
                let mut rows = lengths.iter().enumerate();
                rows.all(|(row, length)| column.row_len(row) == Some(*length))
            }
        }
    }

    /// The rows, of type `row`, out of the flat elements.
    fn put_back(&self, inner: Val, row: &Type) -> Val {
        let elements = match inner {
            Val::Array(column) => {
                let inner = Rc::try_unwrap(column).unwrap_or_else(|shared| (*shared).clone());
                return Val::array(match self {
                    Axis::Dense { len, extent } => {
                        Column::Dense { len: *len, extent: *extent, inner: Box::new(inner) }
                    }
                    Axis::Ragged { lengths } => Column::from_lengths(lengths, inner),
                });
            }
            Val::Boxed(elements) => Elements::Boxed(elements),
            // Lengths were compared where the axis was taken off.
            other => panic!("{other:?} in the place of an array"),
        };
        let lengths = match self {
            Axis::Dense { len, extent } => vec![*extent; *len],
            Axis::Ragged { lengths } => lengths.clone(),
        };
        let mut start = 0;
        let rows = lengths.into_iter().map(|length| {
            start += length;
            elements.slice(start - length, length, element_type(row)).into_val()
        });
        Collector::from_iter(row, rows).into_val()
    }
}

/// The sources of row `index`; or the error that stands in the place of one.
fn row_sources(sources: &[Source], index: usize) -> Result<Vec<Source>, Val> {
    let mut rows = Vec::with_capacity(sources.len());
    for source in sources {
        rows.push(match source {
            Source::Shared(val) => Source::Shared(val.clone()),
            Source::Each(elements) => match elements.get(index) {
                Val::Array(column) => Source::Each(Elements::Packed(column)),
                Val::Boxed(elements) => Source::Each(Elements::Boxed(elements)),
                error => return Err(error),
            },
        });
    }
    Ok(rows)
}
