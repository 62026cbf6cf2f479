//! Sorts of values.
//!
//! Note [Sorted keys]. Where an order only serves to bring the keys that it was made of into it
//! ([`weft_ir::plan::sorted_keys`]), no order is made: the keys are sorted alone, and turned back into elements. Rows are
//! shared by the threads, or all threads sort one if it is long.
//!
//! Where others read the order too, as in groups by key, both are made at once: keys that were counted are not read
//! again (Note [Codes of keys] in `launch::order`).

use weft_ir::{Exhausted, Stop};

use super::Launch;
use super::bits::{SIGN, SIGN_32, float_bits_f32, float_bits_f64};
use crate::execute::Halt;
use crate::lanes::{Elements, Storage};
use crate::radix::{self, Whole};
use crate::shape::Shape;
use crate::workers::Workers;

impl Launch<'_> {
    /// The keys that the points of a sort have, in order.
    pub(super) fn sort_values(
        &self,
        keys: &Storage,
        descending: bool,
        taken: &mut u64,
    ) -> Result<Storage, Stop> {
        let bytes = 3 * (keys.len() as u64).saturating_mul(keys.ty().scalar_type().bytes() as u64);
        *taken = taken.saturating_add(bytes);
        if *taken > self.free_bytes {
            let span = self.kernel.span;
            return Err(Exhausted::Memory { wanted: bytes, limit: self.limit, span }.into());
        }
        let poll = || self.context().poll();
        sort_keys(keys.elements(), descending, &self.shape, self.workers, &poll)
            .map_err(|halt| self.stop(halt))
    }
}

/// The keys in order, row by row.
pub(crate) fn sort_keys(
    keys: Elements<'_>,
    descending: bool,
    shape: &Shape<'_>,
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<Storage, Halt> {
    let mut sorted = workers.memory().take(keys.ty(), keys.len());
    let flip_32 = if descending { u32::MAX } else { 0 };
    let flip = if descending { u64::MAX } else { 0 };
    macro_rules! sort {
        ($($variant:ident $flip:ident $key:ident => $bits:expr, $back:ident => $element:expr;)*) => {
            match (keys, &mut sorted) {
                $((Elements::$variant(keys), Storage::$variant(places)) => {
                    let item = |$key| $bits ^ $flip;
                    let convert = |bits| {
                        let $back = bits ^ $flip;
                        $element
                    };
                    radix::sort_rows::<Whole<_>, _, _>(
                        keys, item, convert, places, shape, workers, poll,
                    )?;
                })*
                (keys, sorted) => unreachable!("{:?} and {:?}", keys.ty(), sorted.ty()),
            }
        };
    }
    sort! {
        I8 flip_32 key => i32::from(key) as u32 ^ SIGN_32, bits => (bits ^ SIGN_32) as i8;
        I16 flip_32 key => i32::from(key) as u32 ^ SIGN_32, bits => (bits ^ SIGN_32) as i16;
        I32 flip_32 key => key as u32 ^ SIGN_32, bits => (bits ^ SIGN_32) as i32;
        I64 flip key => key as u64 ^ SIGN, bits => (bits ^ SIGN) as i64;
        U8 flip_32 key => u32::from(key), bits => bits as u8;
        U16 flip_32 key => u32::from(key), bits => bits as u16;
        U32 flip_32 key => key, bits => bits;
        U64 flip key => key, bits => bits;
        F32 flip_32 key => float_bits_f32(key), bits => float_f32(bits);
        F64 flip key => float_bits_f64(key), bits => float_f64(bits);
        Bool flip_32 key => u32::from(key), bits => bits == 1;
    }
    Ok(sorted)
}

/// The float with these bits; all NaNs are one.
fn float_f32(bits: u32) -> f32 {
    match bits {
        u32::MAX => f32::NAN,
        bits if bits & SIGN_32 == 0 => f32::from_bits(!bits),
        bits => f32::from_bits(bits ^ SIGN_32),
    }
}

/// As [`float_f32`].
fn float_f64(bits: u64) -> f64 {
    match bits {
        u64::MAX => f64::NAN,
        bits if bits & SIGN == 0 => f64::from_bits(!bits),
        bits => f64::from_bits(bits ^ SIGN),
    }
}
