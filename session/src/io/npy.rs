//! NumPy's array files (NEP 1): versions 1 to 3, both byte orders, C and Fortran order.

mod half;
mod header;
mod order;

use std::io::Write;
use std::sync::Arc;

use bytemuck::Pod;
use weft_ir::{Array, Column, ScalarType, Type, Value};

use super::Loaded;
use super::error::{Place, Problem};
use super::source::Source;
use header::{Dtype, Header};

/// Reads the one array of a `.npy` stream, to its end.
pub(super) fn read(source: &mut Source) -> Result<Loaded, Problem> {
    let header = Header::read(source)?;
    let shape = checked_shape(&header.shape, header.dtype.value_bytes(), source.limits())?;
    let count = shape.iter().product();
    let elements = read_column(source, &header, count)?;
    if !source.at_end()? {
        let place = Place::Byte(source.position() - 1);
        return Err(Problem::malformed(place, "the data goes on after the last element"));
    }
    let elements = if header.fortran { order::to_row_major(elements, &shape) } else { elements };
    let mut ty = Type::Scalar(elements.scalar_type().expect("an array file holds scalars"));
    if shape.is_empty() {
        let scalar = elements.scalar(0).expect("an array of no axes has one element");
        return Ok(Loaded { value: Value::Scalar(scalar), ty });
    }
    let mut column = elements;
    for (axis, &extent) in shape.iter().enumerate().skip(1).rev() {
        let len = shape[..axis].iter().product();
        column = Column::Dense { len, extent, inner: Box::new(column) };
    }
    for _ in &shape {
        ty = Type::array(ty);
    }
    Ok(Loaded { value: Value::Array(Arc::new(Array::new(column))), ty })
}

/// Writes a scalar or a regular array of scalars, version 1.
pub(super) fn write(value: &Value, ty: &Type, target: &mut impl Write) -> Result<(), Problem> {
    let (shape, elements) = regular(value, ty)?;
    let scalar = elements.scalar_type().expect("the elements were found to be scalars");
    target.write_all(&header::write(scalar, &shape)).map_err(Problem::writing)?;
    match &elements {
        Column::I8(buf) => write_elements(buf.as_slice(), target),
        Column::I16(buf) => write_elements(buf.as_slice(), target),
        Column::I32(buf) => write_elements(buf.as_slice(), target),
        Column::I64(buf) => write_elements(buf.as_slice(), target),
        Column::U8(buf) | Column::Char(buf) => write_elements(buf.as_slice(), target),
        Column::U16(buf) => write_elements(buf.as_slice(), target),
        Column::U32(buf) => write_elements(buf.as_slice(), target),
        Column::U64(buf) => write_elements(buf.as_slice(), target),
        Column::F32(buf) => write_elements(buf.as_slice(), target),
        Column::F64(buf) => write_elements(buf.as_slice(), target),
        Column::Bool(buf) => {
            for piece in buf.as_slice().chunks(1 << 16) {
                let bytes: Vec<u8> = piece.iter().map(|&truth| u8::from(truth)).collect();
                target.write_all(&bytes).map_err(Problem::writing)?;
            }
            Ok(())
        }
        Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => {
            unreachable!("the elements were found to be scalars")
        }
    }
}

fn write_elements<T: Pod>(elements: &[T], target: &mut impl Write) -> Result<(), Problem> {
    target.write_all(bytemuck::cast_slice(elements)).map_err(Problem::writing)
}

/// The extents of a regular array and its scalar elements in row-major order.
fn regular(value: &Value, ty: &Type) -> Result<(Vec<usize>, Column), Problem> {
    let array = match value {
        Value::Scalar(scalar) => {
            let mut one = weft_ir::ColumnBuilder::new(ty);
            one.push_scalar(*scalar);
            return Ok((Vec::new(), one.finish()));
        }
        Value::Tuple(_) => {
            let problem = Problem::does_not_fit(format!(
                "a .npy file holds one array of scalars, not a value of type {ty}"
            ));
            return Err(problem.hint("a record of arrays can be saved as .npz"));
        }
        Value::Array(array) => array,
    };
    let mut shape = vec![array.len()];
    let mut column = array.elements.clone();
    loop {
        match &column {
            Column::Tuple { .. } => {
                let problem = Problem::does_not_fit(format!(
                    "a .npy file holds an array of scalars, not one of type {ty}"
                ));
                return Err(problem.hint("an array of tuples or records can be saved as .csv"));
            }
            Column::Dense { .. } | Column::Ragged { .. } => {
                let extent = column.extent().map_err(|(row, first, length)| {
                    Problem::does_not_fit(format!(
                        "a .npy file holds a regular array, but row {row} has {length} elements \
                         and row 0 has {first}"
                    ))
                    .hint("save the elements (`flatten xs`) and their `lengths xs`")
                })?;
                shape.push(extent);
                column = column.flatten();
            }
            _ => return Ok((shape, column)),
        }
    }
}

