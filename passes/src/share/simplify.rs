//! Operations whose results are known without running them: constants, exact algebra, the lengths
//! and elements of arrays whose making is known.
//!
//! Note [Errors in algebra]. A rule may drop an operand only if an error in it would not have been
//! seen: `x * 0` is not 0 where x fails. `and false x` and `select true x y` are, as in the language.

use weft_ir::nested::{Atom, Body, Operation, ScanForm, Var, free_variables};
use weft_ir::{Column, Scalar, ScalarOp, ScalarType, math};

/// What is known about variables.
#[derive(Default)]
pub(super) struct Facts {
    by_var: Vec<Fact>,
}

#[derive(Clone, Default)]
struct Fact {
    /// Its length, if it is an array.
    length: Option<Atom>,
    /// Another array that has always the same length, if there is one.
    as_long_as: Option<Var>,
    /// How the array is made, where that says what its elements are.
    making: Option<Making>,
}

#[derive(Clone)]
enum Making {
    Literal(Vec<Atom>),
    Constant(Column),
    Iota(Atom),
    Replicate(Atom, Atom),
    /// A part of another array.
    Index(Atom, Vec<Atom>),
}

impl Facts {
    pub(super) fn new(variables: u32) -> Facts {
        Facts { by_var: vec![Fact::default(); variables as usize] }
    }

    /// Notes what an operation says about its results.
    pub(super) fn note(&mut self, results: &[Var], operation: &Operation) {
        let mut fact = Fact::default();
        match operation {
            Operation::Iota(length) => {
                fact.length = Some(*length);
                fact.making = Some(Making::Iota(*length));
            }
            Operation::Replicate(length, value) => {
                fact.length = Some(*length);
                fact.making = Some(Making::Replicate(*length, *value));
            }
            Operation::Literal(atoms) => {
                fact.length = Some(integer(atoms.len()));
                fact.making = Some(Making::Literal(atoms.clone()));
            }
            Operation::Constant(column) => {
                fact.length = Some(integer(column.len()));
                fact.making = Some(Making::Constant(column.clone()));
            }
            Operation::Index(array, indices) => {
                fact.making = Some(Making::Index(*array, indices.clone()));
            }
            // These fail as a whole only if their arrays' lengths differ.
            Operation::Map(_, arrays)
            | Operation::SortOrder { keys: arrays, .. }
            | Operation::Scan { form: ScanForm::Inclusive | ScanForm::Exclusive, arrays, .. }
                if self.equally_long(arrays) =>
            {
                fact.length = self.length(arrays[0]);
                fact.as_long_as = match arrays[0] {
                    Atom::Var(var) => Some(self.by_var[var.0 as usize].as_long_as.unwrap_or(var)),
                    Atom::Scalar(_) => None,
                };
            }
            Operation::For { index, count, state, initial, body } => {
                for (at, var) in results.iter().enumerate() {
                    let fills = self.length(initial[at]) == Some(*count)
                        && replaces(body, at, state[at].0, *index);
                    if fills {
                        self.by_var[var.0 as usize] =
                            Fact { length: Some(*count), ..Fact::default() };
                    }
                }
                return;
            }
            _ => return,
        }
        for var in results {
            self.by_var[var.0 as usize] = fact.clone();
        }
    }

    fn length(&self, array: Atom) -> Option<Atom> {
        match array {
            Atom::Var(var) => self.by_var[var.0 as usize].length,
            Atom::Scalar(_) => None,
        }
    }

    fn making(&self, array: Atom) -> Option<&Making> {
        match array {
            Atom::Var(var) => self.by_var[var.0 as usize].making.as_ref(),
            Atom::Scalar(_) => None,
        }
    }

    /// The array that stands for all that are as long as this one.
    fn representative(&self, array: Atom) -> Atom {
        match array {
            Atom::Var(var) => Atom::Var(self.by_var[var.0 as usize].as_long_as.unwrap_or(var)),
            Atom::Scalar(_) => array,
        }
    }

