//! The total order behind `sort`, `argsort`, `unique`, `groupBy` and `searchSorted`.

use std::cmp::Ordering;

use crate::Scalar;

/// Compares two values of one type: `-inf … -0 < +0 … inf`, then NaN, and all NaNs are equal.
/// `false` is below `true`, and characters are ordered by byte.
///
/// # Panics
///
/// When the types differ.
pub fn total_cmp(a: Scalar, b: Scalar) -> Ordering {
    match (a, b) {
        (Scalar::I8(a), Scalar::I8(b)) => a.cmp(&b),
        (Scalar::I16(a), Scalar::I16(b)) => a.cmp(&b),
        (Scalar::I32(a), Scalar::I32(b)) => a.cmp(&b),
        (Scalar::I64(a), Scalar::I64(b)) => a.cmp(&b),
        (Scalar::U8(a), Scalar::U8(b)) => a.cmp(&b),
        (Scalar::U16(a), Scalar::U16(b)) => a.cmp(&b),
        (Scalar::U32(a), Scalar::U32(b)) => a.cmp(&b),
        (Scalar::U64(a), Scalar::U64(b)) => a.cmp(&b),
        (Scalar::F32(a), Scalar::F32(b)) => total_cmp_f32(a, b),
        (Scalar::F64(a), Scalar::F64(b)) => total_cmp_f64(a, b),
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(&b),
        (Scalar::Char(a), Scalar::Char(b)) => a.cmp(&b),
        (a, b) => panic!("{a:?} and {b:?} have no common order"),
    }
}

/// [`total_cmp`] on `f32`.
#[inline]
pub fn total_cmp_f32(a: f32, b: f32) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}

/// [`total_cmp`] on `f64`.
#[inline]
pub fn total_cmp_f64(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}
