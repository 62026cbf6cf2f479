//! An order of instructions that depends on what they compute only.
//!
//! Instructions stand in the order in which their results are first needed, depth first from the
//! results of the code. So two codes that differ in the order of independent instructions become the
//! same (and with registers and arrays numbered by first use, equal). What checks make safe stays
//! behind them: a read, and whatever may fail, needs all checks before it.

use std::collections::BTreeMap;

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::{ScalarType, math};

use crate::hash::{Digest, text_hash};

/// Orders code whose results, beside its own, are these operands.
pub fn order(code: &mut Code, results: &[Operand]) {
    for instruction in &mut code.instructions {
        instruction.operation.for_each_body_mut(&mut |body| order(body, &[]));
    }
    let mut definers = BTreeMap::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        for (register, _) in &instruction.results {
            definers.insert(*register, at);
        }
    }
    let mut walk = Walk {
        instructions: &code.instructions,
        definers,
        hashes: BTreeMap::new(),
        placed: vec![false; code.instructions.len()],
        order: Vec::new(),
    };
    for operand in results.iter().chain(&code.results) {
        walk.operand(operand);
    }
    // Checks that guard nothing that is needed, and what nobody needs.
    walk.checks_before(code.instructions.len());
    for at in 0..code.instructions.len() {
        walk.place(at);
    }
    let order = walk.order;
    let mut instructions: Vec<Option<Instruction>> =
        std::mem::take(&mut code.instructions).into_iter().map(Some).collect();
    code.instructions =
        order.into_iter().map(|at| instructions[at].take().expect("each stands once")).collect();
}

struct Walk<'a> {
    instructions: &'a [Instruction],
    /// The instruction that defines each register.
    definers: BTreeMap<Register, usize>,
    /// What instructions compute, as far as it does not depend on names.
    hashes: BTreeMap<usize, Digest>,
    placed: Vec<bool>,
    order: Vec<usize>,
}

impl Walk<'_> {
    fn operand(&mut self, operand: &Operand) {
        if let Operand::Register(register) = operand
            && let Some(&at) = self.definers.get(register)
        {
            self.place(at);
        }
    }

    /// Places an instruction behind all that it needs.
    fn place(&mut self, at: usize) {
        if self.placed[at] {
            return;
        }
        // Marked first, as a check does not need itself.
        self.placed[at] = true;
        let instructions = self.instructions;
        let instruction = &instructions[at];
        if needs_checks(instruction) {
            self.checks_before(at);
        }
        instruction.operation.for_each_used(&mut |operand| self.operand(operand));
        self.order.push(at);
    }

    /// Places the checks that stand before an instruction.
    fn checks_before(&mut self, at: usize) {
        let mut checks: Vec<usize> = (0..at)
            .filter(|&at| matches!(self.instructions[at].operation, Operation::Check(..)))
            .filter(|&at| !self.placed[at])
            .collect();
        checks.sort_by_cached_key(|&at| self.hash(at));
        checks.into_iter().for_each(|at| self.place(at));
    }

    fn hash(&mut self, at: usize) -> Digest {
        if let Some(known) = self.hashes.get(&at) {
            return known.clone();
        }
        let instruction = &self.instructions[at];
        let types: Vec<ScalarType> = instruction.results.iter().map(|(_, ty)| *ty).collect();
        let operation = match &instruction.operation {
            Operation::Scalar(op, operands) => format!("{op:?} {}", self.all(operands)),
            Operation::Random(kind, operands) => format!("{kind:?} {}", self.all(operands)),
            Operation::Read(_, operands) => format!("read {}", self.all(operands)),
            Operation::Check(operand, kind) => {
                format!("check {kind} {}", self.all(std::slice::from_ref(operand)))
            }
            // Their inside is in order already; the names in it are left out.
            Operation::If { condition, then, otherwise } => format!(
                "if {} {} {}",
                self.all(std::slice::from_ref(condition)),
                then.instructions.len(),
                otherwise.instructions.len()
            ),
            Operation::While { initial, condition, body, .. } => format!(
                "while {} {} {}",
                self.all(initial),
                condition.instructions.len(),
                body.instructions.len()
            ),
        };
        let hash = text_hash(&[&operation, &format!("{types:?}")]);
        self.hashes.insert(at, hash.clone());
        hash
    }

    fn all(&mut self, operands: &[Operand]) -> String {
        let mut text = String::new();
        for operand in operands {
            text.push(' ');
            match operand {
                Operand::Scalar(scalar) => text.push_str(&format!("{scalar:?}")),
                Operand::Register(register) => match self.definers.get(register).copied() {
                    Some(at) => {
                        let results = &self.instructions[at].results;
                        let number = results.iter().position(|(found, _)| found == register);
                        text.push_str(&format!("{}.{number:?}", self.hash(at)));
                    }
                    // An index, or something of the code around: what it is called is not known.
                    None => text.push_str("given"),
                },
            }
        }
        text
    }
}

/// Whether an instruction may have to stand behind the checks before it.
fn needs_checks(instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::Scalar(op, _) => math::can_fail(*op, instruction.results[0].1),
        Operation::Random(..) | Operation::Check(..) => false,
        Operation::Read(..) | Operation::If { .. } | Operation::While { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::code::Code;
    use weft_ir::plan;

    use super::order;

    /// The body of a kernel over one array.
    fn body(text: &str) -> Code {
        let program = format!(
            "input a1: [a0]i64\nlaunch \"k\" [a0] (r0)\n{text}  store r9 to a2: [a0]i64\nend\noutput a2: [a0]i64\n"
        );
        let program = plan::parse(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        match &program.body.steps[0] {
            plan::Step::Launch(kernel) => {
                let mut code = kernel.body.clone();
                order(&mut code, &[]);
                code
            }
            other => panic!("{other:?} is no kernel"),
        }
    }

    /// The operators in order.
    fn names(code: &Code) -> Vec<String> {
        let operation = |text: String| text.split_whitespace().nth(3).unwrap_or("check").to_owned();
        code.instructions.iter().map(|instruction| operation(instruction.to_string())).collect()
    }

    #[test]
    fn independent_instructions_have_one_order() {
        let one = body(
            "  r1: i64 = read a1 r0\n  r2: i64 = neg r1\n  r3: i64 = abs r1\n  r9: i64 = sub r2 r3\n  yield r9\n",
        );
        let other = body(
            "  r1: i64 = read a1 r0\n  r3: i64 = abs r1\n  r2: i64 = neg r1\n  r9: i64 = sub r2 r3\n  yield r9\n",
        );
        assert_eq!(names(&one), names(&other));
        assert_eq!(names(&one), ["read", "neg", "abs", "sub"]);
    }

    #[test]
    fn checks_stay_before_what_they_guard() {
        let text = "  r1: bool = lt r0 5i64\n  r2: bool = gt r0 -1i64\n  check r1 index\n  check r2 index\n  r9: i64 = read a1 r0\n  yield r9\n";
        let one = body(text);
        let swapped =
            text.replace("check r1 index\n  check r2 index", "check r2 index\n  check r1 index");
        assert_eq!(names(&one), names(&body(&swapped)));
        assert_eq!(names(&one).last().map(String::as_str), Some("read"));
        assert_eq!(one.instructions.len(), 5);
    }

    #[test]
    fn what_nobody_needs_stays() {
        let code = body("  r1: i64 = neg r0\n  r9: i64 = abs r0\n  yield r9\n");
        assert_eq!(names(&code), ["abs", "neg"]);
    }
}
