//! Tests of sharing, from text to text.

use std::fmt::Write;
use std::time::{Duration, Instant};

use weft_ir::nested::{check, parse};

use super::{Config, TooLarge, share, unshare};

const ALL: Config = Config { hoist: true, sink: true };

/// Shares a program of these parameters, and compares what follows them.
fn check_share(params: &str, before: &str, after: &str) {
    let program = parse(&format!("params {params}\n{before}")).expect(before);
    assert_eq!(check(&program), Ok(()), "{before}");
    let shared = share(program, &ALL);
    assert_eq!(check(&shared), Ok(()), "{shared}");
    assert_eq!(shared.to_string(), format!("params {params}\n{after}"), "{before}");
}

/// An operation of type `ty` on `x0` and its result, with what shared programs yield instead.
fn check_result(ty: &str, operation: &str, ty_result: &str, after: &str) {
    let before = format!("x9: {ty_result} = {operation}\nyield x9\n");
    check_share(&format!("x0: {ty}"), &before, &format!("yield {after}\n"));
}

fn check_stays(ty: &str, operation: &str, ty_result: &str) {
    let before = format!("x9: {ty_result} = {operation}\nyield x9\n");
    check_share(&format!("x0: {ty}"), &before, &before);
}

#[test]
fn constants_and_exact_algebra() {
    check_result("i64", "add 2i64 3i64", "i64", "5i64");
    check_result("i64", "add x0 0i64", "i64", "x0");
    check_result("i64", "mul 1i64 x0", "i64", "x0");
    check_result("i64", "floor_div x0 1i64", "i64", "x0");
    check_result("u8", "shl x0 0u8", "u8", "x0");
    check_result("f32", "mul x0 1.0f32", "f32", "x0");
    check_result("f32", "add x0 -0.0f32", "f32", "x0");
    check_result("f32", "sub x0 0.0f32", "f32", "x0");
    check_result("f32", "div x0 1.0f32", "f32", "x0");
    check_result("f32", "max x0 x0", "f32", "x0");
    check_result("bool", "and false x0", "bool", "false");
    check_result("bool", "or x0 false", "bool", "x0");
    check_result("i64", "select true x0 1i64", "i64", "x0");
}

#[test]
fn what_would_change_bits_or_drop_an_error_stays() {
    check_stays("f32", "add x0 0.0f32", "f32");
    check_stays("f32", "sub x0 -0.0f32", "f32");
    check_stays("f32", "floor_div x0 1.0f32", "f32");
    check_stays("i64", "mul x0 0i64", "i64");
    check_stays("i64", "sub x0 x0", "i64");
    check_stays("bool", "and x0 false", "bool");
    check_stays("i64", "floor_div 1i64 0i64", "i64");
    check_stays("[]i64", "index x0 0i64", "i64");
}

#[test]
fn lengths_and_elements_that_are_known() {
    let cases = [
        ("iota x0", "[]i64", "length x1", "x0"),
        ("iota 5i64", "[]i64", "index x1 4i64", "4i64"),
        ("replicate 3i64 x0", "[]i64", "length x1", "3i64"),
        ("replicate 3i64 x0", "[]i64", "index x1 2i64", "x0"),
        ("literal x0 7i64", "[]i64", "length x1", "2i64"),
        ("literal x0 7i64", "[]i64", "index x1 1i64", "7i64"),
        ("constant dense 1 2 i64[3i64 4i64]", "[][]i64", "index x1 0i64 1i64", "4i64"),
    ];
    for (making, ty, operation, after) in cases {
        let before = format!("x1: {ty} = {making}\nx2: i64 = {operation}\nyield x2\n");
        check_share("x0: i64", &before, &format!("yield {after}\n"));
    }
    for (making, ty, operation) in [
        ("iota 5i64", "[]i64", "index x1 5i64"),
        ("literal x0 7i64", "[]i64", "index x1 -1i64"),
        ("constant dense 1 2 i64[3i64 4i64]", "[][]i64", "index x1 1i64 0i64"),
    ] {
        let before = format!("x1: {ty} = {making}\nx2: i64 = {operation}\nyield x2\n");
        check_share("x0: i64", &before, &before);
    }
}

#[test]
fn the_length_of_a_map_is_that_of_its_only_array() {
    let map = |arrays: &str, params: &str| {
        format!("x3: []i64 = map {arrays}\n  \\{params}\n    yield 1i64\n")
    };
    let length = "x6: i64 = length x3\nyield x6\n";
    check_share(
        "x0: []i64, x1: []i64",
        &(map("x0", "x4: i64") + length),
        "x6: i64 = length x0\nyield x6\n",
    );
    // Their lengths may differ, and that is an error of the length too.
    let both = map("x0 x1", "x4: i64, x5: i64") + length;
    check_share("x0: []i64, x1: []i64", &both, &both);
}

