//! Reductions: by the lengths of rows, and by what points share.

use weft_ir::{ScalarType, Stop};

use super::{Launch, half, word};
use crate::fields::Divisor;
use crate::policy::Policy;
use crate::run::Buffer;
use crate::shape::{Row, Shape, TILE, TREE, tree_nodes};
use crate::text::{Piece, Sharing};

/// Threads along a row of a grid, and points of each along both dimensions, as in `tile.cu`.
const LANES: u64 = 16;
const EACH: u64 = 4;
const EACH_OF_LARGE: u64 = 8;

/// Elements that a thread has at least in a group of short rows: as many as it loads at once.
const ELEMENTS: u64 = 4;

/// Rows of a block of threads that folds pairs, as in `tile.cu`.
const ROWS_OF_PAIRS: u64 = 32;

/// Elements that three levels of the tree hold: one in registers, two on the stack.
const MOST_IN_GRID: u64 = 1 << 18;

/// Elements that six levels of the tree hold, as a thread has them that folds or scans a row on its own.
const MOST_ALONE: u64 = 1 << 36;

/// How many tiles a grid has whose threads fold so many points along both dimensions.
fn tiles(policy: &Policy, down: u64, across: u64, each: u64) -> u64 {
    down.div_ceil(u64::from(policy.threads) / LANES * each) * across.div_ceil(LANES * each)
}

/// Whether large tiles are worth it: there are enough of them for the device, and most of their points are in the grid.
pub(crate) fn large_tiles(policy: &Policy, batches: u64, down: u64, across: u64) -> bool {
    let [large, small] = [EACH_OF_LARGE, EACH].map(|each| tiles(policy, down, across, each));
    let most = u128::from(small * EACH * EACH) * u128::from(100 + policy.most_beyond);
    batches * large >= policy.least_large_tiles
        && u128::from(large * EACH_OF_LARGE * EACH_OF_LARGE) * 100 <= most
}

impl Launch<'_, '_> {
    /// Whether rows are short enough for a thread each.
    pub(super) fn short(&self) -> bool {
        let Shape { rows, row, .. } = self.shape;
        let short = self.shape.length() <= self.machine.config.policy.short_row;
        match row {
            Row::Dense(length) => length == 0 || (rows > 1 && short),
            Row::Ragged(_) => short && self.shape.points <= MOST_ALONE,
        }
    }

    /// A reduction whose points share what they read; whether there is enough of it to be worth it.
    pub(super) fn shared(&mut self, piece: &Piece, sharing: Option<Sharing>) -> Result<bool, Stop> {
        let (Some(sharing), Row::Dense(length)) = (sharing, self.shape.row) else {
            return Ok(false);
        };
        let policy = self.machine.config.policy;
        let rows = self.shape.rows;
        if rows == 0 {
            return Ok(false);
        }
        match sharing {
            Sharing::Grid { large } => {
                let (down, across) = (self.extent(3)?, self.extent(2)?);
                let least = policy.least_grid;
                // Of a single element there is nothing to share, nor has it met another that settles it.
                if !(2..=MOST_IN_GRID).contains(&length) || down < least || across < least {
                    return Ok(false);
                }
                let batches = rows / (down * across);
                let (entry, each) = match large && large_tiles(policy, batches, down, across) {
                    true => ("reduce_large_grid", EACH_OF_LARGE),
                    false => ("reduce_grid", EACH),
                };
                let blocks = batches * tiles(policy, down, across, each);
                let parameters = [self.arguments(piece)?, word(down), word(across), word(length)];
                self.launch(piece, entry, blocks, &parameters)?;
            }
            Sharing::Pairs => {
                if length == 0 || rows < policy.least_pairs {
                    return Ok(false);
                }
                let parameters = [self.arguments(piece)?, word(rows), word(length)];
                let blocks = rows.div_ceil(ROWS_OF_PAIRS).min(u64::from(policy.blocks));
                self.launch(piece, "reduce_pairs", blocks, &parameters)?;
            }
        }
        Ok(true)
    }

    /// Whether rows have a thread each in a reduction whose short rows are not staged together: if they are short, or
    /// so many that the device is full of such threads.
    fn alone(&self) -> bool {
        let policy = self.machine.config.policy;
        let threads = self.threads() * u64::from(policy.blocks);
        self.short() || (self.shape.rows >= threads / 2 && self.shape.length() <= TILE)
    }

    /// How many rows of that length are staged together: so many that there is enough to do for each of the threads,
    /// and more if there are more than blocks of threads.
    pub(super) fn group(&self, length: u64, components: &[ScalarType]) -> u64 {
        let policy = self.machine.config.policy;
        let most = (policy.staged(components) / length.max(1)).max(1);
        let least = (self.threads() * ELEMENTS).div_ceil(length.max(1)).min(most);
        self.shape.rows.div_ceil(u64::from(policy.blocks)).clamp(least, most)
    }