    /// Whether the arrays are known to have one length.
    pub(super) fn equally_long(&self, arrays: &[Atom]) -> bool {
        let Some((first, rest)) = arrays.split_first() else { return false };
        rest.iter().all(|array| {
            self.representative(*array) == self.representative(*first)
                || self.length(*array).is_some() && self.length(*array) == self.length(*first)
        })
    }
}

/// Whether a turn replaces the element with its number in this part of the state, and nothing else of it: where there
/// are as many turns as elements, none is missing, and the array is as long as before.
fn replaces(body: &Body, at: usize, part: Var, turn: Var) -> bool {
    body.statements.iter().rev().any(|statement| {
        matches!(&statement.operation, Operation::Update { array, indices, .. }
            if *array == Atom::Var(part) && indices[..] == [Atom::Var(turn)])
            && Atom::Var(statement.results[0].0) == body.results[at]
    })
}

/// Leaves arrays out of a map whose elements it does not look at, where they are as long as the others.
pub(super) fn without_unread_arrays(operation: &mut Operation, facts: &Facts) {
    let Operation::Map(lambda, arrays) = operation else { return };
    if arrays.len() < 2 || !facts.equally_long(arrays) {
        return;
    }
    let read = free_variables(&[&lambda.body]);
    let mut wanted: Vec<bool> =
        lambda.params.iter().map(|(param, _)| read.contains(param)).collect();
    if !wanted.contains(&true) {
        wanted[0] = true;
    }
    let (mut of_params, mut of_arrays) = (wanted.iter(), wanted.iter());
    lambda.params.retain(|_| of_params.next() == Some(&true));
    arrays.retain(|_| of_arrays.next() == Some(&true));
}

/// The results of an operation, if they are known; else the operation may become a simpler one.
pub(super) fn simplify(operation: &mut Operation, facts: &Facts) -> Option<Vec<Atom>> {
    match operation {
        Operation::Scalar(op, atoms) => {
            if let (ScalarOp::Pow, &[base, Atom::Scalar(exponent)]) = (*op, &atoms[..])
                && is(exponent, 2)
            {
                // The same by the definition of powers, bit for bit.
                (*op, *atoms) = (ScalarOp::Mul, vec![base, base]);
            }
            scalar(*op, atoms).map(|atom| vec![atom])
        }
        Operation::Assert { condition: Atom::Scalar(Scalar::Bool(true)), values, .. } => {
            Some(values.clone())
        }
        Operation::For { count: Atom::Scalar(Scalar::I64(count)), initial, .. } if *count < 1 => {
            Some(initial.clone())
        }
        Operation::Length(array) => match facts.length(*array) {
            Some(length) => Some(vec![length]),
            None => {
                *array = facts.representative(*array);
                None
            }
        },
        Operation::Index(array, indices) => {
            // Every round goes on to an array that was made before.
            loop {
                match element(*array, indices, facts) {
                    Some((atom, used)) if used == indices.len() => return Some(vec![atom]),
                    Some((atom, used)) => {
                        *array = atom;
                        indices.drain(..used);
                    }
                    None => break,
                }
            }
            if let Some(Making::Index(whole, outer)) = facts.making(*array) {
                indices.splice(..0, outer.iter().copied());
                *array = *whole;
            }
            None
        }
        _ => None,
    }
}

/// What stands at the first indices, and how many of them it takes.
fn element(array: Atom, indices: &[Atom], facts: &Facts) -> Option<(Atom, usize)> {
    let Atom::Scalar(Scalar::I64(first)) = *indices.first()? else { return None };
    let first = usize::try_from(first).ok()?;
    match facts.making(array)? {
        Making::Literal(atoms) => atoms.get(first).map(|atom| (*atom, 1)),
        Making::Iota(length) => {
            is_below(first, *length).then_some((Atom::Scalar(Scalar::I64(first as i64)), 1))
        }
        Making::Replicate(length, value) => is_below(first, *length).then_some((*value, 1)),
        Making::Constant(column) => {
            let (mut column, mut at) = (column.clone(), first);
            for next in &indices[1..] {
                let Atom::Scalar(Scalar::I64(next)) = next else { return None };
                column = if at < column.len() { column.row(at)? } else { return None };
                at = usize::try_from(*next).ok()?;
            }
            if at >= column.len() {
                return None;
            }
            column.scalar(at).map(|scalar| (Atom::Scalar(scalar), indices.len()))
        }
        Making::Index(..) => None,
    }
}

