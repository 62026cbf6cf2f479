//! Kernels that run over the same points and do not depend on each other, and why each is one of its own.

use std::collections::BTreeSet;

use weft_ir::flat::Var;

use super::cluster::Clustering;
use super::graph::Graph;

/// With more kernels a region is not looked at.
const MOST_KERNELS: usize = 64;

/// Two kernels that could be one, as far as what they read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Something that the first writes.
    pub first: Var,
    /// Something that the second writes.
    pub second: Var,
    /// An array that both read.
    pub reads: Var,
    /// Why they are two.
    pub reason: ApartReason,
}

/// Why two kernels that read one array at the same points are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApartReason {
    /// A filter, a scatter or a sort has a kernel to itself.
    Exclusive,
    /// What else they do has no place in one kernel.
    Differ,
}

impl ApartReason {
    /// One sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            ApartReason::Exclusive => {
                "a filter, a scatter or a sort shares its kernel only with maps before it, and a filter with maps of \
                 what it keeps"
            }
            ApartReason::Differ => {
                "what else they do does not go together: something between them has to be complete, or there would be \
                 too much in one kernel"
            }
        }
    }
}

/// The pairs of kernels of a region that read one array at the same points and do not need each other, each with the one
/// before it.
pub(super) fn apart(graph: &Graph, clustering: &Clustering) -> Vec<Apart> {
    let nodes = &graph.region.nodes;
    let kernels: Vec<&Vec<usize>> = clustering
        .members
        .values()
        .filter(|members| nodes[members[0]].kind.is_kernel())
        .filter(|members| members.iter().all(|member| !nodes[*member].settled))
        .collect();
    let mut found = Vec::new();
    if kernels.len() > MOST_KERNELS {
        return found;
    }
    for (place, second) in kernels.iter().enumerate() {
        let before = kernels[..place].iter().rev();
        found.extend(before.filter_map(|first| pair(graph, clustering, first, second)).next());
    }
    found
}

fn pair(
    graph: &Graph,
    clustering: &Clustering,
    first: &[usize],
    second: &[usize],
) -> Option<Apart> {
    let nodes = &graph.region.nodes;
    let reads = |members: &[usize]| -> BTreeSet<Var> {
        members.iter().flat_map(|member| graph.reads[*member].iter().copied()).collect()
    };
    let made = |members: &[usize]| nodes[*members.first()?].statement.results.first().copied();
    let common = *reads(first).intersection(&reads(second)).next()?;
    let apart = nodes[first[0]].space == nodes[second[0]].space
        && !nodes[first[0]].space.is_empty()
        && !leads_to(graph, clustering, first, second)
        && !leads_to(graph, clustering, second, first);
    if !apart {
        return None;
    }
    let is_exclusive =
        |members: &[usize]| members.iter().any(|member| nodes[*member].kind.is_exclusive());
    let reason = match is_exclusive(first) || is_exclusive(second) {
        true => ApartReason::Exclusive,
        false => ApartReason::Differ,
    };
    Some(Apart { first: made(first)?, second: made(second)?, reads: common, reason })
}

/// Whether a kernel needs another to be complete, be it through others.
fn leads_to(graph: &Graph, clustering: &Clustering, from: &[usize], to: &[usize]) -> bool {
    let goal = clustering.of(to[0]);
    let (mut seen, mut open) = (BTreeSet::new(), vec![clustering.of(from[0])]);
    while let Some(cluster) = open.pop() {
        if cluster == goal {
            return true;
        }
        if seen.insert(cluster) {
            let members = &clustering.members[&cluster];
            let next = members.iter().flat_map(|member| &graph.after[*member]);
            open.extend(next.map(|next| clustering.of(*next)));
        }
    }
    false
}
