//! How kernels are cut into blocks of threads: one table per architecture.

use weft_ir::ScalarType;

use crate::shape::TREE;

/// So many times as many blocks of threads as run at once may a map have.
pub(crate) const BLOCKS_OF_MAPS: u64 = 8;

/// What an architecture likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Threads of a block: a multiple of 64.
    pub threads: u32,
    /// Blocks that a multiprocessor holds at once, as far as threads are concerned.
    pub resident: u32,
    /// The most blocks of a kernel whose threads go on with further elements.
    pub blocks: u32,
    /// Up to so many points, their numbers are divided in 32 bits, and a step behind the last still fits.
    pub narrow_points: u64,
    /// Rows up to this average length are worked on by one thread each, where they are not staged together; at most
    /// 4096.
    pub short_row: u64,
    /// Blocks of 64 elements of several rows that a block of threads stages at once, at most; at least 2.
    pub staged_blocks: usize,
    /// Grids of at least so many rows and columns are cut into tiles that share or exchange what they read.
    pub least_grid: u64,
    /// So many tiles of 128 by 128 points are worth a block of threads each, whose threads fold 8 by 8.
    pub least_large_tiles: u64,
    /// So many more points in a hundred may large tiles have than small ones: what is beyond the edges of a grid is
    /// computed, too.
    pub most_beyond: u64,
    /// So many rows that all go through the same places are worked on by a thread each.
    pub least_pairs: u64,
    /// Scatters into at most that many targets combine in shared memory first; at most 1024.
    pub bins: u64,
}

/// One row per architecture: what a device of it has at least, from the programming guide's table of
/// compute capabilities. What was measured, was on an H200 and an H100 (`bench/LOG.md`); only the machine code for
/// `sm_90` is held against budgets (`gate/table.md`).
struct Architecture {
    /// The first of those with these numbers: 75 is `sm_75`.
    number: u32,
    /// Multiprocessors of its usual device.
    multiprocessors: u32,
    /// Threads that a multiprocessor holds at once.
    threads: u32,
}

const ARCHITECTURES: [Architecture; 7] = [
    // V100.
    Architecture { number: 70, multiprocessors: 80, threads: 2048 },
    // T4: half the threads, and 64 KiB of shared memory for three tiles.
    Architecture { number: 75, multiprocessors: 40, threads: 1024 },
    // A100.
    Architecture { number: 80, multiprocessors: 108, threads: 2048 },
    // RTX 3090, A40; and with 89 RTX 4090, L40.
    Architecture { number: 86, multiprocessors: 82, threads: 1536 },
    // H100, H200.
    Architecture { number: 90, multiprocessors: 132, threads: 2048 },
    // B200.
    Architecture { number: 100, multiprocessors: 148, threads: 2048 },
    // RTX 5090.
    Architecture { number: 120, multiprocessors: 170, threads: 1536 },
];

impl Policy {
    /// For an H200: 132 multiprocessors, eight blocks on each.
    pub const SM_90: Policy = Policy::of(&ARCHITECTURES[4], ARCHITECTURES[4].multiprocessors);

    /// For an architecture by its number, as in `sm_86`: the policy of the newest one that is not newer,
    /// or of the oldest.
    pub fn of_architecture(number: u32) -> Policy {
        let own = architecture(number);
        Policy::of(own, own.multiprocessors)
    }

    /// As [`Policy::of_architecture`], for a device with so many multiprocessors.
    pub fn of_device(number: u32, multiprocessors: u32) -> Policy {
        Policy::of(architecture(number), multiprocessors.max(1))
    }

    const fn of(architecture: &Architecture, multiprocessors: u32) -> Policy {
        let threads = 256;
        Policy {
            threads,
            resident: architecture.threads / threads,
            blocks: multiprocessors * (architecture.threads / threads),
            narrow_points: (1 << 31) - (1 << 25),
            short_row: 64,
            staged_blocks: 64,
            least_grid: 16,
            least_large_tiles: multiprocessors as u64 / 2,
            most_beyond: 25,
            // Two blocks of 32 rows for each multiprocessor.
            least_pairs: (multiprocessors * 2 * 32) as u64,
            bins: 1024,
        }
    }

    /// For the emulated device: small blocks, so that small arrays have several.
    pub const EMULATED: Policy = Policy {
        threads: 64,
        resident: 1,
        blocks: 6,
        narrow_points: 1000,
        short_row: 64,
        staged_blocks: 4,
        least_grid: 4,
        least_large_tiles: 2,
        // What is beyond the edges is to be tested.
        most_beyond: 1000,
        least_pairs: 40,
        bins: 1024,
    };

    /// The places of a part of the path through ragged rows whose elements are tuples of these: with the
    /// rest of a block of 64 behind them, 16 KiB of shared memory hold them.
    pub(crate) fn span(&self, components: &[ScalarType]) -> u64 {
        self.staged(components) - TREE
    }

    /// How many elements of rows a block of threads stages at once that are tuples of these: what 16 KiB of shared
    /// memory hold.
    pub(crate) fn staged(&self, components: &[ScalarType]) -> u64 {
        let widest = components.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let bytes: usize = components.iter().map(|ty| ty.bytes()).sum();
        let blocks = 16384 / (TREE as usize * bytes.next_multiple_of(widest));
        TREE * blocks.clamp(2, self.staged_blocks) as u64
    }
}

fn architecture(number: u32) -> &'static Architecture {
    ARCHITECTURES.iter().rev().find(|row| row.number <= number).unwrap_or(&ARCHITECTURES[0])
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS_OF_MAPS, Policy};

    /// Numbers of 32 bits hold the point that a thread would go on with behind the last one.
    #[test]
    fn a_step_behind_the_last_point_fits() {
        // The most points of a thread that go together.
        let together = 8;
        for number in [70, 75, 80, 86, 90, 100, 120] {
            let policy = Policy::of_architecture(number);
            let threads = u64::from(policy.blocks) * BLOCKS_OF_MAPS * u64::from(policy.threads);
            assert!(policy.narrow_points + threads * together <= 1 << 31, "{number}");
        }
    }

    #[test]
    fn an_architecture_has_the_policy_of_the_newest_that_is_not_newer() {
        let blocks = |number| Policy::of_architecture(number).blocks;
        assert_eq!(Policy::of_architecture(90), Policy::SM_90);
        assert_eq!((blocks(89), blocks(103), blocks(121)), (blocks(86), blocks(100), blocks(120)));
        assert_eq!(blocks(60), blocks(70));
        assert_eq!(blocks(75), 160);
    }

    #[test]
    fn a_device_has_as_many_blocks_as_its_multiprocessors_hold() {
        let blocks = |number, multiprocessors| Policy::of_device(number, multiprocessors).blocks;
        assert_eq!((blocks(75, 20), blocks(86, 28), blocks(120, 36)), (80, 168, 216));
        assert_eq!((blocks(80, 98), blocks(90, 114)), (784, 912));
        assert_eq!(Policy::of_device(90, 132), Policy::SM_90);
    }
}
