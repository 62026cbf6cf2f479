//! The GPU as an engine: the device, which is looked for when it is first needed, and kernels for it.
//!
//! Where there is none, where it has no room, or where it fails, the CPU runs the program, with the same
//! answer, and a notice says why. The next program finds a new context (`Note [Nothing is lost]` in
//! `weft_device`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weft_cuda::{Broken, Halt, loops_on_one_thread};
use weft_device::{Again, Config, Device, Kernels, WORTHWHILE_ELEMENTS};
use weft_ir::leaves::leaves_to_value;
use weft_ir::{Column, Exhausted, Looks, Stop, Value};
use weft_lang::lower::Lowered;

use super::kept::Kept;
use super::{Job, NotRun, Notice, Ran, Unsupported, compile};
use crate::engine::Backend;
use crate::footer::Phase;
use crate::modes::{Modes, size_text};
use crate::traffic::bytes_read;

/// The device of a session.
#[derive(Debug, Default)]
pub(super) struct Gpu {
    /// Nothing before it is looked for; then the device, or why there is none.
    device: Mutex<Option<Result<Device, String>>>,
    /// By the text of what they were compiled from.
    kernels: Kept<Arc<Kernels>>,
    /// What people are to hear of.
    notices: Mutex<Vec<Notice>>,
    /// Whether they have heard that there is no device.
    told: AtomicBool,
}

/// Why the CPU has to run a program.
pub(super) enum Elsewhere {
    /// The device cannot.
    Cpu,
    /// The program has no value.
    NotRun(NotRun),
}

impl From<NotRun> for Elsewhere {
    fn from(not_run: NotRun) -> Elsewhere {
        Elsewhere::NotRun(not_run)
    }
}