#[test]
fn parts_of_parts_are_parts() {
    check_share(
        "x0: [][]i64, x1: i64",
        "x2: []i64 = index x0 x1\nx3: i64 = index x2 0i64\nyield x3\n",
        "x3: i64 = index x0 x1 0i64\nyield x3\n",
    );
}

#[test]
fn bodies_are_compared_up_to_the_names_in_them() {
    let sum = |names: [u32; 4], op: &str| {
        let [result, left, right, inner] = names;
        format!(
            "x{result}: f64 = fold over x0\n  \\x{left}: f64, x{right}: f64\n    \
             x{inner}: f64 = {op} x{left} x{right}\n    yield x{inner}\n"
        )
    };
    let first = sum([1, 2, 3, 4], "add");
    let (same, other) = (sum([5, 6, 7, 8], "add"), sum([9, 10, 11, 12], "sub"));
    check_share(
        "x0: []f64",
        &format!("{first}{same}{other}yield x1 x5 x9\n"),
        &format!("{first}{other}yield x1 x1 x9\n"),
    );
}

#[test]
fn invariant_code_leaves_lambdas_and_loops_but_no_branches() {
    check_share(
        "x0: []f64, x1: f64, x2: bool",
        "x3: []f64 = map x0\n  \\x4: f64\n    x5: f64 = if x2\n      x6: f64 = exp x1\n      \
         yield x6\n    else\n      yield x4\n    x7: f64 = log x1\n    x8: f64 = add x5 x7\n    \
         yield x8\nyield x3\n",
        "x7: f64 = log x1\nx3: []f64 = map x0\n  \\x4: f64\n    x5: f64 = if x2\n      \
         x6: f64 = exp x1\n      yield x6\n    else\n      yield x4\n    x8: f64 = add x5 x7\n    \
         yield x8\nyield x3\n",
    );
    // Out of two at once: into the body that binds what it uses.
    check_share(
        "x0: [][]f64",
        "x1: [][]f64 = map x0\n  \\x2: []f64\n    x3: []f64 = map x2\n      \\x4: f64\n        \
         x5: i64 = length x2\n        x6: []i64 = iota 9i64\n        x7: i64 = index x6 x5\n        \
         x8: f64 = cast_f64 x7\n        x9: f64 = add x4 x8\n        yield x9\n    yield x3\n\
         yield x1\n",
        "x6: []i64 = iota 9i64\nx1: [][]f64 = map x0\n  \\x2: []f64\n    x5: i64 = length x2\n    \
         x7: i64 = index x6 x5\n    x8: f64 = cast_f64 x7\n    x3: []f64 = map x2\n      \
         \\x4: f64\n        x9: f64 = add x4 x8\n        yield x9\n    yield x3\nyield x1\n",
    );
}

#[test]
fn what_may_not_end_stays_in_its_lambda() {
    let program = "x1: []i64 = map x0\n  \\x2: i64\n    x3: i64 = while x4: i64 = 0i64\n      \
         x5: bool = lt x4 9i64\n      yield x5\n    do\n      x6: i64 = mul x4 2i64\n      \
         yield x6\n    x7: i64 = add x2 x3\n    yield x7\nyield x1\n";
    check_share("x0: []i64", program, program);
}

#[test]
fn a_loop_that_left_a_map_has_few_turns_or_elements() {
    // It is needed in the map alone, if through what left it too.
    let body = "x5: i64 = for x6 < {count} x7: i64 = 1i64\n  x8: i64 = mul x7 3i64\n  yield x8\n";
    let sum = "x9: i64 = neg x5\n";
    let map = "x2: []i64 = map x0\n  \\x3: i64\n";
    let rest = "    x10: i64 = add x3 x9\n    yield x10\nyield x2\n";
    let indented =
        |text: &str| text.lines().fold(String::new(), |all, line| all + "    " + line + "\n");
    let with_count = |count: &str| body.replace("{count}", count);
    let before = format!("{map}{}{rest}", indented(&format!("{}{sum}", with_count("x1"))));
    let checks = "x11: i64 = length x0\nx12: bool = gt x11 0i64\nx13: bool = le x1 10000i64\n\
                  x14: bool = or x12 x13\nx15: i64 = assert assert x14 values x1\n";
    let after = format!("{checks}{}{sum}{map}{rest}", with_count("x15"));
    check_share("x0: []i64, x1: i64", &before, &after);
    // A second time nothing is to be done.
    check_share("x0: []i64, x1: i64", &after, &after);
    // A loop may have nothing to do, too.
    let looped = "x2: i64 = for x3 < x0 x4: i64 = 0i64\n";
    let rest = "  x10: i64 = add x4 x5\n  yield x10\nyield x2\n";
    let inner = with_count("x1").lines().fold(String::new(), |all, line| all + "  " + line + "\n");
    let checks = "x11: bool = gt x0 0i64\nx12: bool = le x1 10000i64\nx13: bool = or x11 x12\n\
                  x14: i64 = assert assert x13 values x1\n";
    let after = format!("{checks}{}{looped}{rest}", with_count("x14"));
    check_share("x0: i64, x1: i64", &format!("{looped}{inner}{rest}"), &after);
    let rest = "    x10: i64 = add x3 x9\n    yield x10\nyield x2\n";
    // Few turns.
    let before = format!("{map}{}{rest}", indented(&format!("{}{sum}", with_count("9i64"))));
    let after = format!("{}{sum}{map}{rest}", with_count("9i64"));
    check_share("x0: []i64, x1: i64", &before, &after);
    // Somebody else needs it.
    let yielding = "    x10: i64 = add x3 x9\n    yield x10\nyield x2 x5\n";
    let program = format!("{}{sum}{map}{yielding}", with_count("x1"));
    check_share("x0: []i64, x1: i64", &program, &program);
}

