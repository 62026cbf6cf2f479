//! Numbers with which an operator on numbers is tried out: of both signs, 0, and those about the constants in its own
//! text, where what it does changes.

use weft_interp::Call;
use weft_ir::math::eval;
use weft_ir::{Scalar, ScalarOp, ScalarType, Type, Value};
use weft_lang::typed::{Expr, ExprKind, GlobalId, Program};

use super::samples::{self, Domain, Triple};

/// How many constants of an operator are looked around.
const MOST_CONSTANTS: usize = 3;
/// How many triples are tried of a domain.
const MOST_TRIPLES: usize = 2000;

/// Numbers of one type, without two that are the same.
pub(super) struct Numbers(Vec<Value>);

impl Numbers {
    fn new(ty: ScalarType, numbers: impl IntoIterator<Item = f64>) -> Numbers {
        let mut all: Vec<Value> = Vec::new();
        for number in numbers {
            let Some(scalar) = scalar(ty, number) else { continue };
            let value = Value::Scalar(scalar);
            if !all.iter().any(|other| other.same_bits(&value)) {
                all.push(value);
            }
        }
        Numbers(all)
    }

    /// Triples of them: all, if they are few, else some that look arbitrary.
    pub(super) fn triples(&self) -> Vec<Triple> {
        let n = self.0.len();
        let all = n.pow(3);
        let triple = |number: usize| {
            [number / (n * n), number / n % n, number % n].map(|place| self.0[place].clone())
        };
        if all <= MOST_TRIPLES {
            return (0..all).map(triple).collect();
        }
        // Knuth's generator; its high bits are the good ones.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            triple((state >> 33) as usize % all)
        };
        (0..MOST_TRIPLES).map(|_| next()).collect()
    }

    /// What an operator makes of each two of them.
    pub(super) fn results(&self, call: &mut Call<'_>) -> Vec<Option<Value>> {
        let mut results = Vec::with_capacity(self.0.len().pow(2));
        for a in &self.0 {
            for b in &self.0 {
                results.push(call(&[a.clone(), b.clone()]));
            }
        }
        results
    }
}

/// The type of the elements, if these are numbers.
pub(super) fn number_type(ty: &Type) -> Option<ScalarType> {
    match ty {
        Type::Scalar(ty) if ty.is_int() || ty.is_float() => Some(*ty),
        Type::Scalar(_) | Type::Tuple(_) | Type::Record(_) | Type::Array(_) => None,
    }
}

/// The numbers in the text of an operator, and those that its names stand for.
pub(super) fn constants(program: &Program, values: &dyn Fn(GlobalId) -> Value) -> Vec<f64> {
    fn collect(expr: &Expr, values: &dyn Fn(GlobalId) -> Value, found: &mut Vec<f64>) {
        let scalar = match &expr.kind {
            ExprKind::Scalar(scalar) => Some(*scalar),
            ExprKind::Value(global) => match values(*global) {
                Value::Scalar(scalar) => Some(scalar),
                Value::Tuple(_) | Value::Array(_) => None,
            },
            _ => None,
        };
        let number = scalar.and_then(number).filter(|number| number.is_finite());
        // What is small is tried anyway.
        if let Some(number) = number.filter(|number| ![-1.0, 0.0, 1.0, 2.0].contains(number))
            && !found.contains(&number)
        {
            found.push(number);
        }
        expr.for_each_child(&mut |child| collect(child, values, found));
    }
    let mut found = Vec::new();
    collect(&program.entry, values, &mut found);
    program.instances.iter().for_each(|instance| collect(&instance.body, values, &mut found));
    found.truncate(MOST_CONSTANTS);
    found
}

/// Numbers of both signs, 0, and those about the constants.
pub(super) fn signed(ty: ScalarType, constants: &[f64]) -> Numbers {
    let small: &[f64] = match ty.is_float() {
        true => &[1.0, 2.0, -1.0, 0.0, 3.0, 0.5, -0.5, -5.0, 100.0],
        false => &[1.0, 2.0, -1.0, 0.0, 3.0, -5.0],
    };
    let about = constants.iter().flat_map(|k| [*k, k - 1.0, k + 1.0]);
    Numbers::new(ty, small.iter().copied().chain(about))
}

/// The numbers that an operator may be meant for. Many are associative only on some: a flag is 0 or 1, a share at most
/// 1, a sum that stops at 100 is not for negative numbers, and an angle stays below 360.
pub(super) fn meant(ty: ScalarType, constants: &[f64]) -> Vec<Numbers> {
    let domains = [Domain::Positive, Domain::Bits, Domain::Shares];
    let small = domains.map(|domain| {
        let choices = samples::choices(ty, domain);
        Numbers(choices.into_iter().map(Value::Scalar).collect())
    });
    let mut meant: Vec<Numbers> = small.into();
    let near = constants.iter().flat_map(|k| [*k, k - 1.0, k + 1.0]).filter(|k| *k >= 0.0);
    meant.push(Numbers::new(ty, [1.0, 2.0, 3.0, 5.0, 0.0].into_iter().chain(near)));
    for k in constants.iter().map(|k| k.abs()) {
        let half = if ty.is_float() { k / 2.0 } else { (k / 2.0).floor() };
        let below = if k > 1.0 { [1.0, half, k - 1.0] } else { [k / 4.0, half, k * 0.75] };
        meant.push(Numbers::new(ty, [0.0].into_iter().chain(below)));
        meant.push(Numbers::new(ty, [0.0, k].into_iter().chain(below)));
        let around = below.into_iter().flat_map(|x| [x, -x]);
        meant.push(Numbers::new(ty, [0.0, k].into_iter().chain(around)));
    }
    meant
}

/// A number as a scalar of a type, if the type holds it.
fn scalar(ty: ScalarType, number: f64) -> Option<Scalar> {
    let integer = (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
    Some(match ty {
        ScalarType::I8 => Scalar::I8(integer?.try_into().ok()?),
        ScalarType::I16 => Scalar::I16(integer?.try_into().ok()?),
        ScalarType::I32 => Scalar::I32(integer?.try_into().ok()?),
        ScalarType::I64 => Scalar::I64(integer?),
        ScalarType::U8 => Scalar::U8(integer?.try_into().ok()?),
        ScalarType::U16 => Scalar::U16(integer?.try_into().ok()?),
        ScalarType::U32 => Scalar::U32(integer?.try_into().ok()?),
        ScalarType::U64 => Scalar::U64(integer?.try_into().ok()?),
        ScalarType::F32 => Scalar::F32(number as f32),
        ScalarType::F64 => Scalar::F64(number),
        ScalarType::Bool | ScalarType::Char => return None,
    })
}

/// A scalar as a number, rounded where it is a large integer.
pub(super) fn number(scalar: Scalar) -> Option<f64> {
    if matches!(scalar, Scalar::Bool(_) | Scalar::Char(_)) {
        return None;
    }
    match eval(ScalarOp::Cast(ScalarType::F64), &[scalar]) {
        Ok(Scalar::F64(number)) => Some(number),
        Ok(_) | Err(_) => None,
    }
}
