//! Runs a plan step by step on a device.
//!
//! A variable that is freed right after a kernel is taken from the environment before it, as in
//! `cpu/src/run.rs` (Note [In place]).
//!
//! Note [When checks are looked at]. A check that fails leaves its number in a word on the device, and every
//! kernel that begins then does nothing. So the host looks at the word only where it looks at something else that
//! kernels have computed, which is where it decides by it; and at the end of the run. Scalars that only
//! feed other kernels stay on the device.

mod memory;
mod watched;

use std::collections::BTreeSet;
use std::collections::btree_map::{self, BTreeMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weft_codegen::Host;
use weft_emulator::{Emulator, Error, Schedule};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::leaves::{Stored, bind_inputs, stored_to_leaf};
use weft_ir::plan::{Block, Kernel, Program, Sink, Step};
use weft_ir::{Exhausted, Fault, FaultKind, Meter, Scalar, Span, Stop, Value};

use crate::generate::generate;
use crate::launch::Launch;
use crate::policy::Policy;
use crate::shared::MOST_SHARED;
use crate::target::{Broken, EmulatedTarget, Output, Target, Weight};
use crate::text::{Code, Entry, KernelCode};
pub(crate) use memory::{Buffer, Memory};
use watched::Watched;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// How kernels are cut; the policy that the code was generated with.
    pub policy: &'a Policy,
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
    /// The bytes of its results.
    pub bytes_written: u64,
    /// The bytes of all arrays that are alive after it, inputs excluded.
    pub bytes_alive: u64,
}

/// The emulator, and the order in which it runs threads.
#[derive(Debug)]
pub struct Emulated {
    emulator: Emulator,
    /// By number ([`Schedule::numbered`]); if there is none, every plan has its own.
    pub schedule: Option<u64>,
}

impl Emulated {
    /// Finds the host's compiler and builds the device.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is no `g++`.
    pub fn new() -> Result<Emulated, Error> {
        let emulator = Emulator::new()?;
        emulator.expect_beginning(&Code::beginning());
        Ok(Emulated { emulator, schedule: None })
    }

    /// The emulator.
    pub fn emulator(&self) -> &Emulator {
        &self.emulator
    }
}

/// Generates the kernels of a plan and runs it on the emulated device: its leaves in, the leaves of
/// its value out. `observe` hears of every kernel that has run.
///
/// # Errors
/// As [`run_fallible`].
///
/// # Panics
/// If the kernels are wrong: with the emulator's report.
pub fn run_emulated(
    emulated: &Emulated,
    program: &Program,
    inputs: &[Value],
    memory_limit: u64,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Launched<'_>),
) -> Result<Vec<Value>, Halt> {
    let policy = &Policy::EMULATED;
    let code = generate(program, policy);
    let schedule = emulated.schedule.unwrap_or_else(|| schedule_of(&code));
    let schedule = Schedule::numbered(schedule);
    let target = EmulatedTarget::new(&emulated.emulator, &code, schedule, cancel);
    let mut target = target.unwrap_or_else(|error| panic!("{error}"));
    let config = Config { policy, memory_limit };
    run_fallible(program, &code, inputs, &mut target, &config, cancel, observe)
}

/// The number of a schedule that depends on nothing but the text of the kernels: of two that run one
/// block after the other, and of many in which chance decides.
fn schedule_of(code: &Code) -> u64 {
    // FNV-1a.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    code.body.bytes().fold(0xcbf2_9ce4_8422_2325, step) % 64
}

/// Why a run has no results.
#[derive(Clone, Debug, PartialEq)]
pub enum Halt {
    /// The program.
    Stop(Stop),
    /// The device.
    Broken(Broken),
}

/// Runs a plan whose code has been generated, on a device that holds the code.
///
/// # Errors
/// A fault, if a check failed; [`Exhausted`] if there is not enough memory, or if `cancel` was set.
///
/// # Panics
/// If the device fails, or if `code` is of another program or policy.
pub fn run(
    program: &Program,
    code: &Code,
    inputs: &[Value],
    target: &mut dyn Target,
    config: &Config<'_>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Launched<'_>),
) -> Result<Vec<Value>, Stop> {
    let results = run_fallible(program, code, inputs, target, config, cancel, observe);
    results.map_err(|halt| match halt {
        Halt::Stop(stop) => stop,
        Halt::Broken(broken) => panic!("{broken}"),
    })
}

