//! What is generated: the text of a plan's kernels, and what the host has to know of them.

use std::ops::Range;

use weft_codegen::Dialect;
use weft_ir::flat::Var;
use weft_ir::plan::Kernel;
use weft_ir::{Fault, ScalarType};

use crate::fields::Field;

/// The kernels of a plan.
#[derive(Clone, Debug)]
pub struct Code {
    /// What the program has of its own: structures, and the functions that they call.
    pub body: String,
    /// The `__global__` functions of the body, in the order of its text.
    pub entries: Vec<Entry>,
    /// What belongs to no kernel and is the same in all programs that need it.
    pub common: String,
    /// The `__global__` functions of the common part, in the order of its text.
    pub common_entries: Vec<Entry>,
    /// One per kernel of the plan, and per loop in front of the kernels in it, in the order of its text. A loop that is no
    /// kernel has no pieces.
    pub kernels: Vec<KernelCode>,
}

/// The skeletons, in the order in which they use each other.
pub(crate) const SKELETONS: [&str; 11] = [
    include_str!("skeletons/base.cu"),
    include_str!("skeletons/map.cu"),
    include_str!("skeletons/transpose.cu"),
    include_str!("skeletons/reduce.cu"),
    include_str!("skeletons/ragged.cu"),
    include_str!("skeletons/tile.cu"),
    include_str!("skeletons/scan.cu"),
    include_str!("skeletons/filter.cu"),
    include_str!("skeletons/scatter.cu"),
    include_str!("skeletons/sort.cu"),
    include_str!("skeletons/loops.cu"),
];

/// A `__global__` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, as it stands in the text.
    pub name: String,
    /// Whether the host chooses between it and others when it knows the extents; all others are
    /// launched whenever their kernel is.
    pub chosen: bool,
    /// Whether it is hardly ever launched, as far as can be told before the extents are known, or never.
    pub rare: bool,
    /// The bytes of shared memory that it declares at most, where elements of the program are what it declares; it
    /// is not launched if these are more than [`MOST_SHARED`](crate::MOST_SHARED). 0 of all others, which are small.
    pub shared: usize,
    /// The bytes of its part of the text.
    pub(crate) at: Range<usize>,
    /// How many bytes of the text are the structure that it is about.
    pub(crate) written: usize,
}

impl Code {
    /// How many kernels there are, loops row by row counted.
    pub fn count(&self) -> usize {
        self.kernels.iter().filter(|kernel| !kernel.pieces.is_empty()).count()
    }

    /// The whole translation unit: prelude, skeletons, and the program's own text.
    pub fn text(&self) -> String {
        format!("{}{}{}", Code::beginning(), self.body, self.common)
    }

    /// A translation unit with one function only: for one that is not of [`Code::units`].
    pub fn text_of(&self, name: &str) -> String {
        self.text_with(&|entry| entry.name == name)
    }

    /// The names of the functions that are compiled before the plan runs.
    pub fn usual_entries(&self) -> impl Iterator<Item = &str> {
        self.all_entries().filter(|entry| !entry.rare).map(|entry| entry.name.as_str())
    }

    /// The names of the functions that are hardly ever launched.
    pub fn rare_entries(&self) -> impl Iterator<Item = &str> {
        self.all_entries().filter(|entry| entry.rare).map(|entry| entry.name.as_str())
    }

    fn all_entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().chain(&self.common_entries)
    }

    /// A translation unit with some of the functions. If they are all of the common part, it has nothing of the
    /// program.
    pub(crate) fn text_with(&self, wanted: &dyn Fn(&Entry) -> bool) -> String {
        let mut text = Code::beginning();
        let has_own = self.entries.iter().any(wanted);
        let body = has_own.then_some((&self.body, &self.entries));
        for (own, entries) in body.into_iter().chain([(&self.common, &self.common_entries)]) {
            let mut from = 0;
            for entry in entries.iter().filter(|entry| !wanted(entry)) {
                text.push_str(&own[from..entry.at.start]);
                from = entry.at.end;
            }
            text.push_str(&own[from..]);
        }
        text
    }

    /// What every translation unit begins with: prelude and skeletons.
    pub fn beginning() -> String {
        format!("{}\n{}\n", Dialect::Cuda.prelude(), SKELETONS.join("\n"))
    }
}

