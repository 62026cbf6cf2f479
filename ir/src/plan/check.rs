//! The check of plans: every variable is bound once and before its uses, nothing is used after it
//! was freed, a kernel's parts fit together, and its results have the types that it yields.

use std::collections::BTreeSet;

use crate::ScalarType;
use crate::code::{Code, CodeCheck, Operator, Register, Thunk, same_types};
use crate::code::{check_operator, check_thunk};
use crate::flat::{Dimension, ScanForm, Scope, Size, Start, Type, Var, storage};
use crate::plan::{Block, Epilogue, Kernel, Program, Sink, Step, row_elements};

/// Checks a plan. What it accepts, a back end runs without a panic, unless sizes and indices are
/// wrong.
///
/// # Errors
/// A sentence about the first thing that is wrong.
pub fn check(program: &Program) -> Result<(), String> {
    let (scope, freed, in_part) = (Scope::new(&program.types), BTreeSet::new(), BTreeSet::new());
    let mut check = Check { types: &program.types, scope, freed, in_part };
    check.scope.inputs(&program.inputs)?;
    for step in &program.body.steps {
        check.step(step)?;
    }
    for result in &program.body.results {
        check.alive(*result)?;
    }
    check.scope.outputs(&program.outputs)
}

struct Check<'a> {
    types: &'a [Type],
    scope: Scope<'a>,
    freed: BTreeSet<Var>,
    /// Those of them that sides of an `if` have freed, which may be freed once more behind it: the other side may have not.
    in_part: BTreeSet<Var>,
}

