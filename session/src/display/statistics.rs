//! The line of statistics under a large array.

use weft_ir::{Column, Scalar, ScalarType, Summary, Type, Value};

use super::scalar::shown_scalar;
use super::{Digits, PIECE};
use crate::sink::Cancel;

/// `min 0.0, max 99.9, mean 49.95, nan 0` of all numbers of an array, however nested. The count of
/// NaNs stands there for floats only; they take no part in the other figures.
///
/// `None` if the value is no array of numbers, or holds none. It visits every element, or has the device do
/// that which has them; and it is `None` if that is cancelled.
pub fn statistics(value: &Value, ty: &Type, digits: Digits, cancel: &Cancel) -> Option<String> {
    let Value::Array(array) = value else { return None };
    let mut element = ty;
    while let Type::Array(inner) = element {
        element = inner;
    }
    let Type::Scalar(scalar) = element else { return None };
    if matches!(scalar, ScalarType::Bool | ScalarType::Char) {
        return None;
    }
    let mut column = array.elements.clone();
    while matches!(column, Column::Dense { .. } | Column::Ragged { .. }) {
        column = column.flatten();
    }
    summary(&column, digits, cancel)
}

/// Summarises a column of numbers.
fn summary(column: &Column, digits: Digits, cancel: &Cancel) -> Option<String> {
    if let Some(Summary { least, greatest, sum, nans }) = column.summary() {
        let count = column.len() - nans;
        if count == 0 {
            return (nans > 0).then(|| format!("nan {nans}"));
        }
        let figures = line(least, greatest, sum, count, digits);
        let is_float = matches!(least, Scalar::F32(_) | Scalar::F64(_));
        return Some(if is_float { format!("{figures}, nan {nans}") } else { figures });
    }
    macro_rules! integers {
        ($data:expr, $scalar:path) => {{
            let data = $data.as_slice();
            let (mut min, mut max) = (*data.first()?, *data.first()?);
            let mut sum = Sum::default();
            for piece in data.chunks(PIECE) {
                if cancel.is_cancelled() {
                    return None;
                }
                min = min.min(*piece.iter().min()?);
                max = max.max(*piece.iter().max()?);
                piece.iter().for_each(|&value| sum.add(value as f64));
            }
            line($scalar(min), $scalar(max), sum.total(), data.len(), digits)
        }};
    }
    macro_rules! floats {
        ($data:expr, $scalar:path) => {{
            let data = $data.as_slice();
            let mut sum = Sum::default();
            let (mut count, mut ends) = (0, None);
            for piece in data.chunks(PIECE) {
                if cancel.is_cancelled() {
                    return None;
                }
                for &value in piece {
                    if value.is_nan() {
                        sum.add(0.0);
                        continue;
                    }
                    count += 1;
                    sum.add(value.into());
                    let (min, max) = ends.unwrap_or((value, value));
                    let min = if value < min { value } else { min };
                    ends = Some((min, if value > max { value } else { max }));
                }
            }
            let nans = data.len() - count;
            let Some((min, max)) = ends else { return (nans > 0).then(|| format!("nan {nans}")) };
            let figures = line($scalar(min), $scalar(max), sum.total(), count, digits);
            format!("{figures}, nan {nans}")
        }};
    }
    Some(match column {
        Column::I8(data) => integers!(data, Scalar::I8),
        Column::I16(data) => integers!(data, Scalar::I16),
        Column::I32(data) => integers!(data, Scalar::I32),
        Column::I64(data) => integers!(data, Scalar::I64),
        Column::U8(data) => integers!(data, Scalar::U8),
        Column::U16(data) => integers!(data, Scalar::U16),
        Column::U32(data) => integers!(data, Scalar::U32),
        Column::U64(data) => integers!(data, Scalar::U64),
        Column::F32(data) => floats!(data, Scalar::F32),
        Column::F64(data) => floats!(data, Scalar::F64),
        Column::Bool(_)
        | Column::Char(_)
        | Column::Tuple { .. }
        | Column::Dense { .. }
        | Column::Ragged { .. } => return None,
    })
}

/// A sum as the language folds: blocks of 64 from left to right, then their sums likewise.
#[derive(Default)]
struct Sum {
    /// How much each level has so far, and its sum.
    levels: Vec<(usize, f64)>,
}

impl Sum {
    fn add(&mut self, number: f64) {
        const BLOCK: usize = 64;
        let mut number = number;
        for level in 0.. {
            let Some((count, sum)) = self.levels.get_mut(level) else {
                self.levels.push((1, number));
                return;
            };
            *sum = if *count == 0 { number } else { *sum + number };
            *count += 1;
            if *count < BLOCK {
                return;
            }
            (*count, number) = (0, *sum);
        }
    }

    fn total(self) -> f64 {
        // What is left of a level is one more for the next.
        let left = self.levels.iter().filter(|(count, _)| *count > 0).map(|(_, sum)| *sum);
        left.reduce(|below, above| above + below).unwrap_or(0.0)
    }
}

fn float(number: Scalar) -> f64 {
    match number {
        Scalar::I8(value) => value.into(),
        Scalar::I16(value) => value.into(),
        Scalar::I32(value) => value.into(),
        Scalar::I64(value) => value as f64,
        Scalar::U8(value) => value.into(),
        Scalar::U16(value) => value.into(),
        Scalar::U32(value) => value.into(),
        Scalar::U64(value) => value as f64,
        Scalar::F32(value) => value.into(),
        Scalar::F64(value) => value,
        Scalar::Bool(_) | Scalar::Char(_) => panic!("statistics of what is no number"),
    }
}

/// The line but for the count of NaNs. `sum` is that of `count` numbers. Floats have at most so many digits.
fn line(least: Scalar, greatest: Scalar, sum: f64, count: usize, most: Digits) -> String {
    let (min, max) = (float(least), float(greatest));
    let mean = sum / count as f64;
    let mean = match is_vague(min, max, mean, count, least.ty()) {
        true => format!("≈ {}", shown_scalar(Scalar::F64(rounded(mean, 6)), most)),
        false => shown_scalar(Scalar::F64(rounded(mean, digits(min, max, mean))), most),
    };
    let (least, greatest) = (shown_scalar(least, most), shown_scalar(greatest, most));
    format!("min {least}, max {greatest}, mean {mean}")
}

/// Whether a mean is known to a few digits only: those of 64 bits do not reach behind the point, or the
/// sum of integers was rounded.
fn is_vague(min: f64, max: f64, mean: f64, count: usize, ty: ScalarType) -> bool {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    let largest = min.abs().max(max.abs());
    let is_integer = !matches!(ty, ScalarType::F32 | ScalarType::F64);
    mean.is_finite() && (mean.abs() >= 1e13 || is_integer && largest * count as f64 > EXACT)
}

/// The digits of a mean for a glance: at least six, more where the numbers differ by little of what they
/// are, and always some behind the point.
fn digits(min: f64, max: f64, mean: f64) -> usize {
    const FEW: i32 = 6;
    const MOST: i32 = 15;
    if min == max {
        return MOST as usize;
    }
    let magnitude = |number: f64| number.abs().log10().floor() as i32;
    let last = (magnitude(mean) - FEW + 1).min(magnitude(max - min) - FEW + 1).min(-2);
    match mean == 0.0 || !mean.is_finite() || !(max - min).is_finite() {
        true => FEW as usize,
        false => (magnitude(mean) - last + 1).clamp(FEW, MOST) as usize,
    }
}

/// The number with so many digits, whose shortest text is shown.
fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits - 1).parse().unwrap_or(number)
}
