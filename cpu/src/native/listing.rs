//! All native functions of a program: their text for people, and to have them compiled at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::compile::Compiled;
use crate::native::compiler::{Compiler, Failure};
use crate::native::source::{Source, source};
use crate::native::{Config, Native};
use crate::prepare::{Prepared, PreparedBlock, PreparedInterior, PreparedKernel, PreparedStep};
use crate::sequential::Sequential;
use crate::traverse::{Mode, Thunk};

/// The C of a program's kernels, as they run on large arrays of the extents that are most usual: the
/// lanes along the last dimension, or along the storage if that is the only one. Where code also runs
/// for a box of points, or along columns, that is another function.
pub fn native_source(prepared: &Prepared) -> Source {
    let along = |thunk: &Thunk| if thunk.ragged.len() < 2 { Mode::Flat } else { Mode::Row };
    let mut functions = Vec::new();
    each_kernel(&prepared.body, &mut BTreeSet::new(), &mut |number, kernel| {
        let mut parts = compiled(kernel, along);
        parts.extend(further(kernel, along));
        for (part, compiled) in parts {
            let text = compiled.native.text(true);
            functions.extend(text.map(|text| (format!("kernel_{number}{part}"), text)));
        }
    });
    let mut loops = Vec::new();
    outer_loops(&prepared.body, &mut loops);
    for (number, sequential) in (1..).zip(loops) {
        functions.push((format!("loop_{number}"), sequential.text().clone()));
    }
    source(functions.iter().map(|(name, function)| (function, name.clone())))
}

/// The assembler text that a C compiler makes of such a source.
///
/// # Errors
/// A sentence: there is no compiler, or it has failed.
pub fn native_assembly(source: &str, config: &Config) -> Result<String, String> {
    let assembled = Compiler::find(config, &Arc::default());
    assembled.and_then(|compiler| compiler.assemble(source)).map_err(Failure::reason)
}

/// Asks for the functions that a program needs on small arrays; those for other extents are asked for
/// when they are needed.
pub(crate) fn request_all(prepared: &Prepared, native: &Native) {
    let service = native.service();
    service.together(|| {
        each_kernel(&prepared.body, &mut BTreeSet::new(), &mut |_, kernel| {
            for (_, compiled) in compiled(kernel, |_| Mode::Flat) {
                compiled.native.want(true, |function| service.request(function));
            }
        });
        let mut loops = Vec::new();
        outer_loops(&prepared.body, &mut loops);
        loops.into_iter().for_each(|sequential| {
            sequential.want();
        });
    });
}

/// More functions of a kernel that are not needed on small arrays.
fn further(
    kernel: &PreparedKernel,
    mode: impl Fn(&Thunk) -> Mode,
) -> Vec<(&'static str, &Compiled)> {
    let mut parts = Vec::new();
    let names = ["_interior", "_interior_2", "_interior_3", "_interior_4"];
    for (PreparedInterior { thunk, .. }, name) in kernel.interiors.iter().zip(names) {
        parts.push((name, thunk.variant(mode(thunk), &kernel.types)));
    }
    // Dense rows of more than one dimension.
    if let [_, .., false] = kernel.body.ragged[..] {
        let columns = kernel.body.variant(Mode::FlatColumns, &kernel.types);
        if columns.native.folds() {
            parts.push(("_columns", columns));
        }
    }
    if let Some(PreparedInterior { thunk, .. }) = &kernel.interior_of_columns {
        let mode = if thunk.ragged.len() > 2 { Mode::Column } else { Mode::FlatColumns };
        parts.push(("_columns_interior", thunk.variant(mode, &kernel.types)));
    }
    parts
}

/// The loops of a block that can become functions, but for those inside of others.
fn outer_loops<'a>(block: &'a PreparedBlock, found: &mut Vec<&'a Sequential>) {
    for step in &block.steps {
        match step {
            PreparedStep::Host(sequential) => found.push(sequential),
            PreparedStep::While(blocks, whole) => match whole.function() {
                Some(sequential) => found.push(sequential),
                None => blocks.iter().for_each(|inner| outer_loops(inner, found)),
            },
            PreparedStep::Blocks(blocks) => {
                blocks.iter().for_each(|inner| outer_loops(inner, found));
            }
            PreparedStep::Launch(..) => {}
        }
    }
}

/// Calls a function with the kernels of a block, by number, each that has a form of its own once.
fn each_kernel(
    block: &PreparedBlock,
    seen: &mut BTreeSet<*const PreparedKernel>,
    visit: &mut impl FnMut(usize, &PreparedKernel),
) {
    for step in &block.steps {
        match step {
            PreparedStep::Launch(bound, appending) => {
                let appending = appending.iter().map(|appending| &appending.bound);
                for bound in [bound].into_iter().chain(appending) {
                    if seen.insert(Arc::as_ptr(&bound.kernel)) {
                        visit(seen.len(), &bound.kernel);
                    }
                }
            }
            PreparedStep::Blocks(blocks) => {
                blocks.iter().for_each(|inner| each_kernel(inner, seen, visit));
            }
            PreparedStep::While(blocks, _) => {
                blocks.iter().for_each(|inner| each_kernel(inner, seen, visit));
            }
            PreparedStep::Host(_) => {}
        }
    }
}

/// The parts of a kernel that can become functions, each with what comes after the kernel's name in
/// that of the function.
fn compiled(
    kernel: &PreparedKernel,
    mode: impl Fn(&Thunk) -> Mode,
) -> Vec<(&'static str, &Compiled)> {
    let thunk = |name, thunk| (name, Thunk::variant(thunk, mode(thunk), &kernel.types));
    let mut parts = vec![match kernel.body.folds_rows() && kernel.interiors.is_empty() {
        true => ("", kernel.body.variant(Mode::Rows, &kernel.types)),
        false => thunk("", &kernel.body),
    }];
    for fold in kernel.folds.iter().flatten().filter(|fold| fold.primitives.is_none()) {
        parts.push(("_operator", fold.compiled(&kernel.types)));
    }
    parts.extend(kernel.starts.iter().flatten().map(|start| thunk("_start", start)));
    parts.extend(kernel.epilogue.iter().map(|epilogue| thunk("_epilogue", epilogue)));
    parts
}
