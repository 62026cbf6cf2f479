//! Re-indexing: the same elements at other places. Errors among the elements move with them.

use weft_ir::{Column, ColumnBuilder, Span, TrapKind, Type};

use super::Call;
use super::look::rows_of;
use super::make::{index_at, index_parts, into_shape};
use crate::collect::Collector;
use crate::elements::Elements;
use crate::extents::Known;
use crate::index::position;
use crate::machine::{CHUNK, Machine, Outcome, Stop, Unwind};
use crate::value::{Val, component_type, element_type, under};

impl Machine<'_> {
    /// `reshape shape xs`: the elements of a regular array in row-major order.
    pub(super) fn reshape(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let shape = call.value(0);
        let extents = self.new_shape(&call, &shape)?;
        let array = call.array(1)?;
        let rank = call.param(1).rank();
        let found: usize = self.extents(&call, &array, rank)?.iter().product();
        let expected: usize = extents.iter().product();
        if expected != found {
            let (expected, found) = (expected as i64, found as i64);
            let operation = call.name().to_owned();
            return Err(self.fail(TrapKind::BadShape { operation, expected, found }, call.span));
        }
        let elements = self.concatenate_all(array, call.param(1), rank, call.span)?;
        Ok(into_shape(elements, &extents, call.result()))
    }

    /// `flatten rows`: the elements of all rows, one row after the other.
    pub(super) fn flatten(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let rows = call.array(0)?;
        Ok(self.concatenate_rows(&rows, call.element(), call.span)?.into_val())
    }

    /// The elements of so many axes of an array of type `ty`, one after the other.
    pub(super) fn concatenate_all(
        &mut self,
        array: Elements,
        ty: &Type,
        axes: usize,
        span: Span,
    ) -> Outcome<Elements> {
        (1..axes)
            .try_fold(array, |array, axis| self.concatenate_rows(&array, under(ty, axis + 1), span))
    }

    /// The elements, of type `ty`, of all rows. Where a row is an error, so is the whole.
    pub(super) fn concatenate_rows(
        &mut self,
        rows: &Elements,
        ty: &Type,
        span: Span,
    ) -> Outcome<Elements> {
        match rows {
            Elements::Packed(column) => Ok(Elements::packed(column.flatten())),
            Elements::Boxed(vals) => {
                let mut collector = Collector::new(ty, span);
                for val in vals.iter() {
                    collector.extend(&rows_of(val)?);
                    self.step()?;
                }
                Ok(collector.finish())
            }
        }
    }

    /// `transpose m`, of rows of one length.
    pub(super) fn transpose(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let rows = call.array(0)?;
        let (height, width) = (rows.len(), self.regular(call.name(), &rows, call.span)?);
        self.transpose_rows(&rows, height, width, call.result(), call.span)
    }

    /// The columns of `height` rows of `width` elements, as an array of type `ty`.
    pub(super) fn transpose_rows(
        &mut self,
        rows: &Elements,
        height: usize,
        width: usize,
        ty: &Type,
        span: Span,
    ) -> Outcome<Val> {
        let flat = self.concatenate_rows(rows, under(ty, 2), span)?;
        // The rows of the result take memory even if they are empty.
        self.admit((height as u128 + 1) * (width as u128 + 1) * 8, span)?;
        let mut positions = Vec::with_capacity(height * width);
        for column in 0..width {
            positions.extend((0..height).map(|row| row * width + column));
            self.step()?;
        }
        let elements = self.gather_elements(&flat, &positions, under(ty, 2))?;
        Ok(into_shape(elements, &[width, height], ty))
    }

    /// `reverse xs`.
    pub(super) fn reverse(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.rearrange(&elements, (0..elements.len()).rev(), &call)
    }

    /// `rotate k xs`: k places to the left; any k, also beyond the length.
    pub(super) fn rotate(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (k, elements) = (call.integer(0), call.array(1)?);
        let length = elements.len();
        if length == 0 {
            // No element is needed, and so k is not.
            return Ok(elements.into_val());
        }
        let k = match k {
            Ok(k) => k,
            Err(stop) => return self.erroneous(stop, length, call.span),
        };
        let k = k.rem_euclid(length as i64) as usize;
        self.rearrange(&elements, (k..length).chain(0..k), &call)
    }

    /// `take n xs`: the first n, or all if there are fewer.
    pub(super) fn take(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let count = call.integer(0)?;
        let count = self.new_length(&call, count)?;
        let elements = call.array(1)?;
        Ok(elements.slice(0, count.min(elements.len()), call.element()).into_val())
    }

    /// `drop n xs`: all but the first n.
    pub(super) fn drop_first(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let count = call.integer(0)?;
        let count = self.new_length(&call, count)?;
        let elements = call.array(1)?;
        let start = count.min(elements.len());
        Ok(elements.slice(start, elements.len() - start, call.element()).into_val())
    }

    /// `init xs`: all but the last.
    pub(super) fn init(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        Ok(elements.slice(0, elements.len() - 1, call.element()).into_val())
    }

    /// `tail xs`: all but the first.
    pub(super) fn tail(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        Ok(elements.slice(1, elements.len() - 1, call.element()).into_val())
    }

    /// `backpermute shape f xs`: the element at each index is that of xs at f of it. An index
    /// outside is an error in that place.
    pub(super) fn backpermute(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let shape = call.value(0);
        let extents = self.new_shape(&call, &shape)?;
        let function = call.value(1);
        let array = call.array(2)?.into_val();
        let count: usize = extents.iter().product();
        let ty = under(call.result(), extents.len()).clone();
        self.admit_elements(count as u128, &ty, call.span)?;
        let elements = self.with_callee(&function, 1, call.span, |machine, callee| {
            let mut collector = Collector::new(&ty, call.span);
            for at in 0..count {
                let source = machine.apply(callee, [index_at(at, &extents)])?;
                let val = match index_parts(&source) {
                    Ok(positions) => machine.element_at(&array, &positions, call.span),
                    Err(Stop::Error(error)) => Val::Error(error),
                    Err(unwind) => return Err(unwind),
                };
                machine.collect(&mut collector, val)?;
            }
            let result = machine.finish(collector);
            let axes = call.param(2).rank() - ty.rank();
            Ok(machine.with_extents(result, &ty, |_| Ok(Known::of(&array).under(axes)))?)
        })?;
        Ok(into_shape(elements, &extents, call.result()))
    }

    /// `gather xs is`: an index outside is an error in that place.
    pub(super) fn gather(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        let indices = call.array(1)?;
        self.admit_elements(indices.len() as u128, call.element(), call.span)?;
        if let Some(indices) = indices.i64s() {
            let positions: Result<Vec<usize>, _> =
                indices.iter().map(|index| position(*index, elements.len())).collect();
            if let Ok(positions) = positions {
                return Ok(self.gather_elements(&elements, &positions, call.element())?.into_val());
            }
        }
        self.tabulate(call.element().clone(), indices.len(), call.span, |machine, at| {
            Ok(match indices.get(at) {
                Val::I64(index) => match position(index, elements.len()) {
                    Ok(position) => elements.get(position),
                    Err(kind) => machine.trap(kind, call.span),
                },
                error => error,
            })
        })
    }

    /// `concat xs ys`, `xs ++ ys`.
    pub(super) fn concat(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (left, right) = (call.array(0)?, call.array(1)?);
        let bytes = [&left, &right].map(|elements| u128::from(elements.clone().into_val().bytes()));
        self.admit(bytes[0] + bytes[1], call.span)?;
        let mut collector = Collector::new(call.element(), call.span);
        collector.extend(&left);
        collector.extend(&right);
        Ok(collector.finish().into_val())
    }

    /// `interleave xs ys`.
    pub(super) fn interleave(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (left, right) = (call.array(0)?, call.array(1)?);
        self.lockstep(&call, &left, &right)?;
        if left.len() == 0 {
            return Ok(left.into_val());
        }
        let length = left.len() * 2;
        self.tabulate(call.element().clone(), length, call.span, |_, at| {
            Ok(if at % 2 == 0 { left.get(at / 2) } else { right.get(at / 2) })
        })
    }

    /// `zip` of `count` arrays.
    pub(super) fn zip(&mut self, mut call: Call<'_>, count: usize) -> Outcome<Val> {
        let mut arrays = Vec::with_capacity(count);
        for index in 0..count {
            arrays.push(call.array(index)?);
        }
        let len = arrays[0].len();
        for array in &arrays[1..] {
            self.lockstep(&call, &arrays[0], array)?;
        }
        let columns = arrays.iter().map(|array| match array {
            Elements::Packed(column) => Some((**column).clone()),
            Elements::Boxed(_) => None,
        });
        if let Some(parts) = columns.collect::<Option<Vec<Column>>>() {
            return Ok(Val::array(Column::Tuple { len, parts }));
        }
        self.tabulate(call.element().clone(), len, call.span, |_, at| {
            Ok(Val::tuple(arrays.iter().map(|array| array.get(at)).collect()))
        })
    }

    /// The inverse of `zip`.
    pub(super) fn unzip(&mut self, mut call: Call<'_>, count: usize) -> Outcome<Val> {
        let tuples = call.array(0)?;
        if let Elements::Packed(column) = &tuples
            && let Column::Tuple { parts, .. } = &**column
        {
            return Ok(Val::tuple(parts.iter().cloned().map(Val::array).collect()));
        }
        let mut parts = Vec::with_capacity(count);
        for index in 0..count {
            let ty = element_type(component_type(call.result(), index)).clone();
            parts.push(self.tabulate(ty, tuples.len(), call.span, |_, at| {
                Ok(tuples.get(at).component(index))
            })?);
        }
        Ok(Val::tuple(parts))
    }

    /// The elements at these positions, as an array of the type that the call yields.
    fn rearrange(
        &mut self,
        elements: &Elements,
        positions: impl Iterator<Item = usize>,
        call: &Call<'_>,
    ) -> Outcome<Val> {
        self.admit(elements.len() as u128 * 8, call.span)?;
        let positions: Vec<usize> = positions.collect();
        Ok(self.gather_elements(elements, &positions, call.element())?.into_val())
    }

    /// The elements at these positions, which exist; `ty` is the type of one.
    pub(super) fn gather_elements(
        &mut self,
        elements: &Elements,
        positions: &[usize],
        ty: &Type,
    ) -> Result<Elements, Unwind> {
        match elements {
            Elements::Packed(column) => {
                Ok(Elements::packed(self.gather_column(column, positions)?))
            }
            Elements::Boxed(vals) => {
                Ok(Collector::from_iter(ty, positions.iter().map(|at| vals[*at].clone())))
            }
        }
    }

    /// The elements of a column at these positions, looking now and then at the interrupt.
    pub(crate) fn gather_column(
        &mut self,
        column: &Column,
        positions: &[usize],
    ) -> Result<Column, Unwind> {
        if positions.len() <= CHUNK {
            return Ok(column.gather(positions));
        }
        let first = column.gather(&positions[..1]);
        let mut builder = ColumnBuilder::with_capacity(&type_of(&first), positions.len());
        for chunk in positions.chunks(CHUNK) {
            builder.extend(&column.gather(chunk));
            self.poll()?;
        }
        Ok(builder.finish())
    }
}

/// The type of the elements of a column; records count as tuples.
fn type_of(column: &Column) -> Type {
    match column {
        Column::Tuple { parts, .. } => Type::Tuple(parts.iter().map(type_of).collect()),
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => Type::array(type_of(inner)),
        scalars => Type::Scalar(scalars.scalar_type().expect("neither tuples nor arrays")),
    }
}
