//! Evaluates the code of a thunk at the points of a space, block by block.

use std::ops::Range;
use std::sync::OnceLock;

use weft_ir::code::{Code, Operand, Register};
use weft_ir::{Scalar, ScalarType};

use crate::compile::{Compiled, Running, Signature, compile};
use crate::execute::{Context, Halt, Lanes, Source, load_lanes, run};
use crate::isa::Slot;
use crate::lanes::{BLOCK, Elements, Frame, Lane, with_lane_type};
use crate::native::Engine;
use crate::routine::{level, set_uniform};
use crate::shape::{Axis, Shape};

/// How the lanes of a block run through the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Along the storage, across rows.
    Flat,
    /// Along a row of the last dimension.
    Row,
    /// Along the points of all dimensions but the last, which is stepped through.
    FlatColumns,
    /// Along the last dimension but one; the last is stepped through.
    Column,
}

/// Code with its indices, compiled once per mode.
#[derive(Debug)]
pub(crate) struct Thunk {
    pub(crate) indices: Vec<Register>,
    pub(crate) code: Code,
    pub(crate) results: Vec<Operand>,
    /// Registers that are filled with elements at the points.
    pub(crate) inputs: Vec<(Register, ScalarType)>,
    /// Of each dimension of the space, whether it is ragged.
    pub(crate) ragged: Vec<bool>,
    variants: [OnceLock<Compiled>; 4],
}

impl Thunk {
    /// Nothing is compiled yet.
    pub(crate) fn new(
        indices: Vec<Register>,
        code: Code,
        results: Vec<Operand>,
        inputs: Vec<(Register, ScalarType)>,
        ragged: Vec<bool>,
    ) -> Thunk {
        assert_eq!(indices.len(), ragged.len(), "an index per dimension");
        Thunk { indices, code, results, inputs, ragged, variants: Default::default() }
    }

    /// Compiled for a mode.
    pub(crate) fn variant(&self, mode: Mode, arrays: &[(ScalarType, bool)]) -> &Compiled {
        self.variants[mode as usize].get_or_init(|| {
            let running = self.running(mode);
            let signature = Signature {
                indices: self.indices.iter().copied().zip(running).collect(),
                first_stored: self.ragged.iter().rposition(|&ragged| ragged).unwrap_or(0),
                inputs: self.inputs.clone(),
                input_level: level::BLOCK,
                arrays,
            };
            compile(&signature, &self.code, &self.results)
        })
    }

    fn running(&self, mode: Mode) -> Vec<Running> {
        let count = self.ragged.len();
        let flat = |dimensions: usize| -> Vec<Running> {
            (0..dimensions)
                .map(|at| {
                    let last = at + 1 == dimensions;
                    let counting = last && (dimensions == 1 || self.ragged[at]);
                    if counting { Running::Counting } else { Running::Varying }
                })
                .collect()
        };
        let row = |dimensions: usize| -> Vec<Running> {
            let outer = dimensions.saturating_sub(1);
            let mut running = vec![Running::Uniform(level::ROW); outer];
            running.extend((dimensions > 0).then_some(Running::Counting));
            running
        };
        let step = Running::Uniform(level::STEP);
        match mode {
            Mode::Flat => flat(count),
            Mode::Row => row(count),
            Mode::FlatColumns => flat(count - 1).into_iter().chain([step]).collect(),
            Mode::Column => row(count - 1).into_iter().chain([step]).collect(),
        }
    }
}

/// A thunk at work on one thread.
#[derive(Debug)]
pub(crate) struct Evaluator<'a> {
    /// The thunk in the mode.
    pub(crate) compiled: &'a Compiled,
    mode: Mode,
    shape: &'a Shape<'a>,
    /// The dimensions that lanes run through: the shape, or its columns'.
    lanes_shape: Shape<'a>,
    context: Context<'a>,
    /// What computes the elements: it may be a native function instead of the routine.
    engine: Engine<'a>,
    /// The registers.
    pub(crate) frame: Frame,
    /// The index registers that have to be filled.
    varying: Vec<Option<Slot>>,
    block: usize,
    started: bool,
}