    pub(super) fn reduce(
        &mut self,
        piece: &Piece,
        components: &[ScalarType],
        has_groups: bool,
    ) -> Result<(), Stop> {
        let Shape { rows, row, .. } = self.shape;
        let staged = self.machine.config.policy.staged(components);
        if rows == 0 {
            return Ok(());
        }
        let mut parameters = vec![self.arguments(piece)?, self.shape.rows_argument()];
        match row {
            Row::Ragged(_) => self.reduce_path(piece, components),
            Row::Dense(length) if has_groups && length <= staged => {
                let group = self.group(length, components);
                parameters.extend([Divisor::new(length).bytes(), half(group)]);
                self.launch(piece, "reduce_groups", rows.div_ceil(group), &parameters)
            }
            Row::Dense(_) if !has_groups && self.alone() => {
                self.launch(piece, "reduce_rows", self.blocks_for(rows), &parameters)
            }
            Row::Dense(length) => {
                let tiles = length.div_ceil(TILE);
                let per_row = tree_nodes(tiles);
                let all = if tiles > 1 { rows * per_row } else { 1 };
                let (_scratch, addresses) = self.components(components, all)?;
                let counters = self.zeros(rows, 4, "counters")?;
                parameters.extend([half(tiles), addresses, word(per_row), word(counters.address)]);
                self.launch(piece, "reduce_tiles", rows * tiles, &parameters)
            }
        }
    }

    /// A reduction of ragged rows, in parts of equal size.
    fn reduce_path(&mut self, piece: &Piece, components: &[ScalarType]) -> Result<(), Stop> {
        let Shape { rows, points, .. } = self.shape;
        let span = self.machine.config.policy.span(components);
        let parts = (rows + points).div_ceil(span);
        let path = self.machine.memory.scratch(2 * (parts + 1), 8, "path")?;
        let cut = [self.shape.rows_argument(), word(span), word(parts), word(path.address)];
        self.launch_common("path_of_rows", self.blocks_for(parts + 1), &cut)?;
        let blocks = self.nodes(components, TREE)?;
        let rows = self.shape.rows_argument();
        let parameters = [self.arguments(piece)?, rows.clone(), word(path.address), blocks.bytes()];
        self.launch(piece, "reduce_path", parts, &parameters)?;
        let rows = [rows, word(points)].concat();
        self.long_rows(piece, ["reduce_long", "reduce_longest"], &rows, blocks, components)
    }

    /// Room for what the nodes of so many elements come to, in rows of several nodes.
    pub(super) fn nodes(&mut self, components: &[ScalarType], of: u64) -> Result<Nodes, Stop> {
        // No two such rows begin within that many elements.
        let groups = self.shape.points / of + 1;
        let (mut buffers, mut addresses) = self.components(components, groups)?;
        let (next, of_next) = self.components(components, groups)?;
        let rows = self.machine.memory.scratch(groups, 8, "long rows")?;
        let count = self.zeros(1, 4, "count")?;
        addresses.extend(of_next);
        addresses.extend(rows.address.to_le_bytes());
        addresses.extend(count.address.to_le_bytes());
        buffers.extend(next);
        buffers.extend([rows, count]);
        Ok(Nodes { _buffers: buffers, addresses })
    }

    /// Folds the blocks of rows of several blocks, then the tiles of rows of several tiles.
    pub(super) fn long_rows(
        &mut self,
        piece: &Piece,
        [long, longest]: [&str; 2],
        rows: &[u8],
        blocks: Nodes,
        components: &[ScalarType],
    ) -> Result<(), Stop> {
        let points = self.shape.points;
        if points <= TREE {
            return Ok(());
        }
        let tiles = self.nodes(components, TILE)?;
        let arguments = self.arguments(piece)?;
        let parameters = [arguments.clone(), rows.to_vec(), blocks.bytes(), tiles.bytes()];
        self.launch(piece, long, self.blocks_for(points / TREE), &parameters)?;
        drop(blocks);
        if points > TILE {
            let blocks = (points / TILE).min(u64::from(self.machine.config.policy.blocks));
            self.launch(piece, longest, blocks, &[arguments, rows.to_vec(), tiles.bytes()])?;
        }
        Ok(())
    }
}

/// What nodes of a level of the tree come to, as the skeletons' `Nodes` has it.
pub(super) struct Nodes {
    /// Held as long as launches may want them.
    _buffers: Vec<Buffer>,
    addresses: Vec<u8>,
}

impl Nodes {
    /// The bytes of the structure.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.addresses.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::large_tiles;
    use crate::policy::Policy;

    #[test]
    fn large_tiles_are_for_grids_that_fill_them() {
        for (batches, down, across, is_large) in [
            (1, 4096, 4096, true),
            (1, 4000, 4000, true),
            (100, 512, 512, true),
            // Of a tile as wide as two small ones, half would be beyond the edge.
            (1, 4_000_000, 64, false),
            (1, 4_000_000, 160, false),
            (1, 4_000_000, 250, true),
            // Too few for all multiprocessors.
            (1, 512, 512, false),
        ] {
            let found = large_tiles(&Policy::SM_90, batches, down, across);
            assert_eq!(found, is_large, "{batches} x {down} x {across}");
        }
    }
}