impl From<Unsupported> for Elsewhere {
    fn from(unsupported: Unsupported) -> Elsewhere {
        Elsewhere::NotRun(unsupported.into())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// What is found, in words: the device with its memory, or why there is none. Where there was none, it
    /// is looked for again.
    pub(super) fn describe(&self) -> Result<String, String> {
        lock(&self.device).take_if(|found| found.is_err());
        self.with(|device| {
            let memory = size_text(device.description().bytes);
            let held = match device.residency() {
                weft_device::Residency { arrays: 0, .. } => String::new(),
                held => {
                    format!("; {} arrays of {} are there", held.arrays, size_text(held.bytes))
                }
            };
            format!("{}; {memory}{held}", device.description())
        })
    }

    /// Whether the back end `auto` takes the device for these inputs. Small arrays are not even worth
    /// looking for one.
    pub(super) fn is_worthwhile(&self, inputs: &[Value]) -> bool {
        let elements: u64 = inputs.iter().map(elements).sum();
        elements >= WORTHWHILE_ELEMENTS && self.with(|_| ()).is_ok()
    }

    /// The bytes of a value that are on the device too.
    pub(super) fn resident_bytes(&self, value: &Value) -> u64 {
        match &*lock(&self.device) {
            Some(Ok(device)) => device.resident_bytes(value),
            Some(Err(_)) | None => 0,
        }
    }

    /// What people are to hear of, once.
    pub(super) fn take_notice(&self) -> Option<Notice> {
        lock(&self.notices).pop()
    }

    /// Forgets everything that was compiled.
    pub(super) fn clear(&self) {
        self.kernels.clear();
        if let Some(Ok(device)) = &mut *lock(&self.device) {
            device.clear();
        }
    }

    /// The kernels of a program: those that are kept, or new ones.
    fn kernels(
        &self,
        job: &Job<'_>,
        lowered: &Lowered,
        inputs: &[Value],
        ran: &mut Ran,
    ) -> Result<Arc<Kernels>, Elsewhere> {
        // Where the back end is chosen by the size of the inputs, too.
        let modes = Modes { backend: Backend::Gpu, ..job.modes.clone() };
        let (key, known) = ran.timed(Phase::Compile, || {
            let key = compile::key(&modes, lowered, inputs);
            let known = self.kernels.get(&key);
            (key, known)
        });
        if let Some(kernels) = known {
            return Ok(kernels);
        }
        let plan = compile::compiled(&modes, lowered, inputs, ran)?.plan;
        // A thread of the host is faster than one of a device.
        if job.modes.backend == Backend::Auto && !loops_on_one_thread(&plan).is_empty() {
            return Err(Elsewhere::Cpu);
        }
        let kernels = ran
            .timed(Phase::Compile, || self.with(|device| Arc::new(device.kernels(plan))))
            .map_err(|absent| self.absent(&absent))?;
        self.kernels.insert(key, Arc::clone(&kernels));
        Ok(kernels)
    }

    /// Runs a program on the device; what is known of it is kept for its next run.
    pub(super) fn run(
        &self,
        job: &Job<'_>,
        lowered: &Lowered,
        inputs: &[Value],
        known: &mut Option<Arc<Kernels>>,
        ran: &mut Ran,
    ) -> Result<Value, Elsewhere> {
        let kernels = match known.take() {
            Some(kernels) => kernels,
            None => self.kernels(job, lowered, inputs, ran)?,
        };
        let started = Instant::now();
        let counters = &mut ran.counters;
        let outcome = self.with(|device| {
            let (memory, again) = (job.modes.memory, again(&kernels, inputs, job.modes.threads));
            device.run_deferring(&kernels, inputs, memory, job.cancel, again, &mut |launched| {
                counters.launched(launched.bytes_written, launched.bytes_alive);
                let types = &kernels.plan.types;
                counters.bytes_read += bytes_read(launched.kernel, types, launched.points);
            })
        });
        let weft_device::Ran { results, traffic } =
            outcome.map_err(|absent| self.absent(&absent))?;
        let copied = traffic.compile + traffic.upload + traffic.download;
        for (phase, time) in [
            (Phase::Compile, traffic.compile),
            (Phase::Transfer, traffic.upload),
            (Phase::Run, started.elapsed().saturating_sub(copied)),
            (Phase::Fetch, traffic.download),
        ] {
            if time > Duration::ZERO {
                ran.phases.push((phase, time));
            }
        }
        match traffic.cached {
            true => counters.cached += kernels.count(),
            false => counters.compiled += kernels.count(),
        }
        counters.uploaded += traffic.uploaded;
        counters.reused += traffic.reused;
        counters.downloaded += traffic.downloaded;
        counters.beside += traffic.beside;
        counters.graphs += traffic.graphs;
        counters.on_device += traffic.on_device;
        match results {
            Ok(results) => {
                *known = Some(kernels);
                Ok(leaves_to_value(&results, &lowered.ty))
            }
            Err(Halt::Stop(stop)) => Err(NotRun::Stop(stop).into()),
            Err(Halt::Broken(broken)) => {
                let place =
                    if let Broken::Shared { span, .. } = broken { Some(span) } else { None };
                self.note(Notice { place, text: failure_text(&broken) });
                Err(Elsewhere::Cpu)
            }
        }
    }

    /// Does something with the device, which is looked for if that has not been done. The error says why
    /// there is none.
    fn with<T>(&self, action: impl FnOnce(&mut Device) -> T) -> Result<T, String> {
        let mut device = lock(&self.device);
        let found = device.get_or_insert_with(|| {
            let found = weft_device::find().map_err(|absent| absent.to_string())?;
            let first = found.into_iter().next().ok_or("no device was found")?;
            Device::open(first, &Config::of_environment())
        });
        found.as_mut().map(action).map_err(|absent| absent.clone())
    }

    /// Somebody wants a device where there is none.
    fn absent(&self, why: &str) -> Elsewhere {
        if !self.told.swap(true, Ordering::Relaxed) {
            let text = format!("no GPU: {why}. This ran on the CPU, as will what follows");
            self.note(text.into());
        }
        Elsewhere::Cpu
    }

    fn note(&self, notice: Notice) {
        let mut notices = lock(&self.notices);
        notices.clear();
        notices.push(notice);
    }
}

/// Runs a program on the CPU that the device has run, if that has lost the results before anybody saw them.
fn again(kernels: &Arc<Kernels>, inputs: &[Value], threads: usize) -> Again {
    let (kernels, inputs) = (Arc::clone(kernels), inputs.to_vec());
    Arc::new(move |cancel| {
        if !inputs.iter().all(|input| input.bring(Looks::AtAll, cancel)) {
            return None;
        }
        let workers = weft_cpu::Workers::new(threads);
        let config = weft_cpu::Config { workers: &workers, memory_limit: u64::MAX };
        let prepared = weft_cpu::prepare(&kernels.plan, &mut weft_cpu::KernelCache::new());
        match weft_cpu::run(&kernels.plan, &prepared, &inputs, &config, cancel, &mut |_| {}) {
            Ok(leaves) => Some(leaves),
            Err(Stop::Exhausted(Exhausted::Interrupted)) => None,
            Err(stop) => panic!("the CPU does not repeat a run of the GPU: {stop:?}"),
        }
    })
}

/// Why the CPU ran what the device should have.
fn failure_text(broken: &Broken) -> String {
    let what = match broken {
        Broken::Memory { wanted, held } => {
            let (wanted, held) = (size_text(*wanted), size_text(*held));
            format!(
                "the GPU has no room: an array of {wanted} was wanted, beside {held} of this program, and \
                 nothing is left to let go of"
            )
        }
        Broken::Grid(blocks) => {
            format!("the GPU cannot do it: a kernel would have {blocks} blocks of threads")
        }
        Broken::Shared { .. } => format!("the GPU cannot do it: {broken}"),
        Broken::Lost(why) => format!("the GPU failed ({why})"),
        Broken::Report(why) => format!("the GPU failed: {why}"),
        Broken::Interrupted => "the GPU was interrupted".to_owned(),
    };
    format!("{what}. This ran on the CPU, and nothing is lost")
}

/// The scalars of a leaf.
fn elements(leaf: &Value) -> u64 {
    fn of(column: &Column) -> u64 {
        match column {
            Column::Dense { inner, .. } | Column::Ragged { inner, .. } => of(inner),
            column => column.len() as u64,
        }
    }
    match leaf {
        Value::Array(array) => of(&array.elements),
        Value::Scalar(_) | Value::Tuple(_) => 0,
    }
}