impl<'a> Evaluator<'a> {
    /// For at most `points` points at once.
    pub(crate) fn new(
        compiled: &'a Compiled,
        mode: Mode,
        shape: &'a Shape<'a>,
        context: Context<'a>,
        points: usize,
    ) -> Evaluator<'a> {
        let block = points.clamp(1, BLOCK);
        let moved = compiled.at_point.iter().any(|&array| {
            !matches!(context.sources[array], Source::Array { over_space: true, .. })
        });
        let lanes_shape = match mode {
            Mode::Flat | Mode::Row => shape.clone(),
            Mode::FlatColumns | Mode::Column => shape.outer(),
        };
        let dimensions = lanes_shape.axes.len();
        let flat = matches!(mode, Mode::Flat | Mode::FlatColumns);
        let varying = (0..dimensions).map(|at| {
            let slot = compiled.indices[at];
            let fill = flat && !slot.uniform && (moved || compiled.needed[at]);
            fill.then_some(slot)
        });
        Evaluator {
            varying: varying.collect(),
            frame: compiled.routine.frame(block),
            compiled,
            mode,
            shape,
            lanes_shape,
            engine: Engine::new(compiled, context, !moved),
            context,
            block,
            started: false,
        }
    }

    /// Evaluates consecutive points; shows each block. `inputs` hold the elements of these points.
    pub(crate) fn points(
        &mut self,
        positions: Range<usize>,
        inputs: &[Elements<'_>],
        mut show: impl FnMut(&mut Frame, Range<usize>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let began = self.engine.begin();
        let first = positions.start;
        let mut position = first;
        while position < positions.end {
            let row = match self.mode {
                Mode::Flat => positions.clone(),
                Mode::Row => {
                    let number = self.lanes_shape.row_of(position);
                    self.enter_row(number)?;
                    self.lanes_shape.row(number)
                }
                Mode::FlatColumns | Mode::Column => unreachable!("columns are stepped through"),
            };
            let end = row.end.min(positions.end);
            while position < end {
                let until = end.min(position + self.block);
                self.enter_block(position, until, row.start)?;
                let parts = inputs.iter().map(|input| input.slice(position - first, until - first));
                if let Some(caller) = self.engine.caller() {
                    let parts: Vec<Elements<'_>> = parts.collect();
                    let (frame, count) = (&mut self.frame, until - position);
                    caller.run(self.compiled, frame, count, position, Some(&parts))?;
                } else {
                    for (slot, part) in self.compiled.inputs.iter().zip(parts) {
                        with_lane_type!(slot.ty, T => {
                            load_lanes::<T>(&mut self.frame, *slot, <T as Lane>::elements(part));
                        });
                    }
                    self.run(level::BLOCK, until - position, position)?;
                }
                show(&mut self.frame, position..until)?;
                position = until;
            }
        }
        self.engine.end(began);
        Ok(())
    }

    /// Evaluates the points of some rows, given by number, a block of rows at a time: `show` gets the
    /// frame, the rows and the step, for each step in order.
    pub(crate) fn columns(
        &mut self,
        rows: Range<usize>,
        mut show: impl FnMut(&mut Frame, Range<usize>, usize) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let steps = match self.shape.axes.last() {
            Some(Axis::Dense(extent)) => *extent,
            Some(Axis::Ragged(_)) | None => unreachable!("only dense rows are stepped through"),
        };
        let last = self.compiled.indices[self.shape.axes.len() - 1];
        let began = self.engine.begin();
        let mut position = rows.start;
        while position < rows.end {
            let row = match self.mode {
                Mode::Column => {
                    let number = self.lanes_shape.row_of(position);
                    self.enter_row(number)?;
                    self.lanes_shape.row(number)
                }
                Mode::Flat | Mode::Row | Mode::FlatColumns => rows.clone(),
            };
            let end = row.end.min(rows.end);
            while position < end {
                let until = end.min(position + self.block);
                self.enter_block(position, until, row.start)?;
                if steps > 0 && !self.engine.is_native() {
                    self.run(level::BLOCK, until - position, position)?;
                }
                for step in 0..steps {
                    set_uniform(&mut self.frame, last, Scalar::I64(step as i64));
                    if let Some(caller) = self.engine.caller() {
                        let (frame, count) = (&mut self.frame, until - position);
                        caller.run(self.compiled, frame, count, position, None)?;
                    } else {
                        self.run(level::STEP, until - position, position)?;
                    }
                    show(&mut self.frame, position..until, step)?;
                }
                position = until;
            }
        }
        self.engine.end(began);
        Ok(())
    }

    /// Sets the outer indices of a row of lanes.
    fn enter_row(&mut self, row: usize) -> Result<(), Halt> {
        let outer = self.lanes_shape.outer();
        let indices = outer.indices(row);
        for (&slot, index) in self.compiled.indices.iter().zip(indices) {
            set_uniform(&mut self.frame, slot, Scalar::I64(index));
        }
        if self.engine.is_native() {
            return Ok(());
        }
        self.start()?;
        self.run(level::ROW, 1, 0)
    }

    /// Sets the indices along the lanes.
    fn enter_block(&mut self, position: usize, until: usize, row: usize) -> Result<(), Halt> {
        self.context.poll()?;
        self.start()?;
        let flat = matches!(self.mode, Mode::Flat | Mode::FlatColumns);
        if flat {
            self.lanes_shape.fill(&mut self.frame, &self.varying, position, until - position);
        }
        if let Some(axis) = self.lanes_shape.axes.last() {
            let slot = self.compiled.indices[self.lanes_shape.axes.len() - 1];
            if slot.uniform {
                let first = match axis {
                    Axis::Dense(_) if !flat => position - row,
                    Axis::Dense(_) | Axis::Ragged(_) => position,
                };
                set_uniform(&mut self.frame, slot, Scalar::I64(first as i64));
            }
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), Halt> {
        if self.started || self.engine.is_native() {
            return Ok(());
        }
        self.started = true;
        self.run(level::LAUNCH, 1, 0)?;
        if matches!(self.mode, Mode::Flat | Mode::FlatColumns) {
            self.run(level::ROW, 1, 0)?;
        }
        Ok(())
    }

    fn run(&mut self, at: usize, count: usize, position: usize) -> Result<(), Halt> {
        run(&self.compiled.routine, at, &mut self.frame, Lanes { count, position }, &self.context)
    }
}
