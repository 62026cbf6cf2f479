//! A device with all that outlives a run: its context, the memory table, and the kernels.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};

use weft_codegen::Digest;
use weft_cuda::{Broken, Code, Halt, Launched, Policy, generate, run_fallible};
use weft_ir::{Column, Exhausted, Value, plan};

use crate::driver::{Driver, Function, Module};
use crate::found::Description;
use crate::images::{Images, Statistics};
use crate::table::Table;
use crate::target::{DeviceTarget, Loading, NotLoaded, Source, Traffic};
use crate::words::Failure;

/// Modules that are loaded; when there are more, all go.
const MOST_MODULES: usize = 512;

/// Where code for the device is kept.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder; nothing if it is kept in memory only.
    pub cache: Option<PathBuf>,
    /// The most bytes that it may take there.
    pub cache_bytes: u64,
}

impl Config {
    /// What the environment says: `weft/device` in `XDG_CACHE_HOME`, or in `.cache` at home.
    pub fn of_environment() -> Config {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let caches =
            variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let at_home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let cache = caches.or_else(at_home).map(|folder| folder.join("weft").join("device"));
        Config { cache, cache_bytes: 256 << 20 }
    }
}

/// A plan with its kernels, for one device.
#[derive(Debug)]
pub struct Kernels {
    /// The plan.
    pub plan: plan::Program,
    code: Code,
    text: Arc<str>,
    key: Digest,
}

