//! Constant columns: `f32[1.0f32 2.5f32]`, `dense 2 3 i64[…]` (2 arrays of extent 3),
//! `ragged [0 2 5] i64[…]` (row offsets).

use std::fmt::{self, Write};

use crate::text::{Reader, TextError, Token};
use crate::{Buf, Column, ColumnBuilder, Type};

/// Writes a column that has no tuples in it.
///
/// # Errors
/// Those of `writer`.
///
/// # Panics
/// On tuples.
pub fn write_column(writer: &mut impl Write, column: &Column) -> fmt::Result {
    match column {
        Column::Tuple { .. } => panic!("a constant of an intermediate language has no tuples"),
        Column::Dense { len, extent, inner } => {
            write!(writer, "dense {len} {extent} ")?;
            write_column(writer, inner)
        }
        Column::Ragged { offsets, .. } => {
            // A slice keeps the whole of what it was sliced from; only its own part is written.
            let offsets = offsets.as_slice();
            write!(writer, "ragged [")?;
            for (index, offset) in offsets.iter().enumerate() {
                let space = if index == 0 { "" } else { " " };
                write!(writer, "{space}{}", offset - offsets[0])?;
            }
            write!(writer, "] ")?;
            write_column(writer, &column.flatten())
        }
        scalars => {
            let ty = scalars.scalar_type().expect("all other columns are of scalars");
            write!(writer, "{ty}[")?;
            for index in 0..scalars.len() {
                let space = if index == 0 { "" } else { " " };
                write!(writer, "{space}{}", scalars.scalar(index).expect("a scalar"))?;
            }
            write!(writer, "]")
        }
    }
}

/// Reads what [`write_column`] writes.
///
/// # Errors
/// The first place that differs from it.
pub fn parse_column(reader: &mut Reader) -> Result<Column, TextError> {
    if reader.take_word("dense") {
        let len = parse_size(reader)?;
        let extent = parse_size(reader)?;
        let inner = parse_column(reader)?;
        if len.checked_mul(extent) != Some(inner.len()) {
            let found = inner.len();
            return Err(reader.error(format!("{len} × {extent} elements, not {found}")));
        }
        return Ok(Column::Dense { len, extent, inner: Box::new(inner) });
    }
    if reader.take_word("ragged") {
        reader.expect_symbol("[")?;
        let mut offsets = Vec::new();
        while !reader.take_symbol("]") {
            offsets.push(parse_size(reader)?);
        }
        let inner = parse_column(reader)?;
        let ascending = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if offsets.first() != Some(&0) || offsets.last() != Some(&inner.len()) || !ascending {
            return Err(reader.error("offsets ascend from 0 to the number of elements"));
        }
        return Ok(Column::Ragged { offsets: Buf::from(offsets), inner: Box::new(inner) });
    }
    let ty = reader.scalar_type()?;
    reader.expect_symbol("[")?;
    let mut builder = ColumnBuilder::new(&Type::Scalar(ty));
    while !reader.take_symbol("]") {
        match reader.peek() {
            Some(Token::Scalar(scalar)) if scalar.ty() == ty => {
                builder.push_scalar(reader.scalar()?);
            }
            _ => return Err(reader.expected(&format!("a constant of type {ty} or `]`"))),
        }
    }
    Ok(builder.finish())
}

fn parse_size(reader: &mut Reader) -> Result<usize, TextError> {
    let number = reader.number("a number of elements")?;
    usize::try_from(number).map_err(|_| reader.error(format!("{number} is too large")))
}
