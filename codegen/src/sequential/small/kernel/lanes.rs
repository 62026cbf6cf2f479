//! Rows of a reduction side by side.
//!
//! Note [Rows side by side]. The order in which a row is combined is the language's, so each step of a sum of floats waits for
//! the one before, and a C compiler finds no vectors along the row. Rows do not wait for each other: where what they combine
//! is simple, eight of them are lanes of a vector, at the beginning of a row that is followed by seven. What the lanes have come
//! to is then taken row by row, as if each had been gone through. The last eight may overlap with those before.
//!
//! ```text
//! for row:
//!   if row is no lane yet, and seven follow:
//!     base = row, or that many before the end
//!     for point of a row: for lane < 8: sums[lane] += value (base + lane) point
//!   if row is a lane: sum = sums[row - base]
//!   else: for point of the row: sum += value row point
//! ```

use weft_ir::code::{Code, Operand};
use weft_ir::flat::Dimension;
use weft_ir::plan::{Kernel, Sink};

use super::super::super::Function;
use super::Points;
use super::fold::Fold;
use super::inside::Along;
use crate::dialect::type_name;
use crate::interior::{Bound, Interior, interiors_of_rows};
use crate::lanes::rows::{SIDE_BY_SIDE as LANES, is_simple};

/// A kernel whose rows are lanes.
pub(super) struct Lanes {
    /// What is computed at a point in the box, where nothing is checked.
    code: Code,
    /// The box.
    bounds: Vec<Bound>,
    /// The first of the rows that are lanes.
    base: String,
    /// Between which rows they may be.
    from: String,
    to: String,
    /// Per fold what its lanes have come to, as a fold has it for a row.
    states: Vec<[Vec<String>; 3]>,
}

