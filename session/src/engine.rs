//! Which engine runs a program, and the compiled programs that a session keeps.
//!
//! ```text
//! typed::Program ─lower→ nested ─passes→ plan ─prepare→ kernels ─run→ leaves → Value
//!        └──────────── unsupported, or a fault ───────→ interp ───────────→ Value | Trap
//! ```
//!
//! Note [The interpreter decides]. What the compiled path cannot do runs on the reference interpreter,
//! and so does a program whose compiled form met a fault: the interpreter says whether the error is
//! needed, and with which values (`Note [Faults without values]` in `weft_ir`). So every engine gives the same
//! answers and the same errors. Before that, the program runs compiled once more if what failed may only have
//! been computed because it was moved out of a map (`Note [Guarded maps]` in `weft_passes`).

mod compile;
mod gpu;
mod guards;
mod joined;
mod kept;
mod outcome;
mod ran;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use weft_cuda::{Broken, Halt};
use weft_interp::Limits;
use weft_ir::leaves::{leaves_to_value, value_to_leaves};
use weft_ir::plan::read_back;
use weft_ir::{Exhausted, Failure, Looks, Meter, Span, Stop, Value};
use weft_lang::lower::Lowered;
use weft_lang::typed::{GlobalId, Program};

use crate::footer::Phase;
use crate::modes::Modes;
use crate::traffic::bytes_read;
pub(crate) use compile::{Stages, Unsupported, nested, shared, stages, unsupported_diagnostic};
use gpu::Elsewhere;
use guards::Guards;
pub(crate) use joined::{Joined, LeftApart};
use kept::Kept;
use outcome::{NotRun, answer, too_wide, value};
pub use ran::{Counters, Statistics};
pub(crate) use ran::{Fallback, Ran};

/// What runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// The compiled path where it pays, else the interpreter.
    Auto,
    /// Kernels on host threads.
    Cpu,
    /// Kernels on a CUDA device; on host threads where there is none.
    Gpu,
    /// The CUDA kernels, on an emulated device that checks every access.
    GpuEmulated,
    /// The interpreter of the intermediate language *flat*, to test the passes before it.
    Flat,
    /// The same on what a plan says in *flat*, to test the passes behind it: every read is checked.
    Plan,
    /// The interpreter of the intermediate language *nested*, to test lowering.
    Nested,
    /// The reference interpreter.
    Interp,
}

impl Backend {
    /// Every back end.
    pub const ALL: [Backend; 8] = [
        Backend::Auto,
        Backend::Cpu,
        Backend::Gpu,
        Backend::GpuEmulated,
        Backend::Flat,
        Backend::Plan,
        Backend::Nested,
        Backend::Interp,
    ];

    /// The name in `--backend` and `:backend`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Auto => "auto",
            Backend::Cpu => "cpu",
            Backend::Gpu => "gpu",
            Backend::GpuEmulated => "gpu-emulated",
            Backend::Flat => "flat",
            Backend::Plan => "plan",
            Backend::Nested => "nested",
            Backend::Interp => "interp",
        }
    }

    /// Whether it evaluates, in place of compiling: that can take a thousand times as long.
    pub(crate) fn is_interpreter(self) -> bool {
        matches!(self, Backend::Flat | Backend::Plan | Backend::Nested | Backend::Interp)
    }

    /// The back end of that name.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

/// A program to run.
pub(crate) struct Job<'a> {
    pub(crate) program: &'a Program,
    /// The values of earlier bindings.
    pub(crate) values: &'a dyn Fn(GlobalId) -> Value,
    pub(crate) modes: &'a Modes,
    pub(crate) cancel: &'a AtomicBool,
    /// Shows how far it has come.
    pub(crate) meter: &'a Meter,
    /// The bytes of the stack that it runs on.
    pub(crate) stack: usize,
}

/// What people are to hear of a run.
#[derive(Debug)]
pub(crate) struct Notice {
    /// The expression that it is about, if it is about one.
    pub(crate) place: Option<Span>,
    pub(crate) text: String,
}

impl From<String> for Notice {
    fn from(text: String) -> Notice {
        Notice { place: None, text }
    }
}