impl<'a> Check<'a> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        self.checked(step).map_err(|problem| {
            if problem.contains("\n  at `") {
                return problem;
            }
            let text = step.text(self.types);
            format!("{problem}\n  at `{}`", text.lines().next().unwrap_or_default())
        })
    }

    fn checked(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Host { results, code, span: _ } => {
                self.reads(code)?;
                let found = CodeCheck::new(&|var| self.scope.get(var)).code(code, false)?;
                self.scope.bind(results)?;
                self.over(results, &[], &found)
            }
            Step::Launch(kernel) => self.kernel(kernel),
            Step::Reshape { result, array } => {
                self.alive(*array)?;
                self.scope.bind(&[*result])?;
                self.scope.reshape(*array, self.scope.ty(*result)?)
            }
            Step::Constant { result, elements } => {
                self.scope.bind(&[*result])?;
                let ty = self.scope.ty(*result)?;
                if elements.scalar_type() == Some(ty.element) {
                    Ok(())
                } else {
                    Err(format!("the elements are not {}", ty.element))
                }
            }
            Step::Check { condition, kind: _, span: _ } => {
                self.alive(*condition)?;
                self.scope.scalar(*condition, ScalarType::Bool)
            }
            Step::If { results, condition, then, otherwise } => {
                self.alive(*condition)?;
                self.scope.scalar(*condition, ScalarType::Bool)?;
                let freed = self.freed.clone();
                let yielded = self.block(then, None)?;
                let in_then = std::mem::replace(&mut self.freed, freed.clone());
                self.block(otherwise, Some(&yielded))?;
                self.freed.extend(in_then);
                self.in_part.extend(self.freed.difference(&freed));
                self.scope.bind(results)?;
                self.alike(&yielded, results)
            }
            Step::While { results, state, initial, condition, body, rows } => {
                for value in initial {
                    self.alive(*value)?;
                }
                let mark = self.scope.enter();
                self.scope.bind(state)?;
                self.alike(initial, state)?;
                let yielded = self.block(condition, None)?;
                let [holds] = yielded[..] else {
                    return Err("the condition yields one scalar".into());
                };
                same_types("the condition", &[self.declared(holds)?.element], &[ScalarType::Bool])?;
                self.block(body, Some(state))?;
                if let Some(rows) = rows {
                    let Program { inputs, outputs, types, .. } = &rows.program;
                    rows.check(&self.scope, state, types, [inputs, outputs])?;
                    check(&rows.program)?;
                }
                self.scope.leave(mark);
                self.scope.bind(results)?;
                self.alike(state, results)
            }
            Step::Free(vars) => {
                for var in vars {
                    if !self.in_part.remove(var) {
                        self.alive(*var)?;
                    }
                    self.freed.insert(*var);
                }
                Ok(())
            }
        }
    }

    /// The type of a variable that is in scope and not freed.
    fn alive(&self, var: Var) -> Result<&'a Type, String> {
        if self.freed.contains(&var) {
            return Err(format!("{var} was freed before"));
        }
        self.scope.ty(var)
    }

    fn space(&self, space: &[Dimension]) -> Result<(), String> {
        self.scope.space(space)?;
        for dimension in space {
            match *dimension {
                Dimension::Dense(Size::Var(var)) => self.alive(var).map(drop)?,
                Dimension::Dense(Size::Constant(_)) => {}
                Dimension::Ragged { offsets, .. } => self.alive(offsets).map(drop)?,
            }
        }
        Ok(())
    }

    /// That all arrays that a code reads are alive.
    fn reads(&self, code: &Code) -> Result<(), String> {
        for array in code.reads() {
            self.alive(array)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, like: Option<&[Var]>) -> Result<Vec<Var>, String> {
        let mark = self.scope.enter();
        for step in &block.steps {
            self.step(step)?;
        }
        for result in &block.results {
            self.alive(*result)?;
        }
        if let Some(like) = like {
            self.alike(&block.results, like)?;
        }
        self.scope.leave(mark);
        Ok(block.results.clone())
    }

    fn kernel(&mut self, kernel: &Kernel) -> Result<(), String> {
        self.space(&kernel.space)?;
        self.reads(&kernel.body)?;
        if kernel.indices.len() != kernel.space.len() || kernel.space.is_empty() {
            return Err("a kernel has an index per dimension, and at least one".into());
        }
        if kernel.sinks.is_empty() {
            return Err("a kernel has a sink".into());
        }
        alone(&kernel.sinks)?;
        let scope = &self.scope;
        let arrays = |var| scope.get(var);
        let mut codes = CodeCheck::new(&arrays);
        for index in &kernel.indices {
            codes.bind(*index, ScalarType::I64)?;
        }
        codes.code(&kernel.body, true)?;
        let mut written: Vec<(Var, Vec<Size>, ScalarType)> = Vec::new();
        let mut bound: Vec<(Register, ScalarType)> = Vec::new();
        for sink in &kernel.sinks {
            self.sink(kernel, sink, &codes, &mut written, &mut bound)?;
        }
        let mut outputs: Vec<Var> = Vec::new();
        for sink in &kernel.sinks {
            if let Sink::Filter { counts, .. } = sink {
                outputs.extend(counts);
            }
        }
        if let Some(epilogue) = &kernel.epilogue {
            for (register, ty) in bound {
                codes.bind(register, ty)?;
            }
            self.epilogue(kernel, epilogue, &mut codes, &mut written)?;
        }
        outputs.extend(written.iter().map(|(array, _, _)| *array));
        self.scope.bind(&outputs)?;
        for (array, extents, element) in written {
            self.over(&[array], &extents, &[element])?;
        }
        Ok(())
    }

    /// The extents of the rows of an array of interleaved elements, behind so many others.
    fn row_of(&self, array: Var, outer: usize, elements: usize) -> Result<Vec<Size>, String> {
        let extents = self.types.get(array.0 as usize).map(|ty| &ty.extents[..]);
        let row = extents.and_then(|extents| extents.get(outer..)).unwrap_or_default();
        match row_elements(row) {
            Some(count) if count == elements && count > 1 => Ok(row.to_vec()),
            _ => Err(format!("{elements} elements are no row of {array}")),
        }
    }

    fn sink(
        &self,
        kernel: &Kernel,
        sink: &Sink,
        codes: &CodeCheck,
        written: &mut Vec<(Var, Vec<Size>, ScalarType)>,
        bound: &mut Vec<(Register, ScalarType)>,
    ) -> Result<(), String> {
        let space = &kernel.space;
        let outer = &space[..space.len() - 1];
        match sink {
            Sink::Store { value, array } => {
                written.push((*array, storage(space), codes.operand(value)?));
            }
            Sink::Interleave { values, array } => {
                let types = codes.operands(values)?;
                let element = *types.first().ok_or("there is nothing to interleave")?;
                same_types("the elements of a row", &types, &vec![element; types.len()])?;
                let mut extents = storage(space);
                extents.extend(self.row_of(*array, extents.len(), values.len())?);
                written.push((*array, extents, element));
            }
            Sink::Reduce { values, operator, start, registers, arrays } => {
                let types = codes.operands(values)?;
                self.combined(outer, &types, operator, start)?;
                same_registers(registers, &types)?;
                bound.extend(registers);
                stored(arrays, &storage(outer), &types, written)?;
            }
            Sink::Scan { values, form, operator, start, full, registers, arrays, .. } => {
                let types = codes.operands(values)?;
                self.combined(outer, &types, operator, start)?;
                let extents = match (form, full) {
                    (ScanForm::Full, Some(full)) => {
                        let mut space = outer.to_vec();
                        space.push(*full);
                        self.space(&space)?;
                        storage(&space)
                    }
                    (ScanForm::Inclusive | ScanForm::Exclusive, None) => {
                        same_registers(registers, &types)?;
                        bound.extend(registers);
                        storage(space)
                    }
                    (_, _) => return Err("only a full scan has another extent".into()),
                };
                stored(arrays, &extents, &types, written)?;
            }
            Sink::Filter { flag, counts, kept } => {
                same_types("the flag", &[codes.operand(flag)?], &[ScalarType::Bool])?;
                let total = match (outer, &counts[..]) {
                    ([], [count]) => *count,
                    ([_, ..], [_, total]) => *total,
                    _ => return Err("a filter yields a count, or offsets and a total".into()),
                };
                for (value, array) in kept {
                    written.push((*array, vec![Size::Var(total)], codes.operand(value)?));
                }
            }
            Sink::Scatter { target, values, destinations, operator, arrays } => {
                let types = codes.operands(values)?;
                if types.len() != destinations.len() || types.len() != arrays.len() {
                    return Err("a scatter has as many values as arrays".into());
                }
                for ((destination, array), ty) in destinations.iter().zip(arrays).zip(&types) {
                    let before = self.alive(*destination)?;
                    if before.extents.len() != target.len() {
                        return Err(format!("{destination} has not {} axes", target.len()));
                    }
                    same_types("the values", &[*ty], &[before.element])?;
                    written.push((*array, before.extents.clone(), *ty));
                }
                if let Some(operator) = operator {
                    self.reads(&operator.code)?;
                    check_operator(operator, &types, &|var| self.scope.get(var))?;
                }
            }
            Sink::Sort { keys, descending: _, order } => {
                if codes.operands(keys)?.is_empty() {
                    return Err("a sort needs a key".into());
                }
                written.push((*order, storage(space), ScalarType::I64));
            }
        }
        Ok(())
    }

    fn combined(
        &self,
        outer: &[Dimension],
        types: &[ScalarType],
        operator: &Operator,
        start: &Start<Thunk>,
    ) -> Result<(), String> {
        if types.is_empty() {
            return Err("there is nothing to combine".into());
        }
        self.reads(&operator.code)?;
        check_operator(operator, types, &|var| self.scope.get(var))?;
        match start {
            Start::None => Ok(()),
            Start::Combined(thunk) | Start::IfEmpty(thunk) => {
                self.reads(&thunk.code)?;
                let found = check_thunk(thunk, outer.len(), &|var| self.scope.get(var))?;
                same_types("the start", &found, types)
            }
        }
    }

    fn epilogue(
        &self,
        kernel: &Kernel,
        epilogue: &Epilogue,
        codes: &mut CodeCheck,
        written: &mut Vec<(Var, Vec<Size>, ScalarType)>,
    ) -> Result<(), String> {
        let space = epilogue_space(kernel)
            .ok_or("an epilogue follows a reduction over rows, a scan or a filter")?;
        if epilogue.indices.len() != space.len() {
            return Err("the epilogue has an index per dimension".into());
        }
        for index in &epilogue.indices {
            codes.bind(*index, ScalarType::I64)?;
        }
        self.reads(&epilogue.code)?;
        codes.code(&epilogue.code, true)?;
        for (value, array) in &epilogue.stores {
            written.push((*array, storage(&space), codes.operand(value)?));
        }
        Ok(())
    }

    /// That variables are arrays of these extents and elements.
    fn over(&self, vars: &[Var], extents: &[Size], elements: &[ScalarType]) -> Result<(), String> {
        let mut found = Vec::new();
        for var in vars {
            let ty = self.scope.ty(*var)?;
            if ty.extents != extents {
                let expected = Type { element: ty.element, extents: extents.to_vec() };
                return Err(format!("{var} is declared as {ty}, but it is {expected}"));
            }
            found.push(ty.element);
        }
        same_types("the results", elements, &found)
    }

    fn alike(&self, vars: &[Var], others: &[Var]) -> Result<(), String> {
        if vars.len() != others.len() {
            return Err(format!("{} results, not {}", vars.len(), others.len()));
        }
        for (var, other) in vars.iter().zip(others) {
            let (ty, expected) = (self.declared(*var)?, self.declared(*other)?);
            if ty.element != expected.element || ty.extents.len() != expected.extents.len() {
                return Err(format!("{var} is a {ty}, and {other} a {expected}"));
            }
        }
        Ok(())
    }

    fn declared(&self, var: Var) -> Result<&'a Type, String> {
        self.types.get(var.0 as usize).ok_or_else(|| format!("{var} has no type"))
    }
}

