//! The check of scalar code: every register is bound once and before its uses, operators and
//! operations get operands of the types that they admit, arrays are read with as many indices as
//! they have storage dimensions.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{Code, Instruction, Operand, Operation, Operator, Register, Thunk};
use crate::flat::{Type, Var};
use crate::nested::RandomKind;
use crate::{ScalarType, math};

/// Checks the codes that share registers: one thunk, or a kernel's body with what follows it.
pub struct CodeCheck<'a> {
    /// The type of an array that is in scope.
    arrays: &'a dyn Fn(Var) -> Option<&'a Type>,
    /// The registers that are in scope.
    registers: BTreeMap<Register, ScalarType>,
    /// All that were ever bound.
    bound: BTreeSet<Register>,
}

impl<'a> CodeCheck<'a> {
    /// No registers are bound yet; `arrays` gives the type of each variable that may be read.
    pub fn new(arrays: &'a dyn Fn(Var) -> Option<&'a Type>) -> CodeCheck<'a> {
        CodeCheck { arrays, registers: BTreeMap::new(), bound: BTreeSet::new() }
    }

    /// Binds a register.
    ///
    /// # Errors
    /// It was bound before.
    pub fn bind(&mut self, register: Register, ty: ScalarType) -> Result<(), String> {
        if !self.bound.insert(register) {
            return Err(format!("{register} is bound twice"));
        }
        self.registers.insert(register, ty);
        Ok(())
    }

    /// The types of the results of a code. Its registers stay in scope if `keep` says so, as those
    /// of a kernel's body do.
    ///
    /// # Errors
    /// A sentence about the first instruction that is wrong.
    pub fn code(&mut self, code: &Code, keep: bool) -> Result<Vec<ScalarType>, String> {
        for instruction in &code.instructions {
            self.instruction(instruction).map_err(|problem| in_line(&problem, instruction))?;
        }
        let results = self.operands(&code.results);
        if !keep {
            for instruction in &code.instructions {
                self.forget(&instruction.results);
            }
        }
        results
    }

    /// The type of an operand.
    ///
    /// # Errors
    /// It is a register that is not in scope.
    pub fn operand(&self, operand: &Operand) -> Result<ScalarType, String> {
        match operand {
            Operand::Scalar(scalar) => Ok(scalar.ty()),
            Operand::Register(register) => match self.registers.get(register) {
                Some(ty) => Ok(*ty),
                None => Err(format!("{register} is not bound here")),
            },
        }
    }

    /// The types of operands.
    ///
    /// # Errors
    /// As [`CodeCheck::operand`].
    pub fn operands(&self, operands: &[Operand]) -> Result<Vec<ScalarType>, String> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn forget(&mut self, registers: &[(Register, ScalarType)]) {
        for (register, _) in registers {
            self.registers.remove(register);
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), String> {
        let results = self.operation(&instruction.operation)?;
        let declared: Vec<ScalarType> = instruction.results.iter().map(|(_, ty)| *ty).collect();
        same_types("the results", &results, &declared)?;
        for (register, ty) in &instruction.results {
            self.bind(*register, *ty)?;
        }
        Ok(())
    }

    fn operation(&mut self, operation: &Operation) -> Result<Vec<ScalarType>, String> {
        match operation {
            Operation::Scalar(op, operands) => {
                let types = self.operands(operands)?;
                match math::result_type(*op, &types) {
                    Some(ty) => Ok(vec![ty]),
                    None => Err(format!("{op} does not admit {}", list(&types))),
                }
            }
            Operation::Random(kind, operands) => {
                let (count, ty) = match kind {
                    RandomKind::UniformF64 => (2, ScalarType::F64),
                    RandomKind::UniformF32 => (2, ScalarType::F32),
                    RandomKind::Int => (4, ScalarType::I64),
                };
                same_types(
                    "the operands",
                    &self.operands(operands)?,
                    &vec![ScalarType::I64; count],
                )?;
                Ok(vec![ty])
            }
            Operation::Read(array, indices) => {
                let Some(ty) = (self.arrays)(*array) else {
                    return Err(format!("{array} is not bound here"));
                };
                let expected = vec![ScalarType::I64; ty.extents.len()];
                same_types("the indices", &self.operands(indices)?, &expected)?;
                Ok(vec![ty.element])
            }
            Operation::Check(condition, _) => {
                same_types("the condition", &[self.operand(condition)?], &[ScalarType::Bool])?;
                Ok(Vec::new())
            }
            Operation::If { condition, then, otherwise } => {
                same_types("the condition", &[self.operand(condition)?], &[ScalarType::Bool])?;
                let results = self.code(then, false)?;
                same_types("the branches", &self.code(otherwise, false)?, &results)?;
                Ok(results)
            }
            Operation::While { state, initial, condition, body } => {
                let types: Vec<ScalarType> = state.iter().map(|(_, ty)| *ty).collect();
                same_types("the first state", &self.operands(initial)?, &types)?;
                for (register, ty) in state {
                    self.bind(*register, *ty)?;
                }
                same_types("the condition", &self.code(condition, false)?, &[ScalarType::Bool])?;
                same_types("the next state", &self.code(body, false)?, &types)?;
                self.forget(state);
                Ok(types)
            }
        }
    }
}

/// The types of a thunk's results, over a space of that many dimensions.
///
/// # Errors
/// What is wrong with the thunk.
pub(crate) fn check_thunk<'a>(
    thunk: &Thunk,
    dimensions: usize,
    arrays: &'a dyn Fn(Var) -> Option<&'a Type>,
) -> Result<Vec<ScalarType>, String> {
    if thunk.indices.len() != dimensions {
        let indices = thunk.indices.len();
        return Err(format!("{indices} indices for a space of {dimensions} dimensions"));
    }
    let mut check = CodeCheck::new(arrays);
    for index in &thunk.indices {
        check.bind(*index, ScalarType::I64)?;
    }
    check.code(&thunk.code, false)
}

/// Checks an operator on values of these component types.
///
/// # Errors
/// What is wrong with the operator.
pub(crate) fn check_operator<'a>(
    operator: &Operator,
    types: &[ScalarType],
    arrays: &'a dyn Fn(Var) -> Option<&'a Type>,
) -> Result<(), String> {
    let mut check = CodeCheck::new(arrays);
    for (name, side) in [("left", &operator.left), ("right", &operator.right)] {
        let declared: Vec<ScalarType> = side.iter().map(|(_, ty)| *ty).collect();
        same_types(&format!("the {name} operand"), &declared, types)?;
        for (register, ty) in side {
            check.bind(*register, *ty)?;
        }
    }
    same_types("the operator's results", &check.code(&operator.code, false)?, types)
}

/// That `found` is what `expected` says; `what` begins the sentence if not.
///
/// # Errors
/// The sentence.
pub(crate) fn same_types(
    what: &str,
    found: &[ScalarType],
    expected: &[ScalarType],
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {}, not {}", list(found), list(expected)))
}

fn list(types: &[ScalarType]) -> String {
    if types.is_empty() {
        return "nothing".to_owned();
    }
    types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(" ")
}

/// The problem with the first line of the instruction that has it; an inner one stays as it is.
fn in_line(problem: &str, instruction: &Instruction) -> String {
    if problem.contains("\n  in `") {
        return problem.to_owned();
    }
    let text = instruction.to_string();
    format!("{problem}\n  in `{}`", text.lines().next().unwrap_or_default())
}
