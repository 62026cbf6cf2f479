//! What is made of a plan before it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weft_codegen::interior::{self, Bound, Interior, Steady};
use weft_codegen::{
    Appended, ArrayPart, appended, is_total, row_loop, sequential_code, sequential_loop, small_loop,
};
use weft_ir::code::{Operand, Register};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::leaves::Stored;
use weft_ir::plan::{Block, Epilogue, Kernel, Program, Sink, Step, last_uses};
use weft_ir::{Rows, ScalarType, Span, code};

use crate::canonical::{Canonical, canonical};
use crate::factors::{ComputedFactors, computed_factors};
use crate::fold::Fold;
use crate::hoist::{Hoisted, hoist};
use crate::lanes::Storage;
use crate::launch::only_copies;
use crate::native::{self, Native, Tier};
use crate::sequential::{RowFunction, Sequential};
use crate::traverse::Thunk;

/// Kernels that have been prepared, by their canonical form; may be kept over many programs.
#[derive(Debug, Default)]
pub struct KernelCache {
    kernels: BTreeMap<String, Arc<PreparedKernel>>,
    hits: u64,
    misses: u64,
    native: Option<native::Supply>,
}

impl KernelCache {
    /// Nothing is known yet.
    pub fn new() -> KernelCache {
        KernelCache::default()
    }

    /// Nothing is known yet; kernels get native functions when the tier says so.
    pub fn with_native(native: Native, tier: Tier) -> KernelCache {
        KernelCache { native: Some(native::Supply { native, tier }), ..KernelCache::default() }
    }

    /// How many kernels were known when they were asked for, and how many were not.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    /// How many kernels are kept.
    pub fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }
}

/// What kernels have in common that share what is prepared for them: their code, up to the names of
/// variables and registers, the sizes of arrays and the places in the source.
pub fn kernel_key(kernel: &Kernel, types: &[Type]) -> String {
    canonical(kernel, types).key
}

/// A program whose kernels are prepared. It belongs to the program that it was made of.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) body: PreparedBlock,
}

/// Per step of a block what belongs to it.
#[derive(Debug)]
pub(crate) struct PreparedBlock {
    pub(crate) steps: Vec<PreparedStep>,
    /// The variables that each step uses for the last time (Note [In place] in `run`).
    pub(crate) freed: Vec<Vec<Var>>,
}

/// What the whole of a loop can become.
#[derive(Debug)]
pub(crate) enum Whole {
    /// Nothing but its steps.
    Steps,
    /// A function, as nothing in it is parallel, or as that pays where arrays are small.
    Loop(Box<Sequential>),
    /// A function of one point.
    Rows(Box<RowFunction>),
}

impl Whole {
    /// The function.
    pub(crate) fn function(&self) -> Option<&Sequential> {
        match self {
            Whole::Steps => None,
            Whole::Loop(sequential) => Some(sequential),
            Whole::Rows(rows) => Some(&rows.sequential),
        }
    }
}

#[derive(Debug)]
pub(crate) enum PreparedStep {
    /// The kernel, and what it appends in each turn of a loop.
    Launch(BoundKernel, Option<Box<Appending>>),
    /// Host code with a loop.
    Host(Box<Sequential>),
    /// The condition and the body of a `while`, and the whole.
    While([PreparedBlock; 2], Whole),
    /// The blocks of an `if`; of other steps none.
    Blocks(Vec<PreparedBlock>),
}

/// A prepared kernel, and the names that its canonical form leaves out.
#[derive(Debug)]
pub(crate) struct BoundKernel {
    pub(crate) kernel: Arc<PreparedKernel>,
    pub(crate) arrays: Vec<Var>,
    pub(crate) spans: Vec<Span>,
}

/// A kernel in the place of one that begins with arrays as they are (Note [Arrays that grow]).
#[derive(Debug)]
pub(crate) struct Appending {
    pub(crate) appended: Appended,
    pub(crate) bound: BoundKernel,
}

