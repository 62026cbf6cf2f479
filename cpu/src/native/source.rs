//! Files of functions.

use weft_codegen::{Dialect, Functions, LaneFunction};

/// A file of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What stands before all functions, always the same.
    pub prelude: String,
    /// The transcendental functions that are called.
    pub functions: String,
    /// The kernels.
    pub kernels: String,
}

impl Source {
    /// The file.
    pub fn whole(&self) -> String {
        format!("{}\n{}\n{}", self.prelude, self.functions, self.kernels)
    }
}

/// A file with these functions under these names.
pub(crate) fn source<'a>(functions: impl Iterator<Item = (&'a LaneFunction, String)>) -> Source {
    let mut called = Functions::new();
    let mut kernels = String::new();
    for (function, name) in functions {
        called.merge(&function.functions);
        kernels.push_str(&function.text.replace(LaneFunction::NAME, &name));
        kernels.push('\n');
    }
    Source { prelude: prelude(), functions: called.definitions(), kernels }
}

/// What stands before all functions of a file.
pub(crate) fn prelude() -> String {
    format!("{}\n{}", Dialect::C.prelude(), LaneFunction::DECLARATIONS)
}
