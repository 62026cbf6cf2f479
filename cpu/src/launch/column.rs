//! Reductions along columns: the lanes are rows, and the elements of all of them are combined step by
//! step. That suits short rows, and rows whose neighbours lie side by side in memory, as in the sums
//! of a matrix's columns or its product with another.

use std::ops::Range;
use std::sync::Mutex;

use weft_ir::Stop;
use weft_ir::plan::Sink;

use crate::execute::{Halt, Source};
use crate::fold::{Folder, TREE};
use crate::isa::Slot;
use crate::lanes::{
    BLOCK, Frame, GROUP, Group, Lane, LaneType, Storage, copy_lanes, load_lanes, with_lane_type,
};
use crate::launch::chunk::CHUNK;
use crate::launch::{Launch, SinkResult};
use crate::routine::{Branch, Index, Instruction, Routine, level};
use crate::shape::Axis;
use crate::traverse::{Evaluator, Mode};
use crate::workers::lock;

/// The fewest rows that are worth it.
const LANES: usize = 64;

/// The most bytes that blocks of the tree may take, where the steps are shared among the threads and there is
/// memory for them.
const MOST_BYTES: usize = 1 << 26;

/// Some rows, and some of the steps along them.
#[derive(Clone, Debug)]
struct Claim {
    rows: Range<usize>,
    steps: Range<usize>,
}

