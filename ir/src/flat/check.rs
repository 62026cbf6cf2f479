//! The check of flat programs: every variable is bound once and before its uses, extents are sizes
//! in scope, every operation gets what it needs, and its results have the types that it yields.
//!
//! What an operation yields over a space has exactly the extents that [`storage`] says: the same
//! variables, not others that happen to be equal.

use crate::ScalarType;
use crate::code::{check_operator, check_thunk, same_types};
use crate::flat::scope::Scope;
use crate::flat::{
    Block, Dimension, Operation, Operator, Program, ScanForm, Size, Start, Statement, Thunk, Type,
    Var, storage,
};

/// Checks a program. What it accepts, the interpreter runs without a panic, unless the program's
/// sizes and indices are wrong.
///
/// # Errors
/// A sentence about the first thing that is wrong.
pub fn check(program: &Program) -> Result<(), String> {
    let mut check = Check { types: &program.types, scope: Scope::new(&program.types) };
    check.scope.inputs(&program.inputs)?;
    for statement in &program.body.statements {
        check.statement(statement)?;
    }
    for result in &program.body.results {
        check.scope.ty(*result)?;
    }
    check.scope.outputs(&program.outputs)
}

struct Check<'a> {
    types: &'a [Type],
    scope: Scope<'a>,
}

/// What an operation yields.
enum Results {
    /// Arrays of these element types, all with these extents.
    Over(Vec<Size>, Vec<ScalarType>),
    /// What a filter over more than one dimension yields: row offsets, the total, arrays.
    Kept(Vec<ScalarType>),
    /// What a filter over one dimension yields: the count, arrays.
    Counted(Vec<ScalarType>),
    /// Variables with as many dimensions and the elements of these.
    Like(Vec<Var>),
    /// As the types of the results say, which were looked at.
    AsDeclared,
}

impl<'a> Check<'a> {
    fn statement(&mut self, statement: &Statement) -> Result<(), String> {
        self.checked(statement).map_err(|problem| {
            if problem.contains("\n  at `") {
                return problem;
            }
            let text = statement.text(self.types);
            format!("{problem}\n  at `{}`", text.lines().next().unwrap_or_default())
        })
    }

    fn checked(&mut self, statement: &Statement) -> Result<(), String> {
        let results = self.operation(&statement.operation, &statement.results)?;
        self.scope.bind(&statement.results)?;
        self.results(&results, &statement.results)
    }

    fn operation(&mut self, operation: &Operation, declared: &[Var]) -> Result<Results, String> {
        Ok(match operation {
            Operation::Map { space, thunk } => {
                Results::Over(storage(space), self.thunk(space, thunk)?)
            }
            Operation::Reduce { space, thunk, operator, start } => {
                let outer = without_last(space)?;
                let elements = self.thunk(space, thunk)?;
                self.operator(operator, &elements)?;
                self.start(start, outer, &elements)?;
                Results::Over(storage(outer), elements)
            }
            Operation::Scan { space, thunk, form, from_right: _, operator, start, full } => {
                let outer = without_last(space)?;
                let elements = self.thunk(space, thunk)?;
                self.operator(operator, &elements)?;
                self.start(start, outer, &elements)?;
                match (form, start) {
                    (_, Start::Combined(_)) | (ScanForm::Inclusive, Start::None) => {}
                    (_, Start::IfEmpty(_)) => return Err("a scan has no start if empty".into()),
                    (_, Start::None) => return Err(format!("the form {form} needs a start")),
                }
                match (form, full) {
                    (ScanForm::Full, Some(full)) => {
                        let mut space = outer.to_vec();
                        space.push(*full);
                        self.scope.space(&space)?;
                        Results::Over(storage(&space), elements)
                    }
                    (ScanForm::Inclusive | ScanForm::Exclusive, None) => {
                        Results::Over(storage(space), elements)
                    }
                    (_, Some(_)) => return Err(format!("the form {form} has no other extent")),
                    (_, None) => return Err(format!("the form {form} needs its extent")),
                }
            }
            Operation::Filter { space, thunk } => {
                let outer = without_last(space)?;
                let mut elements = self.thunk(space, thunk)?;
                if elements.first() != Some(&ScalarType::Bool) {
                    return Err("the first result of a filter's thunk is a bool".into());
                }
                elements.remove(0);
                if outer.is_empty() { Results::Counted(elements) } else { Results::Kept(elements) }
            }
            Operation::Scatter { space, thunk, destinations, operator } => {
                self.scatter(space, thunk, destinations, operator.as_ref())?
            }
            Operation::Sort { space, thunk, descending: _ } => {
                without_last(space)?;
                if self.thunk(space, thunk)?.is_empty() {
                    return Err("a sort needs a key".into());
                }
                Results::Over(storage(space), vec![ScalarType::I64])
            }
            Operation::Reshape(array) => {
                let [result] = declared else { return Err("reshape has one result".into()) };
                self.scope.reshape(*array, self.declared(*result)?)?;
                Results::AsDeclared
            }
            Operation::Constant(elements) => {
                let [result] = declared else { return Err("a constant has one result".into()) };
                let ty = self.declared(*result)?;
                if elements.scalar_type() != Some(ty.element) {
                    return Err(format!("the elements are not {}", ty.element));
                }
                let mut count = Some(1_usize);
                for extent in &ty.extents {
                    count = match extent {
                        Size::Constant(size) => {
                            usize::try_from(*size).ok().and_then(|size| count?.checked_mul(size))
                        }
                        Size::Var(_) => None,
                    };
                }
                if count != Some(elements.len()) {
                    return Err(format!("{} elements are no {ty}", elements.len()));
                }
                Results::AsDeclared
            }
            Operation::Check(condition, _) => {
                self.scope.scalar(*condition, ScalarType::Bool)?;
                Results::Like(Vec::new())
            }
            Operation::If { condition, then, otherwise } => {
                self.scope.scalar(*condition, ScalarType::Bool)?;
                let results = self.block(then, None)?;
                self.block(otherwise, Some(&results))?;
                Results::Like(results)
            }
            Operation::While { state, initial, condition, body, rows } => {
                for value in initial {
                    self.scope.ty(*value)?;
                }
                let mark = self.scope.enter();
                self.scope.bind(state)?;
                self.alike(initial, state)?;
                let results = self.block(condition, None)?;
                let [condition] = results[..] else {
                    return Err("the condition yields one scalar".into());
                };
                let ty = self.declared(condition)?;
                if ty.element != ScalarType::Bool || !ty.extents.is_empty() {
                    return Err(format!("the condition {condition} is a {ty} and no bool"));
                }
                self.block(body, Some(state))?;
                if let Some(rows) = rows {
                    let Program { inputs, outputs, types, .. } = &rows.program;
                    rows.check(&self.scope, state, types, [inputs, outputs])?;
                    check(&rows.program)?;
                }
                self.scope.leave(mark);
                Results::Like(state.clone())
            }
        })
    }

