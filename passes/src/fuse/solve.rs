//! The best plan by integer linear programming.
//!
//! One program per connected part of the region. A variable per edge says whether it is cut (0: both
//! ends share a kernel); order variables keep the kernels acyclic; label variables say over which
//! points a kernel runs and which filter, scatter or sort it holds. The objective counts arrays first,
//! then reads, then kernels, by weights.
//!
//! Sources: Robinson, Lippmeier and Chakravarty, "Fusing filters with integer linear programming"
//! (FHPC 2014); Megiddo and Sarkar, "Optimal weighted loop fusion for parallel programs" (SPAA 1997).

use std::collections::{BTreeMap, BTreeSet};

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOptions, Variable};
use weft_ir::flat::Var;

use super::cluster::{Clustering, merge_readers};
use super::graph::{Graph, Link};
use super::region::Kind;

/// How many earlier readers of an array a reader is compared with.
const MOST_PAIRS: usize = 6;

/// A better plan than the greedy one, if the solver finds any within its budget: parts of more than
/// `max_nodes` statements keep the greedy plan, and each search visits at most `max_branches` nodes.
pub(super) fn solve(
    graph: &Graph,
    greedy: &Clustering,
    max_nodes: usize,
    max_branches: u64,
) -> Clustering {
    let mut clustering = Clustering::alone(graph);
    for part in connected(graph) {
        let clusters: BTreeSet<usize> = part.iter().map(|node| greedy.of(*node)).collect();
        let solved = if clusters.len() < 2 || part.len() > max_nodes {
            None
        } else {
            Model::new(graph, &part).solve(greedy, max_branches)
        };
        let groups = solved.unwrap_or_else(|| {
            let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for node in &part {
                groups.entry(greedy.of(*node)).or_default().push(*node);
            }
            groups.into_values().collect()
        });
        for group in groups {
            if group.len() > 1 {
                clustering.merge(graph, &group);
            }
        }
    }
    merge_readers(graph, &mut clustering);
    clustering
}

