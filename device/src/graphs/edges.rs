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

/// For each operation the numbers of those before it that must be done first: the one that has last written what it
/// touches, and if it writes there, those that have read it since. All that are behind a kernel with checks wait for
/// it: they do nothing if one fails, so they may rely on what it has checked.
pub(super) fn edges<'a>(operations: impl Iterator<Item = &'a Operation>) -> Vec<Vec<usize>> {
    let mut buffers: BTreeMap<u64, Touched> = BTreeMap::new();
    let mut checked = None;
    let edges = operations.enumerate().map(|(number, operation)| {
        let mut before: BTreeSet<usize> = checked.into_iter().collect();
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
        if operation.checks {
            checked = Some(number);
        }
        before.into_iter().collect()
    });
    edges.collect()
}

#[cfg(test)]
mod tests {
    use super::super::operation::{Operation, Touch};
    use super::edges;
    use crate::driver::Work;

    /// An operation that reads and writes these buffers.
    fn operation(reads: &[u64], writes: &[u64], checks: bool) -> Operation {
        let touches = |buffers: &[u64], writes| -> Vec<Touch> {
            buffers.iter().map(|buffer| Touch { buffer: *buffer, writes }).collect()
        };
        let touches = [touches(reads, false), touches(writes, true)].concat();
        let work = Work::Clear { address: 0, bytes: 1 };
        Operation { work, parameters: Vec::new(), checks, touches }
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
        assert_eq!(edges(all.iter()), expected);
    }

    #[test]
    fn all_wait_for_checks() {
        let all = [
            operation(&[1], &[2], false),
            operation(&[1], &[3], true),
            operation(&[1], &[4], false),
            operation(&[1], &[5], true),
            operation(&[2], &[6], false),
        ];
        let expected: [&[usize]; 5] = [&[], &[], &[1], &[1], &[0, 3]];
        assert_eq!(edges(all.iter()), expected);
    }
}
