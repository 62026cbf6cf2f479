//! The inner part of matrix products: a tile of sums of products over one block of the tree of a fold.
//!
//! Note [Products in the tree]. A product's element is a fold like any other: blocks of 64 products
//! from left to right, then blocks of the blocks' results. The lanes are elements of the product, so the
//! tree costs nothing. Of `matmul` each product is added with one rounding, of a sum of products that the
//! program spells out each is rounded on its own ([`Rounding`]).
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use crate::isa::has_avx2;
use crate::primitive::TREE;

/// The rows of a tile.
pub const ROWS: usize = 5;

/// The columns of a tile of any type, at most.
const MOST_COLUMNS: usize = 64;

/// How products are added up; of integers both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Each product is rounded, and each sum.
    Twice,
    /// Each sum of a product and what came before it is rounded once; the first product on its own.
    Once,
}

/// What products are made of.
pub trait Factor: Copy + Default + Send + Sync {
    /// The columns of a tile.
    const COLUMNS: usize;

    /// The product of two.
    fn times(self, other: Self) -> Self;

    /// The sum of two.
    fn plus(self, other: Self) -> Self;

    /// This and a product, rounded once.
    fn plus_product(self, left: Self, right: Self) -> Self;

    /// The sums of `left[row] · right[column]` over a block: `right` has [`Factor::COLUMNS`] columns
    /// for each step, `tile` as many for each row. The left factor of a row at step k is
    /// `left[rows[row] + k · stride]`. Sums are added to what the tile holds, if that is `more`.
    ///
    /// # Panics
    /// If anything is out of range, or if there is no step.
    fn tile(
        left: &[Self],
        rows: [usize; ROWS],
        stride: usize,
        right: &[Self],
        tile: &mut [Self],
        more: bool,
        rounding: Rounding,
    ) {
        check(left, rows, stride, right, tile);
        portable::<Self, false>(left, rows, stride, right, tile, more);
        let _ = rounding;
    }
}

/// Yields the number of steps.
fn check<T: Factor>(
    left: &[T],
    rows: [usize; ROWS],
    stride: usize,
    right: &[T],
    tile: &[T],
) -> usize {
    let steps = right.len() / T::COLUMNS;
    let last = rows.iter().max().copied().unwrap_or(0) + (steps.max(1) - 1) * stride;
    assert!((1..=TREE).contains(&steps) && right.len() == steps * T::COLUMNS, "whole steps");
    assert!(last < left.len() && tile.len() == ROWS * T::COLUMNS, "factors and sums are in range");
    steps
}

#[inline(always)]
fn portable<T: Factor, const ONCE: bool>(
    left: &[T],
    rows: [usize; ROWS],
    stride: usize,
    right: &[T],
    tile: &mut [T],
    more: bool,
) {
    let mut sums = [T::default(); MOST_COLUMNS];
    let sums = &mut sums[..T::COLUMNS];
    for (tile, row) in tile.chunks_exact_mut(T::COLUMNS).zip(rows) {
        for (step, right) in right.chunks_exact(T::COLUMNS).enumerate() {
            let left = left[row + step * stride];
            for (sum, &right) in sums.iter_mut().zip(right) {
                *sum = match (step, ONCE) {
                    (0, _) => left.times(right),
                    (_, true) => sum.plus_product(left, right),
                    (_, false) => sum.plus(left.times(right)),
                };
            }
        }
        for (tile, &sum) in tile.iter_mut().zip(&*sums) {
            *tile = if more { tile.plus(sum) } else { sum };
        }
    }
}