impl Launch<'_> {
    /// The reductions, if all sinks are such and columns are the better way; else nothing.
    pub(super) fn columns(&self) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some(mode) = self.column_mode() else { return Ok(None) };
        let kernel = &*self.bound.kernel;
        let compiled = kernel.body.variant(mode, &kernel.types);
        let claims = self.column_claims(mode, &compiled.routine.results);
        let most = claims.iter().map(|claim| claim.rows.len()).max().unwrap_or(0);
        let parts = Mutex::new(Vec::new());
        let start = || {
            let evaluator = Evaluator::new(compiled, mode, &self.shape, self.context(), most);
            (evaluator, self.column_folders())
        };
        let piece = self.meter.begin(self.shape.points() as u64);
        self.workers
            .each(self.is_parallel(), claims.into_iter(), start, |state, claim| {
                let (evaluator, folders) = state;
                let done = claim.rows.len() * claim.steps.len();
                let key = (claim.rows.start, claim.steps.start);
                let sums = self.column_claim(evaluator, folders, claim)?;
                lock(&parts).push((key, sums));
                if let Some(piece) = &piece {
                    piece.advance(done as u64);
                }
                Ok(())
            })
            .map_err(|halt| self.stop(halt))?;
        drop(piece);
        let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        parts.sort_by_key(|(key, _)| *key);
        let in_pieces = parts.iter().any(|((_, step), _)| *step > 0);
        let parts = parts.into_iter().map(|(_, part)| part);
        let all = match in_pieces {
            true => self.column_pieces(parts.collect()).map_err(|halt| self.stop(halt))?,
            false => self.rows_in_order(parts.collect()),
        };
        let reduced = |values| SinkResult::Reduced { values, started: false };
        Ok(Some(all.into_iter().map(reduced).collect()))
    }

    /// What the parts hold of all rows, for each sink.
    fn rows_in_order(&self, mut parts: Vec<Vec<Vec<Storage>>>) -> Vec<Vec<Storage>> {
        if parts.len() < 2 {
            return parts.pop().unwrap_or_default();
        }
        let (rows, memory) = (self.shape.rows(), self.workers.memory());
        let room = |part: &Storage| memory.take(part.ty(), rows);
        let of_sink = |of_sink: &Vec<Storage>| of_sink.iter().map(room).collect();
        let mut all: Vec<Vec<Storage>> = parts[0].iter().map(of_sink).collect();
        let mut first = 0;
        for part in &parts {
            let count = part.iter().flatten().next().map_or(0, Storage::len);
            for (all, part) in all.iter_mut().flatten().zip(part.iter().flatten()) {
                with_lane_type!(all.ty(), T => {
                    T::storage_mut(all)[first..first + count].copy_from_slice(T::storage(part));
                });
            }
            first += count;
        }
        all
    }

    /// The work, cut: between rows, or between blocks of the tree, where rows are few and long.
    fn column_claims(&self, mode: Mode, results: &[Slot]) -> Vec<Claim> {
        let rows = self.shape.rows();
        let steps = self.shape.points() / rows;
        let threads = self.workers.threads();
        let bytes: usize = results.iter().map(|slot| slot.ty.scalar_type().bytes()).sum();
        let few = rows <= BLOCK && rows < threads * 1024 && threads > 1;
        let free = self.free_bytes.saturating_sub(self.reduced_bytes());
        let most = MOST_BYTES.min(usize::try_from(free).unwrap_or(usize::MAX));
        if few && steps >= threads * 4 * TREE && (rows * steps / TREE) * bytes <= most {
            let span = steps.div_ceil(threads * 4).next_multiple_of(TREE);
            let starts = (0..steps).step_by(span);
            return starts
                .map(|start| Claim { rows: 0..rows, steps: start..steps.min(start + span) })
                .collect();
        }
        // One thread reads memory in order.
        let share = if threads == 1 { rows } else { rows.div_ceil(threads * 2) };
        let least = share.clamp(LANES, BLOCK);
        let span = (CHUNK * 4 / steps.max(1)).clamp(least, CHUNK);
        let span = match (mode, self.shape.outer().axes.last()) {
            // Whole rows of lanes.
            (Mode::Column, Some(Axis::Dense(extent))) => span.div_ceil(*extent) * extent,
            (_, _) => span,
        };
        let starts = (0..rows).step_by(span);
        starts.map(|start| Claim { rows: start..rows.min(start + span), steps: 0..steps }).collect()
    }

    fn column_folders(&self) -> Vec<Folder<'_>> {
        let kernel = &*self.bound.kernel;
        let folds = kernel.folds.iter().map(|fold| fold.as_ref().expect("reductions only"));
        folds.map(|fold| Folder::new(fold, &kernel.types, self.context(), false)).collect()
    }

    /// What some rows come to; of some of their steps what each block of the tree comes to.
    fn column_claim(
        &self,
        evaluator: &mut Evaluator<'_>,
        folders: &mut [Folder<'_>],
        claim: Claim,
    ) -> Result<Vec<Vec<Storage>>, Halt> {
        let Claim { rows, steps } = claim;
        let first = rows.start;
        let whole = steps.len() == self.shape.points() / self.shape.rows();
        let began = evaluator.begin();
        let accumulators = evaluator.folds().then(|| varying(&evaluator.compiled.routine.results));
        let values = accumulators.as_ref().unwrap_or(&evaluator.compiled.routine.results).clone();
        let mut trees = Vec::new();
        let mut at = 0;
        for sink in &self.kernel.sinks {
            let count = sink.operands().count();
            trees.push(Tree::new(&values[at..at + count], whole.then_some(rows.len())));
            at += count;
        }
        let last = steps.end;
        let mut push = |frame: &Frame, block: Range<usize>, level: usize, step: usize| {
            let count = block.len();
            for (tree, folder) in trees.iter_mut().zip(&mut *folders) {
                let values = std::mem::take(&mut tree.values);
                tree.push(folder, level, frame, &values, count)?;
                tree.values = values;
                if step + 1 == last {
                    tree.finish(folder, block.start - first, count)?;
                }
            }
            Ok(())
        };
        match &accumulators {
            Some(slots) => {
                let mut frame = frame_of(slots, 0);
                evaluator.folded_columns(
                    rows,
                    steps,
                    (&mut frame, slots),
                    |frame, block, steps| push(frame, block, 1, steps.end - 1),
                )?;
            }
            None => {
                evaluator.columns(rows, steps, |frame, block, step| push(frame, block, 0, step))?
            }
        }
        evaluator.end(began);
        Ok(trees.into_iter().map(|tree| tree.results).collect())
    }

    /// What rows come to, of what the blocks of the tree have come to, in order.
    ///
    /// A part holds, row of lanes by row of lanes, all its blocks of the tree.
    fn column_pieces(&self, parts: Vec<Vec<Vec<Storage>>>) -> Result<Vec<Vec<Storage>>, Halt> {
        let rows = self.shape.rows();
        let (_, lanes) = self.lanes();
        let mut all = Vec::new();
        for (sink, mut folder) in self.column_folders().into_iter().enumerate() {
            let types: Vec<Slot> = parts[0][sink].iter().map(|part| slot_of(part.ty())).collect();
            let slots = varying(&types);
            let mut frame = frame_of(&slots, lanes);
            let mut tree = Tree::new(&slots, Some(rows));
            for first in (0..rows).step_by(lanes) {
                for part in &parts {
                    let blocks = part[sink][0].len() / rows;
                    let of_lanes = first * blocks..(first + lanes) * blocks;
                    for start in of_lanes.step_by(lanes) {
                        for (&slot, part) in slots.iter().zip(&part[sink]) {
                            let part = part.elements().slice(start, start + lanes);
                            with_lane_type!(slot.ty, T => {
                                load_lanes::<T>(&mut frame, slot, <T as Lane>::elements(part));
                            });
                        }
                        tree.push(&mut folder, 1, &frame, &slots, lanes)?;
                    }
                }
                tree.finish(&mut folder, first, lanes)?;
            }
            all.push(tree.results);
        }
        Ok(all)
    }

    /// How lanes run along columns, and how many there are in a row of them.
    fn lanes(&self) -> (Mode, usize) {
        let outer = self.shape.outer();
        match outer.axes.last() {
            Some(Axis::Dense(extent)) if outer.axes.len() > 1 && *extent >= LANES => {
                (Mode::Column, *extent)
            }
            _ => (Mode::FlatColumns, self.shape.rows()),
        }
    }

    /// How lanes run, if columns are the better way.
    fn column_mode(&self) -> Option<Mode> {
        let reduces = |sink: &Sink| matches!(sink, Sink::Reduce { .. });
        let rows = self.shape.rows();
        if self.bound.kernel.own != self.bound.kernel.body.results.len()
            || !self.kernel.sinks.iter().all(reduces)
            || self.shape.axes.len() < 2
            || rows < LANES
        {
            return None;
        }
        let Some(Axis::Dense(steps @ 1..)) = self.shape.axes.last().copied() else { return None };
        let (mode, lanes) = self.lanes();
        let kernel = &*self.bound.kernel;
        let row_mode = self.mode(&kernel.body, &self.shape);
        let row = kernel.body.variant(row_mode, &kernel.types);
        let column = kernel.body.variant(mode, &kernel.types);
        let (row, column) = (&row.routine, &column.routine);
        let per_row = self.cost(row, level::BLOCK, steps.min(1024)) + 1.0;
        let per_column = self.cost(column, level::STEP, lanes.min(1024))
            + self.cost(column, level::BLOCK, lanes.min(1024)) / steps as f64;
        (per_column < per_row).then_some(mode)
    }

    /// About what one element costs in the instructions of a level, on so many lanes.
    fn cost(&self, routine: &Routine, at: usize, lanes: usize) -> f64 {
        let instructions = &routine.levels[at];
        let overhead = 30.0 / lanes as f64;
        let cost = |instruction: &Instruction| match instruction {
            Instruction::Read(read) if !read.out.uniform => {
                let Source::Array { strides, over_space, .. } = &self.sources[read.array] else {
                    return 0.0;
                };
                if read.at_point && *over_space {
                    return 1.0;
                }
                let mut step = 0;
                for (index, stride) in read.indices.iter().zip(strides) {
                    match index {
                        Index::Uniform(_) => {}
                        Index::Affine(_, coefficient) => step += coefficient * stride,
                        Index::Varying(_) => return 8.0,
                    }
                }
                if step == 1 { 1.0 } else { 6.0 }
            }
            Instruction::Apply { arguments, .. } if !arguments.out.uniform => 1.0,
            Instruction::Ramp { .. } | Instruction::Check { .. } => 1.0,
            // All lanes take one side.
            Instruction::Branch(Branch { condition, then, otherwise, .. }) if condition.uniform => {
                let side = |side: usize| {
                    let side = &routine.subroutines[side].routine;
                    (0..level::COUNT).map(|at| self.cost(side, at, lanes)).sum::<f64>()
                };
                side(then.0).max(side(otherwise.0))
            }
            Instruction::Branch(_) | Instruction::Repeat(_) => 20.0,
            Instruction::Read(_) | Instruction::Apply { .. } => 0.0,
        };
        instructions.iter().map(|instruction| cost(instruction) + overhead).sum()
    }
}

