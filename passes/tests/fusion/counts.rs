//! How many kernels programs become, what fuses and what does not, and why.

use weft_ir::{flat, plan};
use weft_passes::fuse::{Chosen, FuseConfig, Fused, Reason, fuse};

use crate::suite::{last_of, with_stack};
use crate::{GREEDY, ILP, OFF};

pub(crate) fn fused(text: &str, config: &FuseConfig) -> Fused {
    let program = flat::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    flat::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let fused = fuse(&program, config);
    let printed = fused.program.to_string();
    plan::check(&fused.program).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    let again = plan::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.to_string(), printed);
    fused
}

/// Checks how many kernels there are and how many arrays they write, with both ways to choose and
/// without fusion.
pub(crate) fn check(text: &str, kernels: usize, arrays: usize) -> Fused {
    let off = fused(text, &OFF);
    assert_eq!(off.report.objective, off.report.unfused_objective);
    fused(text, &GREEDY);
    let fused = fused(text, &ILP);
    let found = (fused.report.kernels.len(), fused.report.objective.arrays);
    assert_eq!(found, (kernels, arrays), "kernels, arrays\n{}", fused.program);
    assert_eq!(fused.report.objective.kernels, kernels);
    fused
}

pub(crate) fn reasons(fused: &Fused) -> Vec<Reason> {
    let mut reasons: Vec<Reason> =
        fused.report.unfused.iter().map(|unfused| unfused.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

#[test]
fn a_dot_product_is_one_kernel() {
    check(
        "input a1: [a0]f64
input a2: [a0]f64
a3: [a0]f64 = map [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = read a2 r0
  r3: f64 = mul r1 r2
  yield r3
a4: f64 = reduce [a0] (r0)
  r1: f64 = read a3 r0
  yield r1
by (r2: f64) (r3: f64)
  r4: f64 = add r2 r3
  yield r4
if_empty ()
  yield 0.0f64
output a4: f64
",
        1,
        0,
    );
}

#[test]
fn an_expensive_map_read_in_reverse_fuses() {
    let fused = check(
        "input a1: [a0]f64
a2: [a0]f64 = map [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = exp r1
  yield r2
a3: [a0]f64 = map [a0] (r0)
  r1: i64 = read a0
  r2: i64 = sub r1 1i64
  r3: i64 = sub r2 r0
  r4: f64 = read a2 r3
  yield r4
a4: [a0]f64 = map [a0] (r0)
  r1: i64 = read a0
  r2: i64 = sub r1 1i64
  r3: i64 = sub r2 r0
  r4: f64 = read a3 r3
  r5: f64 = sqrt r4
  yield r5
output a4: [a0]f64
",
        1,
        1,
    );
    assert_eq!(fused.report.kernels[0].fused.len(), 2, "{}", fused.program);
}

/// Earlier bindings of all programs below: what programs read are inputs of unknown extents.
const BINDINGS: &str = "xs = [3.0, 1.0, 2.0, 5.0]
ys = [1.0, 2.0, 3.0, 4.0]
is = [2, 0, 1, 3]
m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
n = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
rows = [[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]]
";

/// Checks the kernels, the arrays that they write and the reasons of a program of the language.
#[track_caller]
fn counts(text: &str, kernels: usize, arrays: usize, expected: &[Reason]) {
    let cell = format!("{BINDINGS}{text}");
    let fused = with_stack(|| {
        let flat = last_of(&cell).expect("a program that flattens");
        let fused = fuse(&flat, &ILP);
        plan::check(&fused.program).unwrap_or_else(|error| panic!("{error}\n{}", fused.program));
        fused
    });
    let found = (fused.report.kernels.len(), fused.report.objective.arrays);
    assert_eq!(found, (kernels, arrays), "kernels, arrays of {text}\n{}", fused.program);
    assert_eq!(reasons(&fused), expected, "{text}\n{}", fused.program);
}

#[test]
fn producers_become_part_of_their_readers() {
    counts("sum (xs * ys)", 1, 0, &[]);
    counts("map sqrt (reverse (map exp xs))", 1, 1, &[Reason::Result]);
    counts("sum (flatten (map exp m))", 1, 0, &[]);
    counts("{ { sqrt (x + y) : y in ys } : x in xs }", 1, 1, &[Reason::Result]);
}

#[test]
fn looking_at_a_shape_is_no_use() {
    counts("let e = map exp xs in (reverse e, length e)", 1, 1, &[Reason::Result]);
}

#[test]
fn components_of_tuples_count_one_by_one() {
    counts("let (a, b) = unzip (map (\\x -> (exp x, sin x)) xs) in sum a", 1, 0, &[]);
}

#[test]
fn an_element_is_computed_once() {
    let cell = format!("{BINDINGS}let g = map exp xs in zipWith (*) g g");
    let fused = with_stack(|| fuse(&last_of(&cell).expect("a program"), &ILP));
    assert_eq!(fused.program.to_string().matches("= exp").count(), 1, "{}", fused.program);
    assert_eq!(fused.report.kernels.len(), 1);
}

#[test]
fn reductions_of_one_array_share_a_kernel() {
    counts("(sum (xs * xs), maximum xs)", 1, 0, &[]);
    counts("(sum (map exp xs), maximum (map exp xs), sum xs)", 1, 0, &[]);
}

#[test]
fn a_whole_reduction_comes_between() {
    counts("xs - maximum xs", 2, 1, &[Reason::Result]);
    let both = [Reason::Result, Reason::NoCommonKernel];
    counts("let e = exp (xs - maximum xs) in e / sum e", 3, 2, &both);
    let rows = [Reason::Result, Reason::Reduction, Reason::NoCommonKernel];
    counts("{ let e = exp (r - maximum r) in e / sum e : r in m }", 3, 4, &rows);
    counts("let mu = mean xs in sum ((xs - mu) * (xs - mu))", 2, 0, &[]);
}

#[test]
fn a_matrix_product_has_no_intermediate() {
    counts("{ { sum (r * c) : c in transpose n } : r in m }", 1, 1, &[Reason::Result]);
}

#[test]
fn what_follows_point_by_point_is_an_epilogue() {
    counts("map sqrt (filter (> 1.5) xs)", 1, 1, &[Reason::Result]);
    counts("let s = scanl1 (+) xs in map sqrt s", 1, 1, &[Reason::Result]);
    counts("{ sum row * 2.0 : row in m }", 1, 1, &[Reason::Result]);
}

#[test]
fn what_does_not_fuse_has_a_reason() {
    counts("map exp (sort xs)", 3, 3, &[Reason::Result, Reason::Boundary]);
    counts("let e = map exp xs in e[is]", 2, 2, &[Reason::Result, Reason::DataIndex]);
    counts("(xs * ys)[is]", 2, 2, &[Reason::Result, Reason::DataIndex]);
    counts("(2.0 * xs)[is]", 1, 1, &[Reason::Result]);
    counts(
        "let e = map exp xs in { { x + y : y in e } : x in xs }",
        2,
        2,
        &[Reason::Result, Reason::SharedElement],
    );
    counts("let e = map exp xs in (reverse e, sum e)", 2, 2, &[Reason::Result, Reason::OtherOrder]);
}

#[test]
fn scatters_of_the_same_points_to_the_same_places_are_one() {
    let sums = "scatterWith (+) ys is xs, scatterWith (*) ys is ys";
    counts(&format!("({sums})"), 1, 2, &[Reason::Result]);
    let with_counts = "scatterWith (+) (replicate 4 0.0) is xs, histogram 4 is";
    counts(&format!("({with_counts})"), 2, 4, &[Reason::Result, Reason::Structure]);
    counts("(scatter ys is xs, scatter ys is (2.0 * xs))", 1, 2, &[Reason::Result]);
    // What reads the first comes behind both.
    let reasons = [Reason::Result, Reason::Boundary];
    counts("(scatterWith (+) ys is xs + 1.0, scatterWith (+) ys is ys + 2.0)", 2, 4, &reasons);
}

#[test]
fn scatters_that_differ_stay_apart() {
    counts(
        "(scatterWith (+) ys is xs, scatterWith (+) ys [1, 1, 1, 1] ys)",
        2,
        2,
        &[Reason::Result],
    );
    counts("(scatterWith (+) ys is xs, scatter ys is ys)", 2, 2, &[Reason::Result]);
    // Into the result of the other.
    let into = [Reason::Result, Reason::Structure];
    counts("let a = scatterWith (+) ys is xs in scatterWith (+) a is ys", 2, 2, &into);
    // Counts alone.
    let zeros = "[0, 0, 0, 0]";
    let counted = format!("(scatterWith (+) {zeros} is is, scatterWith max {zeros} is is)");
    counts(&counted, 2, 2, &[Reason::Result]);
}

#[test]
fn without_fusion_every_edge_says_so() {
    let cell = format!("{BINDINGS}sum (map exp (reverse xs))");
    let fused = with_stack(|| fuse(&last_of(&cell).expect("a program"), &OFF));
    assert_eq!(fused.report.chosen, Chosen::Unfused);
    assert_eq!(reasons(&fused), [Reason::Off]);
}

/// A chain of maps `a(i + 1) = f a(i)`, the last of which is the result.
fn chain(length: usize) -> flat::Program {
    let mut text = String::from("input a1: [a0]f64\n");
    for link in 1..=length {
        let (array, next) = (link, link + 1);
        text.push_str(&format!(
            "a{next}: [a0]f64 = map [a0] (r0)\n  r1: f64 = read a{array} r0\n  \
             r3: f64 = exp r1\n  yield r3\n"
        ));
    }
    text.push_str(&format!("output a{}: [a0]f64\n", length + 1));
    flat::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_long_chain_is_one_kernel() {
    let program = chain(5000);
    let fused = with_stack(|| fuse(&program, &ILP));
    assert_eq!(fused.report.kernels.len(), 1);
    assert_eq!(fused.program.to_string().matches("= exp").count(), 5000);
}

#[test]
fn large_programs_take_linear_time() {
    // Every array has two readers.
    let mut text = String::from("input a1: [a0]f64\ninput a2: [a0]f64\n");
    for next in 3..3000 {
        let (first, second) = (next - 1, next - 2);
        text.push_str(&format!(
            "a{next}: [a0]f64 = map [a0] (r0)\n  r1: f64 = read a{first} r0\n  \
             r2: f64 = read a{second} r0\n  r3: f64 = div r1 r2\n  yield r3\n"
        ));
    }
    text.push_str("output a2999: [a0]f64\n");
    let program = flat::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let fused = with_stack(|| fuse(&program, &ILP));
    assert_eq!(fused.report.kernels.len(), 1);
    // Statements that have nothing to do with each other.
    let mut text = String::from("input a1: [a0]f64\n");
    for next in 2..3000 {
        text.push_str(&format!(
            "a{next}: [a0]f64 = map [a0] (r0)\n  r1: f64 = read a1 r0\n  \
             r3: f64 = pow r1 {next}.0f64\n  yield r3\n"
        ));
    }
    for next in 2..3000 {
        text.push_str(&format!("output a{next}: [a0]f64\n"));
    }
    let program = flat::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let fused = with_stack(|| fuse(&program, &ILP));
    assert!(fused.report.objective.reads <= 2998);
}

#[test]
fn arrays_that_are_checked_to_be_equally_long_share_kernels() {
    let text = "let a = map exp xs; b = map sin ys in (sum a, sum (a * b), maximum b, a)";
    counts(text, 1, 1, &[]);
    counts("(sum (map exp ys), sum (xs * ys), sum (map sin xs))", 1, 0, &[]);
}

#[test]
fn the_solver_is_better_than_edge_by_edge() {
    // Greedily the quotient joins the kernel of what it reads, and has to be stored for the sum that
    // waits for the reduction; there it is free.
    let text = "let a = map exp xs; b = map sin xs; q = a / b in (q - sum (a + b)) * a + b";
    let cell = format!("{BINDINGS}{text}");
    let flat = with_stack(|| last_of(&cell).expect("a program"));
    let report = with_stack(|| fuse(&flat, &ILP)).report;
    assert_eq!(report.chosen, Chosen::Solver, "{} and {}", report.objective, report.greedy);
    assert_eq!((report.objective.arrays, report.greedy.arrays), (3, 4));
    assert!(report.objective < report.greedy && report.gained());
}

#[test]
fn rows_that_choose_are_stored_for_a_stencil() {
    let padded = "{ [0.0] ++ r ++ [0.0] : r in m }";
    let five = r"stencil (constant 0.0) (\w -> w[-1,0] + w[1,0] + w[0,-1] + w[0,1] - 4.0 * w[0,0])";
    let stored = [Reason::Result, Reason::OtherOrder];
    counts(&format!("{five} {padded}"), 2, 2, &stored);
    // Two places of it, rows put before and behind the others, and a vector, are part of their reader.
    let two = r"stencil (constant 0.0) (\w -> w[0,-1] + w[0,1])";
    counts(&format!("{two} {padded}"), 1, 1, &[Reason::Result]);
    counts(&format!("{five} (m[:1] ++ m ++ m[:1])"), 1, 1, &[Reason::Result]);
    let three = r"stencil (constant 0.0) (\w -> w[-1] + w[0] + w[1])";
    counts(&format!("{three} ([0.0] ++ xs ++ [0.0])"), 1, 1, &[Reason::Result]);
}

/// What reads an array in its order, with an order that is made of these keys.
fn read_in_order(keys: &str, reader: &str) -> String {
    format!(
        "input a1: [a0]f64
a2: [a0]i64 = sort [a0] (r0)
{keys}a3: [a0]f64 = map [a0] (r0)
  r1: i64 = read a2 r0
  r2: f64 = read a1 r1
  yield r2
{reader}output a5: f64
"
    )
}

const KEYS: &str = "  r1: f64 = read a1 r0\n  yield r1\n";
const ONE_READER: &str = "a5: f64 = map ()\n  r1: f64 = read a3 2i64\n  yield r1\n";

#[test]
fn what_is_sorted_has_a_kernel_of_its_own() {
    // Note [Sorts of values]: a back end sorts values where it sees a sort, what brings the keys into its
    // order, and that nobody else wants the order.
    let sum = "a5: f64 = reduce [a0] (r0)\n  r1: f64 = read a3 r0\n  yield r1\n\
               by (r0: f64) (r1: f64)\n  r2: f64 = add r0 r1\n  yield r2\nif_empty ()\n  yield 0.0f64\n";
    check(&read_in_order(KEYS, ONE_READER), 2, 2);
    let fused = check(&read_in_order(KEYS, sum), 3, 2);
    assert_eq!(reasons(&fused), [Reason::Boundary]);
    let doubled = "a4: [a0]f64 = map [a0] (r0)\n  r1: f64 = read a3 r0\n  \
                   r2: f64 = mul r1 2.0f64\n  yield r2\n";
    let both = format!("{doubled}{}", sum.replace("read a3 r0", "read a4 r0"));
    check(&read_in_order(KEYS, &both), 3, 2);
}

#[test]
fn what_is_sorted_in_rows_of_several_lengths_has_one_too() {
    // The place of an element in its row is that in all rows, less where the row begins.
    let rows = |place: &str| {
        format!(
            "input a4: [a0][~a2 a3]f64 where a2: [a1]i64
a5: [a3]i64 = sort [a0][~a2 a3] (r0 r1)
  r2: f64 = read a4 r1
  yield r2
a6: [a3]i64 = map [a0][~a2 a3] (r0 r1)
  r2: i64 = read a5 r1
  r3: i64 = read a2 r0
  r4: i64 = {place}
  yield r4
a7: [a3]f64 = map [a0][~a2 a3] (r0 r1)
  r2: i64 = read a2 r0
  r3: i64 = read a6 r1
  r4: i64 = add r2 r3
  r5: f64 = read a4 r4
  yield r5
a8: [a0]f64 = reduce [a0][~a2 a3] (r0 r1)
  r2: f64 = read a7 r1
  yield r2
by (r0: f64) (r1: f64)
  r2: f64 = add r0 r1
  yield r2
from (r0)
  yield 0.0f64
output a8: [a0]f64
"
        )
    };
    let fused = check(&rows("sub r2 r3"), 3, 3);
    assert_eq!(reasons(&fused), [Reason::Result, Reason::Boundary]);
    check(&rows("add r2 r3"), 2, 2);
}

#[test]
fn another_order_is_part_of_its_reader() {
    let squares = "  r1: f64 = read a1 r0\n  r2: f64 = mul r1 r1\n  yield r2\n";
    check(&read_in_order(squares, ONE_READER), 1, 1);
    // The order has another reader.
    let also =
        "a6: [a0]i64 = map [a0] (r0)\n  r1: i64 = read a2 r0\n  r2: i64 = add r1 r1\n  yield r2\n";
    let text = read_in_order(KEYS, &format!("{ONE_READER}{also}"));
    check(&format!("{text}output a6: [a0]i64\n"), 2, 2);
}

#[test]
fn checks_of_scans_stay_in_branches_that_nobody_uses() {
    // As they do outside of branches: what others rely on may be checked there.
    let scan = "scan inclusive [a0] (r0)
  r1: i64 = read a1 r0
  r2: bool = gt r1 0i64
  check r2 index
  yield r1
by (r0: i64) (r1: i64)
  r2: i64 = add r0 r1
  yield r2
";
    let inside = scan.replace('\n', "\n  ").trim_end().to_owned();
    let text = format!(
        "input a1: [a0]i64
input a2: bool
a4: [a0]i64 = if a2
  a3: [a0]i64 = {inside}
  yield a3
else
  yield a1
output a0: i64
"
    );
    for text in [text, format!("input a1: [a0]i64\na3: [a0]i64 = {scan}output a0: i64\n")] {
        let fused = fused(&text, &ILP);
        assert!(fused.program.to_string().contains("check r2 index"), "{}", fused.program);
    }
}
