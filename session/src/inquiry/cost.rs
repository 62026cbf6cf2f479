//! `:cost`: the work of each kernel of a program.

use weft_ir::code::{Code, Operation};
use weft_ir::flat::{Type, storage};
use weft_ir::plan::{Block, Sink, Step};
use weft_lang::Diagnostic;

use super::Context;
use super::fuse::{copied_text, counted};
use super::launches::{Launch, launches};
use super::names::{Names, bytes_words};
use crate::engine::{Job, stages, unsupported_diagnostic};

/// The work of each kernel: points, operations and elements read a point, and in all where the
/// sizes are known.
pub(super) fn text(context: &Context<'_>, job: &Job<'_>) -> Result<String, Box<Diagnostic>> {
    let stages = stages(job).map_err(|unsupported| unsupported_diagnostic(&unsupported, job))?;
    let names = Names::new(context, &stages);
    let launches = launches(&stages.compiled.plan);
    let mut lines: Vec<String> = launches
        .iter()
        .enumerate()
        .map(|(number, launch)| kernel_text(number + 1, launch, &names))
        .collect();
    if lines.is_empty() {
        lines.push("no kernels: the host computes it".to_owned());
    }
    host_loops(&stages.compiled.plan.body, &mut |turn| {
        lines.push(format!(
            "a loop on the host: a turn takes {}, one after the other",
            work(turn, names.types()).text()
        ));
    });
    Ok(lines.join("\n"))
}

fn kernel_text(number: usize, launch: &Launch<'_>, names: &Names<'_>) -> String {
    let (kernel, types) = (launch.kernel, names.types());
    let mut own = work(&kernel.body, types);
    let (mut sorts, mut scatters) = (false, false);
    for sink in &kernel.sinks {
        // Each point is combined with what there is so far.
        if let Some(operator) = sink.operator() {
            own.add(work(&operator.code, types));
        }
        sorts |= matches!(sink, Sink::Sort { .. });
        scatters |= matches!(sink, Sink::Scatter { .. });
    }
    let (again, all) = match launch.turn_of {
        Some(_) => (", in each turn of a loop", ", a turn"),
        None => ("", ""),
    };
    let mut text = format!(
        "kernel {number}: {} over {}{again}\n  a point takes {}",
        kernel.name.replace("_then_", ", then ").replace('_', " and "),
        names.space(&kernel.space),
        own.text(),
    );
    if let Some(turn) = &own.turn {
        text.push_str(&format!("\n  and in each turn of its loop {}", turn.text()));
    }
    if let Some(points) = names.count(&storage(&kernel.space)) {
        let all_points = match points {
            1 => "1 point".to_owned(),
            _ => format!("all {points} points"),
        };
        let more = if own.turn.is_some() { "; the turns of their loops are not known" } else { "" };
        text.push_str(&format!(
            "\n  {all_points}: {} operations, {} read{all}{more}",
            points.saturating_mul(own.operations as u64),
            bytes_words(points.saturating_mul(own.bytes as u64)),
        ));
    }
    let after = kernel.epilogue.as_ref().map(|epilogue| work(&epilogue.code, types));
    if let Some(after) = after.filter(|after| after.operations + after.reads > 0) {
        text.push_str(&format!("\n  a result of it takes {}", after.text()));
    }
    if sorts {
        text.push_str("\n  the comparisons of the sort are not counted");
    }
    if scatters {
        text.push_str(&format!("\n  what it scatters into is {}", copied(launch, names)));
    }
    text
}

fn copied(launch: &Launch<'_>, names: &Names<'_>) -> String {
    match launch.copied.is_empty() {
        true => "changed in place".to_owned(),
        false => copied_text(launch, names).trim_start_matches(", ").to_owned(),
    }
}

/// Visits the bodies of the loops in host code, but for those inside of others.
fn host_loops(block: &Block, visit: &mut impl FnMut(&Code)) {
    for step in &block.steps {
        if let Step::Host { code, .. } = step {
            for instruction in &code.instructions {
                if let Operation::While { body, .. } = &instruction.operation {
                    visit(body);
                }
            }
        }
        step.blocks().for_each(|inner| host_loops(inner, visit));
    }
}

/// What code does.
#[derive(Default)]
struct Work {
    operations: usize,
    /// Elements of arrays; scalars do not count.
    reads: usize,
    /// Of those elements.
    bytes: usize,
    /// Of its loops, a turn of each.
    turn: Option<Box<Work>>,
}

impl Work {
    fn add(&mut self, more: Work) {
        self.operations += more.operations;
        self.reads += more.reads;
        self.bytes += more.bytes;
        if let Some(turn) = more.turn {
            self.turn.get_or_insert_default().add(*turn);
        }
    }

    fn text(&self) -> String {
        let (operations, reads) =
            (counted(self.operations, "operation"), counted(self.reads, "element"));
        format!("{operations} and reads {reads}")
    }
}

/// What the code does: both branches of an `if`, and of a loop the turns by themselves.
fn work(code: &Code, types: &[Type]) -> Work {
    let mut sum = Work::default();
    for instruction in &code.instructions {
        match &instruction.operation {
            Operation::Scalar(..) | Operation::Random(..) => {
                sum.add(Work { operations: 1, ..Work::default() });
            }
            Operation::Read(array, index) if !index.is_empty() => {
                let bytes = types[array.0 as usize].element.bytes();
                sum.add(Work { reads: 1, bytes, ..Work::default() });
            }
            Operation::Read(..) | Operation::Check(..) => {}
            Operation::If { then, otherwise, .. } => {
                sum.add(work(then, types));
                sum.add(work(otherwise, types));
            }
            Operation::While { condition, body, .. } => {
                let mut turn = work(condition, types);
                turn.add(work(body, types));
                // Turns within turns count as turns.
                while let Some(inner) = turn.turn.take() {
                    turn.add(*inner);
                }
                sum.add(Work { turn: Some(Box::new(turn)), ..Work::default() });
            }
        }
    }
    sum
}
