//! Sums within blocks of the tree, by exchange of rows and columns in registers.
//!
//! Note [Exchanged blocks]. The elements of a block of the tree are added one after the other, so lanes are
//! blocks. Some elements of each of several blocks are loaded at once, and shuffled so that a vector
//! holds the same element of all of them. Sums begin with -0, which changes no number.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128, __m128d, __m256, __m256d, _mm_loadu_pd, _mm_loadu_ps, _mm256_add_pd, _mm256_add_ps,
    _mm256_loadu_pd, _mm256_loadu_ps, _mm256_permute2f128_pd, _mm256_permute2f128_ps,
    _mm256_set_m128, _mm256_set_m128d, _mm256_set1_pd, _mm256_set1_ps, _mm256_shuffle_ps,
    _mm256_storeu_pd, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd,
    _mm256_unpacklo_ps,
};

use super::TREE;
use super::rows::SIDE_BY_SIDE;

/// The sum of each block.
#[target_feature(enable = "avx2")]
pub(super) fn sums_f32(blocks: [&[f32; TREE]; SIDE_BY_SIDE]) -> [f32; SIDE_BY_SIDE] {
    let mut sums = [_mm256_set1_ps(-0.0); SIDE_BY_SIDE / 8];
    for step in (0..TREE).step_by(4) {
        for (sum, blocks) in sums.iter_mut().zip(blocks.as_chunks::<8>().0) {
            for elements in four_f32(blocks, step) {
                *sum = _mm256_add_ps(*sum, elements);
            }
        }
    }
    let mut all = [0.0; SIDE_BY_SIDE];
    for (to, sum) in all.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        // SAFETY: there is room for eight elements.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), sum) };
    }
    all
}

/// Four consecutive elements of each block, by element.
#[inline]
#[target_feature(enable = "avx2")]
fn four_f32(blocks: &[&[f32; TREE]; 8], step: usize) -> [__m256; 4] {
    let part = |block: usize| -> __m128 {
        let four: &[f32; 4] = blocks[block][step..].first_chunk().expect("a multiple of four");
        // SAFETY: it reads these four elements.
        unsafe { _mm_loadu_ps(four.as_ptr()) }
    };
    let (a, b) = (_mm256_set_m128(part(4), part(0)), _mm256_set_m128(part(5), part(1)));
    let (c, d) = (_mm256_set_m128(part(6), part(2)), _mm256_set_m128(part(7), part(3)));
    let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
    [
        _mm256_shuffle_ps::<0x44>(ab, cd),
        _mm256_shuffle_ps::<0xEE>(ab, cd),
        _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
        _mm256_shuffle_ps::<0xEE>(ab_high, cd_high),
    ]
}

/// The sum of each block.
#[target_feature(enable = "avx2")]
pub(super) fn sums_f64(blocks: [&[f64; TREE]; SIDE_BY_SIDE]) -> [f64; SIDE_BY_SIDE] {
    let mut sums = [_mm256_set1_pd(-0.0); SIDE_BY_SIDE / 4];
    for step in (0..TREE).step_by(2) {
        for (sum, blocks) in sums.iter_mut().zip(blocks.as_chunks::<4>().0) {
            for elements in two_f64(blocks, step) {
                *sum = _mm256_add_pd(*sum, elements);
            }
        }
    }
    let mut all = [0.0; SIDE_BY_SIDE];
    for (to, sum) in all.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
        // SAFETY: there is room for four elements.
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), sum) };
    }
    all
}

/// Two consecutive elements of each block, by element.
#[inline]
#[target_feature(enable = "avx2")]
fn two_f64(blocks: &[&[f64; TREE]; 4], step: usize) -> [__m256d; 2] {
    let part = |block: usize| -> __m128d {
        let two: &[f64; 2] = blocks[block][step..].first_chunk().expect("a multiple of two");
        // SAFETY: it reads these two elements.
        unsafe { _mm_loadu_pd(two.as_ptr()) }
    };
    let (a, b) = (_mm256_set_m128d(part(2), part(0)), _mm256_set_m128d(part(3), part(1)));
    [_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)]
}

