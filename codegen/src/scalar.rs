//! Scalar code as statements, one element at a time: conditionals are `if`, loops are `while`.

use std::collections::BTreeMap;
use std::fmt::Write;

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::flat::Var;
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span};

use crate::dialect::type_name;
use crate::functions::Functions;
use crate::literal::literal;
use crate::operator::{operator, random};

/// What surrounds scalar code in a kernel.
pub trait Surroundings {
    /// An expression, that binds as tightly as a name, of the element of an array at a storage index;
    /// the indices are expressions of type `i64`.
    fn read(&mut self, array: Var, indices: &[String]) -> String;

    /// A statement that is reached where a check or an operator fails. What follows it runs all the
    /// same, unless the statement leaves.
    fn fail(&mut self, kind: FaultKind, span: Span) -> String;

    /// What stands before a loop with that state, and at the end of each of its turns, if anything is wanted.
    fn turn(&mut self, _first: &Register, _turns: Turns<'_>) -> Option<[String; 2]> {
        None
    }

    /// What a comment says before an instruction that comes from there, if one is wanted.
    fn remark(&mut self, _span: Span) -> Option<String> {
        None
    }
}

/// A loop of scalar code.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    /// The registers of its state.
    pub state: &'a [(Register, ScalarType)],
    /// Their first values.
    pub initial: &'a [Operand],
    /// Whether it goes on.
    pub condition: &'a Code,
    /// The next state.
    pub body: &'a Code,
}

/// Writes scalar code.
pub struct Writer<'a> {
    surroundings: &'a mut dyn Surroundings,
    functions: &'a mut Functions,
    /// What registers are called that are not called `r5`, and the types of all.
    registers: BTreeMap<Register, (String, ScalarType)>,
    indent: usize,
    text: String,
}

