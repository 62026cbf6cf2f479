//! `:fuse`: the kernels that a program becomes, what each reads and writes, and why arrays are stored
//! that something reads; `:cost`: the work of each kernel.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weft_ir::code::{Code, Operation};
use weft_ir::flat::{Dimension, Size, Space, Type, Var};
use weft_ir::plan::{Block, Kernel, Step};
use weft_ir::{Span, leaves};
use weft_lang::Diagnostic;
use weft_passes::fuse::{Chosen, Report, Unfused};

use super::Context;
use crate::engine::{Job, Stages, stages, unsupported_diagnostic};

/// What fusion did.
pub(super) fn text(context: &Context<'_>, job: &Job<'_>) -> Result<String, Box<Diagnostic>> {
    let stages = match stages(job) {
        Ok(stages) => stages,
        Err(unsupported) => {
            return Err(unsupported_diagnostic(&unsupported, job));
        }
    };
    let names = Names::new(context, &stages);
    let report = &stages.compiled.report;
    let mut text = summary(report);
    for (number, kernel) in report.kernels.iter().enumerate() {
        let place = context.sources.place(kernel.span);
        let _ = write!(text, "\n\nkernel {}: {}", number + 1, kernel.name);
        let space = names.space(&kernel.space);
        let _ = write!(text, " over {space}");
        let _ = write!(text, "\n├ of      {}  ({place})", names.excerpt(kernel.span));
        let _ = write!(text, "\n├ reads   {}", names.list(&kernel.reads));
        if !kernel.fused.is_empty() {
            let inside: Vec<String> =
                kernel.fused.iter().map(|(_, span)| names.excerpt(*span)).collect();
            let mut shown: Vec<String> = Vec::new();
            for excerpt in inside {
                if !shown.contains(&excerpt) {
                    shown.push(excerpt);
                }
            }
            let _ = write!(text, "\n├ inside  {}", shown.join(" · "));
        }
        let _ = write!(text, "\n└ writes  {}", names.list(&kernel.writes));
    }
    if !report.saved.is_empty() {
        text.push_str("\n\nnot stored:");
        for saved in &report.saved {
            let ty = Type { element: saved.element, extents: saved.extents.clone() };
            let _ = write!(text, "\n  {}", names.typed(saved.array, &ty));
        }
    }
    let stored: Vec<&Unfused> =
        report.unfused.iter().filter(|edge| edge.reader.is_some()).collect();
    if !stored.is_empty() {
        text.push_str("\n\nstored, though something reads it:");
        for edge in stored {
            let reason = edge.reason;
            let _ = write!(
                text,
                "\n  {} {}: {}\n      made by `{}`",
                reason.code(),
                names.of(edge.array),
                reason.explanation(),
                names.excerpt(edge.producer),
            );
            if let Some(reader) = edge.reader {
                let _ = write!(text, ", read by `{}`", names.excerpt(reader));
            }
        }
    }
    Ok(text)
}

fn summary(report: &Report) -> String {
    let mut text = format!("{}", report.objective);
    match report.chosen {
        Chosen::Unfused => text.push_str(" (fusion is switched off)"),
        Chosen::Greedy | Chosen::Solver => {
            let _ = write!(text, "; without fusion {}", report.unfused_objective);
            if report.gained() {
                let _ = write!(text, "; the greedy plan has {}", report.greedy);
            }
        }
    }
    text
}

/// The work of each kernel: points, operations and memory accesses a point.
pub(super) fn cost(context: &Context<'_>, job: &Job<'_>) -> Result<String, Box<Diagnostic>> {
    let stages = stages(job).map_err(|unsupported| unsupported_diagnostic(&unsupported, job))?;
    let names = Names::new(context, &stages);
    let mut lines = Vec::new();
    kernels(&stages.compiled.plan.body, false, &mut |kernel, repeated| {
        let work = work(&kernel.body);
        let again = if repeated { ", once for each turn of a loop" } else { "" };
        lines.push(format!(
            "kernel {}: {} over {}{again}\n  a point takes {} operations and reads {} elements; {} \
             results",
            lines.len() + 1,
            kernel.name,
            names.space(&kernel.space),
            work.operations,
            work.reads,
            kernel.sinks.len(),
        ));
    });
    if lines.is_empty() {
        lines.push("no kernels: the host computes it".to_owned());
    }
    Ok(lines.join("\n"))
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
    reads: usize,
}

