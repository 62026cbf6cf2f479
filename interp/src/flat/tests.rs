//! Every operation of flat from its text, on dense spaces of 0 to 3 dimensions and on ragged ones.

mod collective;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_ir::flat::{check, parse};
use weft_ir::text::{Reader, parse_column, write_column};
use weft_ir::{Array, Column, Exhausted, FaultKind, Scalar, Stop, Value};

use crate::{Limits, run_flat};

/// A scalar `3i64`, or the elements of an array as a column.
fn value(text: &str) -> Value {
    if let Some(scalar) = Scalar::from_text(text) {
        return Value::Scalar(scalar);
    }
    let mut reader = Reader::new(text).expect(text);
    array(parse_column(&mut reader).expect(text))
}

fn array(elements: Column) -> Value {
    Value::Array(Arc::new(Array::new(elements)))
}

fn text(value: &Value) -> String {
    match value {
        Value::Scalar(scalar) => scalar.to_string(),
        Value::Array(array) => {
            let mut text = String::new();
            write_column(&mut text, &array.elements).expect("a string takes all text");
            text
        }
        Value::Tuple(_) => panic!("{value:?} is no leaf"),
    }
}

fn run_with(program: &str, inputs: &[Value], memory: u64) -> Result<Vec<Value>, Stop> {
    let program = parse(program).unwrap_or_else(|error| panic!("{error}"));
    check(&program).unwrap_or_else(|problem| panic!("{problem}"));
    let limits = Limits { memory, recursion: 100, stack: weft_lang::STACK_BYTES };
    run_flat(&program, inputs, &limits, &AtomicBool::new(false))
}

fn run(program: &str, inputs: &[&str]) -> Result<Vec<Value>, Stop> {
    let inputs: Vec<Value> = inputs.iter().map(|text| value(text)).collect();
    run_with(program, &inputs, 1 << 24)
}

#[track_caller]
fn expect(program: &str, inputs: &[&str], outputs: &[&str]) {
    let found = run(program, inputs).unwrap_or_else(|stop| panic!("{stop:?}"));
    let found: Vec<String> = found.iter().map(text).collect();
    assert_eq!(found, outputs);
}

#[track_caller]
fn expect_fault(program: &str, inputs: &[&str], kind: FaultKind) {
    match run(program, inputs) {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, kind),
        other => panic!("{other:?}"),
    }
}

