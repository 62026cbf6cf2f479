//! Lowering, seen as text.

use weft_ir::{ScalarType, SourceId, nested};
use weft_lang::lower::{Lowered, Unsupported, lower};
use weft_lang::{CheckedKind, Config, Environment, NoFiles};

/// The last expression of a cell, lowered.
fn lowered(text: &str) -> Result<Lowered, Unsupported> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
        builder
            .spawn_scoped(scope, || lowered_here(text))
            .expect("a thread")
            .join()
            .expect("a result")
    })
}

fn lowered_here(text: &str) -> Result<Lowered, Unsupported> {
    let parsed = weft_lang::syntax::parse(SourceId(0), text);
    let config = Config { float: ScalarType::F64 };
    let checked = weft_lang::check(&parsed.items, &Environment::default(), &config, &mut NoFiles);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    assert!(checked.diagnostics.is_empty(), "{text}\n{:#?}", checked.diagnostics);
    let shown = checked.items.into_iter().rev().find_map(|item| match item.kind {
        CheckedKind::Show { program, .. } => Some(program),
        _ => None,
    });
    let result = lower(&shown.expect("a cell that shows something"));
    if let Ok(lowered) = &result
        && let Err(message) = nested::check(&lowered.program)
    {
        panic!("{text}\n{}\n{message}", lowered.program);
    }
    result
}