impl<'a> Writer<'a> {
    /// Nothing is written yet; `indent` levels of two spaces stand before each statement.
    pub fn new(
        surroundings: &'a mut dyn Surroundings,
        functions: &'a mut Functions,
        indent: usize,
    ) -> Writer<'a> {
        Writer { surroundings, functions, registers: BTreeMap::new(), indent, text: String::new() }
    }

    /// Calls a register of that type by an expression that binds as tightly as a name.
    pub fn bind(&mut self, register: Register, ty: ScalarType, name: impl Into<String>) {
        self.registers.insert(register, (name.into(), ty));
    }

    /// Writes the statements of code; the expressions of its results.
    ///
    /// # Panics
    /// If the code is not one that [`weft_ir::code::CodeCheck`] accepts.
    pub fn code(&mut self, code: &Code) -> Vec<String> {
        for (at, instruction) in code.instructions.iter().enumerate() {
            match within(&code.instructions[..at], instruction) {
                Some((number, end)) => {
                    let number = self.operand(number);
                    let value = format!("(u64){number} < {end}ULL");
                    self.define(instruction.results[0], &value);
                }
                None => self.instruction(instruction),
            }
        }
        self.operands(&code.results)
    }

    /// An operand as an expression that binds as tightly as a name.
    ///
    /// # Panics
    /// If it is a register that is not bound.
    pub fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Scalar(scalar) => literal(*scalar),
            Operand::Register(register) => self.register(*register).0.clone(),
        }
    }

    /// Writes a statement.
    pub fn statement(&mut self, statement: &str) {
        let margin = "  ".repeat(self.indent);
        writeln!(self.text, "{margin}{statement}").expect("a string takes all");
    }

    /// What has been written.
    pub fn finish(self) -> String {
        self.text
    }

    /// All registers that are bound, with what stands for them.
    pub(crate) fn registers(&self) -> Vec<(Register, ScalarType, String)> {
        let each = self.registers.iter();
        each.map(|(&register, (name, ty))| (register, *ty, name.clone())).collect()
    }

    fn register(&self, register: Register) -> &(String, ScalarType) {
        match self.registers.get(&register) {
            Some(known) => known,
            None => panic!("{register} is used before it is bound"),
        }
    }

    fn operands(&self, operands: &[Operand]) -> Vec<String> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    pub(crate) fn ty(&self, operand: &Operand) -> ScalarType {
        match operand {
            Operand::Scalar(scalar) => scalar.ty(),
            Operand::Register(register) => self.register(*register).1,
        }
    }

    fn define(&mut self, (register, ty): (Register, ScalarType), value: &str) {
        self.statement(&format!("const {} {register} = {value};", type_name(ty)));
        self.bind(register, ty, register.to_string());
    }

    fn declare(&mut self, registers: &[(Register, ScalarType)]) {
        for &(register, ty) in registers {
            self.statement(&format!("{} {register};", type_name(ty)));
            self.bind(register, ty, register.to_string());
        }
    }

    fn assign(&mut self, registers: &[(Register, ScalarType)], values: &[String]) {
        for ((register, _), value) in registers.iter().zip(values) {
            self.statement(&format!("{register} = {value};"));
        }
    }

    fn fail(&mut self, condition: &str, kind: FaultKind, span: Span) {
        let statement = self.surroundings.fail(kind, span);
        self.statement(&format!("if ({condition}) {{ {statement} }}"));
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let results = &instruction.results;
        if let Some(remark) = self.surroundings.remark(instruction.span) {
            self.statement(&format!("// {remark}"));
        }
        match &instruction.operation {
            Operation::Scalar(op, operands) => {
                let types: Vec<ScalarType> = operands.iter().map(|at| self.ty(at)).collect();
                let operands = self.operands(operands);
                let expression = operator(*op, &operands, &types, self.functions);
                if let Some((condition, kind)) = expression.fails {
                    self.fail(&condition, kind, instruction.span);
                }
                self.define(results[0], &expression.text);
            }
            Operation::Random(kind, operands) => {
                let value = random(*kind, &self.operands(operands));
                self.define(results[0], &value);
            }
            Operation::Read(array, indices) => {
                let indices = self.operands(indices);
                let value = self.surroundings.read(*array, &indices);
                self.define(results[0], &value);
            }
            Operation::Check(condition, kind) => {
                let condition = format!("!{}", self.operand(condition));
                self.fail(&condition, *kind, instruction.span);
            }
            Operation::If { condition, then, otherwise } => {
                self.declare(results);
                let condition = self.operand(condition);
                self.statement(&format!("if ({condition}) {{"));
                self.side(then, results);
                self.statement("} else {");
                self.side(otherwise, results);
                self.statement("}");
            }
            Operation::While { state, initial, condition, body } => {
                for (&(register, ty), operand) in state.iter().zip(initial) {
                    let value = self.operand(operand);
                    self.statement(&format!("{} {register} = {value};", type_name(ty)));
                    self.bind(register, ty, register.to_string());
                }
                let turns = Turns { state, initial, condition, body };
                let first = state.first().map(|(register, _)| register);
                let turn = first.and_then(|first| self.surroundings.turn(first, turns));
                if let Some([before, _]) = &turn
                    && !before.is_empty()
                {
                    self.statement(before);
                }
                self.statement("for (;;) {");
                self.indent += 1;
                let holds = self.code(condition);
                self.statement(&format!("if (!{}) break;", holds[0]));
                let next = self.code(body);
                // All at once: the next state may be the state in another order.
                for ((register, ty), value) in state.iter().zip(&next) {
                    self.statement(&format!("const {} next_{register} = {value};", type_name(*ty)));
                }
                for (register, _) in state {
                    self.statement(&format!("{register} = next_{register};"));
                }
                if let Some([_, each]) = &turn {
                    self.statement(each);
                }
                self.indent -= 1;
                self.statement("}");
                for (&(result, ty), (register, _)) in results.iter().zip(state) {
                    self.bind(result, ty, register.to_string());
                }
            }
        }
    }

    /// The body of a side of a conditional.
    fn side(&mut self, code: &Code, results: &[(Register, ScalarType)]) {
        self.indent += 1;
        let values = self.code(code);
        self.assign(results, &values);
        self.indent -= 1;
    }
}

/// The number that is asked to be from 0 on and below a constant, and the constant, if that is what an instruction
/// combines: one comparison of numbers without sign, which compilers do not always find.
fn within<'c>(before: &'c [Instruction], instruction: &Instruction) -> Option<(&'c Operand, i64)> {
    let Operation::Scalar(ScalarOp::And, operands) = &instruction.operation else { return None };
    let compared = |operand: &Operand, op: ScalarOp| {
        let Operand::Register(register) = operand else { return None };
        let of = |other: &&Instruction| other.results.iter().any(|(own, _)| own == register);
        match &before.iter().rev().find(of)?.operation {
            Operation::Scalar(own, operands) if *own == op => match &operands[..] {
                [number, Operand::Scalar(Scalar::I64(bound))] => Some((number, *bound)),
                _ => None,
            },
            _ => None,
        }
    };
    let [low, high] = &operands[..] else { return None };
    let (number, least) = compared(low, ScalarOp::Ge)?;
    let (other, end) = compared(high, ScalarOp::Lt)?;
    (least == 0 && end >= 0 && number == other).then_some((number, end))
}
