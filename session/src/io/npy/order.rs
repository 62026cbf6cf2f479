//! From Fortran order (the first axis varies fastest) to the row-major order of arrays here.

use weft_ir::Column;

/// The elements of an array of extents `shape`, stored in Fortran order, in row-major order.
pub(super) fn to_row_major(elements: Column, shape: &[usize]) -> Column {
    if shape.iter().filter(|&&extent| extent != 1).count() < 2 {
        return elements;
    }
    match &elements {
        Column::I8(buf) => Column::I8(permuted(buf.as_slice(), shape).into()),
        Column::I16(buf) => Column::I16(permuted(buf.as_slice(), shape).into()),
        Column::I32(buf) => Column::I32(permuted(buf.as_slice(), shape).into()),
        Column::I64(buf) => Column::I64(permuted(buf.as_slice(), shape).into()),
        Column::U8(buf) => Column::U8(permuted(buf.as_slice(), shape).into()),
        Column::U16(buf) => Column::U16(permuted(buf.as_slice(), shape).into()),
        Column::U32(buf) => Column::U32(permuted(buf.as_slice(), shape).into()),
        Column::U64(buf) => Column::U64(permuted(buf.as_slice(), shape).into()),
        Column::F32(buf) => Column::F32(permuted(buf.as_slice(), shape).into()),
        Column::F64(buf) => Column::F64(permuted(buf.as_slice(), shape).into()),
        Column::Bool(buf) => Column::Bool(permuted(buf.as_slice(), shape).into()),
        Column::Char(buf) => Column::Char(permuted(buf.as_slice(), shape).into()),
        Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => {
            unreachable!("an array file holds scalars")
        }
    }
}

/// The elements in row-major order. The last axis is the inner loop; blocks of it and of the
/// first axis, whose neighbours lie together in the source, keep both sides in the cache.
fn permuted<T: Copy + Default>(source: &[T], shape: &[usize]) -> Vec<T> {
    const BLOCK: usize = 32;
    let mut target = vec![T::default(); source.len()];
    if source.is_empty() {
        return target;
    }
    let (rows, columns) = (shape[0], shape[shape.len() - 1]);
    let middle = &shape[1..shape.len() - 1];
    let middle_size: usize = middle.iter().product();
    for middle_index in 0..middle_size {
        // The same position of the middle axes, counted with the last axis fastest and with the
        // first axis fastest.
        let (mut rest, mut weight, mut fortran_index) = (middle_index, middle_size, 0);
        for &extent in middle.iter().rev() {
            weight /= extent;
            fortran_index += (rest % extent) * weight;
            rest /= extent;
        }
        for row_block in (0..rows).step_by(BLOCK) {
            for column_block in (0..columns).step_by(BLOCK) {
                for row in row_block..rows.min(row_block + BLOCK) {
                    for column in column_block..columns.min(column_block + BLOCK) {
                        target[(row * middle_size + middle_index) * columns + column] =
                            source[(column * middle_size + fortran_index) * rows + row];
                    }
                }
            }
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::permuted;

    /// The definition: element `(i, j, k)` lies at `i + n0 * (j + n1 * k)`.
    #[test]
    fn axes_are_reversed() {
        let shape = [3, 4, 2, 5];
        let source: Vec<u32> = (0..120).collect();
        let mut expected = Vec::new();
        for i in 0..3 {
            for j in 0..4 {
                for k in 0..2 {
                    for l in 0..5 {
                        expected.push(i + 3 * (j + 4 * (k + 2 * l)));
                    }
                }
            }
        }
        assert_eq!(permuted(&source, &shape), expected);
    }

    #[test]
    fn matrices_larger_than_a_block_are_transposed() {
        let (rows, columns) = (70, 45);
        let source: Vec<u32> = (0..rows * columns).collect();
        let target = permuted(&source, &[rows as usize, columns as usize]);
        for row in 0..rows {
            for column in 0..columns {
                assert_eq!(target[(row * columns + column) as usize], column * rows + row);
            }
        }
    }
}
