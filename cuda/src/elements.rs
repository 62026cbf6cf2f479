//! Elements as the device stores them: little-endian, without gaps; a `bool` is a byte.

use weft_ir::{Column, ScalarType};

/// The bytes of a column of scalars.
///
/// # Panics
/// If the elements are no scalars.
pub fn bytes(elements: &Column) -> &[u8] {
    match elements {
        Column::I8(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::I16(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::I32(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::I64(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::U8(buf) | Column::Char(buf) => buf.as_slice(),
        Column::U16(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::U32(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::U64(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::F32(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::F64(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::Bool(buf) => bytemuck::cast_slice(buf.as_slice()),
        Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => {
            panic!("{elements:?} has elements that are no scalars")
        }
    }
}

/// How many bytes a column of scalars takes; its elements need not be in memory.
///
/// # Panics
/// If the elements are no scalars.
pub fn byte_count(elements: &Column) -> u64 {
    let ty = elements.scalar_type().expect("elements are scalars");
    (elements.len() * ty.bytes()) as u64
}

/// The column of so many elements whose bytes `read` gives.
///
/// # Errors
/// Those of `read`.
pub fn read_column<E>(
    element: ScalarType,
    count: usize,
    mut read: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Column, E> {
    macro_rules! numbers {
        ($variant:ident, $zero:expr) => {{
            let mut elements = vec![$zero; count];
            read(bytemuck::cast_slice_mut(&mut elements))?;
            Column::$variant(elements.into())
        }};
    }
    Ok(match element {
        ScalarType::I8 => numbers!(I8, 0_i8),
        ScalarType::I16 => numbers!(I16, 0_i16),
        ScalarType::I32 => numbers!(I32, 0_i32),
        ScalarType::I64 => numbers!(I64, 0_i64),
        ScalarType::U8 => numbers!(U8, 0_u8),
        ScalarType::U16 => numbers!(U16, 0_u16),
        ScalarType::U32 => numbers!(U32, 0_u32),
        ScalarType::U64 => numbers!(U64, 0_u64),
        ScalarType::F32 => numbers!(F32, 0_f32),
        ScalarType::F64 => numbers!(F64, 0_f64),
        ScalarType::Char => numbers!(Char, 0_u8),
        ScalarType::Bool => {
            let mut bytes = vec![0; count];
            read(&mut bytes)?;
            Column::Bool(bytes.into_iter().map(|byte| byte != 0).collect::<Vec<bool>>().into())
        }
    })
}
