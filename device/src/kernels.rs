//! The kernels of a plan, and how they come to the device.
//!
//! Note [Loading waits for the device]. The driver may wait until the device is idle before it loads code, or a function
//! of code that it has put off, and nobody can interrupt that. So all units of a plan are loaded, with all their
//! functions, before its first kernel is launched; and before a function is loaded that was compiled on its own, the
//! device is waited for in a way that can be interrupted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use weft_codegen::Digest;
use weft_cuda::{Code, generate};
use weft_ir::plan;

use crate::images::Images;
use crate::state::{Loaded, State};
use crate::summary::Tools;
use crate::words::Failure;

/// The stack of a thread that compiles: the compiler's recursion grows with the functions, and a main thread has as much
/// and more.
const COMPILER_STACK: usize = 16 << 20;

/// A plan with its kernels, for one device.
#[derive(Debug)]
pub struct Kernels {
    /// The plan.
    pub plan: plan::Program,
    code: Code,
    /// What is compiled before it runs.
    usual: Vec<Unit>,
    /// The number of the unit of each function that is compiled before it runs.
    unit_of: BTreeMap<String, usize>,
}

/// A text that is compiled at once.
#[derive(Clone, Debug)]
struct Unit {
    text: Arc<str>,
    key: Digest,
    functions: Vec<String>,
}

impl Unit {
    fn new(text: String, functions: Vec<String>, images: &Images) -> Unit {
        Unit { key: images.key(&text), text: text.into(), functions }
    }
}

impl Kernels {
    pub(crate) fn new(plan: plan::Program, tools: &Tools) -> Kernels {
        let code = generate(&plan, &tools.policy);
        let (mut usual, mut unit_of) = (Vec::new(), BTreeMap::new());
        if code.count() > 0 {
            for weft_cuda::Unit { text, functions } in code.units(tools.compilers) {
                unit_of.extend(functions.iter().map(|name| (name.clone(), usual.len())));
                usual.push(Unit::new(text, functions, &tools.images));
            }
        }
        Kernels { plan, code, usual, unit_of }
    }

    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// How many kernels there are.
    pub fn count(&self) -> u64 {
        self.code.count() as u64
    }

    /// Whether the code of all that is compiled before it runs is loaded, or in memory.
    pub(crate) fn is_compiled(&self, state: &State, images: &Images) -> bool {
        self.usual
            .iter()
            .all(|Unit { key, .. }| state.loaded.contains_key(key) || images.is_known(key))
    }
}

/// Why kernels are not loaded.
pub(crate) enum NotLoaded {
    /// The compiler says this; the device has nothing to do with it.
    Compiler(String),
    Driver(Failure),
}

/// The kernels of a run. The compiler works beside the uploads.
pub(crate) struct Loading<'a> {
    images: Arc<Images>,
    kernels: &'a Kernels,
    /// How far the units are, and whether all of them are loaded.
    usual: Vec<Stage>,
    are_loaded: bool,
    /// The functions that are compiled on their own.
    alone: BTreeMap<String, (Unit, Stage)>,
}

