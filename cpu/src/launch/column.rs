//! Reductions along columns: the lanes are rows, and the elements of all of them are combined step by
//! step. That suits short rows, and rows whose neighbours lie side by side in memory, as in the sums
//! of a matrix's columns or its product with another.

use std::sync::Mutex;

use weft_ir::Stop;
use weft_ir::plan::Sink;

use crate::compile::Compiled;
use crate::execute::{Halt, Source};
use crate::fold::{Folder, TREE};
use crate::isa::Slot;
use crate::lanes::{BLOCK, Frame, GROUP, Group, Lane, LaneType, Storage, with_lane_type};
use crate::launch::chunk::CHUNK;
use crate::launch::{Launch, PARALLEL, SinkResult};
use crate::routine::{Index, Instruction, level};
use crate::shape::Axis;
use crate::traverse::{Evaluator, Mode};
use crate::workers::lock;

/// The fewest rows that are worth it.
const LANES: usize = 64;

impl Launch<'_> {
    /// The reductions, if all sinks are such and columns are the better way; else nothing.
    pub(super) fn columns(&self) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some(mode) = self.column_mode() else { return Ok(None) };
        let kernel = &*self.bound.kernel;
        let compiled = kernel.body.variant(mode, &kernel.types);
        let rows = self.shape.rows();
        let steps = self.shape.points() / rows;
        let least = rows.div_ceil(self.workers.threads() * 2).clamp(LANES, BLOCK);
        let span = (CHUNK * 4 / steps.max(1)).clamp(least, CHUNK);
        let span = match (mode, self.shape.outer().axes.last()) {
            // Whole rows of lanes.
            (Mode::Column, Some(Axis::Dense(extent))) => span.div_ceil(*extent) * extent,
            (_, _) => span,
        };
        let claims = (0..rows).step_by(span).map(|start| start..rows.min(start + span));
        let parts = Mutex::new(Vec::new());
        let start = || {
            let folders = kernel.folds.iter().map(|fold| {
                let fold = fold.as_ref().expect("reductions only");
                Folder::new(fold, &kernel.types, self.context(), false)
            });
            let evaluator =
                Evaluator::new(compiled, mode, &self.shape, self.context(), span.min(rows));
            (evaluator, folders.collect::<Vec<_>>())
        };
        self.workers
            .each(self.shape.points() >= PARALLEL, claims, start, |(evaluator, folders), rows| {
                let first = rows.start;
                let mut sums: Vec<Tree> = Vec::new();
                let mut at = 0;
                for sink in &self.kernel.sinks {
                    let count = crate::prepare::operands(sink).len();
                    sums.push(Tree::new(&compiled.routine.results[at..at + count], rows.len()));
                    at += count;
                }
                evaluator.columns(rows, |frame, block, step| {
                    let count = block.len();
                    for (tree, folder) in sums.iter_mut().zip(&mut *folders) {
                        tree.push(folder, frame, count)?;
                        if step + 1 == steps {
                            tree.finish(folder, block.start - first, count)?;
                        }
                    }
                    Ok(())
                })?;
                let sums: Vec<Vec<Storage>> = sums.into_iter().map(|tree| tree.results).collect();
                lock(&parts).push((first, sums));
                Ok(())
            })
            .map_err(|halt| self.stop(halt))?;
        let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        parts.sort_by_key(|(first, _)| *first);
        let mut parts = parts.into_iter().map(|(_, part)| part);
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            for (all, part) in all.iter_mut().flatten().zip(part.iter().flatten()) {
                all.append(part.elements());
            }
        }
        Ok(Some(all.into_iter().map(SinkResult::Reduced).collect()))
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
        let outer = self.shape.outer();
        let (mode, lanes) = match outer.axes.last() {
            Some(Axis::Dense(extent)) if outer.axes.len() > 1 && *extent >= LANES => {
                (Mode::Column, *extent)
            }
            _ => (Mode::FlatColumns, rows),
        };
        let kernel = &*self.bound.kernel;
        let row_mode = self.mode(&kernel.body, &self.shape);
        let row = kernel.body.variant(row_mode, &kernel.types);
        let column = kernel.body.variant(mode, &kernel.types);
        let per_row = self.cost(row, level::BLOCK, steps.min(1024)) + 1.0;
        let per_column = self.cost(column, level::STEP, lanes.min(1024))
            + self.cost(column, level::BLOCK, lanes.min(1024)) / steps as f64;
        (per_column < per_row).then_some(mode)
    }

    /// About what one element costs in the instructions of a level, on so many lanes.
    fn cost(&self, compiled: &Compiled, at: usize, lanes: usize) -> f64 {
        let instructions = &compiled.routine.levels[at];
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
            Instruction::Branch(_) | Instruction::Repeat(_) => 20.0,
            Instruction::Read(_) | Instruction::Apply { .. } => 0.0,
        };
        instructions.iter().map(|instruction| cost(instruction) + overhead).sum()
    }
}

