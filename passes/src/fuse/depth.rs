//! Finds kernels that are too deep, and where to divide them.
//!
//! Note [Kernels of a chain]. `xs ++ [1] ++ [2] ++ …` is a branch in a branch, as often as something is put behind it.
//! What walks over code does so by recursion, so its depth has a limit. Of a kernel beyond it some of the arrays that
//! it would compute without storing them are stored, as far from each other as can be, and all is fused again around
//! them.

use weft_ir::flat::Var;
use weft_ir::plan::{Block, Kernel, Step};

use super::Fused;

/// How many branches and loops of a kernel may stand in each other: as many as `lang::lower` lets through. The
/// threads that run kernels have stacks for that.
const MOST_NESTED: usize = 1_000;

/// How deep a part of a kernel is to be that is divided.
const DEPTH_OF_PARTS: usize = MOST_NESTED / 4;

/// Whether code of the plan is deeper than it may be.
pub(super) fn is_too_deep(block: &Block) -> bool {
    block.steps.iter().any(|step| {
        let deep = match step {
            Step::Launch(kernel) => depth(kernel) > MOST_NESTED,
            Step::Host { code, .. } => code.depth() > MOST_NESTED,
            Step::Reshape { .. }
            | Step::Constant { .. }
            | Step::Check { .. }
            | Step::Free(_)
            | Step::If { .. }
            | Step::While { .. } => false,
        };
        deep || step.blocks().any(is_too_deep)
    })
}

fn depth(kernel: &Kernel) -> usize {
    kernel.codes().map(|code| code.depth()).max().unwrap_or(0)
}

/// The arrays to store, so that no kernel of a plan is too deep any more; none if that does not help.
pub(super) fn cuts_of(fused: &Fused) -> Vec<Var> {
    let mut kernels = Vec::new();
    launched(&fused.program.body, &mut kernels);
    let mut cuts = Vec::new();
    for (kernel, report) in kernels.into_iter().zip(&fused.report.kernels) {
        let depth = depth(kernel);
        if depth <= MOST_NESTED {
            continue;
        }
        // What is computed of others has a greater number.
        let mut inside: Vec<Var> = report.fused.iter().map(|(array, _)| *array).collect();
        inside.sort_unstable();
        let parts = depth.div_ceil(DEPTH_OF_PARTS);
        let apart = inside.len().div_ceil(parts).max(1);
        cuts.extend(inside.into_iter().skip(apart - 1).step_by(apart));
    }
    cuts
}

/// The kernels of a block, in the order of the text.
fn launched<'p>(block: &'p Block, kernels: &mut Vec<&'p Kernel>) {
    for step in &block.steps {
        if let Step::Launch(kernel) = step {
            kernels.push(kernel);
        }
        step.blocks().for_each(|inner| launched(inner, kernels));
    }
}
