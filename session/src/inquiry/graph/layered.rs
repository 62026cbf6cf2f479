//! Where the nodes of a graph without cycles stand: in layers, each edge going down.
//!
//! Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures"
//! (IEEE Trans. SMC, 1981): layers by the longest path, bends where an edge crosses a layer, few
//! crossings by ordering each layer by the mean place of the neighbours.

/// Width and height of a node.
pub(super) type Size = (f64, f64);

/// Between nodes of a layer.
const GAP: f64 = 26.0;
/// Between layers.
const LAYER_GAP: f64 = 46.0;
/// Turns of ordering, and of moving towards the neighbours.
const TURNS: usize = 12;

/// Where everything stands. Places are the middles of nodes.
#[derive(Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) places: Vec<(f64, f64)>,
    /// The places that each edge goes through: from the lower border of one node, through bends, to
    /// the upper border of the other.
    pub(super) routes: Vec<Vec<(f64, f64)>>,
    pub(super) size: Size,
}

/// Places nodes of these sizes. Edges name nodes by position and make no cycle.
pub(super) fn lay_out(sizes: &[Size], edges: &[(usize, usize)]) -> Layout {
    let mut graph = Layers::new(sizes, edges);
    graph.order();
    graph.place();
    graph.layout(sizes.len(), edges)
}

/// Nodes and bends in layers.
struct Layers {
    /// Of nodes, then of bends.
    sizes: Vec<Size>,
    layer_of: Vec<usize>,
    /// From left to right.
    layers: Vec<Vec<usize>>,
    /// The nodes above and below, bends included.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// The bends of each edge.
    bends: Vec<Vec<usize>>,
    x: Vec<f64>,
}

impl Layers {
    fn new(sizes: &[Size], edges: &[(usize, usize)]) -> Layers {
        let mut layer_of = longest_paths(sizes.len(), edges);
        let mut sizes = sizes.to_vec();
        let mut above = vec![Vec::new(); sizes.len()];
        let mut below = vec![Vec::new(); sizes.len()];
        let mut all_bends = Vec::new();
        for &(from, to) in edges {
            let mut last = from;
            let mut bends = Vec::new();
            for layer in layer_of[from] + 1..layer_of[to] {
                let bend = sizes.len();
                sizes.push((2.0, 0.0));
                layer_of.push(layer);
                above.push(vec![last]);
                below.push(Vec::new());
                below[last].push(bend);
                bends.push(bend);
                last = bend;
            }
            below[last].push(to);
            above[to].push(last);
            all_bends.push(bends);
        }
        let count = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut layers = vec![Vec::new(); count];
        for (node, layer) in layer_of.iter().enumerate() {
            layers[*layer].push(node);
        }
        let x = vec![0.0; sizes.len()];
        Layers { sizes, layer_of, layers, above, below, bends: all_bends, x }
    }

    /// Orders each layer by the mean position of the neighbours, downwards and upwards in turn, and
    /// keeps the best order that was seen.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.layers.clone());
        for turn in 0..TURNS {
            let positions = self.positions();
            let down = turn % 2 == 0;
            let mut positions = positions;
            let order: Vec<usize> = match down {
                true => (1..self.layers.len()).collect(),
                false => (0..self.layers.len().saturating_sub(1)).rev().collect(),
            };
            for layer in order {
                let neighbours = if down { &self.above } else { &self.below };
                let mean = |node: usize| mean(&neighbours[node], |near| positions[near] as f64);
                let mut keyed: Vec<(f64, usize)> = self.layers[layer]
                    .iter()
                    .map(|node| (mean(*node).unwrap_or(positions[*node] as f64), *node))
                    .collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                for (position, (_, node)) in keyed.iter().enumerate() {
                    positions[*node] = position;
                }
                self.layers[layer] = keyed.into_iter().map(|(_, node)| node).collect();
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.sizes.len()];
        for layer in &self.layers {
            for (position, node) in layer.iter().enumerate() {
                positions[*node] = position;
            }
        }
        positions
    }

