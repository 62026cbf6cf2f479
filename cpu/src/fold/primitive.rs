//! Folds and scans by one common operator on one component, without the block interpreter.

use crate::isa::Slot;
use crate::lanes::{Elements, Frame, GROUP, Lane, Storage};
use crate::operators::Binary;

use super::TREE;

/// The loops of a commutative operator. Blocks are given by start and length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Primitive {
    fold: fn(Elements<'_>, &[(usize, usize)], &mut Storage),
    scan: fn(&mut Storage, &[(usize, usize)]),
    shift: fn(&mut Storage, &[(usize, usize)], Elements<'_>),
    accumulate: fn(&mut Frame, Slot, &Frame, Slot, usize),
    send: fn(&mut Storage, &[Option<usize>], Elements<'_>),
}

/// How many whole blocks run side by side, so that one does not wait for its own last result.
const ABREAST: usize = 8;

impl Primitive {
    /// Of an operator.
    pub(crate) fn of<O: Binary<R = <O as Binary>::A>>() -> Primitive {
        Primitive {
            fold: fold::<O>,
            scan: scan::<O>,
            shift: shift::<O>,
            accumulate: accumulate::<O>,
            send: send::<O>,
        }
    }

    /// Folds each block.
    pub(super) fn fold(
        &self,
        values: Elements<'_>,
        blocks: &[(usize, usize)],
        results: &mut Storage,
    ) {
        (self.fold)(values, blocks, results);
    }

    /// Scans each block in place.
    pub(super) fn scan(&self, values: &mut Storage, blocks: &[(usize, usize)]) {
        (self.scan)(values, blocks);
    }

    /// Combines each element of block i with carry i, which comes first.
    pub(super) fn shift(
        &self,
        values: &mut Storage,
        blocks: &[(usize, usize)],
        carries: Elements<'_>,
    ) {
        (self.shift)(values, blocks, carries);
    }

    /// Combines the lanes of a register with those of another frame's.
    pub(super) fn accumulate(
        &self,
        accumulator: &mut Frame,
        slot: Slot,
        from: &Frame,
        value: Slot,
        count: usize,
    ) {
        (self.accumulate)(accumulator, slot, from, value, count);
    }

    /// Combines elements with those that are sent to them, in order.
    pub(crate) fn send(&self, to: &mut Storage, targets: &[Option<usize>], from: Elements<'_>) {
        (self.send)(to, targets, from);
    }
}

/// Splits blocks into runs of [`ABREAST`] whole ones and single ones.
fn runs(blocks: &[(usize, usize)]) -> impl Iterator<Item = &[(usize, usize)]> {
    let mut rest = blocks;
    std::iter::from_fn(move || {
        let whole = rest.iter().take(ABREAST).take_while(|block| block.1 == TREE).count();
        let length = if whole == ABREAST { ABREAST } else { rest.len().min(1) };
        let (run, after) = rest.split_at(length);
        rest = after;
        (!run.is_empty()).then_some(run)
    })
}

fn fold<O: Binary<R = <O as Binary>::A>>(
    values: Elements<'_>,
    blocks: &[(usize, usize)],
    results: &mut Storage,
) {
    let values = <O::A as Lane>::elements(values);
    let results = <O::A as Lane>::storage_mut(results);
    let mut results = results.iter_mut();
    for run in runs(blocks) {
        if run.len() == ABREAST {
            let block = |at: usize| -> &[O::A; TREE] {
                values[run[at].0..].first_chunk().expect("a whole block")
            };
            let lanes: [&[O::A; TREE]; ABREAST] = std::array::from_fn(block);
            let mut folded: [O::A; ABREAST] = std::array::from_fn(|at| lanes[at][0]);
            for step in 1..TREE {
                for (folded, lane) in folded.iter_mut().zip(lanes) {
                    *folded = O::apply(*folded, lane[step]);
                }
            }
            for (folded, result) in folded.into_iter().zip(&mut results) {
                *result = folded;
            }
        } else {
            let (start, length) = run[0];
            let block = &values[start..start + length];
            let folded = block[1..].iter().fold(block[0], |a, &b| O::apply(a, b));
            *results.next().expect("a result per block") = folded;
        }
    }
}

fn scan<O: Binary<R = <O as Binary>::A>>(values: &mut Storage, blocks: &[(usize, usize)]) {
    let values = <O::A as Lane>::storage_mut(values);
    for run in runs(blocks) {
        let adjacent = run.windows(2).all(|pair| pair[0].0 + TREE == pair[1].0);
        if run.len() == ABREAST && adjacent {
            let start = run[0].0;
            let (lanes, _) = values[start..start + ABREAST * TREE].as_chunks_mut::<TREE>();
            let mut running: [O::A; ABREAST] = std::array::from_fn(|at| lanes[at][0]);
            for step in 1..TREE {
                for (running, lane) in running.iter_mut().zip(lanes.iter_mut()) {
                    *running = O::apply(*running, lane[step]);
                    lane[step] = *running;
                }
            }
        } else {
            for &(start, length) in run {
                let block = &mut values[start..start + length];
                let mut running = block[0];
                for value in &mut block[1..] {
                    running = O::apply(running, *value);
                    *value = running;
                }
            }
        }
    }
}

fn shift<O: Binary<R = <O as Binary>::A>>(
    values: &mut Storage,
    blocks: &[(usize, usize)],
    carries: Elements<'_>,
) {
    let values = <O::A as Lane>::storage_mut(values);
    for (&(start, length), &carry) in blocks.iter().zip(<O::A as Lane>::elements(carries)) {
        for value in &mut values[start..start + length] {
            *value = O::apply(carry, *value);
        }
    }
}

fn accumulate<O: Binary<R = <O as Binary>::A>>(
    accumulator: &mut Frame,
    slot: Slot,
    from: &Frame,
    value: Slot,
    count: usize,
) {
    let values = &<O::A as Lane>::file(from)[value.index as usize];
    let register = &mut <O::A as Lane>::file_mut(accumulator)[slot.index as usize];
    for (at, group) in register[..count.div_ceil(GROUP)].iter_mut().enumerate() {
        let values = &values[at * value.step()].0;
        for (lane, &value) in group.0.iter_mut().zip(values) {
            *lane = O::apply(*lane, value);
        }
    }
}

fn send<O: Binary<R = <O as Binary>::A>>(
    to: &mut Storage,
    targets: &[Option<usize>],
    from: Elements<'_>,
) {
    let to = <O::A as Lane>::storage_mut(to);
    for (target, &value) in targets.iter().zip(<O::A as Lane>::elements(from)) {
        if let Some(target) = *target {
            to[target] = O::apply(to[target], value);
        }
    }
}
