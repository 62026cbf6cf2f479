//! What a cell may change: an immutable snapshot per cell, cheap to clone, shared by undo,
//! completion and whatever runs meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use weft_ir::{Name, Type, Value};
use weft_lang::typed::GlobalId;
use weft_lang::{Binding, Environment, Global, types};

use crate::modes::Modes;
use crate::numbered::output_name;
use crate::origin::{AliasItem, Origin};
use crate::prelude;
use crate::references;

/// A session between two cells.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// What names mean.
    pub(crate) environment: Environment,
    /// The values of those that are values.
    pub(crate) values: BTreeMap<GlobalId, Value>,
    /// The modes.
    pub(crate) modes: Modes,
    /// The results that are kept, by cell number.
    pub(crate) outputs: BTreeMap<usize, GlobalId>,
    /// Where each definition and value comes from: the item and what it uses. Superseded ones
    /// stay here, for those that were made with them.
    pub(crate) origins: BTreeMap<GlobalId, Arc<Origin>>,
    /// The items of type aliases.
    pub(crate) aliases: BTreeMap<Name, Arc<AliasItem>>,
    /// The files that `:load` took, for `:reload`.
    pub(crate) files: Vec<PathBuf>,
}

impl State {
    /// Nothing defined yet but the prelude.
    pub(crate) fn new(modes: Modes) -> State {
        State {
            environment: prelude::environment(),
            values: BTreeMap::new(),
            modes,
            outputs: BTreeMap::new(),
            origins: BTreeMap::new(),
            aliases: BTreeMap::new(),
            files: Vec::new(),
        }
    }

    /// This state with the names that one of its cells had given so far, at a line of it.
    pub(crate) fn seen_by(&self, environment: Environment) -> State {
        State { environment, ..self.clone() }
    }

    /// The value of an id.
    ///
    /// # Panics
    /// If there is none: the checker only lets programs use values that are bound.
    pub(crate) fn value(&self, global: GlobalId) -> Value {
        match self.values.get(&global) {
            Some(value) => value.clone(),
            None => panic!("the value {global:?} is not kept"),
        }
    }

    /// The name of a global, for people.
    pub(crate) fn name_of(&self, global: GlobalId) -> String {
        match self.environment.global(global) {
            Some(Global::Value { name, .. }) => name.to_string(),
            Some(Global::Function(function)) => function.name.to_string(),
            None => "an earlier value".to_owned(),
        }
    }

    /// What a visible name stands for, if it is a value.
    pub(crate) fn named_value(&self, name: &str) -> Option<(&Value, &Type)> {
        let Some(Binding::Global(global)) = self.environment.lookup(name) else { return None };
        match self.environment.global(*global)? {
            Global::Value { ty, .. } => Some((self.values.get(global)?, ty)),
            Global::Function(_) => None,
        }
    }

    /// Makes `global` the result of cell `number`, and lets go of the oldest results beyond the
    /// limit.
    pub(crate) fn keep_output(&mut self, number: usize, global: GlobalId) {
        self.outputs.insert(number, global);
        self.environment.bind(output_name(number), Binding::Global(global));
        let bytes =
            |global: &GlobalId| self.values.get(global).map_or(0, Value::memory_bytes) as u64;
        let mut total: u64 = self.outputs.values().map(bytes).sum();
        let mut dropped = Vec::new();
        for (old, global) in &self.outputs {
            if total <= self.modes.outputs || *old == number {
                break;
            }
            total -= bytes(global);
            dropped.push(*old);
        }
        dropped.into_iter().for_each(|old| self.drop_output(old));
    }

    /// Lets go of the result of a cell.
    pub(crate) fn drop_output(&mut self, number: usize) {
        self.outputs.remove(&number);
        self.environment.unbind(&output_name(number));
    }

    /// The visible functions that use `global` directly, by name.
    pub(crate) fn users(&self, global: GlobalId) -> Vec<Name> {
        self.environment
            .names()
            .filter_map(|(name, binding)| match binding {
                Binding::Global(user) => Some((name, user)),
                Binding::Alias(_) | Binding::Broken => None,
            })
            .filter(|(_, user)| {
                let is_function =
                    matches!(self.environment.global(**user), Some(Global::Function(_)));
                is_function && self.origins.get(user).is_some_and(|o| o.uses.contains(&global))
            })
            .map(|(name, _)| Arc::clone(name))
            .collect()
    }

    /// The values and functions that visible names and the checker reach.
    pub(crate) fn reachable(&self) -> BTreeSet<GlobalId> {
        let visible = self
            .environment
            .names()
            .filter_map(|(_, binding)| match binding {
                Binding::Global(global) => Some(*global),
                Binding::Alias(_) | Binding::Broken => None,
            })
            .chain(self.environment.helpers());
        self.reached(visible.collect())
    }

    /// The values and functions that some of them reach.
    fn reached(&self, from: Vec<GlobalId>) -> BTreeSet<GlobalId> {
        let mut reachable = BTreeSet::new();
        let mut pending = from;
        while let Some(global) = pending.pop() {
            if !reachable.insert(global) {
                continue;
            }
            // A value is complete in itself; a function needs what its body names.
            if let Some(Global::Function(function)) = self.environment.global(global) {
                match self.origins.get(&global) {
                    Some(origin) => pending.extend(&origin.uses),
                    None => pending.extend(references::of_expr(&function.body)),
                }
            }
        }
        reachable
    }

    /// The values that a sequence is made of; none if it is something else.
    pub(crate) fn sources_of_sequence(&self, global: GlobalId) -> Vec<(GlobalId, &Value)> {
        let Some(Global::Function(function)) = self.environment.global(global) else {
            return Vec::new();
        };
        if !matches!(function.scheme.ty, types::Type::Seq(_)) {
            return Vec::new();
        }
        let reached = self.reached(vec![global]).into_iter();
        reached.filter_map(|global| Some((global, self.values.get(&global)?))).collect()
    }

    /// Forgets values and functions that no visible name reaches any more.
    pub(crate) fn collect_garbage(&mut self) {
        let reachable = self.reachable();
        let dead: Vec<GlobalId> = self
            .environment
            .globals()
            .map(|(global, _)| global)
            // Functions of the prelude come back when what hides them is let go of.
            .filter(|global| !reachable.contains(global) && !prelude::defines(*global))
            .collect();
        for global in dead {
            self.environment.forget(global);
            self.values.remove(&global);
        }
    }
}