    /// How many pairs of edges between neighbouring layers cross.
    fn crossings(&self) -> usize {
        let positions = self.positions();
        let mut count = 0;
        for layer in &self.layers {
            let edges: Vec<(usize, usize)> = layer
                .iter()
                .flat_map(|node| self.below[*node].iter().map(|to| (*node, *to)))
                .map(|(from, to)| (positions[from], positions[to]))
                .collect();
            for (index, a) in edges.iter().enumerate() {
                count += edges[..index]
                    .iter()
                    .filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1))
                    .count();
            }
        }
        count
    }

    /// Moves every node towards the mean of its neighbours, as far as its layer has room.
    fn place(&mut self) {
        for layer in 0..self.layers.len() {
            self.pack(layer, |_| None);
        }
        for turn in 0..TURNS {
            let order: Vec<usize> = match turn % 2 == 0 {
                true => (0..self.layers.len()).collect(),
                false => (0..self.layers.len()).rev().collect(),
            };
            for layer in order {
                let wanted: Vec<Option<f64>> = (0..self.sizes.len())
                    .map(|node| {
                        if self.layer_of[node] != layer {
                            return None;
                        }
                        let near: Vec<usize> =
                            self.above[node].iter().chain(&self.below[node]).copied().collect();
                        mean(&near, |near| self.x[near])
                    })
                    .collect();
                self.pack(layer, |node| wanted[node]);
            }
        }
        let left = |node: usize, x: &[f64]| x[node] - self.sizes[node].0 / 2.0;
        let least = (0..self.x.len()).map(|node| left(node, &self.x)).fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            self.x.iter_mut().for_each(|x| *x -= least);
        }
    }

    /// Places the nodes of a layer in their order, close to where they want to be: first pushed to
    /// the right where they are too close, then the mean of what that moved is taken back.
    fn pack(&mut self, layer: usize, wanted: impl Fn(usize) -> Option<f64>) {
        let nodes = self.layers[layer].clone();
        let wishes: Vec<f64> =
            nodes.iter().map(|node| wanted(*node).unwrap_or(self.x[*node])).collect();
        let distance = |a: usize, b: usize| (self.sizes[a].0 + self.sizes[b].0) / 2.0 + GAP;
        let mut right: Vec<f64> = wishes.clone();
        for index in 1..nodes.len() {
            right[index] =
                right[index].max(right[index - 1] + distance(nodes[index - 1], nodes[index]));
        }
        let mut left: Vec<f64> = wishes;
        for index in (0..nodes.len().saturating_sub(1)).rev() {
            left[index] =
                left[index].min(left[index + 1] - distance(nodes[index], nodes[index + 1]));
        }
        // Both keep the distances, and so does what is between them.
        for (index, node) in nodes.iter().enumerate() {
            self.x[*node] = (right[index] + left[index]) / 2.0;
        }
    }

    fn layout(&self, count: usize, edges: &[(usize, usize)]) -> Layout {
        let heights: Vec<f64> = self
            .layers
            .iter()
            .map(|layer| layer.iter().map(|node| self.sizes[*node].1).fold(0.0, f64::max))
            .collect();
        let mut middles = Vec::new();
        let mut top = 0.0;
        for height in &heights {
            middles.push(top + height / 2.0);
            top += height + LAYER_GAP;
        }
        let at = |node: usize| (self.x[node], middles[self.layer_of[node]]);
        let routes = edges.iter().zip(&self.bends).map(|((from, to), bends)| {
            let (start, end) = (at(*from), at(*to));
            let mut route = vec![(start.0, start.1 + self.sizes[*from].1 / 2.0)];
            // A bend passes the boxes of its layer before it turns.
            route.extend(bends.iter().flat_map(|bend| {
                let (x, y) = at(*bend);
                let half = heights[self.layer_of[*bend]] / 2.0;
                [(x, y - half), (x, y + half)]
            }));
            route.push((end.0, end.1 - self.sizes[*to].1 / 2.0));
            route
        });
        let right = (0..self.x.len()).map(|node| self.x[node] + self.sizes[node].0 / 2.0);
        Layout {
            places: (0..count).map(at).collect(),
            routes: routes.collect(),
            size: (right.fold(0.0, f64::max), (top - LAYER_GAP).max(0.0)),
        }
    }
}

/// The layer of each node: one below the lowest that leads to it.
fn longest_paths(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layers = vec![0usize; count];
    // As many turns as the longest path has edges; more could only come of a cycle.
    for _ in 0..count {
        let mut moved = false;
        for &(from, to) in edges {
            if layers[to] <= layers[from] {
                layers[to] = layers[from] + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    // What nothing leads to stands right above what it leads to.
    for node in 0..count {
        if edges.iter().all(|(_, to)| *to != node) {
            let next = edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| layers[*to]);
            layers[node] = next.min().map_or(0, |next| next.saturating_sub(1));
        }
    }
    layers
}

fn mean(nodes: &[usize], of: impl Fn(usize) -> f64) -> Option<f64> {
    let sum: f64 = nodes.iter().map(|node| of(*node)).sum();
    (!nodes.is_empty()).then(|| sum / nodes.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::{Layers, lay_out};

    const BOX: (f64, f64) = (100.0, 40.0);

    #[test]
    fn edges_go_down_and_boxes_do_not_touch() {
        // Two inputs, a kernel, two results of it, of which one goes far down.
        let edges = [(0, 2), (1, 2), (2, 3), (2, 4), (4, 5), (5, 6), (3, 6)];
        let layout = lay_out(&[BOX; 7], &edges);
        for (from, to) in edges {
            assert!(layout.places[from].1 + 40.0 < layout.places[to].1);
        }
        for a in 0..7 {
            for b in 0..a {
                let (a, b) = (layout.places[a], layout.places[b]);
                assert!((a.0 - b.0).abs() >= 100.0 || (a.1 - b.1).abs() >= 40.0, "{layout:?}");
            }
        }
        assert!(layout.places.iter().all(|(x, _)| *x >= 50.0 && *x <= layout.size.0 - 50.0));
        // The edge past a layer goes straight down beside its boxes.
        assert_eq!(layout.routes[6].len(), 4);
        assert_eq!(layout.routes[6][1].0, layout.routes[6][2].0);
    }

    #[test]
    fn crossings_that_need_not_be_are_taken_out() {
        let mut layers = Layers::new(&[BOX; 4], &[(0, 3), (1, 2)]);
        assert_eq!(layers.crossings(), 1);
        layers.order();
        assert_eq!(layers.crossings(), 0);
    }

    #[test]
    fn a_chain_is_straight() {
        let layout = lay_out(&[BOX, (20.0, 20.0), BOX], &[(0, 1), (1, 2)]);
        assert!(layout.places.iter().all(|(x, _)| (x - 50.0).abs() < 1e-9), "{layout:?}");
        assert_eq!(lay_out(&[], &[]).size, (0.0, 0.0));
    }
}
