//! Sorts items on one thread with AVX-512.
//!
//! Note [Quicksort in vectors]. A pivot divides the items: a vector of them is compared with it at
//! once, those on either side are closed up within a register (`vpcompress`), and stored whole
//! where the next of their side belong; what follows them there is written over by the next store.
//! Bramas (A novel hybrid quicksort algorithm vectorized using AVX-512 on Intel Skylake, 2017) and
//! Blacher, Giesen and Kühne (Vectorized and performance-portable Quicksort, 2022) divide in one
//! array from both ends, for which vectors have to be set aside and masks made; here one side
//! stays, at the front of its array, and the other goes to a second array, so that no more is done
//! than compare, close up and store. Each side is then sorted with the room that the division left
//! free, and told in which of both it has to end up. Few items are sorted by networks
//! (Note [Networks of columns]).
//!
//! The pivot is the middle of a sample: a vector's lanes, each the median of five. It has items on
//! both sides, because it is below the greatest of the sample, or is made less than that; so equal
//! items do no harm. Where the whole sample is equal, the items are looked through: all may be.
//! Where divisions go wrong all the same, after twice as many as halving takes, digits decide
//! ([`sort_bucket`]).

use std::arch::x86_64::{
    __mmask8, __mmask16, _mm512_cmple_epu32_mask, _mm512_cmple_epu64_mask, _mm512_loadu_epi32,
    _mm512_loadu_epi64, _mm512_mask_storeu_epi32, _mm512_mask_storeu_epi64,
    _mm512_maskz_compress_epi32, _mm512_maskz_compress_epi64, _mm512_maskz_loadu_epi32,
    _mm512_maskz_loadu_epi64, _mm512_max_epu32, _mm512_max_epu64, _mm512_min_epu32,
    _mm512_min_epu64, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_storeu_epi32,
    _mm512_storeu_epi64,
};

use super::Whole;
use super::bucket::sort_bucket;
use super::network::{doubles_2, doubles_4, doubles_8, words_4, words_8, words_16};
use crate::execute::Halt;

/// Before so many items are divided, whether to go on is asked.
const POLLED: usize = 1 << 18;

/// Whether the machine has the instructions.
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("popcnt")
}

