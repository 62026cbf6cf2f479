//! Loops whose turns are known before the code runs are written out.
//!
//! Note [Known turns]. A loop whose condition depends on constants alone, such as `for i < 64`, is a row of
//! turns. Written out, all that depends on the counter alone is a constant in each turn: conditions on it
//! choose a side, indices made of it are the same for all lanes, and no state has to be kept from turn to
//! turn. So code is evaluated here as far as its constants go. A loop stays as it is if its turns
//! are not known, if a loop that stays is in it, or if all that is written out were too much for
//! the compiler that reads it.

use std::collections::BTreeMap;

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::math::{self, Work};
use weft_ir::{Scalar, ScalarOp, ScalarType};

/// The most that code of lanes may weigh when its loops are written out. A compiler takes somewhat less than
/// a second for as much.
pub(crate) const MOST: usize = 2500;

/// The most that a loop in a side of a conditional may weigh when it is written out in code of lanes. What has no loop
/// is computed for all lanes, also where few take that side.
pub(crate) const MOST_IN_SIDES: usize = 256;

/// What a transcendental function weighs; an addition weighs 1.
const FUNCTION: usize = 40;

/// What one weighs that has a slow path, and is written twice for it.
const FUNCTION_TWICE: usize = 150;

/// What an integer division weighs.
const DIVISION: usize = 8;

/// What a shift of integers of 8 or 16 bits weighs: lanes are made wider for it and narrow again.
const NARROW_SHIFT: usize = 16;

/// What a read or a check weighs.
const GUARDED: usize = 2;

/// How many operations are looked at, also in vain, for each that may be written.
const LOOKS: usize = 20;

/// Code and what it yields, with the loops written out whose turns are known, as long as all weighs no more
/// than `most`, and each in a side of a conditional no more than `most_in_sides` (an addition weighs 1); nothing if
/// there are none. Registers from `free` on are used by nobody.
pub fn unroll(
    code: &Code,
    results: &[Operand],
    free: Register,
    most: usize,
    most_in_sides: usize,
) -> Option<(Code, Vec<Operand>)> {
    if !code.has_loops() {
        return None;
    }
    let Register(next) = free;
    let (mut copy, known) = (Code::default(), BTreeMap::new());
    let mut rewriter = Rewriter {
        known,
        next,
        copies: 0,
        sides: 0,
        most,
        most_in_sides,
        size: 0,
        looks: 0,
        unrolled: 0,
    };
    let written = rewriter.code(code, &mut copy.instructions);
    copy.results = written.expect("only what is within a loop can make it stay");
    let results = rewriter.operands(results);
    (rewriter.unrolled > 0).then_some((copy, results))
}

/// Writes code once more.
struct Rewriter {
    /// What the registers seen so far are now.
    known: BTreeMap<Register, Operand>,
    /// The number of the next new register.
    next: u32,
    /// How many loops are being written out around the present place. Their registers get new names.
    copies: usize,
    /// In how many sides of conditionals the present place is.
    sides: usize,
    /// The most that all may weigh.
    most: usize,
    /// The most that a loop in a side may weigh.
    most_in_sides: usize,
    /// What has been written weighs.
    size: usize,
    /// How many operations have been looked at.
    looks: usize,
    /// How many loops have been written out.
    unrolled: usize,
}

/// A loop must stay.
#[derive(Debug)]
struct Stays;

impl Rewriter {
    /// Appends the instructions of some code; its results. Outside of loops that are written out it
    /// always succeeds.
    fn code(&mut self, code: &Code, to: &mut Vec<Instruction>) -> Result<Vec<Operand>, Stays> {
        for instruction in &code.instructions {
            self.look()?;
            self.instruction(instruction, to)?;
        }
        Ok(self.operands(&code.results))
    }

