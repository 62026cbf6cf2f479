//! Elements that are read before their arrays are updated (Note [Read before replaced] in `early.rs`).

use weft_ir::flat::{check, parse};
use weft_passes::early::read_early;

/// A loop that replaces an element of its array, with a scalar behind that.
fn program(scalar: &str, result: &str) -> String {
    format!(
        r"input a1: [a0]f64
a2: i64 = map ()
  yield 0i64
a9: f64 = map ()
  yield 0.0f64
a20: i64, a21: [a0]f64, a22: f64 = while (a3: i64 = a2, a4: [a0]f64 = a1, a5: f64 = a9)
  a6: bool = map ()
    r0: i64 = read a3
    r1: i64 = read a0
    r2: bool = lt r0 r1
    yield r2
  yield a6
do
  a7: [a0]f64 = scatter into a4 [1] (r0)
    r1: i64 = read a3
    yield r1 1.0f64
  a8: i64 = map ()
    r0: i64 = read a3
    r1: i64 = add r0 1i64
    yield r1
  {scalar}
  yield a8 {result} a10
output a22: f64
"
    )
}

/// Whether the element is read before the update afterwards.
fn is_early(scalar: &str, result: &str) -> bool {
    let text = program(scalar, result);
    let before = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&before).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let after = read_early(before.clone());
    check(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
    let text = after.to_string();
    let is_early = text.find("read a4").is_some_and(|at| at < text.find("scatter").expect("one"));
    // All that reads the old array is before the update, or nothing has moved.
    assert_eq!(after != before, is_early, "{text}");
    let behind = &text[text.find("scatter").expect("one")..];
    assert!(!is_early || !behind.contains("read a4"), "{text}");
    is_early
}

#[test]
fn elements_at_places_that_are_known() {
    for place in ["r0", "3i64", "r2"] {
        let scalar = format!(
            "a10: f64 = map ()
    r0: i64 = read a3
    r1: i64 = read a0
    r2: i64 = sub r1 1i64
    r3: bool = lt r0 r2
    check r3 index
    r4: f64 = read a4 {place}
    r5: f64 = read a5
    r6: f64 = add r5 r4
    yield r6"
        );
        assert!(is_early(&scalar, "a7"), "{place}");
    }
    // Under a condition, and in an update that follows.
    let conditional = "a10: f64 = map ()
    r0: i64 = read a3
    r1: bool = lt r0 7i64
    r2: f64 = if r1
      r3: i64 = mul r0 2i64
      r4: f64 = read a4 r3
      yield r4
    else
      yield 0.0f64
    yield r2";
    assert!(is_early(conditional, "a7"));
    let update = "a11: [a0]f64 = scatter into a7 [1] (r0)
    r1: i64 = read a3
    r2: f64 = read a4 r1
    yield 0i64 r2
  a10: f64 = map ()
    yield 2.5f64";
    assert!(is_early(update, "a11"));
}

#[test]
fn others_stay_where_they_are() {
    // The place is known behind the update only, it may be an error, or it is itself an element.
    for place in [
        "r1: i64 = read a8",
        "r1: i64 = mod 7i64 r0",
        "r2: f64 = read a4 r0\n    r1: i64 = round_i64 r2",
    ] {
        let place = place.replace("round_i64", "cast_i64");
        let scalar = format!(
            "a10: f64 = map ()
    r0: i64 = read a3
    {place}
    r4: f64 = read a4 r1
    yield r4"
        );
        assert!(!is_early(&scalar, "a7"), "{place}");
    }
    // The old array is needed as a whole, or at many points.
    let element = "a10: f64 = map ()
    r0: i64 = read a3
    r4: f64 = read a4 r0
    yield r4";
    assert!(is_early(element, "a7"));
    assert!(!is_early(element, "a4"));
    let many = format!(
        "{element}\n  a12: [a0]f64 = map [a0] (r0)\n    r1: f64 = read a4 r0\n    yield r1"
    );
    assert!(!is_early(&many, "a7"));
}
