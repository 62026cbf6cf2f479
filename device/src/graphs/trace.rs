//! Finds what repeats itself.
//!
//! Operations come in *units*, the turns of loops and what is between them, and units in *stretches*, between which
//! the host reads or writes what is on the device, or waits. Two things are looked for: a few units that come twice,
//! one after the other, and a stretch that has been there before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::operation::Operation;

/// The most units of a pattern that repeats itself.
const MOST_UNITS: usize = 32;

/// The most operations of a pattern.
pub(super) const MOST_OPERATIONS: usize = 256;

/// So many different stretches are remembered.
const MOST_STRETCHES: usize = 1024;

/// Operations that come again and again.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Equal for those that are alike.
    pub(super) hash: u64,
    pub(super) operations: Vec<Operation>,
    /// Whether it comes again right behind itself, as far as is known.
    pub(super) repeats: bool,
}

/// A part of what was asked for.
#[derive(Debug, Default)]
pub(super) struct Trace {
    operations: Vec<Operation>,
    hashes: Vec<u64>,
    /// Where units end, and their hashes.
    units: Vec<(usize, u64)>,
    /// Whether it does not begin where the stretch does.
    is_cut: bool,
    /// How often stretches were there.
    seen: BTreeMap<u64, u32>,
}

fn combined(hashes: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hashes.hash(&mut hasher);
    hasher.finish()
}

impl Trace {
    pub(super) fn push(&mut self, operation: Operation) {
        if self.operations.len() >= 4 * MOST_OPERATIONS {
            self.forget();
        }
        self.hashes.push(operation.hash());
        self.operations.push(operation);
    }

    /// Whether a unit begins here.
    pub(super) fn is_at_unit(&self) -> bool {
        self.operations.len() == self.last_end()
    }

    fn last_end(&self) -> usize {
        self.units.last().map_or(0, |(end, _)| *end)
    }

    /// A unit ends: what has come twice now.
    pub(super) fn end_unit(&mut self) -> Option<Pattern> {
        let (begin, end) = (self.last_end(), self.operations.len());
        if begin == end {
            return None;
        }
        self.units.push((end, combined(&self.hashes[begin..])));
        let count = self.units.len();
        // Stretches that begin alike have their patterns at the same places.
        let mut lengths = (1..=MOST_UNITS).filter(|length| count.is_multiple_of(*length));
        let length = lengths.find(|length| {
            count >= 2 * length && {
                let (before, last) = self.units[count - 2 * length..].split_at(*length);
                before.iter().zip(last).all(|(before, last)| before.1 == last.1)
            }
        })?;
        let start = if count == length { 0 } else { self.units[count - length - 1].0 };
        let operations = &self.operations[start..];
        let before = &self.operations[start - operations.len()..start];
        let is_same = before.iter().zip(operations).all(|(before, last)| before.is_like(last));
        (is_same && operations.len() <= MOST_OPERATIONS).then(|| Pattern {
            hash: combined(&self.hashes[start..]),
            operations: operations.to_vec(),
            repeats: true,
        })
    }

    /// The stretch ends: what it was, if there was one like it before.
    pub(super) fn end_stretch(&mut self) -> Option<Pattern> {
        let (is_cut, count) = (std::mem::take(&mut self.is_cut), self.operations.len());
        let (operations, hashes) =
            (std::mem::take(&mut self.operations), std::mem::take(&mut self.hashes));
        self.units.clear();
        if is_cut || count == 0 || count > MOST_OPERATIONS {
            return None;
        }
        if self.seen.len() >= MOST_STRETCHES {
            self.seen.clear();
        }
        let hash = combined(&hashes);
        let times = self.seen.entry(hash).or_default();
        *times += 1;
        (*times > 1).then_some(Pattern { hash, operations, repeats: false })
    }

    /// Forgets what there was of this stretch.
    pub(super) fn forget(&mut self) {
        self.operations.clear();
        self.hashes.clear();
        self.units.clear();
        self.is_cut = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::operation::{Operation, Touch};
    use super::{Pattern, Trace};
    use crate::driver::Work;

    fn operation(buffer: u64) -> Operation {
        let touches = vec![Touch { buffer, writes: true }];
        let work = Work::Clear { address: buffer, bytes: 1 };
        Operation { work, parameters: Vec::new(), checks: false, relies: false, touches }
    }

    /// The buffers of a pattern.
    fn buffers(pattern: Option<Pattern>) -> Vec<u64> {
        let operations = pattern.map(|pattern| pattern.operations).unwrap_or_default();
        operations.iter().map(|operation| operation.touches[0].buffer).collect()
    }

    /// The pattern that is found behind each unit.
    fn found(units: &[&[u64]]) -> Vec<Vec<u64>> {
        let mut trace = Trace::default();
        let of_unit = |unit: &&[u64]| {
            unit.iter().for_each(|buffer| trace.push(operation(*buffer)));
            buffers(trace.end_unit())
        };
        units.iter().map(of_unit).collect()
    }

    #[test]
    fn units_that_come_twice_are_found() {
        assert_eq!(found(&[&[1, 2], &[1, 2]]), [vec![], vec![1, 2]]);
        // Two of them in turn, from an even one on.
        let found = found(&[&[9], &[1], &[2], &[1], &[2], &[1], &[2]]);
        assert_eq!(found[..5], vec![Vec::<u64>::new(); 5][..]);
        assert_eq!(found[5], [2, 1]);
    }

    #[test]
    fn empty_units_are_none() {
        assert_eq!(found(&[&[1], &[], &[1]]), [vec![], vec![], vec![1]]);
    }

    #[test]
    fn stretches_that_come_again_are_found() {
        let mut trace = Trace::default();
        let mut of = |stretch: &[u64]| {
            stretch.iter().for_each(|buffer| trace.push(operation(*buffer)));
            buffers(trace.end_stretch())
        };
        assert_eq!(
            [of(&[1, 2]), of(&[3]), of(&[1, 2]), of(&[])],
            [vec![], vec![], vec![1, 2], vec![]]
        );
        trace.push(operation(1));
        trace.forget();
        trace.push(operation(3));
        assert!(trace.end_stretch().is_none(), "a part of it is not known");
    }
}
