//! When two operations are the same: equal but for the names of the variables that they bind.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use weft_ir::nested::{Atom, Body, Operation, RandomKind, ScanForm, Start, Var};
use weft_ir::text::write_column;
use weft_ir::{FaultKind, Scalar, ScalarOp};

/// An operation as a list of tokens.
pub(super) type Key = Vec<Token>;

/// A part of a [`Key`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Operation(Discriminant<Operation>),
    Op(ScalarOp),
    Random(RandomKind),
    Fault(FaultKind),
    Form(ScanForm),
    Start(&'static str),
    Flag(bool),
    Number(usize),
    /// A variable from around the operation.
    Free(Var),
    /// The variable that the operation binds as its n-th.
    Bound(usize),
    /// A constant: scalars of equal text are equal in type and bits, but for NaNs.
    Scalar(Scalar64),
    Column(String),
    Results,
}

/// A scalar by type and bits, all NaNs being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scalar64(weft_ir::ScalarType, u64);

/// The most bytes of a constant that is compared with others.
const LARGEST_CONSTANT: usize = 1 << 16;

/// The key of an operation; nothing for one that is not worth comparing. Atoms are up to date.
pub(super) fn key(operation: &Operation) -> Option<Key> {
    if let Operation::Constant(column) = operation
        && column.bytes() > LARGEST_CONSTANT
    {
        return None;
    }
    let mut encoder = Encoder { tokens: Vec::new(), bound: HashMap::new() };
    encoder.operation(operation);
    Some(encoder.tokens)
}

struct Encoder {
    tokens: Key,
    bound: HashMap<Var, usize>,
}

impl Encoder {
    fn operation(&mut self, operation: &Operation) {
        self.tokens.push(Token::Operation(discriminant(operation)));
        let first_operand = self.tokens.len();
        operation.for_each_atom(&mut |atom| self.atom(*atom));
        if let Operation::Scalar(op, _) = operation
            && is_commutative(*op)
        {
            // Any order that does not depend on which was written first.
            self.tokens[first_operand..].sort_by_key(order);
        }
        self.details(operation);
        operation.for_each_bound(&mut |var, _| self.bind(*var));
        operation.for_each_body(&mut |body| self.body(body));
    }

    fn body(&mut self, body: &Body) {
        for statement in &body.statements {
            self.operation(&statement.operation);
            statement.results.iter().for_each(|(var, _)| self.bind(*var));
        }
        self.tokens.push(Token::Results);
        body.results.iter().for_each(|atom| self.atom(*atom));
    }

    fn bind(&mut self, var: Var) {
        let number = self.bound.len();
        self.bound.insert(var, number);
    }

    fn atom(&mut self, atom: Atom) {
        self.tokens.push(match atom {
            Atom::Var(var) => match self.bound.get(&var) {
                Some(number) => Token::Bound(*number),
                None => Token::Free(var),
            },
            Atom::Scalar(scalar) => Token::Scalar(Scalar64(scalar.ty(), bits(scalar))),
        });
    }

    /// What the operation has beside its operands and bodies.
    fn details(&mut self, operation: &Operation) {
        match operation {
            Operation::Scalar(op, _) => self.tokens.push(Token::Op(*op)),
            Operation::Random(kind, _) => self.tokens.push(Token::Random(*kind)),
            Operation::Assert { kind, .. } => self.tokens.push(Token::Fault(*kind)),
            Operation::Call(function, _) => {
                self.tokens.push(Token::Number(function.0 as usize));
            }
            Operation::Constant(column) => {
                let mut text = String::new();
                write_column(&mut text, column).expect("a string takes everything");
                self.tokens.push(Token::Column(text));
            }
            Operation::Fold { start, .. } => self.start(start),
            Operation::Scan { form, from_right, start, .. } => {
                self.tokens.push(Token::Form(*form));
                self.tokens.push(Token::Flag(*from_right));
                self.start(start);
            }
            Operation::Scatter { destinations, operator, drops, .. } => {
                self.tokens.push(Token::Number(destinations.len()));
                self.tokens.push(Token::Flag(operator.is_some()));
                self.tokens.push(Token::Flag(*drops));
            }
            Operation::SortOrder { descending, .. } => self.tokens.push(Token::Flag(*descending)),
            Operation::Reshape { from, .. } => self.tokens.push(Token::Number(*from)),
            Operation::Extent(_, axis) => self.tokens.push(Token::Number(*axis)),
            Operation::If { .. }
            | Operation::While { .. }
            | Operation::For { .. }
            | Operation::Length(_)
            | Operation::Index(..)
            | Operation::Update { .. }
            | Operation::Literal(_)
            | Operation::Iota(_)
            | Operation::Replicate(..)
            | Operation::Map(..)
            | Operation::Pack { .. }
            | Operation::Transpose(_)
            | Operation::Flatten(_)
            | Operation::Segments(..)
            | Operation::Concat(..) => {}
        }
    }

    fn start(&mut self, start: &Start<Vec<Atom>>) {
        self.tokens.push(Token::Start(match start {
            Start::None => "none",
            Start::Combined(_) => "combined",
            Start::IfEmpty(_) => "if_empty",
        }));
    }
}

/// A number that orders the operands of an operator.
fn order(token: &Token) -> (u8, u64) {
    match token {
        Token::Free(var) => (0, u64::from(var.0)),
        Token::Bound(number) => (1, *number as u64),
        Token::Scalar(Scalar64(_, bits)) => (2, *bits),
        _ => unreachable!("operands are variables and constants"),
    }
}

/// Whether the operator yields the same bits for exchanged operands. Which of two errors is seen
/// does not matter; `And` and `Or` look at their first operand first, and are not among these.
fn is_commutative(op: ScalarOp) -> bool {
    matches!(
        op,
        ScalarOp::Add
            | ScalarOp::Mul
            | ScalarOp::Min
            | ScalarOp::Max
            | ScalarOp::Gcd
            | ScalarOp::BitAnd
            | ScalarOp::BitOr
            | ScalarOp::BitXor
            | ScalarOp::Eq
            | ScalarOp::Ne
    )
}

fn bits(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::I8(value) => value as u64,
        Scalar::I16(value) => value as u64,
        Scalar::I32(value) => value as u64,
        Scalar::I64(value) => value as u64,
        Scalar::U8(value) | Scalar::Char(value) => value.into(),
        Scalar::U16(value) => value.into(),
        Scalar::U32(value) => value.into(),
        Scalar::U64(value) => value,
        Scalar::F32(value) if value.is_nan() => f32::NAN.to_bits().into(),
        Scalar::F32(value) => value.to_bits().into(),
        Scalar::F64(value) if value.is_nan() => f64::NAN.to_bits(),
        Scalar::F64(value) => value.to_bits(),
        Scalar::Bool(value) => value.into(),
    }
}