#[test]
fn an_if_of_a_constant_is_its_branch() {
    check_share(
        "x0: i64",
        "x1: i64 = if true\n  x2: i64 = neg x0\n  yield x2\nelse\n  yield x0\n\
         x3: i64 = neg x0\nx4: i64 = sub x1 x3\nyield x4\n",
        "x2: i64 = neg x0\nx4: i64 = sub x2 x2\nyield x4\n",
    );
}

#[test]
fn dead_code_goes_and_dead_results() {
    check_share("x0: i64", "x1: i64 = assert error false values x0\nyield x0\n", "yield x0\n");
    check_share(
        "x0: []i64",
        "x1: []i64, x2: []bool = map x0\n  \\x3: i64\n    x4: bool = lt x3 5i64\n    \
         x5: i64 = neg x3\n    yield x5 x4\nyield x2\n",
        "x2: []bool = map x0\n  \\x3: i64\n    x4: bool = lt x3 5i64\n    yield x4\nyield x2\n",
    );
    check_share(
        "x0: bool, x1: i64",
        "x2: i64, x3: i64 = if x0\n  x4: i64 = neg x1\n  yield x4 1i64\nelse\n  yield 0i64 2i64\n\
         yield x3\n",
        "x3: i64 = if x0\n  yield 1i64\nelse\n  yield 2i64\nyield x3\n",
    );
    // The second component goes into itself only; the first decides when the loop ends.
    check_share(
        "x0: i64",
        "x1: i64, x2: i64, x3: i64 = while x4: i64 = 0i64, x5: i64 = 0i64, x6: i64 = x0\n  \
         x7: bool = lt x4 9i64\n  yield x7\ndo\n  x8: i64 = add x4 1i64\n  x9: i64 = add x5 x6\n  \
         x10: i64 = neg x6\n  yield x8 x9 x10\nyield x3\n",
        "x1: i64, x3: i64 = while x4: i64 = 0i64, x6: i64 = x0\n  x7: bool = lt x4 9i64\n  \
         yield x7\ndo\n  x8: i64 = add x4 1i64\n  x10: i64 = neg x6\n  yield x8 x10\nyield x3\n",
    );
}

#[test]
fn code_sinks_through_branches_but_into_no_lambda() {
    check_share(
        "x0: bool, x1: []f64, x2: f64",
        "x3: f64 = exp x2\nx4: f64 = log x3\nx5: []f64 = if x0\n  x6: []f64 = map x1\n    \
         \\x7: f64\n      x8: f64 = mul x7 x4\n      yield x8\n  yield x6\nelse\n  yield x1\n\
         yield x5\n",
        "x5: []f64 = if x0\n  x3: f64 = exp x2\n  x4: f64 = log x3\n  x6: []f64 = map x1\n    \
         \\x7: f64\n      x8: f64 = mul x7 x4\n      yield x8\n  yield x6\nelse\n  yield x1\n\
         yield x5\n",
    );
    // Both branches need it.
    let both = "x2: f64 = exp x1\nx3: f64 = if x0\n  yield x2\nelse\n  x4: f64 = neg x2\n  \
         yield x4\nyield x3\n";
    check_share("x0: bool, x1: f64", both, both);
}

