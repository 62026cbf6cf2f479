//! Which statements of a region could share a kernel: the graph that is clustered.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Dimension, Size, Space, Var};

use super::access::Index;
use super::region::{Kind, Region, same_storage};
use super::report::Reason;

/// How a statement that is no part of another depends on an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// It reads the map's elements at its own points: both may stand in one body (or epilogue).
    Body,
    /// It may be the epilogue of the reduction, scan or filter.
    Epilogue,
    /// It comes later, in another kernel.
    After(Reason),
}

/// The statements that are no part of another, by their place in the region, and their links.
pub(super) struct Graph<'r, 'p> {
    pub region: &'r Region<'p>,
    /// The statements that are vertices, in order.
    pub roots: Vec<usize>,
    /// By statement: what it depends on.
    pub before: Vec<BTreeMap<usize, Link>>,
    /// By statement: what depends on it.
    pub after: Vec<BTreeSet<usize>>,
    /// By statement: the arrays of rank above 0 that it and its parts read.
    pub reads: Vec<BTreeSet<Var>>,
    /// By statement: its results that are needed in memory whatever is fused.
    pub stored: Vec<Vec<Var>>,
    /// By statement: the members of its group, itself last.
    pub parts: Vec<Vec<usize>>,
}

impl<'r, 'p> Graph<'r, 'p> {
    /// The graph of a region.
    pub(super) fn new(region: &'r Region<'p>) -> Graph<'r, 'p> {
        let count = region.nodes.len();
        let mut graph = Graph {
            region,
            roots: Vec::new(),
            before: vec![BTreeMap::new(); count],
            after: vec![BTreeSet::new(); count],
            reads: vec![BTreeSet::new(); count],
            stored: vec![Vec::new(); count],
            parts: vec![Vec::new(); count],
        };
        let mut roots = vec![0; count];
        for index in (0..count).rev() {
            roots[index] = region.parent[index].map_or(index, |parent| roots[parent]);
        }
        for (index, root) in roots.iter().enumerate() {
            graph.parts[*root].push(index);
            if *root == index {
                graph.roots.push(index);
            }
            let results = &region.nodes[index].statement.results;
            let needed = results.iter().filter(|result| region.needed.contains(result));
            graph.stored[index] = needed.copied().collect();
        }
        // Whether a part is computed at the points of its root.
        let mut at_points = vec![true; count];
        for index in (0..count).rev() {
            if let Some(parent) = region.parent[index] {
                let results = &region.nodes[index].statement.results;
                let pointwise = results.iter().all(|result| {
                    region.nodes[parent]
                        .accesses
                        .get(result)
                        .is_none_or(|access| access.index == Index::Pointwise)
                        && !region.nodes[parent].start.contains_key(result)
                });
                at_points[index] = at_points[parent] && pointwise;
            }
            graph.links(index, roots[index], at_points[index]);
        }
        graph.barriers();
        for root in graph.roots.clone() {
            for producer in graph.before[root].keys() {
                graph.after[*producer].insert(root);
            }
        }
        graph
    }

    /// Adds the links of a statement as a part of a root.
    fn links(&mut self, index: usize, root: usize, at_points: bool) {
        let region = self.region;
        let node = &region.nodes[index];
        for (array, access) in &node.accesses {
            let at = if at_points { access.index } else { access.index.max(Index::Injective) };
            self.read(*array, index, root, Some(at), access.repeated);
        }
        for array in node.start.keys() {
            self.read(*array, index, root, None, false);
        }
        // The space of a part does not matter: it is computed at its root's points.
        if index == root {
            for used in &node.others {
                self.other(*used, root);
            }
        }
    }

    fn read(&mut self, array: Var, index: usize, root: usize, at: Option<Index>, repeated: bool) {
        let region = self.region;
        let is_array = region.rank(array) > 0;
        let producer = region.producers.get(&array).copied();
        if let Some(producer) = producer
            && region.parent[producer] == Some(index)
        {
            return;
        }
        if is_array && (region.nodes[index].kind != Kind::View || index != root) {
            self.reads[root].insert(array);
        }
        let Some(producer) = producer else { return };
        let link = self.link(producer, root, is_array, at, repeated);
        self.add(producer, root, link);
    }

    /// How a root may use elements of a producer that it reads at such an index.
    fn link(
        &self,
        producer: usize,
        root: usize,
        is_array: bool,
        at: Option<Index>,
        repeated: bool,
    ) -> Link {
        let (node, target) = (&self.region.nodes[producer], &self.region.nodes[root]);
        if !is_array {
            return Link::After(Reason::WholeResult);
        }
        match node.kind {
            Kind::Control => return Link::After(Reason::HostControl),
            // These are no kernels: what they yield is in memory, and no reason is ever shown.
            Kind::Constant | Kind::View | Kind::Host | Kind::Check => {
                return Link::After(Reason::View);
            }
            _ => {}
        }
        if !target.kind.is_kernel() {
            let reason = match target.kind {
                Kind::View => Reason::View,
                _ => Reason::HostControl,
            };
            return Link::After(reason);
        }
        let Some(at) = at else { return Link::After(Reason::Operator) };
        if node.settled {
            return Link::After(Reason::Boundary);
        }
        match at {
            Index::Data if node.kind == Kind::Map => return Link::After(Reason::DataIndex),
            Index::Shared if node.kind == Kind::Map && !repeated => {
                return Link::After(Reason::SharedElement);
            }
            Index::Shared if node.kind == Kind::Map => return Link::After(Reason::Repeated),
            Index::Injective if node.kind == Kind::Map => return Link::After(Reason::OtherOrder),
            // Of others no element can be computed again, wherever it is read.
            Index::Data | Index::Shared | Index::Injective | Index::Pointwise => {}
        }
        if target.settled {
            return Link::After(Reason::Boundary);
        }
        if node.kind == Kind::Map {
            if node.space == target.space {
                return Link::Body;
            }
            return Link::After(Reason::OtherSpace);
        }
        if at == Index::Pointwise && self.is_epilogue(producer, root) {
            return Link::Epilogue;
        }
        // At the points where an epilogue would run, but not as one.
        let follows = at == Index::Pointwise
            && target.kind != Kind::Map
            && self.epilogue_space(producer).as_ref() == Some(target.space);
        Link::After(match node.kind {
            Kind::Reduce => Reason::Reduction,
            Kind::Scan { .. } if follows => Reason::AfterScan,
            Kind::Scan { .. } => Reason::Scan,
            Kind::Filter if follows && target.kind == Kind::Reduce => Reason::AfterFilter,
            _ => Reason::Boundary,
        })
    }

