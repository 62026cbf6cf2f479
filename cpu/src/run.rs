//! Runs a plan, step by step.
//!
//! Note [In place]. A variable that is freed right after a kernel is taken from the environment
//! before it: if nothing else holds its buffer, a scatter writes into it instead of a copy. What is freed right
//! after an `if` the last step of a branch that uses it may take, unless the branch yields it.

mod append;
mod loops;
mod repeat;
mod rows;
mod sort;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use weft_codegen::{Bound, Counted, Host};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::leaves::{Given, Stored, give_inputs, stored_to_leaf};
use weft_ir::plan::{Block, Kernel, Program, Sink, SortedKeys, Step, sorted_keys};
use weft_ir::{Column, Exhausted, Fault, FaultKind, Meter, Scalar, Span, Stop, Value};

use crate::execute::Source;
use crate::lanes::{Elements, Storage};
use crate::launch::{Launch, Yield};
use crate::prepare::{BoundKernel, Prepared, PreparedBlock, PreparedStep};

use crate::shape::{Axis, Shape};
use crate::workers::Workers;
use repeat::Waiting;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The threads.
    pub workers: &'a Workers,
    /// The most bytes that all arrays together may take, inputs excluded.
    pub memory_limit: u64,
}

/// A kernel that has run.
#[derive(Clone, Copy, Debug)]
pub struct Launched<'a> {
    /// As the plan has it.
    pub kernel: &'a Kernel,
    /// The number of points of its space.
    pub points: u64,
    /// How long it took.
    pub time: Duration,
    /// The bytes of its results; of one that is where a destination was, those that its points replace at most.
    pub bytes_written: u64,
    /// The bytes of all arrays that are alive after it, inputs excluded.
    pub bytes_alive: u64,
}

/// Runs a plan on the leaves of its inputs; yields the leaves of its value. `observe` hears of every
/// kernel that has run.
///
/// # Errors
/// A fault, if a check failed; [`Exhausted`] if there is not enough memory, or if `cancel` was set.
///
/// # Panics
/// If the program is not one that [`weft_ir::plan::check`] accepts, if `prepared` is of another, or if
/// a leaf has not the layout of its input.
pub fn run(
    program: &Program,
    prepared: &Prepared,
    inputs: &[Value],
    config: &Config<'_>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Launched<'_>),
) -> Result<Vec<Value>, Stop> {
    run_metered(program, prepared, inputs, config, cancel, &Meter::new(), observe)
}

/// As [`run`]; `meter` shows how far the loop that counts, or its rows where a function runs them, or else the kernel at
/// hand has come.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_metered(
    program: &Program,
    prepared: &Prepared,
    inputs: &[Value],
    config: &Config<'_>,
    cancel: &AtomicBool,
    meter: &Meter,
    observe: &mut dyn FnMut(Launched<'_>),
) -> Result<Vec<Value>, Stop> {
    config.workers.memory().begin_run(config.memory_limit);
    let quiet = Meter::new();
    let mut machine = Machine {
        types: &program.types,
        config,
        cancel,
        meter,
        quiet: &quiet,
        observe,
        environment: vec![None; program.types.len()],
        alive: 0,
        launches: 0,
        waiting: None,
    };
    give_inputs(&program.inputs, &program.types, inputs, |var, given| {
        let datum = match given {
            Given::Scalar(scalar) => Datum::Scalar(scalar),
            Given::Array(Stored { extents, elements }) => {
                Datum::Array { extents, elements, bytes: 0 }
            }
        };
        match &mut machine.environment[var.0 as usize] {
            Some(before) => assert_eq!(*before, datum, "two values for a{}", var.0),
            free => *free = Some(datum),
        }
    });
    machine.steps(&program.body, &prepared.body)?;
    let stored = |var: Var| match machine.get(var) {
        Datum::Scalar(scalar) => Stored::scalar(*scalar),
        Datum::Array { extents, elements, .. } => {
            Stored { extents: extents.clone(), elements: elements.clone() }
        }
    };
    Ok(program.outputs.iter().map(|leaf| stored_to_leaf(leaf, stored)).collect())
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq)]
enum Datum {
    Scalar(Scalar),
    Array {
        extents: Vec<usize>,
        elements: Column,
        /// What it counts for in the memory in use: nothing, if it shares another's buffer.
        bytes: u64,
    },
}

/// The destinations of the scatters of a kernel.
#[derive(Default)]
struct Destinations {
    /// Their elements.
    storages: Vec<Storage>,
    /// The extents of each.
    extents: BTreeMap<Var, Vec<usize>>,
    /// The bytes of all. While the kernel runs, no variable has them.
    bytes: u64,
    /// What the scatters yield where a destination was.
    in_place: BTreeSet<Var>,
}

