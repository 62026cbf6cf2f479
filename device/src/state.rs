//! A context with what is in it.

use std::collections::BTreeMap;

use weft_codegen::Digest;

use crate::driver::{Driver, Function, Module};
use crate::found::Description;
use crate::streams::FIRST;
use crate::table::Table;
use crate::target::Source;
use crate::words::Failure;

/// Modules that are loaded; when there are more, all go.
const MOST_MODULES: usize = 512;

/// A context with what is in it.
pub(crate) struct State {
    /// Which context of its device it is.
    pub(crate) number: u64,
    pub(crate) driver: Driver,
    pub(crate) table: Table,
    /// What the device may still read.
    pub(crate) sources: Vec<Source>,
    modules: Vec<(Module, BTreeMap<String, Function>)>,
    pub(crate) loaded: BTreeMap<Digest, Loaded>,
}

/// The number of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loaded(usize);

impl State {
    pub(crate) fn open(description: &Description, number: u64) -> Result<State, Failure> {
        let driver = Driver::open(description.number)?;
        Ok(State {
            number,
            driver,
            table: Table::default(),
            sources: Vec::new(),
            modules: Vec::new(),
            loaded: BTreeMap::new(),
        })
    }

    /// Gives back the copies of arrays that the host has let go of.
    pub(crate) fn purge(&mut self) -> Result<(), Failure> {
        self.table
            .take_dead()
            .into_iter()
            .try_for_each(|dead| self.driver.free(dead.address, FIRST))
    }

    /// Gives back all copies: a pool may outlive its context.
    pub(crate) fn give_back(&mut self) -> Result<(), Failure> {
        for dropped in self.table.take_all() {
            self.driver.free(dropped.address, FIRST)?;
        }
        self.driver.free(self.driver.word(), FIRST)?;
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

    /// Unloads all modules if they are many: between runs, as a run may load several.
    pub(crate) fn unload_many(&mut self) -> Result<(), Failure> {
        if self.modules.len() >= MOST_MODULES && self.driver.is_idle()? {
            self.loaded.clear();
            for (module, _) in std::mem::take(&mut self.modules) {
                self.driver.unload(module)?;
            }
        }
        Ok(())
    }

    pub(crate) fn load(&mut self, key: &Digest, image: &[u8]) -> Result<Loaded, Failure> {
        let module = self.driver.load(image)?;
        let loaded = Loaded(self.modules.len());
        self.modules.push((module, BTreeMap::new()));
        self.loaded.insert(key.clone(), loaded);
        Ok(loaded)
    }
}

/// Throws a context away.
pub(crate) fn lose(state: &mut Result<State, String>, why: String) {
    if let Ok(state) = std::mem::replace(state, Err(why)) {
        state.driver.abandon();
    }
}