/// The kernels of the region in parts that neither an edge that may fuse nor a common array joins.
fn connected(graph: &Graph) -> Vec<Vec<usize>> {
    let mut neighbours: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut join = |left: usize, right: usize| {
        neighbours.entry(left).or_default().push(right);
        neighbours.entry(right).or_default().push(left);
    };
    let mut readers: BTreeMap<Var, usize> = BTreeMap::new();
    let kernels: Vec<usize> = graph
        .roots
        .iter()
        .copied()
        .filter(|root| graph.region.nodes[*root].kind.is_kernel())
        .collect();
    for root in &kernels {
        for (producer, link) in &graph.before[*root] {
            if matches!(link, Link::Body | Link::Epilogue) {
                join(*producer, *root);
            }
        }
        for array in &graph.reads[*root] {
            if let Some(other) = readers.insert(*array, *root) {
                join(other, *root);
            }
        }
    }
    let mut seen = BTreeSet::new();
    let mut parts = Vec::new();
    for root in kernels {
        let (mut part, mut open) = (Vec::new(), vec![root]);
        while let Some(node) = open.pop() {
            if seen.insert(node) {
                part.push(node);
                open.extend(neighbours.get(&node).into_iter().flatten());
            }
        }
        if !part.is_empty() {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}

/// The integer linear program of a part.
struct Model<'a, 'r, 'p> {
    graph: &'a Graph<'r, 'p>,
    part: &'a [usize],
    problem: Problem,
    /// By pair of statements, the earlier first: 1 if they do not share a kernel.
    cut: BTreeMap<(usize, usize), Variable>,
    /// By statement: the place of its kernel in the order.
    order: BTreeMap<usize, Variable>,
    /// By statement that may stand in an epilogue: 1 if it does.
    follows: BTreeMap<usize, Variable>,
}

impl<'a, 'r, 'p> Model<'a, 'r, 'p> {
    fn new(graph: &'a Graph<'r, 'p>, part: &'a [usize]) -> Model<'a, 'r, 'p> {
        let mut model = Model {
            graph,
            part,
            problem: Problem::new(OptimizationDirection::Minimize),
            cut: BTreeMap::new(),
            order: BTreeMap::new(),
            follows: BTreeMap::new(),
        };
        let later = model.later();
        model.edges(&later);
        model.orders(&later);
        model.labels();
        model.costs();
        model
    }

    /// The pairs that cannot share a kernel, the earlier first.
    fn later(&self) -> BTreeSet<(usize, usize)> {
        let inside: BTreeSet<usize> = self.part.iter().copied().collect();
        let mut later = BTreeSet::new();
        for node in self.part {
            let mut seen = BTreeSet::new();
            let mut open = vec![*node];
            while let Some(current) = open.pop() {
                for next in &self.graph.after[current] {
                    let fusible = current == *node
                        && matches!(
                            self.graph.before[*next].get(node),
                            Some(Link::Body | Link::Epilogue)
                        );
                    if inside.contains(next) {
                        if !fusible {
                            later.insert((*node, *next));
                        }
                    } else if seen.insert(*next) {
                        open.push(*next);
                    }
                }
            }
        }
        later
    }

    /// A variable per edge that may fuse, and per two readers of an array that may share a kernel.
    fn edges(&mut self, later: &BTreeSet<(usize, usize)>) {
        let graph = self.graph;
        let mut pairs = BTreeSet::new();
        let mut readers: BTreeMap<Var, Vec<usize>> = BTreeMap::new();
        for node in self.part {
            for (producer, link) in &graph.before[*node] {
                if matches!(link, Link::Body | Link::Epilogue) {
                    pairs.insert((*producer, *node));
                }
            }
            for array in &graph.reads[*node] {
                readers.entry(*array).or_default().push(*node);
            }
        }
        for readers in readers.values() {
            for (place, reader) in readers.iter().enumerate() {
                for other in &readers[place.saturating_sub(MOST_PAIRS)..place] {
                    if self.fit(*other, *reader) {
                        pairs.insert((*other, *reader));
                    }
                }
            }
        }
        for pair in pairs {
            if !later.contains(&pair) {
                let cut = self.problem.add_binary_var(0.0);
                self.cut.insert(pair, cut);
            }
        }
    }

    /// Whether two statements could run over the same points or one after the other.
    fn fit(&self, left: usize, right: usize) -> bool {
        let nodes = &self.graph.region.nodes;
        if nodes[left].settled || nodes[right].settled {
            return false;
        }
        let follows = |first: usize, second: usize| {
            nodes[second].kind == Kind::Map
                && self.graph.epilogue_space(first).as_ref() == Some(nodes[second].space)
        };
        let is_interleaved = |node: usize| nodes[node].kind == Kind::Interleave;
        let stores = |node: usize| matches!(nodes[node].kind, Kind::Map | Kind::Interleave);
        if (is_interleaved(left) || is_interleaved(right)) && !(stores(left) && stores(right)) {
            return false;
        }
        nodes[left].space == nodes[right].space || follows(left, right) || follows(right, left)
    }

    fn orders(&mut self, later: &BTreeSet<(usize, usize)>) {
        let most = self.part.len() as f64;
        for node in self.part {
            let order = self.problem.add_var(0.0, (0.0, most));
            self.order.insert(*node, order);
        }
        for (first, second) in later {
            self.at_least(&[(self.order[second], 1.0), (self.order[first], -1.0)], 1.0);
        }
        for ((first, second), cut) in self.cut.clone() {
            let (first, second) = (first, second);
            let difference = [(self.order[&second], 1.0), (self.order[&first], -1.0)];
            if self.graph.before[second].contains_key(&first) {
                // cut <= later - earlier <= most * cut
                self.at_least(&[difference[0], difference[1], (cut, -1.0)], 0.0);
            } else {
                self.at_least(&[difference[0], difference[1], (cut, most)], 0.0);
            }
            self.at_most(&[difference[0], difference[1], (cut, -most)], 0.0);
        }
    }

    /// What shares a kernel agrees about its points, its position and its exclusive operation.
    fn labels(&mut self) {
        let graph = self.graph;
        let nodes = &graph.region.nodes;
        let mut spaces: BTreeMap<String, f64> = BTreeMap::new();
        for node in self.part {
            let next = spaces.len() as f64;
            spaces.entry(format!("{:?}", nodes[*node].space)).or_insert(next);
        }
        let most = spaces.len() as f64;
        // 0: a reduction's epilogue, 1: a scan's, above: an exclusive operation.
        let classes = self.part.len() as f64 + 2.0;
        let mut label: BTreeMap<usize, (Variable, Variable)> = BTreeMap::new();
        for (place, node) in self.part.iter().enumerate() {
            let kind = nodes[*node].kind;
            let id = spaces[&format!("{:?}", nodes[*node].space)];
            let may_follow = kind == Kind::Map
                && self
                    .part
                    .iter()
                    .any(|other| graph.epilogue_space(*other).as_ref() == Some(nodes[*node].space));
            let points = if may_follow {
                let follows = self.problem.add_binary_var(0.0);
                self.follows.insert(*node, follows);
                let points = self.problem.add_var(0.0, (0.0, most));
                // |points - id| <= most * follows
                self.at_most(&[(points, 1.0), (follows, -most)], id);
                self.at_least(&[(points, 1.0), (follows, most)], id);
                points
            } else {
                self.problem.add_var(0.0, (id, id))
            };
            let range = match kind {
                Kind::Filter | Kind::Scatter | Kind::Sort => {
                    let own = place as f64 + 2.0;
                    (own, own)
                }
                Kind::Reduce | Kind::Scan { .. } => (0.0, 1.0),
                _ => (0.0, classes),
            };
            let class = self.problem.add_var(0.0, range);
            label.insert(*node, (points, class));
        }
        for ((first, second), cut) in self.cut.clone() {
            let ((points, class), (other_points, other_class)) = (label[&first], label[&second]);
            self.equal_unless(points, other_points, cut, most);
            self.equal_unless(class, other_class, cut, classes);
            let position = |node: &usize| self.follows.get(node).copied();
            let (before, after) = (position(&first), position(&second));
            if graph.before[second].get(&first) == Some(&Link::Epilogue) {
                if let Some(after) = after {
                    self.at_least(&[(after, 1.0), (cut, 1.0)], 1.0);
                }
                match nodes[first].kind {
                    Kind::Reduce => self.at_most(&[(class, 1.0), (cut, -1.0)], 0.0),
                    Kind::Scan { .. } => self.at_least(&[(class, 1.0), (cut, 1.0)], 1.0),
                    _ => {}
                }
                continue;
            }
            let is_edge = graph.before[second].contains_key(&first);
            match (before, after) {
                (Some(before), Some(after)) => self.equal_unless(before, after, cut, 1.0),
                // A reader that is no map stands in the body, and so does what it reads.
                (Some(before), None) if is_edge => {
                    self.at_most(&[(before, 1.0), (cut, -1.0)], 0.0);
                }
                (None, Some(after)) if is_edge => {
                    self.at_most(&[(after, 1.0), (cut, -1.0)], 0.0);
                }
                (Some(_) | None, Some(_) | None) => {}
            }
        }
    }

    fn costs(&mut self) {
        let graph = self.graph;
        let inside: BTreeSet<usize> = self.part.iter().copied().collect();
        let mut readers: BTreeMap<Var, Vec<usize>> = BTreeMap::new();
        for node in self.part {
            for array in &graph.reads[*node] {
                readers.entry(*array).or_default().push(*node);
            }
        }
        let read_weight = self.part.len() as f64 + 1.0;
        let most_reads = readers.values().map(Vec::len).sum::<usize>() as f64;
        let array_weight = read_weight * (most_reads + 1.0);
        for (array, readers) in &readers {
            let producer = graph.region.producers.get(array).copied();
            let producer = producer.filter(|producer| inside.contains(producer));
            for (place, reader) in readers.iter().enumerate() {
                // It reads the array unless it shares its producer's or an earlier reader's kernel.
                let mut spared: Vec<Variable> = Vec::new();
                let own = producer.and_then(|producer| self.cut.get(&(producer, *reader)));
                spared.extend(own);
                for other in &readers[place.saturating_sub(MOST_PAIRS)..place] {
                    spared.extend(self.cut.get(&(*other, *reader)));
                }
                self.spared(&spared, read_weight);
            }
            let Some(producer) = producer else { continue };
            if graph.stored[producer].contains(array) {
                continue;
            }
            let cuts: Vec<Option<Variable>> = graph.after[producer]
                .iter()
                .filter(|reader| graph.reads[**reader].contains(array))
                .map(|reader| self.cut.get(&(producer, *reader)).copied())
                .collect();
            if cuts.iter().all(Option::is_some) {
                let stored = self.problem.add_var(array_weight, (0.0, 1.0));
                for cut in cuts.into_iter().flatten() {
                    self.at_least(&[(stored, 1.0), (cut, -1.0)], 0.0);
                }
            }
        }
        for node in self.part {
            let joined: Vec<Variable> = self
                .cut
                .iter()
                .filter(|((_, second), _)| second == node)
                .map(|(_, cut)| *cut)
                .collect();
            self.spared(&joined, 1.0);
        }
    }

    /// A cost of `weight` unless one of the cuts is 0.
    fn spared(&mut self, cuts: &[Variable], weight: f64) {
        if cuts.is_empty() {
            return;
        }
        // paid >= 1 - sum (1 - cut)
        let paid = self.problem.add_var(weight, (0.0, 1.0));
        let mut terms = vec![(paid, 1.0)];
        terms.extend(cuts.iter().map(|cut| (*cut, -1.0)));
        self.at_least(&terms, 1.0 - cuts.len() as f64);
    }

    fn equal_unless(&mut self, left: Variable, right: Variable, cut: Variable, most: f64) {
        self.at_most(&[(left, 1.0), (right, -1.0), (cut, -most)], 0.0);
        self.at_most(&[(right, 1.0), (left, -1.0), (cut, -most)], 0.0);
    }

    fn at_least(&mut self, terms: &[(Variable, f64)], bound: f64) {
        self.problem.add_constraint(expression(terms), ComparisonOp::Ge, bound);
    }

    fn at_most(&mut self, terms: &[(Variable, f64)], bound: f64) {
        self.problem.add_constraint(expression(terms), ComparisonOp::Le, bound);
    }

    /// The statements that share kernels in the best plan that was found.
    fn solve(self, greedy: &Clustering, max_branches: u64) -> Option<Vec<Vec<usize>>> {
        let hint = self
            .cut
            .iter()
            .map(|((first, second), cut)| {
                let together = greedy.of(*first) == greedy.of(*second);
                (*cut, if together { 0.0 } else { 1.0 })
            })
            .collect();
        let mut options = SolveOptions::default();
        options.node_limit = Some(max_branches);
        options.warm_start = Some(hint);
        let outcome = self.problem.solve_with(options).ok()?;
        let solution = outcome.solution()?;
        let mut groups: BTreeMap<usize, Vec<usize>> =
            self.part.iter().map(|node| (*node, vec![*node])).collect();
        let mut of: BTreeMap<usize, usize> = self.part.iter().map(|node| (*node, *node)).collect();
        for ((first, second), cut) in &self.cut {
            let (left, right) = (of[first], of[second]);
            if solution.var_value(*cut) < 0.5 && left != right {
                let moved = groups.remove(&right).unwrap_or_default();
                for node in &moved {
                    of.insert(*node, left);
                }
                groups.entry(left).or_default().extend(moved);
            }
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        Some(groups)
    }
}

fn expression(terms: &[(Variable, f64)]) -> LinearExpr {
    let mut expression = LinearExpr::empty();
    for (variable, factor) in terms {
        expression.add(*variable, *factor);
    }
    expression
}