/// The parts of a kernel; their code is compiled when it first runs.
#[derive(Debug)]
pub(crate) struct PreparedKernel {
    /// The type of the elements of each array that the code reads, and whether it is a scalar.
    pub(crate) types: Vec<(ScalarType, bool)>,
    /// The body; its results are those that the sinks take, one after the other.
    pub(crate) body: Thunk,
    /// The body for boxes of points (note [Interior points]).
    pub(crate) interiors: Vec<PreparedInterior>,
    /// The same where the last index steps through the elements of all rows together.
    pub(crate) interior_of_columns: Option<PreparedInterior>,
    /// How many of these the sinks take; the others are inputs of the epilogue.
    pub(crate) own: usize,
    /// The operator of each sink that has one.
    pub(crate) folds: Vec<Option<Fold>>,
    /// The start values of each sink that has them, over the space without its last dimension.
    pub(crate) starts: Vec<Option<Thunk>>,
    /// Those that are known without running any code, one for all rows.
    pub(crate) known_starts: Vec<Option<Vec<Storage>>>,
    /// The epilogue; its inputs are the sinks' registers in order, then registers of the body.
    pub(crate) epilogue: Option<Thunk>,
    /// What it multiplies and adds up (Note [Computed factors]).
    pub(crate) factors: Option<ComputedFactors>,
    /// Whether it may be copies of parts of arrays (Note \[Copies\]).
    pub(crate) copies: bool,
    /// What gives its code native functions.
    pub(crate) native: Option<native::Supply>,
}

/// The body of a kernel for a box of points.
#[derive(Debug)]
pub(crate) struct PreparedInterior {
    pub(crate) thunk: Thunk,
    /// The box.
    pub(crate) bounds: Vec<Bound>,
    /// What all points of the box have to be able to read (Note [Reads before conditionals]).
    pub(crate) reads: Vec<Hoisted>,
    /// What offsets in the bounds are made of that differ from step to step.
    pub(crate) steady: Steady,
    /// Whether the code may run on from row to row (Note [On across rows]).
    pub(crate) crosses: bool,
}

impl PreparedInterior {
    /// Of the kernel's indices, with the code as it shall run.
    fn new(indices: &[Register], found: Interior, reads: Vec<Hoisted>) -> PreparedInterior {
        let Interior { code, results, bounds, crosses, steady } = found;
        let dense = vec![false; indices.len()];
        let thunk = Thunk::new(indices.to_vec(), code, results, Vec::new(), dense);
        PreparedInterior { thunk, bounds, reads, steady, crosses }
    }
}

/// Whether there is a function for a loop with this state row by row (Note [Loops row by row] in `weft_ir`'s `rows`).
pub fn has_row_function(rows: &Rows<Program>, state: &[Var]) -> bool {
    row_loop(rows, state).is_some()
}

/// Prepares all kernels of a program, those that `known` has not yet.
pub fn prepare(program: &Program, known: &mut KernelCache) -> Prepared {
    let prepared = Prepared { body: block(&program.body, &program.types, known, false, &[]) };
    if let Some(native::Supply { native, tier: Tier::Native }) = &known.native {
        native::request_all(&prepared, native);
    }
    prepared
}

/// `repeated` says whether it is in the body of a loop; `behind` are variables that are freed right after it.
fn block(
    block_: &Block,
    types: &[Type],
    known: &mut KernelCache,
    repeated: bool,
    behind: &[Var],
) -> PreparedBlock {
    let freed = last_uses(block_, behind);
    let mut steps = Vec::with_capacity(block_.steps.len());
    for (at, step) in block_.steps.iter().enumerate() {
        steps.push(match step {
            Step::Host { code, .. } => match sequential_code(code, types) {
                Some(function) => {
                    let function = Sequential::new(function, known.native.clone());
                    PreparedStep::Host(Box::new(function))
                }
                None => PreparedStep::Blocks(Vec::new()),
            },
            Step::Reshape { .. } | Step::Constant { .. } | Step::Check { .. } | Step::Free(_) => {
                PreparedStep::Blocks(Vec::new())
            }
            Step::If { then, otherwise, .. } => {
                let freed = &freed[at];
                let blocks =
                    [then, otherwise].map(|side| block(side, types, known, repeated, freed));
                PreparedStep::Blocks(blocks.into())
            }
            Step::While { state, condition, body, rows, .. } => {
                let native = || known.native.clone();
                let by_rows = rows.as_ref().and_then(|rows| row_loop(rows, state));
                let whole = match by_rows {
                    Some(function) => Whole::Rows(Box::new(RowFunction::new(function, native()))),
                    None => sequential_loop(state, condition, body, types)
                        .or_else(|| small_loop(state, condition, body, types))
                        .map(|function| Box::new(Sequential::new(function, native())))
                        .map_or(Whole::Steps, Whole::Loop),
                };
                let blocks = [condition, body].map(|part| block(part, types, known, true, &[]));
                PreparedStep::While(blocks, whole)
            }
            Step::Launch(kernel) => {
                let freed: &[Var] = if repeated { &freed[at] } else { &[] };
                let whole = |part: &ArrayPart| {
                    part.first == Size::Constant(0) && freed.contains(&part.array)
                };
                let appended =
                    appended(kernel, types).filter(|appended| appended.parts.iter().all(whole));
                let appending = appended.map(|appended| {
                    let bound = bound(&appended.kernel, types, known);
                    Box::new(Appending { appended, bound })
                });
                PreparedStep::Launch(bound(kernel, types, known), appending)
            }
        });
    }
    PreparedBlock { steps, freed }
}

