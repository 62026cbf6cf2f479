//! Whether code brings into an order what the order was made of.

use super::{Code, Instruction, Operand, Operation, Register};
use crate::flat::Var;
use crate::{FaultKind, Scalar};

/// What code yields at a point.
#[derive(Clone, Copy, Debug)]
pub struct Yielded<'a> {
    /// The registers that hold the point.
    pub indices: &'a [Register],
    /// The code.
    pub code: &'a Code,
    /// What it yields.
    pub value: Operand,
}

/// Whether `sent` is, at each point, what `key` is at the point that `order` says: the place along the last
/// dimension is read from the order, and the same is computed there. What `sent` checks holds then, if `order`
/// has been made of these keys: a place in an order is in range, and what the keys check has been checked.
///
/// Code without loops is compared, instruction by instruction; a value may be computed within a side of a
/// conditional in one and before it in the other.
pub fn is_in_order(key: Yielded<'_>, sent: Yielded<'_>, order: Var) -> bool {
    let count = key.indices.len();
    if count == 0 || sent.indices.len() != count {
        return false;
    }
    // The indices have the first numbers, the place the one behind them.
    let place = count as u32;
    let mut values = Values { first: place + 1, known: Vec::new(), order: None };
    let mut of_key: Numbers = (0..).zip(key.indices).map(|(at, index)| (*index, at)).collect();
    of_key[count - 1].1 = place;
    let mut checked: Vec<Checked> = Vec::new();
    let keep = &mut |check: Checked| {
        checked.push(check);
        true
    };
    if !values.code(key.code, &mut of_key, &[], keep) {
        return false;
    }
    values.order = Some((order, place));
    let mut of_sent: Numbers = (0..).zip(sent.indices).map(|(at, index)| (*index, at)).collect();
    let holds = &mut |check: Checked| {
        check.kind == FaultKind::IndexOutOfRange
            || checked.iter().any(|checked| checked.says(&check))
    };
    if !values.code(sent.code, &mut of_sent, &[], holds) {
        return false;
    }
    match (renamed(key.value, &of_key), renamed(sent.value, &of_sent)) {
        (Some(key), Some(sent)) => key == sent,
        (None, _) | (_, None) => false,
    }
}

/// The numbers of registers; equal values have equal numbers.
type Numbers = Vec<(Register, u32)>;

/// A check, and the sides of conditionals that it stands in: their conditions, and whether these hold there.
struct Checked {
    condition: Operand,
    kind: FaultKind,
    within: Vec<(Operand, bool)>,
}

impl Checked {
    /// Whether another check holds wherever this one does.
    fn says(&self, other: &Checked) -> bool {
        (self.condition, self.kind) == (other.condition, other.kind)
            && self.within.iter().all(|side| other.within.contains(side))
    }
}

/// The values that were computed so far.
struct Values {
    /// The number of the first.
    first: u32,
    /// How each is computed, of numbers in place of registers.
    known: Vec<Operation>,
    /// The order, and the number of the place that is read from it, in code that reads it.
    order: Option<(Var, u32)>,
}

