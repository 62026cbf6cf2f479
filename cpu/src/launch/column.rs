//! Reductions along columns: the lanes are rows, and the elements of all of them are combined step by
//! step. That suits short rows, and rows whose neighbours lie side by side in memory, as in the sums
//! of a matrix's columns or its product with another.

mod tree;

use std::ops::Range;
use std::sync::Mutex;

use weft_codegen::SIDE_BY_SIDE;
use weft_ir::code::Operation;
use weft_ir::plan::Sink;
use weft_ir::{ScalarOp, Stop};

use crate::compile::Compiled;
use crate::execute::{Halt, Source};
use crate::fold::{Folder, TREE};
use crate::isa::Slot;
use crate::lanes::{BLOCK, Frame, Lane, Storage, StorageMut, load_lanes, with_lane_type};
use crate::launch::chunk::CHUNK;
use crate::launch::interior::run_from;
use crate::launch::layout::Layout;
use crate::launch::{Launch, SinkResult};
use crate::native::Engine;
use crate::routine::{Branch, Index, Instruction, Routine, level};
use crate::shape::{Axis, Shape};
use crate::traverse::{Evaluator, Mode};
use crate::workers::lock;
use tree::{Sums, Tree, frame_of, slot_of, varying};

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

/// The places of what the rows of a claim come to, for each sink; none where the claim has only some of their steps.
type Parts<'r> = Option<Vec<Vec<StorageMut<'r>>>>;

/// How lanes run, and the code for a box of rows with the box (Note [Interior points]).
struct Columns<'a> {
    mode: Mode,
    interior: Option<(&'a Compiled, Vec<Range<usize>>)>,
}

/// What evaluates a box of rows.
struct Inside<'a, 's> {
    evaluator: Evaluator<'a>,
    /// The space of the rows.
    outer: &'s Shape<'s>,
    /// The box.
    inside: &'s [Range<usize>],
}

impl<'a> Inside<'a, '_> {
    /// Has rows in the box evaluated by its code, and those around it by the code for all.
    fn runs(
        &mut self,
        around: &mut Evaluator<'a>,
        rows: Range<usize>,
        mut work: impl FnMut(&mut Evaluator<'a>, Range<usize>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let began = self.evaluator.begin();
        around.engine().follow(self.evaluator.engine());
        around.begin();
        let mut position = rows.start;
        while position < rows.end {
            let (until, is_inside) = run_from(self.outer, position, self.inside);
            let run = position..until.min(rows.end);
            work(if is_inside { &mut self.evaluator } else { around }, run)?;
            position = until;
        }
        self.evaluator.end(began);
        Ok(())
    }
}

