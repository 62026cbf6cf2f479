//! Clusters: which statements share a kernel. What a kernel can hold, the greedy plan, and what a
//! plan costs.
//!
//! Source: Megiddo and Sarkar, "Optimal weighted loop fusion for parallel programs" (SPAA 1997).

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Space, Var};

use super::graph::{Graph, Link};
use super::region::Kind;
use super::report::Objective;

/// The most statements that share a kernel without sharing data.
const MOST_STRANGERS: usize = 8;
/// The most statements that share a kernel because they read the same arrays.
const MOST_READERS: usize = 24;
/// The most statements that share a kernel but for maps that follow one another: to see whether one
/// more fits takes a look at all of them.
const MOST_MEMBERS: usize = 1_000;
/// How many edges a search for a path looks at before it gives up.
const LONGEST_SEARCH: usize = 50_000;

/// A partition of a region's statements.
#[derive(Clone, Debug)]
pub(super) struct Clustering {
    /// By statement: its cluster, named by one of its members.
    of: Vec<usize>,
    /// The members of each cluster in order.
    pub members: BTreeMap<usize, Vec<usize>>,
    /// The clusters that hold nothing but maps over one space.
    plain: BTreeSet<usize>,
}

/// How the statements of a cluster become one kernel.
#[derive(Clone, Debug)]
pub(super) struct Arrangement {
    /// A statement whose space is the kernel's.
    pub main: usize,
    /// The members that stand in the epilogue.
    pub epilogue: BTreeSet<usize>,
}

impl Clustering {
    /// Every statement alone.
    pub(super) fn alone(graph: &Graph) -> Clustering {
        let members = graph.roots.iter().map(|root| (*root, vec![*root])).collect();
        let nodes = &graph.region.nodes;
        let is_plain = |root: &usize| nodes[*root].kind == Kind::Map && !nodes[*root].settled;
        let plain = graph.roots.iter().copied().filter(is_plain);
        Clustering { of: (0..graph.before.len()).collect(), members, plain: plain.collect() }
    }

    /// Adds a map to a cluster of maps over the same space: what [`Clustering::merge`] would do, but
    /// in constant time, if all that the map depends on is in the cluster or depends on nothing. No
    /// statement after the map may be in a cluster with others yet.
    fn append(&mut self, graph: &Graph, cluster: usize, map: usize) -> bool {
        let nodes = &graph.region.nodes;
        let fits = self.plain.contains(&cluster)
            && self.plain.contains(&map)
            && self.members.get(&map).is_some_and(|members| members.len() == 1)
            && nodes[cluster].space == nodes[map].space
            && graph.before[map].iter().all(|(producer, link)| {
                if self.of[*producer] == cluster {
                    *link == Link::Body
                } else {
                    graph.before[*producer].is_empty()
                }
            });
        if fits && let Some(members) = self.members.get_mut(&cluster) {
            members.push(map);
            self.members.remove(&map);
            self.of[map] = cluster;
        }
        fits
    }

    /// The cluster of a statement.
    pub(super) fn of(&self, statement: usize) -> usize {
        self.of[statement]
    }

    /// Merges the clusters of these statements, if one kernel can hold them and nothing else would
    /// have to come both before and after it.
    pub(super) fn merge(&mut self, graph: &Graph, statements: &[usize]) -> bool {
        let clusters: BTreeSet<usize> =
            statements.iter().map(|statement| self.of[*statement]).collect();
        if clusters.len() < 2 {
            return !clusters.is_empty();
        }
        let mut union: Vec<usize> =
            clusters.iter().flat_map(|cluster| self.members[cluster].iter().copied()).collect();
        union.sort_unstable();
        if union.len() > MOST_MEMBERS
            || arrange(graph, &union).is_none()
            || self.leaves_and_returns(graph, &clusters)
        {
            return false;
        }
        let name = union[0];
        for cluster in clusters {
            self.members.remove(&cluster);
            self.plain.remove(&cluster);
        }
        for member in &union {
            self.of[*member] = name;
        }
        self.members.insert(name, union);
        true
    }

