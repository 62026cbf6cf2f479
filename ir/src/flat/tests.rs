//! Tests of the text and the check of flat programs.

use super::{check, parse};

/// A program that uses every operation and every instruction.
const EVERYTHING: &str = "\
input a1: [a0]f32
input a2: [a0]i64
input a6: [a0][~a4 a5][3]f64 where a4: [a3]i64
input a7: bool
a8: i64 = map ()
  yield 3i64
a9: [a0]f32, a10: [a0]bool = map [a0] (r0)
  r1: f32 = read a1 r0
  r2: i64 = read a2 r0
  r3: bool = lt r2 3i64
  check r3 index
  r4: f32, r5: i64 = if r3
    r6: f32 = mul r1 2.5f32
    yield r6 r2
  else
    yield r1 0i64
  r7: i64, r8: f32 = while (r9: i64 = r5, r10: f32 = r4)
    r11: bool = lt r9 10i64
    yield r11
  do
    r12: i64 = add r9 1i64
    r13: i64 = read a8
    r14: f32 = uniform_f32 r13 r9
    yield r12 r14
  yield r8 r3
a11: [a5][3]f64 = map [a0][~a4 a5][3] (r0 r1 r2)
  r3: f64 = read a6 r1 r2
  r4: i64 = random_int 1i64 r1 0i64 5i64
  r5: f64 = cast_f64 r4
  r6: f64 = fma r3 r5 -inff64
  yield r6
a12: f32 = reduce [a0] (r0)
  r1: f32 = read a1 r0
  yield r1
by (r0: f32) (r1: f32)
  r2: f32 = add r0 r1
  yield r2
a13: f64, a14: i64 = reduce [a5] (r0)
  r1: f64 = read a6 r0 2i64
  yield r1 r0
by (r0: f64, r1: i64) (r2: f64, r3: i64)
  yield r0 r3
from ()
  yield 0.0f64 0i64
a15: [a5]f64 = reduce [a0][~a4 a5][3] (r0 r1 r2)
  r3: f64 = read a6 r1 r2
  yield r3
by (r0: f64) (r1: f64)
  r2: f64 = max r0 r1
  yield r2
if_empty (r0 r1)
  yield nanf64
a16: [a0]i64 = scan inclusive [a0] (r0)
  yield r0
by (r0: i64) (r1: i64)
  r2: i64 = add r0 r1
  yield r2
a17: i64 = map ()
  r0: i64 = read a0
  r1: i64 = add r0 1i64
  yield r1
a18: [a17]i64 = scan full right to [a17] [a0] (r0)
  yield r0
by (r0: i64) (r1: i64)
  r2: i64 = mul r0 r1
  yield r2
from ()
  yield 1i64
a19: i64, a20: [a19]f32 = filter [a0] (r0)
  r1: bool = read a10 r0
  r2: f32 = read a1 r0
  yield r1 r2
a21: [a3]i64, a22: i64, a23: [a22]i64 = filter [a0][3] (r0 r1)
  r2: bool = lt r0 r1
  yield r2 r1
a24: [a0]f32 = scatter into a1 [a0] (r0)
  r1: i64 = read a2 r0
  yield r1 1.0f32
a25: [a0]f32, a26: [a0]i64 = scatter into a1 a2 [a0] (r0)
  yield r0 2.0f32 r0
by (r0: f32, r1: i64) (r2: f32, r3: i64)
  yield r2 r1
a27: [a0]i64 = sort [a0] (r0)
  r1: f32 = read a1 r0
  yield r1 r0
a28: [a0]i64 = sort descending [a0] (r0)
  r1: i64 = read a2 r0
  yield r1
a29: [1][a0]f32 = reshape a1
a30: [2][2]char = constant char['a' '\\x00' ' ' 'z']
check a7 lockstep
a31: i64, a32: [a31]f32 = if a7
  yield a19 a20
