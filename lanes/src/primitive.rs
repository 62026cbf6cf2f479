//! Folds and scans by one common operator on one component, without the block interpreter.
//!
//! Note [Kernels of an operator]. What is done for every element is compiled for every operator and type
//! ([`Kernels`]). What is done for every block, row or chunk is compiled for every type alone, and calls
//! these.

mod chained;
#[cfg(target_arch = "x86_64")]
mod exchange;
mod first;
mod grouped;
mod kernels;
mod rows;
mod streams;
mod versions;

use crate::isa::Slot;
use crate::lanes::{
    Elements, Frame, GROUP, Group, Lane, Storage, StorageMut, flat, flat_mut, for_lane_types,
};
use chained::scan_blocks;
use kernels::Kernels;

pub use chained::{Carried, Carries, Chained};
pub use grouped::Grouping;
pub use kernels::Copies;
pub use rows::Rows;
pub use streams::{SPREAD, Streams};

pub(crate) use versions::Summed;

/// How many elements are combined from left to right before their result is combined further.
pub const TREE: usize = GROUP;

/// Lanes that are folded.
pub(crate) trait Folded: Lane {
    /// Kernels on this type.
    fn typed(kernels: &'static Kernels<Self>) -> Typed;
}

macro_rules! define_typed {
    ($(($variant:ident, $field:ident, $rust:ty))*) => {
        /// The kernels of an operator, by type.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Typed { $($variant(&'static Kernels<$rust>)),* }

        $(impl Folded for $rust {
            fn typed(kernels: &'static Kernels<$rust>) -> Typed {
                Typed::$variant(kernels)
            }
        })*

        /// Evaluates an expression with the kernels and a name for their type.
        macro_rules! with_kernels {
            ($primitive:expr, $name:ident, $kernels:ident => $body:expr) => {
                match $primitive.kernels {
                    $($crate::primitive::Typed::$variant($kernels) => {
                        type $name = $rust;
                        $body
                    })*
                }
            };
        }
        use with_kernels;
    };
}
for_lane_types!(define_typed);

/// The folds and scans of a commutative operator. Blocks are given by start and length.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    kernels: Typed,
    /// The loops of scans of long rows.
    pub chained: Chained,
    /// Whether zero changes nothing besides.
    pub from_zeros: bool,
    /// How copies of an array begin to which elements are sent, if there may be some.
    pub copies: Option<Copies>,
}

impl Primitive {
    /// With these kernels.
    fn new<T: Folded>(kernels: &'static Kernels<T>) -> Primitive {
        let from_zeros = kernels.from_zeros.is_some();
        let copies = kernels.copies.map(|(copies, _)| copies);
        let kernels = T::typed(kernels);
        Primitive { kernels, chained: Chained { kernels }, from_zeros, copies }
    }

    /// Whether any bracketing gives the same bits.
    pub fn is_exact(&self) -> bool {
        with_kernels!(self, T, kernels => is_exact::<T>(kernels))
    }

    /// Folds rows for so many levels of the tree, at least one, or to one element each, a zero where there is none;
    /// appends what they come to.
    pub fn fold_rows(&self, values: Elements<'_>, rows: Rows<'_>, levels: usize, to: &mut Storage) {
        with_kernels!(self, T, kernels => {
            kernels.fold_rows(T::elements(values), rows, levels, T::storage_mut(to));
        });
    }

    /// Folds the lanes of a register for one level of the tree, and appends what they come to.
    pub fn fold_register(&self, frame: &Frame, slot: Slot, lanes: usize, to: &mut Storage) {
        with_kernels!(self, T, kernels => {
            let groups = &T::file(frame)[slot.index as usize];
            let to = T::storage_mut(to);
            if !slot.uniform {
                kernels.fold_rows(&flat(groups)[..lanes], Rows::One, 1, to);
                return;
            }
            for start in (0..lanes).step_by(GROUP) {
                let group = &groups[0].0[..GROUP.min(lanes - start)];
                kernels.fold_rows(group, Rows::One, 1, to);
            }
        });
    }

    /// Scans each block in place.
    pub fn scan(&self, values: &mut Storage, blocks: &[(usize, usize)]) {
        with_kernels!(self, T, kernels => {
            scan_blocks(kernels, T::storage_mut(values), blocks);
        });
    }

    /// Scans rows none of which is longer than a block. What they come to is combined with their start values, which
    /// come first, one for each row or one for all; that is written.
    ///
    /// # Panics
    /// If there are too few elements or start values for the rows.
    pub fn scan_rows(
        &self,
        values: Elements<'_>,
        rows: Rows<'_>,
        starts: Option<Elements<'_>>,
        mut to: StorageMut<'_>,
    ) {
        with_kernels!(self, T, kernels => {
            let starts = starts.map(|starts| T::elements(starts));
            (kernels.scan_rows)(T::elements(values), rows, starts, T::slice_mut(&mut to));
        });
    }

    /// Combines each element of block i with carry i, which comes first.
    pub fn shift(&self, values: &mut Storage, blocks: &[(usize, usize)], carries: Elements<'_>) {
        with_kernels!(self, T, kernels => {
            let values = T::storage_mut(values);
            for (&(start, length), &carry) in blocks.iter().zip(T::elements(carries)) {
                (kernels.shift)(carry, &mut values[start..start + length]);
            }
        });
    }

    /// Combines the lanes of a register with those of another frame's.
    pub fn accumulate(
        &self,
        accumulator: &mut Frame,
        slot: Slot,
        from: &Frame,
        value: Slot,
        count: usize,
    ) {
        with_kernels!(self, T, kernels => {
            let groups = count.div_ceil(GROUP);
            let values: &[Group<T>] = &T::file(from)[value.index as usize];
            let register = &mut T::file_mut(accumulator)[slot.index as usize][..groups];
            match value.uniform {
                true => (kernels.shift)(values[0].0[0], flat_mut(register)),
                false => (kernels.combine)(flat(&values[..groups]), flat_mut(register)),
            }
        });
    }

    /// Combines elements pairwise, in place of the later ones; or one with each of them.
    pub fn combine(&self, earlier: Elements<'_>, mut later: StorageMut<'_>) {
        with_kernels!(self, T, kernels => {
            let later = T::slice_mut(&mut later);
            match T::elements(earlier) {
                &[same] => (kernels.shift)(same, later),
                earlier => (kernels.combine)(earlier, later),
            }
        });
    }
}

fn is_exact<T>(kernels: &Kernels<T>) -> bool {
    kernels.exact
}