/// As [`run`], for a device that may fail. Buffers are only given back where their room is needed:
/// when this returns, the rest is the caller's.
///
/// # Errors
/// [`Halt::Stop`] as [`run`], and [`Halt::Broken`] if the device fails.
///
/// # Panics
/// If `code` is of another program or policy.
pub fn run_fallible(
    program: &Program,
    code: &Code,
    inputs: &[Value],
    target: &mut dyn Target,
    config: &Config<'_>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Launched<'_>),
) -> Result<Vec<Value>, Halt> {
    let mut memory = Memory::new(Watched::new(target), config.memory_limit);
    let failure = memory.failure().map_err(|stop| memory.halt(stop))?;
    let mut machine = Machine {
        types: &program.types,
        code,
        config,
        cancel,
        observe,
        memory,
        failure,
        too_wide: code.entries.iter().filter(|entry| entry.shared > MOST_SHARED).collect(),
        unchecked: false,
        environment: vec![None; program.types.len()],
    };
    let results = machine.whole(program, inputs);
    results.map_err(|stop| machine.memory.halt(stop))
}

/// After so many turns of a loop whose turns decide nothing by what kernels compute, it is looked whether a
/// check has failed.
const LOOK_EVERY: u32 = 256;

fn variable(size: Size) -> Option<Var> {
    match size {
        Size::Constant(_) => None,
        Size::Var(var) => Some(var),
    }
}

/// What a variable holds.
#[derive(Clone, Debug)]
pub(crate) enum Datum {
    /// The host knows it.
    Scalar(Scalar),
    /// A kernel has computed it; the host knows it once it has asked.
    Computed {
        buffer: Buffer,
        value: Option<Scalar>,
    },
    Array {
        extents: Vec<usize>,
        buffer: Buffer,
    },
}

pub(crate) struct Machine<'a> {
    pub(crate) types: &'a [Type],
    code: &'a Code,
    pub(crate) config: &'a Config<'a>,
    cancel: &'a AtomicBool,
    observe: &'a mut dyn FnMut(Launched<'_>),
    pub(crate) memory: Memory<'a>,
    /// The word in which a check leaves its number that fails (Note [When checks are looked at]).
    pub(crate) failure: Buffer,
    /// The functions that would take more shared memory than there is.
    pub(crate) too_wide: Vec<&'a Entry>,
    /// Whether kernels with checks have been launched since it was looked at.
    pub(crate) unchecked: bool,
    environment: Vec<Option<Datum>>,
}

/// What reports call the buffer of a variable.
pub(crate) fn name(var: Var) -> String {
    format!("a{}", var.0)
}

/// A device that fails ends the run; what holds it knows why ([`Watched`]).
pub(crate) fn stop(broken: Broken) -> Stop {
    match broken {
        Broken::Interrupted
        | Broken::Lost(_)
        | Broken::Memory { .. }
        | Broken::Grid(_)
        | Broken::Shared { .. } => Exhausted::Interrupted.into(),
        Broken::Report(report) => panic!("{report}"),
    }
}

