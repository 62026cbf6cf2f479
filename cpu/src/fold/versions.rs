//! The loops over rows in versions for this machine: the baseline of the target, and one with AVX2, whose
//! sums of floats exchange rows and columns in registers.
//!
//! Note [Exchanged blocks]. The elements of a block of the tree are added one after the other, so lanes are
//! blocks. Four elements of each of several blocks are loaded at once, and shuffled so that a vector
//! holds the same element of all of them. Sums begin with -0, which changes no number.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use crate::isa::Slot;
use crate::lanes::{Elements, Frame, Lane, Storage};
use crate::operators::Binary;

use super::TREE;
use super::rows::{Exact, InTurn, Rows, SIDE_BY_SIDE, Strategy, fold_register, fold_rows};

/// The loops over rows of an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverRows {
    /// Folds rows for so many levels of the tree, or to one element each, a zero where there is none;
    /// appends what they come to.
    pub(crate) fold: fn(Elements<'_>, Rows<'_>, usize, &mut Storage),
    /// Folds the lanes of a register for one level of the tree, and appends what they come to.
    pub(crate) fold_register: fn(&Frame, Slot, usize, &mut Storage),
}

impl OverRows {
    /// In the tree.
    pub(super) fn in_turn<O: Binary<R = <O as Binary>::A>>() -> OverRows {
        OverRows::of::<InTurn<O>>()
    }

    /// In any order.
    pub(super) fn exact<O: Binary<R = <O as Binary>::A>>() -> OverRows {
        OverRows::of::<Exact<O>>()
    }