/// The engines of a session, shared by all of its states.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    /// Kernels, by when they become machine code.
    kernels: Mutex<BTreeMap<weft_cpu::Tier, weft_cpu::KernelCache>>,
    /// What makes machine code of them, begun when it is first needed.
    native: OnceLock<weft_cpu::Native>,
    /// The emulated device, or why there is none.
    emulated: OnceLock<Result<weft_cuda::Emulated, String>>,
    gpu: gpu::Gpu,
    /// Plans by the text of what they were compiled from.
    plans: Kept<Arc<Plan>>,
    /// Groups of lines that do not go together, by the text of what they would be as one program.
    apart: Kept<LeftApart>,
    /// Threads, started when they are first needed.
    workers: Mutex<Option<Arc<weft_cpu::Workers>>>,
    statistics: Mutex<Statistics>,
    /// By the last cells that had kernels: how many were there already, and how many were compiled.
    cells: Mutex<BTreeMap<usize, (u64, u64)>>,
}

/// Cells of which `:cache` tells.
const MOST_CELLS: usize = 8;

/// A plan that is ready to run.
#[derive(Debug)]
struct Plan {
    plan: weft_ir::plan::Program,
    prepared: weft_cpu::Prepared,
    kernels: u64,
}

/// A program that has run compiled, for the next run of the same job.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    lowered: Option<Arc<Lowered>>,
    /// What its plan is kept by.
    key: Option<String>,
    cpu: Option<Arc<Plan>>,
    gpu: Option<Arc<weft_device::Kernels>>,
}

impl Compiled {
    /// The program in *nested*, and the leaves that it reads, at hand for who looks so.
    fn lowered(
        &mut self,
        job: &Job<'_>,
        looks: Looks,
        ran: &mut Ran,
    ) -> Result<(Arc<Lowered>, Vec<Value>), NotRun> {
        let lowered = match &self.lowered {
            Some(lowered) => Arc::clone(lowered),
            None => Arc::clone(self.lowered.insert(Arc::new(compile::lowered(job, ran)?))),
        };
        let inputs = leaves(job, &lowered);
        bring(job, &inputs, looks)?;
        Ok((lowered, inputs))
    }
}

/// Whether a program has no room in memory that would take less without split maps.
fn has_no_room(outcome: &Result<Value, NotRun>, job: &Job<'_>, known: &Compiled) -> bool {
    let Err(NotRun::Stop(Stop::Exhausted(Exhausted::Memory { .. }))) = outcome else {
        return false;
    };
    let lowered = known.lowered.as_ref().filter(|_| job.modes.split);
    lowered.is_some_and(|lowered| compile::is_split(job.modes, lowered, &leaves(job, lowered)))
}

/// The most kernels that are kept for programs to come.
const MOST_KERNELS: usize = 2_000;

impl Engine {
    /// Runs a program, on the back end that the modes ask for.
    pub(crate) fn run(&self, job: &Job<'_>) -> (Result<Value, Failure>, Ran) {
        self.run_again(job, &mut Compiled::default())
    }

    /// As [`Engine::run`]; the same job runs again without being compiled again.
    pub(crate) fn run_again(
        &self,
        job: &Job<'_>,
        known: &mut Compiled,
    ) -> (Result<Value, Failure>, Ran) {
        let mut ran = Ran::new(job.modes.backend);
        let result = match job.modes.backend {
            Backend::Interp => None,
            backend => self.compiled(job, backend, known, &mut ran),
        };
        let result = result.unwrap_or_else(|| {
            ran.backend = Backend::Interp;
            ran.timed(Phase::Run, || interpret(job))
        });
        self.count(&ran, job.modes.backend);
        (result, ran)
    }

    /// Counts the kernels of a program towards its cell.
    pub(crate) fn note_cell(&self, cell: usize, counters: &Counters) {
        if counters.cached + counters.compiled == 0 {
            return;
        }
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let (cached, compiled) = cells.entry(cell).or_default();
        *cached += counters.cached;
        *compiled += counters.compiled;
        while cells.len() > MOST_CELLS {
            cells.pop_first();
        }
    }

    /// The last cells that had kernels: their number, kernels that were there already, kernels that
    /// were compiled.
    pub(crate) fn last_cells(&self) -> Vec<(usize, u64, u64)> {
        let cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.iter().map(|(cell, (cached, compiled))| (*cell, *cached, *compiled)).collect()
    }

