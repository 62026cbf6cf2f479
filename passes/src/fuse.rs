//! Fusion: *flat* to *plan*. Delays arrays into their readers, puts what shares data into one kernel,
//! and says why the rest did not fuse.
//!
//! ```
//! use weft_passes::fuse::{FuseConfig, Solver, fuse};
//! let dot = weft_ir::flat::parse("\
//! input a1: [a0]f64
//! input a2: [a0]f64
//! a3: [a0]f64 = map [a0] (r0)
//!   r1: f64 = read a1 r0
//!   r2: f64 = read a2 r0
//!   r3: f64 = mul r1 r2
//!   yield r3
//! a4: f64 = reduce [a0] (r0)
//!   r1: f64 = read a3 r0
//!   yield r1
//! by (r0: f64) (r1: f64)
//!   r2: f64 = add r0 r1
//!   yield r2
//! if_empty ()
//!   yield 0.0f64
//! output a4: f64
//! ").unwrap();
//! let config = FuseConfig { fusion: true, solver: Solver::Greedy };
//! assert_eq!(fuse(&dot, &config).program.to_string(), "\
//! input a1: [a0]f64
//! input a2: [a0]f64
//! launch \"reduce\" [a0] (r0) fusing a3
//!   r1: f64 = read a1 r0
//!   r2: f64 = read a2 r0
//!   r3: f64 = mul r1 r2
//!   yield r3
//!   reduce r3 as (r4: f64) to a4: f64
//!   by (r5: f64) (r6: f64)
//!     r7: f64 = add r5 r6
//!     yield r7
//!   if_empty ()
//!     yield 0.0f64
//! end
//! output a4: f64
//! ");
//! ```
//!
//! The steps: what nobody uses goes ([`prune()`]); what is cheaper than a load is inlined everywhere
//! ([`inline`]); scatters of the same points to the same places are joined ([`scatters`]); a producer
//! with one reader becomes part of it (Note [Contraction of edges]); literal rows are stored by what computes their elements
//! ([`interleave`]); the rest is clustered, greedily
//! and by integer linear programming ([`solve`]), and written ([`emit()`]).
//!
//! Note [No duplicated work]. Only index arithmetic and what [`cost::is_cheap`] accepts is computed
//! more than once per element. Everything else is computed once per point of its own space: in the
//! body of a kernel over that space, or at an injective function of the points of its only reader.
//!
//! Note [Order of checks]. Checks of *flat* are statements, and what follows one may rely on it (an index is in
//! range, an extent is not negative). So a kernel that holds a statement never runs before the checks
//! that stood before it, unless that statement only reads elements at its own points of an array
//! over just these points, which is in order whatever is checked. Checks inside a thunk stay in front
//! of what follows them there; they are dropped only with all results of the statement.
//!
//! Sources: McDonell, Chakravarty, Keller and Lippmeier, "Optimising purely functional GPU programs"
//! (ICFP 2013), section 4; Megiddo and Sarkar (SPAA 1997).

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Block, Operation, Program, Type, Var};
use weft_ir::{Span, plan};

use apart::apart;
pub use apart::{Apart, ApartReason};
use cluster::{Clustering, greedy, objective};
use depth::{cuts_of, is_too_deep};
use emit::{Context, Written, emit};
use graph::{Graph, Link};
use in_place::sent_where_it_comes_from;
use interleave::{Interleaved, interleaved};
use prune::{UnusedChecks, prune};
use region::{Kind, Region, Shown};
pub use report::{
    Chosen, Control, KernelReport, Objective, Reason, Remark, Report, Saved, Unfused,
};
use scatters::join_scatters;
use sorts::sorted_values;

mod access;
mod algebra;
mod apart;
mod cluster;
mod compose;
mod cost;
mod depth;
mod emit;
mod graph;
mod in_place;
mod inline;
mod interleave;
mod prune;
mod region;
mod report;
mod scatters;
mod solve;
mod sorts;
mod twins;
pub(crate) mod uses;
mod value_key;

/// How to fuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuseConfig {
    /// Whether to fuse at all; if not, every data-parallel statement is a kernel.
    pub fusion: bool,
    /// How to choose among plans.
    pub solver: Solver,
}