#[test]
fn without_sharing_terms_double() {
    let mut text = String::from("params x0: f64\n");
    for line in 1..=20 {
        writeln!(text, "x{line}: f64 = add x{0} x{0}", line - 1).expect("a string takes all");
    }
    let program = parse(&(text.clone() + "yield x5\n")).expect("a program");
    let tree = unshare(&program, 1000).expect("not too large");
    assert_eq!(check(&tree), Ok(()));
    assert_eq!(tree.body.statements.len(), 31);
    assert_eq!(share(tree, &ALL).body.statements.len(), 5);
    let program = parse(&(text + "yield x20\n")).expect("a program");
    assert_eq!(unshare(&program, 1000), Err(TooLarge { limit: 1000 }));
}

/// Shares a program on a stack that suits it, within a time that no quadratic pass would keep.
fn check_time(text: String) {
    let run = move || {
        let program = parse(&text).expect("a program");
        let start = Instant::now();
        let shared = share(program, &ALL);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        assert!(!shared.body.statements.is_empty());
    };
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(run);
    thread.expect("a thread").join().expect("shared in time");
}

#[test]
fn long_programs_take_little_time() {
    let mut chain = String::from("params x0: []f64\n");
    for line in 0..20_000 {
        let (array, result) = (4 * line, 4 * line + 4);
        let [element, inner] = [result - 3, result - 2];
        write!(
            chain,
            "x{result}: []f64 = map x{array}\n  \\x{element}: f64\n    \
             x{inner}: f64 = sqrt x{element}\n    yield x{inner}\n"
        )
        .expect("a string takes all");
    }
    check_time(chain + "yield x80000\n");
}

#[test]
fn deep_programs_take_little_time() {
    let mut nest = String::from("params x0: i64\n");
    for level in 0..2000 {
        let [condition, result] = [2 * level + 1, 2 * level + 2];
        write!(
            nest,
            "x{condition}: bool = eq x0 {level}i64\nx{result}: i64 = if x{condition}\n  \
             yield {level}i64\nelse\n"
        )
        .expect("a string takes all");
    }
    nest.push_str("yield x0\n");
    for level in (0..2000).rev() {
        writeln!(nest, "yield x{}", 2 * level + 2).expect("a string takes all");
    }
    check_time(nest);
}

/// A loop that fills two arrays of so many elements, of which one is looked at by what follows.
fn filled(turns: &str, place: &str) -> String {
    format!(
        r"x4: []i64, x5: []f64 = for x6 < {turns} x7: []i64 = x2, x8: []f64 = x3
  x9: []i64 = update x7 at {place} value x6
  x10: f64 = cast_f64 x6
  x11: []f64 = update x8 at x6 value x10
  yield x9 x11
"
    )
}

const EMPTY: &str = "x2: []i64 = replicate x0 0i64\nx3: []f64 = replicate x0 0.0f64\n";

#[test]
fn arrays_that_a_loop_fills_are_as_long_as_it_has_turns() {
    let rest = r"x12: []f64 = map x4 x5
  \x13: i64, x14: f64
    yield x14
x15: i64 = length x4
yield x12 x15
";
    let after = r"x3: []f64 = replicate x0 0.0f64
x5: []f64 = for x6 < x0 x8: []f64 = x3
  x10: f64 = cast_f64 x6
  x11: []f64 = update x8 at x6 value x10
  yield x11
yield x5 x0
";
    check_share("x0: i64", &format!("{EMPTY}{}{rest}", filled("x0", "x6")), after);
}

#[test]
fn what_may_fail_in_a_loop_that_fills_is_looked_at() {
    // An index that is none, and turns that are too many: there may be no array.
    let rest = "x12: i64 = length x4\nyield x12\n";
    for (turns, place) in [("x0", "x1"), ("x1", "x6")] {
        let before = format!("{EMPTY}{}{rest}", filled(turns, place));
        let program = parse(&format!("params x0: i64, x1: i64\n{before}")).expect("a program");
        let shared = share(program, &ALL).to_string();
        assert!(shared.contains("length x4"), "{shared}");
    }
}

#[test]
fn a_map_takes_no_arrays_that_it_does_not_look_at() {
    let before = r"x2: i64 = length x0
x3: []i64 = iota x2
x4: []f64 = map x0
  \x5: i64
    x6: f64 = cast_f64 x5
    yield x6
x7: []f64 = map x0 x4
  \x8: i64, x9: f64
    x10: f64 = mul x9 x9
    yield x10
x11: []i64 = map x0 x4
  \x12: i64, x13: f64
    yield 1i64
yield x7 x11
";
    let after = r"x4: []f64 = map x0
  \x5: i64
    x6: f64 = cast_f64 x5
    yield x6
x7: []f64 = map x4
  \x9: f64
    x10: f64 = mul x9 x9
    yield x10
x11: []i64 = map x0
  \x12: i64
    yield 1i64
yield x7 x11
";
    check_share("x0: []i64", before, after);
}
