//! Loops that carry along what they are for one point: their text in *flat* and *plan*, and what the checks find.

use weft_ir::{flat, plan};

/// Counts in every row what its elements are below nine, with rows of one length and others.
const FLAT: &str = "input a2: [a0][a1]i64
input a5: [a0][~a3 a4]f64 where a3: [a6]i64
a7: i64 = map ()
  yield 0i64
a8: i64, a9: [a0][a1]i64 = while (a10: i64 = a7, a11: [a0][a1]i64 = a2)
  a12: bool = map ()
    r0: i64 = read a10
    r1: bool = lt r0 9i64
    yield r1
  yield a12
do
  a13: [a0][a1]i64 = map [a0][a1] (r0 r1)
    r2: i64 = read a11 r0 r1
    r3: i64 = read a10
    r4: i64 = add r2 r3
    yield r4
  a14: i64 = map ()
    r0: i64 = read a10
    r1: i64 = add r0 1i64
    yield r1
  yield a14 a13
rows a0
  given a0 all a10
  given a1 size a1
  given a2 row a11 1
  given a3 length a3 1
  given a4 segment a5 a3 1
  given a5 size 4
  state all 0
  state point 1
  input a0: i64
  input a2: [a1]i64
  input a4: [a3]f64
  input a5: i64
  a6: i64, a7: [a1]i64 = while (a8: i64 = a0, a9: [a1]i64 = a2)
    a10: bool = map ()
      r0: i64 = read a8
      r1: bool = lt r0 9i64
      yield r1
    yield a10
  do
    a11: [a1]i64 = map [a1] (r0)
      r1: i64 = read a9 r0
      r2: i64 = read a8
      r3: i64 = add r1 r2
      yield r3
    a12: i64 = map ()
      r0: i64 = read a8
      r1: i64 = add r0 1i64
      yield r1
    yield a12 a11
  output a6: i64
  output a7: [a1]i64
end
output a9: [a0][a1]i64
";

/// A loop whose rows end by themselves, and keep their descriptor.
const PLAN: &str = "input a1: [a0][~a2 a3]i64 where a2: [a4]i64
input a5: [a0]bool
input a14: i64
a6: [a4]i64, a7: [a3]i64, a8: [a0]bool = while (a9: [a4]i64 = a2, a10: [a3]i64 = a1, a11: [a0]bool = a5)
  a12: bool = host
    r0: bool = read a11 0i64
    yield r0
  yield a12
do
  launch \"not\" [a0] (r0)
    r1: bool = read a11 r0
    r2: bool = not r1
    yield r2
    store r2 to a13: [a0]bool
  end
  yield a9 a10 a13
rows a0
  given a0 length a9 at a9
  given a1 segment a10 a9 at a9
  given a3 all a14
  state kept
  state segment 0 a9
  state done
  input a1: [a0]i64
  input a3: i64
  a2: [a0]i64 = reshape a1
  output a2: [a0]i64
end
output a7: [a0][~a6 a3]i64
";

#[test]
fn both_languages_are_read_as_they_are_written() {
    let flat = flat::parse(FLAT).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(flat.to_string(), FLAT);
    assert_eq!(flat::check(&flat), Ok(()));
    let plan = plan::parse(PLAN).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.to_string(), PLAN);
    assert_eq!(plan::check(&plan), Ok(()));
}

#[test]
fn what_does_not_fit_is_found() {
    for (from, to, expected) in [
        ("rows a0", "rows a99", "a99 is not bound here"),
        ("given a0 all a10", "given a0 all a14", "a14 is not bound here"),
        ("given a0 all a10", "given a0 all a5", "a0 is a i64, and given a"),
        ("given a1 size a1", "given a1 size 100", "a2 is a [a1]i64, and given a [a0][a1]i64"),
        ("given a1 size a1", "given a1 size a5", "a5"),
        ("given a3 length a3 1", "given a3 length a5 1", "a5"),
        ("given a3 length a3 1", "given a3 length a3 2", "a4 is a [a3]f64, and given a [a4]f64"),
        ("row a11 1", "row a11 at a7", "a7 is a i64 and no array of the numbers of rows"),
        ("state all 0", "state point 0", "output 0 is a i64, and becomes a i64"),
        ("state point 1", "state all 1", "output 1 is a [a1]i64, and becomes a [a0][a1]i64"),
        ("state point 1", "state done", "a11 is a [a0][a1]i64, and says that all is done"),
        ("row a11 1", "row a5 1", "a2 is a [a1]i64, and given a"),
        ("  given a2 row a11 1\n", "", "the input a2 is given nothing"),
        ("  state all 0\n", "", "1 parts for a state of 2"),
        ("state point 1", "state point 2", "the program has no output 2"),
        ("    yield a12 a11\n  output", "    yield a11 a12\n  output", "i64"),
    ] {
        assert!(FLAT.contains(from), "{from}");
        let program = flat::parse(&FLAT.replacen(from, to, 1));
        let program = program.unwrap_or_else(|error| panic!("{from} → {to}: {error}"));
        let found = flat::check(&program).expect_err(&format!("{from} → {to} is wrong"));
        assert!(found.contains(expected), "{from} → {to}: {found}");
    }
}

#[test]
fn what_a_loop_uses_is_what_its_rows_use_too() {
    let program = plan::parse(PLAN).unwrap_or_else(|error| panic!("{error}"));
    let mut used = Vec::new();
    program.body.steps[0].uses(&mut |var| used.push(var.0));
    // Only the rows use a14.
    assert!([0, 9, 10, 14].iter().all(|var| used.contains(var)), "{used:?}");
}