    /// Whether a path leads out of the clusters and back in.
    fn leaves_and_returns(&self, graph: &Graph, clusters: &BTreeSet<usize>) -> bool {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = clusters.iter().copied().collect();
        let mut steps = 0;
        while let Some(cluster) = open.pop() {
            for member in &self.members[&cluster] {
                for next in &graph.after[*member] {
                    steps += 1;
                    let next = self.of[*next];
                    if clusters.contains(&next) {
                        if !clusters.contains(&cluster) {
                            return true;
                        }
                    } else if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
            if steps > LONGEST_SEARCH {
                return true;
            }
        }
        false
    }
}

/// How one kernel holds the statements (in order), if one can.
pub(super) fn arrange(graph: &Graph, members: &[usize]) -> Option<Arrangement> {
    let nodes = &graph.region.nodes;
    if let [alone] = members {
        return Some(Arrangement { main: *alone, epilogue: BTreeSet::new() });
    }
    if members.iter().any(|member| !nodes[*member].kind.is_kernel() || nodes[*member].settled) {
        return None;
    }
    let exclusive = members.iter().filter(|member| nodes[**member].kind.is_exclusive()).count();
    let sinks: Vec<usize> =
        members.iter().copied().filter(|member| nodes[*member].kind != Kind::Map).collect();
    if exclusive > 1 || (exclusive == 1 && sinks.len() > 1) {
        return None;
    }
    // Beside what is interleaved stand only maps.
    let is_interleaved = |member: &&usize| nodes[**member].kind == Kind::Interleave;
    let interleaved = sinks.iter().filter(is_interleaved).count();
    if interleaved > 0 && interleaved < sinks.len() {
        return None;
    }
    let main = sinks.first().copied().unwrap_or(members[0]);
    let space: &Space = nodes[main].space;
    let inside: BTreeSet<usize> = members.iter().copied().collect();
    let mut epilogue = BTreeSet::new();
    let mut after: Option<(Kind, Space)> = None;
    for member in members {
        let node = &nodes[*member];
        let links = graph.before[*member].iter().filter(|(producer, _)| inside.contains(producer));
        let links: Vec<(usize, Link)> = links.map(|(producer, link)| (*producer, *link)).collect();
        if node.kind != Kind::Map {
            let fits = links
                .iter()
                .all(|(producer, link)| *link == Link::Body && !epilogue.contains(producer));
            if node.space != space || !fits {
                return None;
            }
            continue;
        }
        let mut follows = node.space != space;
        for (producer, link) in &links {
            match link {
                Link::Epilogue => {
                    let kind = nodes[*producer].kind;
                    if after.as_ref().is_some_and(|(other, _)| *other != kind) {
                        return None;
                    }
                    after = Some((kind, node.space.clone()));
                    follows = true;
                }
                Link::Body => follows |= epilogue.contains(producer),
                Link::After(_) => return None,
            }
        }
        if follows {
            epilogue.insert(*member);
        }
    }
    // A map over other points that nothing leads to may still follow a reduction.
    if !epilogue.is_empty() {
        let space = match after {
            Some((_, space)) => space,
            None => {
                let reduction =
                    sinks.iter().find(|sink| nodes[**sink].kind == Kind::Reduce).copied()?;
                graph.epilogue_space(reduction)?
            }
        };
        for member in &epilogue {
            let from_body = graph.before[*member].iter().any(|(producer, link)| {
                *link == Link::Body && inside.contains(producer) && !epilogue.contains(producer)
            });
            if from_body || *nodes[*member].space != space || nodes[*member].barrier {
                return None;
            }
        }
    }
    Some(Arrangement { main, epilogue })
}

/// The plan that merges what it can, edge by edge in the order of the program; then readers of one
/// array; then what runs over the same points.
pub(super) fn greedy(graph: &Graph) -> Clustering {
    let mut clustering = Clustering::alone(graph);
    for root in &graph.roots {
        for (producer, link) in graph.before[*root].iter().rev() {
            match link {
                Link::Body | Link::Epilogue => {
                    let cluster = clustering.of(*producer);
                    if !clustering.append(graph, cluster, *root) {
                        clustering.merge(graph, &[*producer, *root]);
                    }
                }
                Link::After(_) => {}
            }
        }
    }
    merge_readers(graph, &mut clustering);
    clustering
}

/// Merges kernels that read one array, then those that run over the same points.
pub(super) fn merge_readers(graph: &Graph, clustering: &mut Clustering) {
    let mut readers: BTreeMap<Var, Vec<usize>> = BTreeMap::new();
    let kernels: Vec<usize> = graph
        .roots
        .iter()
        .copied()
        .filter(|root| graph.region.nodes[*root].kind.is_kernel())
        .collect();
    for root in &kernels {
        for array in &graph.reads[*root] {
            readers.entry(*array).or_default().push(*root);
        }
    }
    for readers in readers.values() {
        for pair in readers.windows(2) {
            let clusters = (clustering.of(pair[0]), clustering.of(pair[1]));
            let size = |cluster| clustering.members[&cluster].len();
            if clusters.0 != clusters.1 && size(clusters.0) + size(clusters.1) <= MOST_READERS {
                clustering.merge(graph, pair);
            }
        }
    }
    // The last cluster over each space that has room.
    let mut open: Vec<(&Space, usize)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for root in kernels {
        let node = &graph.region.nodes[root];
        if node.kind.is_exclusive() || node.settled || clustering.of(root) != root {
            continue;
        }
        match places.get(&format!("{:?}", node.space)) {
            None => {
                places.insert(format!("{:?}", node.space), open.len());
                open.push((node.space, root));
            }
            Some(place) => {
                let other = open[*place].1;
                let size = clustering.members[&clustering.of(other)].len()
                    + clustering.members[&clustering.of(root)].len();
                if size > MOST_STRANGERS || !clustering.merge(graph, &[other, root]) {
                    open[*place].1 = root;
                }
            }
        }
    }
}

/// What a plan costs.
pub(super) fn objective(graph: &Graph, clustering: &Clustering) -> Objective {
    let mut total = Objective::default();
    for members in clustering.members.values() {
        let nodes = &graph.region.nodes;
        if !nodes[members[0]].kind.is_kernel() {
            continue;
        }
        total.kernels += 1;
        let mut reads = BTreeSet::new();
        for member in members {
            reads.extend(graph.reads[*member].iter().copied());
        }
        for member in members {
            for result in &nodes[*member].statement.results {
                reads.remove(result);
                if graph.region.rank(*result) > 0 && is_stored(graph, clustering, *member, *result)
                {
                    total.arrays += 1;
                }
            }
        }
        total.reads += reads.len();
    }
    total
}

/// Whether a result of a statement is needed outside of its kernel.
pub(super) fn is_stored(
    graph: &Graph,
    clustering: &Clustering,
    statement: usize,
    result: Var,
) -> bool {
    let kind = graph.region.nodes[statement].kind;
    matches!(kind, Kind::Sort | Kind::Scatter | Kind::Scan { full: true })
        || graph.stored[statement].contains(&result)
        || graph.after[statement].iter().any(|reader| {
            clustering.of(*reader) != clustering.of(statement)
                && (graph.reads[*reader].contains(&result)
                    || graph.region.nodes[*reader].kind == Kind::View
                        && graph.region.nodes[*reader].accesses.contains_key(&result)
                    || graph.region.rank(result) == 0)
        })
}
