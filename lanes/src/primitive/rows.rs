//! Folds of rows by one common operator on one component, without lists of blocks.
//!
//! Note [Rows and blocks]. A row of at most 64 elements is one chain from left to right; processors overlap
//! the chains of neighbouring rows. Longer rows are cut into blocks, of which sixteen are folded side
//! by side, so that none waits for its own last result. Where any bracketing gives the same bits
//! there are no blocks: a row is folded in lanes.

use std::marker::PhantomData;

use crate::isa::Slot;
use crate::lanes::{Elements, Frame, GROUP, Lane, Storage};
use crate::operators::Binary;

use super::{TREE, abreast};

/// How many blocks run side by side.
pub(super) const SIDE_BY_SIDE: usize = 16;

/// Consecutive rows of elements.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// All elements there are.
    One,
    /// Rows of one length.
    Even {
        /// How many.
        count: usize,
        /// Of each.
        length: usize,
    },
    /// With these offsets; the first belongs to the first element.
    Ragged(&'a [i64]),
}

impl Rows<'_> {
    /// The length of each; there are so many elements.
    pub fn lengths(&self, elements: usize) -> Vec<usize> {
        match *self {
            Rows::One => vec![elements],
            Rows::Even { count, length } => vec![length; count],
            Rows::Ragged(offsets) => {
                offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect()
            }
        }
    }
}

/// How blocks are folded.
pub(super) trait Strategy {
    /// The operator.
    type Operator: Binary<A = Self::Element, R = Self::Element>;
    /// Its operands.
    type Element: Lane;
    /// Whether any bracketing gives the same bits.
    const EXACT: bool;
    /// An element that changes no other, if there is one.
    const NEUTRAL: Option<Self::Element>;

    /// What each block comes to.
    fn side_by_side(
        blocks: [&[Self::Element; TREE]; SIDE_BY_SIDE],
    ) -> [Self::Element; SIDE_BY_SIDE];
}

/// For any operator.
pub(super) struct InTurn<O>(PhantomData<O>);

impl<O: Binary<R = <O as Binary>::A>> Strategy for InTurn<O> {
    type Operator = O;
    type Element = O::A;
    const EXACT: bool = false;
    const NEUTRAL: Option<O::A> = None;

    #[inline(always)]
    fn side_by_side(blocks: [&[O::A; TREE]; SIDE_BY_SIDE]) -> [O::A; SIDE_BY_SIDE] {
        both(
            abreast::<O>(std::array::from_fn(|at| blocks[at])),
            abreast::<O>(std::array::from_fn(|at| blocks[at + SIDE_BY_SIDE / 2])),
        )
    }
}

/// For operators whose results are the same in any bracketing.
pub(super) struct Exact<O>(PhantomData<O>);

impl<O: Binary<R = <O as Binary>::A>> Strategy for Exact<O> {
    type Operator = O;
    type Element = O::A;
    const EXACT: bool = true;
    const NEUTRAL: Option<O::A> = None;

    #[inline(always)]
    fn side_by_side(blocks: [&[O::A; TREE]; SIDE_BY_SIDE]) -> [O::A; SIDE_BY_SIDE] {
        InTurn::<O>::side_by_side(blocks)
    }
}

fn both<T: Lane>(low: [T; SIDE_BY_SIDE / 2], high: [T; SIDE_BY_SIDE / 2]) -> [T; SIDE_BY_SIDE] {
    std::array::from_fn(|at| if at < low.len() { low[at] } else { high[at - low.len()] })
}

/// Folds rows for so many levels of the tree, or to one element each, a zero where there is none;
/// appends what they come to.
#[inline(always)]
pub(super) fn fold_rows<S: Strategy>(
    values: Elements<'_>,
    rows: Rows<'_>,
    levels: usize,
    to: &mut Storage,
) {
    let values = <S::Element as Lane>::elements(values);
    let to = <S::Element as Lane>::storage_mut(to);
    let (count, first) = match rows {
        Rows::One => (1, 0),
        Rows::Even { count, .. } => (count, 0),
        Rows::Ragged(offsets) => {
            (offsets.len().saturating_sub(1), offsets.first().copied().unwrap_or(0))
        }
    };
    to.reserve(count);
    let mut buffers = (Vec::new(), Vec::new());
    // One loop for all kinds of rows: its body is long, and there is one for each operator and type.
    for row in 0..count {
        let (start, end) = match rows {
            Rows::One => (0, values.len()),
            Rows::Even { length, .. } => (row * length, (row + 1) * length),
            Rows::Ragged(offsets) => {
                ((offsets[row] - first) as usize, (offsets[row + 1] - first) as usize)
            }
        };
        fold_row::<S>(&values[start..end], levels, &mut buffers, to);
    }
}

