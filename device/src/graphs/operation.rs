//! What is asked of the device, one thing after the other, and what has been.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use weft_cuda::Access;

use crate::driver::Work;

/// The most bytes of a row, in which the driver clears and copies in a graph: it may refuse longer ones.
const MOST_BYTES: u64 = (1 << 31) - 1;

/// The buffers that a run has, with their bytes.
pub(crate) type Buffers = BTreeMap<u64, u64>;

/// What is asked of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) work: Work,
    /// Of a kernel.
    pub(crate) parameters: &'a [Vec<u8>],
    pub(crate) access: Access<'a>,
}

/// A buffer that an operation touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Touch {
    pub(crate) buffer: u64,
    pub(crate) writes: bool,
}

/// What was asked of the device.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) work: Work,
    pub(crate) parameters: Vec<Vec<u8>>,
    pub(super) checks: bool,
    pub(super) relies: bool,
    /// Each buffer once, in the order of their addresses.
    pub(super) touches: Vec<Touch>,
}

impl Asked<'_> {
    /// Work that no kernel does.
    pub(crate) fn plain(work: Work) -> Asked<'static> {
        let access = Access { reads: &[], checks: false, relies: false };
        Asked { work, parameters: &[], access }
    }

    pub(super) fn operation(&self, buffers: &Buffers) -> Operation {
        Operation {
            work: self.work,
            parameters: self.parameters.to_vec(),
            checks: self.access.checks,
            relies: self.access.relies,
            touches: self.touches(buffers),
        }
    }

    /// The buffers of the run that it touches. A kernel touches all whose addresses are among its parameters, or
    /// addresses in them; numbers that happen to look like one do no harm.
    pub(crate) fn touches(&self, buffers: &Buffers) -> Vec<Touch> {
        let of = |address: u64| {
            let (buffer, bytes) = buffers.range(..=address).next_back()?;
            (address == *buffer || address - buffer < *bytes).then_some(*buffer)
        };
        let mut touches = match self.work {
            Work::Kernel { .. } => {
                let words = self.parameters.iter().flat_map(|bytes| bytes.chunks_exact(8));
                let words = words
                    .map(|word| word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)));
                let touch = |buffer| Touch { buffer, writes: !self.access.reads.contains(&buffer) };
                words.filter_map(of).map(touch).collect()
            }
            Work::Clear { address, .. } => {
                vec![Touch { buffer: of(address).unwrap_or(address), writes: true }]
            }
            Work::Copy { to, from, .. } => vec![
                Touch { buffer: of(to).unwrap_or(to), writes: true },
                Touch { buffer: of(from).unwrap_or(from), writes: false },
            ],
        };
        // One that is written comes first, and stays.
        touches.sort_by_key(|touch| (touch.buffer, !touch.writes));
        touches.dedup_by_key(|touch| touch.buffer);
        touches
    }

    /// Whether it is an operation, but perhaps with other numbers among the parameters.
    pub(super) fn is_like(&self, operation: &Operation, buffers: &Buffers) -> bool {
        let lengths =
            |parameters: &[Vec<u8>]| -> Vec<usize> { parameters.iter().map(Vec::len).collect() };
        self.work == operation.work
            && self.access.checks == operation.checks
            && self.access.relies == operation.relies
            && (self.parameters == operation.parameters
                || (lengths(self.parameters) == lengths(&operation.parameters)
                    && self.touches(buffers) == operation.touches))
    }
}

impl Operation {
    /// Equal for operations that are alike, but perhaps for numbers among the parameters.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.work, self.checks, self.relies, &self.touches).hash(&mut hasher);
        hasher.finish()
    }

    pub(super) fn is_like(&self, other: &Operation) -> bool {
        self.work == other.work
            && (self.checks, self.relies) == (other.checks, other.relies)
            && self.touches == other.touches
    }

    pub(crate) fn is_kernel(&self) -> bool {
        matches!(self.work, Work::Kernel { .. })
    }

    /// Whether it can be part of a graph.
    pub(super) fn fits_graph(&self) -> bool {
        match self.work {
            Work::Kernel { .. } => true,
            Work::Clear { bytes, .. } | Work::Copy { bytes, .. } => {
                (1..=MOST_BYTES).contains(&bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_cuda::Access;

    use super::{Asked, Buffers, Touch};
    use crate::driver::{Function, Work};

    /// Buffers of 100 bytes.
    fn buffers() -> Buffers {
        [1000, 2000, 3000].map(|address| (address, 100)).into()
    }

    /// A parameter with these words.
    fn parameter(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn asked<'a>(parameters: &'a [Vec<u8>], reads: &'a [u64], checks: bool) -> Asked<'a> {
        let work = Work::Kernel { function: Function::numbered(7), blocks: 1, threads: 256 };
        Asked { work, parameters, access: Access { reads, checks, relies: false } }
    }

    #[test]
    fn kernels_touch_what_is_among_their_parameters() {
        let all = [parameter(&[5, 2000, 1000]), vec![1; 4], parameter(&[3099, 2100, 2050])];
        let touches = asked(&all, &[1000], false).operation(&buffers()).touches;
        let touch = |buffer, writes| Touch { buffer, writes };
        assert_eq!(touches, [touch(1000, false), touch(2000, true), touch(3000, true)]);
        let copy = Asked::plain(Work::Copy { to: 1010, from: 2000, bytes: 4 });
        let touches = copy.operation(&buffers()).touches;
        assert_eq!(touches, [touch(1000, true), touch(2000, false)]);
        // What is written in part is written.
        let within = Asked::plain(Work::Copy { to: 1050, from: 1000, bytes: 4 });
        assert_eq!(within.operation(&buffers()).touches, [touch(1000, true)]);
    }

    #[test]
    fn operations_are_alike_that_differ_in_numbers() {
        let (own, reads) = ([parameter(&[1000, 2000, 7])], [1000]);
        let operation = asked(&own, &reads, false).operation(&buffers());
        let is_like = |words: &[u64], reads: &[u64], checks| {
            let parameters = [parameter(words)];
            asked(&parameters, reads, checks).is_like(&operation, &buffers())
        };
        assert!(is_like(&[1000, 2000, 7], &reads, false));
        assert!(is_like(&[1000, 2000, 8], &reads, false));
        assert!(!is_like(&[1000, 3000, 7], &reads, false), "another buffer");
        assert!(!is_like(&[1000, 2000, 3000], &reads, false), "one more buffer");
        assert!(!is_like(&[1000, 2000, 8], &[], false), "it may write more");
        assert!(!is_like(&[1000, 2000, 7], &reads, true), "it has checks");
        assert!(!is_like(&[1000, 2000], &reads, false), "it has fewer parameters");
        let relying = Access { reads: &reads, checks: false, relies: true };
        let relying = Asked { access: relying, ..asked(&own, &reads, false) };
        assert!(!relying.is_like(&operation, &buffers()), "it relies on checks");
        assert_ne!(relying.operation(&buffers()).hash(), operation.hash());
        assert!(!relying.operation(&buffers()).is_like(&operation));
        let clear = Asked::plain(Work::Clear { address: 1000, bytes: 4 });
        assert!(!clear.is_like(&operation, &buffers()), "it is something else");
    }
}
