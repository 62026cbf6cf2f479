//! A context with what is in it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use weft_codegen::Digest;

use crate::deferred::lock;
use crate::driver::{Driver, Function, Module};
use crate::found::Description;
use crate::streams::FIRST;
use crate::table::Table;
use crate::target::Source;
use crate::words::Failure;

/// Contexts of devices, by their numbers, that nobody uses; nothing if none are kept.
static KEPT: Mutex<Option<Vec<(u32, State)>>> = Mutex::new(None);

/// As long as it is there, a [`crate::Device`] leaves its context to the next one: see [`keep_contexts`].
#[derive(Debug)]
pub struct KeptContexts(());

/// Opening a context takes long. Where many sessions come one after the other, or beside each other, each takes over
/// the context of one that has ended, until what this yields is gone.
pub fn keep_contexts() -> KeptContexts {
    lock(&KEPT).get_or_insert_default();
    KeptContexts(())
}

impl Drop for KeptContexts {
    fn drop(&mut self) {
        for (_, state) in lock(&KEPT).take().unwrap_or_default() {
            state.close();
        }
    }
}

/// A context with what is in it.
pub(crate) struct State {
    /// Which context of its device it is.
    pub(crate) number: u64,
    pub(crate) driver: Driver,
    pub(crate) table: Table,
    /// The buffers of copies that nobody has any more, and that are not given back yet.
    dead: Vec<u64>,
    /// What the device may still read.
    pub(crate) sources: Vec<Source>,
    modules: Vec<(Module, BTreeMap<String, Function>)>,
    pub(crate) loaded: BTreeMap<Digest, Loaded>,
    /// What is cleared before each run, with its bytes.
    pub(crate) cleared: Option<(u64, u64)>,
}

/// The number of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loaded(usize);

impl State {
    /// A context that was kept, or a new one.
    pub(crate) fn open(description: &Description, number: u64) -> Result<State, Failure> {
        let kept = |all: &mut Vec<(u32, State)>| {
            let at = all.iter().position(|(device, _)| *device == description.number)?;
            Some(all.swap_remove(at).1)
        };
        if let Some(state) = lock(&KEPT).as_mut().and_then(kept) {
            return Ok(State { number, ..state });
        }
        let driver = Driver::open(description.number)?;
        Ok(State {
            number,
            driver,
            table: Table::default(),
            dead: Vec::new(),
            sources: Vec::new(),
            modules: Vec::new(),
            loaded: BTreeMap::new(),
            cleared: None,
        })
    }

    /// Gives back the copies of arrays that the host has let go of.
    pub(crate) fn purge(&mut self) -> Result<(), Failure> {
        let dead = self.table.take_dead().into_iter();
        self.dead.extend(dead.map(|dropped| dropped.address));
        while let Some(address) = self.dead.last() {
            self.driver.free(*address, FIRST)?;
            self.dead.pop();
        }
        Ok(())
    }

    /// A buffer that the driver has not taken is given back when the context ends.
    pub(crate) fn give_back_later(&mut self, address: u64) {
        self.dead.push(address);
    }

    /// Gives back all copies, as far as the driver takes them: the first failure.
    fn give_back_copies(&mut self) -> Result<(), Failure> {
        self.sources.clear();
        let mut all = std::mem::take(&mut self.dead);
        all.extend(self.table.take_all().into_iter().map(|dropped| dropped.address));
        let freed = all.into_iter().map(|address| self.driver.free(address, FIRST));
        freed.fold(Ok(()), Result::and)
    }

    /// Gives back what is cleared before each run.
    pub(crate) fn give_back_cleared(&mut self) -> Result<(), Failure> {
        self.cleared.take().map_or(Ok(()), |(address, _)| self.driver.free(address, FIRST))
    }

    /// Gives back all there is: a pool may outlive its context.
    fn give_back(&mut self) -> Result<(), Failure> {
        let (copies, cleared) = (self.give_back_copies(), self.give_back_cleared());
        let word = self.driver.free(self.driver.word(), FIRST);
        copies.and(cleared).and(word).and(self.driver.trim())
    }

    /// Gives back all but what a next run needs anyhow, so that others have the room.
    fn rest(&mut self) -> Result<(), Failure> {
        self.give_back_copies()?;
        self.give_back_cleared()?;
        self.driver.settle()?;
        self.driver.trim()
    }

    /// Nobody uses it any more, and it is idle: it is kept, or ends.
    pub(crate) fn end(mut self, device: u32) {
        let is_kept = lock(&KEPT).is_some() && self.rest().is_ok();
        match lock(&KEPT).as_mut().filter(|_| is_kept) {
            Some(kept) => kept.push((device, self)),
            None => self.close(),
        }
    }

    /// Ends the context, after giving back what it lets one give back.
    fn close(mut self) {
        // Where it fails the context is of no use any more, and the driver has its own ways.
        let _ = self.driver.enter().and_then(|()| self.give_back());
        self.driver.abandon();
    }

    /// A kernel of a module.
    pub(crate) fn function(&self, loaded: Loaded, name: &str) -> Option<Function> {
        self.modules[loaded.0].1.get(name).copied()
    }

    /// Unloads all modules if they are so many: between runs, as a run may load several.
    pub(crate) fn unload_many(&mut self, most: usize) -> Result<(), Failure> {
        if self.modules.len() >= most && self.driver.is_idle()? {
            self.loaded.clear();
            for (module, _) in std::mem::take(&mut self.modules) {
                self.driver.unload(module)?;
            }
        }
        Ok(())
    }

    /// Loads machine code, with all of these functions: the driver puts off what it does not need at once, and may
    /// have to wait for the device when it makes up for it.
    pub(crate) fn load(
        &mut self,
        key: &Digest,
        image: &[u8],
        names: &[String],
    ) -> Result<Loaded, Failure> {
        let module = self.driver.load(image)?;
        let mut functions = BTreeMap::new();
        for name in names {
            functions.insert(name.clone(), self.driver.function(&module, name)?);
        }
        let loaded = Loaded(self.modules.len());
        self.modules.push((module, functions));
        self.loaded.insert(key.clone(), loaded);
        Ok(loaded)
    }
}

/// Throws a context away. What it has is given back first, as far as it lets one: a pool may outlive it.
pub(crate) fn lose(state: &mut Result<State, String>, why: String) {
    if let Ok(state) = std::mem::replace(state, Err(why)) {
        state.close();
    }
}