/// Makes the elements of eight blocks the sums of all up to them.
#[target_feature(enable = "avx2")]
pub(super) fn scan_f32(blocks: &mut [[f32; TREE]; 8]) {
    let mut sum = _mm256_set1_ps(-0.0);
    for step in (0..TREE).step_by(8) {
        let mut rows = [sum; 8];
        for (row, block) in rows.iter_mut().zip(&*blocks) {
            let eight: &[f32; 8] = block[step..].first_chunk().expect("a multiple of eight");
            // SAFETY: it reads these eight elements.
            *row = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
        }
        let mut sums = exchanged_f32(rows);
        for element in &mut sums {
            sum = _mm256_add_ps(sum, *element);
            *element = sum;
        }
        for (row, block) in exchanged_f32(sums).into_iter().zip(&mut *blocks) {
            let to: &mut [f32; 8] = block[step..].first_chunk_mut().expect("a multiple of eight");
            // SAFETY: it writes these eight elements.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), row) };
        }
    }
}

/// Rows made columns.
#[inline]
#[target_feature(enable = "avx2")]
fn exchanged_f32(rows: [__m256; 8]) -> [__m256; 8] {
    let pair = |at: usize| {
        let (a, b) = (rows[at], rows[at + 1]);
        (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b))
    };
    let ((a, b), (c, d), (e, f), (g, h)) = (pair(0), pair(2), pair(4), pair(6));
    let four = |low: [__m256; 2], high: [__m256; 2]| {
        let first =
            (_mm256_shuffle_ps::<0x44>(low[0], low[1]), _mm256_shuffle_ps::<0xEE>(low[0], low[1]));
        let second = (
            _mm256_shuffle_ps::<0x44>(high[0], high[1]),
            _mm256_shuffle_ps::<0xEE>(high[0], high[1]),
        );
        [first.0, first.1, second.0, second.1]
    };
    let (upper, lower) = (four([a, c], [b, d]), four([e, g], [f, h]));
    std::array::from_fn(|at| match at {
        0..4 => _mm256_permute2f128_ps::<0x20>(upper[at], lower[at]),
        _ => _mm256_permute2f128_ps::<0x31>(upper[at - 4], lower[at - 4]),
    })
}

/// Makes the elements of eight blocks the sums of all up to them.
#[target_feature(enable = "avx2")]
pub(super) fn scan_f64(blocks: &mut [[f64; TREE]; 8]) {
    let (low, high) = blocks.split_at_mut(4);
    let mut sums = [_mm256_set1_pd(-0.0); 2];
    for step in (0..TREE).step_by(4) {
        // Two side by side, so that neither waits for its own last result.
        for (sum, blocks) in sums.iter_mut().zip([&mut *low, &mut *high]) {
            let mut rows = [*sum; 4];
            for (row, block) in rows.iter_mut().zip(&*blocks) {
                let four: &[f64; 4] = block[step..].first_chunk().expect("a multiple of four");
                // SAFETY: it reads these four elements.
                *row = unsafe { _mm256_loadu_pd(four.as_ptr()) };
            }
            let mut elements = exchanged_f64(rows);
            for element in &mut elements {
                *sum = _mm256_add_pd(*sum, *element);
                *element = *sum;
            }
            for (row, block) in exchanged_f64(elements).into_iter().zip(blocks) {
                let to: &mut [f64; 4] =
                    block[step..].first_chunk_mut().expect("a multiple of four");
                // SAFETY: it writes these four elements.
                unsafe { _mm256_storeu_pd(to.as_mut_ptr(), row) };
            }
        }
    }
}

/// Rows made columns.
#[inline]
#[target_feature(enable = "avx2")]
fn exchanged_f64([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    let (ab, ab_high) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
    let (cd, cd_high) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
    [
        _mm256_permute2f128_pd::<0x20>(ab, cd),
        _mm256_permute2f128_pd::<0x20>(ab_high, cd_high),
        _mm256_permute2f128_pd::<0x31>(ab, cd),
        _mm256_permute2f128_pd::<0x31>(ab_high, cd_high),
    ]
}
