//! Runs one kernel: a traversal of its space, chunk by chunk, whose results go to the sinks.
//!
//! A chunk is evaluated block by block. What a sink stores goes straight to the output; what it
//! combines is *staged*, in a buffer of a chunk that stays in the cache, and worked on when the chunk
//! is complete. Chunks are cut at rows, or rows at blocks of the second level of the tree of a fold,
//! so the cuts are no part of the result.

mod affine;
mod bits;
mod chunk;
mod claim;
mod column;
mod copy;
mod filter;
mod interior;
mod layout;
mod map;
mod mode;
mod order;
mod product;
mod reduce;
mod rows;
mod scan;
mod scatter;
mod sort;
mod sorted;
mod stepped;
mod transpose;
mod weight;
mod work;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};

use weft_ir::flat::{Start, Type, Var};
use weft_ir::plan::{Kernel, Sink, SortedKeys};
use weft_ir::{Column, Exhausted, Meter, Scalar, ScalarType, Stop};

use crate::execute::{Context, Halt, Source};
use crate::lanes::{LaneType, Storage};
use crate::pool::IntoColumn as _;
use crate::prepare::{BoundKernel, over_rows};
use crate::shape::Shape;
use crate::workers::Workers;
pub(crate) use copy::only_copies;
use layout::Layout;
pub(crate) use order::order_of;
pub(crate) use sort::LONG as LONG_SORT;
pub(crate) use sorted::sort_keys;

/// A kernel that is about to run.
pub(crate) struct Launch<'a> {
    /// As the plan has it.
    pub(crate) kernel: &'a Kernel,
    /// Prepared.
    pub(crate) bound: &'a BoundKernel,
    /// The types of the program's variables.
    pub(crate) types: &'a [Type],
    /// The points.
    pub(crate) shape: Shape<'a>,
    /// What the code reads, by number.
    pub(crate) sources: &'a [Source<'a>],
    /// The extents of the destinations of its scatter.
    pub(crate) extents: BTreeMap<Var, Vec<usize>>,
    /// The threads.
    pub(crate) workers: &'a Workers,
    /// Set when the run shall end.
    pub(crate) cancel: &'a AtomicBool,
    /// What a sort yields in place of the order (Note [Sorted keys]).
    pub(crate) sorted: Option<&'a SortedKeys>,
    /// Shows how much of the space is done.
    pub(crate) meter: &'a Meter,
    /// How many bytes may be allocated.
    pub(crate) free_bytes: u64,
    /// The limit that this comes from.
    pub(crate) limit: u64,
    /// The most bytes that it takes beside its results (Note [Computed factors]).
    pub(crate) beside: AtomicU64,
}

/// What a kernel yields for one variable.
#[derive(Debug)]
pub(crate) enum Yield {
    /// A scalar.
    Scalar(Scalar),
    /// An array, with its extents.
    Array(Vec<usize>, Column),
}

/// Below so many points a kernel stays on the caller's thread, unless its points are dear
/// ([`Launch::is_parallel`]).
const PARALLEL: usize = 32_768;