impl<'a> Loading<'a> {
    pub(crate) fn new(images: &Arc<Images>, kernels: &'a Kernels) -> Loading<'a> {
        let usual = kernels.usual.iter().map(|_| Stage::Unknown).collect();
        let (images, are_loaded, alone) = (Arc::clone(images), false, BTreeMap::new());
        Loading { images, kernels, usual, are_loaded, alone }
    }

    /// Has the compiler begin with all units that are not there, and loads those that it is done with.
    pub(crate) fn begin(&mut self, state: &mut State) -> Result<(), NotLoaded> {
        for (unit, stage) in self.kernels.usual.iter().zip(&mut self.usual) {
            stage.advance(unit, &self.images, state)?;
        }
        self.are_loaded = self.usual.iter().all(|stage| stage.loaded().is_some());
        Ok(())
    }

    /// The code of a function, if this run has it.
    pub(crate) fn loaded(&self, function: &str) -> Option<Loaded> {
        if !self.are_loaded {
            return None;
        }
        let stage = match self.kernels.unit_of.get(function) {
            Some(&number) => &self.usual[number],
            None => &self.alone.get(function)?.1,
        };
        stage.loaded()
    }

    /// Whether the compiler is done with a function that is compiled on its own, and that is to be loaded.
    pub(crate) fn is_compiled(&self, function: &str) -> bool {
        let stage = self.alone.get(function).map(|(_, stage)| stage);
        matches!(stage, Some(Stage::Compiling(thread)) if thread.is_finished())
    }

    /// The code of a function; nothing as long as the compiler works. All units are loaded before any function of
    /// theirs is there (Note [Loading waits for the device]). `is_compiled` says whether the compiler was done with it when
    /// the device was waited for.
    pub(crate) fn load(
        &mut self,
        state: &mut State,
        function: &str,
        is_compiled: bool,
    ) -> Result<Option<Loaded>, NotLoaded> {
        // Those that are compiled alone too: behind them, units could not be loaded at once.
        if !self.are_loaded {
            self.begin(state)?;
        }
        let images = &self.images;
        if self.kernels.unit_of.contains_key(function) {
            return Ok(self.loaded(function));
        }
        let text = || self.kernels.code.text_of(function);
        let unit = || Unit::new(text(), vec![function.to_owned()], images);
        let alone = self.alone.entry(function.to_owned());
        let (unit, stage) = alone.or_insert_with(|| (unit(), Stage::Unknown));
        // It may be done by now; but the device may have work that ends only when it is interrupted.
        if matches!(stage, Stage::Compiling(_)) && !is_compiled {
            return Ok(None);
        }
        let loaded = stage.advance(unit, images, state)?;
        Ok(loaded.filter(|_| self.are_loaded))
    }
}

/// How far a unit is.
enum Stage {
    Unknown,
    Compiling(JoinHandle<Result<Arc<Vec<u8>>, String>>),
    Loaded(Loaded),
}

impl Stage {
    /// Goes as far as it can at once.
    fn advance(
        &mut self,
        unit: &Unit,
        images: &Arc<Images>,
        state: &mut State,
    ) -> Result<Option<Loaded>, NotLoaded> {
        let Unit { text, key, functions } = unit;
        match std::mem::replace(self, Stage::Unknown) {
            Stage::Loaded(loaded) => *self = Stage::Loaded(loaded),
            Stage::Compiling(thread) if !thread.is_finished() => *self = Stage::Compiling(thread),
            Stage::Compiling(thread) => {
                let image = thread.join();
                let image = image.unwrap_or_else(|_| Err("the compiler broke off".to_owned()));
                let said =
                    |said| NotLoaded::Compiler(format!("the kernels do not compile: {said}"));
                let image = image.map_err(said)?;
                let loaded = state.load(key, &image, functions).map_err(NotLoaded::Driver)?;
                *self = Stage::Loaded(loaded);
            }
            Stage::Unknown => {
                *self = match state.loaded.get(key) {
                    Some(loaded) => Stage::Loaded(*loaded),
                    None => {
                        let (images, text, key) =
                            (Arc::clone(images), Arc::clone(text), key.clone());
                        let compiler = thread::Builder::new().stack_size(COMPILER_STACK);
                        let begun = compiler.spawn(move || images.image(&key, &text));
                        Stage::Compiling(begun.map_err(|why| {
                            NotLoaded::Compiler(format!("the compiler cannot begin: {why}"))
                        })?)
                    }
                };
            }
        }
        Ok(self.loaded())
    }

    fn loaded(&self) -> Option<Loaded> {
        match self {
            Stage::Loaded(loaded) => Some(*loaded),
            Stage::Unknown | Stage::Compiling(_) => None,
        }
    }
}
