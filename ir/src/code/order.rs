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
/// Only straight code is compared, instruction by instruction.
pub fn is_in_order(key: Yielded<'_>, sent: Yielded<'_>, order: Var) -> bool {
    let count = key.indices.len();
    if count == 0 || sent.indices.len() != count {
        return false;
    }
    // The indices have the first numbers, the place the one behind them.
    let place = count as u32;
    let mut values = Values { first: place + 1, known: Vec::new() };
    let mut of_key: Numbers = (0..).zip(key.indices).map(|(at, index)| (*index, at)).collect();
    of_key[count - 1].1 = place;
    let mut checked = Vec::new();
    for instruction in &key.code.instructions {
        match values.canonical(instruction, &of_key) {
            Some(Operation::Check(condition, kind)) => checked.push((condition, kind)),
            Some(operation) => values.number(instruction, operation, &mut of_key),
            None => return false,
        }
    }
    let mut of_sent: Numbers = (0..).zip(sent.indices).map(|(at, index)| (*index, at)).collect();
    for instruction in &sent.code.instructions {
        match values.canonical(instruction, &of_sent) {
            Some(Operation::Check(condition, kind)) => {
                if kind != FaultKind::IndexOutOfRange && !checked.contains(&(condition, kind)) {
                    return false;
                }
            }
            Some(Operation::Read(array, indices)) if array == order => {
                let stored = (count - indices.len().min(count)) as u32;
                let own = (stored..place).map(|at| Operand::Register(Register(at)));
                let [(result, _)] = instruction.results[..] else { return false };
                if indices.is_empty() || !own.eq(indices) {
                    return false;
                }
                of_sent.push((result, place));
            }
            Some(operation) => values.number(instruction, operation, &mut of_sent),
            None => return false,
        }
    }
    match (renamed(key.value, &of_key), renamed(sent.value, &of_sent)) {
        (Some(key), Some(sent)) => key == sent,
        (None, _) | (_, None) => false,
    }
}

/// The numbers of registers; equal values have equal numbers.
type Numbers = Vec<(Register, u32)>;

/// The values that were computed so far.
struct Values {
    /// The number of the first.
    first: u32,
    /// How each is computed, of numbers in place of registers.
    known: Vec<Operation>,
}

impl Values {
    /// An instruction on numbers, if it is a simple one.
    fn canonical(&self, instruction: &Instruction, numbers: &Numbers) -> Option<Operation> {
        let all = |operands: &[Operand]| {
            operands.iter().map(|operand| renamed(*operand, numbers)).collect::<Option<Vec<_>>>()
        };
        Some(match &instruction.operation {
            Operation::Scalar(op, operands) => Operation::Scalar(*op, all(operands)?),
            Operation::Random(kind, operands) => Operation::Random(*kind, all(operands)?),
            Operation::Read(array, indices) => Operation::Read(*array, all(indices)?),
            Operation::Check(condition, kind) => {
                Operation::Check(renamed(*condition, numbers)?, *kind)
            }
            Operation::If { .. } | Operation::While { .. } => return None,
        })
    }

    /// Gives the result of an instruction its number.
    fn number(&mut self, instruction: &Instruction, operation: Operation, numbers: &mut Numbers) {
        let known = self.known.iter().position(|known| *known == operation);
        let at = known.unwrap_or_else(|| {
            self.known.push(operation);
            self.known.len() - 1
        });
        for (result, _) in &instruction.results {
            numbers.push((*result, self.first + at as u32));
        }
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
