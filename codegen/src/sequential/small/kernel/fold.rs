//! Reductions and scans, in the first levels of the tree of the language: three of a reduction, two of a scan.

use weft_ir::ScalarType;
use weft_ir::code::{Operator, Register, Thunk};
use weft_ir::flat::{ScanForm, Start, Var};
use weft_ir::plan::{Kernel, Sink};

use super::super::super::Function;
use super::{Bound, Extent, Points, Typed};
use crate::dialect::type_name;

/// A reduction or a scan at work.
pub(super) struct Fold<'k> {
    operator: &'k Operator,
    start: &'k Start<Thunk>,
    registers: &'k [(Register, ScalarType)],
    /// The arrays of the results that are wanted, or scalars.
    to: Vec<Option<(Var, String)>>,
    /// Nothing of a reduction.
    scan: Option<Scan>,
    /// What the block of the tree at hand has come to.
    inner: Vec<String>,
    /// What the blocks before it have come to.
    outer: Vec<String>,
    /// What the blocks of blocks before those have come to; nothing of a scan.
    outermost: Vec<String>,
}

struct Scan {
    form: ScanForm,
    from_right: bool,
    /// The start values, if there are any.
    start: Vec<String>,
    /// What all before this point have come to, where that is asked for.
    before: Vec<String>,
}

impl Fold<'_> {
    /// What it yields, and where that is.
    pub(super) fn results(&self) -> Vec<(Var, String)> {
        self.to.iter().flatten().cloned().collect()
    }

    /// The types of what it combines.
    pub(super) fn types(&self) -> Vec<ScalarType> {
        self.operator.left.iter().map(|(_, ty)| *ty).collect()
    }

    /// What a row has come to: its block at hand, those before it, the blocks of blocks before those.
    pub(super) fn state(&self) -> [&[String]; 3] {
        [&self.inner, &self.outer, &self.outermost]
    }
}

