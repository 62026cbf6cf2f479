//! How kernels are cut into blocks of threads: one table per architecture.

use weft_ir::ScalarType;

/// What an architecture likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Threads of a block: a multiple of 32.
    pub threads: u32,
    /// The most blocks of a kernel whose threads go on with further elements.
    pub blocks: u32,
    /// Up to so many points, their numbers are divided in 32 bits, and a step behind the last still fits.
    pub narrow_points: u64,
    /// Rows up to this average length are worked on by one thread each; at most 4096.
    pub short_row: u64,
    /// Blocks of 64 elements of ragged rows that a block of threads stages at once, at most; at least 2.
    pub staged_blocks: usize,
    /// Grids of at least so many rows and columns are cut into tiles that share or exchange what they read.
    pub least_grid: u64,
    /// So many rows that all go through the same places are worked on by a thread each.
    pub least_pairs: u64,
    /// Scatters into at most that many targets combine in shared memory first; at most 1024.
    pub bins: u64,
}

impl Policy {
    /// For an H200: 132 multiprocessors, eight blocks on each.
    pub const SM_90: Policy = Policy {
        threads: 256,
        blocks: 132 * 8,
        narrow_points: (1 << 31) - (1 << 23),
        short_row: 64,
        staged_blocks: 64,
        least_grid: 16,
        least_pairs: 1 << 14,
        bins: 1024,
    };

    /// For the emulated device: small blocks, so that small arrays have several.
    pub const EMULATED: Policy = Policy {
        threads: 64,
        blocks: 6,
        narrow_points: 1000,
        short_row: 64,
        staged_blocks: 4,
        least_grid: 4,
        least_pairs: 40,
        bins: 1024,
    };

    /// The places of a part of the path through ragged rows whose elements are tuples of these: with the
    /// rest of a block of 64 behind them, 16 KiB of shared memory hold them.
    pub(crate) fn span(&self, components: &[ScalarType]) -> u64 {
        let widest = components.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let bytes: usize = components.iter().map(|ty| ty.bytes()).sum();
        let blocks = 16384 / (64 * bytes.next_multiple_of(widest));
        64 * (blocks.clamp(2, self.staged_blocks) as u64 - 1)
    }
}