/// The message of the panic of a program that is wrong.
fn bug(program: &str, inputs: &[&str]) -> String {
    let run = || run(program, inputs);
    let panic = std::panic::catch_unwind(run).expect_err("the program is wrong");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn maps_over_spaces_of_every_number_of_dimensions() {
    expect(
        "a0: i64 = map ()\n  r0: i64 = add 2i64 3i64\n  yield r0\noutput a0: i64",
        &[],
        &["5i64"],
    );
    let vector = "\
input a1: [a0]i64
a2: [a0]i64, a3: [a0]bool = map [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = mul r1 r0
  r3: bool = lt r1 5i64
  yield r2 r3
output a2: [a0]i64
output a3: [a0]bool";
    expect(vector, &["i64[4i64 5i64 6i64]"], &["i64[0i64 5i64 12i64]", "bool[true false false]"]);
    expect(vector, &["i64[]"], &["i64[]", "bool[]"]);
    let transpose = "\
input a2: [a0][a1]i64
a3: [a1][a0]i64 = map [a1][a0] (r0 r1)
  r2: i64 = read a2 r1 r0
  yield r2
output a3: [a1][a0]i64";
    expect(
        transpose,
        &["dense 2 3 i64[1i64 2i64 3i64 4i64 5i64 6i64]"],
        &["dense 3 2 i64[1i64 4i64 2i64 5i64 3i64 6i64]"],
    );
    expect(transpose, &["dense 0 3 i64[]"], &["dense 3 0 i64[]"]);
    expect(
        "\
a0: [2][3][2]i64 = map [2][3][2] (r0 r1 r2)
  r3: i64 = mul r0 100i64
  r4: i64 = mul r1 10i64
  r5: i64 = add r3 r4
  r6: i64 = add r5 r2
  yield r6
output a0: [2][3][2]i64",
        &[],
        &["dense 2 3 dense 6 2 i64[0i64 1i64 10i64 11i64 20i64 21i64 100i64 101i64 110i64 111i64 \
           120i64 121i64]"],
    );
}

#[test]
fn ragged_spaces_have_positions_as_indices() {
    let rows = "\
input a4: [a0][~a2 a3]i64 where a2: [a1]i64
a5: [a3]i64 = map [a0][~a2 a3] (r0 r1)
  r2: i64 = read a4 r1
  r3: i64 = read a2 r0
  r4: i64 = sub r1 r3
  r5: i64 = mul r2 10i64
  r6: i64 = add r5 r4
  yield r6
output a5: [a0][~a2 a3]i64";
    expect(
        rows,
        &["ragged [0 2 2 5] i64[1i64 2i64 3i64 4i64 5i64]"],
        &["ragged [0 2 2 5] i64[10i64 21i64 30i64 41i64 52i64]"],
    );
    expect(rows, &["ragged [0] i64[]"], &["ragged [0] i64[]"]);
    // A dense axis inside, and another ragged one inside of that.
    expect(
        "\
input a6: [a0][~a2 a3][2][~a4 a5]f64 where a2: [a1]i64, a4: [a7]i64
a8: [a5]i64 = map [a0][~a2 a3][2][~a4 a5] (r0 r1 r2 r3)
  r4: i64 = mul r0 1000i64
  r5: i64 = mul r1 100i64
  r6: i64 = mul r2 10i64
  r7: i64 = add r4 r5
  r8: i64 = add r7 r6
  r9: i64 = add r8 r3
  yield r9
output a8: [a0][~a2 a3][2][~a4 a5]i64",
        &["ragged [0 0 2] dense 2 2 ragged [0 1 1 1 3] f64[1.0f64 2.0f64 3.0f64]"],
        &["ragged [0 0 2] dense 2 2 ragged [0 1 1 1 3] i64[1000i64 1111i64 1112i64]"],
    );
}

#[test]
fn code_branches_loops_and_checks() {
    let collatz = "\
input a1: [a0]i64
a2: [a0]i64 = map [a0] (r0)
  r1: i64 = read a1 r0
  r2: bool = gt r1 0i64
  check r2 argument
  r3: i64, r4: i64 = while (r5: i64 = r1, r6: i64 = 0i64)
    r7: bool = ne r5 1i64
    yield r7
  do
    r8: i64 = mod r5 2i64
    r9: bool = eq r8 0i64
    r10: i64 = if r9
      r11: i64 = floor_div r5 2i64
      yield r11
    else
      r12: i64 = mul r5 3i64
      r13: i64 = add r12 1i64
      yield r13
    r14: i64 = add r6 1i64
    yield r10 r14
  yield r4
output a2: [a0]i64";
    expect(collatz, &["i64[1i64 6i64 27i64]"], &["i64[0i64 8i64 111i64]"]);
    expect_fault(collatz, &["i64[1i64 0i64]"], FaultKind::BadArgument);
    let divide = "\
input a0: i64
a1: i64 = map ()
  r0: i64 = read a0
  r1: i64 = floor_div 7i64 r0
  yield r1
output a1: i64";
    expect(divide, &["2i64"], &["3i64"]);
    expect_fault(divide, &["0i64"], FaultKind::DivisionByZero);
    // The state moves at once.
    expect(
        "\
a0: i64, a1: i64 = map ()
  r0: i64, r1: i64, r2: i64 = while (r3: i64 = 1i64, r4: i64 = 2i64, r5: i64 = 0i64)
    r6: bool = lt r5 3i64
    yield r6
  do
    r7: i64 = add r5 1i64
    yield r4 r3 r7
  yield r0 r1
output a0: i64
output a1: i64",
        &[],
        &["2i64", "1i64"],
    );
}

#[test]
fn random_numbers_are_those_of_the_language() {
    expect(
        "\
a0: [2]i64 = map [2] (r0)
  r1: i64 = random_int 1i64 r0 -3i64 3i64
  yield r1
a1: f64, a2: f32 = map ()
  r0: f64 = uniform_f64 7i64 5i64
  r1: f32 = uniform_f32 7i64 5i64
  yield r0 r1
output a0: [2]i64
output a1: f64
output a2: f32",
        &[],
        &[
            &text(&array(Column::I64(
                (0..2)
                    .map(|at| weft_ir::math::random::int_below(1, at, -3, 3))
                    .collect::<Vec<_>>()
                    .into(),
            ))),
            &Scalar::F64(weft_ir::math::random::uniform_f64(7, 5)).to_string(),
            &Scalar::F32(weft_ir::math::random::uniform_f32(7, 5)).to_string(),
        ],
    );
}

#[test]
fn reshapes_and_constants() {
    expect(
        "\
input a1: [a0]i64
a2: [2][3]i64 = reshape a1
a3: [2][2]char = constant char['a' 'b' 'c' 'd']
output a2: [2][3]i64
output a3: [2][2]char",
        &["i64[1i64 2i64 3i64 4i64 5i64 6i64]"],
        &["dense 2 3 i64[1i64 2i64 3i64 4i64 5i64 6i64]", "dense 2 2 char['a' 'b' 'c' 'd']"],
    );
}

#[test]
fn host_control() {
    let check = "input a0: bool\ncheck a0 lockstep\noutput a0: bool";
    expect(check, &["true"], &["true"]);
    expect_fault(check, &["false"], FaultKind::LengthMismatch);
    // Arrays in the state, whose extent changes.
    let shrink = "\
input a1: [a0]i64
a2: i64, a3: [a2]i64, a4: i64 = while (a5: i64 = a0, a6: [a5]i64 = a1, a7: i64 = a0)
  a8: bool = map ()
    r0: i64 = read a5
    r1: bool = gt r0 1i64
    yield r1
  yield a8
do
  a9: i64, a10: [a9]i64 = filter [a5] (r0)
    r1: i64 = mod r0 2i64
    r2: bool = eq r1 1i64
    r3: i64 = read a6 r0
    yield r2 r3
  a11: i64 = map ()
    r0: i64 = read a7
    r1: i64 = read a9
    r2: i64 = add r0 r1
    yield r2
  yield a9 a10 a11
output a3: [a2]i64
output a4: i64";
    expect(shrink, &["i64[0i64 1i64 2i64 3i64 4i64 5i64 6i64]"], &["i64[3i64]", "11i64"]);
    expect(shrink, &["i64[]"], &["i64[]", "0i64"]);
    let branch = "\
input a0: bool
input a2: [a1]i64
a3: i64, a4: [a3]i64 = if a0
  a5: i64, a6: [a5]i64 = filter [a1] (r0)
    r1: bool = gt r0 0i64
    yield r1 r0
  yield a5 a6
else
  yield a1 a2
output a4: [a3]i64";
    expect(branch, &["true", "i64[9i64 8i64 7i64]"], &["i64[1i64 2i64]"]);
    expect(branch, &["false", "i64[9i64 8i64 7i64]"], &["i64[9i64 8i64 7i64]"]);
}

#[test]
fn what_a_program_must_not_do_is_a_bug() {
    let beyond = "\
input a1: [a0]i64
a2: i64 = map ()
  r0: i64 = read a1 5i64
  yield r0
output a2: i64";
    let message = bug(beyond, &["i64[1i64]"]);
    assert!(message.contains("a1 of [1] is read at [5]"), "{message}");
    assert!(message.contains("r0: i64 = read a1 5i64"), "{message}");
    let size = "\
input a1: [a0]i64
a2: [2][3]i64 = reshape a1
output a2: [2][3]i64";
    assert!(bug(size, &["i64[1i64]"]).contains("[2, 3]"));
    let offsets = "\
input a1: [a0]i64
input a2: i64
a3: [a2]i64 = map [a0][~a1 a2] (r0 r1)
  yield r1
output a3: [a2]i64";
    for (descriptor, problem) in
        [("i64[0i64]", "1 offsets for 1 rows"), ("i64[]", "0 offsets for 0 rows")]
    {
        let message = bug(offsets, &[descriptor, "0i64"]);
        assert!(message.contains(problem), "{message}");
    }
    let empty = "\
input a1: [a0]i64
a2: i64 = reduce [a0] (r0)
  yield r0
by (r0: i64) (r1: i64)
  yield r0
output a2: i64";
    assert!(bug(empty, &["i64[]"]).contains("no start"));
    let target = "\
input a1: [a0]i64
a2: [a0]i64 = scatter into a1 [1] (r0)
  yield 1i64 0i64
output a2: [a0]i64";
    assert!(bug(target, &["i64[1i64]"]).contains("no target"));
    let negative = "\
input a0: i64
a1: [a0]i64 = map [a0] (r0)
  yield r0
output a1: [a0]i64";
    assert!(bug(negative, &["-1i64"]).contains("the size a0 is Some(-1)"));
}

#[test]
fn limits() {
    let program = "\
input a0: i64
a1: [a0]i64 = map [a0] (r0)
  yield r0
output a1: [a0]i64";
    let wanted = 8_000_000_000;
    match run_with(program, &[value("1000000000i64")], 1 << 20) {
        Err(Stop::Exhausted(Exhausted::Memory { wanted: found, limit, .. })) => {
            assert_eq!((found, limit), (wanted, 1 << 20));
        }
        other => panic!("{other:?}"),
    }
    let endless = "\
a0: i64 = map ()
  r0: i64 = while (r1: i64 = 0i64)
    yield true
  do
    yield r1
  yield r0
output a0: i64";
    let program = parse(endless).expect("it parses");
    let limits = Limits { memory: 1 << 20, recursion: 100, stack: weft_lang::STACK_BYTES };
    assert_eq!(
        run_flat(&program, &[], &limits, &AtomicBool::new(true)).map(|_| ()),
        Err(Stop::Exhausted(Exhausted::Interrupted))
    );
}