else
  a33: f32 = map ()
    yield 0.0f32
  yield a0 a1
a34: i64, a35: [a34]f32 = while (a36: i64 = a31, a37: [a36]f32 = a32)
  a38: bool = map ()
    r0: i64 = read a36
    r1: bool = gt r0 4i64
    yield r1
  yield a38
do
  a39: i64, a40: [a39]f32 = filter [a36] (r0)
    r1: bool = ne r0 0i64
    yield r1 0.5f32
  yield a39 a40
output a13: f64
output a35: [a34]f32
output a11: [a0][~a4 a5][3]f64
";

#[test]
fn every_operation_is_read_as_it_is_written() {
    let program = parse(EVERYTHING).expect("it parses");
    assert_eq!(program.to_string(), EVERYTHING);
    assert_eq!(check(&program), Ok(()));
}

/// Replaces the first occurrence in the program, which must be there, and checks.
fn complaint(from: &str, to: &str) -> String {
    assert!(EVERYTHING.contains(from), "{from}");
    let text = EVERYTHING.replacen(from, to, 1);
    let program = parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    check(&program).expect_err(&format!("{from} → {to} is wrong"))
}

#[test]
fn what_is_wrong_is_found() {
    for (from, to, expected) in [
        ("r1: f32 = read a1 r0", "r1: f64 = read a1 r0", "the results: f32, not f64"),
        ("read a1 r0", "read a1", "the indices: nothing, not i64"),
        ("read a1 r0", "read a1 r0 r0", "the indices: i64 i64, not i64"),
        ("read a1 r0", "read a20 r0", "a20 is not bound here"),
        ("lt r2 3i64", "lt r2 3i32", "lt does not admit i64 i32"),
        ("check r3 index", "check r2 index", "the condition: i64, not bool"),
        ("check r3 index", "check r4 index", "r4 is not bound here"),
        ("r6: f32 = mul", "r0: f32 = mul", "r0 is bound twice"),
        ("yield r6 r2", "yield r6", "the branches"),
        ("    yield r1 0i64\n", "    yield r6 0i64\n", "r6 is not bound here"),
        ("(r9: i64 = r5,", "(r9: i64 = r4,", "the first state"),
        ("yield r12 r14", "yield r12 r12", "the next state"),
        ("    yield r11", "    yield r9", "the condition"),
        ("yield r8 r3", "yield r8 r9", "r9 is not bound here"),
        ("uniform_f32 r13 r9", "uniform_f32 r13", "the operands"),
        ("map [a0] (r0)", "map [a0][2] (r0)", "1 indices for a space of 2 dimensions"),
        ("a9: [a0]f32,", "a9: [2]f32,", "a9 is declared as [2]f32, but it is [a0]f32"),
        ("a9: [a0]f32,", "a1: [a0]f32,", "a1 is bound twice"),
        ("map [a0][~a4 a5][3]", "map [a0][~a2 a1][3]", "a1 is a [a0]f32 and no i64"),
        ("map [a0][~a4 a5][3]", "map [a0][~a6 a5][3]", "no segment descriptor"),
        ("map [a0][~a4 a5][3]", "map [a0][~a4 a17][3]", "a17 is not bound here"),
        ("by (r0: f32) (r1: f32)", "by (r0: f32) (r1: f64)", "the right operand"),
        ("  yield r0 r3\n", "  yield r0\n", "the operator's results"),
        ("from ()\n  yield 0.0f64 0i64", "from ()\n  yield 0.0f64", "the start"),
        ("if_empty (r0 r1)", "if_empty (r0)", "1 indices for a space of 2"),
        ("scan inclusive", "scan exclusive", "needs a start"),
        ("right to [a17]", "right", "needs its extent"),
        ("right to [a17]", "right to [a0]", "a18 is declared as"),
        ("yield r1 r2\na21", "yield r2 r1\na21", "first result of a filter's thunk"),
        ("a20: [a19]f32", "a20: [a0]f32", "a20 is declared as"),
        ("a21: [a3]i64, a22: i64", "a21: i64, a22: i64", "no segment descriptor"),
        ("into a1 [a0]", "into a2 [a0]", "the values: f32, not i64"),
        ("into a1 [a0]", "into [a0]", "needs a destination"),
        ("yield r0 2.0f32 r0", "yield 2.0f32 r0", "results for an index and values"),
        ("by (r0: f32, r1: i64) (r2", "by (r0: i64, r1: f32) (r2", "the left operand"),
        ("a28: [a0]i64", "a28: [a0]f32", "the results: i64, not f32"),
        ("a29: [1][a0]f32", "a29: [1][a0]f64", "the elements: f64, not f32"),
        ("a29: [1][a0]f32", "a29: f32", "the result of a reshape is no array"),
        ("reshape a1", "reshape a0", "a0 is a i64 and no array"),
        ("a30: [2][2]char", "a30: [2][3]char", "4 elements are no [2][3]char"),
        ("a30: [2][2]char", "a30: [2][2]u8", "the elements are not u8"),
        ("check a7", "check a8", "a8 is a i64 and no bool"),
        ("if a7", "if a10", "a10 is a [a0]bool and no bool"),
        ("yield a19 a20", "yield a19", "2 results, not 1"),
        ("yield a0 a1\n", "yield a0 a2\n", "a2 is a [a0]i64"),
        ("(a36: i64 = a31, a37", "(a36: i64 = a33, a37", "a33 is not bound here"),
        ("yield a38", "yield a36", "no bool"),
        ("yield a39 a40", "yield a39 a36", "a36 is a i64"),
        ("output a35", "output a37", "a37 is not bound here"),
        ("output a13: f64", "output a13: [a0]f64", "for 1 dimensions"),
        ("output a13: f64", "output a13: [~a4 a5]f64", "the first axis of a13 is ragged"),
        ("input a7: bool", "input a2: bool", "a2"),
    ] {
        let found = complaint(from, to);
        assert!(found.contains(expected), "{from} → {to}: {found}");
    }
}