    /// Why a view needs its array in memory: because of how those who read the view read it, if that would
    /// be reason enough for the array itself.
    pub(super) fn behind_view(&self, producer: usize, view: usize) -> Reason {
        let region = self.region;
        let results = &region.nodes[view].statement.results;
        let readers = self.after[view].iter().flat_map(|reader| &self.parts[*reader]);
        let accesses = readers.flat_map(|part| &region.nodes[*part].accesses);
        let mut reasons =
            accesses.filter(|(array, _)| results.contains(array)).map(|(_, access)| {
                match (access.index, region.nodes[producer].kind) {
                    (Index::Shared, Kind::Map) if access.repeated => Reason::Repeated,
                    (Index::Shared, Kind::Map) => Reason::SharedElement,
                    (Index::Shared, Kind::Reduce) => Reason::Reduction,
                    _ => Reason::View,
                }
            });
        let first = reasons.next().unwrap_or(Reason::View);
        if reasons.all(|reason| reason == first) { first } else { Reason::View }
    }

    /// Whether a statement is a map over the points that follow a producer's.
    fn is_epilogue(&self, producer: usize, root: usize) -> bool {
        let target = &self.region.nodes[root];
        target.kind == Kind::Map
            && !target.barrier
            && self.epilogue_space(producer).as_ref() == Some(target.space)
    }

    /// The space of the epilogue of a reduction, scan or filter.
    pub(super) fn epilogue_space(&self, index: usize) -> Option<Space> {
        let node = &self.region.nodes[index];
        let outer = &node.space[..node.space.len().saturating_sub(1)];
        match (node.kind, &node.statement.results[..]) {
            (Kind::Reduce, _) if !outer.is_empty() => Some(outer.to_vec()),
            (Kind::Scan { full: false }, _) => Some(node.space.clone()),
            (Kind::Filter, [count, ..]) if outer.is_empty() => {
                Some(vec![Dimension::Dense(Size::Var(*count))])
            }
            (Kind::Filter, [offsets, total, ..]) => {
                let mut space = outer.to_vec();
                space.push(Dimension::Ragged { offsets: *offsets, total: Size::Var(*total) });
                Some(space)
            }
            _ => None,
        }
    }

    fn other(&mut self, used: Var, root: usize) {
        let region = self.region;
        let Some(producer) = region.producers.get(&used).copied() else { return };
        if region.nodes[producer].kind == Kind::Filter && self.is_epilogue(producer, root) {
            self.add(producer, root, Link::Epilogue);
            return;
        }
        let reason = match region.nodes[root].kind {
            Kind::Control => Reason::HostControl,
            _ if region.rank(used) > 0 => Reason::Structure,
            _ => Reason::WholeResult,
        };
        self.add(producer, root, Link::After(reason));
    }

    fn add(&mut self, producer: usize, root: usize, link: Link) {
        let links = &mut self.before[root];
        match (links.get(&producer), link) {
            // Of several reasons the one that says more.
            (Some(Link::After(Reason::WholeResult)), Link::After(_)) => {
                links.insert(producer, link);
            }
            (Some(Link::After(_)), _) => {}
            (Some(Link::Body | Link::Epilogue) | None, _) => {
                links.insert(producer, link);
            }
        }
    }

    /// What stands after a check stays after it, unless it cannot rely on it.
    fn barriers(&mut self) {
        let mut last = None;
        for root in self.roots.clone() {
            let node = &self.region.nodes[root];
            if let Some(check) = last
                && (node.barrier || !self.is_safe(root))
            {
                self.add(check, root, Link::After(Reason::WholeResult));
            }
            if node.barrier {
                last = Some(root);
            }
        }
    }

    /// Whether a statement's space and all that it reads are known to be in order: it only reads
    /// elements at its own points, and of some array over just these points.
    fn is_safe(&self, root: usize) -> bool {
        let region = self.region;
        let node = &region.nodes[root];
        if matches!(node.kind, Kind::Constant) {
            return true;
        }
        let dense = node.space.iter().all(|dimension| matches!(dimension, Dimension::Dense(_)));
        let shows_extents = |array: &Var| {
            region.rank(*array) > 0
                && same_storage(node.space, &region.types[array.0 as usize].extents)
        };
        dense
            && self.parts[root].len() == 1
            && matches!(node.kind, Kind::Map | Kind::Interleave)
            && node.accesses.iter().all(|(array, access)| {
                access.index == Index::Pointwise && shows_extents(array) || region.rank(*array) == 0
            })
            && node.accesses.keys().any(shows_extents)
    }
}