impl<'a> Launch<'a> {
    pub(crate) fn context(&self) -> Context<'_> {
        let native = self.bound.kernel.native.as_ref();
        Context { sources: self.sources, cancel: self.cancel, native, overdue: None }
    }

    fn element(&self, var: Var) -> ScalarType {
        self.types[var.0 as usize].element
    }

    fn stop(&self, halt: Halt) -> Stop {
        halt.stop(&self.bound.spans)
    }

    /// That many elements, which may be anything, if there is memory for them.
    fn allocate(&self, ty: LaneType, length: usize, taken: &mut u64) -> Result<Storage, Stop> {
        let wanted = (length as u64).saturating_mul(ty.scalar_type().bytes() as u64);
        *taken = taken.saturating_add(wanted);
        if *taken > self.free_bytes {
            let span = self.kernel.span;
            return Err(Exhausted::Memory { wanted, limit: self.limit, span }.into());
        }
        Ok(self.workers.memory().take(ty, length))
    }

    /// The bytes of what reductions yield, whichever way they go.
    fn reduced_bytes(&self) -> u64 {
        let row: u64 = (self.kernel.sinks.iter())
            .filter_map(|sink| match sink {
                Sink::Reduce { registers, .. } => Some(registers),
                _ => None,
            })
            .flatten()
            .map(|(_, ty)| ty.bytes() as u64)
            .sum();
        row.saturating_mul(self.shape.rows() as u64)
    }

    /// Runs it; `destinations` are those of its scatter. Yields what each variable becomes.
    pub(crate) fn run(&self, destinations: Vec<Storage>) -> Result<Vec<(Var, Yield)>, Stop> {
        let mut taken = self.reduced_bytes();
        if taken > self.free_bytes {
            let (wanted, limit, span) = (taken, self.limit, self.kernel.span);
            return Err(Exhausted::Memory { wanted, limit, span }.into());
        }
        // Products begin with their start values.
        let product = self.product(&mut taken)?;
        let starts = match product {
            Some(_) => vec![None; self.kernel.sinks.len()],
            None => self.starts()?,
        };
        let layout = Layout::new(self);
        let mut outputs = layout.allocate(self, &mut taken)?;
        let known = match product {
            Some(results) => Some(results),
            None => match self.transpose(&mut outputs)? {
                Some(results) => Some(results),
                None => match self.copies(&mut outputs, layout.streams)? {
                    Some(results) => Some(results),
                    None => match self.columns(&layout, &starts)? {
                        Some(results) => Some(results),
                        None => self.stepped(&layout, &mut outputs)?,
                    },
                },
            },
        };
        let results = match known {
            Some(results) => results,
            None => self.chunks(&layout, &mut outputs, &starts, destinations, &mut taken)?,
        };
        let mut yields = Vec::new();
        for (output, storage) in layout.outputs.iter().zip(&mut outputs) {
            if let Some(var) = output.var {
                let storage = std::mem::replace(storage, Storage::new(storage.ty()));
                yields.push((var, self.array(var, output.extents.clone(), storage)));
            }
        }
        let mut inputs = Vec::new();
        for ((sink, result), start) in self.kernel.sinks.iter().zip(results).zip(starts) {
            match (sink, result) {
                (Sink::Reduce { arrays, .. }, SinkResult::Reduced { values, started }) => {
                    let values = if started { values } else { self.started(sink, values, start)? };
                    for (array, values) in arrays.iter().zip(values) {
                        let extents = self.shape.outer().storage();
                        match array {
                            Some(var) if self.kernel.epilogue.is_none() => {
                                yields.push((*var, self.array(*var, extents, values)));
                                continue;
                            }
                            Some(var) => {
                                yields.push((*var, self.array(*var, extents, values.clone())));
                            }
                            None => {}
                        }
                        inputs.push(values);
                    }
                }
                (Sink::Filter { counts, kept, .. }, SinkResult::Filtered(lengths, mut values)) => {
                    let more = values.split_off(kept.len());
                    self.filtered(counts, kept, &lengths, values, more, &mut taken, &mut yields)?;
                }
                (Sink::Scatter { arrays, destinations, .. }, SinkResult::Scattered(values)) => {
                    for ((var, before), values) in arrays.iter().zip(destinations).zip(values) {
                        let extents = self.extents[before].clone();
                        yields.push((*var, self.array(*var, extents, values)));
                    }
                }
                (Sink::Sort { descending, .. }, _)
                    if let Some(SortedKeys { sorted, order: None, .. }) = self.sorted =>
                {
                    let keys = &outputs[layout.keys[0]];
                    let values = self.sort_values(keys, *descending, &mut taken)?;
                    yields.push((*sorted, self.array(*sorted, self.shape.storage(), values)));
                }
                (Sink::Sort { descending, order, .. }, _) => {
                    let keys: Vec<&Storage> =
                        layout.keys.iter().map(|&output| &outputs[output]).collect();
                    let order_of = self.sort(&keys, *descending, &mut taken)?;
                    let extents = self.shape.storage();
                    if let Some(SortedKeys { sorted, .. }) = self.sorted {
                        let values = self.keys_in_order(&order_of, keys[0], &mut taken)?;
                        yields.push((*sorted, self.array(*sorted, extents.clone(), values)));
                    }
                    yields.push((*order, self.array(*order, extents, order_of.positions)));
                }
                (_, _) => {}
            }
        }
        self.row_epilogue(&inputs, &mut taken, &mut yields)?;
        // The keys of a sort, and what only the epilogue wanted.
        outputs.into_iter().chain(inputs).for_each(|unused| self.workers.memory().keep(unused));
        Ok(yields)
    }

    /// The epilogue of reductions, over the rows.
    fn row_epilogue(
        &self,
        inputs: &[Storage],
        taken: &mut u64,
        yields: &mut Vec<(Var, Yield)>,
    ) -> Result<(), Stop> {
        let (Some(epilogue), Some(thunk)) = (&self.kernel.epilogue, &self.bound.kernel.epilogue)
        else {
            return Ok(());
        };
        if !over_rows(self.kernel, epilogue.indices.len()) {
            return Ok(());
        }
        let outer = self.shape.outer();
        let types = epilogue.stores.iter().map(|(_, var)| LaneType::of(self.element(*var)));
        let stored = self.map(thunk, &outer, inputs, types.collect(), taken)?;
        for ((_, var), storage) in epilogue.stores.iter().zip(stored) {
            yields.push((*var, self.array(*var, outer.storage(), storage)));
        }
        Ok(())
    }

    /// The start values of each sink, one per row, or one for all rows; none where no row needs them.
    fn starts(&self) -> Result<Vec<Option<Vec<Storage>>>, Stop> {
        let kernel = &*self.bound.kernel;
        let is_needed = |sink: &Sink| match sink {
            Sink::Reduce { start: Start::IfEmpty(_), .. } => self.shape.has_empty_rows(),
            _ => true,
        };
        let start = |at: usize, sink: &Sink| {
            let (Some(thunk), Some(fold)) = (&kernel.starts[at], &kernel.folds[at]) else {
                return Ok(None);
            };
            match &kernel.known_starts[at] {
                _ if !is_needed(sink) => Ok(None),
                Some(known) => Ok(Some(known.clone())),
                None => {
                    let outer = self.shape.outer();
                    self.map(thunk, &outer, &[], fold.types().collect(), &mut 0).map(Some)
                }
            }
        };
        self.kernel.sinks.iter().enumerate().map(|(at, sink)| start(at, sink)).collect()
    }

    fn array(&self, var: Var, extents: Vec<usize>, storage: Storage) -> Yield {
        let length = extents.iter().product();
        let column = storage.into_column(self.element(var), length, self.workers.memory());
        match extents.is_empty() {
            true => Yield::Scalar(column.scalar(0).expect("a scalar is one element")),
            false => Yield::Array(extents, column),
        }
    }
}

/// What a sink has come to.
#[derive(Debug)]
pub(crate) enum SinkResult {
    /// Nothing but what it has written.
    Written,
    /// The elements of the reduction, per row, and whether they have met the start values.
    Reduced { values: Vec<Storage>, started: bool },
    /// How many points of each row are kept, and the values of all.
    Filtered(Vec<usize>, Vec<Storage>),
    /// The destinations.
    Scattered(Vec<Storage>),
}
