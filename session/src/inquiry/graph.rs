//! `:fuse` as a picture: kernels and arrays as a graph.
//!
//! ```text
//! Report, plan ─graph→ Graph ─lay_out→ Layout ─draw→ SVG
//! ```
//!
//! A kernel reads arrays and writes arrays. Arrays that are made by one kernel and read by the same
//! ones share a node. What the host makes of scalars on the way is left out. An array that is stored although something reads it again is read over a
//! dashed edge, which bears the code of the reason.

mod draw;
mod flow;
mod layered;

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::Span;
use weft_ir::flat::Var;
use weft_ir::plan::{Block, Step};
use weft_passes::fuse::{KernelReport, Reason, Report};

use super::names::Names;
use crate::engine::Stages;

/// Graphs with more nodes say nothing at a glance.
const MOST_NODES: usize = 80;

/// Kernels, arrays and what flows between them.
#[derive(Debug, PartialEq)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// A box of the picture.
#[derive(Debug, PartialEq)]
struct Node {
    kind: Kind,
    /// The first is the title.
    lines: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Kernel,
    /// An array that was there before.
    Input,
    /// An array that a kernel writes.
    Stored,
    /// An array that the program yields.
    Result,
    /// What is no kernel: the host, or the turns of a loop.
    Host,
}

/// From an array to its reader, or from a kernel to what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    /// Why the two are not one.
    reason: Option<Reason>,
}

/// The picture; none if there are no kernels, or too many.
pub(super) fn svg(stages: &Stages, names: &Names<'_>) -> Option<String> {
    let graph = graph(stages, names);
    let has_kernels = graph.nodes.iter().any(|node| node.kind == Kind::Kernel);
    (has_kernels && graph.nodes.len() <= MOST_NODES).then(|| draw::svg(&graph))
}

fn graph(stages: &Stages, names: &Names<'_>) -> Graph {
    let report = &stages.compiled.report;
    let mut graph = Graph { nodes: Vec::new(), edges: Vec::new() };
    for (number, kernel) in report.kernels.iter().enumerate() {
        graph.nodes.push(kernel_node(number, kernel, names));
    }
    let results: BTreeSet<Var> =
        stages.compiled.plan.outputs.iter().map(|leaf| leaf.data).collect();
    let inputs: BTreeSet<Var> = stages.compiled.plan.inputs.iter().map(|leaf| leaf.data).collect();
    let states = states(&stages.compiled.plan.body);
    let reads = flow::reads(&stages.compiled.plan);
    for (role, vars) in groups(report, &results, &reads) {
        let title = title(&vars, names);
        let bytes = names.bytes_of(&vars).filter(|_| !is_scalar(&vars, names));
        let origin = match role.writer {
            Some(_) if role.is_result => Some("the result".to_owned()),
            Some(_) => None,
            None if vars.iter().all(|var| inputs.contains(var)) => None,
            None if vars.iter().any(|var| states.contains(var)) => {
                Some("the state of a loop".to_owned())
            }
            None => Some("from the host".to_owned()),
        };
        let kind = match role.writer {
            Some(_) if role.is_result => Kind::Result,
            Some(_) => Kind::Stored,
            None if origin.is_none() => Kind::Input,
            None => Kind::Host,
        };
        let remark: Vec<String> = origin.into_iter().chain(bytes).collect();
        let lines = match remark.is_empty() {
            true => vec![title],
            false => vec![title, remark.join(", ")],
        };
        let node = graph.nodes.len();
        graph.nodes.push(Node { kind, lines });
        graph.edges.extend(role.writer.map(|from| Edge { from, to: node, reason: None }));
        for (reader, reason) in &role.readers {
            graph.edges.push(Edge { from: node, to: *reader, reason: *reason });
        }
        if let Some(reason) = role.host {
            let host = graph.nodes.len();
            graph
                .nodes
                .push(Node { kind: Kind::Host, lines: vec!["the host reads it".to_owned()] });
            graph.edges.push(Edge { from: node, to: host, reason: Some(reason) });
        }
    }
    graph
}

