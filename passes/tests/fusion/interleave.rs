//! Literal rows: what stores them, and beside what.

use weft_passes::fuse::Reason;

use crate::counts::{check, fused, reasons};
use crate::{GREEDY, ILP, OFF};

/// Rows of a sine and a cosine over a space, stored by a map over their elements; `rest` follows.
fn rows(space: &str, indices: &str, rest: &str) -> String {
    let place = |indices: &str| indices.rsplit(' ').next().expect("an index").to_owned();
    let at = place(indices);
    format!(
        "input a1: [a0]f64
a2: {space}f64 = map {space} ({indices})
  r5: f64 = read a1 {at}
  r6: f64 = sin r5
  yield r6
a3: {space}f64 = map {space} ({indices})
  r5: f64 = read a1 {at}
  r6: f64 = cos r5
  yield r6
a4: {space}[2]f64 = map {space}[2] ({indices} r9)
  r2: bool = lt r9 1i64
  r5: f64 = if r2
    r6: f64 = read a2 {indices}
    yield r6
  else
    r7: f64 = read a3 {indices}
    yield r7
  yield r5
{rest}"
    )
}

/// A sum `a5`, with these extents, of what is read over a space, which is yielded.
fn sum(extents: &str, space: &str, read: &str, outer: &str) -> String {
    format!(
        "a5: {extents}f64 = reduce {space}
  r2: f64 = read {read}
  yield r2
by (r2: f64) (r3: f64)
  r4: f64 = add r2 r3
  yield r4
if_empty {outer}
  yield 0.0f64
output a5: {extents}f64
"
    )
}

#[test]
fn what_computes_the_elements_stores_the_rows() {
    let fused = check(&rows("[a0]", "r0", "output a4: [a0][2]f64\n"), 1, 1);
    let text = fused.program.to_string();
    assert!(text.contains("launch \"map\" [a0] (r0) fusing a2 a3"), "{text}");
    assert!(text.contains("interleave r2 r3 to a4: [a0][2]f64"), "{text}");
    assert_eq!((text.matches("read a1").count(), text.matches("if ").count()), (1, 0), "{text}");
    // Also where something else wants them.
    check(&rows("[a0]", "r0", "output a3: [a0]f64\noutput a4: [a0][2]f64\n"), 1, 2);
}

#[test]
fn without_fusion_every_element_looks_which_it_is() {
    let text = fused(&rows("[a0]", "r0", "output a4: [a0][2]f64\n"), &OFF).program.to_string();
    assert!(!text.contains("interleave") && text.contains("launch \"map\" [a0][2]"), "{text}");
}

/// What rows over a dimension are, whose elements are these of a number; the others are the last of them.
fn elements(extents: &str, indices: &str, condition: &str) -> String {
    format!(
        "input a1: [a0]i64
a4: [a0]{extents}i64 = map [a0]{extents} (r0 {indices})
{condition}
  r5: i64 = read a1 r0
  r6: i64 = if r4
    r7: i64 = add r5 1i64
    yield r7
  else
    yield r5
  yield r6
output a4: [a0]{extents}i64
"
    )
}

/// Whether that is interleaved, and over how many dimensions the kernel runs then.
fn over(extents: &str, indices: &str, condition: &str) -> Option<usize> {
    let fused = fused(&elements(extents, indices, condition), &ILP);
    let text = fused.program.to_string();
    let line = text.lines().find(|line| line.starts_with("launch")).expect("a kernel").to_owned();
    text.contains("interleave").then(|| line.matches("][").count() + 1)
}

#[test]
fn the_last_dimensions_that_choose_are_the_row() {
    let last = "  r4: bool = eq r1 0i64";
    assert_eq!(over("[2]", "r1", last), Some(1));
    assert_eq!(over("[16]", "r1", last), Some(1));
    // Too many, and one.
    assert_eq!(over("[17]", "r1", last), None);
    assert_eq!(over("[1]", "r1", last), None);
    // A number that only the run knows.
    assert_eq!(over("[a0]", "r1", last), None);
    // Of two dimensions the last, both, or more than a row has.
    assert_eq!(over("[3][2]", "r8 r1", last), Some(2));
    assert_eq!(over("[3][2]", "r8 r1", "  r4: bool = eq r8 0i64"), Some(1));
    assert_eq!(over("[9][2]", "r8 r1", "  r4: bool = eq r8 0i64"), None);
    // A condition on what a row has, and one on the rows.
    let data = "  r2: i64 = read a1 r0\n  r3: i64 = add r1 r2\n  r4: bool = eq r3 0i64";
    assert_eq!(over("[2]", "r1", data), None);
    assert_eq!(over("[2]", "r1", "  r4: bool = eq r0 0i64"), None);
    // One that is made of the index.
    let made = "  r2: i64 = rem r1 2i64\n  r4: bool = eq r2 0i64";
    assert_eq!(over("[4]", "r1", made), Some(1));
}

#[test]
fn what_reads_the_elements_takes_them_as_they_come() {
    let doubled = "a5: [a0][2]f64 = map [a0][2] (r0 r1)
  r2: f64 = read a4 r0 r1
  r3: f64 = add r2 r2
  yield r3
output a5: [a0][2]f64
";
    // What doubles each element has become one that chooses, too: its rows are stored, and no others.
    let read = check(&rows("[a0]", "r0", doubled), 1, 1);
    assert!(read.program.to_string().contains("interleave r3 r5 to a5"), "{}", read.program);
    let total = sum("[a0]", "[a0][2] (r0 r1)", "a4 r0 r1", "(r0)");
    let read = check(&rows("[a0]", "r0", &total), 2, 3);
    assert!(!read.program.to_string().contains("interleave"), "{}", read.program);
    assert_eq!(reasons(&read), [Reason::Result, Reason::SharedElement]);
    // Also with other extents.
    let flattened = format!("a6: [a7]f64 = reshape a4\n{}", sum("", "[a7] (r0)", "a6 r0", "()"));
    let doubled = "a7: i64 = map ()\n  r0: i64 = read a0\n  r1: i64 = mul r0 2i64\n  yield r1\n";
    let read = fused(&rows("[a0]", "r0", &format!("{doubled}{flattened}")), &ILP);
    assert!(!read.program.to_string().contains("interleave"), "{}", read.program);
}

#[test]
fn beside_a_fold_of_the_same_points_it_has_a_kernel_of_its_own() {
    let rest = format!("{}output a4: [a0][2]f64\n", sum("", "[a0] (r0)", "a2 r0", "()"));
    for config in [ILP, GREEDY] {
        let fused = fused(&rows("[a0]", "r0", &rest), &config);
        let text = fused.program.to_string();
        assert_eq!(text.matches("launch").count(), 2, "{text}");
        assert!(text.contains("interleave"), "{text}");
    }
}
