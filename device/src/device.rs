//! A device with all that outlives a run: its context, the memory table, and the kernels.
//!
//! Note [The first check that fails]. Kernels with checks do not wait for each other, in streams and in graphs. If
//! several fail, the first one leaves its number that comes to it, and the others may do nothing then. So where it
//! could have been another one than in the program, a run with a fault is done again, one kernel after the other: its
//! fault is that of the first check. Nobody has seen anything of the first run, and of what it had nothing is left.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use weft_cuda::{Broken, Halt, Launched, Policy, run_fallible};
use weft_ir::{Column, Exhausted, Looks, Stop, Value, plan};

use crate::deferred::{Again, Origin, lock, scalars};
use crate::found::Description;
use crate::images::{Images, Statistics};
use crate::kernels::{Kernels, Loading};
use crate::state::{State, lose};
use crate::streams::Beside;
use crate::summary::Tools;
use crate::table::Table;
use crate::target::{DeviceTarget, Results, Traffic, Ways};

/// So often the driver may refuse a new context for one that was lost. Then it is not asked any more.
const MOST_REFUSED: u32 = 3;

/// How a device is used.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder for code; nothing if it is kept in memory only.
    pub cache: Option<PathBuf>,
    /// The most bytes that it may take there.
    pub cache_bytes: u64,
    /// Whether what loops repeat is launched as graphs.
    pub graphs: bool,
    /// Which kernels that do not depend on others go to further streams.
    pub streams: Beside,
    /// How many texts of a program the compiler may work on at once (Note [Units of compilation]).
    pub compilers: usize,
    /// When so many modules are loaded, of which a program has one to about ten, all go.
    pub modules: usize,
    /// So many bytes the device clears before each run, of which it reads an eighth then, so that its caches hold nothing,
    /// neither of the inputs nor for its memory, and the host is ahead of it: for measurements.
    pub cleared: u64,
}

impl Config {
    /// What the environment says: `weft/device` in `XDG_CACHE_HOME`, or in `.cache` at home; graphs, unless
    /// `WEFT_GRAPHS` is `off`, and several streams, unless `WEFT_STREAMS` is `off`; a compiler for each processor.
    pub fn of_environment() -> Config {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let caches =
            variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let at_home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let cache = caches.or_else(at_home).map(|folder| folder.join("weft").join("device"));
        let is_on = |name| variable(name).is_none_or(|text| text != "off");
        let graphs = is_on("WEFT_GRAPHS");
        let streams = if is_on("WEFT_STREAMS") { Beside::Long } else { Beside::Nothing };
        let compilers = std::thread::available_parallelism().map_or(1, usize::from);
        Config {
            cache,
            cache_bytes: 256 << 20,
            graphs,
            streams,
            compilers,
            modules: 4096,
            cleared: 0,
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// The leaves of the value, or why there are none.
    pub results: Result<Vec<Value>, Halt>,
    /// What it moved.
    pub traffic: Traffic,
}

/// What the device holds for the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Arrays.
    pub arrays: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// What is to be run.
struct Run<'a> {
    kernels: &'a Kernels,
    inputs: &'a [Value],
    memory_limit: u64,
    cancel: &'a AtomicBool,
    /// What says what results are that stay on the device; nothing if all come to the host.
    again: Option<Again>,
}

/// A device that programs run on, one at a time.
pub struct Device {
    description: Description,
    ways: Ways,
    modules: usize,
    cleared: u64,
    tools: Arc<Tools>,
    /// Nothing if the context was lost, with the reason. Results that were not fetched know it too.
    state: Arc<Mutex<Result<State, String>>>,
    /// How often a context was made.
    contexts: u64,
    /// How often none could be made, one after the other.
    refused: u32,
}

impl Device {
    /// Makes a context on a device.
    ///
    /// # Errors
    /// What the driver says.
    pub fn open(description: Description, config: &Config) -> Result<Device, String> {
        let state = State::open(&description, 1).map_err(|failure| failure.to_string())?;
        let folder = config.cache.as_deref();
        let (goal, release) = (description.goal, description.compiler);
        let images = Arc::new(Images::new(goal, release, folder, config.cache_bytes));
        let policy = Policy::of_device(description.architecture, description.multiprocessors);
        let tools = Arc::new(Tools { images, policy, compilers: config.compilers });
        let state = Arc::new(Mutex::new(Ok(state)));
        let ways = Ways { graphs: config.graphs, streams: config.streams };
        let (modules, cleared) = (config.modules, config.cleared);
        Ok(Device { description, ways, modules, cleared, tools, state, contexts: 1, refused: 0 })
    }

    /// What it is.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Generates the kernels of a plan that [`weft_ir::plan::check`] accepts.
    pub fn kernels(&self, plan: plan::Program) -> Kernels {
        Kernels::new(plan, &self.tools)
    }