impl Launch<'_> {
    /// The reductions, if all sinks are such and columns are the better way; else nothing.
    pub(super) fn columns(
        &self,
        layout: &Layout,
        starts: &[Option<Vec<Storage>>],
    ) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some(Columns { mode, interior }) = self.column_mode() else { return Ok(None) };
        let mut side_by_side = self.short_rows_side_by_side(mode, layout);
        let began = side_by_side.as_mut().and_then(Engine::begin);
        if side_by_side.as_ref().is_some_and(Engine::is_native) {
            return Ok(None);
        }
        let kernel = &*self.bound.kernel;
        let compiled = kernel.body.variant(mode, &kernel.types);
        let claims = self.column_claims(mode, &compiled.routine.results);
        let most = claims.iter().map(|claim| claim.rows.len()).max().unwrap_or(0);
        let in_pieces = claims.iter().any(|claim| claim.steps.start > 0);
        let mut all = match in_pieces {
            true => Vec::new(),
            false => self.room_for_sums(&compiled.routine.results),
        };
        let evaluator =
            |compiled| Evaluator::new(compiled, mode, &self.shape, self.context(), most);
        let outer = self.shape.outer();
        let start = || {
            let interior = interior.as_ref().map(|(compiled, inside)| Inside {
                evaluator: evaluator(compiled),
                outer: &outer,
                inside,
            });
            (evaluator(compiled), interior, self.column_folders())
        };
        let pieces = Mutex::new(Vec::new());
        let mut rest: Vec<Vec<StorageMut<'_>>> =
            all.iter_mut().map(|all| all.iter_mut().map(Storage::as_mut).collect()).collect();
        let mut parts_of = |claim: &Claim| {
            (!in_pieces).then(|| {
                let length = claim.rows.len();
                let mut parts = Vec::new();
                for rest in &mut rest {
                    parts.push(rest.iter_mut().map(|rest| rest.take_front(length)).collect());
                }
                parts
            })
        };
        let claims = claims.into_iter().map(|claim| (parts_of(&claim), claim));
        let piece = self.meter.begin(self.shape.points() as u64);
        self.workers
            .each(self.is_parallel(), claims, start, |state, (parts, claim)| {
                let (evaluator, interior, folders) = state;
                let done = claim.rows.len() * claim.steps.len();
                let key = claim.steps.start;
                let sums =
                    self.column_claim(evaluator, interior.as_mut(), folders, claim, parts)?;
                self.keep_sums(sums, starts, |sums| lock(&pieces).push((key, sums)));
                if let Some(piece) = &piece {
                    piece.advance(done as u64);
                }
                Ok(())
            })
            .map_err(|halt| self.stop(halt))?;
        drop(piece);
        if let Some(side_by_side) = side_by_side {
            side_by_side.end(began);
        }
        if in_pieces {
            let mut pieces = pieces.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            pieces.sort_by_key(|(key, _)| *key);
            let pieces = pieces.into_iter().map(|(_, pieces)| pieces).collect();
            all = self.column_pieces(pieces).map_err(|halt| self.stop(halt))?;
        }
        let reduced = |(sink, values)| {
            let started = !in_pieces && self.starts_in_chunks(sink, starts).is_some();
            SinkResult::Reduced { values, started }
        };
        Ok(Some(all.into_iter().enumerate().map(reduced).collect()))
    }

    /// Room for what all rows come to, for each sink.
    fn room_for_sums(&self, results: &[Slot]) -> Vec<Vec<Storage>> {
        let (rows, memory) = (self.shape.rows(), self.workers.memory());
        let mut results = results.iter().map(|slot| memory.take(slot.ty, rows));
        let sinks = self.kernel.sinks.iter();
        sinks.map(|sink| results.by_ref().take(sink.operands().count()).collect()).collect()
    }

    /// Has rows meet their start values where that is done in chunks; pieces of rows go to `keep`.
    fn keep_sums(
        &self,
        sums: Vec<Sums<'_>>,
        starts: &[Option<Vec<Storage>>],
        keep: impl FnOnce(Vec<Vec<Storage>>),
    ) {
        let mut pieces = Vec::new();
        for (sink, sums) in sums.into_iter().enumerate() {
            match (sums, self.starts_in_chunks(sink, starts)) {
                (Sums::Pieces(sums), _) => pieces.push(sums),
                (Sums::Rows(..), None) => {}
                (Sums::Rows(sums, _), Some((primitives, starts))) => {
                    for ((primitive, start), sums) in primitives.iter().zip(starts).zip(sums) {
                        primitive.combine(start.elements(), sums);
                    }
                }
            }
        }
        if !pieces.is_empty() {
            keep(pieces);
        }
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
    fn column_claim<'a, 'r>(
        &self,
        evaluator: &mut Evaluator<'a>,
        interior: Option<&mut Inside<'a, '_>>,
        folders: &mut [Folder<'_>],
        claim: Claim,
        parts: Parts<'r>,
    ) -> Result<Vec<Sums<'r>>, Halt> {
        let Claim { rows, steps } = claim;
        let whole = parts.is_some();
        let mut results = &evaluator.compiled.routine.results[..];
        let mut parts = parts.map(Vec::into_iter);
        let mut trees = Vec::new();
        for sink in &self.kernel.sinks {
            let (own, others) = results.split_at(sink.operands().count());
            let sums = match parts.as_mut().and_then(Iterator::next) {
                Some(part) => Sums::Rows(part, rows.start),
                None => Sums::Pieces(own.iter().map(|slot| Storage::new(slot.ty)).collect()),
            };
            trees.push(Tree::new(own, sums));
            results = others;
        }
        let mut work = |evaluator: &mut Evaluator<'a>, rows: Range<usize>| {
            column_run(evaluator, folders, &mut trees, rows, steps.clone())
        };
        match interior {
            // Pieces of rows lie in the order of whole rows of lanes.
            Some(interior) if whole => interior.runs(evaluator, rows, work)?,
            _ => {
                let began = evaluator.begin();
                work(evaluator, rows)?;
                evaluator.end(began);
            }
        }
        Ok(trees.into_iter().map(|tree| tree.sums).collect())
    }

    /// What rows come to, of what the blocks of the tree have come to, in order.
    ///
    /// A part holds, row of lanes by row of lanes, all its blocks of the tree.
    fn column_pieces(&self, parts: Vec<Vec<Vec<Storage>>>) -> Result<Vec<Vec<Storage>>, Halt> {
        let rows = self.shape.rows();
        let (_, lanes) = self.lanes();
        let mut all = self.room_for_sums(
            &parts[0].iter().flatten().map(|part| slot_of(part.ty())).collect::<Vec<_>>(),
        );
        for (sink, mut folder) in self.column_folders().into_iter().enumerate() {
            let types: Vec<Slot> = parts[0][sink].iter().map(|part| slot_of(part.ty())).collect();
            let slots = varying(&types);
            let mut frame = frame_of(&slots, lanes);
            let sums = all[sink].iter_mut().map(Storage::as_mut).collect();
            let mut tree = Tree::new(&slots, Sums::Rows(sums, 0));
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
    fn column_mode(&self) -> Option<Columns<'_>> {
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
        let interior = self.interior_of_columns(mode);
        let column = match &interior {
            Some((compiled, _)) => compiled,
            None => kernel.body.variant(mode, &kernel.types),
        };
        let (row, column) = (&row.routine, &column.routine);
        let per_row = self.cost(row, level::BLOCK, steps.min(1024)) + 1.0;
        let per_column = self.cost(column, level::STEP, lanes.min(1024))
            + self.cost(column, level::BLOCK, lanes.min(1024)) / steps as f64;
        (per_column < per_row).then_some(Columns { mode, interior })
    }

    /// A native function that has short rows as lanes, where columns would look up each index of theirs: that is faster
    /// than columns. Without it they are, so they run until it is there.
    fn short_rows_side_by_side(&self, mode: Mode, layout: &Layout) -> Option<Engine<'_>> {
        let outer = self.shape.outer();
        let several = matches!(outer.axes[..], [_, .., Axis::Dense(SIDE_BY_SIDE..)]);
        let short = matches!(self.shape.axes.last(), Some(Axis::Dense(..=TREE)));
        if !matches!(mode, Mode::FlatColumns) || !several || !short {
            return None;
        }
        // Extremes of floats are several instructions, which are found to be vectors along columns alone.
        let is_extreme = |instruction: &weft_ir::code::Instruction| match instruction.operation {
            Operation::Scalar(ScalarOp::Min | ScalarOp::Max, _) => {
                instruction.results[0].1.is_float()
            }
            _ => false,
        };
        let of_extremes = |sink: &Sink| match sink {
            Sink::Reduce { operator, .. } => operator.code.walk().any(is_extreme),
            _ => false,
        };
        if self.kernel.sinks.iter().any(of_extremes) {
            return None;
        }
        let rows = self.row_folds(layout)?;
        let engine = || Engine::new(rows, self.context(), true);
        rows.native.folds_side_by_side().then(engine)
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

/// What some rows come to, each tree one sink's.
fn column_run(
    evaluator: &mut Evaluator<'_>,
    folders: &mut [Folder<'_>],
    trees: &mut [Tree<'_>],
    rows: Range<usize>,
    steps: Range<usize>,
) -> Result<(), Halt> {
    let results = &evaluator.compiled.routine.results;
    let last = steps.end;
    if !evaluator.folds() {
        let values = results.clone();
        return evaluator.columns(rows, steps, |frame, block, step| {
            push(trees, folders, (frame, &values), block, 0, step + 1 == last)
        });
    }
    if steps.len() <= TREE && trees.iter().all(|tree| matches!(tree.sums, Sums::Rows(..))) {
        // One block of the tree is all.
        let mut first = 0;
        let sums = trees.iter_mut().filter_map(|tree| match &mut tree.sums {
            Sums::Rows(sums, from) => {
                first = *from;
                Some(sums.iter_mut().map(StorageMut::reborrow))
            }
            Sums::Pieces(_) => None,
        });
        let mut sums: Vec<StorageMut<'_>> = sums.flatten().collect();
        return evaluator.summed_columns(rows, steps, &mut sums, first);
    }
    let slots = varying(results);
    let mut frame = frame_of(&slots, 0);
    evaluator.folded_columns(rows, steps, (&mut frame, &slots), |frame, block, steps| {
        push(trees, folders, (frame, &slots), block, 1, steps.end == last)
    })
}

/// Adds an element of a level to each tree, for the rows of a block; the last ends them.
fn push(
    trees: &mut [Tree<'_>],
    folders: &mut [Folder<'_>],
    (frame, mut values): (&Frame, &[Slot]),
    block: Range<usize>,
    level: usize,
    is_last: bool,
) -> Result<(), Halt> {
    for (tree, folder) in trees.iter_mut().zip(folders) {
        let (own, others) = values.split_at(tree.width());
        tree.push(folder, level, frame, own, block.len())?;
        if is_last {
            tree.finish(folder, block.start, block.len())?;
        }
        values = others;
    }
    Ok(())
}