fn is_below(index: usize, length: Atom) -> bool {
    matches!(length, Atom::Scalar(Scalar::I64(length)) if (index as i128) < i128::from(length))
}

fn integer(length: usize) -> Atom {
    Atom::Scalar(Scalar::I64(length as i64))
}

fn scalar(op: ScalarOp, atoms: &[Atom]) -> Option<Atom> {
    let constants: Option<Vec<Scalar>> = atoms
        .iter()
        .map(|atom| match atom {
            Atom::Scalar(scalar) => Some(*scalar),
            Atom::Var(_) => None,
        })
        .collect();
    if let Some(constants) = constants {
        return math::eval(op, &constants).ok().map(Atom::Scalar);
    }
    match (op, atoms) {
        (ScalarOp::Select, &[Atom::Scalar(Scalar::Bool(condition)), a, b]) => {
            Some(if condition { a } else { b })
        }
        (ScalarOp::And | ScalarOp::Or, &[Atom::Scalar(Scalar::Bool(first)), second]) => {
            // The value that decides alone is false for `And`.
            let decides = first == (op == ScalarOp::Or);
            Some(if decides { atoms[0] } else { second })
        }
        (ScalarOp::Min | ScalarOp::Max, &[a, b]) if a == b => Some(a),
        (op, &[a, Atom::Scalar(b)]) if is_neutral_right(op, b) => Some(a),
        (op, &[Atom::Scalar(a), b]) if is_neutral_left(op, a) => Some(b),
        _ => None,
    }
}

/// Whether `x op b` is x, bit for bit.
fn is_neutral_right(op: ScalarOp, b: Scalar) -> bool {
    match op {
        ScalarOp::Mul => is(b, 1),
        // -0.0 + 0.0 is 0.0, but -0.0 - 0.0 is -0.0.
        ScalarOp::Add if b.ty().is_float() => b.same_bits(negative_zero(b.ty())),
        ScalarOp::Add | ScalarOp::Sub => is(b, 0),
        ScalarOp::Div => is(b, 1),
        // Those of floats round.
        ScalarOp::FloorDiv | ScalarOp::Quot => b.ty().is_int() && is(b, 1),
        ScalarOp::BitOr | ScalarOp::BitXor => is_zero_bits(b),
        ScalarOp::Shl | ScalarOp::Shr => is(b, 0),
        ScalarOp::And => b == Scalar::Bool(true),
        ScalarOp::Or => b == Scalar::Bool(false),
        _ => false,
    }
}

/// Whether `a op x` is x, bit for bit.
fn is_neutral_left(op: ScalarOp, a: Scalar) -> bool {
    match op {
        ScalarOp::Mul | ScalarOp::Add | ScalarOp::BitOr | ScalarOp::BitXor => {
            is_neutral_right(op, a)
        }
        _ => false,
    }
}

/// Whether it is that number, +0.0 for 0.
fn is(scalar: Scalar, number: i8) -> bool {
    let ty = scalar.ty();
    let same = math::eval(ScalarOp::Cast(ty), &[Scalar::I8(number)]);
    (ty.is_int() || ty.is_float()) && same.is_ok_and(|same| scalar.same_bits(same))
}

fn is_zero_bits(scalar: Scalar) -> bool {
    is(scalar, 0) || scalar == Scalar::Bool(false)
}

fn negative_zero(ty: ScalarType) -> Scalar {
    if ty == ScalarType::F32 { Scalar::F32(-0.0) } else { Scalar::F64(-0.0) }
}