fn slot_of(ty: LaneType) -> Slot {
    Slot { ty, uniform: false, index: 0 }
}

/// Registers of the same types in a frame of their own, that differ from lane to lane.
fn varying(slots: &[Slot]) -> Vec<Slot> {
    let mut own: Vec<Slot> = Vec::with_capacity(slots.len());
    for slot in slots {
        let index = own.iter().filter(|other| other.ty == slot.ty).count() as u32;
        own.push(Slot { index, ..slot_of(slot.ty) });
    }
    own
}

/// A frame of such registers.
fn frame_of(slots: &[Slot], lanes: usize) -> Frame {
    let mut frame = Frame::default();
    for slot in slots {
        with_lane_type!(slot.ty, T => {
            let group = Group([T::default(); GROUP]);
            T::file_mut(&mut frame).push(vec![group; lanes.div_ceil(GROUP)]);
        });
    }
    frame
}

/// The tree of a fold with lanes for elements: level by level what the current block has come to.
struct Tree {
    /// The registers of the elements, where they come from.
    values: Vec<Slot>,
    /// The registers of a level.
    slots: Vec<Slot>,
    levels: Vec<(Frame, usize)>,
    /// Whether it ends with what blocks of elements come to, one after the other.
    in_pieces: bool,
    results: Vec<Storage>,
}

