//! NumPy's array files (NEP 1): versions 1 to 3, both byte orders, C and Fortran order.

mod half;
mod header;
mod order;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;
use weft_files::MappedFile;
use weft_ir::math::cast::{canonical_bits_f32, canonical_bits_f64};
use weft_ir::{Array, Column, ScalarType, Type, Value};

use super::error::{Place, Problem};
use super::source::{Source, cut_off};
use super::{Limits, Loaded, mapped};
use header::{Dtype, Header};

/// Reads the one array of a `.npy` stream, to its end.
pub(super) fn read(source: &mut Source) -> Result<Loaded, Problem> {
    let header = Header::read(source)?;
    let shape = checked_shape(&header.shape, header.dtype.value_bytes(), source.limits())?;
    let count = shape.iter().product();
    let elements = read_column(source, &header, count)?;
    if !source.at_end()? {
        return Err(too_long(source.position() - 1));
    }
    let elements = if header.fortran { order::to_row_major(elements, &shape) } else { elements };
    Ok(shaped(elements, &shape))
}

/// As [`read`] of the array of a file, but the elements stay in the file if they lie there as they are in memory.
pub(super) fn stream(path: &Path, limits: &Limits) -> Result<Loaded, Problem> {
    let mapped = match mapped::open(path, limits)? {
        Some(file) => map(&file, limits)?,
        None => None,
    };
    let loaded = match mapped {
        Some(loaded) => loaded,
        None => read(&mut Source::open(path, limits)?)?,
    };
    match loaded.value {
        Value::Array(_) => Ok(loaded),
        Value::Scalar(_) | Value::Tuple(_) => {
            let problem = Problem::unsupported("the array has no axes, so there are no rows");
            Err(problem.hint("`load` reads the scalar that it is"))
        }
    }
}

/// The one array of a mapped file; nothing if it has to be read for its order of bytes or of elements, for its
/// type, or because there is nothing to map.
fn map(file: &Arc<MappedFile>, limits: &Limits) -> Result<Option<Loaded>, Problem> {
    let mut source = Source::new(file.bytes(), limits);
    let header = Header::read(&mut source)?;
    let (start, length) = (source.position(), file.bytes().len() as u64);
    let is_reordered =
        header.fortran && header.shape.iter().filter(|&&extent| extent != 1).count() > 1;
    // Whether a byte is a bool must be known before anybody looks at it as one, and may change in a file.
    let scalar = match header.dtype {
        Dtype::Scalar(scalar) if scalar != ScalarType::Bool => scalar,
        Dtype::Scalar(_) | Dtype::Half => return Ok(None),
    };
    if header.swap || is_reordered || header.shape.is_empty() || header.shape.contains(&0) {
        return Ok(None);
    }
    let bytes = size(&header.shape, scalar.bytes());
    let left = u128::from(length - start);
    if bytes > left {
        return Err(cut_off(bytes, start, length));
    }
    if bytes < left {
        return Err(too_long(start + bytes as u64));
    }
    // What fits into the file fits into memory addresses, as do the extents.
    let shape: Vec<usize> = header.shape.iter().map(|&extent| extent as usize).collect();
    let elements = map_column(file, scalar, start as usize, shape.iter().product());
    Ok(elements.map(|elements| shaped(elements, &shape)))
}

/// Elements of a mapped file; nothing if they do not lie at addresses that are right for their type.
fn map_column(
    file: &Arc<MappedFile>,
    scalar: ScalarType,
    start: usize,
    count: usize,
) -> Option<Column> {
    Some(match scalar {
        ScalarType::I8 => Column::I8(mapped::elements(file, start, count)?),
        ScalarType::I16 => Column::I16(mapped::elements(file, start, count)?),
        ScalarType::I32 => Column::I32(mapped::elements(file, start, count)?),
        ScalarType::I64 => Column::I64(mapped::elements(file, start, count)?),
        ScalarType::U8 => Column::U8(mapped::elements(file, start, count)?),
        ScalarType::U16 => Column::U16(mapped::elements(file, start, count)?),
        ScalarType::U32 => Column::U32(mapped::elements(file, start, count)?),
        ScalarType::U64 => Column::U64(mapped::elements(file, start, count)?),
        ScalarType::F32 => Column::F32(mapped::elements(file, start, count)?),
        ScalarType::F64 => Column::F64(mapped::elements(file, start, count)?),
        ScalarType::Char => Column::Char(mapped::elements(file, start, count)?),
        ScalarType::Bool => return None,
    })
}

/// The value of scalars in row-major order.
fn shaped(elements: Column, shape: &[usize]) -> Loaded {
    let mut ty = Type::Scalar(elements.scalar_type().expect("an array file holds scalars"));
    if shape.is_empty() {
        let scalar = elements.scalar(0).expect("an array of no axes has one element");
        return Loaded { value: Value::Scalar(scalar), ty };
    }
    let mut column = elements;
    for (axis, &extent) in shape.iter().enumerate().skip(1).rev() {
        let len = shape[..axis].iter().product();
        column = Column::Dense { len, extent, inner: Box::new(column) };
    }
    for _ in shape {
        ty = Type::array(ty);
    }
    Loaded { value: Value::Array(Arc::new(Array::new(column))), ty }
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
        Column::F32(buf) => {
            let canonical = |&number: &f32| canonical_bits_f32(number);
            write_floats(buf.as_slice(), f32::is_nan, canonical, target)
        }
        Column::F64(buf) => {
            let canonical = |&number: &f64| canonical_bits_f64(number);
            write_floats(buf.as_slice(), f64::is_nan, canonical, target)
        }
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

/// Processors make NaNs of different bits; in a file there is one.
fn write_floats<T: Pod, B: Pod>(
    numbers: &[T],
    is_nan: impl Fn(T) -> bool,
    canonical: impl Fn(&T) -> B,
    target: &mut impl Write,
) -> Result<(), Problem> {
    for piece in numbers.chunks(1 << 16) {
        match piece.iter().any(|&number| is_nan(number)) {
            false => write_elements(piece, target)?,
            true => write_elements(&piece.iter().map(&canonical).collect::<Vec<B>>(), target)?,
        }
    }
    Ok(())
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
                    let elements = if length == 1 { "element" } else { "elements" };
                    Problem::does_not_fit(format!(
                        "a .npy file holds a regular array, but row {row} has {length} {elements} and row 0 has \
                         {first}"
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
    limits: &Limits,
) -> Result<Vec<usize>, Problem> {
    let bytes = size(shape, element_bytes);
    if bytes > limits.value_bytes.into() {
        return Err(Problem::too_large("the array needs", bytes, limits.value_bytes));
    }
    Ok(shape.iter().map(|&extent| extent as usize).collect())
}

/// The bytes of an array. Extents of 0 are left out: `(0, 10**18)` takes no memory, but `(10**18, 0)` would have
/// as many rows as that to walk over.
fn size(shape: &[u64], element_bytes: usize) -> u128 {
    shape
        .iter()
        .filter(|&&extent| extent > 0)
        .try_fold(element_bytes as u128, |bytes, &extent| bytes.checked_mul(extent.into()))
        .unwrap_or(u128::MAX)
}

fn too_long(end: u64) -> Problem {
    Problem::malformed(Place::Byte(end), "the data goes on after the last element")
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
