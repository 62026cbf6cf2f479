//! The accuracy check of `examples/accuracy` on few operands: every function within its budget.

#[path = "../examples/accuracy/functions.rs"]
mod functions;
#[path = "../examples/accuracy/measure.rs"]
mod measure;
#[path = "../examples/accuracy/yardstick.rs"]
mod yardstick;

use functions::{BINARY, UNARY};
use measure::Worst;

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

#[track_caller]
fn within(name: &str, budget: f64, worst: Worst) {
    let Worst { error, operands, tried } = worst;
    assert!(tried >= SAMPLES, "{name} was tried on {tried} operands only");
    assert!(error <= budget, "{name} is {error} ulp off at {operands:?}");
}
