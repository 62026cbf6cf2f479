//! The text of plans reads as it was written, and the check finds what is wrong.

use crate::plan::{check, parse, sorted_keys};

/// Every kind of step and sink.
const EVERYTHING: &str = r#"input a1: [a0]f64
input a4: [a2][~a3 a5]i64 where a3: [a6]i64
a7: i64, a8: bool = host
  r0: i64 = read a0
  r1: bool = gt r0 0i64
  check r1 empty
  yield r0 r1
check a8 empty
a9: [2][2]i64 = constant i64[1i64 2i64 3i64 4i64]
a10: [4]i64 = reshape a9
launch "map_reduce_scan" [a0] (r0) fusing a1
  r1: f64 = read a1 r0
  r2: f64 = exp r1
  yield r2
  store r2 to a11: [a0]f64
  reduce r2 as (r3: f64) to a12: f64
  by (r4: f64) (r5: f64)
    r6: f64 = add r4 r5
    yield r6
  from ()
    yield 0.0f64
  scan inclusive right r2 as (r7: f64) to _
  by (r8: f64) (r9: f64)
    r10: f64 = add r8 r9
    yield r10
  then (r11)
    r12: f64 = sqrt r7
    yield r12
    store r12 to a13: [a0]f64
end
launch "map" [a2][~a3 a5] (r0 r1)
  r2: i64 = read a4 r1
  yield r2
  store r2 to a50: [a5]i64
  interleave r2 r1 0i64 1i64 to a51: [a5][2][2]i64
end
launch "filter" [a2][~a3 a5] (r0 r1)
  r2: i64 = read a4 r1
  r3: bool = gt r2 0i64
  yield r3 r2
  filter r3 to a14: [a6]i64, a15: i64
  keep r2 to a16: [a15]i64
  then (r4 r5)
    r6: i64 = add r2 r5
    yield r6
    store r6 to a17: [a15]i64
end
launch "scatter" [a5] (r0)
  r1: i64 = read a4 r0
  yield r1
  scatter r1 at r0 into a10 to a18: [4]i64
  by (r2: i64) (r3: i64)
    r4: i64 = max r2 r3
    yield r4
end
launch "sort" [a0] (r0)
  r1: f64 = read a11 r0
  yield r1
  sort descending r1 to a19: [a0]i64
end
free a11 a13
a20: i64 = if a8
  yield a7
else
  a21: i64 = host
    yield 1i64
  yield a21
a22: i64 = while (a23: i64 = a20)
  a24: bool = host
    r0: i64 = read a23
    r1: bool = lt r0 10i64
    yield r1
  yield a24
do
  a25: i64 = host
    r0: i64 = read a23
    r1: i64 = add r0 1i64
    yield r1
  yield a25
output a12: f64
output a22: i64
"#;