impl Tree {
    /// For elements in these registers, for so many rows; or for pieces of rows.
    fn new(values: &[Slot], rows: Option<usize>) -> Tree {
        let results = values.iter().map(|slot| Storage::zeros(slot.ty, rows.unwrap_or(0)));
        Tree {
            values: values.to_vec(),
            slots: varying(values),
            levels: Vec::new(),
            in_pieces: rows.is_none(),
            results: results.collect(),
        }
    }

    /// Adds an element of a level per lane.
    fn push(
        &mut self,
        folder: &mut Folder<'_>,
        level: usize,
        from: &Frame,
        values: &[Slot],
        count: usize,
    ) -> Result<(), Halt> {
        if self.in_pieces && level == 1 {
            self.keep(from, values, count);
            return Ok(());
        }
        while self.levels.len() <= level {
            self.levels.push((frame_of(&self.slots, count), 0));
        }
        let (accumulator, taken) = &mut self.levels[level];
        if *taken == 0 {
            folder.replace(accumulator, &self.slots, from, values, count);
        } else {
            folder.accumulate(accumulator, &self.slots, from, values, count)?;
        }
        *taken += 1;
        if *taken < TREE {
            return Ok(());
        }
        *taken = 0;
        let (complete, slots) = (std::mem::take(&mut self.levels[level].0), self.slots.clone());
        let pushed = self.push(folder, level + 1, &complete, &slots, count);
        self.levels[level].0 = complete;
        pushed
    }

    /// Appends what a block has come to.
    fn keep(&mut self, from: &Frame, values: &[Slot], count: usize) {
        for (&slot, result) in values.iter().zip(&mut self.results) {
            with_lane_type!(slot.ty, T => {
                let result = T::storage_mut(result);
                let start = result.len();
                result.resize(start + count, T::default());
                copy_lanes::<T>(from, slot, &mut result[start..]);
            });
        }
    }

    /// Combines the levels, and begins again for the next block of lanes.
    fn finish(&mut self, folder: &mut Folder<'_>, at: usize, count: usize) -> Result<(), Halt> {
        let mut carry: Option<Frame> = None;
        for (mut frame, taken) in std::mem::take(&mut self.levels) {
            if taken == 0 {
                continue;
            }
            if let Some(carry) = &carry {
                folder.accumulate(&mut frame, &self.slots, carry, &self.slots, count)?;
            }
            carry = Some(frame);
        }
        if self.in_pieces {
            if let Some(frame) = carry {
                let slots = self.slots.clone();
                self.keep(&frame, &slots, count);
            }
            return Ok(());
        }
        let frame = carry.expect("a row has elements");
        for (&slot, result) in self.slots.iter().zip(&mut self.results) {
            with_lane_type!(slot.ty, T => {
                let result = &mut T::storage_mut(result)[at..at + count];
                copy_lanes::<T>(&frame, slot, result);
            });
        }
        Ok(())
    }
}