/// Folds the lanes of a register for one level of the tree, and appends what they come to.
#[inline(always)]
pub(super) fn fold_register<S: Strategy>(
    frame: &Frame,
    slot: Slot,
    lanes: usize,
    to: &mut Storage,
) {
    let register = &<S::Element as Lane>::file(frame)[slot.index as usize];
    let to = <S::Element as Lane>::storage_mut(to);
    let group = |at: usize| &register[at * slot.step()].0;
    let (whole, rest) = (lanes / GROUP, lanes % GROUP);
    let tail = if rest > 0 { &group(whole)[..rest] } else { &[] };
    fold_blocks::<S>(whole, group, tail, to);
}

/// Appends what a row comes to; the buffers may hold anything.
#[inline(always)]
fn fold_row<S: Strategy>(
    row: &[S::Element],
    levels: usize,
    buffers: &mut (Vec<S::Element>, Vec<S::Element>),
    to: &mut Vec<S::Element>,
) {
    if S::EXACT {
        to.push(in_lanes::<S>(row));
        return;
    }
    let (next, last) = buffers;
    let mut below = row;
    for _ in 0..levels {
        if below.len() <= TREE {
            to.push(chain::<S>(below));
            return;
        }
        next.clear();
        let (blocks, tail) = below.as_chunks::<TREE>();
        fold_blocks::<S>(blocks.len(), |at| &blocks[at], tail, next);
        std::mem::swap(next, last);
        below = last;
    }
    to.extend_from_slice(below);
}

/// Folds whole blocks, and the rest of a row.
#[inline(always)]
fn fold_blocks<'v, S: Strategy>(
    whole: usize,
    block: impl Fn(usize) -> &'v [S::Element; TREE],
    tail: &[S::Element],
    to: &mut Vec<S::Element>,
) {
    if S::EXACT {
        let whole = (0..whole).map(|at| in_lanes::<S>(block(at)));
        let tail = (!tail.is_empty()).then(|| in_lanes::<S>(tail));
        to.extend(whole.chain(tail).reduce(S::Operator::apply));
        return;
    }
    let mut done = 0;
    while done + SIDE_BY_SIDE <= whole {
        to.extend(S::side_by_side(std::array::from_fn(|at| block(done + at))));
        done += SIDE_BY_SIDE;
    }
    let mut padded = [S::Element::default(); TREE];
    let pads = S::NEUTRAL.filter(|_| !tail.is_empty());
    if let Some(neutral) = pads {
        padded[..tail.len()].copy_from_slice(tail);
        padded[tail.len()..].fill(neutral);
    }
    let rest = whole - done + usize::from(pads.is_some());
    if rest > 2 {
        // Places that are left over hold the last block once more.
        let of = |at: usize| match done + at.min(rest - 1) {
            at if at < whole => block(at),
            _ => &padded,
        };
        to.extend_from_slice(&S::side_by_side(std::array::from_fn(of))[..rest]);
        if pads.is_some() {
            return;
        }
    } else {
        to.extend((done..whole).map(|at| chain::<S>(block(at))));
    }
    if !tail.is_empty() {
        to.push(chain::<S>(tail));
    }
}

/// From left to right.
#[inline(always)]
fn chain<S: Strategy>(values: &[S::Element]) -> S::Element {
    let Some((&first, rest)) = values.split_first() else { return S::Element::default() };
    rest.iter().fold(first, |a, &b| S::Operator::apply(a, b))
}

/// In any order.
#[inline(always)]
fn in_lanes<S: Strategy>(values: &[S::Element]) -> S::Element {
    const LANES: usize = 32;
    let (groups, rest) = values.as_chunks::<LANES>();
    let Some((first, groups)) = groups.split_first() else { return chain::<S>(rest) };
    let mut lanes = *first;
    for group in groups {
        for (lane, &value) in lanes.iter_mut().zip(group) {
            *lane = S::Operator::apply(*lane, value);
        }
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for at in 0..width {
            lanes[at] = S::Operator::apply(lanes[at], lanes[at + width]);
        }
    }
    rest.iter().fold(lanes[0], |a, &b| S::Operator::apply(a, b))
}
