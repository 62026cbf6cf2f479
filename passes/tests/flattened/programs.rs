//! What tests of flattening have in common.

use weft_ir::leaves::leaf_layout;
use weft_ir::{Value, flat, nested};
use weft_passes::flatten;

/// A program over inputs, in *nested*, and what flattening makes of it. Both are checked.
pub(crate) fn flattened(text: &str, inputs: &[Value]) -> (nested::Program, flat::Program) {
    let program = nested::parse(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    nested::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let layouts: Vec<_> = inputs.iter().map(leaf_layout).collect();
    let flat = flatten(&program, &layouts).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    flat::check(&flat).unwrap_or_else(|error| panic!("{error}\n{flat}"));
    (program, flat)
}
