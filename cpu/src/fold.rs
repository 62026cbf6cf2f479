//! Folds and scans of elements that are stored, by any operator, in the tree of the interpreter
//! (its notes [The tree of a fold] and [The tree of a scan]).
//!
//! Note [Blocks as lanes]. An operator runs on lanes, but the 64 elements of a block of the tree are
//! combined one after the other. So the lanes are blocks: step j combines what each block has come to
//! with its element j. Blocks are sorted by length, longest first, so that the ones that still have
//! elements are a prefix; thus short rows of different lengths fill the lanes as well as long ones.

mod extreme;
mod scan;
mod tile;

use std::sync::OnceLock;

use weft_ir::ScalarType;
use weft_ir::code::{Operand, Operation, Operator, Register};

use crate::compile::{Compiled, Signature, compile};
use crate::execute::{Context, Halt, Lanes, run};
use crate::isa::Slot;
use crate::lanes::{
    BLOCK, Elements, Frame, GROUP, Lane, LaneType, Storage, copy_lanes, load_lanes, with_lane_type,
};
use crate::native::{Call, Engine, Inputs, Results};
use crate::operators;
use crate::places::Places;
use crate::routine::level;

pub(crate) use scan::{Chain, SECOND};
pub(crate) use weft_lanes::primitive::{
    Carried, Carries, Copies, Grouping, Primitive, Rows, SPREAD, Streams, TREE,
};

/// An operator on tuples of k lanes.
#[derive(Debug)]
pub(crate) struct Fold {
    operator: Operator,
    compiled: OnceLock<Compiled>,
    /// Per component, if each is combined by a common operator on its own.
    pub(crate) primitives: Option<Vec<Primitive>>,
    /// If it is that of `argmin` or `argmax`, how their elements are combined.
    pub(crate) first_extreme: Option<Primitive>,
}

impl Fold {
    /// Of an operator of the canonical kernel.
    pub(crate) fn new(operator: Operator) -> Fold {
        let primitives = primitives(&operator);
        let first_extreme = extreme::first_extreme(&operator);
        Fold { operator, compiled: OnceLock::new(), primitives, first_extreme }
    }

    /// The types of the components.
    pub(crate) fn types(&self) -> impl Iterator<Item = LaneType> + '_ {
        self.operator.left.iter().map(|(_, ty)| LaneType::of(*ty))
    }

    /// The operator, compiled.
    pub(crate) fn compiled(&self, arrays: &[(ScalarType, bool)]) -> &Compiled {
        self.compiled.get_or_init(|| {
            let both = self.operator.left.iter().chain(&self.operator.right);
            let signature = Signature {
                indices: Vec::new(),
                first_stored: 0,
                inputs: both.copied().collect(),
                input_level: level::BLOCK,
                arrays,
                folds: &[],
                rows: false,
                widths: &[],
            };
            compile(&signature, &self.operator.code, &self.operator.code.results)
        })
    }
}

/// The common operators that an operator consists of.
fn primitives(operator: &Operator) -> Option<Vec<Primitive>> {
    let code = &operator.code;
    if code.instructions.len() != operator.left.len() {
        return None;
    }
    let of = |(at, result): (usize, &Operand)| {
        let Operand::Register(result) = *result else { return None };
        let instruction =
            code.instructions.iter().find(|instruction| instruction.results[0].0 == result)?;
        let Operation::Scalar(op, operands) = &instruction.operation else { return None };
        let register = |register: Register| Operand::Register(register);
        let (left, right) = (register(operator.left[at].0), register(operator.right[at].0));
        let own = *operands == [left, right] || *operands == [right, left];
        own.then(|| operators::primitive(*op, LaneType::of(operator.left[at].1)))?
    };
    if code.instructions.iter().any(|instruction| instruction.results.len() != 1) {
        return None;
    }
    code.results.iter().enumerate().map(of).collect()
}

/// A fold at work on one thread.
#[derive(Debug)]
pub(crate) struct Folder<'a> {
    fold: &'a Fold,
    compiled: &'a Compiled,
    context: Context<'a>,
    engine: Engine<'a>,
    frame: Frame,
    /// Whether the registers have room.
    ready: bool,
    started: bool,
    /// The memory of the tile at hand, of a scan.
    tile: tile::Tile,
    /// Whether what comes first is the right operand: for scans from the right.
    exchange: bool,
}

