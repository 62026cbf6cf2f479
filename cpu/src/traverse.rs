//! Evaluates the code of a thunk at the points of a space, block by block.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use weft_codegen::can_fold_rows;
use weft_ir::code::{Code, Operand, Operator, Register};
use weft_ir::{Piece, Scalar, ScalarType};

use crate::compile::{Compiled, Running, Signature, compile};
use crate::execute::{Context, Halt, Lanes, Source, run};
use crate::fold::TREE;
use crate::isa::Slot;
use crate::lanes::{
    BLOCK, Elements, Frame, GROUP, Lane, StorageMut, load_lanes, reserve, with_lane_type,
};
use crate::native::{Call, Engine, Inputs, Results};
use crate::places::Places;
use crate::routine::{level, set_uniform};
use crate::shape::{Axis, Shape};

/// The most points of a call of a native function, where nobody looks at them block by block.
const CALL: usize = 1 << 14;

/// Code with loops is called for more points the next time if a call took less time than this, and for
/// fewer if it took ten times as long, so that one sees how far it has come.
const SOON: Duration = Duration::from_millis(2);

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
    /// Along a row, whose elements are folded in native functions only ([`crate::launch`]).
    Rows,
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
    /// What combines the results along the last dimension, if all are combined so and native
    /// functions can.
    folds: Vec<Operator>,
    /// How many of its results, one after the other, are the elements of a row each, 1 for one that is none; nothing if there
    /// are no rows.
    widths: Vec<usize>,
    variants: [OnceLock<Compiled>; 5],
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
        let (folds, widths, variants) = Default::default();
        Thunk { indices, code, results, inputs, ragged, folds, widths, variants }
    }

    /// With operators that combine its results, in their order.
    pub(crate) fn folded_by(self, folds: Vec<Operator>) -> Thunk {
        Thunk { folds, ..self }
    }

    /// With results of which so many are the elements of a row each.
    pub(crate) fn in_rows(self, widths: Vec<usize>) -> Thunk {
        Thunk { widths, ..self }
    }

    /// Whether native functions can fold rows of its results ([`Mode::Rows`]).
    pub(crate) fn folds_rows(&self) -> bool {
        let outer = self.ragged.split_last().map(|(_, outer)| outer);
        outer.is_some_and(|outer| !outer.contains(&true))
            && !self.folds.is_empty()
            && self.inputs.is_empty()
            && can_fold_rows(&self.code)
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
                folds: match mode {
                    Mode::Flat | Mode::Row => &[],
                    Mode::FlatColumns | Mode::Column | Mode::Rows => &self.folds,
                },
                rows: mode == Mode::Rows,
                widths: &self.widths,
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
            Mode::Row | Mode::Rows => row(count),
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
    /// The dimensions around a row of lanes.
    rows_shape: Shape<'a>,
    context: Context<'a>,
    /// What computes the elements: it may be a native function instead of the routine.
    engine: Engine<'a>,
    /// The registers. Those that only the block interpreter needs have room when it first runs.
    frame: Frame,
    interprets: bool,
    /// The indices that all lanes share, and the first lane's of those that count.
    indices: Vec<i64>,
    /// Whether it goes on from row to row (Note [On across rows]).
    across: bool,
    /// The extents, if the lanes of the native function run on to further rows (Note [On to further rows] in
    /// `weft_codegen`).
    extents: Vec<i64>,
    /// The index registers that have to be filled.
    varying: Vec<Option<Slot>>,
    block: usize,
    started: bool,
    /// Where it counts the points that are done, if they may take long.
    watched: Option<&'a Piece<'a>>,
    /// The most points of a call that is watched.
    pace: usize,
    /// Whether a block that takes long gives way to a native function (Note [Blocks that are begun again]).
    gives_way: bool,
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
            Mode::Flat | Mode::Row | Mode::Rows => shape.clone(),
            Mode::FlatColumns | Mode::Column => shape.outer(),
        };
        let dimensions = lanes_shape.axes.len();
        let extents =
            compiled.native.runs_on().then(|| lanes_shape.dense_extents().expect("no ragged rows"));
        let flat = matches!(mode, Mode::Flat | Mode::FlatColumns);
        let varying = (0..dimensions).map(|at| {
            let slot = compiled.indices[at];
            let fill = flat && !slot.uniform && (moved || compiled.needed[at]);
            fill.then_some(slot)
        });
        Evaluator {
            varying: varying.collect(),
            frame: compiled.routine.bare_frame(),
            interprets: false,
            indices: vec![0; compiled.indices.len()],
            across: false,
            extents: extents.unwrap_or_default(),
            compiled,
            mode,
            shape,
            rows_shape: lanes_shape.outer(),
            lanes_shape,
            engine: Engine::new(compiled, context, !moved),
            context,
            block,
            started: false,
            watched: None,
            pace: GROUP,
            gives_way: false,
        }
    }

    /// Has it count the points that are done, if there are loops in the code.
    pub(crate) fn watched(self, piece: Option<&'a Piece<'a>>) -> Evaluator<'a> {
        Evaluator { watched: piece.filter(|_| self.compiled.routine.repeats()), ..self }
    }

    /// Whether it counts the points that are done.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// The same, but that rows do not end where they end (Note [On across rows]).
    pub(crate) fn across(self, across: bool) -> Evaluator<'a> {
        let (across, mut extents) = (across && self.mode == Mode::Row, self.extents);
        if across && let Some(last) = extents.last_mut() {
            *last = i64::MAX;
        }
        Evaluator { across, extents, ..self }
    }

    /// What computes the elements.
    pub(crate) fn engine(&self) -> &Engine<'a> {
        &self.engine
    }

    /// Whether there is a native function that combines its results.
    pub(crate) fn folds(&self) -> bool {
        self.engine.is_native() && self.compiled.native.folds()
    }

    /// Evaluates consecutive points. `inputs` hold the elements of these points. Results go to the
    /// places; if there are others, `show` sees each block.
    pub(crate) fn points(
        &mut self,
        positions: Range<usize>,
        inputs: &[Elements<'_>],
        places: &mut Places<'_>,
        mut show: impl FnMut(&mut Frame, Range<usize>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut position = positions.start;
        self.gives_way = true;
        let outcome = loop {
            let outcome = self.points_from(&mut position, &positions, inputs, places, &mut show);
            // Then the native function is there from the beginning.
            if outcome != Err(Halt::Overtaken) {
                break outcome;
            }
        };
        self.gives_way = false;
        outcome
    }

    /// The same from a position on, which goes on with each block.
    fn points_from(
        &mut self,
        at: &mut usize,
        positions: &Range<usize>,
        inputs: &[Elements<'_>],
        places: &mut Places<'_>,
        show: &mut impl FnMut(&mut Frame, Range<usize>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut began = self.begin();
        // The clock takes longer than a call of few points.
        let clock = |engine: &Engine<'_>| (!engine.is_native()).then(Instant::now);
        let mut looked = clock(&self.engine);
        let results = &self.compiled.routine.results[..];
        let shows = places.show_any_of(results);
        let filled = self.varying.iter().any(Option::is_some);
        let mut most = if self.engine.is_native() && !shows && !filled { CALL } else { self.block };
        let first = positions.start;
        let mut position = *at;
        while position < positions.end {
            let row = match self.mode {
                Mode::Flat => positions.clone(),
                Mode::Row => self.enter_row(position)?,
                Mode::FlatColumns | Mode::Column | Mode::Rows => {
                    unreachable!("columns are stepped through, and rows folded at once")
                }
            };
            let runs_on = self.engine.is_native() && !shows && !filled && !self.extents.is_empty();
            let end = match (self.across, runs_on) {
                (true, _) => positions.end,
                (false, true) => positions.end.min(position + most),
                (false, false) => row.end.min(positions.end),
            };
            while position < end {
                let called = self.watched.map(|piece| (piece, Instant::now()));
                let points = if called.is_some() { most.min(self.pace) } else { most };
                let until = end.min(position + points);
                self.enter_block(position, until, row.start)?;
                let (count, block) = (until - position, position..until);
                if let Some(caller) = self.engine.caller() {
                    let call = Call {
                        frame: &mut self.frame,
                        indices: &self.indices,
                        count,
                        position,
                        steps: 1,
                        extents: &self.extents,
                        inputs: Inputs::Elements(inputs, position - first),
                        results: Results::Places(places),
                    };
                    caller.run(self.compiled, call)?;
                    places.fill(&self.frame, results, block.clone());
                } else {
                    for (slot, input) in self.compiled.inputs.iter().zip(inputs) {
                        let input = input.slice(position - first, until - first);
                        with_lane_type!(slot.ty, T => {
                            load_lanes::<T>(&mut self.frame, *slot, <T as Lane>::elements(input));
                        });
                    }
                    self.run(level::BLOCK, count, position)?;
                    places.store(&self.frame, results, block.clone());
                    if looked.is_some_and(|looked| self.engine.shall_look(looked)) {
                        self.engine.end(began);
                        began = self.begin();
                        looked = clock(&self.engine);
                        if self.engine.is_native() && !shows && !filled {
                            most = CALL;
                        }
                    }
                }
                if shows {
                    show(&mut self.frame, block)?;
                }
                position = until;
                *at = position;
                if let Some((piece, called)) = called {
                    piece.advance(count as u64);
                    self.keep_pace(called.elapsed());
                }
            }
        }
        self.engine.end(began);
        Ok(())
    }

    /// How many points the next call is for, after one that took so long. Blocks of the tree of a fold
    /// are whole.
    fn keep_pace(&mut self, took: Duration) {
        if took < SOON {
            self.pace = CALL.min(self.pace * 2);
        } else if took > SOON * 10 {
            self.pace = GROUP.max(self.pace / 2);
        }
    }

    /// Evaluates the points of some rows, given by number, a block of rows at a time: `show` gets the
    /// frame, the rows and the step, for each of these steps in order. To be called between
    /// [`Evaluator::begin`] and the end of a chunk.
    pub(crate) fn columns(
        &mut self,
        rows: Range<usize>,
        steps: Range<usize>,
        mut show: impl FnMut(&mut Frame, Range<usize>, usize) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let last = self.compiled.indices[self.shape.axes.len() - 1];
        assert!(!self.engine.is_native() || !self.compiled.native.folds(), "it stores its results");
        self.blocks_of_columns(rows, |evaluator, block| {
            let (position, count) = (block.start, block.len());
            if !steps.is_empty() && !evaluator.engine.is_native() {
                evaluator.run(level::BLOCK, count, position)?;
            }
            for step in steps.clone() {
                evaluator.context.poll()?;
                if let Some(caller) = evaluator.engine.caller() {
                    evaluator.indices[last_index(evaluator.compiled)] = step as i64;
                    let call = Call {
                        frame: &mut evaluator.frame,
                        indices: &evaluator.indices,
                        count,
                        position,
                        steps: 1,
                        extents: &[],
                        inputs: Inputs::Registers,
                        results: Results::Places(&mut Places::default()),
                    };
                    caller.run(evaluator.compiled, call)?;
                } else {
                    set_uniform(&mut evaluator.frame, last, Scalar::I64(step as i64));
                    evaluator.run(level::STEP, count, position)?;
                }
                show(&mut evaluator.frame, block.clone(), step)?;
            }
            Ok(())
        })
    }

    /// As [`Evaluator::columns`] with a native function that combines its results: `show` gets
    /// registers with what each block of the tree of a fold has come to, and its steps.
    ///
    /// # Panics
    /// If there is no such function.
    pub(crate) fn folded_columns(
        &mut self,
        rows: Range<usize>,
        steps: Range<usize>,
        accumulators: (&mut Frame, &[Slot]),
        mut show: impl FnMut(&mut Frame, Range<usize>, Range<usize>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let (frame, slots) = accumulators;
        self.blocks_of_columns(rows, |evaluator, block| {
            let mut step = steps.start;
            while step < steps.end {
                evaluator.context.poll()?;
                let until = steps.end.min((step / TREE + 1) * TREE);
                evaluator.indices[last_index(evaluator.compiled)] = step as i64;
                let call = Call {
                    frame: &mut evaluator.frame,
                    indices: &evaluator.indices,
                    count: block.len(),
                    position: block.start,
                    steps: until - step,
                    extents: &[],
                    inputs: Inputs::Registers,
                    results: Results::Accumulators(frame, slots),
                };
                let caller = evaluator.engine.caller().expect("a native function");
                caller.run(evaluator.compiled, call)?;
                show(frame, block.clone(), step..until)?;
                step = until;
            }
            Ok(())
        })
    }

    /// As [`Evaluator::folded_columns`], where the steps are one block of the tree: what rows come to goes to
    /// `sums`, which are those of the rows from `first` on.
    ///
    /// # Panics
    /// If there is no such function.
    pub(crate) fn summed_columns(
        &mut self,
        rows: Range<usize>,
        steps: Range<usize>,
        sums: &mut [StorageMut<'_>],
        first: usize,
    ) -> Result<(), Halt> {
        self.blocks_of_columns(rows, |evaluator, block| {
            evaluator.context.poll()?;
            evaluator.indices[last_index(evaluator.compiled)] = steps.start as i64;
            let call = Call {
                frame: &mut evaluator.frame,
                indices: &evaluator.indices,
                count: block.len(),
                position: block.start,
                steps: steps.len(),
                extents: &[],
                inputs: Inputs::Registers,
                results: Results::Sums(&mut *sums, block.start - first),
            };
            let caller = evaluator.engine.caller().expect("a native function");
            caller.run(evaluator.compiled, call)
        })
    }

    /// Enters block after block of rows.
    fn blocks_of_columns(
        &mut self,
        rows: Range<usize>,
        mut work: impl FnMut(&mut Self, Range<usize>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut position = rows.start;
        while position < rows.end {
            let row = match self.mode {
                Mode::Column => self.enter_row(position)?,
                Mode::Flat | Mode::Row | Mode::FlatColumns | Mode::Rows => rows.clone(),
            };
            let end = row.end.min(rows.end);
            while position < end {
                let until = end.min(position + self.block);
                self.enter_block(position, until, row.start)?;
                work(self, position..until)?;
                position = until;
            }
        }
        Ok(())
    }

    /// Begins a chunk ([`Engine::begin`]).
    pub(crate) fn begin(&mut self) -> Option<Instant> {
        let began = self.engine.begin();
        if !self.engine.is_native() && !self.interprets {
            self.interprets = true;
            self.frame = self.compiled.routine.frame(self.block);
        }
        began
    }

    /// Ends a chunk ([`Engine::end`]).
    pub(crate) fn end(&self, began: Option<Instant>) {
        self.engine.end(began);
    }

    /// Sets the outer indices of the row of lanes that a position lies in; the row.
    fn enter_row(&mut self, position: usize) -> Result<Range<usize>, Halt> {
        let number = self.lanes_shape.row_of(position);
        let outer = self.rows_shape.axes.len();
        self.rows_shape.indices_to(number, &mut self.indices[..outer]);
        if !self.engine.is_native() {
            for (&slot, &index) in self.compiled.indices.iter().zip(&self.indices[..outer]) {
                set_uniform(&mut self.frame, slot, Scalar::I64(index));
            }
            self.start()?;
            self.run(level::ROW, 1, 0)?;
        }
        Ok(self.lanes_shape.row(number))
    }

    /// Sets the indices along the lanes.
    fn enter_block(&mut self, position: usize, until: usize, row: usize) -> Result<(), Halt> {
        self.context.poll()?;
        self.start()?;
        let flat = matches!(self.mode, Mode::Flat | Mode::FlatColumns);
        if flat {
            for slot in self.varying.iter().flatten() {
                reserve::<i64>(&mut self.frame, slot.index, self.block);
            }
            self.lanes_shape.fill(&mut self.frame, &self.varying, position, until - position);
        }
        if let Some(axis) = self.lanes_shape.axes.last() {
            let last = self.lanes_shape.axes.len() - 1;
            let slot = self.compiled.indices[last];
            if slot.uniform {
                let first = match axis {
                    Axis::Dense(_) if !flat => position - row,
                    Axis::Dense(_) | Axis::Ragged(_) => position,
                };
                self.indices[last] = first as i64;
                if !self.engine.is_native() {
                    set_uniform(&mut self.frame, slot, Scalar::I64(first as i64));
                }
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
        let overdue = if self.gives_way { self.engine.overdue() } else { None };
        let context = Context { overdue: overdue.as_ref(), ..self.context };
        run(&self.compiled.routine, at, &mut self.frame, Lanes { count, position }, &context)
    }
}

/// The number of the index that steps through columns.
fn last_index(compiled: &Compiled) -> usize {
    compiled.indices.len() - 1
}
