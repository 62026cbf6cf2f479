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

/// A loop that replaces elements of its array in this way, to `a7`, and reads one of the array as it was behind that.
fn with_update(update: &str, read: &str) -> String {
    let text =
        program(&format!("a10: f64 = map ()\n    r0: f64 = read a4 {read}\n    yield r0"), "a7");
    let (before, after) = (text.find("  a7: ").expect("one"), text.find("  a8: ").expect("one"));
    format!("{}{update}{}", &text[..before], &text[after..])
}

/// The program with elements read early, as a text, if it is another one.
fn early(text: &str) -> Option<String> {
    let before = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&before).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let after = read_early(before.clone());
    check(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
    (after != before).then(|| after.to_string())
}

const LOOP: &str = "  a7: [a0]f64, a11: i64 = while (a12: [a0]f64 = a4, a13: i64 = a2)
    a14: bool = map ()
      r0: i64 = read a13
      r1: bool = lt r0 9i64
      yield r1
    yield a14
  do
    a15: i64 = map ()
      r0: i64 = read a13
      r1: i64 = add r0 1i64
      yield r1
    a16: [a0]f64 = scatter into a12 [1] (r0)
      r1: i64 = read a13
      yield r1 ELEMENT
    yield a16 a15
";

#[test]
fn elements_of_what_a_loop_inside_replaces() {
    let after = early(&with_update(&LOOP.replace("ELEMENT", "1.0f64"), "0i64")).expect("moved");
    let read = after.find("read a4").expect("it is read");
    assert!(read < after.find("while (a12").expect("the loop"), "{after}");
    assert_eq!(after.matches("read a4").count(), 1, "{after}");
    // The loop reads the array as it was before all of its turns.
    let element = LOOP.replace("yield r1 ELEMENT", "r2: f64 = read a4 3i64\n      yield r1 r2");
    let after = early(&with_update(&element, "3i64")).expect("moved");
    assert!(after.find("read a4") < after.find("while (a12"), "{after}");
    assert_eq!(after.matches("read a4").count(), 1, "{after}");
    // At another place in each turn it stays where it is, and so does all else.
    let element = LOOP.replace("yield r1 ELEMENT", "r2: f64 = read a4 r1\n      yield r1 r2");
    assert_eq!(early(&with_update(&element, "0i64")), None);
}

const CONDITION: &str = "  a11: bool = map ()
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  a7: [a0]f64 = if a11
    a12: [a0]f64 = scatter into a4 [1] (r0)
      r1: i64 = read a3
      yield r1 1.0f64
    yield a12
  else
    yield a4
";

#[test]
fn elements_of_what_a_side_replaces() {
    let after = early(&with_update(CONDITION, "0i64")).expect("moved");
    assert!(after.find("read a4 0i64") < after.find("if a11"), "{after}");
    assert_eq!(after.matches("read a4").count(), 1, "{after}");
}

#[test]
fn elements_that_a_side_reads() {
    let text = program(
        "a11: bool = map ()
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  a10: f64 = if a11
    a12: f64 = map ()
      r0: f64 = read a4 0i64
      yield r0
    yield a12
  else
    a13: f64 = map ()
      r0: f64 = read a4 0i64
      yield r0
    yield a13",
        "a7",
    );
    let after = early(&text).expect("moved");
    assert!(after.find("read a4 0i64") < after.find("scatter into"), "{after}");
    assert_eq!(after.matches("read a4").count(), 1, "it is read once: {after}");
    // A side that yields all of the array needs it as it was.
    let text = text
        .replace("a10: f64 = if", "a10: f64, a14: [a0]f64 = if")
        .replace("yield a12\n", "yield a12 a4\n")
        .replace("yield a13\n", "yield a13 a4\n");
    assert_eq!(early(&text), None);
}

/// The loop, whose array is a part of the one before, or begins with it; an element is read in a side behind that.
fn with_part(element: &str) -> String {
    let part = format!("  a7: [a0]f64 = map [a0] (r0)\n{element}\n    yield r9\n");
    with_update(&part, "0i64").replace(
        "a10: f64 = map ()\n    r0: f64 = read a4 0i64\n    yield r0",
        "a13: bool = map ()
    r0: i64 = read a3
    r1: bool = lt r0 9i64
    yield r1
  a10: f64 = if a13
    a12: f64 = map ()
      r0: f64 = read a4 0i64
      yield r0
    yield a12
  else
    yield a5",
    )
}

#[test]
fn elements_of_what_moves() {
    let last = "    r1: i64 = read a0\n    r2: i64 = sub r1 1i64\n    r3: bool = lt r0 r2
    r9: f64 = if r3\n      r4: f64 = read a4 r0\n      yield r4\n    else\n      yield 7.0f64";
    for part in ["    r9: f64 = read a4 r0", last] {
        let text = with_part(part);
        let after = early(&text).expect("moved");
        assert!(after.find("read a4 0i64") < after.find("a7: [a0]f64"), "{after}");
        assert_eq!(after.matches("read a4").count(), 2, "{after}");
    }
}

#[test]
fn what_is_computed_of_all_elements_moves_nothing() {
    let sums = "    r1: f64 = read a4 r0\n    r9: f64 = add r1 r1";
    let text =
        with_update(&format!("  a7: [a0]f64 = map [a0] (r0)\n{sums}\n    yield r9\n"), "0i64");
    assert_eq!(early(&text), None);
    // Nor what is made of two arrays.
    let two = "    r1: f64 = read a1 r0\n    r2: bool = lt r1 0.0f64\n    r9: f64 = if r2\n      r3: f64 = read a4 r0
      yield r3\n    else\n      yield r1";
    let text =
        with_update(&format!("  a7: [a0]f64 = map [a0] (r0)\n{two}\n    yield r9\n"), "0i64");
    assert_eq!(early(&text), None);
}