impl Function<'_> {
    /// A kernel that does nothing but combine rows of simple values, as one whose rows are lanes.
    pub(super) fn lanes(&mut self, kernel: &Kernel) -> Option<Lanes> {
        let dense = |dimension: &Dimension| matches!(dimension, Dimension::Dense(_));
        let simple = |sink: &Sink| match sink {
            Sink::Reduce { operator, .. } => is_simple(&operator.code),
            _ => false,
        };
        let plain = kernel.space.len() > 1
            && kernel.space.iter().all(dense)
            && kernel.sinks.iter().all(simple);
        if !plain {
            return None;
        }
        let (code, bounds) = simple_box(kernel)?;
        let number = self.environment.fresh();
        let [base, from, to] = ["base", "from", "to"].map(|name| format!("{name}{number}"));
        Some(Lanes { code, bounds, base, from, to, states: Vec::new() })
    }

    /// Declares what lanes come to, and between which rows they may be.
    pub(super) fn begin_lanes(
        &mut self,
        lanes: &mut Lanes,
        folds: &[Fold<'_>],
        points: &Points,
    ) -> Option<()> {
        for fold in folds {
            lanes.states.push([(); 3].map(|()| self.arrays(fold)));
        }
        let Lanes { bounds, base, from, to, .. } = lanes;
        let (rows, extent) = points.last_extents()?;
        self.line(&format!("i64 {base} = -{LANES}, {from} = 0, {to} = {rows};"));
        self.line(&format!("if ({extent} < 1 || {extent} > MOST_OF_FOLD) {to} = 0;"));
        let along = Along { dimension: points.extents.len() - 2, whole: Some(extent) };
        self.limits(bounds, &[from.clone(), to.clone()], points, along)
    }

    /// Computes the rows from this one on as lanes, if it is the first of so many, and opens what is done for a row that is
    /// none.
    pub(super) fn open_lanes(
        &mut self,
        lanes: &Lanes,
        folds: &[Fold<'_>],
        (kernel, points): (&Kernel, &Points),
    ) -> Option<()> {
        let Lanes { base, from, to, states, .. } = lanes;
        let row = &points.indices[points.indices.len() - 2];
        let (_, extent) = points.last_extents()?;
        self.open(&format!(
            "if ({row} >= {base} + {LANES} && {row} >= {from} && {row} < {to} && {to} - {from} >= {LANES}) {{"
        ));
        self.line(&format!("{base} = min_i64({row}, {to} - {LANES});"));
        self.open(&format!("for (i64 begin = 0; begin < {extent}; begin += 64) {{"));
        self.open("if (begin) {");
        self.open_lane();
        for (fold, state) in folds.iter().zip(states) {
            let [inner, outer, outermost] = state.each_ref().map(|names| elements(names));
            self.next_block(fold, "begin", &inner, [&outer, &outermost])?;
        }
        self.close();
        self.close();
        self.block(lanes, folds, (kernel, points))?;
        self.close();
        self.close();
        self.open(&format!("if ({row} < {base} + {LANES}) {{"));
        for (fold, state) in folds.iter().zip(states) {
            for (names, arrays) in fold.state().into_iter().zip(state) {
                for (name, array) in names.iter().zip(arrays) {
                    self.line(&format!("{name} = {array}[{row} - {base}];"));
                }
            }
        }
        self.line(&format!("met = {extent};"));
        self.indent -= 1;
        self.open("} else {");
        Some(())
    }

    /// A block of the tree, in all lanes.
    fn block(
        &mut self,
        lanes: &Lanes,
        folds: &[Fold<'_>],
        (kernel, points): (&Kernel, &Points),
    ) -> Option<()> {
        let (_, extent) = points.last_extents()?;
        let mut point = points.clone();
        let (index, row) = (point.indices.pop()?, point.indices.pop()?);
        let row_of_lane = format!("{row}_of_lane");
        point.indices.extend([row_of_lane.clone(), index.clone()]);
        // Names of their own, so that they stay in registers.
        let sums: Vec<Vec<String>> = folds.iter().map(|fold| self.arrays(fold)).collect();
        self.line(&format!("const i64 end = min_i64({extent}, begin + 64);"));
        self.open(&format!("for (i64 {index} = begin; {index} < end; {index}++) {{"));
        let values: Vec<Vec<String>> = folds.iter().map(|fold| self.arrays(fold)).collect();
        self.open_lane();
        self.line(&format!("const i64 {row_of_lane} = {} + lane;", lanes.base));
        let (computed, _) = self.bound_code(&lanes.code, &point.bound(kernel))?;
        for (array, (value, _)) in values.iter().flatten().zip(&computed) {
            self.line(&format!("{array}[lane] = {value};"));
        }
        self.close();
        self.open(&format!("if ({index} == begin) {{"));
        self.open_lane();
        for (sums, values) in sums.iter().zip(&values) {
            self.assign_all(&elements(sums), &elements(values));
        }
        self.close();
        self.indent -= 1;
        self.open("} else {");
        self.open_lane();
        for ((fold, sums), values) in folds.iter().zip(&sums).zip(&values) {
            self.combine(fold, &elements(sums), &elements(values), &elements(sums))?;
        }
        self.close();
        self.close();
        self.close();
        self.open_lane();
        for (state, sums) in lanes.states.iter().zip(&sums) {
            self.assign_all(&elements(&state[0]), &elements(sums));
        }
        self.close();
        Some(())
    }

    /// Arrays over lanes of what a fold combines.
    fn arrays(&mut self, fold: &Fold<'_>) -> Vec<String> {
        let mut names = Vec::new();
        for ty in fold.types() {
            let name = format!("l{}", self.environment.fresh());
            self.line(&format!("{} {name}[{LANES}];", type_name(ty)));
            names.push(name);
        }
        names
    }

    fn open_lane(&mut self) {
        self.line(&format!("#pragma GCC unroll {LANES}"));
        self.open(&format!("for (i64 lane = 0; lane < {LANES}; lane++) {{"));
    }
}

/// What a kernel computes at a point where nothing is checked, and the box in which that is so, if it is simple.
pub(super) fn simple_box(kernel: &Kernel) -> Option<(Code, Vec<Bound>)> {
    let results: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
    let boxes = interiors_of_rows(&kernel.indices, &kernel.body, &results);
    let everywhere = (Code { results, ..kernel.body.clone() }, Vec::new());
    let is_fixed = |bound: &Bound| bound.offset.registers().is_empty();
    (boxes.into_iter())
        .map(|Interior { code, results, bounds, .. }| (Code { results, ..code }, bounds))
        .chain([everywhere])
        .find(|(code, bounds)| is_simple(code) && bounds.iter().all(is_fixed))
}

/// The elements of arrays at a lane.
fn elements(arrays: &[String]) -> Vec<String> {
    arrays.iter().map(|array| format!("{array}[lane]")).collect()
}