#[test]
fn the_text_reads_as_it_was_written() {
    let program = parse(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    check(&program).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(program.to_string(), EVERYTHING);
}

#[test]
fn what_one_side_frees_is_freed_once_more_behind() {
    let freed = EVERYTHING.replacen("free a11 a13\na20", "a20", 1);
    let freed = freed.replacen("yield a7\nelse\n", "yield a7\nelse\n  free a11\n", 1);
    let behind = |step: &str| {
        let text = freed.replacen("a22: i64 = while", &format!("{step}\na22: i64 = while"), 1);
        check(&parse(&text).unwrap_or_else(|error| panic!("{error}")))
    };
    assert_eq!(behind("free a11 a13"), Ok(()));
    for step in ["free a11 a13\nfree a11", "a40: [a0]f64 = reshape a11"] {
        let problem = behind(step).expect_err("a wrong plan");
        assert!(problem.starts_with("a11 was freed before"), "{problem}");
    }
}

/// Replaces a piece of the text; what the check says about it.
#[track_caller]
fn problem(piece: &str, by: &str) -> String {
    assert!(EVERYTHING.contains(piece), "{piece}");
    let program = parse(&EVERYTHING.replacen(piece, by, 1)).unwrap_or_else(|error| {
        panic!("{error}");
    });
    check(&program).expect_err("a wrong plan")
}

#[test]
fn the_check_finds_what_is_wrong() {
    let freed = problem("free a11 a13\n", "free a11 a11\n");
    assert!(freed.starts_with("a11 was freed before"), "{freed}");
    let unbound = problem("r1: f64 = read a11 r0", "r1: f64 = read a13 r9");
    assert!(unbound.starts_with("r9 is not bound here"), "{unbound}");
    let twice = problem("to a13: [a0]f64", "to a11: [a0]f64");
    assert!(twice.starts_with("a11 is bound twice"), "{twice}");
    let extents = problem("store r2 to a11: [a0]f64", "store r2 to a11: [a5]f64");
    assert!(extents.starts_with("a5 is not bound here") || extents.contains("a11"), "{extents}");
    let element = problem("to a19: [a0]i64", "to a19: [a0]f64");
    assert!(element.starts_with("the results"), "{element}");
    let scalar = problem("a10: [4]i64 = reshape a9", "a10: i64 = reshape a9");
    assert!(scalar.starts_with("the result of a reshape is no array"), "{scalar}");
    let flag = problem("filter r3 to", "filter r2 to");
    assert!(flag.starts_with("the flag"), "{flag}");
    let beside = problem("  sort descending r1", "  filter true to a30: i64\n  sort descending r1");
    assert!(beside.starts_with("a filter, scatter or sort"), "{beside}");
    let indices = problem("launch \"sort\" [a0] (r0)", "launch \"sort\" [a0][a0] (r0)");
    assert!(indices.starts_with("a kernel has an index"), "{indices}");
    let apart = problem(
        "interleave r2 r1 0i64 1i64 to a51: [a5][2][2]",
        "interleave r2 r1 to a51: [a5][4]",
    );
    assert!(apart.starts_with("2 elements are no row of a51"), "{apart}");
    let unknown = problem("to a51: [a5][2][2]i64", "to a51: [a5][a0]i64");
    assert!(unknown.starts_with("4 elements are no row"), "{unknown}");
    let rows = problem("to a51: [a5][2][2]i64", "to a51: [a2][2][2]i64");
    assert!(rows.contains("a51"), "{rows}");
    let mixed = problem("interleave r2 r1 0i64", "interleave r2 r1 0.0f64");
    assert!(mixed.starts_with("the elements of a row"), "{mixed}");
    let beside = problem("  store r2 to a50: [a5]i64\n", "  sort r2 to a50: [a5]i64\n");
    assert!(beside.starts_with("beside what is interleaved"), "{beside}");
    let state = problem("while (a23: i64 = a20)", "while (a23: f64 = a20)");
    assert!(state.starts_with("a20 is a i64"), "{state}");
}

/// Whether the launch behind one that sorts brings the keys into order, which are computed and stored where they are sorted.
fn brings_into_order(stored: &str, read: &str, behind: &str) -> bool {
    let text = format!(
        "input a1: [a0]f64
launch \"map_sort\" [a0][9] (r0 r1)
  r2: f64 = read a1 r0
  r3: f64 = exp r2
  r4: f64 = add r3 r2
  yield {stored} r4
  store {stored} to a2: [a0][9]f64
  sort r4 to a3: [a0][9]i64
end
launch \"map\" [a0][9] (r0 r1)
  r2: i64 = read a3 r0 r1
  r3: f64 = read a2 {read}
  yield r3
  store r3 to a4: [a0][9]f64
end
{behind}output a4: [a0][9]f64
"
    );
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = sorted_keys(&program.body.steps, 0);
    // The keys are no array that is there before the launch.
    assert!(found.iter().all(|found| found.keys.is_none()), "{found:?}");
    assert!(found.iter().all(|found| found.order.is_none() == behind.contains("a3")), "{found:?}");
    found.is_some()
}

#[test]
fn keys_that_a_launch_stores_are_read_where_they_are() {
    assert!(brings_into_order("r4", "r0 r2", "free a2 a3\n"));
    assert!(brings_into_order("r4", "r0 r2", ""));
    // Something else is stored there, or it is read in another order.
    assert!(!brings_into_order("r3", "r0 r2", "free a2 a3\n"));
    assert!(!brings_into_order("r4", "r0 r1", "free a2 a3\n"));
    assert!(!brings_into_order("r4", "r1 r2", "free a2 a3\n"));
}
