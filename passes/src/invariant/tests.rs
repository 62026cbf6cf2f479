//! Tests of splitting inner maps, from text to text.

use weft_ir::nested::{check, parse};
use weft_ir::{SourceId, Span};

use super::{outermost, split_invariant};
use crate::pipeline::SHARING;
use crate::share::share;

/// Splits a program of these parameters, shares it again, and compares what follows them, with how many expressions have
/// moved and how many stay in a condition.
fn check_split(params: &str, before: &str, after: &str, counts: (usize, usize)) {
    let program = parse(&format!("params {params}\n{before}")).expect(before);
    assert_eq!(check(&program), Ok(()), "{before}");
    let split = split_invariant(spans(program));
    assert_eq!((split.moved.len(), split.stays.len()), counts, "{}", split.program);
    assert_eq!(check(&split.program), Ok(()), "{}", split.program);
    let shared = share(split.program, &SHARING);
    assert_eq!(shared.to_string(), format!("params {params}\n{after}"), "{before}");
}

/// The program with a span of its own for each statement: those of one span count once.
fn spans(mut program: weft_ir::nested::Program) -> weft_ir::nested::Program {
    fn number(body: &mut weft_ir::nested::Body, next: &mut u32) {
        for statement in &mut body.statements {
            (statement.span.start, statement.span.end) = (*next, *next + 1);
            *next += 1;
            statement.operation.for_each_body_mut(&mut |inner| number(inner, next));
        }
    }
    number(&mut program.body, &mut 1);
    program
}

fn check_stays(params: &str, program: &str, stays: usize) {
    check_split(params, program, program, (0, stays));
}

#[test]
fn what_is_cheaper_than_a_load_stays() {
    check_stays(
        "x0: []f64, x1: []f64",
        "\
x2: [][]f64 = map x0
  \\x3: f64
    x4: []f64 = map x1
      \\x5: f64
        x6: f64 = add x5 1.0f64
        x7: f64 = mul x3 x6
        yield x7
    yield x4
yield x2
",
        0,
    );
}

#[test]
fn what_goes_further_out_goes_first() {
    // There is no array for all pairs of x0 and x1.
    check_split(
        "x0: []f64, x1: []f64",
        "\
x2: [][][]f64 = map x0
  \\x3: f64
    x4: [][]f64 = map x1
      \\x5: f64
        x6: []f64 = map x1
          \\x7: f64
            x8: f64 = exp x7
            x9: f64 = mul x3 x8
            x10: f64 = exp x9
            x11: f64 = add x10 x5
            yield x11
        yield x6
    yield x4
yield x2
",
        "\
x14: []f64 = map x1
  \\x12: f64
    x13: f64 = exp x12
    yield x13
x2: [][][]f64 = map x0
  \\x3: f64
    x4: [][]f64 = map x1
      \\x5: f64
        x6: []f64 = map x14
          \\x15: f64
            x9: f64 = mul x3 x15
            x10: f64 = exp x9
            x11: f64 = add x10 x5
            yield x11
        yield x6
    yield x4
yield x2
",
        (1, 0),
    );
}

#[test]
fn rows_that_are_stored_may_be_stored_again() {
    check_split(
        "x0: []f64, x1: [][]f64",
        "\
x2: [][]f64 = map x0
  \\x3: f64
    x4: []f64 = map x1
      \\x5: []f64
        x6: []f64 = map x5
          \\x7: f64
            x8: f64 = exp x7
            x9: f64 = mul x3 x8
            yield x9
        x10: f64 = fold from 0.0f64 over x6
          \\x11: f64, x12: f64
            x13: f64 = add x11 x12
            yield x13
        yield x10
    yield x4
yield x2
",
        "\
x22: [][]f64 = map x1
  \\x18: []f64
    x21: []f64 = map x18
      \\x19: f64
        x20: f64 = exp x19
        yield x20
    yield x21
x2: [][]f64 = map x0
  \\x3: f64
    x4: []f64 = map x22
      \\x23: []f64
        x6: []f64 = map x23
          \\x17: f64
            x9: f64 = mul x3 x17
            yield x9
        x10: f64 = fold from 0.0f64 over x6
          \\x11: f64, x12: f64
            x13: f64 = add x11 x12
            yield x13
        yield x10
    yield x4
yield x2
",
        (1, 0),
    );
}

