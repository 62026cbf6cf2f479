//! What the host launches, kernel by kernel.

use weft_ir::code::Code as ScalarCode;
use weft_ir::flat::{Type, Var};
use weft_ir::plan::{Block, Kernel, Program, Step};
use weft_ir::{Rows, Span};

use super::sort::sorted_alone;
use crate::run::kernels_in;

/// What the host launches.
pub(super) enum Work<'p> {
    Kernel(&'p Kernel, Role),
    /// A loop row by row, in front of so many kernels in it.
    Rows {
        rows: &'p Rows<Program>,
        state: &'p [Var],
        kernels: usize,
    },
    /// Another loop, in front of so many kernels in it.
    Loop {
        state: &'p [Var],
        condition: &'p Block,
        body: &'p Block,
        kernels: usize,
        span: Span,
    },
    /// Host code with loops.
    HostLoop {
        results: &'p [Var],
        code: &'p ScalarCode,
        span: Span,
    },
}

/// What is made of a launch.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Usual,
    /// A sort of keys alone: it yields what the launch behind it would (Note [Keys alone] in `sort`).
    SortsAlone(Var),
    /// That launch, of which there is nothing.
    Nothing,
}

/// What a block launches, in the order of its text.
pub(super) fn collect<'p>(block: &'p Block, types: &[Type], works: &mut Vec<Work<'p>>) {
    let mut role = Role::Usual;
    for (at, step) in block.steps.iter().enumerate() {
        role = match (role, sorted_alone(&block.steps, at, types)) {
            (Role::SortsAlone(_), _) => Role::Nothing,
            (Role::Usual | Role::Nothing, Some(sorted)) => Role::SortsAlone(sorted),
            (Role::Usual | Role::Nothing, None) => Role::Usual,
        };
        match step {
            Step::Launch(kernel) => works.push(Work::Kernel(kernel, role)),
            Step::While { rows, state, condition, body, .. } => {
                let kernels = kernels_in(condition) + kernels_in(body);
                works.push(match rows {
                    Some(rows) => Work::Rows { rows, state, kernels },
                    None => {
                        let span = span_of(condition).or_else(|| span_of(body)).unwrap_or_default();
                        Work::Loop { state, condition, body, kernels, span }
                    }
                });
            }
            Step::Host { results, code, span } if code.has_loops() => {
                works.push(Work::HostLoop { results, code, span: *span });
            }
            _ => {}
        }
        step.blocks().for_each(|inner| collect(inner, types, works));
    }
}

/// Where the first step of a block comes from that says so.
fn span_of(block: &Block) -> Option<Span> {
    block.steps.iter().find_map(|step| match step {
        Step::Host { span, .. } | Step::Check { span, .. } => Some(*span),
        Step::Launch(kernel) => Some(kernel.span),
        _ => step.blocks().find_map(span_of),
    })
}
