//! Walking over scalar code: over the parts of one operation, its operands, its bodies, and what it binds for
//! them, as in [`crate::nested`]; and over all that stands in a code, at any depth.

use super::{Code, Instruction, Operand, Operation, Register};
use crate::ScalarType;
use crate::flat::Var;

/// The walks, shared or mutable.
macro_rules! walks {
    ($operands:ident, $bodies:ident, $bound:ident, $used:ident, [$($mutable:tt)?]) => {
        impl Operation {
            /// Visits the operands in the order of the text, not those in the bodies.
            pub fn $operands(& $($mutable)? self, visit: &mut dyn FnMut(& $($mutable)? Operand)) {
                match self {
                    Operation::Scalar(_, operands)
                    | Operation::Random(_, operands)
                    | Operation::Read(_, operands)
                    | Operation::While { initial: operands, state: _, condition: _, body: _ } => {
                        operands.into_iter().for_each(visit);
                    }
                    Operation::Check(operand, _)
                    | Operation::If { condition: operand, then: _, otherwise: _ } => visit(operand),
                }
            }

            /// Visits the bodies in the order of the text, not those within them.
            pub fn $bodies<'a>(
                &'a $($mutable)? self,
                visit: &mut dyn FnMut(&'a $($mutable)? Code),
            ) {
                match self {
                    Operation::If { condition: _, then: first, otherwise: second }
                    | Operation::While { condition: first, body: second, state: _, initial: _ } => {
                        visit(first);
                        visit(second);
                    }
                    Operation::Scalar(..)
                    | Operation::Random(..)
                    | Operation::Read(..)
                    | Operation::Check(..) => {}
                }
            }

            /// Visits the registers that the operation binds for its bodies: the state of a loop.
            pub fn $bound(
                & $($mutable)? self,
                visit: &mut dyn FnMut(& $($mutable)? Register, ScalarType),
            ) {
                match self {
                    Operation::While { state, initial: _, condition: _, body: _ } => {
                        state.into_iter().for_each(|(register, ty)| visit(register, *ty));
                    }
                    Operation::Scalar(..)
                    | Operation::Random(..)
                    | Operation::Read(..)
                    | Operation::Check(..)
                    | Operation::If { .. } => {}
                }
            }

            /// Visits the operands in the order of the text, also all in the bodies.
            pub fn $used(& $($mutable)? self, visit: &mut dyn FnMut(& $($mutable)? Operand)) {
                self.$operands(visit);
                self.$bodies(&mut |body| body.$used(visit));
            }
        }

        impl Code {
            /// Visits the operands of all instructions, also in their bodies, and the results, in the order
            /// of the text.
            pub fn $used(& $($mutable)? self, visit: &mut dyn FnMut(& $($mutable)? Operand)) {
                for instruction in & $($mutable)? self.instructions {
                    instruction.operation.$used(visit);
                }
                for operand in & $($mutable)? self.results {
                    visit(operand);
                }
            }
        }
    };
}

walks!(for_each_operand, for_each_body, for_each_bound, for_each_used, []);
walks!(for_each_operand_mut, for_each_body_mut, for_each_bound_mut, for_each_used_mut, [mut]);

impl Instruction {
    /// The instruction itself, and then all those in its bodies, in the order of the text.
    pub fn walk(&self) -> impl Iterator<Item = &Instruction> {
        walk(std::slice::from_ref(self))
    }
}

/// Instructions in the order of the text: each before those in its bodies.
fn walk(instructions: &[Instruction]) -> impl Iterator<Item = &Instruction> {
    // Where the walk goes on, innermost last.
    let mut places = vec![instructions.iter()];
    std::iter::from_fn(move || {
        loop {
            match places.last_mut()?.next() {
                Some(instruction) => {
                    let depth = places.len();
                    let operation = &instruction.operation;
                    operation.for_each_body(&mut |body| places.push(body.instructions.iter()));
                    places[depth..].reverse();
                    return Some(instruction);
                }
                None => places.pop(),
            };
        }
    })
}

impl Code {
    /// All instructions in the order of the text: each before those in its bodies.
    pub fn walk(&self) -> impl Iterator<Item = &Instruction> {
        walk(&self.instructions)
    }