/// The space of a kernel's epilogue, if its sinks admit one.
pub fn epilogue_space(kernel: &Kernel) -> Option<Vec<Dimension>> {
    let (_, outer) = kernel.space.split_last()?;
    let scans = kernel.sinks.iter().any(|sink| matches!(sink, Sink::Scan { full: None, .. }));
    let dimensions = kernel.epilogue.as_ref().map_or(0, |epilogue| epilogue.indices.len());
    for sink in &kernel.sinks {
        match sink {
            Sink::Filter { counts, .. } => {
                let mut space = outer.to_vec();
                space.push(match counts[..] {
                    [count] => Dimension::Dense(Size::Var(count)),
                    [offsets, total] => Dimension::Ragged { offsets, total: Size::Var(total) },
                    _ => return None,
                });
                return Some(space);
            }
            Sink::Reduce { .. } if !outer.is_empty() && dimensions == outer.len() => {
                return Some(outer.to_vec());
            }
            Sink::Reduce { .. }
            | Sink::Store { .. }
            | Sink::Interleave { .. }
            | Sink::Scan { .. } => {}
            Sink::Scatter { .. } | Sink::Sort { .. } => return None,
        }
    }
    scans.then(|| kernel.space.clone())
}

/// That a filter, scatter or sort stands alone or beside stores, and what is interleaved beside stores only.
fn alone(sinks: &[Sink]) -> Result<(), String> {
    let exclusive = |sink: &&Sink| {
        matches!(sink, Sink::Filter { .. } | Sink::Scatter { .. } | Sink::Sort { .. })
    };
    let stores = sinks.iter().filter(|sink| matches!(sink, Sink::Store { .. })).count();
    let interleaves = sinks.iter().filter(|sink| matches!(sink, Sink::Interleave { .. })).count();
    if interleaves > 0 && stores + interleaves < sinks.len() {
        return Err("beside what is interleaved stand only stores".into());
    }
    match sinks.iter().filter(exclusive).count() {
        0 => Ok(()),
        1 if stores + 1 == sinks.len() => Ok(()),
        _ => Err("a filter, scatter or sort stands alone or beside stores".into()),
    }
}

fn same_registers(
    registers: &[(Register, ScalarType)],
    types: &[ScalarType],
) -> Result<(), String> {
    let declared: Vec<ScalarType> = registers.iter().map(|(_, ty)| *ty).collect();
    same_types("the registers", &declared, types)
}

fn stored(
    arrays: &[Option<Var>],
    extents: &[Size],
    types: &[ScalarType],
    written: &mut Vec<(Var, Vec<Size>, ScalarType)>,
) -> Result<(), String> {
    if arrays.len() != types.len() {
        return Err(format!("{} arrays for {} values", arrays.len(), types.len()));
    }
    for (array, ty) in arrays.iter().zip(types) {
        if let Some(array) = array {
            written.push((*array, extents.to_vec(), *ty));
        }
    }
    Ok(())
}