/// The last expression of a cell becomes this text.
#[track_caller]
fn check(text: &str, expected: &str) {
    let found = lowered(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(found.program.to_string().trim(), expected.trim(), "{text}");
}

/// A cell is not lowered, for this reason.
#[track_caller]
fn check_unsupported(text: &str, reason: &str, place: &str) {
    match lowered(text) {
        Ok(lowered) => panic!("{text}\n{}", lowered.program),
        Err(found) => {
            assert_eq!(found.reason, reason, "{text}");
            assert_eq!(&text[found.span.range()], place, "{text}");
        }
    }
}

/// How many operations a program has.
fn size(body: &nested::Body) -> usize {
    body.statements
        .iter()
        .map(|statement| match &statement.operation {
            nested::Operation::Map(lambda, _) => 1 + size(&lambda.body),
            _ => 1,
        })
        .sum()
}

#[test]
fn functions_are_expanded() {
    check(
        "def twice f x = f (f x)\nxs = iota 3\nmap (twice (* 3)) xs",
        "
params x0: []i64
x4: []i64 = map x0
  \\x1: i64
    x2: i64 = mul x1 3i64
    x3: i64 = mul x2 3i64
    yield x3
yield x4",
    );
}

#[test]
fn implicit_map_is_a_nest_of_maps() {
    check(
        "m = fill (2, 3) 1.0\nsqrt m",
        "
params x0: [][]f64
x5: [][]f64 = map x0
  \\x1: []f64
    x4: []f64 = map x1
      \\x2: f64
        x3: f64 = sqrt x2
        yield x3
    yield x4
yield x5",
    );
}

#[test]
fn a_filter_packs() {
    check(
        "xs = iota 3\n{ x * x : x in xs | x > 1 }",
        "
params x0: []i64
x3: []bool = map x0
  \\x1: i64
    x2: bool = gt x1 1i64
    yield x2
x4: []i64 = pack x3 over x0
x7: []i64 = map x4
  \\x5: i64
    x6: i64 = mul x5 x5
    yield x6
yield x7",
    );
}

#[test]
fn tuples_are_their_leaves() {
    check(
        "ps = [(1, 2.0)]\n{ (b, a) : (a, b) in ps }",
        "
params x0: []i64, x1: []f64
yield x1 x0",
    );
}

#[test]
fn operands_that_may_fail_are_branches() {
    check(
        "x = 1\n(x > 0 && 10 // x > 2, x > 0 && x < 5)",
        "
params x0: i64
x1: bool = gt x0 0i64
x4: bool = if x1
  x2: i64 = floor_div 10i64 x0
  x3: bool = gt x2 2i64
  yield x3
else
  yield false
x5: bool = gt x0 0i64
x6: bool = lt x0 5i64
x7: bool = and x5 x6
yield x4 x7",
    );
}

#[test]
fn tail_calls_are_loops() {
    check(
        "n = 3\ndef count i total = if i == 0 then total else count (i - 1) (total + i)\ncount n 0",
        "
params x0: i64
x12: i64, x13: i64, x14: i64, x15: bool = while x1: i64 = x0, x2: i64 = 0i64, x3: i64 = 0i64, x4: bool = true
  yield x4
do
  x5: bool = eq x1 0i64
  x8: i64, x9: i64, x10: i64, x11: bool = if x5
    yield x1 x2 x2 false
  else
    x6: i64 = sub x1 1i64
    x7: i64 = add x2 x1
    yield x6 x7 x3 true
  yield x8 x9 x10 x11
yield x14",
    );
}

#[test]
fn tail_calls_are_loops_whatever_their_results_are_called() {
    let count = |item: &str, result: &str| {
        let text = format!(
            "type item = {item}\ndef last (xs : []item) (i : i64) : {result} = \
               if i == 0 then xs else last (xs with [0] = xs[i]) (i - 1)\nlast [(1, 2), (3, 4)] 1"
        );
        let program = lowered(&text).expect("a program").program.to_string();
        (program.matches("while").count(), program.matches("call").count())
    };
    assert_eq!(count("(i64, i64)", "[](i64, i64)"), (1, 0));
    assert_eq!(count("(i64, i64)", "[]item"), (1, 0));
    // A size of the result is looked at behind the call.
    assert_eq!(count("(i64, i64)", "[2]item").0, 0);
}

#[test]
fn the_numbers_of_a_range_are_computed_where_a_loop_goes_over_them() {
    check(
        "loop s = 0 for i in 1 .. 9 do s + i",
        r"
x4: i64 = for x0 < 8i64 x1: i64 = 0i64
  x2: i64 = add 1i64 x0
  x3: i64 = add x1 x2
  yield x3
yield x4
",
    );
    // From 0 or above upwards, and down to there, no distance wraps.
    let asserts = |text: &str| {
        let program = lowered(text).expect("a program").program.to_string();
        assert!(!program.contains("iota"), "{program}");
        program.contains("assert")
    };
    assert!(!asserts("n = 4\nloop s = 0 for i in 1 .. n do s + i"));
    assert!(!asserts("n = 4\nloop s = 0 for i in n .. 0 by -1 do s + i"));
    assert!(asserts("n = 4\nloop s = 0 for i in n .. 9 do s + i"));
    assert!(asserts("n = 4\nloop s = 0 for i in -1 .. n do s + i"));
    assert!(asserts("n = 4\nloop s = 0 for i in n .. -1 by -1 do s + i"));
    assert!(asserts("n = 4\nloop s = 0 for i in 1 .. 9 by n do s + i"));
}

#[test]
fn recursive_functions_get_what_they_read() {
    check(
        "n = 3\nk = 2\ndef fib i = if i < 2 then k else fib (i - 1) + fib (i - 2)\nfib n",
        "
params x0: i64, x1: i64
function f0 \"fib\" x2: i64, x3: i64 -> i64
  x4: bool = lt x2 2i64
  x10: i64 = if x4
    yield x3
  else
    x5: i64 = sub x2 1i64
    x6: i64 = call f0 x5 x3
    x7: i64 = sub x2 2i64
    x8: i64 = call f0 x7 x3
    x9: i64 = add x6 x8
    yield x9
  yield x10
x11: i64 = call f0 x0 x1
yield x11",
    );
}

#[test]
fn columns_are_read_in_place() {
    check(
        "m = fill (2, 3) 1\nm[:, 1]",
        "
params x0: [][]i64
x1: i64 = length x0
x2: i64 = extent x0 1
x3: bool = ge x2 0i64
x4: i64 = assert ragged x3 values x1
x5: []i64 = iota x4
x8: []i64 = map x5
  \\x6: i64
    x7: i64 = index x0 x6 1i64
    yield x7
yield x8",
    );
}

#[test]
fn bounds_are_asserted() {
    check(
        "xs = iota 9\nxs[1:5]",
        "
params x0: []i64
x1: i64 = length x0
x2: bool = le 1i64 x1
x3: bool = le 5i64 x1
x4: bool = and x2 x3
x5: i64 = assert index x4 values 4i64
x6: []i64 = iota x5
x10: []i64 = map x6
  \\x7: i64
    x8: i64 = add 1i64 x7
    x9: i64 = index x0 x8
    yield x9
yield x10",
    );
}

#[test]
fn lengths_in_lockstep_are_asserted() {
    check(
        "xs = iota 9\nys = iota 9\nzip xs ys",
        "
params x0: []i64, x1: []i64
x2: i64 = length x0
x3: i64 = length x1
x4: bool = eq x2 x3
x5: []i64, x6: []i64 = assert lockstep x4 values x0 x1
yield x5 x6",
    );
}

#[test]
fn boundaries_are_index_arithmetic() {
    check(
        "xs = iota 9\nstencil clamp (\\w -> w[-1] + w[1]) xs",
        "
params x0: []i64
x1: i64 = length x0
x2: []i64 = iota x1
x13: []i64 = map x2
  \\x3: i64
    x4: i64 = add x3 -1i64
    x5: i64 = sub x1 1i64
    x6: i64 = max x4 0i64
    x7: i64 = index x0 x6
    x8: i64 = add x3 1i64
    x9: i64 = sub x1 1i64
    x10: i64 = min x8 x9
    x11: i64 = index x0 x10
    x12: i64 = add x7 x11
    yield x12
yield x13",
    );
}

#[test]
fn sizes_of_annotations_are_asserted() {
    check(
        "def f (m : [n][n]f64) = m\nm = fill (2, 2) 1.0\nf m",
        "
params x0: [][]f64
x1: i64 = length x0
x2: i64 = extent x0 1
x3: bool = eq x2 x1
x4: [][]f64 = assert size x3 values x0
yield x4",
    );
}

#[test]
fn known_lengths_need_no_check() {
    let found = lowered("xs = iota 9\nlet ys = xs + 1 in zip ys (map (* 2) ys)").expect("lowered");
    assert!(!found.program.to_string().contains("assert"), "{}", found.program);
}

#[test]
fn the_inputs_are_the_bindings_that_are_read() {
    let found = lowered("a = 1\nb = [(2, 'x')]\nc = 3\n(b, c)").expect("lowered");
    let types: Vec<String> = found.inputs.iter().map(|(_, ty)| ty.to_string()).collect();
    assert_eq!(types, ["[](i64, char)", "i64"]);
    assert_eq!(found.program.params.len(), 3);
    assert_eq!(found.ty.to_string(), "([](i64, char), i64)");
}

#[test]
fn recursive_functions_are_specialised_to_the_functions_they_pass_on() {
    let found = lowered(
        "k = 3\ndef go f n = if n == 0 then 0 else 1 + go f (f n)\n\
         let c = length [k, k] in go (\\x -> x - c + k) 5 + go (\\x -> x // 2) 9",
    )
    .expect("lowered");
    assert_eq!(found.program.functions.len(), 2, "{}", found.program);
    // What the first one sees comes with the argument.
    let params: Vec<usize> =
        found.program.functions.iter().map(|function| function.params.len()).collect();
    assert_eq!(params.iter().sum::<usize>(), 4, "{}", found.program);
}

#[test]
fn recursion_over_functions_that_change_is_not_lowered() {
    check_unsupported(
        "def go f n = if n == 0 then 0 else 1 + go (\\x -> f (f x)) (f n)\ngo (\\x -> x - 1) 5",
        "`go` is recursive, and the function that it takes is not passed on as it is",
        "go (\\x -> x - 1) 5",
    );
}

#[test]
fn towers_of_functions_end() {
    let mut text = "def f0 x = x * 3 + 1\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        text += &format!("def f{level} x = f{below} (f{below} x)\n");
    }
    text += "f39 1";
    let error = lowered(&text).expect_err("too large");
    assert!(error.reason.contains("operations"), "{error}");
}

/// The passes behind go down into them.
#[test]
fn functions_are_expanded_only_so_deep() {
    let mut text = "def f0 x = x\n".to_owned();
    let chain = " + x".repeat(2_000);
    for level in 1..15 {
        text += &format!("def f{level} x = f{} x{chain}\n", level - 1);
    }
    text += "f14 1";
    let error = lowered(&text).expect_err("too deep");
    assert!(error.reason.contains("more than 25000 levels deep"), "{error}");
    let mut text = "def f0 x = x\n".to_owned();
    for level in 1..1100 {
        text += &format!("def f{level} x = if x == {level} then 0 else f{} x\n", level - 1);
    }
    text += "f1099 1";
    let error = lowered(&text).expect_err("too deep");
    assert!(error.reason.contains("more than 1000 branches"), "{error}");
}

#[test]
fn long_programs_are_lowered_in_time() {
    let mut text = "let x0 = iota 10\n".to_owned();
    for line in 1..2000 {
        text += &format!("    x{line} = map (\\x -> x + {line}) x{}\n", line - 1);
    }
    text += "in x1999";
    let found = lowered(&text).expect("lowered");
    assert_eq!(size(&found.program.body), 1 + 2 * 1999);
}
