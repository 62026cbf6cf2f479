//! What compiled code keeps for its native function: how to write it, and the function when it is
//! there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use weft_codegen::{LaneFunction, Lanes, Running, lanes};
use weft_ir::code::{Code, Operand, Operator, Register};
use weft_ir::{FaultKind, ScalarType};

use crate::compile;
use crate::native::service::Ticket;

/// The native side of compiled code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    recipe: Recipe,
    /// By whether arrays that are read at the point are read in place.
    wanted: [OnceLock<Wanted>; 2],
    /// The nanoseconds that the block interpreter has spent on it.
    spent: AtomicU64,
    /// Whether the lanes of the function run on from row to row.
    runs_on: bool,
}

/// A function that was asked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Where it will be.
    pub(crate) ticket: Arc<Ticket>,
    /// Its checks; spans are ordinals of the canonical kernel.
    pub(crate) sites: Vec<(FaultKind, u32)>,
}

/// What a function is written from.
#[derive(Debug)]
struct Recipe {
    indices: Vec<(Register, Running)>,
    first_stored: usize,
    inputs: Vec<(Register, ScalarType)>,
    arrays: Vec<(ScalarType, bool)>,
    code: Code,
    results: Vec<Operand>,
    shared: Vec<bool>,
    folds: Vec<Operator>,
    rows: bool,
    widths: Vec<usize>,
}

impl Slot {
    /// Of code that has been compiled to a routine whose results are shared by all lanes or not.
    pub(crate) fn new(
        signature: &compile::Signature<'_>,
        code: &Code,
        results: &[Operand],
        shared: Vec<bool>,
    ) -> Slot {
        let running = |running: compile::Running| match running {
            compile::Running::Uniform(_) => Running::Uniform,
            compile::Running::Counting => Running::Counting,
            compile::Running::Varying => Running::Varying,
        };
        let indices = signature.indices.iter();
        let recipe = Recipe {
            indices: indices.map(|&(register, runs)| (register, running(runs))).collect(),
            first_stored: signature.first_stored,
            inputs: signature.inputs.clone(),
            arrays: signature.arrays.to_vec(),
            code: code.clone(),
            results: results.to_vec(),
            shared: apart_from_rows(shared, signature.widths),
            folds: signature.folds.to_vec(),
            rows: signature.rows,
            widths: signature.widths.to_vec(),
        };
        let (wanted, spent) = (Default::default(), AtomicU64::new(0));
        let runs_on = recipe.text_of(true, |lanes| lanes.runs_on());
        Slot(Some(Arc::new(Inner { recipe, wanted, spent, runs_on })))
    }

    /// How many results there are for each place of the function, if some are the elements of rows.
    pub(crate) fn widths(&self) -> &[usize] {
        self.0.as_ref().map(|inner| &inner.recipe.widths[..]).unwrap_or_default()
    }

    /// Whether the function combines its results step by step.
    pub(crate) fn folds(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.recipe.folds.is_empty())
    }

    /// Whether the function folds rows.
    pub(crate) fn folds_rows(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.recipe.rows)
    }

    /// Whether the rows that the function folds have offsets.
    pub(crate) fn folds_ragged_rows(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|inner| inner.recipe.text_of(true, |lanes| lanes.folds_ragged_rows()))
    }

    /// Whether the function folds short rows as lanes.
    pub(crate) fn folds_side_by_side(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|inner| inner.recipe.text_of(true, |lanes| lanes.folds_side_by_side()))
    }

    /// Whether the lanes of the function run on from row to row.
    pub(crate) fn runs_on(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.runs_on)
    }

    /// The function that was asked for, if it was.
    pub(crate) fn wanted(&self, in_place: bool) -> Option<&Wanted> {
        self.0.as_ref()?.wanted[usize::from(in_place)].get()
    }

    /// Asks for the function, unless somebody has.
    pub(crate) fn want(
        &self,
        in_place: bool,
        request: impl FnOnce(LaneFunction) -> Arc<Ticket>,
    ) -> Option<&Wanted> {
        let inner = self.0.as_ref()?;
        Some(inner.wanted[usize::from(in_place)].get_or_init(|| {
            let function = inner.recipe.text(in_place);
            let sites = function.sites.iter().map(|&(kind, span)| (kind, span.start)).collect();
            Wanted { ticket: request(function), sites }
        }))
    }

    /// Adds to the time that the block interpreter has spent on the code; the sum, in nanoseconds.
    pub(crate) fn spend(&self, nanoseconds: u64) -> u64 {
        match &self.0 {
            Some(inner) => inner.spent.fetch_add(nanoseconds, Ordering::Relaxed) + nanoseconds,
            None => 0,
        }
    }

    /// The text of the function.
    pub(crate) fn text(&self, in_place: bool) -> Option<LaneFunction> {
        Some(self.0.as_ref()?.recipe.text(in_place))
    }
}

impl Recipe {
    fn text(&self, in_place: bool) -> LaneFunction {
        self.text_of(in_place, lanes)
    }

    /// What comes of the code as it is given to the generator.
    fn text_of<T>(&self, in_place: bool, of: impl FnOnce(&Lanes<'_>) -> T) -> T {
        of(&Lanes {
            indices: &self.indices,
            first_stored: self.first_stored,
            in_place,
            inputs: &self.inputs,
            arrays: &self.arrays,
            code: &self.code,
            results: &self.results,
            shared: &self.shared,
            folds: &self.folds,
            rows: self.rows,
            widths: &self.widths,
        })
    }
}

/// Which results have room for one value only: none that is an element of a row.
fn apart_from_rows(mut shared: Vec<bool>, widths: &[usize]) -> Vec<bool> {
    let mut first = 0;
    for width in widths {
        if *width > 1 {
            shared[first..first + width].fill(false);
        }
        first += width;
    }
    shared
}
