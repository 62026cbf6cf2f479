//! What is compiled for every operator and type (Note [Kernels of an operator]).

use crate::lanes::Lane;
use crate::operators::Binary;
use crate::stream::Stream;

use super::rows::{Exact, FoldRows, InTurn, Rows, baseline, fold_rows_combined};
use super::streams::{Send, Streaming, send, send_spread, stream, stream_exact};
use super::versions::Summed;
#[cfg(target_arch = "x86_64")]
use super::versions::{Exchanged, avx2};
use super::{Folded, Primitive, TREE};

/// How many whole blocks are scanned side by side, so that one does not wait for its own last result.
pub(super) const ABREAST: usize = 8;

/// Scans rows of some values, from their start values if there are such, to places for as many.
type ScanRows<T> = fn(&[T], Rows<'_>, Option<&[T]>, &mut [T]);

/// The loops of an operator.
#[derive(Debug)]
pub(crate) struct Kernels<T: 'static> {
    /// On two.
    pub(super) apply: fn(T, T) -> T,
    /// Combines one element, which comes first, with each of some.
    pub(super) shift: fn(T, &mut [T]),
    /// Combines elements pairwise, in place of the later ones.
    pub(super) combine: fn(&[T], &mut [T]),
    /// Scans each block in place.
    pub(super) scan: fn(&mut [T], &[(usize, usize)]),
    /// Scans rows of at most a block, each from its start value if there are such.
    pub(super) scan_rows: ScanRows<T>,
    /// Scans some whole blocks in place.
    pub(super) scan_abreast: fn(&mut [[T; TREE]; ABREAST]),
    /// Folds rows, if not by the others.
    fold_rows: Option<FoldRows<T>>,
    /// Sends elements in order.
    pub(super) send: Send<T>,
    /// Sends elements to folds in progress.
    pub(super) stream: Streaming<T>,
    /// Whether any bracketing gives the same bits.
    pub(super) exact: bool,
    /// If zero changes nothing besides.
    pub(super) from_zeros: Option<FromZeros<T>>,
    /// Sends elements to copies in turn, and how these begin, if there may be copies.
    pub(super) copies: Option<(Copies, Send<T>)>,
}

/// How copies of an array begin that are combined with it at the end, none of which changes what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// With zeros, to which the operator is neutral.
    Zeros,
    /// As the array: combining an element with itself changes nothing.
    Same,
}

/// The loops of an operator to which zero is neutral, and the bracketing makes no difference.
#[derive(Debug)]
pub(super) struct FromZeros<T: 'static> {
    /// What some values come to, at least one.
    pub(super) total: fn(&[T]) -> Option<T>,
    /// Writes values, each combined with all before it; what they all come to.
    pub(super) run: fn(T, &[T], &mut [T], &Stream) -> T,
}

impl<T: Lane> Kernels<T> {
    /// Folds rows for so many levels of the tree, or to one element each, a zero where there is none;
    /// appends what they come to.
    pub(super) fn fold_rows(&self, values: &[T], rows: Rows<'_>, levels: usize, to: &mut Vec<T>) {
        match self.fold_rows {
            Some(fold_rows) => fold_rows(values, rows, levels, to),
            None => fold_rows_combined(self, values, rows, to),
        }
    }
}

impl Primitive {
    /// Of an operator, in the tree.
    pub(crate) fn of<O: Binary<R = <O as Binary>::A>>() -> Primitive
    where
        O::A: Folded,
    {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return Primitive::new(const { &in_turn::<O>(avx2::<InTurn<O>>()) });
        }
        Primitive::new(const { &in_turn::<O>(baseline::<InTurn<O>>()) })
    }

    /// Of the addition of floats.
    pub(crate) fn sum<O: Binary<A = T, R = T>, T: Summed + Folded>() -> Primitive {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return Primitive::new(
                const {
                    let kernels = in_turn::<O>(avx2::<Exchanged<O, T>>());
                    &Kernels { scan_abreast: T::scan, ..kernels }
                },
            );
        }
        Primitive::of::<O>()
    }

    /// Of an operator to which the bracketing makes no difference.
    pub(crate) fn exact<O: Binary<R = <O as Binary>::A>>() -> Primitive
    where
        O::A: Folded,
    {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return Primitive::new(const { &exact::<O>(Some(avx2::<Exact<O>>())) });
        }
        Primitive::new(const { &exact::<O>(exact_baseline::<O>()) })
    }

    /// Of such an operator that yields an element where both are that.
    pub(crate) fn idempotent<O: Binary<R = <O as Binary>::A>>() -> Primitive
    where
        O::A: Folded,
    {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return Primitive::new(const { &idempotent::<O>(Some(avx2::<Exact<O>>())) });
        }
        Primitive::new(const { &idempotent::<O>(exact_baseline::<O>()) })
    }

    /// Of an operator on integers or truth values to which zero is neutral.
    pub(crate) fn from_zeros<O: Binary<R = <O as Binary>::A>>() -> Primitive
    where
        O::A: Folded,
    {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return Primitive::new(const { &from_zeros::<O>(Some(avx2::<Exact<O>>())) });
        }
        Primitive::new(const { &from_zeros::<O>(exact_baseline::<O>()) })
    }
}