    /// As [`Config::cleared`], from the next run on.
    pub fn set_cleared(&mut self, bytes: u64) {
        self.cleared = bytes;
    }

    /// The bytes that the device reads and writes in a second when so many are copied from one buffer to another; nothing if
    /// that took no time by its clock.
    ///
    /// # Errors
    /// Why it cannot: there is no room for two such buffers, or the device is of no use.
    pub fn copying(&mut self, bytes: u64) -> Result<Option<f64>, String> {
        let shared = Arc::clone(&self.state);
        let mut guard = lock(&shared);
        self.ready(&mut guard)?;
        let state = guard.as_ref().expect("it is ready");
        crate::copying::rate(&state.driver, bytes).map_err(|failure| failure.to_string())
    }

    /// Runs a plan: its leaves in, the leaves of its value out. All arrays together may take
    /// `memory_limit` bytes, inputs excluded. What the inputs have on the device is used again, and what
    /// they have not is left there for the next run, as are the results. A context that was lost is
    /// replaced first.
    pub fn run(
        &mut self,
        kernels: &Kernels,
        inputs: &[Value],
        memory_limit: u64,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Launched<'_>),
    ) -> Ran {
        self.start(kernels, inputs, memory_limit, cancel, None, observe)
    }

    /// As [`Device::run`], but large results stay on the device until somebody wants to see them. If it has
    /// lost them by then, `again` says what they are (Note [Results that are not fetched]).
    pub fn run_deferring(
        &mut self,
        kernels: &Kernels,
        inputs: &[Value],
        memory_limit: u64,
        cancel: &AtomicBool,
        again: Again,
        observe: &mut dyn FnMut(Launched<'_>),
    ) -> Ran {
        self.start(kernels, inputs, memory_limit, cancel, Some(again), observe)
    }

    fn start(
        &mut self,
        kernels: &Kernels,
        inputs: &[Value],
        memory_limit: u64,
        cancel: &AtomicBool,
        again: Option<Again>,
        observe: &mut dyn FnMut(Launched<'_>),
    ) -> Ran {
        if !self.bring(inputs, cancel) {
            let results = Err(Halt::Stop(Exhausted::Interrupted.into()));
            return Ran { results, traffic: Traffic::default() };
        }
        let shared = Arc::clone(&self.state);
        let mut guard = lock(&shared);
        if let Err(why) = self.ready(&mut guard) {
            let results = Err(Halt::Broken(Broken::Lost(why)));
            return Ran { results, traffic: Traffic::default() };
        }
        let asked = Run { kernels, inputs, memory_limit, cancel, again };
        let (ran, reorders_checks) = self.once(&mut guard, &asked, self.ways, observe);
        match ran.results {
            // Note [The first check that fails].
            Err(Halt::Stop(Stop::Fault(_))) if reorders_checks && guard.is_ok() => {
                self.once(&mut guard, &asked, Ways::PLAIN, observe).0
            }
            results => Ran { results, ..ran },
        }
    }

    /// A run; whether of several checks that fail another one may have come first than in the program.
    fn once(
        &self,
        guard: &mut Result<State, String>,
        asked: &Run<'_>,
        ways: Ways,
        observe: &mut dyn FnMut(Launched<'_>),
    ) -> (Ran, bool) {
        let Run { kernels, inputs, memory_limit, cancel, .. } = *asked;
        let state = guard.as_mut().expect("it is ready");
        let cached = kernels.is_compiled(state, &self.tools.images);
        let loading = Loading::new(&self.tools.images, kernels);
        let results = asked.again.as_ref().map(|again| Results {
            device: Arc::downgrade(&self.state),
            origin: Arc::new(Origin::new(Arc::clone(again))),
            tools: Arc::clone(&self.tools),
        });
        let mut target = DeviceTarget::new(state, loading, results, ways, cancel);
        target.traffic.cached = cached;
        let config = weft_cuda::Config { policy: &self.tools.policy, memory_limit };
        let begun = target.prepare();
        let begun = begun.and_then(|()| target.clear_caches(self.cleared));
        let begun = begun.and_then(|()| target.mark()).map_err(halt);
        let results = begun.and_then(|begin| {
            let (plan, code) = (&kernels.plan, kernels.code());
            match run_fallible(plan, code, inputs, &mut target, &config, cancel, observe) {
                Ok(results) => target.finish(begin).map(|()| results).map_err(halt),
                Err(halt) => {
                    target.forget(begin);
                    Err(halt)
                }
            }
        });
        let (lost, traffic) = (target.end(), target.traffic);
        let reorders_checks = target.reorders_checks();
        drop(target);
        if let Some(why) = lost {
            lose(guard, why);
        }
        (Ran { results, traffic }, reorders_checks)
    }

    /// Brings inputs to the host that are neither here nor on the device: while it runs, nobody can ask it. False
    /// if somebody interrupts.
    fn bring(&self, inputs: &[Value], cancel: &AtomicBool) -> bool {
        let is_absent = |column: &&Column| {
            let guard = lock(&self.state);
            let identity = column.identity();
            let held = |state: &State| identity.and_then(|own| state.table.bytes_of(&own));
            !column.is_here() && guard.as_ref().ok().and_then(held).is_none()
        };
        let columns = inputs.iter().filter_map(|input| match input {
            Value::Array(array) => Some(scalars(&array.elements)),
            Value::Scalar(_) | Value::Tuple(_) => None,
        });
        columns.filter(is_absent).all(|column| {
            let is_brought = column.bring(Looks::AtAll, cancel);
            if is_brought {
                // Looking at them fetches them.
                weft_cuda::elements::bytes(column);
            }
            is_brought
        })
    }

    /// Which of these elements the device has, in bytes.
    pub fn resident_bytes(&self, value: &Value) -> u64 {
        match value {
            Value::Scalar(_) => 0,
            Value::Tuple(parts) => parts.iter().map(|part| self.resident_bytes(part)).sum(),
            Value::Array(array) => {
                let guard = lock(&self.state);
                guard.as_ref().map_or(0, |state| resident(&array.elements, &state.table))
            }
        }
    }

    /// What it holds.
    pub fn residency(&self) -> Residency {
        let guard = lock(&self.state);
        let held = guard.as_ref().map(|state| state.table.held());
        let (arrays, bytes) = held.unwrap_or_default();
        Residency { arrays, bytes }
    }

    /// How texts became code.
    pub fn statistics(&self) -> Statistics {
        self.tools.images.statistics()
    }

    /// How often a context was made: more than once only after a device was lost.
    pub fn contexts(&self) -> u64 {
        self.contexts
    }

    /// Whether the last run has lost the device, and nobody has asked for another context yet.
    pub fn is_lost(&self) -> bool {
        lock(&self.state).is_err()
    }

    /// Forgets compiled code, but for what is on disk.
    pub fn clear(&mut self) {
        self.tools.images.clear();
    }

    /// Makes sure that there is a context, and that it is current.
    fn ready(&mut self, guard: &mut Result<State, String>) -> Result<(), String> {
        if let Ok(state) = guard {
            let entered = state.driver.enter().and_then(|()| state.purge());
            let entered = entered.and_then(|()| state.unload_many(self.modules));
            match entered {
                Ok(()) => return Ok(()),
                Err(failure) => lose(guard, failure.to_string()),
            }
        }
        if self.refused >= MOST_REFUSED {
            return guard.as_ref().map(|_| ()).map_err(String::clone);
        }
        // A context that was kept is not current.
        let state = State::open(&self.description, self.contexts + 1)
            .and_then(|state| state.driver.enter().map(|()| state));
        self.refused = if state.is_ok() { 0 } else { self.refused + 1 };
        let is_over = self.refused >= MOST_REFUSED;
        let state = state.map_err(|failure| match is_over {
            true => format!("{failure}; it takes a new start of Weft to use it again"),
            false => failure.to_string(),
        });
        let answer = state.as_ref().map(|_| ()).map_err(String::clone);
        self.contexts += u64::from(state.is_ok());
        *guard = state;
        answer
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("description", &self.description).finish_non_exhaustive()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut *lock(&self.state), Err(String::new()));
        let Ok(state) = state else { return };
        let is_idle = state.driver.enter().is_ok() && state.driver.is_idle() == Ok(true);
        match is_idle {
            true => state.end(self.description.number),
            // A kernel that does not end would hold up the end of the process, and what is queued may still read
            // what was to be uploaded: both stay.
            false => std::mem::forget(state),
        }
    }
}

/// An interrupt is about the program, anything else about the device.
fn halt(broken: Broken) -> Halt {
    match broken {
        Broken::Interrupted => Halt::Stop(Exhausted::Interrupted.into()),
        broken => Halt::Broken(broken),
    }
}

/// The bytes of a column's elements that the device has.
fn resident(column: &Column, table: &Table) -> u64 {
    match column {
        Column::Tuple { parts, .. } => parts.iter().map(|part| resident(part, table)).sum(),
        Column::Dense { inner, .. } => resident(inner, table),
        Column::Ragged { offsets, inner } => {
            let offsets = table.bytes_of(&offsets.distances().identity()).unwrap_or(0);
            offsets + resident(inner, table)
        }
        column => column.identity().and_then(|own| table.bytes_of(&own)).unwrap_or(0),
    }
}