macro_rules! wide_factor {
    ($rust:ty, $wide:ident, $fused:ident, $columns:expr, $lanes:expr, $load:ident, $splat:ident,
     $mul:ident, $add:ident, $fma:ident, $store:ident) => {
        impl Factor for $rust {
            const COLUMNS: usize = $columns;

            #[inline(always)]
            fn times(self, other: $rust) -> $rust {
                self * other
            }

            #[inline(always)]
            fn plus(self, other: $rust) -> $rust {
                self + other
            }

            #[inline(always)]
            fn plus_product(self, left: $rust, right: $rust) -> $rust {
                left.mul_add(right, self)
            }

            fn tile(
                left: &[$rust],
                rows: [usize; ROWS],
                stride: usize,
                right: &[$rust],
                tile: &mut [$rust],
                more: bool,
                rounding: Rounding,
            ) {
                let steps = check(left, rows, stride, right, tile);
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the machine has the instructions, and `check` has compared all lengths.
                    unsafe {
                        match rounding {
                            Rounding::Twice => {
                                $wide::<false>(left, rows, stride, right, steps, tile, more);
                            }
                            Rounding::Once => {
                                $wide::<true>(left, rows, stride, right, steps, tile, more);
                            }
                        }
                    }
                    return;
                }
                let _ = steps;
                match rounding {
                    Rounding::Twice => {
                        portable::<$rust, false>(left, rows, stride, right, tile, more);
                    }
                    Rounding::Once => {
                        #[cfg(target_arch = "x86_64")]
                        if has_avx2() {
                            // SAFETY: the machine has the instructions.
                            unsafe { $fused(left, rows, stride, right, tile, more) };
                            return;
                        }
                        portable::<$rust, true>(left, rows, stride, right, tile, more);
                    }
                }
            }
        }

        /// Where `mul_add` is an instruction.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $fused(
            left: &[$rust],
            rows: [usize; ROWS],
            stride: usize,
            right: &[$rust],
            tile: &mut [$rust],
            more: bool,
        ) {
            portable::<$rust, true>(left, rows, stride, right, tile, more);
        }

        /// # Safety
        /// As [`check`] demands.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        unsafe fn $wide<const ONCE: bool>(
            left: &[$rust],
            rows: [usize; ROWS],
            stride: usize,
            right: &[$rust],
            steps: usize,
            tile: &mut [$rust],
            more: bool,
        ) {
            use std::arch::x86_64::{$add, $fma, $load, $mul, $splat, $store};
            const WIDE: usize = $columns / $lanes;
            // To -0 the first product is added as it is.
            let mut sums = [[$splat(-0.0); WIDE]; ROWS];
            for step in 0..steps {
                // SAFETY: `step` is below the number of steps, for which `check` holds.
                unsafe {
                    let right = right.as_ptr().add(step * $columns);
                    let columns: [_; WIDE] =
                        std::array::from_fn(|at| $load(right.add(at * $lanes)));
                    for (sums, row) in sums.iter_mut().zip(rows) {
                        let left = $splat(*left.get_unchecked(row + step * stride));
                        for (sum, column) in sums.iter_mut().zip(columns) {
                            *sum = if ONCE {
                                $fma(left, column, *sum)
                            } else {
                                $add(*sum, $mul(left, column))
                            };
                        }
                    }
                }
            }
            for (row, sums) in sums.into_iter().enumerate() {
                for (at, sum) in sums.into_iter().enumerate() {
                    // SAFETY: the tile has `ROWS` rows of `COLUMNS`.
                    unsafe {
                        let place = tile.as_mut_ptr().add(row * $columns + at * $lanes);
                        $store(place, if more { $add($load(place), sum) } else { sum });
                    }
                }
            }
        }
    };
}
wide_factor!(
    f32,
    wide_f32,
    fused_f32,
    64,
    16,
    _mm512_loadu_ps,
    _mm512_set1_ps,
    _mm512_mul_ps,
    _mm512_add_ps,
    _mm512_fmadd_ps,
    _mm512_storeu_ps
);
wide_factor!(
    f64,
    wide_f64,
    fused_f64,
    32,
    8,
    _mm512_loadu_pd,
    _mm512_set1_pd,
    _mm512_mul_pd,
    _mm512_add_pd,
    _mm512_fmadd_pd,
    _mm512_storeu_pd
);

macro_rules! integer_factor {
    ($($rust:ty)*) => {$(
        impl Factor for $rust {
            const COLUMNS: usize = 32;

            #[inline(always)]
            fn times(self, other: $rust) -> $rust {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn plus(self, other: $rust) -> $rust {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn plus_product(self, left: $rust, right: $rust) -> $rust {
                self.plus(left.times(right))
            }
        }
    )*};
}
integer_factor!(i32 i64 u32 u64);

#[cfg(test)]
mod tests {
    use super::{Factor, ROWS, Rounding, portable};

    fn check<T: Factor + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
        check_rounding::<T, false>(&of, Rounding::Twice);
        check_rounding::<T, true>(&of, Rounding::Once);
    }

    fn check_rounding<T: Factor + PartialEq + std::fmt::Debug, const ONCE: bool>(
        of: &impl Fn(usize) -> T,
        rounding: Rounding,
    ) {
        for steps in [1, 2, 3, 63, 64] {
            for (rows, stride) in [([0, 64, 128, 192, 192], 1), ([0, 1, 2, 3, 3], 5)] {
                let left: Vec<T> = (0..400).map(|at| of(at * 7 + 1)).collect();
                let right: Vec<T> = (0..steps * T::COLUMNS).map(|at| of(at * 13 + 5)).collect();
                let mut expected = vec![T::default(); ROWS * T::COLUMNS];
                portable::<T, ONCE>(&left, rows, stride, &right, &mut expected, false);
                let mut tile = vec![of(3); ROWS * T::COLUMNS];
                T::tile(&left, rows, stride, &right, &mut tile, false, rounding);
                assert_eq!(tile, expected);
                let mut twice = tile.clone();
                T::tile(&left, rows, stride, &right, &mut twice, true, rounding);
                assert!(twice.iter().zip(&tile).all(|(twice, once)| *twice == once.plus(*once)));
                portable::<T, ONCE>(&left, rows, stride, &right, &mut expected, true);
                assert_eq!(twice, expected);
                let mut sum = left[rows[1]].times(right[2]);
                for step in 1..steps {
                    let (a, b) = (left[rows[1] + step * stride], right[step * T::COLUMNS + 2]);
                    sum = match rounding {
                        Rounding::Twice => sum.plus(a.times(b)),
                        Rounding::Once => sum.plus_product(a, b),
                    };
                }
                assert_eq!(tile[T::COLUMNS + 2], sum);
            }
        }
    }

    #[test]
    fn every_type_agrees_with_the_plain_loop() {
        check(|at| (at % 1000) as f32 * 0.37 - 100.0);
        check(|at| (at % 1000) as f64 * 0.37 - 100.0);
        check(|at| (at as i32).wrapping_mul(0x0123_4567));
        check(|at| (at as i64).wrapping_mul(0x0123_4567_89ab_cdef));
    }

    #[test]
    fn zeros_keep_their_signs() {
        for rounding in [Rounding::Twice, Rounding::Once] {
            for (left, bits) in [(-0.0, (-0.0_f64).to_bits()), (0.0, 0)] {
                let (left, right) = ([left; 8], vec![1.0; f64::COLUMNS]);
                let mut tile = vec![7.0; ROWS * f64::COLUMNS];
                f64::tile(&left, [0; ROWS], 1, &right, &mut tile, false, rounding);
                assert!(tile.iter().all(|sum| sum.to_bits() == bits));
            }
        }
    }
}
