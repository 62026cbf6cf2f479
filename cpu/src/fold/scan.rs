//! Scans in place.
//!
//! Note [Chained scan]. A long row is scanned chunk by chunk, each by whichever thread is free. A
//! chunk is a whole number of blocks of the second level of the tree (64 · 64 elements): it is
//! scanned by blocks and blocks of blocks on its own; what its second-level blocks come to goes
//! through a [`Chain`], which is all that has to happen in the order of the chunks and which yields
//! what comes before each of them; then every element is combined once with what comes before its
//! block. So memory is read and written once, and the tree is that of the whole row.

use std::ops::Range;

use crate::execute::Halt;
use crate::fold::tile::Tile;
use crate::fold::{Folder, TREE, blocks};
use crate::isa::Slot;
use crate::lanes::{BLOCK, Elements, Lane, Storage, flat, flat_mut, with_lane_type};

/// The elements of the second level of a block of the tree.
pub(crate) const SECOND: usize = TREE * TREE;

impl Folder<'_> {
    /// Scans consecutive rows of these lengths in place.
    pub(crate) fn scan(&mut self, values: &mut [Storage], lengths: &[usize]) -> Result<(), Halt> {
        let blocks = blocks(lengths);
        self.scan_blocks(values, &blocks)?;
        if lengths.iter().all(|&length| length <= TREE) {
            return Ok(());
        }
        let ends: Vec<usize> = blocks.iter().map(|(start, length)| start + length - 1).collect();
        let mut carries: Vec<Storage> = values.iter().map(|values| values.gather(&ends)).collect();
        let shorter: Vec<usize> = lengths.iter().map(|length| length.div_ceil(TREE)).collect();
        self.scan(&mut carries, &shorter)?;
        // All blocks but the first of each row, with the carry of the one before.
        let (mut shifted, mut before) = (Vec::new(), Vec::new());
        let mut block = 0;
        for length in shorter {
            shifted.extend(blocks[block..block + length].iter().skip(1));
            before.extend(block..(block + length).saturating_sub(1));
            block += length;
        }
        let carries: Vec<Storage> = carries.iter().map(|carries| carries.gather(&before)).collect();
        self.shift(values, &shifted, &carries)
    }

    /// Scans each block from left to right.
    fn scan_blocks(
        &mut self,
        values: &mut [Storage],
        blocks: &[(usize, usize)],
    ) -> Result<(), Halt> {
        if let Some(primitives) = &self.fold.primitives {
            for (primitive, values) in primitives.iter().zip(values) {
                primitive.scan(values, blocks);
            }
            return Ok(());
        }
        let mut tile = std::mem::take(&mut self.tile);
        let scanned = self.scan_tiles(values, blocks, &mut tile);
        self.tile = tile;
        scanned
    }

    /// Scans blocks tile by tile (Note [Tiles of a scan]).
    fn scan_tiles(
        &mut self,
        values: &mut [Storage],
        blocks: &[(usize, usize)],
        tile: &mut Tile,
    ) -> Result<(), Halt> {
        for order in super::longest_first(blocks).chunks(Tile::lanes(values)) {
            self.context.poll()?;
            tile.load(values, blocks, order);
            let (earlier, later) = (self.earlier(), self.later());
            tile.fetch(0, &mut self.frame, earlier, order.len());
            let mut active = order.len();
            for step in 1..TREE {
                while active > 0 && blocks[order[active - 1]].1 <= step {
                    active -= 1;
                }
                if active == 0 {
                    break;
                }
                tile.fetch(step, &mut self.frame, later, active);
                self.apply(active)?;
                self.keep(active);
                tile.replace(step, &self.frame, earlier, active);
            }
            tile.store(values, blocks, order);
        }
        Ok(())
    }

    /// Combines each element of block i with carry i, which comes first.
    pub(crate) fn shift(
        &mut self,
        values: &mut [Storage],
        blocks: &[(usize, usize)],
        carries: &[Storage],
    ) -> Result<(), Halt> {
        if let Some(primitives) = &self.fold.primitives {
            for ((primitive, values), carries) in primitives.iter().zip(values).zip(carries) {
                primitive.shift(values, blocks, carries.elements());
            }
            return Ok(());
        }
        let mut runs = Vec::new();
        let mut lanes = 0;
        for (number, &(start, length)) in blocks.iter().enumerate() {
            let end = start + length;
            let mut position = start;
            while position < end {
                let length = (end - position).min(BLOCK - lanes);
                runs.push(Run { position, lane: lanes, length, number });
                position += length;
                lanes += length;
                if lanes == BLOCK {
                    self.shift_runs(values, &runs, carries)?;
                    runs.clear();
                    lanes = 0;
                }
            }
        }
        if lanes > 0 { self.shift_runs(values, &runs, carries) } else { Ok(()) }
    }

    /// Combines the elements of runs with the carries of their blocks.
    fn shift_runs(
        &mut self,
        values: &mut [Storage],
        runs: &[Run],
        carries: &[Storage],
    ) -> Result<(), Halt> {
        self.context.poll()?;
        let (earlier, later) = (self.earlier(), self.later());
        for (at, values) in values.iter().enumerate() {
            with_lane_type!(values.ty(), T => {
                let (values, carries) = (T::storage(values), T::storage(&carries[at]));
                let register = |slot: Slot| slot.index as usize;
                let lanes = flat_mut(&mut T::file_mut(&mut self.frame)[register(earlier[at])]);
                runs.iter().for_each(|run| lanes[run.lanes()].fill(carries[run.number]));
                let lanes = flat_mut(&mut T::file_mut(&mut self.frame)[register(later[at])]);
                runs.iter().for_each(|run| {
                    lanes[run.lanes()].copy_from_slice(&values[run.positions()]);
                });
            });
        }
        self.apply(runs.iter().map(|run| run.length).sum())?;
        for (&slot, values) in self.compiled.routine.results.iter().zip(values.iter_mut()) {
            with_lane_type!(slot.ty, T => {
                let values = T::storage_mut(values);
                let lanes = flat(&T::file(&self.frame)[slot.index as usize]);
                for run in runs {
                    let values = &mut values[run.positions()];
                    match slot.uniform {
                        true => values.fill(lanes[0]),
                        false => values.copy_from_slice(&lanes[run.lanes()]),
                    }
                }
            });
        }
        Ok(())
    }

    /// One element, given as storages of length one, combined with another.
    fn combine_one(
        &mut self,
        earlier: &[Storage],
        later: &[Storage],
    ) -> Result<Vec<Storage>, Halt> {
        let earlier: Vec<Elements<'_>> = earlier.iter().map(Storage::elements).collect();
        let later: Vec<Elements<'_>> = later.iter().map(Storage::elements).collect();
        self.combine(&earlier, &later)
    }

    /// Scans a chunk of a long row, its number of elements a multiple of [`SECOND`] unless it is the
    /// last, as far as it goes without the chunks before it. Yields the ends of its first-level
    /// blocks, scanned within second-level blocks.
    pub(crate) fn scan_chunk(&mut self, values: &mut [Storage]) -> Result<Vec<Storage>, Halt> {
        let length = values.first().map_or(0, Storage::len);
        let first = blocks(&[length]);
        self.scan_blocks(values, &first)?;
        let ends: Vec<usize> = first.iter().map(|(start, length)| start + length - 1).collect();
        let mut carries: Vec<Storage> = values.iter().map(|values| values.gather(&ends)).collect();
        let second = blocks(&[ends.len()]);
        self.scan_blocks(&mut carries, &second)?;
        Ok(carries)
    }

    /// What comes before each first-level block of the chunk, from the row's second one on, when it
    /// is the chunk's turn. The first carry belongs to the chunk's first block if there are chunks
    /// before it in the row, else to its second.
    pub(crate) fn link(
        &mut self,
        chain: &mut Chain,
        carries: Vec<Storage>,
    ) -> Result<Vec<Storage>, Halt> {
        let length = carries.first().map_or(0, Storage::len);
        let mut carries = carries;
        let second = blocks(&[length]);
        // The scanned ends of second-level blocks, and what comes before each of these.
        let mut before: Vec<Storage> = self.fold.types().map(Storage::new).collect();
        let mut shifted = Vec::new();
        for &(start, length) in &second {
            if let Some(last) = &chain.second {
                for (before, last) in before.iter_mut().zip(last) {
                    before.append(last.elements());
                }
                shifted.push((start, length));
            }
            let end = start + length - 1;
            let end: Vec<Storage> = carries.iter().map(|carries| carries.gather(&[end])).collect();
            chain.second = Some(chain.push(self, 0, end)?);
        }
        self.shift(&mut carries, &shifted, &before)?;
        let mut all =
            chain.first.take().unwrap_or_else(|| self.fold.types().map(Storage::new).collect());
        chain.first = Some(carries.iter().map(|carries| carries.gather(&[length - 1])).collect());
        for (all, carries) in all.iter_mut().zip(&carries) {
            all.append(carries.elements());
        }
        // The end of the last block comes before the next chunk only.
        for all in &mut all {
            all.resize(all.len() - 1);
        }
        Ok(all)
    }
}