    /// Counts something that is looked at, which may be too much.
    fn look(&mut self) -> Result<(), Stays> {
        self.looks += 1;
        let too_much = self.size > self.most || self.looks > LOOKS * self.most;
        if self.copies > 0 && too_much { Err(Stays) } else { Ok(()) }
    }

    /// The same as code of its own.
    fn inner(&mut self, code: &Code) -> Result<Code, Stays> {
        let mut instructions = Vec::new();
        let results = self.code(code, &mut instructions)?;
        Ok(Code { instructions, results })
    }

    fn operands(&self, operands: &[Operand]) -> Vec<Operand> {
        operands.iter().map(|operand| self.operand(*operand)).collect()
    }

    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Scalar(_) => operand,
            Operand::Register(register) => self.known.get(&register).copied().unwrap_or(operand),
        }
    }

    /// The registers that hold what was held by these.
    fn bind(&mut self, registers: &[(Register, ScalarType)]) -> Vec<(Register, ScalarType)> {
        let bound: Vec<(Register, ScalarType)> = registers
            .iter()
            .map(|&(register, ty)| match self.copies {
                0 => (register, ty),
                _ => {
                    self.next += 1;
                    (Register(self.next - 1), ty)
                }
            })
            .collect();
        for ((register, _), (new, _)) in registers.iter().zip(&bound) {
            self.known.insert(*register, Operand::Register(*new));
        }
        bound
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        to: &mut Vec<Instruction>,
    ) -> Result<(), Stays> {
        let results = &instruction.results;
        let operation = match &instruction.operation {
            Operation::Scalar(op, operands) => {
                let operands = self.operands(operands);
                if let Some(simple) = simplified(*op, &operands) {
                    self.known.insert(results[0].0, simple);
                    return Ok(());
                }
                self.size += weight(*op, results[0].1);
                Operation::Scalar(*op, operands)
            }
            Operation::Random(kind, operands) => {
                self.size += FUNCTION;
                Operation::Random(*kind, self.operands(operands))
            }
            Operation::Read(array, indices) => {
                self.size += GUARDED;
                Operation::Read(*array, self.operands(indices))
            }
            Operation::Check(condition, kind) => {
                let condition = self.operand(*condition);
                if condition == Operand::Scalar(Scalar::Bool(true)) {
                    return Ok(());
                }
                self.size += GUARDED;
                Operation::Check(condition, *kind)
            }
            Operation::If { condition, then, otherwise } => {
                let condition = self.operand(*condition);
                if let Operand::Scalar(holds) = condition {
                    let side = if holds == Scalar::Bool(true) { then } else { otherwise };
                    let values = self.code(side, to)?;
                    self.stand_for(results, &values);
                    return Ok(());
                }
                self.sides += 1;
                let (then, otherwise) = (self.inner(then), self.inner(otherwise));
                self.sides -= 1;
                let (then, otherwise) = (then?, otherwise?);
                Operation::If { condition, then, otherwise }
            }
            Operation::While { state, initial, condition, body } => {
                let initial = self.operands(initial);
                let (size, copies, unrolled) = (self.size, self.copies, self.unrolled);
                self.copies += 1;
                let turns = self.turns(state, &initial, condition, body);
                self.copies = copies;
                let fits = self.sides == 0 || self.size - size <= self.most_in_sides;
                if let Ok((instructions, last)) = turns
                    && fits
                {
                    self.unrolled += 1;
                    to.extend(instructions);
                    self.stand_for(results, &last);
                    return Ok(());
                }
                if copies > 0 {
                    return Err(Stays);
                }
                // What was written out of loops within it is not written.
                (self.size, self.unrolled) = (size, unrolled);
                let state = self.bind(state);
                let (condition, body) = (self.inner(condition)?, self.inner(body)?);
                Operation::While { state, initial, condition, body }
            }
        };
        let results = self.bind(results);
        to.push(Instruction { results, operation, span: instruction.span });
        Ok(())
    }

    /// All turns of a loop, and its last state.
    fn turns(
        &mut self,
        state: &[(Register, ScalarType)],
        initial: &[Operand],
        condition: &Code,
        body: &Code,
    ) -> Result<(Vec<Instruction>, Vec<Operand>), Stays> {
        let (mut instructions, mut values) = (Vec::new(), initial.to_vec());
        loop {
            self.stand_for(state, &values);
            match self.code(condition, &mut instructions)?[..] {
                [Operand::Scalar(Scalar::Bool(false))] => return Ok((instructions, values)),
                [Operand::Scalar(Scalar::Bool(true))] => {}
                _ => return Err(Stays),
            }
            values = self.code(body, &mut instructions)?;
            // A turn may have no operations at all.
            self.look()?;
        }
    }

    fn stand_for(&mut self, registers: &[(Register, ScalarType)], values: &[Operand]) {
        for ((register, _), value) in registers.iter().zip(values) {
            self.known.insert(*register, *value);
        }
    }
}