/// How to choose among plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Edge by edge in the order of the program.
    Greedy,
    /// The best plan by integer linear programming, where the budget allows.
    Ilp {
        /// Connected parts of a region with more statements than that stay greedy.
        max_nodes: usize,
        /// The most nodes of the search tree per part.
        max_branches: u64,
    },
}

/// A plan and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The plan.
    pub program: plan::Program,
    /// How it came about.
    pub report: Report,
}

/// How often kernels that are too deep are divided (Note [Kernels of a chain]).
const MOST_DIVISIONS: usize = 4;

/// Turns a program of *flat* into kernels. It never fails: what does not fuse runs alone.
pub fn fuse(program: &Program, config: &FuseConfig) -> Fused {
    let mut cuts = BTreeSet::new();
    for _ in 0..MOST_DIVISIONS {
        let fused = fuse_all(program, config, &cuts);
        if !config.fusion || !is_too_deep(&fused.program.body) {
            return fused;
        }
        cuts.extend(cuts_of(&fused));
    }
    without_fusion(program, config)
}

/// The plan for a program that is too deep wherever it is divided.
fn without_fusion(program: &Program, config: &FuseConfig) -> Fused {
    let alone = FuseConfig { fusion: false, ..*config };
    let mut fused = fuse_all(program, &alone, &BTreeSet::new());
    fused.report.chosen = Chosen::TooDeep;
    for unfused in &mut fused.report.unfused {
        if unfused.reason == Reason::Off {
            unfused.reason = Reason::TooDeep;
        }
    }
    fused
}

/// The plan in which the arrays of `cuts` have kernels of their own.
fn fuse_all(program: &Program, config: &FuseConfig, cuts: &BTreeSet<Var>) -> Fused {
    let mut work = program.clone();
    prune(&mut work, UnusedChecks::Keep);
    let mut spans = BTreeMap::new();
    let mut arrays = Vec::new();
    collect(&work.body, &work.types, &mut spans, &mut arrays);
    let unfused_objective = unfused(&work.body, &work.types, &outputs(&work));
    let (mut settled, in_place) = match config.fusion {
        true => (sorted_values(&work), sent_where_it_comes_from(&work)),
        false => (BTreeSet::new(), BTreeSet::new()),
    };
    settled.extend(cuts.iter().chain(&in_place));
    let mut absorbed = inline::inline(&mut work, config.fusion, &settled);
    prune(&mut work, UnusedChecks::Drop);
    if config.fusion {
        join_scatters(&mut work, &mut absorbed);
    }
    let mut fuser = Fuser {
        context: Context { types: &work.types, absorbed: &absorbed, config, spans: &spans },
        outputs: outputs(&work),
        settled,
        in_place,
        cuts,
        config,
        unfused: Vec::new(),
        apart: Vec::new(),
        objective: Objective::default(),
        greedy: Objective::default(),
    };
    let mut written = Written::default();
    let body = fuser.block(&work.body, &mut written);
    let Fuser { objective, greedy, unfused, apart, .. } = fuser;
    let chosen = match config {
        FuseConfig { fusion: false, .. } => Chosen::Unfused,
        _ if objective < greedy => Chosen::Solver,
        _ => Chosen::Greedy,
    };
    let stored = |array: &Var| written.kernels.iter().any(|kernel| kernel.writes.contains(array));
    let saved = arrays.into_iter().filter(|array| !stored(array)).map(|array| {
        let ty: &Type = &work.types[array.0 as usize];
        Saved { array, element: ty.element, extents: ty.extents.clone() }
    });
    let report = Report {
        saved: saved.collect(),
        spans: spans.clone(),
        kernels: written.kernels,
        unfused,
        apart,
        chosen,
        objective,
        greedy,
        unfused_objective,
    };
    let Program { inputs, outputs, types, body: _ } = work;
    Fused { program: plan::Program { inputs, body, outputs, types }, report }
}

struct Fuser<'c> {
    context: Context<'c>,
    /// What the program yields.
    outputs: BTreeSet<Var>,
    /// What stays in kernels of its own (Note [Sorts of values]).
    settled: BTreeSet<Var>,
    /// What of it is sent into the array that it comes from.
    in_place: BTreeSet<Var>,
    /// What of it would else be part of a kernel that is too deep.
    cuts: &'c BTreeSet<Var>,
    config: &'c FuseConfig,
    unfused: Vec<Unfused>,
    apart: Vec<Apart>,
    objective: Objective,
    greedy: Objective,
}