    fn scatter(
        &self,
        space: &[Dimension],
        thunk: &Thunk,
        destinations: &[Var],
        operator: Option<&Operator>,
    ) -> Result<Results, String> {
        let mut elements = self.thunk(space, thunk)?;
        let Some((first, _)) = destinations.split_first() else {
            return Err("a scatter needs a destination".into());
        };
        let extents = &self.scope.ty(*first)?.extents;
        let dimensions = extents.len();
        if dimensions == 0 || elements.len() != dimensions + destinations.len() {
            let found = elements.len();
            return Err(format!("{found} results for an index and values of {first}"));
        }
        let values = elements.split_off(dimensions);
        same_types("the indices", &elements, &vec![ScalarType::I64; dimensions])?;
        for (destination, value) in destinations.iter().zip(&values) {
            let ty = self.scope.ty(*destination)?;
            if ty.extents != *extents {
                return Err(format!("{destination} has not the extents of {first}"));
            }
            same_types("the values", &[*value], &[ty.element])?;
        }
        if let Some(operator) = operator {
            self.operator(operator, &values)?;
        }
        Ok(Results::Over(extents.clone(), values))
    }

    /// That the declared variables, which are in scope, are such results.
    fn results(&self, results: &Results, declared: &[Var]) -> Result<(), String> {
        match results {
            Results::Over(extents, elements) => self.over(declared, extents, elements),
            Results::Counted(elements) => {
                let Some((count, arrays)) = declared.split_first() else {
                    return Err("a filter yields a count".into());
                };
                self.scope.scalar(*count, ScalarType::I64)?;
                self.over(arrays, &[Size::Var(*count)], elements)
            }
            Results::Kept(elements) => {
                let [offsets, total, arrays @ ..] = declared else {
                    return Err("a filter of rows yields offsets and a total".into());
                };
                self.scope.offsets(*offsets)?;
                self.scope.scalar(*total, ScalarType::I64)?;
                self.over(arrays, &[Size::Var(*total)], elements)
            }
            Results::Like(vars) => self.alike(vars, declared),
            Results::AsDeclared => Ok(()),
        }
    }

    fn over(
        &self,
        declared: &[Var],
        extents: &[Size],
        elements: &[ScalarType],
    ) -> Result<(), String> {
        let mut found = Vec::new();
        for var in declared {
            let ty = self.scope.ty(*var)?;
            if ty.extents != extents {
                let expected = Type { element: ty.element, extents: extents.to_vec() };
                return Err(format!("{var} is declared as {ty}, but it is {expected}"));
            }
            found.push(ty.element);
        }
        same_types("the results", elements, &found)
    }

    /// That variables have the elements and numbers of dimensions of others.
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

    /// The type of a variable, in scope or not.
    fn declared(&self, var: Var) -> Result<&'a Type, String> {
        self.types.get(var.0 as usize).ok_or_else(|| format!("{var} has no type"))
    }

    /// What a block yields; the variables are not in scope afterwards.
    fn block(&mut self, block: &Block, like: Option<&[Var]>) -> Result<Vec<Var>, String> {
        let mark = self.scope.enter();
        for statement in &block.statements {
            self.statement(statement)?;
        }
        for result in &block.results {
            self.scope.ty(*result)?;
        }
        if let Some(like) = like {
            self.alike(&block.results, like)?;
        }
        self.scope.leave(mark);
        Ok(block.results.clone())
    }

    fn thunk(&self, space: &[Dimension], thunk: &Thunk) -> Result<Vec<ScalarType>, String> {
        self.scope.space(space)?;
        check_thunk(thunk, space.len(), &|var| self.scope.get(var))
    }

    fn operator(&self, operator: &Operator, types: &[ScalarType]) -> Result<(), String> {
        if types.is_empty() {
            return Err("there is nothing to combine".into());
        }
        check_operator(operator, types, &|var| self.scope.get(var))
    }

    fn start(
        &self,
        start: &Start<Thunk>,
        outer: &[Dimension],
        types: &[ScalarType],
    ) -> Result<(), String> {
        match start {
            Start::None => Ok(()),
            Start::Combined(thunk) | Start::IfEmpty(thunk) => {
                same_types("the start", &self.thunk(outer, thunk)?, types)
            }
        }
    }
}

/// The dimensions but the last.
fn without_last(space: &[Dimension]) -> Result<&[Dimension], String> {
    match space.split_last() {
        Some((_, outer)) => Ok(outer),
        None => Err("the space has no last dimension".into()),
    }
}
