//! Where definitions and values come from, and what the names in their texts meant: so that they can be written
//! down again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weft_ir::{Name, ScalarType, Span};
use weft_lang::syntax::{TokenClass, tokens};
use weft_lang::typed::GlobalId;
use weft_lang::{Binding, CheckedItem, CheckedKind, Environment, Global, builtins, is_loader};

use crate::prelude;

/// Longer texts, which are data, are not searched for names.
const LONGEST: usize = 1 << 20;

/// Where a definition or value comes from.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The whole item.
    pub(crate) item: Span,
    /// The names that it binds.
    pub(crate) binds: Vec<Name>,
    /// The definitions and values that it uses.
    pub(crate) uses: BTreeSet<GlobalId>,
    /// Whether it is the value of a bare expression, which no later text can name.
    pub(crate) anonymous: bool,
    /// Where the item names values of bare expressions: `it`, `_7` or `Out[7]`, which are others elsewhere.
    pub(crate) results: Vec<(Span, GlobalId)>,
    /// The type of its literals with a point, where nothing else fixes it.
    pub(crate) float: ScalarType,
    /// What else its text names.
    pub(crate) named: Named,
}

/// The item of a type alias.
#[derive(Debug)]
pub(crate) struct AliasItem {
    /// The whole item.
    pub(crate) item: Span,
    /// What its text names.
    pub(crate) named: Named,
}

/// What the text of an item names, beside what its expressions use.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Type aliases as they were then.
    pub(crate) aliases: Vec<(Name, Arc<AliasItem>)>,
    /// Names that meant what they mean at the beginning.
    pub(crate) own: Vec<Name>,
    /// Where it loads a file: texts that may say which.
    pub(crate) paths: BTreeSet<GlobalId>,
}

/// What names stand for while the items of a text are taken over one after the other.
#[derive(Debug)]
pub(crate) struct Meanings {
    before: Environment,
    since: BTreeMap<Name, Meaning>,
}

#[derive(Clone, Copy, Debug)]
enum Meaning {
    Global(GlobalId),
    Alias,
    Own,
}

impl Meanings {
    /// What they stand for in front of the first item.
    pub(crate) fn new(before: Environment) -> Meanings {
        Meanings { before, since: BTreeMap::new() }
    }

    fn of(&self, name: &str) -> Option<Meaning> {
        if let Some(meaning) = self.since.get(name) {
            return Some(*meaning);
        }
        match self.before.lookup(name) {
            Some(binding) if prelude::is_own(name, binding) => Some(Meaning::Own),
            Some(Binding::Global(global)) => Some(Meaning::Global(*global)),
            Some(Binding::Alias(_)) => Some(Meaning::Alias),
            Some(Binding::Broken) => None,
            None => builtins::lookup(name).map(|_| Meaning::Own),
        }
    }

    /// What a text names.
    pub(crate) fn named(&self, text: &str, aliases: &BTreeMap<Name, Arc<AliasItem>>) -> Named {
        let mut named = Named::default();
        if text.len() > LONGEST {
            return named;
        }
        let words: BTreeSet<&str> = tokens(text)
            .into_iter()
            .filter(|(class, _)| matches!(class, TokenClass::Name | TokenClass::Type))
            .map(|(_, range)| &text[range])
            .collect();
        let loads = words.iter().any(|word| is_loader(word) && self.of(word).is_none());
        for word in words {
            match self.of(word) {
                Some(Meaning::Global(global)) if loads => {
                    named.paths.insert(global);
                }
                Some(Meaning::Alias) => {
                    named.aliases.extend(
                        aliases
                            .get_key_value(word)
                            .map(|(name, alias)| (Arc::clone(name), Arc::clone(alias))),
                    );
                }
                Some(Meaning::Own) => named.own.push(word.into()),
                Some(Meaning::Global(_)) | None => {}
            }
        }
        named
    }

    /// The names of an item stand for it from here on.
    pub(crate) fn define(&mut self, item: &CheckedItem) {
        match &item.kind {
            CheckedKind::Define { name, global, .. } => {
                self.since.insert(Arc::clone(name), Meaning::Global(*global));
            }
            CheckedKind::Bind { names, .. } => {
                let bound =
                    names.iter().map(|it| (Arc::clone(&it.name), Meaning::Global(it.global)));
                self.since.extend(bound);
            }
            CheckedKind::Alias { name } => {
                self.since.insert(Arc::clone(name), Meaning::Alias);
            }
            CheckedKind::Show { .. } | CheckedKind::ShowFunction { .. } => {}
        }
    }
}

/// Whether a value is what a file holds, which the text that loads it says.
pub(crate) fn is_loaded(global: &Global) -> bool {
    matches!(global, Global::Value { name, .. } if is_loader(name))
}