impl Fuser<'_> {
    fn block(&mut self, block: &Block, written: &mut Written) -> plan::Block {
        let views = region::views(block, self.context.types);
        let contraction = self.config.fusion.then_some(&self.settled);
        let interleaved = match self.config.fusion {
            true => interleaved(block, self.context.types),
            false => Interleaved::new(),
        };
        let shown = Shown { views: &views, interleaved: &interleaved };
        let region = Region::new(block, self.context.types, shown, &self.outputs, contraction);
        let graph = Graph::new(&region);
        let clustering = self.cluster(&graph);
        self.explain(&graph, &clustering);
        if self.config.fusion {
            self.apart.extend(apart(&graph, &clustering));
        }
        let context = Context { ..self.context };
        let steps = emit(&graph, &clustering, &context, written, &mut |block, written| {
            self.block(block, written)
        });
        plan::Block { steps, results: block.results.clone() }
    }

    /// The best of the plans that were looked for.
    fn cluster(&mut self, graph: &Graph) -> Clustering {
        if !self.config.fusion {
            let alone = Clustering::alone(graph);
            self.objective = self.objective + objective(graph, &alone);
            self.greedy = self.greedy + objective(graph, &alone);
            return alone;
        }
        let greedy = greedy(graph);
        let greedy_cost = objective(graph, &greedy);
        self.greedy = self.greedy + greedy_cost;
        if let Solver::Ilp { max_nodes, max_branches } = self.config.solver {
            let solved = solve::solve(graph, &greedy, max_nodes, max_branches);
            let cost = objective(graph, &solved);
            if cost < greedy_cost {
                self.objective = self.objective + cost;
                return solved;
            }
        }
        self.objective = self.objective + greedy_cost;
        greedy
    }

    /// Why arrays are stored that something reads.
    fn explain(&mut self, graph: &Graph, clustering: &Clustering) {
        let nodes = &graph.region.nodes;
        let is_cut = |node: usize| {
            nodes[node].statement.results.iter().any(|result| self.cuts.contains(result))
        };
        let is_sent = |node: usize| {
            nodes[node].statement.results.iter().any(|result| self.in_place.contains(result))
        };
        let mut alone = Clustering::alone(graph);
        for root in &graph.roots {
            for (producer, link) in &graph.before[*root] {
                if !nodes[*producer].kind.is_kernel()
                    || clustering.of(*producer) == clustering.of(*root)
                {
                    continue;
                }
                // A result with other extents is a result.
                if nodes[*root].kind == Kind::View && graph.after[*root].is_empty() {
                    continue;
                }
                let reason = match link {
                    _ if !self.config.fusion => Reason::Off,
                    Link::After(Reason::Boundary) if is_cut(*producer) => Reason::TooDeep,
                    Link::After(Reason::Boundary) if is_sent(*producer) => Reason::InPlace,
                    Link::After(Reason::Boundary)
                        if is_cut(*root) && nodes[*producer].kind == Kind::Map =>
                    {
                        Reason::TooDeep
                    }
                    Link::After(Reason::View) => graph.behind_view(*producer, *root),
                    Link::After(reason) => *reason,
                    Link::Body | Link::Epilogue => {
                        if alone.merge(graph, &[*producer, *root]) {
                            alone = Clustering::alone(graph);
                            Reason::Solver
                        } else {
                            Reason::NoCommonKernel
                        }
                    }
                };
                let between = match reason {
                    Reason::NoCommonKernel => between(graph, clustering, *producer, *root),
                    _ => None,
                };
                for array in &nodes[*producer].statement.results {
                    let used = graph.reads[*root].contains(array)
                        || graph.parts[*root].iter().any(|part| {
                            nodes[*part].others.contains(array)
                                || nodes[*part].accesses.contains_key(array)
                        });
                    if used && graph.region.rank(*array) > 0 {
                        self.unfused.push(Unfused {
                            array: *array,
                            producer: self.span(*array, nodes[*producer].statement.span),
                            reader: Some(nodes[*root].statement.span),
                            reason,
                            between,
                            control: control(&nodes[*producer], &nodes[*root]),
                            sorted: nodes[*producer].settled,
                        });
                    }
                }
            }
            for array in &graph.stored[*root] {
                let is_result = graph.after[*root].is_empty();
                if nodes[*root].kind.is_kernel() && is_result && graph.region.rank(*array) > 0 {
                    self.unfused.push(Unfused {
                        array: *array,
                        producer: self.span(*array, nodes[*root].statement.span),
                        reader: None,
                        reason: Reason::Result,
                        between: None,
                        control: None,
                        sorted: false,
                    });
                }
            }
        }
    }

    fn span(&self, array: Var, otherwise: Span) -> Span {
        self.context.spans.get(&array).copied().unwrap_or(otherwise)
    }
}