    /// What has run where so far.
    pub(crate) fn statistics(&self) -> Statistics {
        *self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a program compiled; none if the interpreter has to.
    fn compiled(
        &self,
        job: &Job<'_>,
        backend: Backend,
        known: &mut Compiled,
        ran: &mut Ran,
    ) -> Option<Result<Value, Failure>> {
        let mut guards = Guards::default();
        loop {
            // What is shared is behind locks that are taken over where a thread has left them.
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let outcome = self.attempt(job, backend, known, ran);
                let again = guards.program_after(&outcome, backend, known);
                (outcome, again)
            }));
            match outcome {
                Ok((_, Some(guarded))) => {
                    *known = guarded;
                    ran.counters = Counters::default();
                }
                Ok((outcome, None)) if has_no_room(&outcome, job, known) => {
                    let modes = Modes { split: false, ..job.modes.clone() };
                    *known = Compiled::default();
                    ran.counters = Counters::default();
                    return self.compiled(&Job { modes: &modes, ..*job }, backend, known, ran);
                }
                Ok((outcome, None)) => return answer(guards.said(outcome), job, ran),
                Err(panic) => {
                    ran.fallback = Some(Fallback::Bug(message(&*panic)));
                    return None;
                }
            }
        }
    }

    /// Runs a program compiled, as it stands.
    fn attempt(
        &self,
        job: &Job<'_>,
        backend: Backend,
        known: &mut Compiled,
        ran: &mut Ran,
    ) -> Result<Value, NotRun> {
        match backend {
            Backend::Nested => self.run_nested(job, known, ran),
            Backend::Flat | Backend::Plan => {
                self.run_flat(job, backend == Backend::Plan, known, ran)
            }
            Backend::GpuEmulated => self.run_emulated(job, known, ran),
            Backend::Gpu | Backend::Auto | Backend::Cpu | Backend::Interp => {
                self.run_plan(job, known, ran)
            }
        }
    }

    fn run_nested(
        &self,
        job: &Job<'_>,
        known: &mut Compiled,
        ran: &mut Ran,
    ) -> Result<Value, NotRun> {
        let (lowered, inputs) = known.lowered(job, Looks::AtAll, ran)?;
        let results = ran.timed(Phase::Run, || {
            weft_interp::run_nested(&lowered.program, &inputs, &limits(job), job.cancel)
        })?;
        Ok(leaves_to_value(&results, &lowered.ty))
    }

    /// Runs the program in *flat*, or what its plan says in *flat*.
    fn run_flat(
        &self,
        job: &Job<'_>,
        of_plan: bool,
        known: &mut Compiled,
        ran: &mut Ran,
    ) -> Result<Value, NotRun> {
        let (lowered, inputs) = known.lowered(job, Looks::AtAll, ran)?;
        let flat = match of_plan {
            true => read_back(&compile::compiled(job.modes, &lowered, &inputs, ran)?.plan),
            false => compile::flattened(job.modes, &lowered, &inputs, ran)?,
        };
        let results = ran
            .timed(Phase::Run, || weft_interp::run_flat(&flat, &inputs, &limits(job), job.cancel));
        value(results, &lowered)
    }

    /// Runs the CUDA kernels on the emulated device, which panics with a report if one is wrong.
    fn run_emulated(
        &self,
        job: &Job<'_>,
        known: &mut Compiled,
        ran: &mut Ran,
    ) -> Result<Value, NotRun> {
        let emulated = self.emulated.get_or_init(|| match weft_cuda::Emulated::new() {
            Ok(emulated) => Ok(emulated),
            Err(error) if error.is_unavailable() => Err(error.to_string()),
            Err(error) => panic!("{error}"),
        });
        let emulated = emulated.as_ref().map_err(|reason| {
            let (reason, span) = (reason.clone(), Span::default());
            Unsupported { reason, span }
        })?;
        let (lowered, inputs) = known.lowered(job, Looks::AtAll, ran)?;
        let plan = compile::compiled(job.modes, &lowered, &inputs, ran)?.plan;
        let started = Instant::now();
        let counters = &mut ran.counters;
        let results = weft_cuda::run_emulated(
            emulated,
            &plan,
            &inputs,
            job.modes.memory,
            job.cancel,
            &mut |launched| counters.launched(launched.bytes_written, launched.bytes_alive),
        );
        ran.phases.push((Phase::Run, started.elapsed()));
        let results = match results {
            Ok(results) => Ok(results),
            Err(Halt::Stop(stop)) => Err(stop),
            Err(Halt::Broken(broken @ Broken::Shared { span, .. })) => {
                return Err(Unsupported { reason: broken.to_string(), span }.into());
            }
            Err(Halt::Broken(broken)) => panic!("{broken}"),
        };
        value(results, &lowered)
    }

    fn run_plan(
        &self,
        job: &Job<'_>,
        known: &mut Compiled,
        ran: &mut Ran,
    ) -> Result<Value, NotRun> {
        let (lowered, inputs) = known.lowered(job, Looks::AtSome, ran)?;
        let on_gpu = match job.modes.backend {
            _ if known.cpu.is_some() => false,
            Backend::Gpu => true,
            Backend::Auto => self.gpu.is_worthwhile(&inputs),
            _ => false,
        };
        if on_gpu {
            ran.backend = Backend::Gpu;
            match self.gpu.run(job, &lowered, &inputs, &mut known.gpu, ran) {
                Ok(value) => return Ok(value),
                Err(Elsewhere::NotRun(NotRun::Stop(stop))) => return Err(too_wide(stop, &lowered)),
                // A recursion, perhaps, that the CPU has a stack for.
                Err(Elsewhere::NotRun(NotRun::Unsupported(_)))
                    if job.modes.backend == Backend::Auto =>
                {
                    ran.counters = Counters::default();
                }
                Err(Elsewhere::NotRun(not_run)) => return Err(not_run),
                Err(Elsewhere::Cpu) => ran.counters = Counters::default(),
            }
        }
        ran.backend = Backend::Cpu;
        let compiled = match known.cpu.take() {
            Some(compiled) => {
                ran.counters.cached += compiled.kernels;
                compiled
            }
            None => self.plan(job, &lowered, &inputs, known.key.take(), ran)?,
        };
        // Where there are neither kernels nor loops, perhaps nobody looks.
        if compiled.kernels > 0 || compile::has_loops(&compiled.plan.body) {
            bring(job, &inputs, Looks::AtAll)?;
        }
        let waited = self.native().waited();
        let started = Instant::now();
        let workers = self.workers(job.modes.threads);
        let config = weft_cpu::Config { workers: &workers, memory_limit: job.modes.memory };
        let counters = &mut ran.counters;
        let results = weft_cpu::run_metered(
            &compiled.plan,
            &compiled.prepared,
            &inputs,
            &config,
            job.cancel,
            job.meter,
            &mut |launched| {
                counters.launched(launched.bytes_written, launched.bytes_alive);
                let types = &compiled.plan.types;
                counters.bytes_read += bytes_read(launched.kernel, types, launched.points);
            },
        );
        // The first launch of a kernel waits for its machine code, if the tier says so.
        let waited = self.native().waited() - waited;
        if !waited.is_zero() {
            ran.phases.push((Phase::Compile, waited));
        }
        ran.phases.push((Phase::Run, started.elapsed().saturating_sub(waited)));
        let value = ran.timed(Phase::Fetch, || value(results, &lowered))?;
        known.cpu = Some(compiled);
        Ok(value)
    }

    /// The plan of a program: one that is kept, or a new one.
    fn plan(
        &self,
        job: &Job<'_>,
        lowered: &Lowered,
        inputs: &[Value],
        key: Option<String>,
        ran: &mut Ran,
    ) -> Result<Arc<Plan>, Unsupported> {
        let (key, known) = ran.timed(Phase::Compile, || {
            let key = key.unwrap_or_else(|| compile::key(job.modes, lowered, inputs));
            let known = self.plans.get(&key);
            (key, known)
        });
        match known {
            Some(compiled) => {
                ran.counters.cached += compiled.kernels;
                Ok(compiled)
            }
            None => self.prepared(job, lowered, inputs, key, ran),
        }
    }

    /// Compiles a program and keeps what comes of it.
    fn prepared(
        &self,
        job: &Job<'_>,
        lowered: &Lowered,
        inputs: &[Value],
        key: String,
        ran: &mut Ran,
    ) -> Result<Arc<Plan>, Unsupported> {
        let plan = compile::compiled(job.modes, lowered, inputs, ran)?.plan;
        let started = Instant::now();
        let mut all_kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        all_kernels.retain(|_, kernels| kernels.len() < MOST_KERNELS);
        let kernels = all_kernels.entry(job.modes.tier).or_insert_with(|| {
            weft_cpu::KernelCache::with_native(self.native().clone(), job.modes.tier)
        });
        let (hits, misses) = kernels.hits_and_misses();
        let prepared = weft_cpu::prepare(&plan, kernels);
        let (all_hits, all_misses) = kernels.hits_and_misses();
        drop(all_kernels);
        ran.phases.push((Phase::Compile, started.elapsed()));
        ran.counters.cached += all_hits - hits;
        ran.counters.compiled += all_misses - misses;
        let kernels = all_hits - hits + all_misses - misses;
        let plan = Arc::new(Plan { plan, prepared, kernels });
        self.plans.insert(key, Arc::clone(&plan));
        Ok(plan)
    }

    /// That many threads; the last that were asked for are kept.
    fn workers(&self, threads: usize) -> Arc<weft_cpu::Workers> {
        let mut known = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(workers) if workers.threads() == threads => Arc::clone(workers),
            _ => Arc::clone(known.insert(Arc::new(weft_cpu::Workers::new(threads)))),
        }
    }

    fn count(&self, ran: &Ran, asked: Backend) {
        let mut statistics = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        match (&ran.fallback, ran.backend) {
            (Some(Fallback::Unsupported(_)), _) => statistics.unsupported += 1,
            (Some(Fallback::Fault(_)), _) => statistics.faults += 1,
            (Some(Fallback::Bug(_)), _) => statistics.bugs += 1,
            (None, Backend::Interp) => statistics.interpreted += 1,
            (None, Backend::Cpu) if asked == Backend::Gpu => statistics.elsewhere += 1,
            (None, _) => statistics.compiled += 1,
        }
    }

    /// Forgets everything that was compiled.
    pub(crate) fn clear(&self) {
        self.plans.clear();
        self.apart.clear();
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if let Some(native) = self.native.get() {
            native.forget();
        }
        self.gpu.clear();
    }

    /// What GPU there is, in words; the error says why there is none.
    pub(crate) fn gpu(&self) -> Result<String, String> {
        self.gpu.describe()
    }

    /// The bytes of a value that a GPU has too.
    pub(crate) fn resident_bytes(&self, value: &Value) -> u64 {
        self.gpu.resident_bytes(value)
    }

    /// How many plans are kept, and how many different kernels.
    pub(crate) fn kept(&self) -> (usize, usize) {
        let kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let kernels = kernels.values().map(weft_cpu::KernelCache::len).sum();
        (self.plans.len(), kernels)
    }

    /// What makes machine code of kernels.
    pub(crate) fn native(&self) -> &weft_cpu::Native {
        self.native.get_or_init(|| weft_cpu::Native::new(weft_cpu::NativeConfig::of_environment()))
    }

    /// Why a program did not run where it was wanted, or why kernels do not become machine code, once that
    /// is known.
    pub(crate) fn take_notice(&self) -> Option<Notice> {
        let of_native = || self.native.get()?.take_notice().map(Notice::from);
        self.gpu.take_notice().or_else(of_native)
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Runs a program on the reference interpreter.
fn interpret(job: &Job<'_>) -> Result<Value, Failure> {
    weft_interp::run_metered(job.program, job.values, &limits(job), job.cancel, job.meter)
}

fn limits(job: &Job<'_>) -> Limits {
    Limits { memory: job.modes.memory, recursion: job.modes.recursion, stack: job.stack }
}

/// The leaves of the earlier values that a program reads.
pub(crate) fn leaves(job: &Job<'_>, lowered: &Lowered) -> Vec<Value> {
    lowered
        .inputs
        .iter()
        .flat_map(|(global, ty)| value_to_leaves(&(job.values)(*global), ty))
        .collect()
}

/// An engine is about to read leaves: what a device has lost may have to be computed again, unless somebody interrupts.
fn bring(job: &Job<'_>, leaves: &[Value], looks: Looks) -> Result<(), NotRun> {
    match leaves.iter().all(|leaf| leaf.bring(looks, job.cancel)) {
        true => Ok(()),
        false => Err(Stop::Exhausted(Exhausted::Interrupted).into()),
    }
}
