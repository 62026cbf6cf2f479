//! Folds of rows by one common operator on one component, without lists of blocks.
//!
//! Note [Rows and blocks]. A row of at most 64 elements is one chain from left to right; processors overlap
//! the chains of neighbouring rows. Longer rows are cut into blocks, of which sixteen are folded side
//! by side, so that none waits for its own last result. Where any bracketing gives the same bits
//! there are no blocks: a row is folded in lanes.

use std::marker::PhantomData;
use std::ops::Range;

use crate::lanes::Lane;
use crate::operators::Binary;

use super::TREE;
use super::kernels::{ABREAST, Kernels};

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
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match *self {
            Rows::One => 1,
            Rows::Even { count, .. } => count,
            Rows::Ragged(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// Where one stands among so many elements.
    #[inline(always)]
    pub(super) fn row(&self, row: usize, elements: usize) -> Range<usize> {
        match *self {
            Rows::One => 0..elements,
            Rows::Even { length, .. } => row * length..(row + 1) * length,
            Rows::Ragged(offsets) => {
                let first = offsets[0];
                (offsets[row] - first) as usize..(offsets[row + 1] - first) as usize
            }
        }
    }

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

/// Folds some blocks, so that none waits for its own last result.
#[inline(always)]
fn abreast<O: Binary<R = <O as Binary>::A>>(blocks: [&[O::A; TREE]; ABREAST]) -> [O::A; ABREAST] {
    let mut folded: [O::A; ABREAST] = std::array::from_fn(|at| blocks[at][0]);
    for step in 1..TREE {
        for (folded, block) in folded.iter_mut().zip(blocks) {
            *folded = O::apply(*folded, block[step]);
        }
    }
    folded
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
pub(super) type FoldRows<T> = fn(&[T], Rows<'_>, usize, &mut Vec<T>);

/// In the baseline of the target.
pub(super) const fn baseline<S: Strategy>() -> FoldRows<S::Element> {
    fold_rows::<S>
}

/// See [`FoldRows`].
#[inline(always)]
pub(super) fn fold_rows<S: Strategy>(
    values: &[S::Element],
    rows: Rows<'_>,
    levels: usize,
    to: &mut Vec<S::Element>,
) {
    to.reserve(rows.count());
    let mut buffers = (Vec::new(), Vec::new());
    // One loop for all kinds of rows: its body is long, and there is one for each operator and type.
    for row in 0..rows.count() {
        fold_row::<S>(&values[rows.row(row, values.len())], levels, &mut buffers, to);
    }
}

/// As [`fold_rows`], by what combines elements pairwise; any bracketing must give the same bits.
pub(super) fn fold_rows_combined<T: Lane>(
    kernels: &Kernels<T>,
    values: &[T],
    rows: Rows<'_>,
    to: &mut Vec<T>,
) {
    const LANES: usize = 256;
    for row in 0..rows.count() {
        let row = &values[rows.row(row, values.len())];
        let (groups, rest) = row.as_chunks::<LANES>();
        let Some((first, groups)) = groups.split_first() else {
            to.push(rest.iter().copied().reduce(kernels.apply).unwrap_or_default());
            continue;
        };
        let mut lanes = *first;
        groups.iter().for_each(|group| (kernels.combine)(group, &mut lanes));
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            let (low, high) = lanes.split_at_mut(width);
            (kernels.combine)(&high[..width], low);
        }
        to.push(rest.iter().copied().fold(lanes[0], kernels.apply));
    }
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
    for level in 1..=levels {
        if below.len() <= TREE {
            to.push(chain::<S>(below));
            return;
        }
        next.clear();
        fold_blocks::<S>(below, if level < levels { &mut *next } else { &mut *to });
        std::mem::swap(next, last);
        below = last;
    }
}

/// Folds whole blocks, and the rest of a row.
#[inline(always)]
fn fold_blocks<S: Strategy>(row: &[S::Element], to: &mut Vec<S::Element>) {
    let (blocks, tail) = row.as_chunks::<TREE>();
    let (whole, block) = (blocks.len(), |at: usize| &blocks[at]);
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