const fn in_turn<O: Binary<R = <O as Binary>::A>>(fold_rows: FoldRows<O::A>) -> Kernels<O::A> {
    Kernels {
        apply: O::apply,
        shift: shift::<O>,
        combine: combine::<O>,
        scan: scan::<O>,
        scan_rows: scan_rows::<O>,
        scan_abreast: scan_abreast::<O>,
        fold_rows: Some(fold_rows),
        send: send::<O>,
        stream: stream::<O>,
        exact: false,
        from_zeros: None,
        copies: None,
    }
}

const fn exact<O: Binary<R = <O as Binary>::A>>(
    fold_rows: Option<FoldRows<O::A>>,
) -> Kernels<O::A> {
    Kernels {
        apply: O::apply,
        shift: shift::<O>,
        combine: combine::<O>,
        scan: scan::<O>,
        scan_rows: scan_rows::<O>,
        scan_abreast: scan_abreast::<O>,
        fold_rows,
        send: send::<O>,
        stream: stream_exact::<O>,
        exact: true,
        from_zeros: None,
        copies: None,
    }
}

const fn from_zeros<O: Binary<R = <O as Binary>::A>>(
    fold_rows: Option<FoldRows<O::A>>,
) -> Kernels<O::A> {
    let from_zeros = Some(FromZeros { total: total::<O>, run: run::<O> });
    let copies = Some((Copies::Zeros, send_spread::<O> as Send<O::A>));
    Kernels { from_zeros, copies, ..exact::<O>(fold_rows) }
}

const fn idempotent<O: Binary<R = <O as Binary>::A>>(
    fold_rows: Option<FoldRows<O::A>>,
) -> Kernels<O::A> {
    let copies = Some((Copies::Same, send_spread::<O> as Send<O::A>));
    Kernels { copies, ..exact::<O>(fold_rows) }
}

/// Without AVX2 the other kernels fold rows: few machines want that, and it is compiled for each type alone.
const fn exact_baseline<O: Binary<R = <O as Binary>::A>>() -> Option<FoldRows<O::A>> {
    #[cfg(target_arch = "x86_64")]
    return None;
    #[cfg(not(target_arch = "x86_64"))]
    Some(baseline::<Exact<O>>())
}

fn shift<O: Binary<R = <O as Binary>::A>>(earlier: O::A, later: &mut [O::A]) {
    for later in later {
        *later = O::apply(earlier, *later);
    }
}

fn combine<O: Binary<R = <O as Binary>::A>>(earlier: &[O::A], later: &mut [O::A]) {
    for (later, &earlier) in later.iter_mut().zip(earlier) {
        *later = O::apply(earlier, *later);
    }
}

fn scan<O: Binary<R = <O as Binary>::A>>(values: &mut [O::A], blocks: &[(usize, usize)]) {
    for &(start, length) in blocks {
        let block = &mut values[start..start + length];
        let mut running = block[0];
        for value in &mut block[1..] {
            running = O::apply(running, *value);
            *value = running;
        }
    }
}

fn scan_rows<O: Binary<R = <O as Binary>::A>>(
    values: &[O::A],
    rows: Rows<'_>,
    starts: Option<&[O::A]>,
    to: &mut [O::A],
) {
    // One for all, or each its own.
    let step = usize::from(starts.is_some_and(|starts| starts.len() > 1));
    for number in 0..rows.count() {
        let row = rows.row(number, values.len());
        let (values, to) = (&values[row.clone()], &mut to[row]);
        let Some((&first, rest)) = values.split_first() else { continue };
        let mut running = first;
        match starts {
            None => {
                to[0] = running;
                for (to, &value) in to[1..].iter_mut().zip(rest) {
                    running = O::apply(running, value);
                    *to = running;
                }
            }
            Some(starts) => {
                let start = starts[number * step];
                to[0] = O::apply(start, running);
                for (to, &value) in to[1..].iter_mut().zip(rest) {
                    running = O::apply(running, value);
                    *to = O::apply(start, running);
                }
            }
        }
    }
}

fn scan_abreast<O: Binary<R = <O as Binary>::A>>(blocks: &mut [[O::A; TREE]; ABREAST]) {
    let mut running: [O::A; ABREAST] = std::array::from_fn(|at| blocks[at][0]);
    for step in 1..TREE {
        for (running, block) in running.iter_mut().zip(blocks.iter_mut()) {
            *running = O::apply(*running, block[step]);
            block[step] = *running;
        }
    }
}

fn total<O: Binary<R = <O as Binary>::A>>(values: &[O::A]) -> Option<O::A> {
    values.iter().copied().reduce(O::apply)
}

/// How many values are combined before they go past the caches.
const BUFFER: usize = 256;

fn run<O: Binary<R = <O as Binary>::A>>(
    first: O::A,
    values: &[O::A],
    to: &mut [O::A],
    stream: &Stream,
) -> O::A {
    let mut running = first;
    let mut next = |value: O::A| {
        running = O::apply(running, value);
        running
    };
    if !stream.is_past() {
        to.iter_mut().zip(values).for_each(|(to, &value)| *to = next(value));
        return running;
    }
    let mut buffer = [<O::A>::default(); BUFFER];
    for (to, values) in to.chunks_mut(BUFFER).zip(values.chunks(BUFFER)) {
        let buffer = &mut buffer[..values.len()];
        buffer.iter_mut().zip(values).for_each(|(to, &value)| *to = next(value));
        stream.copy(buffer, to);
    }
    running
}