/// Elements of a block that follow one another, and lanes that do.
struct Run {
    position: usize,
    lane: usize,
    length: usize,
    /// The number of the block.
    number: usize,
}

impl Run {
    fn positions(&self) -> Range<usize> {
        self.position..self.position + self.length
    }

    fn lanes(&self) -> Range<usize> {
        self.lane..self.lane + self.length
    }
}

/// What has gone before in a row that is scanned chunk by chunk (Note [Chained scan]).
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// From the third level of the tree up: how many values the current block has, what they have
    /// come to, and the scanned end of the block before.
    levels: Vec<Level>,
    /// The scanned end of the last second-level block.
    second: Option<Vec<Storage>>,
    /// The scanned end of the last first-level block.
    first: Option<Vec<Storage>>,
    /// The last element, combined with the start value.
    pub(crate) last: Option<Vec<Storage>>,
}

#[derive(Debug, Default)]
struct Level {
    count: usize,
    running: Option<Vec<Storage>>,
    carry: Option<Vec<Storage>>,
}

impl Chain {
    /// The scanned value of one more value of a level.
    fn push(
        &mut self,
        folder: &mut Folder<'_>,
        level: usize,
        value: Vec<Storage>,
    ) -> Result<Vec<Storage>, Halt> {
        if self.levels.len() == level {
            self.levels.push(Level::default());
        }
        let at = &mut self.levels[level];
        let running = match at.running.take() {
            Some(running) => folder.combine_one(&running, &value)?,
            None => value,
        };
        let scanned = match &at.carry {
            Some(carry) => folder.combine_one(carry, &running)?,
            None => running.clone(),
        };
        at.count += 1;
        if at.count < TREE {
            at.running = Some(running);
        } else {
            at.count = 0;
            self.levels[level].carry = Some(self.push(folder, level + 1, running)?);
        }
        Ok(scanned)
    }
}
