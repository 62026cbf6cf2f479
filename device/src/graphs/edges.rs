//! Which operations have to wait for which.

use std::collections::{BTreeMap, BTreeSet};

use super::operation::{Operation, Touch};

/// Who has touched a buffer.
#[derive(Clone, Debug, Default)]
struct Touched {
    writer: Option<usize>,
    /// Since then.
    readers: Vec<usize>,
}

/// The edges of a graph.
#[derive(Debug, PartialEq)]
pub(super) struct Edges {
    /// For each operation the numbers of those before it that must be done first: the one that has last written what
    /// it touches, and if it writes there, those that have read it since; and if it relies on checks, all that have
    /// some.
    pub(super) before: Vec<Vec<usize>>,
    /// Whether all that have checks come one after the other.
    pub(super) are_checks_in_order: bool,
}

pub(super) fn edges<'a>(operations: impl Iterator<Item = &'a Operation>) -> Edges {
    let mut buffers: BTreeMap<u64, Touched> = BTreeMap::new();
    // Those on which nobody has relied yet; who has stands for them.
    let mut checks: BTreeSet<usize> = BTreeSet::new();
    // The last one with checks, and for each operation whether it is that or behind that.
    let (mut last, mut is_behind) = (None, Vec::new());
    let mut are_checks_in_order = true;
    let before = operations.enumerate().map(|(number, operation)| {
        let mut before = BTreeSet::new();
        for Touch { buffer, writes } in &operation.touches {
            let touched = buffers.entry(*buffer).or_default();
            before.extend(touched.writer);
            if *writes {
                before.extend(touched.readers.drain(..));
                touched.writer = Some(number);
            } else {
                touched.readers.push(number);
            }
        }
        if operation.relies {
            before.append(&mut checks);
            checks.insert(number);
        }
        let own = last.is_none() || before.iter().any(|at| is_behind[*at]);
        is_behind.push(own);
        if operation.checks {
            checks.insert(number);
            are_checks_in_order &= own;
            last = Some(number);
            is_behind.fill(false);
            is_behind[number] = true;
        }
        before.into_iter().collect()
    });
    Edges { before: before.collect(), are_checks_in_order }
}

#[cfg(test)]
mod tests {
    use super::super::operation::{Operation, Touch};
    use super::{Edges, edges};
    use crate::driver::Work;

    /// An operation that reads and writes these buffers.
    fn operation(reads: &[u64], writes: &[u64], checks: bool) -> Operation {
        let touches = |buffers: &[u64], writes| -> Vec<Touch> {
            buffers.iter().map(|buffer| Touch { buffer: *buffer, writes }).collect()
        };
        let touches = [touches(reads, false), touches(writes, true)].concat();
        let work = Work::Clear { address: 0, bytes: 1 };
        Operation { work, parameters: Vec::new(), checks, relies: false, touches }
    }

    fn relying(operation: Operation) -> Operation {
        Operation { relies: true, ..operation }
    }

    #[test]
    fn what_touches_the_same_waits() {
        let all = [
            operation(&[1], &[2], false),
            operation(&[1], &[3], false),
            // Reads what was written.
            operation(&[2, 3], &[4], false),
            // Writes what is read.
            operation(&[], &[2], false),
            // Writes what was written.
            operation(&[], &[2], false),
            operation(&[5], &[1], false),
        ];
        let expected: [&[usize]; 6] = [&[], &[], &[0, 1], &[0, 2], &[3], &[0, 1]];
        assert_eq!(edges(all.iter()).before, expected);
    }

    #[test]
    fn those_wait_for_checks_that_rely_on_them() {
        let all = [
            operation(&[1], &[2], false),
            operation(&[1], &[3], true),
            operation(&[1], &[4], false),
            relying(operation(&[1], &[5], true)),
            operation(&[1], &[6], true),
            relying(operation(&[2], &[7], false)),
            relying(operation(&[1], &[8], false)),
        ];
        let expected: [&[usize]; 7] = [&[], &[], &[], &[1], &[], &[0, 3, 4], &[5]];
        assert_eq!(edges(all.iter()).before, expected);
    }

    #[test]
    fn checks_are_in_order_if_each_is_behind_the_last() {
        let in_order = |all: &[Operation]| {
            let Edges { are_checks_in_order, .. } = edges(all.iter());
            are_checks_in_order
        };
        let first = operation(&[1], &[2], true);
        let between = operation(&[2], &[3], false);
        assert!(in_order(&[between.clone(), first.clone()]));
        assert!(!in_order(&[first.clone(), operation(&[1], &[4], true)]));
        assert!(in_order(&[first.clone(), operation(&[2], &[4], true)]));
        assert!(in_order(&[first.clone(), between.clone(), operation(&[3], &[4], true)]));
        assert!(in_order(&[first.clone(), relying(operation(&[1], &[4], true))]));
        // Behind the first one, but not behind the second one.
        let all = [first.clone(), operation(&[2], &[4], true), operation(&[2], &[5], true)];
        assert!(!in_order(&all));
        let all = [first, operation(&[2], &[4], true), between, operation(&[3], &[5], true)];
        assert!(!in_order(&all));
    }
}