/// The tree of a fold with lanes for elements: level by level what the current block has come to.
struct Tree {
    /// The registers of the elements in the evaluator's frame.
    values: Vec<Slot>,
    /// The registers of a level, varying.
    slots: Vec<Slot>,
    levels: Vec<(Frame, usize)>,
    results: Vec<Storage>,
}

impl Tree {
    fn new(values: &[Slot], rows: usize) -> Tree {
        let mut counts: Vec<(LaneType, u32)> = Vec::new();
        let mut slots = Vec::new();
        for slot in values {
            let index = counts.iter().filter(|(ty, _)| *ty == slot.ty).count() as u32;
            counts.push((slot.ty, index));
            slots.push(Slot { ty: slot.ty, uniform: false, index });
        }
        let results = values.iter().map(|slot| Storage::zeros(slot.ty, rows)).collect();
        Tree { values: values.to_vec(), slots, levels: Vec::new(), results }
    }

    fn frame(&self, lanes: usize) -> Frame {
        let mut frame = Frame::default();
        for slot in &self.slots {
            with_lane_type!(slot.ty, T => {
                let group = Group([T::default(); GROUP]);
                T::file_mut(&mut frame).push(vec![group; lanes.div_ceil(GROUP)]);
            });
        }
        frame
    }

    /// Adds an element per lane.
    fn push(&mut self, folder: &mut Folder<'_>, frame: &Frame, count: usize) -> Result<(), Halt> {
        if self.levels.is_empty() {
            let fresh = self.frame(count);
            self.levels.push((fresh, 0));
        }
        let (accumulator, taken) = &mut self.levels[0];
        if *taken == 0 {
            folder.replace(accumulator, &self.slots, frame, &self.values, count);
        } else {
            folder.accumulate(accumulator, &self.slots, frame, &self.values, count)?;
        }
        *taken += 1;
        let mut level = 0;
        while self.levels[level].1 == TREE {
            self.levels[level].1 = 0;
            if self.levels.len() == level + 1 {
                let fresh = self.frame(count);
                self.levels.push((fresh, 0));
            }
            let (below, above) = self.levels.split_at_mut(level + 1);
            let ((from, _), (to, taken)) = (&below[level], &mut above[0]);
            if *taken == 0 {
                folder.replace(to, &self.slots, from, &self.slots, count);
            } else {
                folder.accumulate(to, &self.slots, from, &self.slots, count)?;
            }
            *taken += 1;
            level += 1;
        }
        Ok(())
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
        let frame = carry.expect("a row has elements");
        for (&slot, result) in self.slots.iter().zip(&mut self.results) {
            with_lane_type!(slot.ty, T => {
                let result = &mut T::storage_mut(result)[at..at + count];
                crate::execute::copy_lanes::<T>(&frame, slot, result);
            });
        }
        Ok(())
    }
}