#[test]
fn conditions_are_left_by_what_cannot_fail_and_takes_little() {
    let program = |then: &str| {
        format!(
            "\
x2: [][]i64 = map x0
  \\x3: bool
    x4: []i64 = map x1
      \\x5: i64
        x6: i64 = if x3
{then}          yield x7
        else
          yield x5
        yield x6
    yield x4
yield x2
"
        )
    };
    let params = "x0: []bool, x1: []i64";
    let map = "          x7: []i64 = map x1\n            \\x8: i64\n              x9: i64 = gcd x8 x5\n              \
               yield x9\n          x10: i64 = length x7\n";
    check_stays(
        params,
        &program(map).replace("yield x7", "yield x10").replace("length x7", "index x7 0i64"),
        1,
    );
    // It may fail, and may not be needed.
    check_stays(params, &program("          x7: i64 = floor_div 9i64 x5\n"), 0);
    // It may take long.
    let fold = "          x7: i64 = fold from 0i64 over x1\n            \\x8: i64, x9: i64\n              \
                x10: i64 = add x8 x9\n              yield x10\n";
    check_stays(params, &program(fold), 1);
    check_split(
        params,
        &program("          x7: i64 = popcount x5\n          x8: i64 = gcd x5 12i64\n")
            .replace("yield x7", "yield x8"),
        "\
x11: []i64 = map x1
  \\x9: i64
    x10: i64 = gcd x9 12i64
    yield x10
x2: [][]i64 = map x0
  \\x3: bool
    x4: []i64 = map x1 x11
      \\x5: i64, x12: i64
        x6: i64 = if x3
          yield x12
        else
          yield x5
        yield x6
    yield x4
yield x2
",
        (1, 0),
    );
}

#[test]
fn spans_in_others_do_not_count() {
    let span = |source: u32, start, end| Span::new(SourceId(source), start, end);
    let spans = [span(0, 4, 6), span(0, 2, 8), span(1, 3, 5), span(0, 2, 5), span(0, 7, 9)];
    assert_eq!(outermost(&spans), [span(0, 2, 8), span(1, 3, 5), span(0, 7, 9)]);
}

#[test]
fn what_says_where_to_read_stays() {
    let program = |step: &str| {
        format!(
            "\
x1: i64 = length x0
x2: []i64 = iota x1
x3: [][]i64 = map x2
  \\x4: i64
    x5: []i64 = map x2
      \\x6: i64
{step}        x9: i64 = index x0 x8
        x10: i64 = add x9 x4
        yield x10
    yield x5
yield x3
"
        )
    };
    let mirror = "        x7: i64 = add x6 1i64\n        x11: i64 = mod x7 x1\n        x12: i64 = sub x1 x11\n        \
                  x8: i64 = min x11 x12\n";
    check_stays("x0: []i64", &program(mirror), 0);
    // It takes long to compute, and lies anywhere.
    let far = "        x7: i64 = mul x6 x6\n        x8: i64 = mod x7 x1\n";
    check_split(
        "x0: []i64",
        &program(far),
        "\
x1: i64 = length x0
x2: []i64 = iota x1
x15: []i64 = map x2
  \\x11: i64
    x12: i64 = mul x11 x11
    x13: i64 = mod x12 x1
    x14: i64 = index x0 x13
    yield x14
x3: [][]i64 = map x2
  \\x4: i64
    x5: []i64 = map x15
      \\x16: i64
        x10: i64 = add x16 x4
        yield x10
    yield x5
yield x3
",
        (1, 0),
    );
}

#[test]
fn a_mean_of_a_row_that_its_elements_need_leaves_the_map_around_it() {
    check_split(
        "x0: []f64, x1: [][]f64",
        "\
x2: [][]f64 = map x0
  \\x3: f64
    x4: []f64 = map x1
      \\x5: []f64
        x6: f64 = fold over x5
          \\x7: f64, x8: f64
            x9: f64 = add x7 x8
            yield x9
        x10: []f64 = map x5
          \\x11: f64
            x12: f64 = sub x11 x6
            yield x12
        x13: []f64 = map x10
          \\x14: f64
            x15: f64 = mul x3 x14
            yield x15
        x16: f64 = fold from 0.0f64 over x13
          \\x17: f64, x18: f64
            x19: f64 = add x17 x18
            yield x19
        yield x16
    yield x4
yield x2
",
        "\
x28: [][]f64 = map x1
  \\x20: []f64
    x24: f64 = fold if_empty 0.0f64 over x20
      \\x21: f64, x22: f64
        x23: f64 = add x21 x22
        yield x23
    x27: []f64 = map x20
      \\x25: f64
        x26: f64 = sub x25 x24
        yield x26
    yield x27
x2: [][]f64 = map x0
  \\x3: f64
    x4: []f64 = map x28
      \\x29: []f64
        x13: []f64 = map x29
          \\x14: f64
            x15: f64 = mul x3 x14
            yield x15
        x16: f64 = fold from 0.0f64 over x13
          \\x17: f64, x18: f64
            x19: f64 = add x17 x18
            yield x19
        yield x16
    yield x4
yield x2
",
        (1, 0),
    );
}