/// What an operator yields if that can be said without computing anything.
fn simplified(op: ScalarOp, operands: &[Operand]) -> Option<Operand> {
    let constants: Option<Vec<Scalar>> = operands
        .iter()
        .map(|operand| match operand {
            Operand::Scalar(scalar) => Some(*scalar),
            Operand::Register(_) => None,
        })
        .collect();
    if let Some(constants) = constants {
        // One that fails is left for the run to find.
        return math::eval(op, &constants).ok().map(Operand::Scalar);
    }
    let is = |operand: Operand, value: bool| operand == Operand::Scalar(Scalar::Bool(value));
    match (op, operands) {
        (ScalarOp::And, &[a, b]) | (ScalarOp::Or, &[a, b]) => {
            // True is neutral to one of them, and decides the other.
            let neutral = op == ScalarOp::And;
            match (a, b) {
                (a, b) if is(a, neutral) => Some(b),
                (a, b) if is(b, neutral) => Some(a),
                (a, b) if is(a, !neutral) || is(b, !neutral) => {
                    Some(Operand::Scalar(Scalar::Bool(!neutral)))
                }
                (_, _) => None,
            }
        }
        (ScalarOp::Select, &[condition, a, _]) if is(condition, true) => Some(a),
        (ScalarOp::Select, &[condition, _, b]) if is(condition, false) => Some(b),
        (_, _) => None,
    }
}

