//! The checker: surface syntax → typed program.
//!
//! Inference is Hindley–Milner with closed classes, and with implicit map as described in
//! `Note [Implicit map]` (file `check/rank.rs`).

use weft_ir::{Name, ScalarType, Span, Value};

use crate::ast::Item;
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::typed::{GlobalId, Program};
use crate::types::Scheme;

/// Modes that change what a program means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The type of a literal with a point where nothing else fixes it: `F64` or `F32`.
    pub float: ScalarType,
}

/// A file that a cell wants to load: `load "a.npz" "name"`.
#[derive(Clone, Debug)]
pub struct LoadRequest<'a> {
    /// Which loader: `load`, `loadCsv`, `loadMtx`, `loadImage`, `loadWav`, `loadText`, `loadLines`,
    /// `loadBytes`.
    pub loader: &'a str,
    /// The path as written.
    pub path: &'a str,
    /// The second text, of a member of an archive.
    pub member: Option<&'a str>,
    /// The whole application.
    pub span: Span,
}

/// Where loads get their values from, while a cell is checked: their types follow from the files.
pub trait Files {
    /// Reads a file.
    ///
    /// # Errors
    /// A diagnostic (E04xx) at the request's span.
    fn load(&mut self, request: &LoadRequest<'_>) -> Result<(weft_ir::Type, Value), Diagnostic>;
}

/// A checked cell. It may run only if `diagnostics` has no error.
#[derive(Debug)]
pub struct Checked {
    /// The items that checked, in order.
    pub items: Vec<CheckedItem>,
    /// What the next cell sees.
    pub environment: Environment,
    /// The values that were loaded, by the ids under which programs refer to them.
    pub loaded: Vec<(GlobalId, Value)>,
    /// Errors and warnings, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A checked item.
#[derive(Debug)]
pub struct CheckedItem {
    /// All of its text.
    pub span: Span,
    /// What it asks for.
    pub kind: CheckedKind,
}

/// What a checked item asks for.
#[derive(Debug)]
pub enum CheckedKind {
    /// A function or constant was defined; nothing runs.
    Define {
        /// Its name.
        name: Name,
        /// Its id.
        global: GlobalId,
        /// Its type.
        scheme: Scheme,
    },
    /// A type alias was defined.
    Alias {
        /// Its name.
        name: Name,
    },
    /// A value to evaluate, take apart and keep.
    Bind {
        /// The value.
        program: Box<Program>,
        /// Its type.
        ty: weft_ir::Type,
        /// What to keep of it.
        names: Vec<BoundName>,
    },
    /// A value to evaluate and show; it is `it` from then on.
    Show {
        /// The value.
        program: Box<Program>,
        /// Its type.
        ty: weft_ir::Type,
        /// The id under which `it` keeps it.
        global: GlobalId,
        /// Whether a trailing `;` asks not to show it.
        quiet: bool,
    },
    /// A bare expression that is a function: only its type can be shown.
    ShowFunction {
        /// Its type.
        scheme: Scheme,
    },
}

/// A name bound to a part of a value.
#[derive(Clone, Debug)]
pub struct BoundName {
    /// The name.
    pub name: Name,
    /// Its id.
    pub global: GlobalId,
    /// Its type.
    pub ty: weft_ir::Type,
    /// The components to take, from the outermost: empty for the whole value.
    pub path: Vec<usize>,
}

/// Checks the items of a cell, one after the other; each sees the ones before. Commands and imports
/// are not its business: the session has taken them out.
pub fn check(
    items: &[Item],
    environment: &Environment,
    config: &Config,
    files: &mut dyn Files,
) -> Checked;
