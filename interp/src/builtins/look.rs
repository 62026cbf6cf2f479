//! Looking at arrays: lengths, shapes, ends.

use weft_ir::{Column, TrapKind};

use super::Call;
use crate::elements::Elements;
use crate::machine::{Machine, Outcome, Stop};
use crate::value::Val;
use weft_ir::{Span, Type};

impl Machine<'_> {
    /// `length xs`, which needs no element.
    pub(super) fn length(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        Ok(Val::I64(call.array(0)?.len() as i64))
    }

    /// `shape xs`: the extents of all axes, of a regular array.
    pub(super) fn shape(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let rank = call.param(0).rank();
        let array = call.array(0)?;
        let extents = match self.extents(&call, &array, rank) {
            Ok(extents) => extents,
            // How many rows there are does not depend on how long they are.
            Err(Stop::Error(error)) => {
                let mut parts = vec![Val::Error(error); rank];
                parts[0] = Val::I64(array.len() as i64);
                return Ok(Val::tuple(parts));
            }
            Err(stop) => return Err(stop),
        };
        let mut parts: Vec<Val> = extents.iter().map(|extent| Val::I64(*extent as i64)).collect();
        Ok(if rank == 1 { parts.remove(0) } else { Val::tuple(parts) })
    }

    /// `size xs`: how many elements there are on all axes together.
    pub(super) fn size(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let rank = call.param(0).rank();
        let array = call.array(0)?;
        let elements = self.concatenate_all(array, call.param(0), rank, call.span)?;
        Ok(Val::I64(elements.len() as i64))
    }

    /// `null xs`.
    pub(super) fn null(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        Ok(Val::bool(call.array(0)?.len() == 0))
    }

    /// `indices xs`: 0 to the length - 1.
    pub(super) fn indices(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let length = call.array(0)?.len();
        Ok(self.integers(length, call.span)?.into_val())
    }

    /// `lengths rows`; the length of a row that is an error is that error.
    pub(super) fn lengths(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let rows = call.array(0)?;
        self.tabulate(Type::Scalar(weft_ir::ScalarType::I64), rows.len(), call.span, |_, row| {
            Ok(row_length(&rows, row))
        })
    }

    /// `first xs`.
    pub(super) fn first(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        Ok(elements.get(0))
    }

    /// `last xs`.
    pub(super) fn last(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        Ok(elements.get(elements.len() - 1))
    }

    /// Some operations have no value for an empty array.
    pub(super) fn not_empty(&self, call: &Call<'_>, elements: &Elements) -> Outcome<()> {
        if elements.len() > 0 {
            return Ok(());
        }
        let operation = call.name().to_owned();
        Err(self.fail(TrapKind::EmptyArray { operation }, call.span))
    }

    /// Two arrays of a lockstep operation must have the same length.
    pub(super) fn lockstep(
        &self,
        call: &Call<'_>,
        left: &Elements,
        right: &Elements,
    ) -> Outcome<()> {
        self.same_length(call.name(), left.len(), right.len(), call.span)
    }

    /// The extents of the `rank` outermost axes, which must be regular.
    pub(super) fn extents(
        &self,
        call: &Call<'_>,
        elements: &Elements,
        rank: usize,
    ) -> Outcome<Vec<usize>> {
        let mut extents = vec![elements.len()];
        match elements {
            Elements::Packed(column) => {
                let mut column = (**column).clone();
                for _ in 1..rank {
                    extents.push(self.regular_column(call.name(), &column, call.span)?);
                    column = column.flatten();
                }
            }
            Elements::Boxed(vals) if rank > 1 => {
                extents.push(self.regular(call.name(), elements, call.span)?);
                let mut inner: Option<Vec<usize>> = None;
                for (row, val) in vals.iter().enumerate() {
                    let found = self.extents(call, &rows_of(val)?, rank - 1)?;
                    match &inner {
                        None => inner = Some(found),
                        Some(inner) => {
                            // The axis between the rows is regular; a deeper one may not be.
                            if let Some(axis) = (0..inner.len()).find(|at| inner[*at] != found[*at])
                            {
                                let (expected, found) = (inner[axis], found[axis]);
                                return Err(self.ragged(
                                    call.name(),
                                    row,
                                    expected,
                                    found,
                                    call.span,
                                ));
                            }
                        }
                    }
                }
                extents.extend(inner.iter().flat_map(|inner| &inner[1..]));
            }
            Elements::Boxed(_) => {}
        }
        Ok(extents)
    }

    /// The common length of the rows of an array of arrays.
    pub(crate) fn regular(&self, operation: &str, rows: &Elements, span: Span) -> Outcome<usize> {
        match rows {
            Elements::Packed(column) => self.regular_column(operation, column, span),
            Elements::Boxed(vals) => {
                let mut extent = None;
                for (row, val) in vals.iter().enumerate() {
                    let found = rows_of(val)?.len();
                    match extent {
                        None => extent = Some(found),
                        Some(expected) if expected == found => {}
                        Some(expected) => {
                            return Err(self.ragged(operation, row, expected, found, span));
                        }
                    }
                }
                Ok(extent.unwrap_or(0))
            }
        }
    }

    fn regular_column(&self, operation: &str, column: &Column, span: Span) -> Outcome<usize> {
        column
            .extent()
            .map_err(|(row, expected, found)| self.ragged(operation, row, expected, found, span))
    }

    fn ragged(
        &self,
        operation: &str,
        row: usize,
        expected: usize,
        found: usize,
        span: Span,
    ) -> Stop {
        let operation = operation.to_owned();
        let (row, expected, found) = (row as i64, expected as i64, found as i64);
        self.fail(TrapKind::Ragged { operation, row, expected, found }, span)
    }
}

/// The length of a row, or the error in its place.
fn row_length(rows: &Elements, row: usize) -> Val {
    let length = match rows {
        Elements::Packed(column) => column.row_len(row).expect("the elements are arrays"),
        Elements::Boxed(vals) => match &vals[row] {
            Val::Array(column) => column.len(),
            Val::Boxed(elements) => elements.len(),
            error => return error.clone(),
        },
    };
    Val::I64(length as i64)
}

/// The elements of a row.
pub(crate) fn rows_of(val: &Val) -> Outcome<Elements> {
    match val {
        Val::Array(column) => Ok(Elements::Packed(column.clone())),
        Val::Boxed(elements) => Ok(Elements::Boxed(elements.clone())),
        Val::Error(error) => Err(Stop::Error(error.clone())),
        other => panic!("{other:?} is no array"),
    }
}