    /// Visits all instructions in that order.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Instruction)) {
        for instruction in &mut self.instructions {
            visit(instruction);
            instruction.operation.for_each_body_mut(&mut |body| body.walk_mut(visit));
        }
    }

    /// The arrays and scalars that are read, as often as they are.
    pub fn reads(&self) -> impl Iterator<Item = Var> {
        self.walk().filter_map(|instruction| match instruction.operation {
            Operation::Read(var, _) => Some(var),
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Check(..)
            | Operation::If { .. }
            | Operation::While { .. } => None,
        })
    }

    /// The instruction that binds a register, and as which of its results; not those within bodies.
    pub fn definition(&self, register: Register) -> Option<(&Instruction, usize)> {
        self.instructions.iter().find_map(|instruction| {
            let mut results = instruction.results.iter();
            Some((instruction, results.position(|(result, _)| *result == register)?))
        })
    }

    /// Whether a register is an operand or a result.
    pub fn uses(&self, register: Register) -> bool {
        let mut found = false;
        self.for_each_used(&mut |operand| found |= operand.register() == Some(register));
        found
    }

    /// Whether it has a loop.
    pub fn has_loops(&self) -> bool {
        self.walk().any(|instruction| matches!(instruction.operation, Operation::While { .. }))
    }

    /// Whether it has a check.
    pub fn has_checks(&self) -> bool {
        self.walk().any(|instruction| matches!(instruction.operation, Operation::Check(..)))
    }

    /// How many branches and loops stand in each other at most.
    pub fn depth(&self) -> usize {
        let of = |instruction: &Instruction| {
            let mut deepest = 0;
            let mut visit = |body: &Code| deepest = deepest.max(body.depth() + 1);
            instruction.operation.for_each_body(&mut visit);
            deepest
        };
        self.instructions.iter().map(of).max().unwrap_or(0)
    }

    /// The first register from which on none is bound in the code. What is given to it may have others.
    pub fn next_register(&self) -> Register {
        let mut next = 0;
        for instruction in self.walk() {
            let results = instruction.results.iter().map(|(Register(number), _)| number + 1);
            next = results.fold(next, u32::max);
            instruction
                .operation
                .for_each_bound(&mut |register, _| next = next.max(register.0 + 1));
        }
        Register(next)
    }
}

impl Operand {
    /// The register, if it is no constant.
    pub fn register(self) -> Option<Register> {
        match self {
            Operand::Register(register) => Some(register),
            Operand::Scalar(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{Code, Operand, Register, parse_code};
    use crate::text::Reader;

    /// A loop with a conditional in it, and code on both sides.
    fn code() -> Code {
        let text = "r1: i64 = neg r0\n\
                    r2: i64 = while (r3: i64 = r1)\n  \
                      r4: bool = lt r3 r0\n  \
                      yield r4\n\
                    do\n  \
                      check r4 index\n  \
                      r5: i64 = if r4\n    \
                        r9: i64 = read a7 r3\n    \
                        yield r9\n  \
                      else\n    \
                        yield r3\n  \
                      yield r5\n\
                    r6: i64 = read a8\n\
                    yield r2 r6\n";
        parse_code(&mut Reader::new(text).expect("words")).unwrap_or_else(|error| panic!("{error}"))
    }

    fn registers(visit: impl Fn(&mut dyn FnMut(&Operand))) -> Vec<u32> {
        let mut found = Vec::new();
        visit(&mut |operand| found.extend(operand.register().map(|Register(number)| number)));
        found
    }

    #[test]
    fn instructions_come_before_those_in_their_bodies() {
        let code = code();
        let bound = |at: &crate::code::Instruction| at.results.first().map(|(at, _)| at.0);
        let all: Vec<Option<u32>> = code.walk().map(bound).collect();
        assert_eq!(all, [Some(1), Some(2), Some(4), None, Some(5), Some(9), Some(6)]);
        let mut copy = code.clone();
        let mut mutable = Vec::new();
        copy.walk_mut(&mut |at| mutable.push(bound(at)));
        assert_eq!(all, mutable);
    }

    #[test]
    fn operands_are_visited_in_the_order_of_the_text() {
        let code = code();
        let all = [0, 1, 3, 0, 4, 4, 4, 3, 9, 3, 5, 2, 6];
        assert_eq!(registers(|visit| code.for_each_used(visit)), all);
        let repetition = &code.instructions[1].operation;
        assert_eq!(registers(|visit| repetition.for_each_operand(visit)), [1]);
        assert_eq!(registers(|visit| repetition.for_each_used(visit)), all[1..11]);
    }

    #[test]
    fn renaming_reaches_everything() {
        let mut code = code();
        code.for_each_used_mut(&mut |operand| *operand = Operand::Register(Register(70)));
        assert!(registers(|visit| code.for_each_used(visit)).iter().all(|&number| number == 70));
    }

    #[test]
    fn the_next_register_is_above_all_that_are_bound() {
        assert_eq!(code().next_register(), Register(10));
        assert_eq!(Code::default().next_register(), Register(0));
    }

    #[test]
    fn reads_loops_and_checks_are_found_within() {
        let code = code();
        assert_eq!(code.reads().map(|var| var.0).collect::<Vec<_>>(), [7, 8]);
        assert!(code.has_loops() && code.has_checks());
        assert!(!Code::default().has_loops() && !Code::default().has_checks());
    }
}
