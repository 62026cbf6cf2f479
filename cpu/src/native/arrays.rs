//! The addresses of what functions read.

use std::ffi::c_void;
use std::ptr;

use weft_ir::Scalar;

use crate::execute::Source;
use crate::lanes::{Elements, Lane, with_lane_type};

/// The addresses of what is read.
pub(super) struct Arrays {
    pub(super) arrays: Vec<*const c_void>,
    pub(super) strides: Vec<*const i64>,
    /// The scalars among them; pointers go here, so that it must not change.
    pub(super) scalars: Box<[u64]>,
}

impl Arrays {
    pub(super) fn new(sources: &[Source<'_>]) -> Arrays {
        let bits = |source: &Source<'_>| match source {
            Source::Scalar(scalar) => bits(*scalar),
            Source::Array { .. } => 0,
        };
        let scalars: Box<[u64]> = sources.iter().map(bits).collect();
        let (mut arrays, mut strides) = (Vec::new(), Vec::new());
        for (source, scalar) in sources.iter().zip(&scalars) {
            match source {
                Source::Scalar(_) => {
                    arrays.push(ptr::from_ref(scalar).cast());
                    strides.push(ptr::null());
                }
                Source::Array { elements, strides: of_array, .. } => {
                    arrays.push(address(*elements));
                    strides.push(of_array.as_ptr());
                }
            }
        }
        Arrays { arrays, strides, scalars }
    }
}

/// Where elements begin.
pub(super) fn address(elements: Elements<'_>) -> *const c_void {
    with_lane_type!(elements.ty(), T => <T as Lane>::elements(elements).as_ptr().cast())
}

/// The bytes of a scalar, at the beginning of a word.
fn bits(scalar: Scalar) -> u64 {
    let mut bytes = [0; 8];
    let mut put = |value: &[u8]| bytes[..value.len()].copy_from_slice(value);
    match scalar {
        Scalar::I8(value) => put(&value.to_ne_bytes()),
        Scalar::I16(value) => put(&value.to_ne_bytes()),
        Scalar::I32(value) => put(&value.to_ne_bytes()),
        Scalar::I64(value) => put(&value.to_ne_bytes()),
        Scalar::U8(value) | Scalar::Char(value) => put(&value.to_ne_bytes()),
        Scalar::U16(value) => put(&value.to_ne_bytes()),
        Scalar::U32(value) => put(&value.to_ne_bytes()),
        Scalar::U64(value) => put(&value.to_ne_bytes()),
        Scalar::F32(value) => put(&value.to_ne_bytes()),
        Scalar::F64(value) => put(&value.to_ne_bytes()),
        Scalar::Bool(value) => put(&[u8::from(value)]),
    }
    u64::from_ne_bytes(bytes)
}