fn bound(kernel: &Kernel, types: &[Type], known: &mut KernelCache) -> BoundKernel {
    let Canonical { kernel, arrays, types, spans, key } = canonical(kernel, types);
    let prepared = match known.kernels.get(&key) {
        Some(prepared) => {
            known.hits += 1;
            Arc::clone(prepared)
        }
        None => {
            known.misses += 1;
            let prepared = Arc::new(prepared(kernel, types, known.native.clone()));
            known.kernels.insert(key, Arc::clone(&prepared));
            prepared
        }
    };
    BoundKernel { kernel: prepared, arrays, spans }
}

fn prepared(
    kernel: Kernel,
    types: Vec<(ScalarType, bool)>,
    native: Option<native::Supply>,
) -> PreparedKernel {
    let ragged: Vec<bool> = kernel
        .space
        .iter()
        .map(|dimension| matches!(dimension, Dimension::Ragged { .. }))
        .collect();
    let outer = &ragged[..ragged.len().saturating_sub(1)];
    let sinks = kernel.sinks.iter();
    let mut results: Vec<Operand> = sinks.flat_map(Sink::operands).copied().collect();
    let own = results.len();
    let epilogue = kernel.epilogue.as_ref().map(|epilogue| {
        let of_body = free_registers(&kernel, epilogue);
        results.extend(of_body.iter().map(|(register, _)| Operand::Register(*register)));
        let over_rows = over_rows(&kernel, epilogue.indices.len());
        let filled = kernel.sinks.iter().flat_map(|sink| registers(sink, over_rows));
        let over =
            match kernel.sinks.iter().map(|sink| sink.counts().len()).find(|count| *count > 0) {
                None if over_rows => outer.to_vec(),
                None => ragged.clone(),
                Some(counts) => {
                    let mut over = outer.to_vec();
                    over.push(counts > 1);
                    over
                }
            };
        let stored = epilogue.stores.iter().map(|(operand, _)| *operand).collect();
        let inputs = filled.chain(of_body).collect();
        let (indices, code) = (epilogue.indices.clone(), epilogue.code.clone());
        Thunk::new(indices, code, stored, inputs, over)
    });
    let start = |sink: &Sink| {
        let code::Thunk { indices, code } = sink.start()?.clone();
        let results = code.results.clone();
        Some(Thunk::new(indices, code, results, Vec::new(), outer.to_vec()))
    };
    let fold = |sink: &Sink| Some(Fold::new(sink.operator()?.clone()));
    let dense = !kernel.space.is_empty() && !ragged.contains(&true);
    let found = match dense {
        true => interior::interiors(&kernel.indices, &kernel.body, &results),
        false => Vec::new(),
    };
    let widths = widths(&kernel.sinks);
    let prepared_interior = |mut found: Interior| {
        let reads = hoist(&kernel.indices, &mut found.code);
        let found = PreparedInterior::new(&kernel.indices, found, reads);
        PreparedInterior { thunk: found.thunk.in_rows(widths.clone()), ..found }
    };
    let interiors = found.into_iter().map(prepared_interior).collect();
    let folded_by = total_operators(&kernel.sinks, own == results.len());
    let reduces =
        own == results.len() && kernel.sinks.iter().all(|sink| matches!(sink, Sink::Reduce { .. }));
    let interior_of_columns = (dense && reduces)
        .then(|| interior::interior_of_columns(&kernel.indices, &kernel.body, &results))
        .flatten()
        .map(|found| {
            let found = PreparedInterior::new(&kernel.indices, found, Vec::new());
            let thunk = found.thunk.folded_by(folded_by.clone());
            PreparedInterior { thunk, ..found }
        });
    let starts: Vec<Option<Thunk>> = kernel.sinks.iter().map(start).collect();
    PreparedKernel {
        interiors,
        interior_of_columns,
        types,
        native,
        own,
        copies: only_copies(&kernel),
        factors: (own == results.len()).then(|| computed_factors(&kernel)).flatten(),
        known_starts: starts.iter().map(|start| constants(start.as_ref()?)).collect(),
        starts,
        folds: kernel.sinks.iter().map(fold).collect(),
        epilogue,
        body: Thunk::new(kernel.indices, kernel.body, results, Vec::new(), ragged)
            .folded_by(folded_by)
            .in_rows(widths),
    }
}

