//! Compressed sparse rows.

use weft_ir::{Column, ScalarType, TrapKind, Type, Value};

use super::super::{CsrError, Loaded, fields};

/// The entries of `{rows, rowIndex, colIndex, values, …}` by row, in file order within a row:
/// `{counts: []i64, colIndex: []i64, values}` with `counts` of length `rows`.
pub(in super::super) fn csr(
    matrix: &Value,
    ty: &Type,
    value_bytes: u64,
) -> Result<Loaded, CsrError> {
    let bad = |name: &str, wanted: &str| {
        CsrError::Trap(TrapKind::BadArgument {
            operation: "csr".to_owned(),
            problem: format!(
                "a matrix record has a field `{name}: {wanted}`, as `loadMtx` gives it"
            ),
        })
    };
    let rows = fields::field(matrix, ty, "rows").and_then(fields::as_integer);
    let rows = rows.ok_or_else(|| bad("rows", "i64"))?;
    let row_index = fields::field(matrix, ty, "rowIndex").and_then(fields::as_integers);
    let row_index = row_index.ok_or_else(|| bad("rowIndex", "[]i64"))?;
    let col_index = fields::field(matrix, ty, "colIndex").and_then(fields::as_column);
    let col_index = col_index
        .filter(|column| column.scalar_type() == Some(ScalarType::I64))
        .ok_or_else(|| bad("colIndex", "[]i64"))?;
    let values = fields::field(matrix, ty, "values").and_then(fields::as_column);
    let values = values.ok_or_else(|| bad("values", "[]a"))?;
    let values_type = field_type(ty, "values").ok_or_else(|| bad("values", "[]a"))?;
    for other in [col_index.len(), values.len()] {
        if other != row_index.len() {
            return Err(CsrError::Trap(TrapKind::LengthMismatch {
                operation: "csr".to_owned(),
                left: row_index.len() as i64,
                right: other as i64,
            }));
        }
    }
    if rows < 0 {
        let length = i128::from(rows);
        return Err(CsrError::Trap(TrapKind::BadLength { operation: "csr".to_owned(), length }));
    }
    // A file may promise any number of empty rows: they are counted before memory is taken.
    let wanted = (rows as u64)
        .saturating_mul(8)
        .saturating_add(8 * col_index.len() as u64)
        .saturating_add(values.bytes() as u64);
    if wanted > value_bytes {
        return Err(CsrError::Memory { wanted, limit: value_bytes });
    }

    // A counting sort: how many entries each row has, where each row begins, and then each entry
    // to the next free place of its row.
    let mut counts = vec![0i64; rows as usize];
    for &row in row_index {
        match usize::try_from(row).ok().and_then(|row| counts.get_mut(row)) {
            Some(count) => *count += 1,
            None => {
                let trap = TrapKind::IndexOutOfRange { index: row, extent: rows };
                return Err(CsrError::Trap(trap));
            }
        }
    }
    let mut next = Vec::with_capacity(counts.len());
    let mut start = 0;
    for &count in &counts {
        next.push(start);
        start += count as usize;
    }
    let mut order = vec![0; row_index.len()];
    for (entry, &row) in row_index.iter().enumerate() {
        let place = &mut next[row as usize];
        order[*place] = entry;
        *place += 1;
    }

    let integer = Type::Scalar(ScalarType::I64);
    let values =
        Loaded { ty: values_type.clone(), ..fields::array(values.gather(&order), integer.clone()) };
    Ok(fields::record(vec![
        ("counts".into(), fields::array(Column::I64(counts.into()), integer.clone())),
        ("colIndex".into(), fields::array(col_index.gather(&order), integer)),
        ("values".into(), values),
    ]))
}

fn field_type<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    match ty {
        Type::Record(fields) => fields.iter().find(|(field, _)| &**field == name).map(|(_, ty)| ty),
        Type::Scalar(_) | Type::Tuple(_) | Type::Array(_) => None,
    }
}