impl Function<'_> {
    /// The reductions and scans of a kernel, with memory for their results.
    pub(super) fn folds<'k>(
        &mut self,
        kernel: &'k Kernel,
        points: &Points,
    ) -> Option<Vec<Fold<'k>>> {
        let mut folds = Vec::new();
        for sink in &kernel.sinks {
            let (operator, start, registers, arrays, scan) = match sink {
                Sink::Reduce { operator, start, registers, arrays, .. } => {
                    (operator, start, registers, arrays, None)
                }
                Sink::Scan { operator, start, registers, arrays, form, from_right, .. } => {
                    let (start_names, before) = (Vec::new(), Vec::new());
                    let scan =
                        Scan { form: *form, from_right: *from_right, start: start_names, before };
                    (operator, start, registers, arrays, Some(scan))
                }
                Sink::Store { .. }
                | Sink::Interleave { .. }
                | Sink::Filter { .. }
                | Sink::Scatter { .. }
                | Sink::Sort { .. } => continue,
            };
            let count = match &scan {
                None => points.rows().to_owned(),
                Some(Scan { form: ScanForm::Full, .. }) => {
                    format!("({} + {})", points.points(), points.rows())
                }
                Some(_) => points.points().to_owned(),
            };
            let to = |array: &Option<Var>| {
                array.map(|array| match self.is_array(array) {
                    true => (array, self.room(array, &count)),
                    false => (array, self.declare(array)),
                })
            };
            let to = arrays.iter().map(to).collect();
            let (inner, outer, outermost) = Default::default();
            folds.push(Fold { operator, start, registers, to, scan, inner, outer, outermost });
        }
        Some(folds)
    }

    /// Declares what a row comes to.
    pub(super) fn begin_fold(&mut self, fold: &mut Fold<'_>, points: &Points) -> Option<()> {
        let types = fold.types();
        fold.inner = self.zeros(&types);
        fold.outer = self.zeros(&types);
        let Some(scan) = &mut fold.scan else {
            fold.outermost = self.zeros(&types);
            return Some(());
        };
        if let Start::Combined(thunk) = fold.start {
            scan.start = self.zeros(&types);
            self.start_values(thunk, points, &scan.start)?;
        }
        if scan.form != ScanForm::Inclusive {
            scan.before = self.zeros(&types);
            for (before, start) in scan.before.iter().zip(&scan.start) {
                self.line(&format!("{before} = {start};"));
            }
        }
        Some(())
    }

    /// Combines an element with those before; the registers of a scan at this point.
    pub(super) fn fold_point(
        &mut self,
        fold: &Fold<'_>,
        values: &[Typed],
        points: &Points,
    ) -> Option<Vec<Bound>> {
        let values = self.named(values);
        let Fold { inner, outer, outermost, .. } = fold;
        self.open("if (!(met & 63)) {");
        let most = if fold.scan.is_some() { "MOST_OF_SCAN" } else { "MOST_OF_FOLD" };
        self.line(&format!("if (met == {most}) LEAVE;"));
        self.next_block(fold, "met", inner, [outer, outermost])?;
        self.assign_all(inner, &values);
        self.indent -= 1;
        self.open("} else {");
        self.combine(fold, inner, &values, inner)?;
        self.close();
        let Some(scan) = &fold.scan else { return Some(Vec::new()) };
        let types = fold.types();
        let so_far = self.zeros(&types);
        self.open("if (met < 64) {");
        self.assign_all(&so_far, inner);
        self.indent -= 1;
        self.open("} else {");
        self.combine(fold, outer, inner, &so_far)?;
        self.close();
        if !scan.start.is_empty() {
            self.combine(fold, &scan.start, &so_far, &so_far)?;
        }
        let shown = match scan.form {
            ScanForm::Inclusive => so_far,
            ScanForm::Exclusive | ScanForm::Full => {
                let shown = self.zeros(&types);
                self.assign_all(&shown, &scan.before);
                self.assign_all(&scan.before, &so_far);
                shown
            }
        };
        let at = match scan.form {
            ScanForm::Inclusive | ScanForm::Exclusive => points.at_point(),
            ScanForm::Full => {
                let last = points.indices.last()?;
                let next = if scan.from_right { " + 1" } else { "" };
                format!("{} + {last}{next}", points.full_row())
            }
        };
        self.store_all(fold, &at, &shown);
        let registers = fold.registers.iter().zip(shown);
        Some(registers.map(|(&(register, ty), name)| (register, ty, name)).collect())
    }

    /// Puts the block of the tree that so many points have ended to those before it, where another one begins.
    pub(super) fn next_block(
        &mut self,
        fold: &Fold<'_>,
        met: &str,
        inner: &[String],
        [outer, outermost]: [&[String]; 2],
    ) -> Option<()> {
        self.open(&match fold.scan {
            Some(_) => format!("if ({met} > 64) {{"),
            None => format!("if ({met} > 64 && ({met} & 4095) != 64) {{"),
        });
        self.combine(fold, outer, inner, outer)?;
        self.indent -= 1;
        self.open("} else {");
        self.assign_all(outer, inner);
        self.close();
        if fold.scan.is_none() {
            self.open(&format!("if ({met} && !({met} & 4095)) {{"));
            self.open(&format!("if ({met} > 4096) {{"));
            self.combine(fold, outermost, outer, outermost)?;
            self.indent -= 1;
            self.open("} else {");
            self.assign_all(outermost, outer);
            self.close();
            self.close();
        }
        Some(())
    }

    /// Puts what a row has come to where it belongs; the registers of a reduction.
    pub(super) fn end_fold(&mut self, fold: &Fold<'_>, points: &Points) -> Option<Vec<Bound>> {
        if let Some(scan) = &fold.scan {
            if scan.form == ScanForm::Full {
                let at = match (points.extents.last()?, scan.from_right) {
                    (Extent::Dense(extent), false) => format!("{} + {extent}", points.full_row()),
                    (Extent::Dense(_), true) => points.full_row(),
                    (Extent::Ragged(offsets), from_right) => {
                        let (offsets, row) =
                            (self.environment.elements(*offsets)?, points.at_row());
                        let end = if from_right { "" } else { " + 1" };
                        format!("{row} + {offsets}[{row}{end}]")
                    }
                };
                self.store_all(fold, &at, &scan.before);
            }
            return Some(Vec::new());
        }
        let Fold { inner, outer, outermost, .. } = fold;
        // The block at hand may be the first one of a block of blocks.
        self.open("if (met > 64 && ((met - 1) & 4095) >= 64) {");
        self.combine(fold, outer, inner, inner)?;
        self.close();
        self.open("if (met > 4096) {");
        self.combine(fold, outermost, inner, inner)?;
        self.close();
        match fold.start {
            Start::None => {}
            Start::Combined(thunk) | Start::IfEmpty(thunk) => {
                let types = fold.types();
                let if_empty = matches!(fold.start, Start::IfEmpty(_));
                self.open(if if_empty { "if (met == 0) {" } else { "{" });
                let start = self.zeros(&types);
                self.start_values(thunk, points, &start)?;
                if !if_empty {
                    self.open("if (met > 0) {");
                    self.combine(fold, &start, inner, &start)?;
                    self.close();
                }
                self.assign_all(inner, &start);
                self.close();
            }
        }
        self.store_all(fold, &points.at_row(), inner);
        let registers = fold.registers.iter().zip(inner);
        Some(registers.map(|(&(register, ty), name)| (register, ty, name.clone())).collect())
    }

    /// Evaluates start values for a row.
    fn start_values(&mut self, thunk: &Thunk, points: &Points, to: &[String]) -> Option<()> {
        let indices = thunk.indices.iter().zip(&points.indices);
        let bound: Vec<Bound> =
            indices.map(|(&index, name)| (index, ScalarType::I64, name.clone())).collect();
        self.open("{");
        let (values, _) = self.bound_code(&thunk.code, &bound)?;
        let values: Vec<String> = values.into_iter().map(|(value, _)| value).collect();
        self.assign_all(to, &values);
        self.close();
        Some(())
    }

    /// Combines what comes first with what comes later, in the direction of the scan.
    pub(super) fn combine(
        &mut self,
        fold: &Fold<'_>,
        earlier: &[String],
        later: &[String],
        to: &[String],
    ) -> Option<()> {
        let exchange = fold.scan.as_ref().is_some_and(|scan| scan.from_right);
        let (left, right) = if exchange { (later, earlier) } else { (earlier, later) };
        self.apply(fold.operator, left, right, to)
    }

    /// Applies an operator to variables.
    pub(super) fn apply(
        &mut self,
        operator: &Operator,
        left: &[String],
        right: &[String],
        to: &[String],
    ) -> Option<()> {
        let operands = operator.left.iter().zip(left).chain(operator.right.iter().zip(right));
        let bound: Vec<Bound> =
            operands.map(|(&(register, ty), name)| (register, ty, name.clone())).collect();
        self.open("{");
        let (values, _) = self.bound_code(&operator.code, &bound)?;
        // All at once: an operand may be a result.
        let values = self.named(&values);
        self.assign_all(to, &values);
        self.close();
        Some(())
    }

    fn store_all(&mut self, fold: &Fold<'_>, at: &str, values: &[String]) {
        for (to, value) in fold.to.iter().zip(values) {
            match to {
                Some((var, name)) if self.is_array(*var) => {
                    self.line(&format!("{name}[{at}] = {value};"));
                }
                Some((_, name)) => self.line(&format!("{name} = {value};")),
                None => {}
            }
        }
    }

    pub(super) fn assign_all(&mut self, to: &[String], values: &[String]) {
        for (to, value) in to.iter().zip(values) {
            self.line(&format!("{to} = {value};"));
        }
    }

    /// Variables of these types.
    fn zeros(&mut self, types: &[ScalarType]) -> Vec<String> {
        let mut names = Vec::new();
        for ty in types {
            let name = format!("v{}", self.environment.fresh());
            self.line(&format!("{} {name} = 0;", type_name(*ty)));
            names.push(name);
        }
        names
    }
}
