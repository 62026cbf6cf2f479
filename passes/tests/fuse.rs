//! Fusion: how many kernels programs of *flat* become, what fuses and what does not, and why.

use weft_ir::{flat, plan};
use weft_passes::fuse::{FuseConfig, Fused, Reason, Solver, fuse};

const ILP: FuseConfig =
    FuseConfig { fusion: true, solver: Solver::Ilp { max_nodes: 24, max_branches: 2000 } };
const GREEDY: FuseConfig = FuseConfig { fusion: true, solver: Solver::Greedy };
const OFF: FuseConfig = FuseConfig { fusion: false, solver: Solver::Greedy };

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
