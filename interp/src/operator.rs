//! Scalar operators on values: what is strict in its operands and what is not, and what the
//! operators that compare mean on tuples.
//!
//! `&&`, `||` and `select` need only some of their operands: `false && e` is `false` whatever `e`
//! is. All others yield the error of the first operand that is one.
//!
//! Tuples are compared component by component, from the first on, and no further than needed:
//! `(1, a) == (2, b)` needs neither `a` nor `b`. `min` and `max` yield one of the two tuples; the
//! first component that differs decides, by the scalar `min` or `max` (so a NaN in it wins).

use std::rc::Rc;

use weft_ir::math::{self, Binary, Ternary, Unary};
use weft_ir::{Scalar, ScalarOp, ScalarType, Span, Trap};
use weft_lang::types::Type;

use crate::machine::Machine;
use crate::value::Val;
use crate::words::{self, Words};

/// How to compute a scalar operator at particular types.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operator {
    Unary(Unary),
    Binary(BinaryOperator),
    Ternary(Ternary),
    And,
    Or,
    Select,
    /// A comparison, `min`, `max` or `clip` of tuples.
    Tuples(ScalarOp),
}

/// A binary operator on scalars of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinaryOperator {
    /// Its definition.
    pub(crate) function: Binary,
    /// The same on words, if there is such a form, and the type of the result.
    pub(crate) words: Option<(Words, ScalarType)>,
}

impl BinaryOperator {
    fn of(op: ScalarOp, ty: ScalarType) -> Option<BinaryOperator> {
        let words = words::binary(op, ty).zip(math::result_type(op, &[ty, ty]));
        Some(BinaryOperator { function: math::binary(op, ty)?, words })
    }
}

impl Operator {
    /// The operator at these parameter types.
    pub(crate) fn of(op: ScalarOp, params: &[Type]) -> Operator {
        match op {
            ScalarOp::And => return Operator::And,
            ScalarOp::Or => return Operator::Or,
            ScalarOp::Select => return Operator::Select,
            _ => {}
        }
        let found = match params {
            [Type::Scalar(a)] => math::unary(op, *a).map(Operator::Unary),
            [Type::Scalar(a), _] => BinaryOperator::of(op, *a).map(Operator::Binary),
            [Type::Scalar(a), _, _] => math::ternary(op, *a).map(Operator::Ternary),
            _ => Some(Operator::Tuples(op)),
        };
        found.unwrap_or_else(|| panic!("{op:?} does not admit operands of types {params:?}"))
    }

    /// A binary operator on operands of type `ty`.
    pub(crate) fn binary(op: ScalarOp, ty: &weft_ir::Type) -> Operator {
        let ty = Type::of_value(ty);
        Operator::of(op, &[ty.clone(), ty])
    }

    /// Applies it; `span` is where errors are.
    pub(crate) fn apply(self, machine: &Machine<'_>, args: &[Val], span: Span) -> Val {
        match (self, args) {
            (Operator::Unary(function), [a]) => unary(machine, function, a, span),
            (Operator::Binary(operator), [a, b]) => binary(machine, operator, a, b, span),
            (Operator::Ternary(function), [a, b, c]) => ternary(machine, function, [a, b, c], span),
            (Operator::And, [a, b]) => match a {
                Val::Bool(1) => b.clone(),
                decided => decided.clone(),
            },
            (Operator::Or, [a, b]) => match a {
                Val::Bool(0) => b.clone(),
                decided => decided.clone(),
            },
            (Operator::Select, [condition, a, b]) => match condition {
                Val::Bool(1) => a.clone(),
                Val::Bool(0) => b.clone(),
                error => error.clone(),
            },
            (Operator::Tuples(op), args) => on_tuples(op, args).unwrap_or_else(Val::Error),
            (operator, args) => panic!("{operator:?} of {} operands", args.len()),
        }
    }
}

#[inline]
pub(crate) fn unary(machine: &Machine<'_>, function: Unary, a: &Val, span: Span) -> Val {
    match a.scalar().map(function) {
        Some(Ok(result)) => Val::of_scalar(result),
        Some(Err(kind)) => machine.trap(kind, span),
        None => error_of(&[a]),
    }
}

#[inline]
pub(crate) fn binary(
    machine: &Machine<'_>,
    operator: BinaryOperator,
    a: &Val,
    b: &Val,
    span: Span,
) -> Val {
    if let Some((words, ty)) = operator.words
        && let (Some(a), Some(b)) = (a.word(), b.word())
        && let Some(word) = words(a, b)
    {
        return Val::of_word(word, ty);
    }
    binary_by_definition(machine, operator.function, a, b, span)
}