impl<'a> Folder<'a> {
    /// With a context for the reads of the operator.
    pub(crate) fn new(
        fold: &'a Fold,
        arrays: &[(ScalarType, bool)],
        context: Context<'a>,
        exchange: bool,
    ) -> Folder<'a> {
        let compiled = fold.compiled(arrays);
        // Common operators hardly ever need registers.
        let ready = fold.primitives.is_none();
        let routine = &compiled.routine;
        let frame = if ready { routine.frame(BLOCK) } else { routine.bare_frame() };
        let engine = Engine::new(compiled, context, true);
        Folder {
            fold,
            compiled,
            context,
            engine,
            frame,
            ready,
            started: false,
            tile: tile::Tile::default(),
            exchange,
        }
    }

    /// Combines the lanes that have been loaded.
    fn apply(&mut self, count: usize) -> Result<(), Halt> {
        let began = self.engine.begin();
        if let Some(caller) = self.engine.caller() {
            let call = Call {
                frame: &mut self.frame,
                indices: &[],
                count,
                position: 0,
                steps: 1,
                extents: &[],
                inputs: Inputs::Registers,
                results: Results::Places(&mut Places::default()),
            };
            return caller.run(self.compiled, call);
        }
        let lanes = Lanes { count, position: 0 };
        if !self.started {
            self.started = true;
            run(&self.compiled.routine, level::LAUNCH, &mut self.frame, lanes, &self.context)?;
        }
        run(&self.compiled.routine, level::BLOCK, &mut self.frame, lanes, &self.context)?;
        self.engine.end(began);
        Ok(())
    }

    /// The registers of the earlier operand.
    fn earlier(&self) -> &'a [Slot] {
        let (left, right) = self.compiled.inputs.split_at(self.compiled.inputs.len() / 2);
        if self.exchange { right } else { left }
    }

    /// The registers of the later operand.
    fn later(&self) -> &'a [Slot] {
        let (left, right) = self.compiled.inputs.split_at(self.compiled.inputs.len() / 2);
        if self.exchange { left } else { right }
    }

    /// Combines what a frame's registers hold with the lanes that have come so far, in registers
    /// that `accumulator` holds: for folds along columns.
    pub(crate) fn accumulate(
        &mut self,
        accumulator: &mut Frame,
        slots: &[Slot],
        from: &Frame,
        values: &[Slot],
        count: usize,
    ) -> Result<(), Halt> {
        if let Some(primitives) = &self.fold.primitives {
            for ((primitive, &slot), &value) in primitives.iter().zip(slots).zip(values) {
                primitive.accumulate(accumulator, slot, from, value, count);
            }
            return Ok(());
        }
        for (&inner, &slot) in self.earlier().iter().zip(slots) {
            move_lanes(accumulator, slot, &mut self.frame, inner, count);
        }
        for (&inner, &slot) in self.later().iter().zip(values) {
            move_lanes(from, slot, &mut self.frame, inner, count);
        }
        self.apply(count)?;
        for (&inner, &slot) in self.compiled.routine.results.iter().zip(slots) {
            move_lanes(&self.frame, inner, accumulator, slot, count);
        }
        Ok(())
    }

    /// Puts the first elements into an accumulator.
    pub(crate) fn replace(
        &self,
        accumulator: &mut Frame,
        slots: &[Slot],
        from: &Frame,
        values: &[Slot],
        count: usize,
    ) {
        for (&slot, &value) in slots.iter().zip(values) {
            move_lanes(from, value, accumulator, slot, count);
        }
    }

    /// Combines elements pairwise, what comes first on the left.
    pub(crate) fn combine(
        &mut self,
        earlier: &[Elements<'_>],
        later: &[Elements<'_>],
    ) -> Result<Vec<Storage>, Halt> {
        if !self.ready {
            (self.ready, self.frame) = (true, self.compiled.routine.frame(BLOCK));
        }
        let length = later.first().map_or(0, Elements::len);
        let mut results: Vec<Storage> =
            self.fold.types().map(|ty| Storage::zeros(ty, length)).collect();
        for start in (0..length).step_by(BLOCK) {
            let end = length.min(start + BLOCK);
            for (slots, elements) in [(self.earlier(), earlier), (self.later(), later)] {
                for (&slot, elements) in slots.iter().zip(elements) {
                    with_lane_type!(slot.ty, T => {
                        let part = <T as Lane>::elements(elements.slice(start, end));
                        load_lanes::<T>(&mut self.frame, slot, part);
                    });
                }
            }
            self.apply(end - start)?;
            self.store(&mut results, start, end);
        }
        Ok(results)
    }

    /// The results of the operator, to these positions.
    fn store(&self, to: &mut [Storage], start: usize, end: usize) {
        for (&slot, to) in self.compiled.routine.results.iter().zip(to) {
            with_lane_type!(slot.ty, T => {
                copy_lanes::<T>(&self.frame, slot, &mut T::storage_mut(to)[start..end]);
            });
        }
    }

    /// Folds consecutive rows to one element each, a zero where there is none; or one row for so many
    /// levels of the tree.
    pub(crate) fn fold_rows(
        &mut self,
        values: &[Elements<'_>],
        rows: Rows<'_>,
        levels: usize,
    ) -> Result<Vec<Storage>, Halt> {
        if let Some(primitives) = &self.fold.primitives {
            self.context.poll()?;
            let of = |(primitive, values): (&Primitive, &Elements<'_>)| {
                let mut to = Storage::new(values.ty());
                primitive.fold_rows(*values, rows, levels, &mut to);
                to
            };
            return Ok(primitives.iter().zip(values).map(of).collect());
        }
        if let Some(extreme) = &self.fold.first_extreme {
            self.context.poll()?;
            let found = extreme.first_extremes(values[0], rows);
            return Ok(values.iter().map(|values| elements_at(*values, &found)).collect());
        }
        let lengths = rows.lengths(values[0].len());
        let (values, counts) = self.fold_levels(values, &lengths, levels)?;
        Ok(if levels == usize::MAX { spread(values, &counts) } else { values })
    }

    /// Folds consecutive rows of these lengths; yields what those that are not empty come to.
    pub(crate) fn fold(
        &mut self,
        values: &[Elements<'_>],
        lengths: &[usize],
    ) -> Result<Vec<Storage>, Halt> {
        if self.fold.primitives.is_none() {
            return Ok(self.fold_levels(values, lengths, usize::MAX)?.0);
        }
        let mut offsets = vec![0_i64];
        let mut end = 0;
        for length in lengths.iter().filter(|&&length| length > 0) {
            end += length;
            offsets.push(end as i64);
        }
        self.fold_rows(values, Rows::Ragged(&offsets), usize::MAX)
    }

    /// Folds consecutive rows of these lengths until each has come to one element, or for so many
    /// levels of the tree, in registers. Yields the elements, and how many each row has come to: none, if
    /// it had none.
    fn fold_levels(
        &mut self,
        values: &[Elements<'_>],
        lengths: &[usize],
        levels: usize,
    ) -> Result<(Vec<Storage>, Vec<usize>), Halt> {
        let (mut storage, mut lengths) = self.fold_level(values, lengths)?;
        for _ in 1..levels {
            if lengths.iter().all(|&length| length <= 1) {
                break;
            }
            let values: Vec<Elements<'_>> = storage.iter().map(Storage::elements).collect();
            (storage, lengths) = self.fold_level(&values, &lengths)?;
        }
        Ok((storage, lengths))
    }

    /// One level of the tree.
    fn fold_level(
        &mut self,
        values: &[Elements<'_>],
        lengths: &[usize],
    ) -> Result<(Vec<Storage>, Vec<usize>), Halt> {
        let blocks = blocks(lengths);
        let shorter = lengths.iter().map(|length| length.div_ceil(TREE)).collect();
        let mut results: Vec<Storage> =
            self.fold.types().map(|ty| Storage::zeros(ty, blocks.len())).collect();
        for order in longest_first(&blocks).chunks(BLOCK) {
            self.context.poll()?;
            self.fold_blocks(values, &blocks, order)?;
            for (&slot, result) in self.earlier().iter().zip(&mut results) {
                with_lane_type!(slot.ty, T => {
                    let result = T::storage_mut(result);
                    let register = &T::file(&self.frame)[slot.index as usize];
                    for (lane, &block) in order.iter().enumerate() {
                        result[block] = register[lane / GROUP].0[lane % GROUP];
                    }
                });
            }
        }
        Ok((results, shorter))
    }

    /// Folds some blocks, given by number, longest first. Lane i of the registers of the earlier
    /// operand holds the result of block `order[i]`.
    fn fold_blocks(
        &mut self,
        values: &[Elements<'_>],
        blocks: &[(usize, usize)],
        order: &[usize],
    ) -> Result<(), Halt> {
        self.load(true, values, blocks, order, 0);
        let mut active = order.len();
        for step in 1..TREE {
            while active > 0 && blocks[order[active - 1]].1 <= step {
                active -= 1;
            }
            if active == 0 {
                break;
            }
            self.load(false, values, blocks, &order[..active], step);
            self.apply(active)?;
            self.keep(active);
        }
        Ok(())
    }

    /// Element `step` of each block, as the earlier or the later operand.
    fn load(
        &mut self,
        earlier: bool,
        values: &[Elements<'_>],
        blocks: &[(usize, usize)],
        order: &[usize],
        step: usize,
    ) {
        let slots = if earlier { self.earlier() } else { self.later() };
        for (&slot, values) in slots.iter().zip(values) {
            with_lane_type!(slot.ty, T => {
                let values = <T as Lane>::elements(*values);
                let register = &mut T::file_mut(&mut self.frame)[slot.index as usize];
                for (group, order) in register.iter_mut().zip(order.chunks(GROUP)) {
                    for (lane, &block) in group.0.iter_mut().zip(order) {
                        *lane = values[blocks[block].0 + step];
                    }
                }
            });
        }
    }

    /// Makes the results the earlier operand of the next step; other lanes stay.
    fn keep(&mut self, count: usize) {
        for (&result, &slot) in self.compiled.routine.results.iter().zip(self.earlier()) {
            with_lane_type!(slot.ty, T => {
                let file = T::file_mut(&mut self.frame);
                if result.index != slot.index {
                    let mut kept = std::mem::take(&mut file[slot.index as usize]);
                    copy_exactly(&file[result.index as usize], result, &mut kept, count);
                    file[slot.index as usize] = kept;
                }
            });
        }
    }
}

/// The elements at some positions, zeros where there is none.
fn elements_at(elements: Elements<'_>, positions: &[Option<usize>]) -> Storage {
    with_lane_type!(elements.ty(), T => {
        let elements = <T as Lane>::elements(elements);
        let of = |at: &Option<usize>| at.map(|at| elements[at]).unwrap_or_default();
        T::into_storage(positions.iter().map(of).collect())
    })
}

/// Elements of rows that have one or none, with zeros for those that have none.
fn spread(values: Vec<Storage>, counts: &[usize]) -> Vec<Storage> {
    if counts.iter().all(|&count| count == 1) {
        return values;
    }
    let spread = |values: Storage| {
        with_lane_type!(values.ty(), T => {
            let mut values = T::storage(&values).iter();
            let next = |count: &usize| match count {
                0 => T::default(),
                _ => values.next().copied().unwrap_or_default(),
            };
            T::into_storage(counts.iter().map(next).collect())
        })
    };
    values.into_iter().map(spread).collect()
}

/// The first lanes of a register in one of another frame; lanes past the count stay.
fn move_lanes(from: &Frame, source: Slot, to: &mut Frame, target: Slot, count: usize) {
    with_lane_type!(source.ty, T => {
        let register = &T::file(from)[source.index as usize];
        copy_exactly(register, source, &mut T::file_mut(to)[target.index as usize], count);
    });
}

fn copy_exactly<T: Lane>(
    from: &[crate::lanes::Group<T>],
    source: Slot,
    to: &mut [crate::lanes::Group<T>],
    count: usize,
) {
    for (at, to) in to[..count.div_ceil(GROUP)].iter_mut().enumerate() {
        let from = &from[at * source.step()].0;
        let rest = GROUP.min(count - at * GROUP);
        to.0[..rest].copy_from_slice(&from[..rest]);
    }
}

/// The blocks of consecutive rows: start and length.
fn blocks(lengths: &[usize]) -> Vec<(usize, usize)> {
    let mut blocks = Vec::with_capacity(lengths.len());
    let mut start = 0;
    for &length in lengths {
        let end = start + length;
        while start < end {
            let block = TREE.min(end - start);
            blocks.push((start, block));
            start += block;
        }
    }
    blocks
}

/// The numbers of the blocks, longest first, otherwise in order.
fn longest_first(blocks: &[(usize, usize)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|&block| TREE - blocks[block].1);
    order
}