impl Values {
    /// Gives the results of some code numbers, where it is simple and `check` agrees to its checks.
    fn code(
        &mut self,
        code: &Code,
        numbers: &mut Numbers,
        within: &[(Operand, bool)],
        check: &mut dyn FnMut(Checked) -> bool,
    ) -> bool {
        code.instructions.iter().all(|instruction| {
            self.instruction(instruction, numbers, within, check).is_some_and(|agreed| agreed)
        })
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        numbers: &mut Numbers,
        within: &[(Operand, bool)],
        check: &mut dyn FnMut(Checked) -> bool,
    ) -> Option<bool> {
        let all = |operands: &[Operand], numbers: &Numbers| {
            operands.iter().map(|operand| renamed(*operand, numbers)).collect::<Option<Vec<_>>>()
        };
        let operation = match &instruction.operation {
            Operation::Scalar(op, operands) => Operation::Scalar(*op, all(operands, numbers)?),
            Operation::Random(kind, operands) => Operation::Random(*kind, all(operands, numbers)?),
            Operation::Read(array, indices) => {
                let indices = all(indices, numbers)?;
                if let Some((order, place)) = self.order
                    && order == *array
                {
                    let own = (place.saturating_sub(indices.len() as u32)..place)
                        .map(|at| Operand::Register(Register(at)));
                    let [(result, _)] = instruction.results[..] else { return None };
                    if indices.is_empty() || !own.eq(indices) {
                        return None;
                    }
                    numbers.push((result, place));
                    return Some(true);
                }
                Operation::Read(*array, indices)
            }
            Operation::Check(condition, kind) => {
                let (condition, within) = (renamed(*condition, numbers)?, within.to_vec());
                return Some(check(Checked { condition, kind: *kind, within }));
            }
            Operation::If { condition, then, otherwise } => {
                let condition = renamed(*condition, numbers)?;
                for (side, holds) in [(then, true), (otherwise, false)] {
                    let within = [within, &[(condition, holds)]].concat();
                    if !self.code(side, numbers, &within, check) {
                        return None;
                    }
                }
                let yields = |result: &Operand, numbers: &Numbers| {
                    let results = vec![renamed(*result, numbers)?];
                    Some(Code { instructions: Vec::new(), results })
                };
                for (at, &(result, _)) in instruction.results.iter().enumerate() {
                    let then = yields(&then.results[at], numbers)?;
                    let otherwise = yields(&otherwise.results[at], numbers)?;
                    let chosen = Operation::If { condition, then, otherwise };
                    let number = self.number(chosen);
                    numbers.push((result, number));
                }
                return Some(true);
            }
            Operation::While { .. } => return None,
        };
        let [(result, _)] = instruction.results[..] else { return None };
        let number = self.number(operation);
        numbers.push((result, number));
        Some(true)
    }

    /// The number of what is computed so.
    fn number(&mut self, operation: Operation) -> u32 {
        let known = self.known.iter().position(|known| *known == operation);
        let at = known.unwrap_or_else(|| {
            self.known.push(operation);
            self.known.len() - 1
        });
        self.first + at as u32
    }
}

/// An operand with the number of its register. Constants are compared as numbers, so none is -0.0, which would
/// be 0.0.
fn renamed(operand: Operand, numbers: &Numbers) -> Option<Operand> {
    match operand {
        Operand::Register(register) => {
            let (_, number) = numbers.iter().find(|(known, _)| *known == register)?;
            Some(Operand::Register(Register(*number)))
        }
        Operand::Scalar(scalar) => (!is_negative_zero(scalar)).then_some(operand),
    }
}

