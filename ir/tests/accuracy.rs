//! The accuracy check of `examples/accuracy` on few operands: every function within its budget.

#[path = "../examples/accuracy/functions.rs"]
mod functions;
#[path = "../examples/accuracy/measure.rs"]
mod measure;
#[path = "../examples/accuracy/yardstick.rs"]
mod yardstick;

use functions::{BINARY, UNARY};
use measure::Worst;
use weft_ir::math::cast::canonical_bits_f64;
use weft_ir::math::random;

/// A prime, so that all bits of the operands vary.
const STRIDE: u64 = 40_009;
const SAMPLES: u64 = 300;

#[test]
fn unary_functions_in_single_precision() {
    for function in UNARY {
        within(function.name, function.budget, measure::sweep_single(function, STRIDE, 2));
    }
}

#[test]
fn unary_functions_in_double_precision() {
    for function in UNARY {
        within(function.name, function.budget, measure::sample_double(function, SAMPLES, 2));
    }
}

#[test]
fn binary_functions_in_single_precision() {
    for function in BINARY {
        within(function.name, function.budget, measure::sample_single(function, 100 * SAMPLES, 2));
    }
}

#[test]
fn binary_functions_in_double_precision() {
    for function in BINARY {
        within(function.name, function.budget, measure::sample_double_binary(function, SAMPLES, 2));
    }
}

/// The same bits on every machine and at every optimisation level: a hash of many results.
#[test]
fn the_bits_are_fixed() {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for index in 0..4000 {
        let x = f64::from_bits(random::bits(8, index));
        let y = 40.0 * (random::uniform_f64(9, index) - 0.5);
        for function in UNARY {
            for operand in [x, y] {
                hash.add((function.double)(operand));
                hash.add(f64::from((function.single)(operand as f32)));
            }
        }
        for function in BINARY {
            hash.add((function.double)(x, y));
            hash.add(f64::from((function.single)(y as f32, x as f32)));
        }
    }
    assert_eq!(hash.0, 0xa83d_b4ce_5506_36fc);
}

/// FNV-1a, a NaN being canonical.
struct Hash(u64);

impl Hash {
    fn add(&mut self, value: f64) {
        for byte in canonical_bits_f64(value).to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[track_caller]
fn within(name: &str, budget: f64, worst: Worst) {
    let Worst { error, operands, tried } = worst;
    assert!(tried >= SAMPLES, "{name} was tried on {tried} operands only");
    assert!(error <= budget, "{name} is {error} ulp off at {operands:?}");
}
