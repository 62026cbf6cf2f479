//! Puts up to 256 items in order in vectors, without a branch that depends on them.
//!
//! Note [Networks of columns]. The items are 16 rows of vectors, of 4, 8 or 16 lanes as they are
//! many (2 to 8 for items of 64 bits). Each of the 60 comparators of the smallest known network for
//! 16 inputs (Green 1969; Knuth, The Art of Computer Programming 3, 5.3.4) takes two rows, and
//! orders all columns at once. Then adjacent columns are merged, and what these come to, until one
//! is left; a merge is Batcher's for bitonic sequences (1968): compared are each item and the one
//! that stands as far from the other end, then those half as far apart, and so on, first in other
//! columns, then in other rows. At last rows and columns are exchanged, so that what is in order
//! lies in order in memory. Blacher, Giesen and Kühne (Vectorized and performance-portable
//! Quicksort, 2022) sort small arrays so. What is missing at the end are greatest items, which
//! stay there.

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, __mmask8, __mmask16, _mm_loadu_epi32, _mm_loadu_epi64,
    _mm_mask_blend_epi32, _mm_mask_blend_epi64, _mm_mask_loadu_epi32, _mm_mask_loadu_epi64,
    _mm_mask_max_epu32, _mm_mask_max_epu64, _mm_mask_storeu_epi32, _mm_mask_storeu_epi64,
    _mm_max_epu32, _mm_max_epu64, _mm_min_epu32, _mm_min_epu64, _mm_permutex2var_epi32,
    _mm_permutex2var_epi64, _mm_set1_epi32, _mm_set1_epi64x, _mm_storeu_epi32, _mm_storeu_epi64,
    _mm256_loadu_epi32, _mm256_loadu_epi64, _mm256_mask_blend_epi32, _mm256_mask_blend_epi64,
    _mm256_mask_loadu_epi32, _mm256_mask_loadu_epi64, _mm256_mask_max_epu32, _mm256_mask_max_epu64,
    _mm256_mask_storeu_epi32, _mm256_mask_storeu_epi64, _mm256_max_epu32, _mm256_max_epu64,
    _mm256_min_epu32, _mm256_min_epu64, _mm256_permutex2var_epi32, _mm256_permutex2var_epi64,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_storeu_epi32, _mm256_storeu_epi64,
    _mm512_loadu_epi32, _mm512_loadu_epi64, _mm512_mask_blend_epi32, _mm512_mask_blend_epi64,
    _mm512_mask_loadu_epi32, _mm512_mask_loadu_epi64, _mm512_mask_max_epu32, _mm512_mask_max_epu64,
    _mm512_mask_storeu_epi32, _mm512_mask_storeu_epi64, _mm512_max_epu32, _mm512_max_epu64,
    _mm512_min_epu32, _mm512_min_epu64, _mm512_permutex2var_epi32, _mm512_permutex2var_epi64,
    _mm512_set1_epi32, _mm512_set1_epi64, _mm512_storeu_epi32, _mm512_storeu_epi64,
};

/// The vectors of a matrix.
const ROWS: usize = 16;

/// Compares rows as Green's network does.
macro_rules! columns {
    ($v:ident, $min:ident, $max:ident) => {
        columns!(@ $v $min $max
            0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15,
            0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15,
            0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15,
            0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15,
            5 10, 6 9, 3 12, 13 14, 4 8, 7 11, 1 2,
            1 4, 7 13, 2 8, 11 14,
            2 4, 5 6, 9 10, 11 13, 3 8, 7 12,
            6 8, 10 12, 3 5, 7 9,
            3 4, 5 6, 7 8, 9 10, 11 12,
            6 7, 8 9)
    };
    (@ $v:ident $min:ident $max:ident $($a:literal $b:literal),*) => {$(
        ($v[$a], $v[$b]) = ($min($v[$a], $v[$b]), $max($v[$a], $v[$b]));
    )*};
}