#[inline(never)]
fn binary_by_definition(
    machine: &Machine<'_>,
    function: Binary,
    a: &Val,
    b: &Val,
    span: Span,
) -> Val {
    match (a.scalar(), b.scalar()) {
        (Some(a), Some(b)) => match function(a, b) {
            Ok(result) => Val::of_scalar(result),
            Err(kind) => machine.trap(kind, span),
        },
        _ => error_of(&[a, b]),
    }
}

#[inline]
pub(crate) fn ternary(
    machine: &Machine<'_>,
    function: Ternary,
    operands: [&Val; 3],
    span: Span,
) -> Val {
    match operands.map(Val::scalar) {
        [Some(a), Some(b), Some(c)] => match function(a, b, c) {
            Ok(result) => Val::of_scalar(result),
            Err(kind) => machine.trap(kind, span),
        },
        _ => error_of(&operands),
    }
}

/// The first operand that is an error.
#[cold]
fn error_of(operands: &[&Val]) -> Val {
    match operands.iter().find(|operand| matches!(operand, Val::Error(_))) {
        Some(error) => (*error).clone(),
        None => panic!("operands {operands:?} of a scalar operator"),
    }
}

fn on_tuples(op: ScalarOp, args: &[Val]) -> Result<Val, Rc<Trap>> {
    Ok(match (op, args) {
        (ScalarOp::Eq, [a, b]) => Val::bool(equal(a, b)?),
        (ScalarOp::Ne, [a, b]) => Val::bool(!equal(a, b)?),
        (ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge, [a, b]) => {
            Val::bool(ordered(op, a, b)?)
        }
        (ScalarOp::Min | ScalarOp::Max, [a, b]) => choose(op, a, b)?,
        (ScalarOp::Clip, [low, high, a]) => {
            choose(ScalarOp::Min, &choose(ScalarOp::Max, a, low)?, high)?
        }
        (op, args) => panic!("{op:?} of {args:?}"),
    })
}

/// `a == b`.
fn equal(a: &Val, b: &Val) -> Result<bool, Rc<Trap>> {
    match (a, b) {
        (Val::Tuple(a), Val::Tuple(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(a, b)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (a, b) => compare_scalars(ScalarOp::Eq, a, b),
    }
}

/// `a < b` and its like: the first component that is not `==` decides.
fn ordered(op: ScalarOp, a: &Val, b: &Val) -> Result<bool, Rc<Trap>> {
    match (a, b) {
        (Val::Tuple(a), Val::Tuple(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(a, b)? {
                    return ordered(op, a, b);
                }
            }
            Ok(matches!(op, ScalarOp::Le | ScalarOp::Ge))
        }
        (a, b) => compare_scalars(op, a, b),
    }
}

fn compare_scalars(op: ScalarOp, a: &Val, b: &Val) -> Result<bool, Rc<Trap>> {
    match math::eval(op, &scalars(a, b)?) {
        Ok(Scalar::Bool(holds)) => Ok(holds),
        other => panic!("{op:?} yields {other:?}"),
    }
}

/// `min a b` or `max a b`.
pub(crate) fn choose(op: ScalarOp, a: &Val, b: &Val) -> Result<Val, Rc<Trap>> {
    Ok(if prefers_second(op, a, b)? == Some(true) { b.clone() } else { a.clone() })
}

/// Whether `min` or `max` yields the second of two values; nothing where they are the same.
pub(crate) fn prefers_second(op: ScalarOp, a: &Val, b: &Val) -> Result<Option<bool>, Rc<Trap>> {
    if let (Val::Tuple(a), Val::Tuple(b)) = (a, b) {
        for (a, b) in a.iter().zip(b.iter()) {
            if let Some(second) = prefers_second(op, a, b)? {
                return Ok(Some(second));
            }
        }
        return Ok(None);
    }
    let [a, b] = scalars(a, b)?;
    if a.same_bits(b) {
        return Ok(None);
    }
    match math::eval(op, &[a, b]) {
        Ok(result) => Ok(Some(!result.same_bits(a))),
        Err(kind) => panic!("{op:?} traps: {kind}"),
    }
}

/// Two scalars, or the first error. A whole tuple may be an error too.
fn scalars(a: &Val, b: &Val) -> Result<[Scalar; 2], Rc<Trap>> {
    match (a, b) {
        (Val::Error(error), _) | (_, Val::Error(error)) => Err(Rc::clone(error)),
        (a, b) => match (a.scalar(), b.scalar()) {
            (Some(a), Some(b)) => Ok([a, b]),
            _ => panic!("{a:?} and {b:?} are no scalars"),
        },
    }
}

/// The integer 1 or 0, or the float, of a numeric type.
pub(crate) fn number(value: u8, ty: ScalarType) -> Scalar {
    match math::eval(ScalarOp::Cast(ty), &[Scalar::U8(value)]) {
        Ok(number) => number,
        Err(kind) => panic!("a cast traps: {kind}"),
    }
}