#[test]
fn messages_name_the_line() {
    let found = complaint("lt r2 3i64", "lt r2 3i32");
    assert_eq!(
        found,
        "lt does not admit i64 i32\n  in `r3: bool = lt r2 3i32`\n  \
         at `a9: [a0]f32, a10: [a0]bool = map [a0] (r0)`"
    );
}

#[test]
fn a_block_sees_what_is_around_it_and_nothing_sees_into_a_block() {
    let found = complaint("output a13: f64", "output a33: f32");
    assert!(found.contains("a33"), "{found}");
    let found = complaint("[a39]f32 = filter [a36]", "[a39]f32 = filter [a34]");
    assert!(found.contains("a34 is not bound here"), "{found}");
}

#[test]
fn texts_that_are_no_programs() {
    for (text, expected) in [
        ("a1: i64 = frobnicate ()", "1:11: expected an operation, not `frobnicate`"),
        ("a1: i64 = map ()", "1:17: expected an operation, but the text ends"),
        ("a1: i64 = map ()\n  yield 1i64 5", "2:14: expected a register or a constant, not `5`"),
        ("a1: [3 = map ()", "1:8: expected `]`, not `=`"),
        ("a4194304: i64 = map ()", "1:1: the greatest variable is a4194303"),
        ("output a1: i64", "1:15: a1 is no variable of i64"),
        ("scan sideways", "1:6: expected a form of scan, not `sideways`"),
        ("check a1 grief", "1:10: expected a kind of fault, not `grief`"),
        (
            "a1: i64 = map ()\n  yield 1i64\nyield a1 map",
            "3:10: expected `output` or the end, not `map`",
        ),
    ] {
        let found = parse(text).expect_err(text).to_string();
        assert_eq!(found, expected, "{text}");
    }
}