/// What stands between a producer and a reader one of which is no kernel.
fn control(producer: &region::Node<'_>, reader: &region::Node<'_>) -> Option<Control> {
    let of = |node: &region::Node<'_>| match node.statement.operation {
        Operation::If { .. } => Some(Control::If),
        Operation::While { .. } => Some(Control::Loop),
        _ if !node.kind.is_kernel() => Some(Control::Host),
        _ => None,
    };
    of(producer).or_else(|| of(reader))
}

/// What keeps a reader out of its producer's kernel: an expression on another way from the producer
/// to the reader, or to what shares the reader's kernel.
fn between(graph: &Graph, clustering: &Clustering, producer: usize, reader: usize) -> Option<Span> {
    let span = |node: usize| graph.region.nodes[node].statement.span;
    let kernel = &clustering.members[&clustering.of(reader)];
    let needs_all =
        |node: &usize| matches!(graph.before[*node].get(&producer), Some(Link::After(_)));
    if let Some(other) = kernel.iter().find(|member| **member != reader && needs_all(member)) {
        return Some(span(*other));
    }
    // The last statement of another kernel on a way to the reader.
    let mut seen = BTreeSet::from([reader]);
    let mut open = kernel.clone();
    while let Some(node) = open.pop() {
        for before in graph.before[node].keys() {
            if *before == producer || !seen.insert(*before) {
                continue;
            }
            if is_after(graph, producer, *before) {
                return Some(span(*before));
            }
            open.push(*before);
        }
    }
    None
}

/// Whether a statement depends on another, directly or not.
fn is_after(graph: &Graph, first: usize, second: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![second];
    while let Some(node) = open.pop() {
        for before in graph.before[node].keys() {
            if *before == first {
                return true;
            }
            // Statements stand in order.
            if *before > first && seen.insert(*before) {
                open.push(*before);
            }
        }
    }
    false
}

/// What the program yields, with the layouts of the arrays.
fn outputs(program: &Program) -> BTreeSet<Var> {
    let mut outputs = BTreeSet::new();
    for leaf in &program.outputs {
        outputs.insert(leaf.data);
        uses::space_uses(&leaf.axes, &mut |var| {
            outputs.insert(var);
        });
    }
    outputs
}

/// The expression of every variable, and the arrays that data-parallel statements compute.
fn collect(block: &Block, types: &[Type], spans: &mut BTreeMap<Var, Span>, arrays: &mut Vec<Var>) {
    for statement in &block.statements {
        for result in &statement.results {
            spans.insert(*result, statement.span);
            if uses::parts(&statement.operation).is_some() && cost::rank(types, *result) > 0 {
                arrays.push(*result);
            }
        }
        for inner in uses::blocks(&statement.operation) {
            collect(inner, types, spans, arrays);
        }
    }
}

/// What a program costs whose statements all run alone.
fn unfused(block: &Block, types: &[Type], outputs: &BTreeSet<Var>) -> Objective {
    let views = region::views(block, types);
    let shown = Shown { views: &views, interleaved: &Interleaved::new() };
    let region = Region::new(block, types, shown, outputs, None);
    let graph = Graph::new(&region);
    let mut total = objective(&graph, &Clustering::alone(&graph));
    for statement in &block.statements {
        for inner in uses::blocks(&statement.operation) {
            total = total + unfused(inner, types, outputs);
        }
    }
    total
}