/// The extents as they are counted here, once their product is known to be affordable.
fn checked_shape(
    shape: &[u64],
    element_bytes: usize,
    limits: &super::Limits,
) -> Result<Vec<usize>, Problem> {
    // Extents of 0 are left out: `(0, 10**18)` takes no memory, but `(10**18, 0)` would have as
    // many rows as that to walk over.
    let bytes = shape
        .iter()
        .filter(|&&extent| extent > 0)
        .try_fold(element_bytes as u128, |bytes, &extent| bytes.checked_mul(extent.into()))
        .unwrap_or(u128::MAX);
    if bytes > limits.value_bytes.into() {
        return Err(Problem::too_large("the array needs", bytes, limits.value_bytes));
    }
    Ok(shape.iter().map(|&extent| extent as usize).collect())
}

fn read_column(source: &mut Source, header: &Header, count: usize) -> Result<Column, Problem> {
    let swap = header.swap;
    Ok(match header.dtype {
        Dtype::Scalar(ScalarType::I8) => Column::I8(source.read_elements(count)?.into()),
        Dtype::Scalar(ScalarType::U8) => Column::U8(source.read_elements(count)?.into()),
        Dtype::Scalar(ScalarType::Char) => Column::Char(source.read_elements(count)?.into()),
        Dtype::Scalar(ScalarType::Bool) => Column::Bool(read_bools(source, count)?.into()),
        Dtype::Scalar(ScalarType::I16) => {
            Column::I16(swapped(source.read_elements(count)?, swap, i16::swap_bytes).into())
        }
        Dtype::Scalar(ScalarType::I32) => {
            Column::I32(swapped(source.read_elements(count)?, swap, i32::swap_bytes).into())
        }
        Dtype::Scalar(ScalarType::I64) => {
            Column::I64(swapped(source.read_elements(count)?, swap, i64::swap_bytes).into())
        }
        Dtype::Scalar(ScalarType::U16) => {
            Column::U16(swapped(source.read_elements(count)?, swap, u16::swap_bytes).into())
        }
        Dtype::Scalar(ScalarType::U32) => {
            Column::U32(swapped(source.read_elements(count)?, swap, u32::swap_bytes).into())
        }
        Dtype::Scalar(ScalarType::U64) => {
            Column::U64(swapped(source.read_elements(count)?, swap, u64::swap_bytes).into())
        }
        Dtype::Scalar(ScalarType::F32) => {
            let swap_float = |value: f32| f32::from_bits(value.to_bits().swap_bytes());
            Column::F32(swapped(source.read_elements(count)?, swap, swap_float).into())
        }
        Dtype::Scalar(ScalarType::F64) => {
            let swap_float = |value: f64| f64::from_bits(value.to_bits().swap_bytes());
            Column::F64(swapped(source.read_elements(count)?, swap, swap_float).into())
        }
        Dtype::Half => {
            let halves = swapped(source.read_elements(count)?, swap, u16::swap_bytes);
            Column::F32(halves.into_iter().map(half::to_f32).collect::<Vec<f32>>().into())
        }
    })
}

fn swapped<T: Copy>(mut elements: Vec<T>, swap: bool, swap_bytes: impl Fn(T) -> T) -> Vec<T> {
    if swap {
        for element in &mut elements {
            *element = swap_bytes(*element);
        }
    }
    elements
}

fn read_bools(source: &mut Source, count: usize) -> Result<Vec<bool>, Problem> {
    let start = source.position();
    let bytes: Vec<u8> = source.read_elements(count)?;
    if let Some(index) = bytes.iter().position(|&byte| byte > 1) {
        let message = format!("a bool is 0 or 1, not {}", bytes[index]);
        return Err(Problem::malformed(Place::Byte(start + index as u64), message));
    }
    Ok(bytes.into_iter().map(|byte| byte == 1).collect())
}
