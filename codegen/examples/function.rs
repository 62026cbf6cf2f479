//! Prints C of a transcendental function: `cargo run -p weft-codegen --example function sin f32`.
#![allow(clippy::print_stdout, reason = "it prints what it makes")]

use weft_codegen::{Dialect, Functions, LaneFunction, Lanes, Running, lanes};
use weft_ir::ScalarType;
use weft_ir::code::{Register, parse_code};
use weft_ir::text::Reader;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let operator = arguments.next().unwrap_or_else(|| "sin".to_owned());
    let ty = arguments.next().and_then(|name| ScalarType::from_name(&name));
    let ty = ty.filter(|ty| ty.is_float()).unwrap_or(ScalarType::F32);
    // A map of the function, whose operands are its inputs.
    let text = format!("r2: {ty} = {operator} r0\nyield r2\n");
    let mut reader = Reader::new(&text).expect("a name");
    let map = parse_code(&mut reader).expect("the name of an operator of one operand");
    let index = [(Register(1), Running::Counting)];
    let function = lanes(&Lanes {
        indices: &index,
        first_stored: 0,
        in_place: true,
        inputs: &[(Register(0), ty)],
        arrays: &[],
        code: &map,
        results: &map.results,
        shared: &[false],
        folds: &[],
        rows: false,
        widths: &[],
    });
    let mut called = Functions::new();
    called.merge(&function.functions);
    println!("{}\n{}", Dialect::C.prelude(), LaneFunction::DECLARATIONS);
    println!("{}\n{}", called.definitions(), function.text);
}
