//! The text of a program's native functions, for people.

use std::collections::BTreeSet;

use weft_codegen::LaneFunction;

use crate::native::Config;
use crate::native::compiler::Compiler;
use crate::native::source::{Source, source};
use crate::prepare::{BoundKernel, Prepared, PreparedBlock, PreparedKernel, PreparedStep};
use crate::traverse::{Mode, Thunk};

/// The C of a program's kernels, as they run on large arrays of the extents that are most usual: the
/// lanes along the last dimension, or along the storage if that is the only one.
pub fn native_source(prepared: &Prepared) -> Source {
    let mut functions = Vec::new();
    block(&prepared.body, &mut BTreeSet::new(), &mut functions);
    source(functions.iter().map(|(name, function)| (function, name.clone())))
}

/// The assembler text that a C compiler makes of such a source.
///
/// # Errors
/// A sentence: there is no compiler, or it has failed.
pub fn native_assembly(source: &str, config: &Config) -> Result<String, String> {
    Compiler::find(config)?.assemble(source)
}

type Functions = Vec<(String, LaneFunction)>;

fn block(block_: &PreparedBlock, seen: &mut BTreeSet<String>, functions: &mut Functions) {
    for step in &block_.steps {
        match step {
            PreparedStep::Launch(bound) => kernel(bound, seen, functions),
            PreparedStep::Blocks(blocks) => {
                blocks.iter().for_each(|inner| block(inner, seen, functions));
            }
        }
    }
}

fn kernel(bound: &BoundKernel, seen: &mut BTreeSet<String>, functions: &mut Functions) {
    let kernel = &*bound.kernel;
    // Kernels of one form have one text.
    if !seen.insert(format!("{:p}", kernel)) {
        return;
    }
    let number = seen.len();
    thunk(&format!("kernel_{number}"), &kernel.body, kernel, functions);
    for fold in kernel.folds.iter().flatten().filter(|fold| fold.primitives.is_none()) {
        let text = fold.compiled(&kernel.types).native.text(true);
        functions.extend(text.map(|text| (format!("kernel_{number}_operator"), text)));
    }
    for start in kernel.starts.iter().flatten() {
        thunk(&format!("kernel_{number}_start"), start, kernel, functions);
    }
    if let Some(epilogue) = &kernel.epilogue {
        thunk(&format!("kernel_{number}_epilogue"), epilogue, kernel, functions);
    }
}

fn thunk(name: &str, thunk: &Thunk, kernel: &PreparedKernel, functions: &mut Functions) {
    let mode = if thunk.ragged.len() < 2 { Mode::Flat } else { Mode::Row };
    let text = thunk.variant(mode, &kernel.types).native.text(true);
    functions.extend(text.map(|text| (name.to_owned(), text)));
}
