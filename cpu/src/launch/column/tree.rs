//! The tree of a fold whose lanes are rows.

use crate::execute::Halt;
use crate::fold::{Folder, TREE};
use crate::isa::Slot;
use crate::lanes::{
    Frame, GROUP, Group, Lane, LaneType, Storage, StorageMut, copy_lanes, with_lane_type,
};

pub(super) fn slot_of(ty: LaneType) -> Slot {
    Slot { ty, uniform: false, index: 0 }
}

/// Registers of the same types in a frame of their own, that differ from lane to lane.
pub(super) fn varying(slots: &[Slot]) -> Vec<Slot> {
    let mut own: Vec<Slot> = Vec::with_capacity(slots.len());
    for slot in slots {
        let index = own.iter().filter(|other| other.ty == slot.ty).count() as u32;
        own.push(Slot { index, ..slot_of(slot.ty) });
    }
    own
}

/// A frame of such registers.
pub(super) fn frame_of(slots: &[Slot], lanes: usize) -> Frame {
    let mut frame = Frame::default();
    for slot in slots {
        with_lane_type!(slot.ty, T => {
            let group = Group([T::default(); GROUP]);
            T::file_mut(&mut frame).push(vec![group; lanes.div_ceil(GROUP)]);
        });
    }
    frame
}

/// Where what rows come to goes.
pub(super) enum Sums<'r> {
    /// To the places of the rows from a number on.
    Rows(Vec<StorageMut<'r>>, usize),
    /// One after the other what blocks of elements come to.
    Pieces(Vec<Storage>),
}

/// The tree of a fold with lanes for elements: level by level what the current block has come to.
pub(super) struct Tree<'r> {
    /// The registers of a level.
    slots: Vec<Slot>,
    levels: Vec<Level>,
    pub(super) sums: Sums<'r>,
}

/// What the elements of a level have come to since the last block of them.
struct Level {
    frame: Frame,
    /// For how many lanes the frame has room.
    lanes: usize,
    /// How many elements there were.
    taken: usize,
}

impl<'r> Tree<'r> {
    /// For elements of the types of some registers.
    pub(super) fn new(values: &[Slot], sums: Sums<'r>) -> Tree<'r> {
        Tree { slots: varying(values), levels: Vec::new(), sums }
    }

    /// How many values an element has.
    pub(super) fn width(&self) -> usize {
        self.slots.len()
    }

    /// Adds an element of a level per lane.
    pub(super) fn push(
        &mut self,
        folder: &mut Folder<'_>,
        level: usize,
        from: &Frame,
        values: &[Slot],
        count: usize,
    ) -> Result<(), Halt> {
        if let (Sums::Pieces(sums), 1) = (&mut self.sums, level) {
            keep(sums, from, values, count);
            return Ok(());
        }
        while self.levels.len() <= level {
            self.levels.push(Level { frame: Frame::default(), lanes: 0, taken: 0 });
        }
        let Level { frame, lanes, taken } = &mut self.levels[level];
        if *lanes < count {
            (*frame, *lanes) = (frame_of(&self.slots, count), count);
        }
        if *taken == 0 {
            folder.replace(frame, &self.slots, from, values, count);
        } else {
            folder.accumulate(frame, &self.slots, from, values, count)?;
        }
        *taken += 1;
        if *taken < TREE {
            return Ok(());
        }
        *taken = 0;
        let (complete, slots) = (std::mem::take(&mut self.levels[level].frame), self.slots.clone());
        let pushed = self.push(folder, level + 1, &complete, &slots, count);
        self.levels[level].frame = complete;
        pushed
    }

    /// Combines the levels, and begins again for the next block of lanes, after those of the row with a number.
    pub(super) fn finish(
        &mut self,
        folder: &mut Folder<'_>,
        row: usize,
        count: usize,
    ) -> Result<(), Halt> {
        let mut last: Option<usize> = None;
        for at in 0..self.levels.len() {
            if self.levels[at].taken == 0 {
                continue;
            }
            self.levels[at].taken = 0;
            let (before, rest) = self.levels.split_at_mut(at);
            if let Some(last) = last {
                let (frame, carry) = (&mut rest[0].frame, &before[last].frame);
                folder.accumulate(frame, &self.slots, carry, &self.slots, count)?;
            }
            last = Some(at);
        }
        match (&mut self.sums, last) {
            (Sums::Pieces(sums), Some(last)) => {
                keep(sums, &self.levels[last].frame, &self.slots, count);
            }
            (Sums::Pieces(_), None) => {}
            (Sums::Rows(sums, first), last) => {
                let frame = &self.levels[last.expect("a row has elements")].frame;
                for (&slot, sums) in self.slots.iter().zip(sums) {
                    with_lane_type!(slot.ty, T => {
                        let sums = <T as Lane>::slice_mut(sums);
                        copy_lanes::<T>(frame, slot, &mut sums[row - *first..][..count]);
                    });
                }
            }
        }
        Ok(())
    }
}

/// Appends what a block has come to.
fn keep(sums: &mut [Storage], from: &Frame, values: &[Slot], count: usize) {
    for (&slot, sums) in values.iter().zip(sums) {
        with_lane_type!(slot.ty, T => {
            let sums = T::storage_mut(sums);
            let start = sums.len();
            sums.resize(start + count, T::default());
            copy_lanes::<T>(from, slot, &mut sums[start..]);
        });
    }
}
