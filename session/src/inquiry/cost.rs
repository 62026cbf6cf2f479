//! `:cost`: the work of each kernel of a program.

use weft_ir::code::{Code, Operation};
use weft_ir::flat::{Type, storage};
use weft_ir::plan::{Block, Kernel, Step};
use weft_lang::Diagnostic;

use super::Context;
use super::fuse::counted;
use super::names::{Names, bytes_words};
use crate::engine::{Job, stages, unsupported_diagnostic};

/// The work of each kernel: points, operations and elements read a point, and in all where the
/// sizes are known.
pub(super) fn text(context: &Context<'_>, job: &Job<'_>) -> Result<String, Box<Diagnostic>> {
    let stages = stages(job).map_err(|unsupported| unsupported_diagnostic(&unsupported, job))?;
    let names = Names::new(context, &stages);
    let mut lines = Vec::new();
    kernels(&stages.compiled.plan.body, false, &mut |kernel, repeated| {
        lines.push(kernel_text(lines.len() + 1, kernel, repeated, &names));
    });
    if lines.is_empty() {
        lines.push("no kernels: the host computes it".to_owned());
    }
    host_loops(&stages.compiled.plan.body, &mut |turn| {
        let work = work(turn, names.types());
        lines.push(format!(
            "a loop on the host: a turn takes {} and reads {}, one after the other",
            counted(work.operations, "operation"),
            counted(work.reads, "element"),
        ));
    });
    Ok(lines.join("\n"))
}

fn kernel_text(number: usize, kernel: &Kernel, repeated: bool, names: &Names<'_>) -> String {
    let work = work(&kernel.body, names.types());
    let again = if repeated { ", in each turn of a loop" } else { "" };
    let mut text = format!(
        "kernel {number}: {} over {}{again}\n  a point takes {} and reads {}",
        kernel.name.replace("_then_", ", then ").replace('_', " and "),
        names.space(&kernel.space),
        counted(work.operations, "operation"),
        counted(work.reads, "element"),
    );
    if let Some(points) = names.count(&storage(&kernel.space)) {
        text.push_str(&format!(
            "\n  all {points} points: {} operations, {} read",
            points.saturating_mul(work.operations as u64),
            bytes_words(points.saturating_mul(work.bytes as u64)),
        ));
    }
    text
}

/// Visits the bodies of the loops in host code, but for those inside of others.
fn host_loops(block: &Block, visit: &mut impl FnMut(&Code)) {
    for step in &block.steps {
        match step {
            Step::Host { code, .. } => {
                for instruction in &code.instructions {
                    if let Operation::While { body, .. } = &instruction.operation {
                        visit(body);
                    }
                }
            }
            Step::If { then: first, otherwise: second, .. }
            | Step::While { condition: first, body: second, .. } => {
                host_loops(first, visit);
                host_loops(second, visit);
            }
            Step::Launch(_)
            | Step::Reshape { .. }
            | Step::Constant { .. }
            | Step::Check { .. }
            | Step::Free(_) => {}
        }
    }
}

/// Visits the kernels of a plan in order, and whether they run repeatedly.
fn kernels(block: &Block, repeated: bool, visit: &mut impl FnMut(&Kernel, bool)) {
    for step in &block.steps {
        match step {
            Step::Launch(kernel) => visit(kernel, repeated),
            Step::If { then, otherwise, .. } => {
                kernels(then, repeated, visit);
                kernels(otherwise, repeated, visit);
            }
            Step::While { condition, body, .. } => {
                kernels(condition, true, visit);
                kernels(body, true, visit);
            }
            Step::Host { .. }
            | Step::Reshape { .. }
            | Step::Constant { .. }
            | Step::Check { .. }
            | Step::Free(_) => {}
        }
    }
}

#[derive(Default)]
struct Work {
    operations: usize,
    /// Elements of arrays; scalars do not count.
    reads: usize,
    /// Of those elements.
    bytes: usize,
}

/// What a straight run of the code does; a branch or loop body counts once.
fn work(code: &Code, types: &[Type]) -> Work {
    let mut sum = Work::default();
    let mut add = |more: Work| {
        sum.operations += more.operations;
        sum.reads += more.reads;
        sum.bytes += more.bytes;
    };
    for instruction in &code.instructions {
        match &instruction.operation {
            Operation::Scalar(..) | Operation::Random(..) => {
                add(Work { operations: 1, reads: 0, bytes: 0 });
            }
            Operation::Read(array, index) if !index.is_empty() => {
                let bytes = types[array.0 as usize].element.bytes();
                add(Work { operations: 0, reads: 1, bytes });
            }
            Operation::Read(..) | Operation::Check(..) => {}
            Operation::If { then, otherwise, .. } => {
                add(work(then, types));
                add(work(otherwise, types));
            }
            Operation::While { condition, body, .. } => {
                add(work(condition, types));
                add(work(body, types));
            }
        }
    }
    sum
}