impl Machine<'_> {
    /// Runs the program: the leaves of its value.
    fn whole(&mut self, program: &Program, inputs: &[Value]) -> Result<Vec<Value>, Stop> {
        self.memory.clear(&self.failure)?;
        let inputs = bind_inputs(&program.inputs, &program.types, inputs);
        for (var, Stored { extents, elements }) in inputs {
            let datum = match extents.is_empty() {
                true => Datum::Scalar(elements.scalar(0).expect("a scalar is one element")),
                false => {
                    Datum::Array { buffer: self.memory.input(&elements, &name(var))?, extents }
                }
            };
            self.environment[var.0 as usize] = Some(datum);
        }
        self.memory.inputs_are_uploaded();
        self.steps(&program.body, &mut 0)?;
        self.memory.target.end_kernels().map_err(stop)?;
        self.stop_if_failed()?;
        let mut fetched = BTreeMap::new();
        for (number, leaf) in program.outputs.iter().enumerate() {
            let sizes = leaf.axes.iter().flat_map(|axis| match *axis {
                Dimension::Dense(size) => [None, variable(size)],
                Dimension::Ragged { offsets, total } => [Some(offsets), variable(total)],
            });
            for var in sizes.flatten() {
                fetched.insert(var, self.stored(var, None)?);
            }
            if let btree_map::Entry::Vacant(data) = fetched.entry(leaf.data) {
                data.insert(self.stored(leaf.data, Some(number))?);
            }
        }
        let leaf = |leaf| stored_to_leaf(leaf, |var| fetched[&var].clone());
        Ok(program.outputs.iter().map(leaf).collect())
    }

    /// Runs the steps of a block; `kernel` is the number of its first kernel, and after it of the
    /// first one behind it.
    fn steps(&mut self, block: &Block, kernel: &mut usize) -> Result<(), Stop> {
        for (at, step) in block.steps.iter().enumerate() {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Exhausted::Interrupted.into());
            }
            let freed = match block.steps.get(at + 1) {
                Some(Step::Free(vars)) => &vars[..],
                Some(_) | None => &[],
            };
            self.step(step, freed, kernel)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, freed: &[Var], kernel: &mut usize) -> Result<(), Stop> {
        match step {
            Step::Host { results, code, span: _ } => {
                if code.has_loops() {
                    *kernel += 1;
                    if self.is_kernel(*kernel - 1) {
                        return self.launch(*kernel - 1, &[]);
                    }
                }
                let cancel = self.cancel;
                let mut read = |var: Var, indices: &[i64]| self.element(var, indices);
                let meter = &Meter::new();
                let values = Host { read: &mut read, cancel, meter }.run(code)?;
                for (var, value) in results.iter().zip(values) {
                    self.set(*var, Datum::Scalar(value));
                }
            }
            Step::Launch(_) => {
                *kernel += 1;
                self.launch(*kernel - 1, freed)?;
            }
            Step::Reshape { result, array } => {
                let buffer = match self.get(*array).clone() {
                    Datum::Array { buffer, .. } | Datum::Computed { buffer, .. } => buffer,
                    Datum::Scalar(scalar) => {
                        self.memory.upload(&Stored::scalar(scalar).elements, &name(*result))?
                    }
                };
                let extents = self.extents(*result)?;
                self.set(*result, Datum::Array { extents, buffer });
            }
            Step::Constant { result, elements } => {
                let extents = self.extents(*result)?;
                let buffer = self.memory.upload(elements, &name(*result))?;
                self.set(*result, Datum::Array { extents, buffer });
            }
            Step::Check { condition, kind, span } => {
                if self.scalar(*condition)? != Scalar::Bool(true) {
                    return Err(Fault { kind: *kind, span: *span }.into());
                }
            }
            Step::If { results, condition, then, otherwise } => {
                let holds = self.scalar(*condition)? == Scalar::Bool(true);
                let before = kernels_in(then);
                let mut first = *kernel + if holds { 0 } else { before };
                *kernel += before + kernels_in(otherwise);
                let chosen = if holds { then } else { otherwise };
                self.steps(chosen, &mut first)?;
                self.rename(&chosen.results, results);
                self.clear_all(&bound_in(chosen), results);
            }
            Step::While { results, state, initial, condition, body, rows } => {
                let number = *kernel;
                let first = number + 1;
                let middle = first + kernels_in(condition);
                *kernel = middle + kernels_in(body);
                self.rename(initial, state);
                // What is freed behind the loop may be overwritten in it.
                for var in freed.iter().filter(|var| initial.contains(var)) {
                    self.environment[var.0 as usize] = None;
                }
                if self.finish_loop(number, rows.is_some(), state)? {
                    self.rename(state, results);
                    self.clear_all(&state.iter().copied().collect(), results);
                    return Ok(());
                }
                let in_condition = bound_in(condition);
                let in_body = bound_in(body);
                // Where it lies in the plan tells it from all other loops.
                let place = std::ptr::from_ref(body).addr();
                self.memory.target.begin_loop(place).map_err(stop)?;
                for turn in 1_u32.. {
                    self.steps(condition, &mut first.clone())?;
                    let holds = self.scalar(condition.results[0])? == Scalar::Bool(true);
                    self.clear_all(&in_condition, state);
                    if !holds {
                        break;
                    }
                    self.steps(body, &mut middle.clone())?;
                    self.rename(&body.results, state);
                    self.clear_all(&in_body, state);
                    self.memory.target.end_turn().map_err(stop)?;
                    if turn.is_multiple_of(LOOK_EVERY) {
                        self.stop_if_failed()?;
                    }
                }
                self.memory.target.end_loop().map_err(stop)?;
                self.rename(state, results);
                self.clear_all(&state.iter().copied().collect(), results);
            }
            Step::Free(vars) => {
                vars.iter().for_each(|var| self.environment[var.0 as usize] = None);
            }
        }
        Ok(())
    }

    /// Whether a loop is a kernel itself.
    fn is_kernel(&self, number: usize) -> bool {
        !self.code.kernels[number].pieces.is_empty()
    }

    /// Runs a loop with this state as one kernel, if it is one: then the state becomes the last one. Row by row, arrays
    /// without elements are left to the kernels of the turns: of their rows there may be more than anybody can count.
    fn finish_loop(&mut self, number: usize, rows: bool, state: &[Var]) -> Result<bool, Stop> {
        if !self.is_kernel(number) {
            return Ok(false);
        }
        let code: &KernelCode = &self.code.kernels[number];
        let points = self.shape(&code.kernel)?.points;
        let elements = |var: &Var| match self.get(*var) {
            Datum::Array { extents, .. } => extents.iter().product::<usize>() as u64,
            Datum::Scalar(_) | Datum::Computed { .. } => 0,
        };
        let most = state.iter().map(elements).max().unwrap_or(0);
        if rows && (points == 0 || points > most) {
            return Ok(false);
        }
        self.launch(number, &[])?;
        Ok(true)
    }

    fn launch(&mut self, number: usize, freed: &[Var]) -> Result<(), Stop> {
        let begin = Instant::now();
        let code: &KernelCode = &self.code.kernels[number];
        if code.pieces.is_empty() {
            // The sort before it has yielded what it would (Note [Keys alone]).
            return Ok(());
        }
        let shape = self.shape(&code.kernel)?;
        let before = self.memory.allocated();
        if code.beside {
            let reads = self.read_by(code);
            let policy = self.config.policy;
            let is_small = shape.points <= u64::from(policy.blocks) * u64::from(policy.threads);
            let (is_long, is_beside_long) = (code.is_long(), code.beside_long);
            let weight = Weight { is_small, is_long, is_beside_long };
            self.memory.target.begin_kernel(&reads, weight).map_err(stop)?;
        }
        Launch::new(self, code, shape).run(freed)?;
        if code.beside {
            self.memory.target.end_kernel();
        }
        let bytes_written = self.memory.allocated() - before;
        let (points, time, bytes_alive) = (shape.points, begin.elapsed(), self.memory.alive());
        let kernel = &code.kernel;
        (self.observe)(Launched { kernel, points, time, bytes_written, bytes_alive });
        Ok(())
    }

    pub(crate) fn find(&self, var: Var) -> Option<&Datum> {
        self.environment[var.0 as usize].as_ref()
    }

    pub(crate) fn get(&self, var: Var) -> &Datum {
        match self.find(var) {
            Some(datum) => datum,
            None => panic!("a{} is used before it is bound or after it was freed", var.0),
        }
    }

    pub(crate) fn set(&mut self, var: Var, datum: Datum) {
        self.environment[var.0 as usize] = Some(datum);
    }

    /// Takes a variable out.
    pub(crate) fn take(&mut self, var: Var) -> Datum {
        let datum = self.get(var).clone();
        self.environment[var.0 as usize] = None;
        datum
    }

    /// Gives the values of some variables to others, all at once.
    fn rename(&mut self, from: &[Var], to: &[Var]) {
        let values: Vec<Datum> = from.iter().map(|var| self.get(*var).clone()).collect();
        for (var, datum) in to.iter().zip(values) {
            self.set(*var, datum);
        }
    }

    /// Drops variables, but for some.
    fn clear_all(&mut self, vars: &BTreeSet<Var>, keep: &[Var]) {
        let dropped = vars.iter().filter(|var| !keep.contains(var));
        dropped.for_each(|var| self.environment[var.0 as usize] = None);
    }

    /// The value of a scalar, which comes to the host if a kernel has computed it.
    pub(crate) fn scalar(&mut self, var: Var) -> Result<Scalar, Stop> {
        let buffer = match self.get(var) {
            Datum::Scalar(scalar) | Datum::Computed { value: Some(scalar), .. } => {
                return Ok(*scalar);
            }
            Datum::Computed { buffer, value: None } => buffer.clone(),
            Datum::Array { .. } => panic!("a{} is no scalar", var.0),
        };
        self.stop_if_failed()?;
        let element = self.types[var.0 as usize].element;
        let value = self.memory.element(&buffer, 0, element)?;
        self.set(var, Datum::Computed { buffer, value: Some(value) });
        Ok(value)
    }

    /// Stops if a check has failed: what kernels behind it should have written, they have not.
    pub(crate) fn stop_if_failed(&mut self) -> Result<(), Stop> {
        if !std::mem::take(&mut self.unchecked) {
            return Ok(());
        }
        let failed = self.memory.read(&self.failure.clone(), 4)?;
        let number = failed.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
        if number == 0 {
            return Ok(());
        }
        let has = |kernel: &&KernelCode| {
            (kernel.sites_before + 1..=kernel.sites_before + kernel.sites.len()).contains(&number)
        };
        match self.code.kernels.iter().find(has) {
            Some(kernel) => Err(kernel.sites[number - kernel.sites_before - 1].into()),
            None => Err(Exhausted::Interrupted.into()),
        }
    }

    fn element(&mut self, var: Var, indices: &[i64]) -> Result<Option<Scalar>, Stop> {
        let (extents, buffer) = match self.get(var) {
            Datum::Scalar(_) | Datum::Computed { .. } => return self.scalar(var).map(Some),
            Datum::Array { extents, buffer } => (extents, buffer.clone()),
        };
        let mut at = 0_u64;
        for (&index, &extent) in indices.iter().zip(extents) {
            let Some(index) = usize::try_from(index).ok().filter(|index| *index < extent) else {
                return Ok(None);
            };
            at = at * extent as u64 + index as u64;
        }
        let element = self.types[var.0 as usize].element;
        self.stop_if_failed()?;
        self.memory.element(&buffer, at, element).map(Some)
    }

    pub(crate) fn size(&mut self, size: Size, span: Span) -> Result<u64, Stop> {
        let value = match size {
            Size::Constant(value) => value,
            Size::Var(var) => match self.scalar(var)? {
                Scalar::I64(value) => value,
                other => panic!("the size {other:?} is no i64"),
            },
        };
        let fault = Fault { kind: FaultKind::BadLength, span };
        u64::try_from(value).map_err(|_| fault.into())
    }

    pub(crate) fn extents(&mut self, var: Var) -> Result<Vec<usize>, Stop> {
        let types = self.types;
        let extents = types[var.0 as usize].extents.iter();
        extents
            .map(|size| self.size(*size, Span::default()).map(|extent| extent as usize))
            .collect()
    }

    /// The value of a variable, for the host. The elements of a leaf may stay where they are.
    fn stored(&mut self, var: Var, leaf: Option<usize>) -> Result<Stored, Stop> {
        match self.get(var).clone() {
            Datum::Scalar(_) | Datum::Computed { .. } => Ok(Stored::scalar(self.scalar(var)?)),
            Datum::Array { extents, buffer } => {
                let count = extents.iter().product::<usize>();
                let element = self.types[var.0 as usize].element;
                let elements = match leaf {
                    Some(leaf) => self.memory.result(&buffer, Output { leaf, count, element })?,
                    None => self.memory.download(&buffer, count as u64, element)?,
                };
                Ok(Stored { extents, elements })
            }
        }
    }
}

/// How many kernels a block launches, loops counted, which may be kernels themselves (`KernelCode`).
pub(crate) fn kernels_in(block: &Block) -> usize {
    block.steps.iter().map(kernels_of).sum()
}

/// How many kernels a step launches.
pub(crate) fn kernels_of(step: &Step) -> usize {
    let own = match step {
        Step::Launch(_) | Step::While { .. } => true,
        Step::Host { code, .. } => code.has_loops(),
        _ => false,
    };
    usize::from(own) + step.blocks().map(kernels_in).sum::<usize>()
}

/// The variables that the steps of a block bind.
fn bound_in(block: &Block) -> BTreeSet<Var> {
    block.steps.iter().flat_map(Step::results).collect()
}

/// The scalars that a kernel computes on the device; how many points a filter keeps, the host learns at once.
pub(crate) fn computed_scalars(kernel: &Kernel, types: &[Type]) -> Vec<Var> {
    let counts: Vec<Var> = kernel.sinks.iter().flat_map(Sink::counts).copied().collect();
    let is_computed = |var: &Var| types[var.0 as usize].extents.is_empty() && !counts.contains(var);
    kernel.results().filter(is_computed).collect()
}
