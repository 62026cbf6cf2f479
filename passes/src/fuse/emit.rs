//! Writes the kernels and host steps of a region in an order that respects what they depend on.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Instruction, Operand, Operation as CodeOperation, Register};
use weft_ir::flat::{Block, Operation, Statement, Type, Var};
use weft_ir::plan::{self, Step};
use weft_ir::{FaultKind, Name, ScalarType, Span};

use super::cluster::{Arrangement, Clustering, arrange, is_stored};
use super::compose::{Composer, Delayed, Lookup, Renaming};
use super::graph::Graph;
use super::inline::Absorbed;
use super::prune::remove_dead_code;
use super::region::Kind;
use super::report::KernelReport;
use super::{FuseConfig, fuse};

mod kernel;

/// What is written about a region beside its steps.
#[derive(Default)]
pub(super) struct Written {
    /// Its kernels in order.
    pub kernels: Vec<KernelReport>,
}

/// What does not change while a program is written.
pub(super) struct Context<'c> {
    pub types: &'c [Type],
    /// What was inlined where.
    pub absorbed: &'c Absorbed,
    /// How to fuse the programs of points.
    pub config: &'c FuseConfig,
    /// The expression of each variable.
    pub spans: &'c BTreeMap<Var, Span>,
}

/// The steps of a region. `blocks` writes the blocks of `if` and `while`.
pub(super) fn emit(
    graph: &Graph,
    clustering: &Clustering,
    context: &Context,
    written: &mut Written,
    blocks: &mut dyn FnMut(&Block, &mut Written) -> plan::Block,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let order = schedule(graph, clustering);
    let mut place = 0;
    while place < order.len() {
        let members = &clustering.members[&order[place]];
        let first = members[0];
        let node = &graph.region.nodes[first];
        if matches!(node.kind, Kind::Host | Kind::Check) {
            let run = order[place..].iter().take_while(|cluster| {
                matches!(graph.region.nodes[**cluster].kind, Kind::Host | Kind::Check)
            });
            let group: Vec<usize> = run.copied().collect();
            place += group.len();
            steps.extend(host(graph, &group));
            continue;
        }
        place += 1;
        match &node.statement.operation {
            Operation::Reshape(array) => {
                let result = node.statement.results[0];
                steps.push(Step::Reshape { result, array: *array });
            }
            Operation::Constant(elements) => {
                let result = node.statement.results[0];
                steps.push(Step::Constant { result, elements: elements.clone() });
            }
            Operation::If { condition, then, otherwise } => {
                let results = node.statement.results.clone();
                let (then, otherwise) = (blocks(then, written), blocks(otherwise, written));
                steps.push(Step::If { results, condition: *condition, then, otherwise });
            }
            Operation::While { state, initial, condition, body, rows } => {
                let results = node.statement.results.clone();
                let (condition, body) = (blocks(condition, written), blocks(body, written));
                let (state, initial) = (state.clone(), initial.clone());
                let rows = rows
                    .as_ref()
                    .map(|rows| Box::new(rows.with(fuse(&rows.program, context.config).program)));
                steps.push(Step::While { results, state, initial, condition, body, rows });
            }
            _ => {
                let arrangement = arrange(graph, members)
                    .unwrap_or(Arrangement { main: first, epilogue: BTreeSet::new() });
                let kernel = kernel::write(graph, clustering, context, members, &arrangement);
                written.kernels.push(kernel_report(&kernel, context));
                steps.push(Step::Launch(Box::new(kernel)));
            }
        }
    }
    steps
}

/// The clusters in an order that respects the links; the host's work first where there is a choice,
/// else the order of the program.
fn schedule(graph: &Graph, clustering: &Clustering) -> Vec<usize> {
    let key = |cluster: usize| {
        let members = &clustering.members[&cluster];
        let is_host = matches!(graph.region.nodes[cluster].kind, Kind::Host | Kind::Check);
        (!is_host, members[members.len() - 1], cluster)
    };
    let mut waiting: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut ready = BTreeSet::new();
    for (cluster, members) in &clustering.members {
        let before: BTreeSet<usize> = members
            .iter()
            .flat_map(|member| graph.before[*member].keys())
            .map(|producer| clustering.of(*producer))
            .filter(|other| other != cluster)
            .collect();
        if before.is_empty() {
            ready.insert(key(*cluster));
        } else {
            waiting.insert(*cluster, before);
        }
    }
    let mut order = Vec::with_capacity(clustering.members.len());
    while let Some((_, _, cluster)) = ready.pop_first() {
        order.push(cluster);
        for member in &clustering.members[&cluster] {
            for reader in &graph.after[*member] {
                let reader = clustering.of(*reader);
                if let Some(before) = waiting.get_mut(&reader) {
                    before.remove(&cluster);
                    if before.is_empty() {
                        waiting.remove(&reader);
                        ready.insert(key(reader));
                    }
                }
            }
        }
    }
    order
}

