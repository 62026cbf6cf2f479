//! Closes up the elements that a filter keeps.
//!
//! With AVX-512 sixteen at a time; elsewhere each element is written and the place moves on if it is
//! kept, which no branch has to guess.
#![allow(unsafe_code)]

use crate::lanes::Lane;

/// How many elements past the last one that is kept may be written.
pub const SLACK: usize = 16;

/// Writes the values whose flags hold to the front of `out`, and says how many they are.
///
/// # Panics
/// If there are not as many flags as values, or if `out` has not room for all of them and [`SLACK`].
pub fn compact<T: Lane>(flags: &[bool], values: &[T], out: &mut [T]) -> usize {
    assert!(flags.len() == values.len() && out.len() >= flags.len() + SLACK, "room for all");
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        let (from, to) = (values.as_ptr(), out.as_mut_ptr());
        match size_of::<T>() {
            // SAFETY: the machine has the instructions, the lengths were checked, and any bits of the
            // size of a `T` are moved as they are.
            4 => return unsafe { wide::words(flags, from.cast(), to.cast()) },
            // SAFETY: as above.
            8 => return unsafe { wide::doubles(flags, from.cast(), to.cast()) },
            _ => {}
        }
    }
    portable(flags, values, out)
}

fn portable<T: Lane>(flags: &[bool], values: &[T], out: &mut [T]) -> usize {
    let mut at = 0;
    for (&flag, &value) in flags.iter().zip(values) {
        out[at] = value;
        at += usize::from(flag);
    }
    at
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        _mm_loadl_epi64, _mm_loadu_si128, _mm_test_epi8_mask, _mm512_loadu_epi32,
        _mm512_loadu_epi64, _mm512_maskz_compress_epi32, _mm512_maskz_compress_epi64,
        _mm512_storeu_epi32, _mm512_storeu_epi64,
    };

    /// # Safety
    /// `values` are as many as `flags`, and `out` has room for [`super::SLACK`] more.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    pub(super) unsafe fn words(flags: &[bool], values: *const i32, out: *mut i32) -> usize {
        let (groups, rest) = flags.as_chunks::<16>();
        let mut kept = 0;
        for (at, group) in groups.iter().enumerate() {
            // SAFETY: group `at` of the values is as long as that of the flags; what is kept before
            // it is at most its start, so the 16 that are written end within the slack.
            unsafe {
                let flags = _mm_loadu_si128(group.as_ptr().cast());
                let mask = _mm_test_epi8_mask(flags, flags);
                let lanes = _mm512_loadu_epi32(values.add(at * 16));
                _mm512_storeu_epi32(out.add(kept), _mm512_maskz_compress_epi32(mask, lanes));
                kept += mask.count_ones() as usize;
            }
        }
        for (at, &flag) in (groups.len() * 16..).zip(rest) {
            // SAFETY: as above, one by one.
            unsafe { *out.add(kept) = *values.add(at) };
            kept += usize::from(flag);
        }
        kept
    }

    /// # Safety
    /// As [`words`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    pub(super) unsafe fn doubles(flags: &[bool], values: *const i64, out: *mut i64) -> usize {
        let (groups, rest) = flags.as_chunks::<8>();
        let mut kept = 0;
        for (at, group) in groups.iter().enumerate() {
            // SAFETY: as in `words`; the load takes the 8 flags of the group and zeros.
            unsafe {
                let flags = _mm_loadl_epi64(group.as_ptr().cast());
                let mask = _mm_test_epi8_mask(flags, flags) as u8;
                let lanes = _mm512_loadu_epi64(values.add(at * 8));
                _mm512_storeu_epi64(out.add(kept), _mm512_maskz_compress_epi64(mask, lanes));
                kept += mask.count_ones() as usize;
            }
        }
        for (at, &flag) in (groups.len() * 8..).zip(rest) {
            // SAFETY: as above, one by one.
            unsafe { *out.add(kept) = *values.add(at) };
            kept += usize::from(flag);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::{SLACK, compact, portable};
    use crate::lanes::Lane;

    fn check<T: Lane>(of: impl Fn(usize) -> T) {
        for length in (0..70).chain([255, 256, 1000]) {
            for pattern in 0..6 {
                let flag = |at: usize| match pattern {
                    0 => false,
                    1 => true,
                    _ => (at * at + at / 3).is_multiple_of(pattern),
                };
                let flags: Vec<bool> = (0..length).map(flag).collect();
                let values: Vec<T> = (0..length).map(&of).collect();
                let kept: Vec<T> = (0..length).filter(|&at| flag(at)).map(&of).collect();
                let mut out = vec![T::default(); length + SLACK];
                for compact in [compact::<T>, portable::<T>] {
                    assert_eq!(compact(&flags, &values, &mut out), kept.len());
                    assert_eq!(out[..kept.len()], kept[..]);
                }
            }
        }
    }

    #[test]
    fn every_size_of_element() {
        check(|at| at as u8);
        check(|at| at as i16);
        check(|at| at as f32);
        check(|at| at as u32);
        check(|at| at as f64);
        check(|at| at as i64);
        check(|at| at % 3 == 0);
    }
}
