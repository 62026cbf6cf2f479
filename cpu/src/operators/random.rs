//! Random numbers over lanes.

use weft_ir::FaultKind;
use weft_ir::math::random::{int_below, uniform_f32, uniform_f64};
use weft_ir::nested::RandomKind;

use crate::isa::{Apply, Arguments, Loop};
use crate::lanes::{Frame, Lane};

/// The loop of a random number.
pub(crate) fn random(kind: RandomKind) -> Apply {
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
            #[inline(always)]
            fn run(
                frame: &mut Frame,
                arguments: &Arguments,
                lanes: usize,
            ) -> Result<(), FaultKind> {
                let [seed, index, ..] = arguments.operands;
                let at = arguments.out.index as usize;
                let mut out = std::mem::take(&mut <$ty>::file_mut(frame)[at]);
                let seeds = &i64::file(frame)[seed.index as usize];
                let indices = &i64::file(frame)[index.index as usize];
                for (at, out) in out[..arguments.groups(lanes)].iter_mut().enumerate() {
                    let seeds = &seeds[at * seed.step()].0;
                    let indices = &indices[at * index.step()].0;
                    for ((out, &seed), &index) in out.0.iter_mut().zip(seeds).zip(indices) {
                        *out = $function(seed, index as u64);
                    }
                }
                <$ty>::file_mut(frame)[at] = out;
                Ok(())
            }
        }
    };
}
uniform!(UniformF64, f64, uniform_f64);
uniform!(UniformF32, f32, uniform_f32);

impl Loop for IntBelow {
    #[inline(always)]
    fn run(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind> {
        let operands = arguments.operands;
        let at = arguments.out.index as usize;
        let mut out = std::mem::take(&mut i64::file_mut(frame)[at]);
        for (at, out) in out[..arguments.groups(lanes)].iter_mut().enumerate() {
            let groups =
                operands.map(|slot| &i64::file(frame)[slot.index as usize][at * slot.step()].0);
            for (lane, out) in out.0.iter_mut().enumerate() {
                let [seed, index, low, high] = groups.map(|group| group[lane]);
                // A lane past the end of the block may hold an empty range.
                *out = if low < high { int_below(seed, index as u64, low, high) } else { low };
            }
        }
        i64::file_mut(frame)[at] = out;
        Ok(())
    }
}