/// One kernel of the plan.
#[derive(Clone, Debug)]
pub struct KernelCode {
    /// As the plan has it.
    pub kernel: Kernel,
    /// Its number, with which the names of its structures begin.
    pub(crate) number: usize,
    /// In the order in which they run.
    pub(crate) pieces: Vec<Piece>,
    /// The types of the temporaries' elements.
    pub(crate) temporaries: Vec<ScalarType>,
    /// How many elements each has.
    pub(crate) lengths: Vec<Length>,
    /// What a failing check's number means; numbers begin with 1 behind those of the kernels before it.
    pub(crate) sites: Vec<Fault>,
    /// How many numbers these have.
    pub(crate) sites_before: usize,
    /// Whether it may leave its buffers where a check has failed before it (Note [What relies on checks]).
    pub(crate) relies: bool,
    /// Whether there are kernels that do not depend on it, nor it on them.
    pub(crate) beside: bool,
    /// Whether one of them is long.
    pub(crate) beside_long: bool,
}

impl KernelCode {
    /// Whether its points have loops.
    pub(crate) fn is_long(&self) -> bool {
        self.kernel.codes().any(weft_ir::code::Code::has_loops)
    }
}

/// The number of elements of a temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// One per point.
    Points,
    /// One per point, and one more.
    Positions,
    /// One per point, of 32 bits where these suffice.
    Numbers,
    /// One.
    One,
}

/// A structure, and the skeleton that it is for.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The name of the structure: `K2_reduce`.
    pub(crate) name: String,
    /// The fields of its arguments, in order.
    pub(crate) fields: Vec<Field>,
    /// What is launched.
    pub(crate) skeleton: Skeleton,
    /// Whether there is a variant of each function for more points than 32 bits can number.
    pub(crate) wide: bool,
    /// How many points of a thread go together, where points do.
    pub(crate) width: u64,
}

/// How the points of a reduction share what they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// What a point reads belongs to its row and its place in the row, for both of the last two
    /// dimensions of the rows: a matrix product.
    Grid {
        /// Whether there is a variant in which a thread folds 8 by 8 rows in place of 4 by 4.
        large: bool,
    },
    /// It belongs to the row, or to the place in the row: all pairs.
    Pairs,
}

/// Keys that are sorted themselves (Note [Keys alone]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alone {
    /// The keys in order.
    pub(crate) sorted: Var,
    /// How they become elements again.
    pub(crate) flips: Flips,
}

/// Which bits of a key are flipped to restore the element that it was made of, as in `sort.cu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flips {
    /// First of all.
    pub(crate) all: u64,
    /// Then, if the first bit is 1.
    pub(crate) if_one: u64,
    /// If it is 0.
    pub(crate) if_zero: u64,
}

/// What is launched for a piece.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Skeleton {
    /// `map` over the points of the kernel.
    Map {
        /// Whether there is a variant for arrays whose columns are rows.
        transposed: bool,
    },
    /// `map` over the points that a filter kept.
    MapKept,
    /// Reductions.
    Reduce {
        /// The types of the components.
        components: Vec<ScalarType>,
        /// How points share what they read, if they do.
        sharing: Option<Sharing>,
        /// Whether short rows are staged in groups; else each has a thread.
        has_groups: bool,
    },
    /// The scan of that sink.
    Scan {
        /// The types of the components.
        components: Vec<ScalarType>,
        /// Whether short rows are staged in groups; else each has a thread.
        has_groups: bool,
    },
    /// The filter.
    Filter {
        /// The temporary that holds the positions, if there are rows.
        positions: Option<usize>,
        /// Points of a thread.
        items: u64,
    },
    /// The scatter of that sink, the last value wins.
    Scatter(usize),
    /// The scatter of that sink by atomic operations.
    Update(usize),
    /// The scatter of that sink: prepares what is sorted by target. The temporaries of the targets
    /// and of the order.
    Targets {
        /// Of the keys.
        keys: usize,
        /// Of the order.
        order: usize,
    },
    /// The scatter of that sink: combines the sorted points.
    Runs {
        /// The sink.
        sink: usize,
        /// The temporary with the targets.
        keys: usize,
        /// The types of the components.
        components: Vec<ScalarType>,
    },
    /// A loop row by row, or on one thread: the parts of its state that it replaces where they are, and those that are
    /// the same at all points, with the temporaries that they come to.
    Loop {
        /// The function.
        entry: &'static str,
        /// Arrays.
        replaced: Vec<Var>,
        /// Scalars.
        same: Vec<(Var, usize)>,
    },
    /// The sort.
    Sort {
        /// Its keys: temporaries per component with their significant bits.
        keys: Vec<(usize, u32)>,
        /// What becomes of the keys, if they are wanted in place of the order.
        alone: Option<Alone>,
    },
}