macro_rules! network {
    (
        $name:ident, $element:ty, $signed:ty, $lanes:literal, $vector:ty, $mask:ty,
        $all:ident, $min:ident, $max:ident, $mask_max:ident, $blend:ident, $permute:ident,
        $load:ident, $mask_load:ident, $store:ident, $mask_store:ident
    ) => {
        pub(super) mod $name {
            use super::*;

            const LANES: usize = $lanes;

            /// It sorts so many items.
            pub(in crate::radix) const MOST: usize = ROWS * LANES;

            /// What lanes a distance of `X` apart need; in the places of bits that are set in `X`
            /// and in no other, two lanes have different bits.
            struct Apart<const X: usize>;

            impl<const X: usize> Apart<X> {
                /// Each lane's counterpart.
                const SWAP: [$element; LANES] = {
                    let (mut from, mut lane) = ([0; LANES], 0);
                    while lane < LANES {
                        from[lane] = (lane ^ X) as $element;
                        lane += 1;
                    }
                    from
                };
                /// The lanes of the later of two.
                const LATER: $mask = {
                    let (mut mask, mut lane) = (0, 0);
                    while lane < LANES {
                        if lane & X != 0 {
                            mask |= 1 << lane;
                        }
                        lane += 1;
                    }
                    mask
                };
                /// The earlier lanes of two vectors, in turn; lanes of the second count on.
                const EARLIER_OF_BOTH: [$element; LANES] = {
                    let (mut from, mut lane) = ([0; LANES], 0);
                    while lane < LANES {
                        let other = LANES + (lane ^ X);
                        from[lane] = if lane & X == 0 { lane } else { other } as $element;
                        lane += 1;
                    }
                    from
                };
                /// As above, the later lanes.
                const LATER_OF_BOTH: [$element; LANES] = {
                    let (mut from, mut lane) = ([0; LANES], 0);
                    while lane < LANES {
                        let (one, two) = (lane ^ X, LANES + lane);
                        from[lane] = if lane & X == 0 { one } else { two } as $element;
                        lane += 1;
                    }
                    from
                };
            }

            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn constant(lanes: [$element; LANES]) -> $vector {
                // SAFETY: both have as many bits, and any bits are right.
                unsafe { std::mem::transmute(lanes) }
            }

            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn swap<const X: usize>(row: $vector) -> $vector {
                $permute(row, constant(Apart::<X>::SWAP), row)
            }

            /// Compares each lane with its counterpart; the greater goes to the lanes with the bit
            /// of `LATER`.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn lanes<const X: usize, const LATER: usize>(row: $vector) -> $vector {
                let other = swap::<X>(row);
                $mask_max($min(row, other), Apart::<LATER>::LATER, row, other)
            }

            /// Compares rows.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn rows<const D: usize>(v: &mut [$vector; ROWS]) {
                for a in 0..ROWS {
                    if a & D == 0 {
                        (v[a], v[a + D]) = ($min(v[a], v[a + D]), $max(v[a], v[a + D]));
                    }
                }
            }

            /// Merges groups of columns with those beside them; `REVERSED` tells how far apart the
            /// ends of both are.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn merge<const COLUMNS: usize, const REVERSED: usize>(v: &mut [$vector; ROWS]) {
                for a in 0..ROWS / 2 {
                    let other = swap::<REVERSED>(v[ROWS - 1 - a]);
                    let (low, high) = ($min(v[a], other), $max(v[a], other));
                    let later = Apart::<COLUMNS>::LATER;
                    v[a] = $blend(later, low, high);
                    v[ROWS - 1 - a] = swap::<REVERSED>($blend(later, high, low));
                }
                for row in &mut *v {
                    if COLUMNS > 4 {
                        *row = lanes::<4, 4>(*row);
                    }
                    if COLUMNS > 2 {
                        *row = lanes::<2, 2>(*row);
                    }
                    if COLUMNS > 1 {
                        *row = lanes::<1, 1>(*row);
                    }
                }
                rows::<8>(v);
                rows::<4>(v);
                rows::<2>(v);
                rows::<1>(v);
            }

            /// Exchanges rows and columns a distance apart.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            fn transpose<const D: usize>(v: &mut [$vector; ROWS]) {
                for a in 0..ROWS {
                    if a & D == 0 {
                        let (one, two) = (v[a], v[a + D]);
                        v[a] = $permute(one, constant(Apart::<D>::EARLIER_OF_BOTH), two);
                        v[a + D] = $permute(one, constant(Apart::<D>::LATER_OF_BOTH), two);
                    }
                }
            }

            /// Sorts the lanes of a vector.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            #[inline]
            pub(in crate::radix) fn sort_lanes(row: $vector) -> $vector {
                let mut row = lanes::<1, 1>(row);
                if LANES > 2 {
                    row = lanes::<1, 1>(lanes::<3, 2>(row));
                }
                if LANES > 4 {
                    row = lanes::<1, 1>(lanes::<2, 2>(lanes::<7, 4>(row)));
                }
                if LANES > 8 {
                    row = lanes::<1, 1>(lanes::<2, 2>(lanes::<4, 4>(lanes::<15, 8>(row))));
                }
                row
            }

            /// Puts the items of `data`, [`MOST`] at most, in order there or in `other`, which is
            /// as long.
            #[target_feature(enable = "avx512f,avx512vl,popcnt")]
            pub(in crate::radix) fn sort(
                data: &mut [$element],
                other: &mut [$element],
                to_other: bool,
            ) {
                let length = data.len();
                assert!(length <= MOST && other.len() == length, "a network for so many");
                if length <= LANES {
                    let mask = ((1_u32 << length) - 1) as $mask;
                    // SAFETY: only those lanes are read and written that are items and have places.
                    unsafe {
                        let row = $mask_load($all(-1), mask, data.as_ptr().cast());
                        let to = if to_other { other } else { data };
                        $mask_store(to.as_mut_ptr().cast(), mask, sort_lanes(row));
                    }
                    return;
                }
                let from: *const $signed = data.as_ptr().cast();
                let mut v = [$all(-1); ROWS];
                for (row, at) in v.iter_mut().zip((0..).step_by(LANES)) {
                    if at + LANES <= length {
                        // SAFETY: these lanes are items.
                        *row = unsafe { $load(from.add(at)) };
                    } else if at < length {
                        let mask = ((1_u32 << (length - at)) - 1) as $mask;
                        // SAFETY: only those are read that are items.
                        *row = unsafe { $mask_load(*row, mask, from.add(at)) };
                    }
                }
                columns!(v, $min, $max);
                merge::<1, 1>(&mut v);
                if LANES > 2 {
                    merge::<2, 3>(&mut v);
                }
                if LANES > 4 {
                    merge::<4, 7>(&mut v);
                }
                if LANES > 8 {
                    merge::<8, 15>(&mut v);
                }
                transpose::<1>(&mut v);
                if LANES > 2 {
                    transpose::<2>(&mut v);
                }
                if LANES > 4 {
                    transpose::<4>(&mut v);
                }
                if LANES > 8 {
                    transpose::<8>(&mut v);
                }
                let to = if to_other { other } else { data };
                let to: *mut $signed = to.as_mut_ptr().cast();
                // A column is made of a row of each group.
                for (place, at) in (0..ROWS).zip((0..).step_by(LANES)) {
                    let column = place * LANES / ROWS;
                    let row = v[place * LANES % ROWS + column];
                    if at + LANES <= length {
                        // SAFETY: these lanes have places.
                        unsafe { $store(to.add(at), row) };
                    } else if at < length {
                        let mask = ((1_u32 << (length - at)) - 1) as $mask;
                        // SAFETY: only those are written that have places.
                        unsafe { $mask_store(to.add(at), mask, row) };
                    }
                }
            }
        }
    };
}

