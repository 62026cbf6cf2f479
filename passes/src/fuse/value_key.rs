//! What identifies a value in the code of a kernel: its operation, on operands that are the same. Branches and loops are
//! the same if all is that they do, whatever their registers are called.

use std::collections::HashMap;

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Var;
use weft_ir::nested::RandomKind;
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

/// Larger branches and loops are not compared, so that it takes no more than time in proportion to the code.
const LARGEST_COMPARED: usize = 64;

/// What identifies a value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Scalar(ScalarOp, Vec<Atom>),
    Random(RandomKind, Vec<Atom>),
    Read(Var, Vec<Atom>),
    Check(Atom, FaultKind),
    /// That it is there.
    Needed(Atom),
    Element(u32, Vec<Atom>),
    /// A branch, which has no state, or a loop: its condition or the first state, and per body what it computes and
    /// yields.
    Control(Vec<Atom>, Vec<ScalarType>, Vec<(Vec<Key>, Vec<Atom>)>),
}

/// An operand that can be compared and hashed: constants by type and bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    Register(Register),
    Constant(ScalarType, u64),
    /// What the branch or loop itself binds, by number.
    Bound(u32),
}

pub(super) fn atom(operand: &Operand) -> Atom {
    match *operand {
        Operand::Register(register) => Atom::Register(register),
        Operand::Scalar(scalar) => Atom::Constant(scalar.ty(), bits(scalar)),
    }
}

pub(super) fn atoms(operands: &[Operand]) -> Vec<Atom> {
    operands.iter().map(atom).collect()
}

fn bits(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::I8(value) => value as u64,
        Scalar::I16(value) => value as u64,
        Scalar::I32(value) => value as u64,
        Scalar::I64(value) => value as u64,
        Scalar::U8(value) | Scalar::Char(value) => u64::from(value),
        Scalar::U16(value) => u64::from(value),
        Scalar::U32(value) => u64::from(value),
        Scalar::U64(value) => value,
        Scalar::F32(value) => u64::from(value.to_bits()),
        Scalar::F64(value) => value.to_bits(),
        Scalar::Bool(value) => u64::from(value),
    }
}

/// What identifies a branch or a loop; nothing if it is large.
pub(super) fn control(operation: &Operation) -> Option<Key> {
    let mut size = 0;
    operation.for_each_body(&mut |body| size += body.walk().take(LARGEST_COMPARED + 1).count());
    (size <= LARGEST_COMPARED).then(|| Numbering::default().operation(operation))
}

/// The numbers of what is bound.
#[derive(Default)]
struct Numbering {
    bound: HashMap<Register, u32>,
}

impl Numbering {
    fn bind(&mut self, register: Register) {
        let number = self.bound.len() as u32;
        self.bound.insert(register, number);
    }

    fn atom(&self, operand: &Operand) -> Atom {
        let bound = operand.register().and_then(|register| self.bound.get(&register));
        bound.map_or_else(|| atom(operand), |number| Atom::Bound(*number))
    }

    fn atoms(&self, operands: &[Operand]) -> Vec<Atom> {
        operands.iter().map(|operand| self.atom(operand)).collect()
    }

    fn code(&mut self, code: &Code) -> (Vec<Key>, Vec<Atom>) {
        let mut keys = Vec::with_capacity(code.instructions.len());
        for instruction in &code.instructions {
            keys.push(self.operation(&instruction.operation));
            instruction.results.iter().for_each(|(register, _)| self.bind(*register));
        }
        (keys, self.atoms(&code.results))
    }

    fn operation(&mut self, operation: &Operation) -> Key {
        match operation {
            Operation::Scalar(op, operands) => Key::Scalar(*op, self.atoms(operands)),
            Operation::Random(kind, operands) => Key::Random(*kind, self.atoms(operands)),
            Operation::Read(array, index) => Key::Read(*array, self.atoms(index)),
            Operation::Check(condition, kind) => Key::Check(self.atom(condition), *kind),
            Operation::If { condition, then, otherwise } => {
                let condition = vec![self.atom(condition)];
                Key::Control(condition, Vec::new(), vec![self.code(then), self.code(otherwise)])
            }
            Operation::While { state, initial, condition, body } => {
                let initial = self.atoms(initial);
                state.iter().for_each(|(register, _)| self.bind(*register));
                let types = state.iter().map(|(_, ty)| *ty).collect();
                Key::Control(initial, types, vec![self.code(condition), self.code(body)])
            }
        }
    }
}