/// One step for scalars that the host computes one after the other.
fn host(graph: &Graph, group: &[usize]) -> Option<Step> {
    let region = graph.region;
    let lookup = Members { graph, members: &BTreeSet::new() };
    let mut composer = Composer::new(&lookup);
    let (mut results, mut operands) = (Vec::new(), Vec::new());
    let inside: BTreeSet<usize> = group.iter().copied().collect();
    for index in group {
        let node = &region.nodes[*index];
        if let Operation::Check(condition, kind) = &node.statement.operation {
            composer.write(&check(*condition, *kind, node.statement), &mut Renaming::new());
            continue;
        }
        let Some(thunk) = node.thunk else { continue };
        let values = composer.instantiate(*index as u32, thunk, node.space, Vec::new());
        composer.give(*index as u32, &[], values.clone());
        for (result, value) in node.statement.results.iter().zip(values) {
            let outside = graph.after[*index].iter().any(|reader| !inside.contains(reader));
            if outside || region.yielded.contains(result) {
                results.push(*result);
                operands.push(value);
            }
        }
    }
    let mut code = Code { instructions: composer.take(), results: operands };
    remove_dead_code(&mut code);
    let span = region.nodes[*group.first()?].statement.span;
    (!code.instructions.is_empty() || !results.is_empty()).then_some(Step::Host {
        results,
        code,
        span,
    })
}

fn check(condition: Var, kind: FaultKind, statement: &Statement) -> Code {
    let register = Register(0);
    let span = statement.span;
    let read = CodeOperation::Read(condition, Vec::new());
    let instructions = vec![
        Instruction { results: vec![(register, ScalarType::Bool)], operation: read, span },
        Instruction {
            results: Vec::new(),
            operation: CodeOperation::Check(Operand::Register(register), kind),
            span,
        },
    ];
    Code { instructions, results: Vec::new() }
}

/// The index functions that the code of a kernel (or host step) knows.
struct Members<'a, 'r, 'p> {
    graph: &'a Graph<'r, 'p>,
    /// The statements of the kernel.
    members: &'a BTreeSet<usize>,
}

impl<'p> Lookup<'p> for Members<'_, '_, 'p> {
    fn delayed(&self, array: Var) -> Option<Delayed<'p>> {
        let region = self.graph.region;
        let index = *region.producers.get(&array)?;
        let node = &region.nodes[index];
        let result = node.statement.results.iter().position(|result| *result == array)?;
        let thunk = match node.kind {
            _ if region.parent[index].is_some() => node.thunk,
            Kind::Map if self.members.contains(&index) => node.thunk,
            // Its elements are given, if at all.
            Kind::Host => None,
            _ if self.members.contains(&index) => None,
            _ => return None,
        };
        Some(Delayed { statement: index as u32, result, thunk, space: node.space })
    }

    fn eager(&self, statement: u32) -> &[Var] {
        &self.graph.region.eager[statement as usize]
    }

    // What another kernel computes stays, whoever reads it.
    fn may_fail(&self, _: Var) -> bool {
        false
    }
}

fn kernel_report(kernel: &plan::Kernel, context: &Context) -> KernelReport {
    let is_array =
        |var: &Var| context.types.get(var.0 as usize).is_some_and(|ty| !ty.extents.is_empty());
    let mut reads = BTreeSet::new();
    kernel.uses(&mut |var| {
        reads.insert(var);
    });
    let elements: BTreeSet<Var> = kernel.reads().collect();
    KernelReport {
        name: kernel.name.clone(),
        space: kernel.space.clone(),
        whole: reads
            .iter()
            .copied()
            .filter(|var| is_array(var) && !elements.contains(var))
            .collect(),
        reads: reads.into_iter().filter(is_array).collect(),
        writes: kernel.results().collect(),
        fused: kernel
            .fused
            .iter()
            .map(|array| (*array, context.spans.get(array).copied().unwrap_or(kernel.span)))
            .collect(),
        span: kernel.span,
    }
}

/// A name made of the parts of a kernel.
fn name(parts: &[&str]) -> Name {
    Name::from(parts.join("_"))
}

/// Whether a result is kept in memory.
fn kept(graph: &Graph, clustering: &Clustering, statement: usize, result: Var) -> Option<Var> {
    is_stored(graph, clustering, statement, result).then_some(result)
}

/// The scalar type of the elements of a variable.
fn element(types: &[Type], var: Var) -> ScalarType {
    types.get(var.0 as usize).map_or(ScalarType::I64, |ty| ty.element)
}
