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

    /// The sums of a block: `tile` has [`Factor::COLUMNS`] for each row.
    ///
    /// # Panics
    /// If anything is out of range, or if there is no step.
    fn tile(block: &Block<'_, Self>, tile: &mut [Self]) {
        block.check(tile);
        block.sums::<false>(tile);
    }
}

/// What a tile of sums is made of: the sums of `left[row] · right[column]` over a block of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T> {
    /// The left factors: that of a row at step k is `left[rows[row] + k · stride]`.
    pub left: &'a [T],
    /// As above.
    pub rows: [usize; ROWS],
    /// As above.
    pub stride: usize,
    /// The right factors, [`Factor::COLUMNS`] for each step.
    pub right: &'a [T],
    /// How many columns are wanted; what the others come to is not said.
    pub width: usize,
    /// Whether sums are added to what the tile holds.
    pub more: bool,
    /// How products are added.
    pub rounding: Rounding,
}

impl<T: Factor> Block<'_, T> {
    /// Yields the number of steps.
    fn check(&self, tile: &[T]) -> usize {
        let steps = self.right.len() / T::COLUMNS;
        let last = self.rows.iter().max().copied().unwrap_or(0) + (steps.max(1) - 1) * self.stride;
        let whole = self.right.len() == steps * T::COLUMNS;
        assert!((1..=TREE).contains(&steps) && whole, "whole steps");
        let sums = tile.len() == ROWS * T::COLUMNS && self.width <= T::COLUMNS;
        assert!(last < self.left.len() && sums, "factors and sums are in range");
        steps
    }

    /// The loops of any machine, with few columns where few are wanted.
    #[inline(always)]
    fn sums<const ONCE: bool>(&self, tile: &mut [T]) {
        match self.width {
            ..=8 => self.columns::<ONCE, 8>(tile),
            9..=16 => self.columns::<ONCE, 16>(tile),
            17..=32 => self.columns::<ONCE, 32>(tile),
            _ => self.columns::<ONCE, 64>(tile),
        }
    }

    #[inline(always)]
    fn columns<const ONCE: bool, const WIDTH: usize>(&self, tile: &mut [T]) {
        let mut sums = [T::default(); WIDTH];
        for (tile, row) in tile.chunks_exact_mut(T::COLUMNS).zip(self.rows) {
            for (step, right) in self.right.chunks_exact(T::COLUMNS).enumerate() {
                let left = self.left[row + step * self.stride];
                for (sum, &right) in sums.iter_mut().zip(&right[..WIDTH]) {
                    *sum = match (step, ONCE) {
                        (0, _) => left.times(right),
                        (_, true) => sum.plus_product(left, right),
                        (_, false) => sum.plus(left.times(right)),
                    };
                }
            }
            for (tile, &sum) in tile.iter_mut().zip(&sums) {
                *tile = if self.more { tile.plus(sum) } else { sum };
            }
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

            fn tile(block: &Block<'_, $rust>, tile: &mut [$rust]) {
                let steps = block.check(tile);
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx512f") {
                    let once = block.rounding == Rounding::Once;
                    // SAFETY: the machine has the instructions, and `check` has compared all lengths.
                    unsafe {
                        match (block.width.div_ceil($lanes), once) {
                            (..=1, false) => $wide::<1, false>(block, steps, tile),
                            (..=1, true) => $wide::<1, true>(block, steps, tile),
                            (2, false) => $wide::<2, false>(block, steps, tile),
                            (2, true) => $wide::<2, true>(block, steps, tile),
                            (_, false) => $wide::<4, false>(block, steps, tile),
                            (_, true) => $wide::<4, true>(block, steps, tile),
                        }
                    }
                    return;
                }
                let _ = steps;
                match block.rounding {
                    Rounding::Twice => block.sums::<false>(tile),
                    Rounding::Once => {
                        #[cfg(target_arch = "x86_64")]
                        if has_avx2() {
                            // SAFETY: the machine has the instructions.
                            unsafe { $fused(block, tile) };
                            return;
                        }
                        block.sums::<true>(tile);
                    }
                }
            }
        }

        /// Where `mul_add` is an instruction.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $fused(block: &Block<'_, $rust>, tile: &mut [$rust]) {
            block.sums::<true>(tile);
        }

        /// # Safety
        /// As [`Block::check`] demands; so many vectors of columns are at most all of them.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        unsafe fn $wide<const WIDE: usize, const ONCE: bool>(
            block: &Block<'_, $rust>,
            steps: usize,
            tile: &mut [$rust],
        ) {
            use std::arch::x86_64::{$add, $fma, $load, $mul, $splat, $store};
            let &Block { left, rows, stride, right, more, .. } = block;
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
    use super::{Block, Factor, ROWS, Rounding};

    fn check<T: Factor + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> T) {
        check_rounding::<T, false>(&of, Rounding::Twice);
        check_rounding::<T, true>(&of, Rounding::Once);
    }

    fn check_rounding<T: Factor + PartialEq + std::fmt::Debug, const ONCE: bool>(
        of: &impl Fn(usize) -> T,
        rounding: Rounding,
    ) {
        let all = T::COLUMNS;
        for (steps, width) in
            [(1, all), (2, 3), (3, all - 7), (4, 4), (5, 8), (6, 9), (63, 16), (9, 17), (64, all)]
        {
            for (rows, stride) in [([0, 64, 128, 192, 192], 1), ([0, 1, 2, 3, 3], 5)] {
                let left: Vec<T> = (0..400).map(|at| of(at * 7 + 1)).collect();
                let right: Vec<T> = (0..steps * all).map(|at| of(at * 13 + 5)).collect();
                let block = Block {
                    left: &left,
                    rows,
                    stride,
                    right: &right,
                    width,
                    more: false,
                    rounding,
                };
                let more = Block { more: true, ..block };
                let wanted = |tile: &[T]| -> Vec<T> {
                    tile.chunks(all).flat_map(|row| row[..width].to_vec()).collect()
                };
                let mut expected = vec![T::default(); ROWS * all];
                block.sums::<ONCE>(&mut expected);
                let mut tile = vec![of(3); ROWS * all];
                T::tile(&block, &mut tile);
                assert_eq!(wanted(&tile), wanted(&expected));
                let mut twice = tile.clone();
                T::tile(&more, &mut twice);
                let doubled: Vec<T> = tile.iter().map(|once| once.plus(*once)).collect();
                assert_eq!(wanted(&twice), wanted(&doubled));
                more.sums::<ONCE>(&mut expected);
                assert_eq!(wanted(&twice), wanted(&expected));
                let mut sum = left[rows[1]].times(right[2]);
                for step in 1..steps {
                    let (a, b) = (left[rows[1] + step * stride], right[step * all + 2]);
                    sum = match rounding {
                        Rounding::Twice => sum.plus(a.times(b)),
                        Rounding::Once => sum.plus_product(a, b),
                    };
                }
                assert_eq!(tile[all + 2], sum);
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
                for width in [1, 10, f64::COLUMNS] {
                    let (left, right) = ([left; 8], vec![1.0; f64::COLUMNS]);
                    let mut tile = vec![7.0; ROWS * f64::COLUMNS];
                    let block = Block {
                        left: &left,
                        rows: [0; ROWS],
                        stride: 1,
                        right: &right,
                        width,
                        more: false,
                        rounding,
                    };
                    f64::tile(&block, &mut tile);
                    let mut sums = tile.chunks(f64::COLUMNS).flat_map(|row| &row[..width]);
                    assert!(sums.all(|sum| sum.to_bits() == bits));
                }
            }
        }
    }
}
