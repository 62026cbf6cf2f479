//! Scalar operators as expressions over the prelude.

use weft_ir::math::{self, Work};
use weft_ir::nested::RandomKind;
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use crate::dialect::type_name;
use crate::functions::Functions;

/// An expression for the result of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// It has no effects and yields something for any operands.
    pub text: String,
    /// An expression that holds where the operator fails, and what that is.
    pub fails: Option<(String, FaultKind)>,
}

/// The expression of an operator on operands of these types, which are expressions that bind as
/// tightly as names. Notes in `functions` what it calls.
///
/// # Panics
/// If the operator does not admit the types.
pub fn operator(
    op: ScalarOp,
    operands: &[String],
    types: &[ScalarType],
    functions: &mut Functions,
) -> Expression {
    let ty = *types.last().expect("an operator has operands");
    let name = type_name(ty);
    let (a, b) = (operands[0].as_str(), operands.get(1).map_or("", String::as_str));
    let call = |function: &str| format!("{function}_{name}({})", operands.join(", "));
    let infix = |symbol: &str| format!("{a} {symbol} {b}");
    // Sums, differences and products wrap.
    let wrapping = |symbol: &str| match wide(ty) {
        None => format!("{a} {symbol} {b}"),
        Some(wide) if wide == name => format!("{a} {symbol} {b}"),
        Some(wide) => format!("({name})(({wide}){a} {symbol} ({wide}){b})"),
    };
    let text = match op {
        ScalarOp::Neg if ty.is_int() => {
            format!("({name})(0 - ({}){a})", wide(ty).expect("an integer"))
        }
        ScalarOp::Neg => format!("-{a}"),
        ScalarOp::Not => format!("!{a}"),
        ScalarOp::Complement => format!("({name})~{a}"),
        ScalarOp::Abs => call("abs"),
        ScalarOp::Signum => call("signum"),
        ScalarOp::Sqrt => call("sqrt"),
        ScalarOp::Floor => call("floor"),
        ScalarOp::Ceil => call("ceil"),
        ScalarOp::Round => call("round"),
        ScalarOp::Trunc => call("trunc"),
        ScalarOp::Popcount => call("popcount"),
        ScalarOp::Clz => call("clz"),
        ScalarOp::Ctz => call("ctz"),
        ScalarOp::IsNan => format!("{a} != {a}"),
        ScalarOp::IsInf => format!("abs_{name}({a}) == INFINITY_{}", name.to_uppercase()),
        ScalarOp::Rsqrt
        | ScalarOp::Cbrt
        | ScalarOp::Exp
        | ScalarOp::Exp2
        | ScalarOp::Expm1
        | ScalarOp::Log
        | ScalarOp::Log2
        | ScalarOp::Log10
        | ScalarOp::Log1p
        | ScalarOp::Sin
        | ScalarOp::Cos
        | ScalarOp::Tan
        | ScalarOp::Asin
        | ScalarOp::Acos
        | ScalarOp::Atan
        | ScalarOp::Sinh
        | ScalarOp::Cosh
        | ScalarOp::Tanh
        | ScalarOp::Asinh
        | ScalarOp::Acosh
        | ScalarOp::Atanh
        | ScalarOp::Erf
        | ScalarOp::Atan2
        | ScalarOp::Hypot => format!("{}({})", functions.name(op, ty), operands.join(", ")),
        ScalarOp::Pow if ty.is_float() => {
            format!("{}({})", functions.name(op, ty), operands.join(", "))
        }
        ScalarOp::Pow => call("pow"),
        ScalarOp::Cast(target) => cast(a, ty, target),
        ScalarOp::Bitcast(target) => bits(a, ty, target),
        ScalarOp::Add => wrapping("+"),
        ScalarOp::Sub => wrapping("-"),
        ScalarOp::Mul => wrapping("*"),
        ScalarOp::Div => infix("/"),
        ScalarOp::FloorDiv => call("floor_div"),
        ScalarOp::Mod => call("mod"),
        ScalarOp::Quot => call("quot"),
        ScalarOp::Rem => call("rem"),
        ScalarOp::Min if ty == ScalarType::Bool => infix("&"),
        ScalarOp::Max if ty == ScalarType::Bool => infix("|"),
        ScalarOp::Min => call("min"),
        ScalarOp::Max => call("max"),
        ScalarOp::Clip if ty == ScalarType::Bool => format!("({} | {a}) & {b}", operands[2]),
        ScalarOp::Clip => call("clip"),
        ScalarOp::Gcd => call("gcd"),
        ScalarOp::BitAnd => infix("&"),
        ScalarOp::BitOr => infix("|"),
        ScalarOp::BitXor => infix("^"),
        ScalarOp::Shl => call("shl"),
        ScalarOp::Shr => call("shr"),
        ScalarOp::Eq => infix("=="),
        ScalarOp::Ne => infix("!="),
        ScalarOp::Lt => infix("<"),
        ScalarOp::Le => infix("<="),
        ScalarOp::Gt => infix(">"),
        ScalarOp::Ge => infix(">="),
        ScalarOp::And => infix("&"),
        ScalarOp::Or => infix("|"),
        ScalarOp::Fma => call("fma"),
        ScalarOp::Select => format!("{a} ? {b} : {}", operands[2]),
    };
    let fails = math::can_fail(op, ty).then(|| match op {
        ScalarOp::Pow => (format!("{b} < 0"), FaultKind::NegativeExponent),
        _ => (format!("{b} == 0"), FaultKind::DivisionByZero),
    });
    Expression { text, fails }
}