fn is_negative_zero(scalar: Scalar) -> bool {
    match scalar {
        Scalar::F32(value) => value == 0.0 && value.is_sign_negative(),
        Scalar::F64(value) => value == 0.0 && value.is_sign_negative(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::{self, Statement};

    /// Whether the second statement of a program brings the keys of the first into their order.
    fn check(text: &str) -> bool {
        let program = flat::parse(text).expect("a program");
        let [sort, sent, ..] = &program.body.statements[..] else { panic!("two statements") };
        let thunk = |statement: &Statement| match &statement.operation {
            flat::Operation::Sort { thunk, .. } | flat::Operation::Map { thunk, .. } => {
                thunk.clone()
            }
            other => panic!("{other:?}"),
        };
        let (key, of_sent) = (thunk(sort), thunk(sent));
        let yielded = |thunk: &'_ super::super::Thunk| thunk.code.results[0];
        is_in_order(
            Yielded { indices: &key.indices, code: &key.code, value: yielded(&key) },
            Yielded { indices: &of_sent.indices, code: &of_sent.code, value: yielded(&of_sent) },
            sort.results[0],
        )
    }

    fn program(key: &str, sent: &str) -> String {
        format!(
            "input a1: [a0]f64\ninput a2: [a0]f64\na3: [a0]i64 = sort [a0] (r0)\n{key}\
             a4: [a0]f64 = map [a0] (r0)\n  r1: i64 = read a3 r0\n{sent}output a4: [a0]f64\n"
        )
    }

    const DOUBLED: &str = "  r5: f64 = read a1 r0\n  r6: f64 = mul r5 2.0f64\n  yield r6\n";

    #[test]
    fn the_same_of_the_place() {
        let key = "  r1: f64 = read a1 r0\n  yield r1\n";
        assert!(check(&program(key, "  r2: f64 = read a1 r1\n  yield r2\n")));
        let checked = "  r2: i64 = read a0\n  r3: bool = lt r1 r2\n  check r3 index\n  \
                       r4: f64 = read a1 r1\n  yield r4\n";
        assert!(check(&program(key, checked)));
        let doubled = "  r2: f64 = read a1 r1\n  r3: f64 = mul r2 2.0f64\n  yield r3\n";
        assert!(check(&program(DOUBLED, doubled)));
    }

    #[test]
    fn something_else() {
        let key = "  r1: f64 = read a1 r0\n  yield r1\n";
        for sent in [
            "  r2: f64 = read a2 r1\n  yield r2\n",
            "  r2: f64 = read a1 r0\n  yield r2\n",
            "  r2: f64 = read a1 r1\n  r3: f64 = mul r2 2.0f64\n  yield r3\n",
            "  r2: i64 = read a3 r1\n  r3: f64 = read a1 r2\n  yield r3\n",
            "  r2: i64 = sub r1 1i64\n  r3: f64 = read a1 r2\n  yield r3\n",
            "  r2: f64 = read a1 r1\n  r3: bool = lt r2 1.0f64\n  check r3 assert\n  yield r2\n",
        ] {
            assert!(!check(&program(key, sent)), "{sent}");
        }
        for sent in [
            "  r2: f64 = read a1 r1\n  yield r2\n",
            "  r2: f64 = read a1 r1\n  r3: f64 = mul r2 3.0f64\n  yield r3\n",
            "  r2: f64 = read a1 r0\n  r3: f64 = mul r2 2.0f64\n  yield r3\n",
        ] {
            assert!(!check(&program(DOUBLED, sent)), "{sent}");
        }
    }

    /// The two arrays one after the other, as keys and in order.
    const BOTH: &str = "  r1: i64 = read a5\n  r2: bool = lt r0 r1\n  r3: i64 = sub r0 r1\n  \
                        r6: f64 = if r2\n    r4: f64 = read a1 r0\n    yield r4\n  else\n    \
                        r5: f64 = read a2 r3\n    yield r5\n  yield r6\n";

    #[test]
    fn conditionals() {
        let of =
            |sent: &str| program(BOTH, sent).replacen("input a1", "input a5: i64\ninput a1", 1);
        let sent = "  r6: i64 = read a5\n  r7: bool = lt r1 r6\n  r11: f64 = if r7\n    \
                    r8: f64 = read a1 r1\n    yield r8\n  else\n    r9: i64 = sub r1 r6\n    \
                    r10: f64 = read a2 r9\n    yield r10\n  yield r11\n";
        assert!(check(&of(sent)));
        let checked = sent.replace("else\n", "else\n    check r7 index\n");
        assert!(check(&of(&checked)));
        for (from, to) in [
            ("a2 r9", "a1 r9"),
            ("sub r1 r6", "sub r0 r6"),
            ("lt r1 r6", "le r1 r6"),
            ("yield r8\n", "yield 0.0f64\n"),
            ("else\n", "else\n    check r7 assert\n"),
        ] {
            assert!(!check(&of(&sent.replace(from, to))), "{to}");
        }
    }

    #[test]
    fn checks_in_sides() {
        let of = |text: &str, place: &str| text.replace("r9", place);
        let text = "  r2: bool = lt r9 5i64\n  r3: f64 = read a1 r9\n  r4: bool = lt r3 1.0f64\n  \
                    r5: f64 = if r2\n    check r4 assert\n    yield r3\n  else\n    yield 2.0f64\n  \
                    yield r5\n";
        assert!(check(&program(&of(text, "r0"), &of(text, "r1"))));
        // In the other side, and in both.
        let moved = text
            .replace("    check r4 assert\n", "")
            .replace("else\n", "else\n    check r4 assert\n");
        assert!(!check(&program(&of(&moved, "r0"), &of(text, "r1"))));
        let before = text
            .replace("    check r4 assert\n", "")
            .replace("  r5: f64 = if", "  check r4 assert\n  r5: f64 = if");
        assert!(check(&program(&of(&before, "r0"), &of(text, "r1"))));
        assert!(!check(&program(&of(text, "r0"), &of(&before, "r1"))));
    }

    #[test]
    fn rows() {
        let rows = |place: &str| {
            format!(
                "input a1: [a0][a9]f64\na3: [a0][a9]i64 = sort [a0][a9] (r0 r1)\n  \
                 r2: f64 = read a1 r0 r1\n  yield r2\na4: [a0][a9]f64 = map [a0][a9] (r0 r1)\n  \
                 r2: i64 = read a3 {place}\n  r3: f64 = read a1 r0 r2\n  yield r3\n\
                 output a4: [a0][a9]f64\n"
            )
        };
        assert!(check(&rows("r0 r1")));
        assert!(!check(&rows("r1 r0")));
    }
}
