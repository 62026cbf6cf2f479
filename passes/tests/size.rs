//! Programs whose code would grow exponentially, and such for which passes would take too long.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use weft_ir::flat::Operation;
use weft_ir::nested;
use weft_passes::flatten;
use weft_passes::invariant::split_invariant;

#[test]
fn towers_of_concatenations_are_stored_floor_by_floor() {
    let mut text = "params x0: []i64\n".to_owned();
    for level in 1..=40 {
        let below = level - 1;
        writeln!(text, "x{level}: []i64 = concat x{below} x{below}").expect("a string");
    }
    text += "yield x40\n";
    let program = nested::parse(&text).expect("a program");
    let flat = flatten(&program, &[vec![weft_ir::leaves::Axis::Dense]]).expect("compiled");
    let is_map = |operation: &Operation| matches!(operation, Operation::Map { .. });
    let maps = flat.body.statements.iter().filter(|it| is_map(&it.operation)).count();
    assert!((8..100).contains(&maps), "{maps}\n{flat}");
}

#[test]
fn a_choice_among_exponentially_many_elements_is_not_compiled() {
    let mut text = "params x0: []i64, x1: i64\nx2: []i64 = map x0\n  \\x3: i64\n".to_owned();
    // Each conditional takes two different values on from the one before.
    let mut next = 4;
    fn tower(text: &mut String, next: &mut u32, depth: usize, x: u32) -> u32 {
        let indent = "  ".repeat(20 - depth);
        let mut fresh = || {
            *next += 1;
            *next - 1
        };
        let (condition, result) = (fresh(), fresh());
        writeln!(text, "{indent}x{condition}: bool = gt x{x} {depth}i64").expect("a string");
        if depth == 3 {
            writeln!(text, "{indent}x{result}: i64 = add x{x} 1i64").expect("a string");
            return result;
        }
        writeln!(text, "{indent}x{result}: i64 = if x{condition}").expect("a string");
        for (at, side) in ["add", "mul"].iter().enumerate() {
            if at == 1 {
                writeln!(text, "{indent}else").expect("a string");
            }
            let value = *next;
            *next += 1;
            writeln!(text, "{indent}  x{value}: i64 = {side} x{x} {depth}i64").expect("a string");
            let inner = tower(text, next, depth - 1, value);
            writeln!(text, "{indent}  yield x{inner}").expect("a string");
        }
        result
    }
    let result = tower(&mut text, &mut next, 18, 3);
    writeln!(text, "    yield x{result}\nyield x2").expect("a string");
    let program = nested::parse(&text).expect("a program");
    let dense = vec![weft_ir::leaves::Axis::Dense];
    let error = flatten(&program, &[dense, Vec::new()]).expect_err("too long");
    assert!(error.reason.contains("too long"), "{}", error.reason);
}

#[test]
fn a_long_branch_of_an_inner_map_takes_time_in_proportion() {
    const LINES: u32 = 6400;
    let mut text =
        "params x0: []f64, x1: []f64\nx2: [][]f64 = map x0\n  \\x3: f64\n    x4: []f64 = map x1\n"
            .to_owned();
    text += "      \\x5: f64\n        x6: bool = gt x3 1.0f64\n        x7: f64 = if x6\n";
    for line in 0..LINES {
        let (at, before) = (8 + line, if line == 0 { 5 } else { 7 + line });
        writeln!(text, "          x{at}: f64 = mul x{before} 1.5f64").expect("a string");
    }
    let last = 7 + LINES;
    writeln!(text, "          yield x{last}\n        else\n          yield x5").expect("a string");
    text += "        yield x7\n    yield x4\nyield x2\n";
    let program = nested::parse(&text).expect("a program");
    let started = Instant::now();
    let split = split_invariant(program.clone());
    // What each statement needs, in a set of its own, took a hundred times as long.
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(split.program, program);
}
