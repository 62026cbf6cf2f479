//! What a cell can see: the names of a session and what they stand for. Immutable from outside: a
//! checked cell yields a new environment.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_ir::{Name, Span};

use crate::ast::{self, TypeExpr};
use crate::typed::{Function, GlobalId};

/// The names of a session. Cheap enough to clone per cell.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    names: BTreeMap<Name, Binding>,
    globals: BTreeMap<GlobalId, Global>,
    next: u32,
    /// Functions of the prelude that the checker applies itself: those about sequences.
    helpers: BTreeMap<Name, GlobalId>,
    /// Whether this is the prelude, which sees more builtins than others do.
    is_prelude: bool,
}

/// What a top-level name stands for.
#[derive(Clone, Debug)]
pub enum Binding {
    /// A function or value.
    Global(GlobalId),
    /// A type alias.
    Alias(Arc<TypeExpr>),
    /// A definition that did not check: uses of it are not reported again.
    Broken,
}

/// A top-level function or value. It stays in the environment when its name is redefined, for
/// those who were checked with it.
#[derive(Clone, Debug)]
pub enum Global {
    /// A function.
    Function(Arc<Function>),
    /// A value.
    Value {
        /// The name it was bound to.
        name: Name,
        /// Its type.
        ty: weft_ir::Type,
        /// The pattern that binds it, or the expression that loads it.
        span: Span,
    },
}

/// A definition whose type follows from its arguments: Note [Open definitions] in `check/open.rs`.
#[derive(Clone, Debug)]
pub struct OpenDefinition {
    /// Its parameters.
    pub params: Vec<ast::Pattern>,
    /// The annotated type of its result.
    pub result: Option<TypeExpr>,
    /// Its body.
    pub body: ast::Expr,
    /// What the names in it meant where it was defined.
    pub names: BTreeMap<Name, Binding>,
}

impl Environment {
    /// What `name` stands for.
    pub fn lookup(&self, name: &str) -> Option<&Binding> {
        self.names.get(name)
    }

    /// The function or value with that id.
    pub fn global(&self, id: GlobalId) -> Option<&Global> {
        self.globals.get(&id)
    }

    /// Every visible name with what it stands for, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = (&Name, &Binding)> {
        self.names.iter()
    }

    /// Every function and value ever bound, superseded ones included, oldest first.
    pub fn globals(&self) -> impl Iterator<Item = (GlobalId, &Global)> {
        self.globals.iter().map(|(id, global)| (*id, global))
    }

    /// Makes these the only visible names, and yields those that were.
    pub(crate) fn replace_names(
        &mut self,
        names: BTreeMap<Name, Binding>,
    ) -> BTreeMap<Name, Binding> {
        std::mem::replace(&mut self.names, names)
    }

    /// Makes `name` stand for something else from now on.
    pub fn bind(&mut self, name: Name, binding: Binding) {
        self.names.insert(name, binding);
    }

    /// Forgets a name.
    pub fn unbind(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// The environment in which a prelude is checked: it may use what sequences are made of.
    pub fn of_prelude() -> Environment {
        Environment { is_prelude: true, ..Environment::default() }
    }

    /// Ends the prelude: forgets the names that only the prelude uses. The checker finds these and those it
    /// has `seen` by [`Environment::helper`], whatever their names mean later.
    pub fn end_prelude(&mut self, private: &[&str], seen: &[&str]) {
        self.is_prelude = false;
        for name in seen {
            if let Some((name, Binding::Global(global))) = self.names.get_key_value(*name) {
                self.helpers.insert(name.clone(), *global);
            }
        }
        for name in private {
            if let Some((name, Binding::Global(global))) = self.names.remove_entry(*name) {
                self.helpers.insert(name, global);
            }
        }
    }

    /// Whether a prelude is being checked.
    pub(crate) fn is_prelude(&self) -> bool {
        self.is_prelude
    }

    /// A function of the prelude that has no name any more.
    pub fn helper(&self, name: &str) -> Option<GlobalId> {
        match self.names.get(name) {
            Some(Binding::Global(global)) if self.is_prelude => Some(*global),
            _ => self.helpers.get(name).copied(),
        }
    }

    /// All of these.
    pub fn helpers(&self) -> impl Iterator<Item = GlobalId> {
        self.helpers.values().copied()
    }

    /// Forgets a function or value that nothing uses any more.
    pub fn forget(&mut self, id: GlobalId) {
        self.globals.remove(&id);
    }

    /// An id that nobody has yet.
    pub fn fresh(&mut self) -> GlobalId {
        self.next += 1;
        GlobalId(self.next - 1)
    }

    /// Leaves out the ids that are taken in another environment.
    pub fn skip_ids_of(&mut self, other: &Environment) {
        self.next = self.next.max(other.next);
    }

    /// Gives `id` its meaning.
    pub fn define(&mut self, id: GlobalId, global: Global) {
        self.globals.insert(id, global);
    }
}