impl Kernels {
    /// How many kernels there are.
    pub fn count(&self) -> u64 {
        self.code.kernels.len() as u64
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

/// A device that programs run on, one at a time.
pub struct Device {
    description: Description,
    policy: Policy,
    images: Arc<Images>,
    /// Nothing if the context was lost, with the reason.
    state: Result<State, String>,
    /// How often a context was made.
    contexts: u64,
}

/// A context with what is in it.
pub(crate) struct State {
    pub(crate) driver: Driver,
    pub(crate) table: Table,
    /// What the device may still read.
    pub(crate) sources: Vec<Source>,
    modules: Vec<(Module, BTreeMap<String, Function>)>,
    loaded: BTreeMap<Digest, Loaded>,
}

/// The number of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loaded(usize);

impl Device {
    /// Makes a context on a device.
    ///
    /// # Errors
    /// What the driver says.
    pub fn open(description: Description, config: &Config) -> Result<Device, String> {
        let state = State::open(&description).map_err(|failure| failure.to_string())?;
        let folder = config.cache.as_deref();
        let (goal, release) = (description.goal, description.compiler);
        let images = Arc::new(Images::new(goal, release, folder, config.cache_bytes));
        // The table is of the greatest device of each architecture; nothing of it has been measured.
        let blocks = description.multiprocessors.max(1) * 8;
        let policy = Policy { blocks, ..Policy::of_architecture(description.architecture) };
        Ok(Device { description, policy, images, state: Ok(state), contexts: 1 })
    }

    /// What it is.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Generates the kernels of a plan that [`weft_ir::plan::check`] accepts.
    pub fn kernels(&self, plan: plan::Program) -> Kernels {
        let code = generate(&plan, &self.policy);
        let text: Arc<str> = code.text().into();
        let key = self.images.key(&text);
        Kernels { plan, code, text, key }
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
        let lost = |why: &str| Ran {
            results: Err(Halt::Broken(Broken::Lost(why.to_owned()))),
            traffic: Traffic::default(),
        };
        if let Err(why) = self.ready() {
            return lost(&why);
        }
        let Ok(state) = &mut self.state else { return lost("there is no context") };
        let cached = state.loaded.contains_key(&kernels.key) || self.images.is_known(&kernels.key);
        let loading = loading(&self.images, kernels);
        let mut target = DeviceTarget::new(state, loading, cancel);
        target.traffic.cached = cached;
        let config = weft_cuda::Config { policy: &self.policy, memory_limit };
        let begun = target.prepare().and_then(|()| target.mark()).map_err(halt);
        let results = begun.and_then(|begin| {
            let Kernels { plan, code, .. } = kernels;
            match run_fallible(plan, code, inputs, &mut target, &config, cancel, observe) {
                Ok(results) => target.finish(begin).map(|()| results).map_err(halt),
                Err(halt) => {
                    target.forget(begin);
                    Err(halt)
                }
            }
        });
        let (lost, traffic) = (target.end(), target.traffic);
        drop(target);
        if let Some(why) = lost {
            self.lose(why);
        }
        Ran { results, traffic }
    }

    /// Which of these elements the device has, in bytes.
    pub fn resident_bytes(&self, value: &Value) -> u64 {
        let Ok(state) = &self.state else { return 0 };
        match value {
            Value::Scalar(_) => 0,
            Value::Tuple(parts) => parts.iter().map(|part| self.resident_bytes(part)).sum(),
            Value::Array(array) => resident(&array.elements, &state.table),
        }
    }

    /// What it holds.
    pub fn residency(&self) -> Residency {
        let held = self.state.as_ref().map(|state| state.table.held());
        let (arrays, bytes) = held.unwrap_or_default();
        Residency { arrays, bytes }
    }

    /// How texts became code.
    pub fn statistics(&self) -> Statistics {
        self.images.statistics()
    }

    /// How often a context was made: more than once only after a device was lost.
    pub fn contexts(&self) -> u64 {
        self.contexts
    }

    /// Forgets compiled code, but for what is on disk.
    pub fn clear(&mut self) {
        self.images.clear();
    }

    /// Makes sure that there is a context, and that it is current.
    fn ready(&mut self) -> Result<(), String> {
        if let Ok(state) = &mut self.state {
            let entered = state.driver.enter().and_then(|()| state.purge());
            match entered {
                Ok(()) => return Ok(()),
                Err(failure) => self.lose(failure.to_string()),
            }
        }
        let state = State::open(&self.description).map_err(|failure| failure.to_string());
        let answer = state.as_ref().map(|_| ()).map_err(String::clone);
        self.contexts += u64::from(state.is_ok());
        self.state = state;
        answer
    }

    /// Throws the context away.
    fn lose(&mut self, why: String) {
        if let Ok(state) = std::mem::replace(&mut self.state, Err(why)) {
            state.driver.abandon();
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("description", &self.description).finish_non_exhaustive()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let Ok(state) = &mut self.state else { return };
        let is_idle = state.driver.enter().is_ok() && state.driver.is_idle() == Ok(true);
        if is_idle && state.give_back().is_ok() {
            return self.lose(String::new());
        }
        // A kernel that does not end would hold up the end of the process, and what is queued may still read
        // what was to be uploaded: both stay.
        if let Ok(state) = std::mem::replace(&mut self.state, Err(String::new())) {
            std::mem::forget(state);
        }
    }
}

impl State {
    fn open(description: &Description) -> Result<State, Failure> {
        let driver = Driver::open(description.number)?;
        Ok(State {
            driver,
            table: Table::default(),
            sources: Vec::new(),
            modules: Vec::new(),
            loaded: BTreeMap::new(),
        })
    }

    /// Gives back the copies of arrays that the host has let go of.
    pub(crate) fn purge(&mut self) -> Result<(), Failure> {
        self.table.take_dead().into_iter().try_for_each(|dead| self.driver.free(dead.address))
    }

    /// Gives back all copies: a pool may outlive its context.
    fn give_back(&mut self) -> Result<(), Failure> {
        while let Some(dropped) = self.table.take_oldest() {
            self.driver.free(dropped.address)?;
        }
        self.driver.trim()
    }

    /// A kernel of a module.
    pub(crate) fn function(&mut self, loaded: Loaded, name: &str) -> Result<Function, Failure> {
        let (module, functions) = &mut self.modules[loaded.0];
        if let Some(function) = functions.get(name) {
            return Ok(*function);
        }
        let function = self.driver.function(module, name)?;
        functions.insert(name.to_owned(), function);
        Ok(function)
    }

    fn load(&mut self, key: &Digest, image: &[u8]) -> Result<Loaded, Failure> {
        if self.modules.len() >= MOST_MODULES && self.driver.is_idle()? {
            self.loaded.clear();
            for (module, _) in std::mem::take(&mut self.modules) {
                self.driver.unload(module)?;
            }
        }
        let module = self.driver.load(image)?;
        let loaded = Loaded(self.modules.len());
        self.modules.push((module, BTreeMap::new()));
        self.loaded.insert(key.clone(), loaded);
        Ok(loaded)
    }
}

/// An interrupt is about the program, anything else about the device.
fn halt(broken: Broken) -> Halt {
    match broken {
        Broken::Interrupted => Halt::Stop(Exhausted::Interrupted.into()),
        broken => Halt::Broken(broken),
    }
}

/// What loads the kernels of a run. The compiler works beside the uploads.
fn loading<'a>(images: &Arc<Images>, kernels: &'a Kernels) -> Loading<'a> {
    let mut compiling: Option<JoinHandle<Result<Arc<Vec<u8>>, String>>> = None;
    let (images, key) = (Arc::clone(images), &kernels.key);
    let load = move |state: &mut State| {
        if kernels.code.kernels.is_empty() {
            return Ok(None);
        }
        if let Some(loaded) = state.loaded.get(key) {
            return Ok(Some(*loaded));
        }
        let image = match compiling.take() {
            None => {
                let (images, text, key) = (Arc::clone(&images), kernels.text.clone(), key.clone());
                compiling = Some(thread::spawn(move || images.image(&key, &text)));
                return Ok(None);
            }
            Some(thread) if !thread.is_finished() => {
                compiling = Some(thread);
                return Ok(None);
            }
            Some(thread) => thread.join(),
        };
        let image = image.unwrap_or_else(|_| Err("the compiler broke off".to_owned()));
        let said = |said| NotLoaded::Compiler(format!("the kernels do not compile: {said}"));
        let image = image.map_err(said)?;
        state.load(key, &image).map(Some).map_err(NotLoaded::Driver)
    };
    Loading { load: Box::new(load), loaded: None }
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