fn kernel_node(number: usize, kernel: &KernelReport, names: &Names<'_>) -> Node {
    /// Lines about what happens inside.
    const MOST_INSIDE: usize = 4;
    let name = kernel.name.replace("_then_", ", then ").replace('_', " and ");
    let mut lines = vec![
        format!("kernel {}: {}", number + 1, short(&name)),
        format!("over {}", names.space(&kernel.space)),
    ];
    let mut inside: Vec<String> = Vec::new();
    for (var, span) in &kernel.fused {
        let excerpt = names.excerpt(*span);
        let excerpt = excerpt.trim_matches('`');
        let name = names.of(*var);
        let is_bound = !name.starts_with('a') || name[1..].parse::<u32>().is_err();
        let line = if is_bound { format!("{name} = {excerpt}") } else { excerpt.to_owned() };
        if !inside.contains(&line) {
            inside.push(line);
        }
    }
    let hidden = inside.len().saturating_sub(MOST_INSIDE);
    lines.extend(inside.into_iter().take(MOST_INSIDE).map(|line| short(&line)));
    if hidden > 0 {
        lines.push(format!("and {hidden} more"));
    }
    Node { kind: Kind::Kernel, lines }
}

/// What is the same for all arrays of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Role {
    writer: Option<usize>,
    is_result: bool,
    readers: BTreeMap<usize, Option<Reason>>,
    /// Why it is stored, if no kernel reads it.
    host: Option<Reason>,
}

/// The arrays by their role, in the order of the program.
fn groups(
    report: &Report,
    results: &BTreeSet<Var>,
    reads: &[BTreeSet<Var>],
) -> Vec<(Role, Vec<Var>)> {
    let mut roles: BTreeMap<Var, Role> = BTreeMap::new();
    let none = |var: &Var| Role {
        writer: None,
        is_result: results.contains(var),
        readers: BTreeMap::new(),
        host: None,
    };
    for (number, kernel) in report.kernels.iter().enumerate() {
        for var in &kernel.writes {
            roles.entry(*var).or_insert_with(|| none(var)).writer = Some(number);
        }
        for var in &kernel.reads {
            let reason = reason(report, *var, kernel);
            roles.entry(*var).or_insert_with(|| none(var)).readers.insert(number, reason);
        }
    }
    // Scalars, and what goes through the host: of that, only what kernels have made is of interest.
    for (number, reads) in reads.iter().enumerate().take(report.kernels.len()) {
        for var in reads {
            if let Some(role) = roles.get_mut(var).filter(|role| role.writer != Some(number)) {
                role.readers.entry(number).or_insert(None);
            }
        }
    }
    for unfused in &report.unfused {
        if let (Some(_), Some(role)) = (unfused.reader, roles.get_mut(&unfused.array))
            && role.readers.is_empty()
        {
            role.host = Some(unfused.reason);
        }
    }
    let mut groups: Vec<(Role, Vec<Var>)> = Vec::new();
    for (var, role) in roles {
        match groups.iter_mut().find(|(known, _)| *known == role) {
            Some((_, vars)) => vars.push(var),
            None => groups.push((role, vec![var])),
        }
    }
    groups
}

/// Why a kernel reads an array that another one has stored.
fn reason(report: &Report, var: Var, kernel: &KernelReport) -> Option<Reason> {
    let reads =
        |span: Span| span == kernel.span || kernel.fused.iter().any(|(_, own)| *own == span);
    let edges = report.unfused.iter().filter(|edge| edge.array == var && edge.reader.is_some());
    let found = edges.clone().find(|edge| edge.reader.is_some_and(reads));
    found.or_else(|| edges.clone().next()).map(|edge| edge.reason)
}

/// The variables that loops carry.
fn states(block: &Block) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for step in &block.steps {
        match step {
            Step::While { results, state, condition, body, .. } => {
                found.extend(results.iter().chain(state).copied());
                found.append(&mut states(condition));
                found.append(&mut states(body));
            }
            Step::If { then, otherwise, .. } => {
                found.append(&mut states(then));
                found.append(&mut states(otherwise));
            }
            Step::Host { .. }
            | Step::Launch(_)
            | Step::Reshape { .. }
            | Step::Constant { .. }
            | Step::Check { .. }
            | Step::Free(_) => {}
        }
    }
    found
}

/// `xs: [1000]f32`; of many arrays the ends.
fn title(vars: &[Var], names: &Names<'_>) -> String {
    let types: BTreeSet<String> = vars.iter().map(|var| names.type_text(*var)).collect();
    let types: Vec<String> = types.into_iter().collect();
    let shown = match vars {
        [first, _, _, .., last] => {
            format!("{} … {} ({} arrays)", names.of(*first), names.of(*last), vars.len())
        }
        _ => vars.iter().map(|var| names.of(*var)).collect::<Vec<_>>().join(", "),
    };
    short(&format!("{shown}: {}", types.join(", ")))
}

fn is_scalar(vars: &[Var], names: &Names<'_>) -> bool {
    vars.iter().all(|var| names.ty(*var).extents.is_empty())
}

/// The beginning of a line that would make its box too wide.
fn short(line: &str) -> String {
    const MOST: usize = 46;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