    /// In the tree, where the operator is the addition of floats.
    pub(super) fn sums<O: Binary<A = T, R = T>, T: Summed>() -> OverRows {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return OverRows::of::<Exchanged<O, T>>();
        }
        OverRows::in_turn::<O>()
    }

    fn of<S: Strategy>() -> OverRows {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return OverRows {
                // SAFETY: this machine has what the functions are compiled for.
                fold: |values, rows, levels, to| unsafe { avx2::<S>(values, rows, levels, to) },
                // SAFETY: as above.
                fold_register: |frame, slot, lanes, to| unsafe {
                    avx2_register::<S>(frame, slot, lanes, to);
                },
            };
        }
        OverRows { fold: fold_rows::<S>, fold_register: fold_register::<S> }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<S: Strategy>(values: Elements<'_>, rows: Rows<'_>, levels: usize, to: &mut Storage) {
    fold_rows::<S>(values, rows, levels, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn avx2_register<S: Strategy>(frame: &Frame, slot: Slot, lanes: usize, to: &mut Storage) {
    fold_register::<S>(frame, slot, lanes, to);
}

/// Floats with sums of blocks.
pub(crate) trait Summed: Lane {
    /// Changes no number that it is added to.
    const MINUS_ZERO: Self;

    /// The sum of each block, from left to right; only where the machine has AVX2.
    #[cfg(target_arch = "x86_64")]
    fn sums(blocks: [&[Self; TREE]; SIDE_BY_SIDE]) -> [Self; SIDE_BY_SIDE];
}

/// Note [Exchanged blocks].
#[cfg(target_arch = "x86_64")]
struct Exchanged<O, T>(PhantomData<(O, T)>);

#[cfg(target_arch = "x86_64")]
impl<O: Binary<A = T, R = T>, T: Summed> Strategy for Exchanged<O, T> {
    type Operator = O;
    type Element = T;
    const EXACT: bool = false;
    const NEUTRAL: Option<T> = Some(T::MINUS_ZERO);

    #[inline(always)]
    fn side_by_side(blocks: [&[T; TREE]; SIDE_BY_SIDE]) -> [T; SIDE_BY_SIDE] {
        T::sums(blocks)
    }
}

impl Summed for f32 {
    const MINUS_ZERO: f32 = -0.0;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sums(blocks: [&[f32; TREE]; SIDE_BY_SIDE]) -> [f32; SIDE_BY_SIDE] {
        // SAFETY: the strategy that calls it is chosen where the machine has AVX2.
        unsafe { exchange::sums_f32(blocks) }
    }
}

impl Summed for f64 {
    const MINUS_ZERO: f64 = -0.0;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sums(blocks: [&[f64; TREE]; SIDE_BY_SIDE]) -> [f64; SIDE_BY_SIDE] {
        // SAFETY: the strategy that calls it is chosen where the machine has AVX2.
        unsafe { exchange::sums_f64(blocks) }
    }
}

#[cfg(target_arch = "x86_64")]
mod exchange {
    use std::arch::x86_64::{
        __m128, __m128d, __m256, __m256d, _mm_loadu_pd, _mm_loadu_ps, _mm256_add_pd, _mm256_add_ps,
        _mm256_set_m128, _mm256_set_m128d, _mm256_set1_pd, _mm256_set1_ps, _mm256_shuffle_ps,
        _mm256_storeu_pd, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps,
        _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };

    use super::{SIDE_BY_SIDE, TREE};

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
}

#[cfg(test)]
mod tests {
    use weft_ir::ScalarOp;

    use crate::fold::{Primitive, Rows, TREE};
    use crate::lanes::{Lane, LaneType};
    use crate::operators::primitive;

    /// Blocks from left to right, then blocks of their results.
    fn expected<T: Lane>(values: &[T], apply: &impl Fn(T, T) -> T) -> T {
        let fold = |block: &[T]| block[1..].iter().fold(block[0], |a, &b| apply(a, b));
        match values.len() {
            0 => T::default(),
            1..=TREE => fold(values),
            _ => {
                let blocks: Vec<T> = values.chunks(TREE).map(fold).collect();
                expected(&blocks, apply)
            }
        }
    }

    fn check<T: Lane>(
        ty: LaneType,
        op: ScalarOp,
        of: impl Fn(usize) -> T,
        apply: impl Fn(T, T) -> T,
    ) {
        let primitive: Primitive = primitive(op, ty).expect("a common operator");
        let values: Vec<T> = (0..9000).map(&of).collect();
        let storage = T::into_storage(values.clone());
        let lengths =
            [0, 1, 2, 5, 63, 64, 65, 128, 129, 190, 192, 193, 256, 1000, 1024, 1025, 4096];
        let mut offsets = vec![0_i64];
        for length in lengths {
            let row = &values[..length];
            let elements = storage.elements().slice(0, length);
            let mut to = T::into_storage(Vec::new());
            (primitive.over_rows.fold)(elements, Rows::One, usize::MAX, &mut to);
            assert_eq!(T::storage(&to)[..], [expected(row, &apply)], "{op:?} {ty:?} {length}");
            for levels in [1, 2] {
                let mut partial = T::into_storage(Vec::new());
                (primitive.over_rows.fold)(elements, Rows::One, levels, &mut partial);
                let mut whole = T::into_storage(Vec::new());
                let partial = partial.elements();
                (primitive.over_rows.fold)(partial, Rows::One, usize::MAX, &mut whole);
                assert_eq!(T::storage(&whole), T::storage(&to), "{op:?} {ty:?} {length}");
            }
            offsets.push(offsets[offsets.len() - 1] + length as i64);
        }
        let mut to = T::into_storage(Vec::new());
        let all = T::into_storage((0..offsets[offsets.len() - 1] as usize).map(&of).collect());
        let rows = Rows::Ragged(&offsets);
        (primitive.over_rows.fold)(all.elements(), rows, usize::MAX, &mut to);
        let row = |pair: &[i64]| &T::storage(&all)[pair[0] as usize..pair[1] as usize];
        let expect: Vec<T> = offsets.windows(2).map(|pair| expected(row(pair), &apply)).collect();
        assert_eq!(*T::storage(&to), expect, "{op:?} {ty:?}");
    }

    #[test]
    fn rows_come_to_what_the_tree_says() {
        let float = |at: usize| (at * 7919 % 10_007) as f32 / 97.0 - 40.0;
        check::<f32>(LaneType::F32, ScalarOp::Add, float, |a, b| a + b);
        check::<f32>(LaneType::F32, ScalarOp::Mul, |at| 1.0 + float(at) / 4e4, |a, b| a * b);
        check::<f32>(LaneType::F32, ScalarOp::Max, float, f32::max);
        check::<f64>(LaneType::F64, ScalarOp::Add, |at| f64::from(float(at)), |a, b| a + b);
        let integer = |at: usize| (at as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
        check::<i64>(LaneType::I64, ScalarOp::Add, integer, i64::wrapping_add);
        check::<i64>(LaneType::I64, ScalarOp::Min, integer, i64::min);
        check::<u8>(LaneType::U8, ScalarOp::Mul, |at| at as u8 | 1, u8::wrapping_mul);
    }

    #[test]
    fn the_sum_of_negative_zeros_is_one() {
        let primitive = primitive(ScalarOp::Add, LaneType::F32).expect("a common operator");
        for length in [1, 64, 200, 1000] {
            let zeros = f32::into_storage(vec![-0.0; length]);
            let mut to = f32::into_storage(Vec::new());
            (primitive.over_rows.fold)(zeros.elements(), Rows::One, usize::MAX, &mut to);
            assert_eq!(f32::storage(&to)[0].to_bits(), (-0.0_f32).to_bits());
        }
    }
}