network!(
    words_4,
    u32,
    i32,
    4,
    __m128i,
    __mmask8,
    _mm_set1_epi32,
    _mm_min_epu32,
    _mm_max_epu32,
    _mm_mask_max_epu32,
    _mm_mask_blend_epi32,
    _mm_permutex2var_epi32,
    _mm_loadu_epi32,
    _mm_mask_loadu_epi32,
    _mm_storeu_epi32,
    _mm_mask_storeu_epi32
);
network!(
    words_8,
    u32,
    i32,
    8,
    __m256i,
    __mmask8,
    _mm256_set1_epi32,
    _mm256_min_epu32,
    _mm256_max_epu32,
    _mm256_mask_max_epu32,
    _mm256_mask_blend_epi32,
    _mm256_permutex2var_epi32,
    _mm256_loadu_epi32,
    _mm256_mask_loadu_epi32,
    _mm256_storeu_epi32,
    _mm256_mask_storeu_epi32
);
network!(
    words_16,
    u32,
    i32,
    16,
    __m512i,
    __mmask16,
    _mm512_set1_epi32,
    _mm512_min_epu32,
    _mm512_max_epu32,
    _mm512_mask_max_epu32,
    _mm512_mask_blend_epi32,
    _mm512_permutex2var_epi32,
    _mm512_loadu_epi32,
    _mm512_mask_loadu_epi32,
    _mm512_storeu_epi32,
    _mm512_mask_storeu_epi32
);
network!(
    doubles_2,
    u64,
    i64,
    2,
    __m128i,
    __mmask8,
    _mm_set1_epi64x,
    _mm_min_epu64,
    _mm_max_epu64,
    _mm_mask_max_epu64,
    _mm_mask_blend_epi64,
    _mm_permutex2var_epi64,
    _mm_loadu_epi64,
    _mm_mask_loadu_epi64,
    _mm_storeu_epi64,
    _mm_mask_storeu_epi64
);
network!(
    doubles_4,
    u64,
    i64,
    4,
    __m256i,
    __mmask8,
    _mm256_set1_epi64x,
    _mm256_min_epu64,
    _mm256_max_epu64,
    _mm256_mask_max_epu64,
    _mm256_mask_blend_epi64,
    _mm256_permutex2var_epi64,
    _mm256_loadu_epi64,
    _mm256_mask_loadu_epi64,
    _mm256_storeu_epi64,
    _mm256_mask_storeu_epi64
);
network!(
    doubles_8,
    u64,
    i64,
    8,
    __m512i,
    __mmask8,
    _mm512_set1_epi64,
    _mm512_min_epu64,
    _mm512_max_epu64,
    _mm512_mask_max_epu64,
    _mm512_mask_blend_epi64,
    _mm512_permutex2var_epi64,
    _mm512_loadu_epi64,
    _mm512_mask_loadu_epi64,
    _mm512_storeu_epi64,
    _mm512_mask_storeu_epi64
);