/// What an operator with a result of that type weighs.
fn weight(op: ScalarOp, ty: ScalarType) -> usize {
    match math::work(op) {
        Work::Periodic => FUNCTION_TWICE,
        Work::Function => FUNCTION,
        Work::Several if ty.is_float() => FUNCTION,
        Work::Division | Work::Several => DIVISION,
        Work::Simple if matches!(op, ScalarOp::Shl | ScalarOp::Shr) && ty.bytes() < 4 => {
            NARROW_SHIFT
        }
        Work::Simple | Work::Quotient => 1,
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::code::parse_code;
    use weft_ir::text::Reader;

    use super::{MOST, MOST_IN_SIDES, unroll};

    /// The code with its loops written out; nothing if none are.
    fn written_out(text: &str) -> Option<String> {
        let mut reader = Reader::new(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let code = parse_code(&mut reader).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (code, _) = unroll(&code, &[], code.next_register(), MOST, MOST_IN_SIDES)?;
        Some(code.to_string())
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(written_out(text).as_deref().map(str::trim), Some(expect.trim()));
    }

    #[track_caller]
    fn check_stays(text: &str) {
        assert_eq!(written_out(text), None);
    }

    #[test]
    fn heavy_loops_in_sides_stay() {
        let side = |turns: usize| {
            format!(
                "r1: bool = gt r0 0f64
r2: f64 = if r1
  r3: i64, r4: f64 = while (r5: i64 = 0i64, r6: f64 = r0)
    r7: bool = lt r5 {turns}i64
    yield r7
  do
    r8: i64 = add r5 1i64
    r9: f64 = mul r6 r0
    yield r8 r9
  yield r4
else
  yield 0f64
yield r2
"
            )
        };
        check_stays(&side(1 + MOST_IN_SIDES));
        let written = written_out(&side(MOST_IN_SIDES)).expect("written out");
        assert_eq!(written.matches("= mul").count(), MOST_IN_SIDES);
    }

    #[test]
    fn what_depends_on_the_counter_alone_is_constant() {
        check(
            "r1: i64, r2: i64 = while (r3: i64 = 1i64, r4: i64 = r0)
  r5: bool = le r3 3i64
  yield r5
do
  r6: bool = lt r3 2i64
  r7: i64 = if r6
    r8: i64 = neg r4
    yield r8
  else
    r9: i64 = mul r3 10i64
    r10: i64 = add r4 r9
    yield r10
  r11: i64 = add r3 1i64
  yield r11 r7
yield r1 r2
",
            "r12: i64 = neg r0
r13: i64 = add r12 20i64
r14: i64 = add r13 30i64
yield 4i64 r14",
        );
    }

    #[test]
    fn a_loop_within_is_written_out_in_each_turn() {
        check(
            "r1: i64, r2: i64 = while (r3: i64 = 0i64, r4: i64 = r0)
  r5: bool = lt r3 2i64
  yield r5
do
  r6: i64, r7: i64 = while (r8: i64 = 0i64, r9: i64 = r4)
    r10: bool = lt r8 r3
    yield r10
  do
    r11: i64 = add r8 1i64
    r12: i64 = neg r9
    yield r11 r12
  r13: i64 = add r3 1i64
  yield r13 r7
yield r2
",
            "r14: i64 = neg r0
yield r14",
        );
    }

    #[test]
    fn what_may_fail_stays_where_it_does() {
        check(
            "r1: i64, r2: i64 = while (r3: i64 = -1i64, r4: i64 = r0)
  r5: bool = lt r3 1i64
  yield r5
do
  r6: i64 = mod 7i64 r3
  r7: bool = ge r3 0i64
  check r7 index
  r8: i64 = add r4 r6
  r9: i64 = add r3 1i64
  yield r9 r8
yield r2
",
            "check false index
r10: i64 = add r0 0i64
r11: i64 = mod 7i64 0i64
r12: i64 = add r10 r11
yield r12",
        );
    }

    #[test]
    fn loops_without_an_end_stay() {
        check_stays(
            "r1: i64 = while (r2: i64 = 1i64)
  yield true
do
  yield r2
yield r1
",
        );
        check_stays(
            "r1: i64 = while (r2: i64 = 1i64)
  r3: bool = lt r2 r0
  yield r3
do
  r4: i64 = add r2 1i64
  yield r4
yield r1
",
        );
    }

    #[test]
    fn a_loop_stays_whose_first_turns_alone_are_known() {
        // The loop within is written out in the first turn, where it begins with a constant; then nobody knows
        // what the state is.
        check_stays(
            "r1: i64 = while (r2: i64 = 0i64)
  r3: bool = lt r2 10i64
  yield r3
do
  r4: i64 = if r0
    r5: i64 = while (r6: i64 = r2)
      r7: bool = lt r6 20i64
      yield r7
    do
      r8: i64 = add r6 1i64
      yield r8
    yield r5
  else
    r9: i64 = add r2 1i64
    yield r9
  yield r4
yield r1
",
        );
    }

    #[test]
    fn loops_of_too_many_turns_stay() {
        let text = "r1: i64, r2: i64 = while (r3: i64 = 0i64, r4: i64 = r0)
  r5: bool = lt r3 10000i64
  yield r5
do
  r6: i64 = mul r4 r4
  r7: i64 = add r3 1i64
  yield r7 r6
yield r2
";
        check_stays(text);
        assert!(written_out(&text.replace("10000", "1000")).is_some());
    }
}