/// How many results each sink that stores takes, if some store rows (Note [Interleaved results] in `weft_ir::plan`).
fn widths(sinks: &[Sink]) -> Vec<usize> {
    let interleaves = sinks.iter().any(|sink| matches!(sink, Sink::Interleave { .. }));
    let all = sinks.iter().map(|sink| sink.operands().count());
    all.filter(|_| interleaves).collect()
}

/// The results of code, if they are known without running it.
fn constants(thunk: &Thunk) -> Option<Vec<Storage>> {
    let constant = |operand: &Operand| match operand {
        Operand::Scalar(scalar) => Some(Storage::from_column(Stored::scalar(*scalar).elements)),
        Operand::Register(_) => None,
    };
    let results = thunk.results.iter().map(constant);
    results.collect::<Option<Vec<Storage>>>().filter(|_| thunk.code.instructions.is_empty())
}

/// The operators of sinks that all reduce, if native functions can combine their operands.
fn total_operators(sinks: &[Sink], all_results: bool) -> Vec<code::Operator> {
    let operator = |sink: &Sink| match sink {
        Sink::Reduce { operator, .. } if is_total(operator) => Some(operator.clone()),
        Sink::Reduce { .. }
        | Sink::Scan { .. }
        | Sink::Store { .. }
        | Sink::Interleave { .. }
        | Sink::Filter { .. }
        | Sink::Scatter { .. }
        | Sink::Sort { .. } => None,
    };
    let operators: Option<Vec<_>> = sinks.iter().map(operator).collect();
    operators.filter(|_| all_results).unwrap_or_default()
}

/// Whether an epilogue with so many indices follows reductions, row by row.
pub(crate) fn over_rows(kernel: &Kernel, dimensions: usize) -> bool {
    dimensions + 1 == kernel.space.len()
        && kernel.sinks.iter().any(|sink| matches!(sink, Sink::Reduce { .. }))
}

/// The registers of the epilogue that a sink fills.
fn registers(sink: &Sink, over_rows: bool) -> Vec<(Register, ScalarType)> {
    match sink {
        Sink::Reduce { registers, .. } if over_rows => registers.clone(),
        Sink::Scan { registers, .. } if !over_rows => registers.clone(),
        Sink::Reduce { .. }
        | Sink::Scan { .. }
        | Sink::Store { .. }
        | Sink::Interleave { .. }
        | Sink::Filter { .. }
        | Sink::Scatter { .. }
        | Sink::Sort { .. } => Vec::new(),
    }
}

/// The registers of the body that the epilogue uses.
fn free_registers(kernel: &Kernel, epilogue: &Epilogue) -> Vec<(Register, ScalarType)> {
    let indices = kernel.indices.iter().map(|&index| (index, ScalarType::I64));
    let bound: BTreeMap<Register, ScalarType> = kernel
        .body
        .instructions
        .iter()
        .flat_map(|instruction| instruction.results.iter().copied())
        .chain(indices)
        .collect();
    let mut used: BTreeSet<Register> =
        epilogue.stores.iter().filter_map(|(operand, _)| operand.register()).collect();
    epilogue.code.for_each_used(&mut |operand| used.extend(operand.register()));
    used.into_iter().filter_map(|register| Some((register, *bound.get(&register)?))).collect()
}
