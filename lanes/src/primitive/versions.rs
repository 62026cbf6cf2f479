//! The loops over rows in versions for this machine: the baseline of the target, and one with AVX2, whose
//! sums of floats exchange rows and columns in registers (Note [Exchanged blocks]).
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::marker::PhantomData;

use crate::lanes::Lane;
#[cfg(target_arch = "x86_64")]
use crate::operators::Binary;

#[cfg(target_arch = "x86_64")]
use super::{
    TREE, exchange,
    kernels::ABREAST,
    rows::{FoldRows, Rows, SIDE_BY_SIDE, Strategy, fold_rows},
};

/// A loop over rows with AVX2; only where the machine has it.
#[cfg(target_arch = "x86_64")]
pub(super) const fn avx2<S: Strategy>() -> FoldRows<S::Element> {
    // SAFETY: this is called where the machine has what the function is compiled for.
    |values, rows, levels, to| unsafe { with_avx2::<S>(values, rows, levels, to) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn with_avx2<S: Strategy>(
    values: &[S::Element],
    rows: Rows<'_>,
    levels: usize,
    to: &mut Vec<S::Element>,
) {
    fold_rows::<S>(values, rows, levels, to);
}

/// Floats with sums of blocks.
pub(crate) trait Summed: Lane {
    /// Changes no number that it is added to.
    #[cfg(target_arch = "x86_64")]
    const MINUS_ZERO: Self;

    /// The sum of each block, from left to right; only where the machine has AVX2.
    #[cfg(target_arch = "x86_64")]
    fn sums(blocks: [&[Self; TREE]; SIDE_BY_SIDE]) -> [Self; SIDE_BY_SIDE];

    /// Makes the elements of some blocks the sums of all up to them; only where the machine has AVX2.
    #[cfg(target_arch = "x86_64")]
    fn scan(blocks: &mut [[Self; TREE]; ABREAST]);
}

/// Note [Exchanged blocks].
#[cfg(target_arch = "x86_64")]
pub(super) struct Exchanged<O, T>(PhantomData<(O, T)>);

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
    #[cfg(target_arch = "x86_64")]
    const MINUS_ZERO: f32 = -0.0;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sums(blocks: [&[f32; TREE]; SIDE_BY_SIDE]) -> [f32; SIDE_BY_SIDE] {
        // SAFETY: the strategy that calls it is chosen where the machine has AVX2.
        unsafe { exchange::sums_f32(blocks) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn scan(blocks: &mut [[f32; TREE]; ABREAST]) {
        // SAFETY: as above.
        unsafe { exchange::scan_f32(blocks) }
    }
}

impl Summed for f64 {
    #[cfg(target_arch = "x86_64")]
    const MINUS_ZERO: f64 = -0.0;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sums(blocks: [&[f64; TREE]; SIDE_BY_SIDE]) -> [f64; SIDE_BY_SIDE] {
        // SAFETY: the strategy that calls it is chosen where the machine has AVX2.
        unsafe { exchange::sums_f64(blocks) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn scan(blocks: &mut [[f64; TREE]; ABREAST]) {
        // SAFETY: as above.
        unsafe { exchange::scan_f64(blocks) }
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::ScalarOp;

    use crate::lanes::{Lane, LaneType};
    use crate::operators::primitive;
    use crate::primitive::rows::fold_rows_combined;
    use crate::primitive::{Primitive, Rows, TREE, Typed};

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
            primitive.fold_rows(elements, Rows::One, usize::MAX, &mut to);
            assert_eq!(T::storage(&to)[..], [expected(row, &apply)], "{op:?} {ty:?} {length}");
            for levels in [1, 2] {
                let mut partial = T::into_storage(Vec::new());
                primitive.fold_rows(elements, Rows::One, levels, &mut partial);
                let mut whole = T::into_storage(Vec::new());
                let partial = partial.elements();
                primitive.fold_rows(partial, Rows::One, usize::MAX, &mut whole);
                assert_eq!(T::storage(&whole), T::storage(&to), "{op:?} {ty:?} {length}");
            }
            offsets.push(offsets[offsets.len() - 1] + length as i64);
        }
        let mut to = T::into_storage(Vec::new());
        let all = T::into_storage((0..offsets[offsets.len() - 1] as usize).map(&of).collect());
        let rows = Rows::Ragged(&offsets);
        primitive.fold_rows(all.elements(), rows, usize::MAX, &mut to);
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
    fn rows_come_to_the_same_without_avx2() {
        let offsets = [0_i64, 0, 1, 6, 70, 326, 838, 1351, 4000];
        for op in [ScalarOp::Min, ScalarOp::Max] {
            let primitive = primitive(op, LaneType::F32).expect("a common operator");
            let Typed::F32(kernels) = primitive.kernels else { panic!("kernels for f32") };
            let float = |at: usize| (at * 7919 % 10_007) as f32 / 97.0 - 40.0;
            let values: Vec<f32> = (0..4000).map(float).collect();
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            kernels.fold_rows(&values, Rows::Ragged(&offsets), usize::MAX, &mut expected);
            fold_rows_combined(kernels, &values, Rows::Ragged(&offsets), &mut found);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_sum_of_negative_zeros_is_one() {
        let primitive = primitive(ScalarOp::Add, LaneType::F32).expect("a common operator");
        for length in [1, 64, 200, 1000] {
            let zeros = f32::into_storage(vec![-0.0; length]);
            let mut to = f32::into_storage(Vec::new());
            primitive.fold_rows(zeros.elements(), Rows::One, usize::MAX, &mut to);
            assert_eq!(f32::storage(&to)[0].to_bits(), (-0.0_f32).to_bits());
        }
    }
}
