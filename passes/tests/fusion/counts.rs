//! How many kernels programs become, what fuses and what does not, and why.

use weft_ir::{flat, plan};
use weft_passes::fuse::{FuseConfig, Fused, Reason, fuse};

use crate::suite::{last_of, with_stack};
use crate::{GREEDY, ILP, OFF};

fn fused(text: &str, config: &FuseConfig) -> Fused {
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
fn check(text: &str, kernels: usize, arrays: usize) -> Fused {
    let off = fused(text, &OFF);
    assert_eq!(off.report.objective, off.report.unfused_objective);
    fused(text, &GREEDY);
    let fused = fused(text, &ILP);
    let found = (fused.report.kernels.len(), fused.report.objective.arrays);
    assert_eq!(found, (kernels, arrays), "kernels, arrays\n{}", fused.program);
    assert_eq!(fused.report.objective.kernels, kernels);
    fused
}

fn reasons(fused: &Fused) -> Vec<Reason> {
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
    println!("{}", fused.program);
}

const XS: &str = "xs = [3.0, 1.0, 2.0, 5.0]\nys = [1.0, 2.0, 3.0, 4.0]\nis = [2, 0, 1, 3]\n\
    m = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\nn = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]\n\
    rows = [[1.0], [2.0, 3.0], [4.0, 5.0, 6.0]]\n";

#[test]
fn show() {
    for text in [
        "sum (xs * ys)",
        "map sqrt (reverse (map exp xs))",
        "let e = map exp xs in (reverse e, length e)",
        "let (a, b) = unzip (map (\\x -> (exp x, sin x)) xs) in sum a",
        "let g = map exp xs in zipWith (*) g g",
        "(sum (xs * xs), maximum xs)",
        "xs - maximum xs",
        "let e = exp (xs - maximum xs) in e / sum e",
        "let e = exp (m - 1.0) in { r / sum r : r in e }",
        "{ let e = exp (r - maximum r) in e / sum e : r in m }",
        "{ { sum (r * c) : c in transpose n } : r in m }",
        "map sqrt (filter (> 1.5) xs)",
        "let s = scanl1 (+) xs in map sqrt s",
        "map exp (sort xs)",
        "let e = map exp xs in e[is]",
        "{ mean row : row in rows }",
        "{ sum row * 2.0 : row in m }",
        "let a = map exp xs; b = map sin ys in (sum a, sum (a * b), maximum b, a)",
        "loop s = xs for i < 3 do map exp s",
        "{ { sqrt (x + y) : y in ys } : x in xs }",
        "sum (flatten (map exp m))",
        "{ (sum row, maximum row) : row in rows }",
        "let mu = mean xs in sum ((xs - mu) * (xs - mu))",
    ] {
        let cell = format!("{XS}{text}");
        let report = with_stack(|| {
            let flat = last_of(&cell)?;
            let ilp = fuse(&flat, &ILP);
            let greedy = fuse(&flat, &GREEDY);
            println!("{flat}\n{}", ilp.program);
            Some((ilp.report, greedy.report.objective))
        });
        match report {
            Some((report, greedy)) => {
                let codes: Vec<String> = report.unfused.iter().map(|u| format!("{}{}", u.array, u.reason.code())).collect();
                println!("### {text}: {} | {greedy} | {} | {codes:?}", report.objective, report.unfused_objective);
            }
            None => println!("### {text}: none"),
        }
    }
}
