//! Blocks of a scan, transposed.
//!
//! Note [Tiles of a scan]. Step j of a scan takes element j of every block, and these are 64 elements apart: each
//! in a line of the cache of its own, of which the next steps take the rest, with all other lines in
//! between. So blocks are copied to a tile first, where what a step takes lies together, and back
//! afterwards. A tile has as many blocks as fit into [`BYTES`], in whole groups of lanes. Its rows are a
//! line longer than that: elements whose distance is a power of two share few places of the cache.

use crate::isa::Slot;
use crate::lanes::{BLOCK, Frame, GROUP, Lane, Storage, copy_lanes, load_lanes, with_lane_type};

use super::TREE;

/// The bytes of a tile at most, unless it has one group only: what a core's second cache holds easily.
const BYTES: usize = 1 << 19;

/// The elements at the end of a row that nothing is stored in.
const PADDING: usize = 8;

/// The blocks that are copied together: so many elements of a step fill a line.
const TOGETHER: usize = 8;

/// Elements of blocks, step by step (Note [Tiles of a scan]).
#[derive(Debug, Default)]
pub(super) struct Tile {
    /// Per component, rows of `row` elements: one for each step.
    components: Vec<Storage>,
    row: usize,
}

impl Tile {
    /// How many blocks of these components a tile has.
    pub(super) fn lanes(values: &[Storage]) -> usize {
        let bytes = |values: &Storage| with_lane_type!(values.ty(), T => size_of::<T>());
        let element: usize = values.iter().map(bytes).sum();
        (BYTES / (TREE * element.max(1)) / GROUP * GROUP).clamp(GROUP, BLOCK)
    }

    /// Copies blocks, of which the first is the longest; `order` has their numbers.
    pub(super) fn load(&mut self, values: &[Storage], blocks: &[(usize, usize)], order: &[usize]) {
        let steps = order.first().map_or(0, |&block| blocks[block].1);
        self.row = order.len() + PADDING;
        self.components.resize_with(values.len(), || Storage::new(values[0].ty()));
        for (component, values) in self.components.iter_mut().zip(values) {
            if component.ty() != values.ty() {
                *component = Storage::new(values.ty());
            }
            if component.len() < steps * self.row {
                component.resize(steps * self.row);
            }
            with_lane_type!(values.ty(), T => {
                let (to, from) = (T::storage_mut(component), T::storage(values));
                for (number, order) in order.chunks(TOGETHER).enumerate() {
                    for (lane, &block) in order.iter().enumerate() {
                        let (start, length) = blocks[block];
                        let column = number * TOGETHER + lane;
                        let to = to[column..].iter_mut().step_by(self.row);
                        for (to, from) in to.zip(&from[start..start + length]) {
                            *to = *from;
                        }
                    }
                }
            });
        }
    }

    /// Copies blocks back.
    pub(super) fn store(&self, values: &mut [Storage], blocks: &[(usize, usize)], order: &[usize]) {
        for (component, values) in self.components.iter().zip(values) {
            with_lane_type!(values.ty(), T => {
                let (from, to) = (T::storage(component), T::storage_mut(values));
                for (column, &block) in order.iter().enumerate() {
                    let (start, length) = blocks[block];
                    let from = from[column..].iter().step_by(self.row);
                    for (to, from) in to[start..start + length].iter_mut().zip(from) {
                        *to = *from;
                    }
                }
            });
        }
    }

    /// Puts the first elements of a step into registers.
    pub(super) fn fetch(&self, step: usize, frame: &mut Frame, slots: &[Slot], count: usize) {
        let start = step * self.row;
        for (component, &slot) in self.components.iter().zip(slots) {
            with_lane_type!(slot.ty, T => {
                load_lanes::<T>(frame, slot, &T::storage(component)[start..start + count]);
            });
        }
    }

    /// Puts what registers hold in place of the first elements of a step.
    pub(super) fn replace(&mut self, step: usize, frame: &Frame, slots: &[Slot], count: usize) {
        let start = step * self.row;
        for (component, &slot) in self.components.iter_mut().zip(slots) {
            with_lane_type!(slot.ty, T => {
                let to = &mut T::storage_mut(component)[start..start + count];
                copy_lanes::<T>(frame, slot, to);
            });
        }
    }
}