struct Machine<'a> {
    types: &'a [Type],
    config: &'a Config<'a>,
    cancel: &'a AtomicBool,
    meter: &'a Meter,
    /// What nobody reads: for what is inside of loops of which nobody knows how long they go on.
    quiet: &'a Meter,
    observe: &'a mut dyn FnMut(Launched<'_>),
    environment: Vec<Option<Datum>>,
    /// The bytes of all arrays.
    alive: u64,
    /// How many kernels have run.
    launches: u64,
    /// A loop whose turn at hand is to be given up when its function is there (Note [Turns that are given up]).
    waiting: Option<Waiting>,
}

impl Machine<'_> {
    fn steps(&mut self, block: &Block, prepared: &PreparedBlock) -> Result<(), Stop> {
        let mut done = 0;
        for (at, (step, kept)) in block.steps.iter().zip(&prepared.steps).enumerate() {
            if self.cancel.load(Ordering::Relaxed) || self.gives_up_turn() {
                return Err(Exhausted::Interrupted.into());
            }
            if at < done {
                continue;
            }
            if let Some(sorted) = sorted_keys(&block.steps, at)
                && self.sort_values(kept, &block.steps[at..], &sorted)?
            {
                done = at + 2;
                continue;
            }
            self.step(step, kept, &prepared.freed[at])?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, prepared: &PreparedStep, freed: &[Var]) -> Result<(), Stop> {
        match (step, prepared) {
            (Step::Host { results, code, span: _ }, PreparedStep::Host(sequential)) => {
                self.host_loop(results, code, sequential)?;
            }
            (Step::Host { results, code, span: _ }, _) => {
                let (cancel, meter) = (self.cancel, self.meter);
                let mut read = |var: Var, indices: &[i64]| Ok(self.element(var, indices));
                let values = Host { read: &mut read, cancel, meter }.run(code)?;
                for (var, value) in results.iter().zip(values) {
                    self.set(*var, Datum::Scalar(value));
                }
            }
            (Step::Launch(kernel), PreparedStep::Launch(bound, appending)) => {
                if !self.append(kernel, appending.as_deref())? {
                    self.launch(kernel, bound, freed, None)?;
                }
            }
            (Step::Reshape { result, array }, _) => {
                let elements = match self.get(*array) {
                    Datum::Array { elements, .. } => elements.clone(),
                    Datum::Scalar(scalar) => Stored::scalar(*scalar).elements,
                };
                let extents = self.extents(*result)?;
                self.set(*result, Datum::Array { extents, elements, bytes: 0 });
            }
            (Step::Constant { result, elements }, _) => {
                let extents = self.extents(*result)?;
                self.set(*result, Datum::Array { extents, elements: elements.clone(), bytes: 0 });
            }
            (Step::Check { condition, kind, span }, _) => {
                if self.scalar(*condition) != Scalar::Bool(true) {
                    return Err(Fault { kind: *kind, span: *span }.into());
                }
            }
            (Step::If { results, condition, then, otherwise }, PreparedStep::Blocks(blocks)) => {
                let holds = self.scalar(*condition) == Scalar::Bool(true);
                let chosen = if holds { then } else { otherwise };
                self.steps(chosen, &blocks[usize::from(!holds)])?;
                let bound = bound_in(chosen);
                self.rename(&chosen.results, results, &bound);
                self.clear_all(&bound, results);
            }
            (Step::While { .. }, PreparedStep::While(blocks, whole)) => {
                self.repeat(step, blocks, whole, freed)?;
            }
            (Step::Free(vars), _) => vars.iter().for_each(|var| self.clear(*var)),
            (Step::Launch(_) | Step::If { .. } | Step::While { .. }, _) => {
                panic!("the plan was prepared differently")
            }
        }
        Ok(())
    }

    /// Runs a kernel; with `sorted` for what its sort sorts (Note [Sorted keys] in `launch::sorted`).
    fn launch(
        &mut self,
        kernel: &Kernel,
        bound: &BoundKernel,
        freed: &[Var],
        sorted: Option<&SortedKeys>,
    ) -> Result<(), Stop> {
        let begin = Instant::now();
        let mut destinations = self.destinations(kernel, bound, freed)?;
        let in_place = std::mem::take(&mut destinations.in_place);
        let offsets = self.offsets(kernel);
        let shape = self.shape(kernel, &offsets)?;
        let points = shape.points() as u64;
        let (yields, beside) = self.traverse(kernel, bound, shape, destinations, sorted)?;
        let mut bytes_written = 0;
        for (var, value) in yields {
            let datum = match value {
                Yield::Scalar(scalar) => Datum::Scalar(scalar),
                Yield::Array(extents, elements) => {
                    let bytes = elements.bytes() as u64;
                    // Of an array in place no more than its points replace.
                    bytes_written += match in_place.contains(&var) {
                        true => {
                            bytes.min(points * self.types[var.0 as usize].element.bytes() as u64)
                        }
                        false => bytes,
                    };
                    Datum::Array { extents, elements, bytes }
                }
            };
            self.set(var, datum);
        }
        let (time, bytes_alive) = (begin.elapsed(), self.alive.saturating_add(beside));
        (self.observe)(Launched { kernel, points, time, bytes_written, bytes_alive });
        Ok(())
    }

    /// The points of a kernel; `offsets` are those of its ragged dimensions.
    fn shape<'s>(&self, kernel: &Kernel, offsets: &'s [Option<Column>]) -> Result<Shape<'s>, Stop> {
        let mut axes = Vec::new();
        for (dimension, offsets) in kernel.space.iter().zip(offsets) {
            axes.push(match (dimension, offsets) {
                (Dimension::Dense(size), _) => Axis::Dense(self.size(*size, kernel.span)?),
                (Dimension::Ragged { .. }, Some(offsets)) => match Elements::of_column(offsets) {
                    Elements::I64(offsets) => Axis::Ragged(offsets),
                    other => panic!("{other:?} are no offsets"),
                },
                (Dimension::Ragged { .. }, None) => panic!("a ragged dimension has offsets"),
            });
        }
        Shape::new(axes).ok_or_else(|| {
            let (wanted, limit) = (u64::MAX, self.config.memory_limit);
            Exhausted::Memory { wanted, limit, span: kernel.span }.into()
        })
    }

    /// What a kernel yields over a space, and the most bytes that it took beside that.
    fn traverse(
        &mut self,
        kernel: &Kernel,
        bound: &BoundKernel,
        shape: Shape<'_>,
        destinations: Destinations,
        sorted: Option<&SortedKeys>,
    ) -> Result<(Vec<(Var, Yield)>, u64), Stop> {
        let storage = shape.storage();
        let sources: Vec<Source<'_>> =
            bound.arrays.iter().map(|var| source(self.get(*var), &storage)).collect();
        let limit = self.config.memory_limit;
        let launch = Launch {
            kernel,
            bound,
            types: self.types,
            shape,
            sources: &sources,
            extents: destinations.extents,
            workers: self.config.workers,
            cancel: self.cancel,
            sorted,
            meter: self.meter,
            free_bytes: limit.saturating_sub(self.alive).saturating_sub(destinations.bytes),
            limit,
            beside: AtomicU64::new(0),
        };
        let yields = launch.run(destinations.storages)?;
        let beside = launch.beside.into_inner();
        self.launches += 1;
        Ok((yields, beside))
    }

    /// The destinations of the kernel's scatter (Note [In place]), and their extents.
    fn destinations(
        &mut self,
        kernel: &Kernel,
        bound: &BoundKernel,
        freed: &[Var],
    ) -> Result<Destinations, Stop> {
        let mut all = Destinations::default();
        for sink in &kernel.sinks {
            let Sink::Scatter { destinations, arrays, .. } = sink else { continue };
            for (at, var) in destinations.iter().enumerate() {
                let alone = freed.contains(var)
                    && !bound.arrays.contains(var)
                    && !destinations[at + 1..].contains(var);
                let datum = if alone { self.take(*var) } else { self.get(*var).clone() };
                let Datum::Array { extents, elements, bytes } = datum else {
                    panic!("a scalar is no destination")
                };
                if alone && elements.is_alone() {
                    all.in_place.insert(arrays[at]);
                }
                let wanted = elements.bytes() as u64;
                let counted = if alone { bytes } else { 0 };
                self.alive = self.alive.saturating_sub(counted);
                all.bytes = all.bytes.saturating_add(wanted);
                // What was counted before may stay.
                let limit = self.config.memory_limit;
                if counted < wanted && self.alive.saturating_add(all.bytes) > limit {
                    return Err(Exhausted::Memory { wanted, limit, span: kernel.span }.into());
                }
                all.storages.push(self.config.workers.memory().own(elements));
                all.extents.insert(*var, extents);
            }
        }
        Ok(all)
    }

    /// The offsets of the ragged dimensions.
    fn offsets(&self, kernel: &Kernel) -> Vec<Option<Column>> {
        let offsets = |dimension: &Dimension| match dimension {
            Dimension::Dense(_) => None,
            Dimension::Ragged { offsets, .. } => match self.get(*offsets) {
                Datum::Array { elements, .. } => Some(elements.clone()),
                Datum::Scalar(_) => None,
            },
        };
        kernel.space.iter().map(offsets).collect()
    }

    fn get(&self, var: Var) -> &Datum {
        match &self.environment[var.0 as usize] {
            Some(datum) => datum,
            None => panic!("a{} is used before it is bound or after it was freed", var.0),
        }
    }

    fn set(&mut self, var: Var, datum: Datum) {
        self.clear(var);
        if let Datum::Array { bytes, .. } = &datum {
            self.alive += bytes;
        }
        self.environment[var.0 as usize] = Some(datum);
    }

    /// Takes a variable out; its bytes still count.
    fn take(&mut self, var: Var) -> Datum {
        match self.environment[var.0 as usize].take() {
            Some(datum) => datum,
            None => panic!("a{} is used before it is bound or after it was freed", var.0),
        }
    }

    fn clear(&mut self, var: Var) {
        if let Some(Datum::Array { bytes, .. }) = self.environment[var.0 as usize].take() {
            self.alive = self.alive.saturating_sub(bytes);
        }
    }

    /// Gives the values of some variables to others, all at once. Those that are owned lose them;
    /// of others the buffers are shared.
    fn rename(&mut self, from: &[Var], to: &[Var], owned: &BTreeSet<Var>) {
        let mut values: Vec<Datum> = Vec::with_capacity(from.len());
        for (at, var) in from.iter().enumerate() {
            let moves = owned.contains(var) && !from[at + 1..].contains(var);
            let datum = if moves { self.take(*var) } else { self.get(*var).clone() };
            values.push(match datum {
                Datum::Array { extents, elements, bytes } => {
                    if moves {
                        self.alive = self.alive.saturating_sub(bytes);
                    }
                    Datum::Array { extents, elements, bytes: if moves { bytes } else { 0 } }
                }
                Datum::Scalar(scalar) => Datum::Scalar(scalar),
            });
        }
        for (var, datum) in to.iter().zip(values) {
            self.set(*var, datum);
        }
    }

    /// Drops variables, but for some.
    fn clear_all(&mut self, vars: &BTreeSet<Var>, keep: &[Var]) {
        vars.iter().filter(|var| !keep.contains(var)).for_each(|var| self.clear(*var));
    }

    fn scalar(&self, var: Var) -> Scalar {
        match self.get(var) {
            Datum::Scalar(scalar) => *scalar,
            Datum::Array { .. } => panic!("a{} is no scalar", var.0),
        }
    }

    /// How often a loop whose state has its first values will go round.
    fn rounds(&self, counted: &Counted<Var>, state: &[Var]) -> u64 {
        let integer = |var: Var| match self.scalar(var) {
            Scalar::I64(value) => value,
            _ => 0,
        };
        let bound = match counted.bound {
            Bound::Constant(bound) => bound,
            Bound::Of(var) => integer(var),
        };
        let rounds = bound.saturating_sub(integer(state[counted.counter]));
        u64::try_from(rounds).unwrap_or(0)
    }

    fn element(&self, var: Var, indices: &[i64]) -> Option<Scalar> {
        match self.get(var) {
            Datum::Scalar(scalar) => Some(*scalar),
            Datum::Array { extents, elements, .. } => {
                let mut at = 0;
                for (&index, &extent) in indices.iter().zip(extents) {
                    let index = usize::try_from(index).ok().filter(|index| *index < extent)?;
                    at = at * extent + index;
                }
                elements.scalar(at)
            }
        }
    }

    fn size(&self, size: Size, span: Span) -> Result<usize, Stop> {
        let value = match size {
            Size::Constant(value) => value,
            Size::Var(var) => match self.scalar(var) {
                Scalar::I64(value) => value,
                other => panic!("the size {other:?} is no i64"),
            },
        };
        let fault = Fault { kind: FaultKind::BadLength, span };
        usize::try_from(value).map_err(|_| fault.into())
    }

    fn extents(&self, var: Var) -> Result<Vec<usize>, Stop> {
        let extents = self.types[var.0 as usize].extents.iter();
        extents.map(|size| self.size(*size, Span::default())).collect()
    }
}

/// What a kernel reads a variable as.
fn source<'a>(datum: &'a Datum, storage: &[usize]) -> Source<'a> {
    match datum {
        Datum::Scalar(scalar) => Source::Scalar(*scalar),
        Datum::Array { extents, elements, .. } => {
            let mut strides = vec![1_i64; extents.len()];
            for at in (1..extents.len()).rev() {
                strides[at - 1] = strides[at].wrapping_mul(extents[at] as i64);
            }
            let over_space = extents == storage;
            Source::Array { elements: Elements::of_column(elements), strides, over_space }
        }
    }
}

/// The variables that the steps of a block bind.
fn bound_in(block: &Block) -> BTreeSet<Var> {
    block.steps.iter().flat_map(Step::results).collect()
}
