//! Operations that only move or measure elements.

use weft_ir::nested::Type;
use weft_ir::{Column, ColumnBuilder, FaultKind, Span, Stop, Value};

use super::{fault, host_type, of_column};

/// `a[i, j, …]`.
pub(super) fn index(array: &Column, indices: &[i64], span: Span) -> Result<Value, Stop> {
    let mut array = array.clone();
    for index in indices {
        let position = position(*index, array.len(), span)?;
        match array.row(position) {
            Some(row) => array = row,
            None => return Ok(array.get(position)),
        }
    }
    Ok(of_column(array))
}

/// The index as a position on an axis of that extent.
pub(super) fn position(index: i64, extent: usize, span: Span) -> Result<usize, Stop> {
    match usize::try_from(index) {
        Ok(position) if position < extent => Ok(position),
        _ => fault(FaultKind::IndexOutOfRange, span),
    }
}

/// The array, whose elements have type `ty`, with one element or subarray replaced.
pub(super) fn update(
    array: &Column,
    indices: &[i64],
    value: &Value,
    ty: Type,
    span: Span,
) -> Result<Column, Stop> {
    let Some((first, inner)) = indices.split_first() else { panic!("an update has indices") };
    let at = position(*first, array.len(), span)?;
    let replaced = match array.row(at) {
        Some(row) if !inner.is_empty() => {
            of_column(update(&row, inner, value, ty.element(), span)?)
        }
        _ => value.clone(),
    };
    let mut builder = ColumnBuilder::new(&host_type(ty));
    builder.extend(&array.slice(0, at));
    builder.push(&replaced);
    builder.extend(&array.slice(at + 1, array.len() - at - 1));
    Ok(builder.finish())
}

/// The elements, of type `ty`, of all arrays.
pub(super) fn concat(arrays: &[Column], ty: Type) -> Column {
    let mut builder = ColumnBuilder::new(&host_type(ty));
    for array in arrays {
        builder.extend(array);
    }
    builder.finish()
}

/// The length of all rows.
pub(super) fn regular_extent(rows: &Column, span: Span) -> Result<usize, Stop> {
    rows.extent().or_else(|_| fault(FaultKind::Ragged, span))
}

/// The columns of rows of that width.
pub(super) fn transpose(rows: &Column, width: usize) -> Column {
    let height = rows.len();
    let positions: Vec<usize> =
        (0..width).flat_map(|column| (0..height).map(move |row| row * width + column)).collect();
    let inner = Box::new(rows.flatten().gather(&positions));
    Column::Dense { len: width, extent: height, inner }
}

/// The extent of an axis, regular as those before it.
pub(super) fn extent(array: &Column, axis: usize, span: Span) -> Result<usize, Stop> {
    let mut rows = array.clone();
    let mut extent = array.len();
    for depth in 0..axis {
        if depth > 0 {
            rows = rows.flatten();
        }
        extent = regular_extent(&rows, span)?;
    }
    Ok(extent)
}

/// The first `from` axes replaced.
pub(super) fn reshape(
    array: &Column,
    from: usize,
    extents: &[usize],
    span: Span,
) -> Result<Column, Stop> {
    let mut elements = array.clone();
    let mut found = array.len();
    for _ in 1..from {
        found *= regular_extent(&elements, span)?;
        elements = elements.flatten();
    }
    let product = |extents: &[usize]| {
        extents.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent))
    };
    if product(extents) != Some(found) {
        return fault(FaultKind::BadShape, span);
    }
    for depth in (1..extents.len()).rev() {
        let Some(len) = product(&extents[..depth]) else {
            return fault(FaultKind::BadLength, span);
        };
        elements = Column::Dense { len, extent: extents[depth], inner: Box::new(elements) };
    }
    Ok(elements)
}

/// Consecutive rows.
pub(super) fn segments(lengths: &Column, array: &Column, span: Span) -> Result<Column, Stop> {
    let mut rows = Vec::with_capacity(lengths.len());
    let mut total = 0_u128;
    for length in integers(lengths) {
        let Ok(length) = usize::try_from(*length) else {
            return fault(FaultKind::BadLength, span);
        };
        total += length as u128;
        rows.push(length);
    }
    if total != array.len() as u128 {
        return fault(FaultKind::BadShape, span);
    }
    Ok(Column::from_lengths(&rows, array.clone()))
}

/// The elements of an `[]i64`.
pub(super) fn integers(array: &Column) -> &[i64] {
    match array {
        Column::I64(buf) => buf.as_slice(),
        other => panic!("{other:?} is no array of i64"),
    }
}