/// The same in a loop over lanes of C, which compilers turn into vectors: integers are divided by
/// other functions there.
///
/// # Panics
/// If the operator does not admit the types.
pub fn operator_of_lanes(
    op: ScalarOp,
    operands: &[String],
    types: &[ScalarType],
    functions: &mut Functions,
) -> Expression {
    let mut expression = operator(op, operands, types, functions);
    if math::work(op) == Work::Division && types.iter().all(|ty| ty.is_int()) {
        expression.text.insert_str(0, "lanes_");
    }
    expression
}

/// The expression of a random number.
pub fn random(kind: RandomKind, operands: &[String]) -> String {
    let function = match kind {
        RandomKind::UniformF64 => "uniform_f64",
        RandomKind::UniformF32 => "uniform_f32",
        RandomKind::Int => "int_below",
    };
    format!("{function}({})", operands.join(", "))
}

/// The unsigned type in which an integer type's arithmetic is done.
fn wide(ty: ScalarType) -> Option<&'static str> {
    match ty {
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32 => Some("u32"),
        ScalarType::I64 | ScalarType::U64 => Some("u64"),
        ScalarType::F32 | ScalarType::F64 | ScalarType::Bool | ScalarType::Char => None,
    }
}

fn cast(operand: &str, from: ScalarType, to: ScalarType) -> String {
    let target = type_name(to);
    if from == to {
        operand.to_owned()
    } else if to == ScalarType::Bool {
        format!("{operand} != 0")
    } else if from.is_float() && !to.is_float() {
        format!("{}_to_{target}({operand})", type_name(from))
    } else if from == ScalarType::I64 && to.is_float() {
        format!("i64_to_{target}({operand})")
    } else {
        format!("({target}){operand}")
    }
}

fn bits(operand: &str, from: ScalarType, to: ScalarType) -> String {
    let (source, target) = (type_name(from), type_name(to));
    match (from.is_float(), to.is_float()) {
        (true, true) => format!("number_{target}(bits_{source}({operand}))"),
        (true, false) => format!("({target})bits_{source}({operand})"),
        (false, true) => {
            let unsigned = if to == ScalarType::F32 { "u32" } else { "u64" };
            format!("number_{target}(({unsigned}){operand})")
        }
        (false, false) => format!("({target}){operand}"),
    }
}