macro_rules! quicksort {
    (
        $name:ident, $element:ty, $signed:ty, $lanes:literal, $mask:ty, $all:ident, $min:ident,
        $max:ident, $at_most:ident, $compress:ident, $load:ident, $mask_load:ident, $store:ident,
        $mask_store:ident, [$($small:ident)*], $largest:ident
    ) => {
        pub(super) mod $name {
            use super::*;

            const LANES: usize = $lanes;

            /// Sorts few items; where they end up is said.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            fn few(data: &mut [$element], other: &mut [$element], to_other: bool) {
                $(if data.len() > LANES && data.len() <= $small::MOST {
                    return $small::sort(data, other, to_other);
                })*
                $largest::sort(data, other, to_other);
            }

            /// Divides items into those that are `most` at most and those above; one side stays at
            /// the front of `data`, the other, the lower or the upper one, goes to the front of
            /// `other`. What else both hold is lost. How many are `most` at most.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            pub(in crate::radix) fn divide(
                data: &mut [$element],
                other: &mut [$element],
                most: $element,
                lower_goes: bool,
            ) -> usize {
                let length = data.len();
                assert!(other.len() == length, "room for all");
                let most = $all(most as $signed);
                let flip: $mask = if lower_goes { !0 } else { 0 };
                let data: *mut $signed = data.as_mut_ptr().cast();
                let other: *mut $signed = other.as_mut_ptr().cast();
                let (mut at, mut kept) = (0, 0);
                while at + LANES <= length {
                    // SAFETY: the lanes that are read are items. Those that stay, and those that
                    // have gone, are at most as many as were read before: so vectors that begin
                    // behind them end where that which is read ends, at the latest.
                    unsafe {
                        let items = $load(data.add(at));
                        let stay = $at_most(items, most) ^ flip;
                        $store(other.add(at - kept), $compress(!stay, items));
                        $store(data.add(kept), $compress(stay, items));
                        kept += stay.count_ones() as usize;
                    }
                    at += LANES;
                }
                if at < length {
                    let first = |count: usize| ((1_u32 << count) - 1) as $mask;
                    let here = first(length - at);
                    // SAFETY: as above, with only so many lanes as are items.
                    unsafe {
                        let items = $mask_load(here, data.add(at));
                        let stay = ($at_most(items, most) ^ flip) & here;
                        let staying = stay.count_ones() as usize;
                        let going = first(length - at - staying);
                        $mask_store(other.add(at - kept), going, $compress(!stay & here, items));
                        $mask_store(data.add(kept), first(staying), $compress(stay, items));
                        kept += staying;
                    }
                }
                if lower_goes { length - kept } else { kept }
            }

            /// The least, a middle and the greatest of a sample.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn sample(items: &[$element]) -> [$element; 3] {
                let step = items.len().checked_sub(LANES).expect("more than networks sort") / 4;
                let from: *const $signed = items.as_ptr().cast();
                // SAFETY: the last of five vectors ends where the items end, at the latest.
                let vector = |number| unsafe { $load(from.add(number * step)) };
                let [a, b, c, d, e] = [vector(0), vector(1), vector(2), vector(3), vector(4)];
                let (a, b) = ($min(a, b), $max(a, b));
                let (d, e) = ($min(d, e), $max(d, e));
                // Neither the least of the lesser nor the greatest of the greater is the median.
                let (b, d) = ($min(b, e), $max(a, d));
                let medians = $max($min(b, d), $min(c, $max(b, d)));
                let mut sample: [$element; LANES] = [0; LANES];
                // SAFETY: there are as many places as lanes.
                unsafe { $store(sample.as_mut_ptr().cast(), $largest::sort_lanes(medians)) };
                [sample[0], sample[LANES / 2], sample[LANES - 1]]
            }

            /// Sorts the items of `data`; they end up there or in `other`, which is as long.
            /// After so many divisions, each of a part of the one before, digits decide.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            pub(in crate::radix) fn sort<'a>(
                mut data: &'a mut [$element],
                mut other: &'a mut [$element],
                mut to_other: bool,
                mut divisions: u32,
                poll: &dyn Fn() -> Result<(), Halt>,
            ) -> Result<(), Halt> {
                while data.len() > $largest::MOST {
                    if data.len() >= POLLED {
                        poll()?;
                    }
                    if divisions == 0 {
                        sort_bucket::<Whole<$element>>(data, u64::MAX, &mut Vec::new());
                        if to_other {
                            other.copy_from_slice(data);
                        }
                        return Ok(());
                    }
                    divisions -= 1;
                    let [least, middle, greatest] = sample(data);
                    let pivot = if middle < greatest {
                        middle
                    } else if least < greatest || data.iter().all(|&item| item <= greatest) {
                        if least == greatest && data.iter().all(|&item| item == greatest) {
                            if to_other {
                                other.fill(greatest);
                            }
                            return Ok(());
                        }
                        greatest - 1
                    } else {
                        greatest
                    };
                    let lower = divide(data, other, pivot, to_other);
                    let upper = data.len() - lower;
                    let (stayed, gone) = if to_other { (upper, lower) } else { (lower, upper) };
                    let (stay, free) = { data }.split_at_mut(stayed);
                    let (gone, rest) = { other }.split_at_mut(gone);
                    sort(stay, rest, to_other, divisions, poll)?;
                    (data, other, to_other) = (gone, free, !to_other);
                }
                few(data, other, to_other);
                Ok(())
            }
        }
    };
}

quicksort!(
    words, u32, i32, 16, __mmask16, _mm512_set1_epi32, _mm512_min_epu32, _mm512_max_epu32,
    _mm512_cmple_epu32_mask, _mm512_maskz_compress_epi32, _mm512_loadu_epi32,
    _mm512_maskz_loadu_epi32, _mm512_storeu_epi32, _mm512_mask_storeu_epi32, [words_4 words_8],
    words_16
);
quicksort!(
    doubles, u64, i64, 8, __mmask8, _mm512_set1_epi64, _mm512_min_epu64, _mm512_max_epu64,
    _mm512_cmple_epu64_mask, _mm512_maskz_compress_epi64, _mm512_loadu_epi64,
    _mm512_maskz_loadu_epi64, _mm512_storeu_epi64, _mm512_mask_storeu_epi64, [doubles_2 doubles_4],
    doubles_8
);