/// What a straight run of the code does; a branch or loop body counts once.
fn work(code: &Code) -> Work {
    let mut sum = Work::default();
    let mut add = |more: Work| {
        sum.operations += more.operations;
        sum.reads += more.reads;
    };
    for instruction in &code.instructions {
        match &instruction.operation {
            Operation::Scalar(..) | Operation::Random(..) => {
                add(Work { operations: 1, reads: 0 });
            }
            Operation::Read(..) => add(Work { operations: 0, reads: 1 }),
            Operation::Check(..) => {}
            Operation::If { then, otherwise, .. } => {
                add(work(then));
                add(work(otherwise));
            }
            Operation::While { condition, body, .. } => {
                add(work(condition));
                add(work(body));
            }
        }
    }
    sum
}

/// What people call the variables of a plan.
pub(super) struct Names<'a> {
    context: &'a Context<'a>,
    known: BTreeMap<Var, String>,
    types: &'a [Type],
}

impl<'a> Names<'a> {
    fn new(context: &'a Context<'a>, stages: &'a Stages) -> Names<'a> {
        let mut known = BTreeMap::new();
        let mut leaves_left = stages.compiled.plan.inputs.iter();
        for (global, ty) in &stages.lowered.inputs {
            let name = context.state.name_of(*global);
            let count = leaves::leaf_types(ty).len();
            for (number, leaf) in leaves_left.by_ref().take(count).enumerate() {
                let name = if count == 1 { name.clone() } else { format!("{name}.{number}") };
                for (axis, dimension) in leaf.axes.iter().enumerate() {
                    match *dimension {
                        Dimension::Dense(Size::Var(size)) if axis == 0 => {
                            known.insert(size, format!("length {name}"));
                        }
                        Dimension::Dense(Size::Var(size)) => {
                            known.insert(size, format!("extent {axis} of {name}"));
                        }
                        Dimension::Ragged { offsets, total } => {
                            known.insert(offsets, format!("offsets of {name}"));
                            if let Size::Var(total) = total {
                                known.insert(total, format!("size {name}"));
                            }
                        }
                        Dimension::Dense(Size::Constant(_)) => {}
                    }
                }
                known.insert(leaf.data, name);
            }
        }
        Names { context, known, types: &stages.compiled.plan.types }
    }

    fn of(&self, var: Var) -> String {
        self.known.get(&var).cloned().unwrap_or_else(|| var.to_string())
    }

    fn typed(&self, var: Var, ty: &Type) -> String {
        let extents: Vec<String> =
            ty.extents.iter().map(|size| format!("[{}]", self.size(*size))).collect();
        format!("{}: {}{}", self.of(var), extents.concat(), ty.element)
    }

    fn list(&self, vars: &[Var]) -> String {
        let shown: Vec<String> =
            vars.iter().map(|var| self.typed(*var, &self.types[var.0 as usize])).collect();
        if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
    }

    fn size(&self, size: Size) -> String {
        match size {
            Size::Constant(value) => value.to_string(),
            Size::Var(var) => self.of(var),
        }
    }

    fn space(&self, space: &Space) -> String {
        if space.is_empty() {
            return "one point".to_owned();
        }
        let dimensions = space.iter().map(|dimension| match *dimension {
            Dimension::Dense(size) => format!("[{}]", self.size(size)),
            Dimension::Ragged { offsets, .. } => format!("[~{}]", self.of(offsets)),
        });
        dimensions.collect::<Vec<_>>().concat()
    }

    /// The source of an expression in one short line.
    fn excerpt(&self, span: Span) -> String {
        const MOST: usize = 60;
        let text = self.context.sources.slice(span);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}
