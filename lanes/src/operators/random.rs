//! Random numbers over lanes.
#![allow(unsafe_code)]

use weft_ir::FaultKind;
use weft_ir::math::random::{int_below, uniform_f32, uniform_f64};
use weft_ir::nested::RandomKind;

use crate::isa::{Apply, Loop, Operand, groups_mut};

/// The loop of a random number.
pub fn random(kind: RandomKind) -> Apply {
    match kind {
        RandomKind::UniformF64 => Apply::of::<UniformF64>(),
        RandomKind::UniformF32 => Apply::of::<UniformF32>(),
        RandomKind::Int => Apply::of::<IntBelow>(),
    }
}

struct UniformF64;
struct UniformF32;
struct IntBelow;

macro_rules! uniform {
    ($name:ident, $ty:ty, $function:ident) => {
        impl Loop for $name {
            const RESULT: usize = size_of::<$ty>();
            const OPERANDS: [usize; 4] = [8, 8, 0, 0];

            #[inline(always)]
            unsafe fn run(
                out: &mut [u8],
                [seeds, indices, ..]: [&[u8]; 4],
                _: usize,
            ) -> Result<(), FaultKind> {
                // SAFETY: what the caller promises.
                let operand = |bytes| unsafe { Operand::<i64>::new(bytes) };
                let (seeds, indices) = (operand(seeds), operand(indices));
                // SAFETY: as above.
                let out = unsafe { groups_mut::<$ty>(out) };
                for (at, out) in out.iter_mut().enumerate() {
                    // SAFETY: operands have as many groups as the result, or one.
                    let (seeds, indices) = unsafe { (seeds.lanes(at), indices.lanes(at)) };
                    for ((out, &seed), &index) in out.0.iter_mut().zip(seeds).zip(indices) {
                        *out = $function(seed, index as u64);
                    }
                }
                Ok(())
            }
        }
    };
}
uniform!(UniformF64, f64, uniform_f64);
uniform!(UniformF32, f32, uniform_f32);

impl Loop for IntBelow {
    const RESULT: usize = 8;
    const OPERANDS: [usize; 4] = [8; 4];

    #[inline(always)]
    unsafe fn run(out: &mut [u8], operands: [&[u8]; 4], _: usize) -> Result<(), FaultKind> {
        // SAFETY: what the caller promises.
        let operands = operands.map(|bytes| unsafe { Operand::<i64>::new(bytes) });
        // SAFETY: as above.
        let out = unsafe { groups_mut::<i64>(out) };
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: operands have as many groups as the result, or one.
            let groups = operands.map(|operand| unsafe { operand.lanes(at) });
            for (lane, out) in out.0.iter_mut().enumerate() {
                let [seed, index, low, high] = groups.map(|group| group[lane]);
                // A lane past the end of the block may hold an empty range.
                *out = if low < high { int_below(seed, index as u64, low, high) } else { low };
            }
        }
        Ok(())
    }
}
