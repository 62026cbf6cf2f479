//! From an operator and an operand type to the function that computes it.

use crate::math::cast;
use crate::math::element::{Character, Element};
use crate::math::float::Float;
use crate::math::integer::Integer;
use crate::math::transcendental as functions;
use crate::{Scalar, ScalarOp, ScalarType, TrapKind};

/// A function of one operand. It panics on an operand of another type than it was looked up for.
pub type Unary = fn(Scalar) -> Result<Scalar, TrapKind>;
/// A function of two operands of one type.
pub type Binary = fn(Scalar, Scalar) -> Result<Scalar, TrapKind>;
/// A function of three operands of one type, but that the first of `Select` is a `bool`.
pub type Ternary = fn(Scalar, Scalar, Scalar) -> Result<Scalar, TrapKind>;

/// The function of a unary operator on operands of type `ty`, if the operator admits them.
pub fn unary(op: ScalarOp, ty: ScalarType) -> Option<Unary> {
    match op {
        ScalarOp::Cast(target) => return Some(cast::cast(ty, target)),
        ScalarOp::Bitcast(target) => return cast::bitcast(ty, target),
        _ => {}
    }
    match ty {
        ScalarType::I8 => integer_unary::<i8>(op),
        ScalarType::I16 => integer_unary::<i16>(op),
        ScalarType::I32 => integer_unary::<i32>(op),
        ScalarType::I64 => integer_unary::<i64>(op),
        ScalarType::U8 => integer_unary::<u8>(op),
        ScalarType::U16 => integer_unary::<u16>(op),
        ScalarType::U32 => integer_unary::<u32>(op),
        ScalarType::U64 => integer_unary::<u64>(op),
        ScalarType::F32 => float_unary::<f32>(op).or_else(|| unary_f32(op)),
        ScalarType::F64 => float_unary::<f64>(op).or_else(|| unary_f64(op)),
        ScalarType::Bool => bool_unary(op),
        ScalarType::Char => None,
    }
}

/// The function of a binary operator on operands of type `ty`, if the operator admits them.
pub fn binary(op: ScalarOp, ty: ScalarType) -> Option<Binary> {
    match ty {
        ScalarType::I8 => integer_binary::<i8>(op),
        ScalarType::I16 => integer_binary::<i16>(op),
        ScalarType::I32 => integer_binary::<i32>(op),
        ScalarType::I64 => integer_binary::<i64>(op),
        ScalarType::U8 => integer_binary::<u8>(op),
        ScalarType::U16 => integer_binary::<u16>(op),
        ScalarType::U32 => integer_binary::<u32>(op),
        ScalarType::U64 => integer_binary::<u64>(op),
        ScalarType::F32 => float_binary::<f32>(op).or_else(|| binary_f32(op)),
        ScalarType::F64 => float_binary::<f64>(op).or_else(|| binary_f64(op)),
        ScalarType::Bool => bool_binary(op),
        ScalarType::Char => comparison::<Character>(op).or_else(|| ordered_binary::<Character>(op)),
    }
}

/// The function of a ternary operator, if the operator admits operands of type `ty`. For `Select`
/// that is the type of the second and the third.
pub fn ternary(op: ScalarOp, ty: ScalarType) -> Option<Ternary> {
    match ty {
        ScalarType::I8 => ordered_ternary::<i8>(op),
        ScalarType::I16 => ordered_ternary::<i16>(op),
        ScalarType::I32 => ordered_ternary::<i32>(op),
        ScalarType::I64 => ordered_ternary::<i64>(op),
        ScalarType::U8 => ordered_ternary::<u8>(op),
        ScalarType::U16 => ordered_ternary::<u16>(op),
        ScalarType::U32 => ordered_ternary::<u32>(op),
        ScalarType::U64 => ordered_ternary::<u64>(op),
        ScalarType::F32 => float_ternary::<f32>(op),
        ScalarType::F64 => float_ternary::<f64>(op),
        ScalarType::Bool => ordered_ternary::<bool>(op),
        ScalarType::Char => ordered_ternary::<Character>(op),
    }
}

/// A function on [`Scalar`] from one on `$ty`; `try` if that yields a `Result`.
macro_rules! lift {
    (|$($operand:ident),+| $ty:ty => try $body:expr) => {
        |$($operand: Scalar),+| {
            $(let $operand = <$ty>::from_scalar($operand);)+
            $body.map(Element::into_scalar)
        }
    };
    (|$($operand:ident),+| $ty:ty => $body:expr) => {
        |$($operand: Scalar),+| {
            $(let $operand = <$ty>::from_scalar($operand);)+
            Ok(Element::into_scalar($body))
        }
    };
}

fn integer_unary<T: Integer>(op: ScalarOp) -> Option<Unary> {
    Some(match op {
        ScalarOp::Neg => lift!(|a| T => a.neg()),
        ScalarOp::Abs => lift!(|a| T => a.abs()),
        ScalarOp::Signum => lift!(|a| T => a.signum()),
        ScalarOp::Complement => lift!(|a| T => a.complement()),
        ScalarOp::Popcount => lift!(|a| T => a.popcount()),
        ScalarOp::Clz => lift!(|a| T => a.clz()),
        ScalarOp::Ctz => lift!(|a| T => a.ctz()),
        _ => return None,
    })
}

fn integer_binary<T: Integer>(op: ScalarOp) -> Option<Binary> {
    Some(match op {
        ScalarOp::Add => lift!(|a, b| T => a.add(b)),
        ScalarOp::Sub => lift!(|a, b| T => a.sub(b)),
        ScalarOp::Mul => lift!(|a, b| T => a.mul(b)),
        ScalarOp::FloorDiv => lift!(|a, b| T => try a.floor_div(b)),
        ScalarOp::Mod => lift!(|a, b| T => try a.modulo(b)),
        ScalarOp::Quot => lift!(|a, b| T => try a.quot(b)),
        ScalarOp::Rem => lift!(|a, b| T => try a.rem(b)),
        ScalarOp::Pow => lift!(|a, b| T => try a.pow(b)),
        ScalarOp::Gcd => lift!(|a, b| T => a.gcd(b)),
        ScalarOp::BitAnd => lift!(|a, b| T => a.bit_and(b)),
        ScalarOp::BitOr => lift!(|a, b| T => a.bit_or(b)),
        ScalarOp::BitXor => lift!(|a, b| T => a.bit_xor(b)),
        ScalarOp::Shl => lift!(|a, b| T => a.shl(b)),
        ScalarOp::Shr => lift!(|a, b| T => a.shr(b)),
        _ => return comparison::<T>(op).or_else(|| ordered_binary::<T>(op)),
    })
}

fn float_unary<T: Float>(op: ScalarOp) -> Option<Unary> {
    Some(match op {
        ScalarOp::Neg => lift!(|a| T => a.neg()),
        ScalarOp::Abs => lift!(|a| T => a.abs()),
        ScalarOp::Signum => lift!(|a| T => a.signum()),
        ScalarOp::Sqrt => lift!(|a| T => a.sqrt()),
        ScalarOp::Floor => lift!(|a| T => a.floor()),
        ScalarOp::Ceil => lift!(|a| T => a.ceil()),
        ScalarOp::Round => lift!(|a| T => a.round()),
        ScalarOp::Trunc => lift!(|a| T => a.trunc()),
        ScalarOp::IsNan => lift!(|a| T => a.is_nan()),
        ScalarOp::IsInf => lift!(|a| T => a.is_inf()),
        _ => return None,
    })
}

fn float_binary<T: Float>(op: ScalarOp) -> Option<Binary> {
    Some(match op {
        ScalarOp::Add => lift!(|a, b| T => a.add(b)),
        ScalarOp::Sub => lift!(|a, b| T => a.sub(b)),
        ScalarOp::Mul => lift!(|a, b| T => a.mul(b)),
        ScalarOp::Div => lift!(|a, b| T => a.div(b)),
        ScalarOp::FloorDiv => lift!(|a, b| T => a.floor_div(b)),
        ScalarOp::Mod => lift!(|a, b| T => a.modulo(b)),
        ScalarOp::Quot => lift!(|a, b| T => a.quot(b)),
        ScalarOp::Rem => lift!(|a, b| T => a.rem(b)),
        ScalarOp::Min => lift!(|a, b| T => a.min(b)),
        ScalarOp::Max => lift!(|a, b| T => a.max(b)),
        _ => return comparison::<T>(op),
    })
}

/// The transcendental operators on one float type.
macro_rules! transcendental {
    ($float:ty, $unary:ident { $($op1:ident $function1:ident),* },
        $binary:ident { $($op2:ident $function2:ident),* }) => {
        fn $unary(op: ScalarOp) -> Option<Unary> {
            Some(match op {
                $(ScalarOp::$op1 => lift!(|a| $float => functions::$function1(a)),)*
                _ => return None,
            })
        }

        fn $binary(op: ScalarOp) -> Option<Binary> {
            Some(match op {
                $(ScalarOp::$op2 => lift!(|a, b| $float => functions::$function2(a, b)),)*
                _ => return None,
            })
        }
    };
}

transcendental!(f32, unary_f32 { Rsqrt rsqrt_f32, Cbrt cbrt_f32, Exp exp_f32, Exp2 exp2_f32, Expm1 expm1_f32, Log log_f32, Log2 log2_f32, Log10 log10_f32, Log1p log1p_f32, Sin sin_f32, Cos cos_f32, Tan tan_f32, Asin asin_f32, Acos acos_f32, Atan atan_f32, Sinh sinh_f32, Cosh cosh_f32, Tanh tanh_f32, Asinh asinh_f32, Acosh acosh_f32, Atanh atanh_f32, Erf erf_f32 },
    binary_f32 { Pow pow_f32, Atan2 atan2_f32, Hypot hypot_f32 });

transcendental!(f64, unary_f64 { Rsqrt rsqrt_f64, Cbrt cbrt_f64, Exp exp_f64, Exp2 exp2_f64, Expm1 expm1_f64, Log log_f64, Log2 log2_f64, Log10 log10_f64, Log1p log1p_f64, Sin sin_f64, Cos cos_f64, Tan tan_f64, Asin asin_f64, Acos acos_f64, Atan atan_f64, Sinh sinh_f64, Cosh cosh_f64, Tanh tanh_f64, Asinh asinh_f64, Acosh acosh_f64, Atanh atanh_f64, Erf erf_f64 },
    binary_f64 { Pow pow_f64, Atan2 atan2_f64, Hypot hypot_f64 });

fn float_ternary<T: Float>(op: ScalarOp) -> Option<Ternary> {
    Some(match op {
        ScalarOp::Fma => lift!(|a, b, c| T => a.fma(b, c)),
        ScalarOp::Clip => lift!(|low, high, a| T => a.max(low).min(high)),
        _ => return select::<T>(op),
    })
}

fn bool_unary(op: ScalarOp) -> Option<Unary> {
    Some(match op {
        ScalarOp::Not => lift!(|a| bool => !a),
        _ => return None,
    })
}

fn bool_binary(op: ScalarOp) -> Option<Binary> {
    Some(match op {
        ScalarOp::And | ScalarOp::BitAnd => lift!(|a, b| bool => a & b),
        ScalarOp::Or | ScalarOp::BitOr => lift!(|a, b| bool => a | b),
        ScalarOp::BitXor => lift!(|a, b| bool => a ^ b),
        _ => return comparison::<bool>(op).or_else(|| ordered_binary::<bool>(op)),
    })
}

/// The comparisons, by IEEE rules on floats: NaN is unordered, and -0 equals +0.
fn comparison<T: Element + PartialOrd>(op: ScalarOp) -> Option<Binary> {
    Some(match op {
        ScalarOp::Eq => lift!(|a, b| T => a == b),
        ScalarOp::Ne => lift!(|a, b| T => a != b),
        ScalarOp::Lt => lift!(|a, b| T => a < b),
        ScalarOp::Le => lift!(|a, b| T => a <= b),
        ScalarOp::Gt => lift!(|a, b| T => a > b),
        ScalarOp::Ge => lift!(|a, b| T => a >= b),
        _ => return None,
    })
}

fn ordered_binary<T: Element + Ord>(op: ScalarOp) -> Option<Binary> {
    Some(match op {
        ScalarOp::Min => lift!(|a, b| T => a.min(b)),
        ScalarOp::Max => lift!(|a, b| T => a.max(b)),
        _ => return None,
    })
}

fn ordered_ternary<T: Element + Ord>(op: ScalarOp) -> Option<Ternary> {
    Some(match op {
        // Not `Ord::clamp`, which panics on bounds in the wrong order; here the upper one wins.
        ScalarOp::Clip => lift!(|low, high, a| T => a.max(low).min(high)),
        _ => return select::<T>(op),
    })
}

fn select<T: Element>(op: ScalarOp) -> Option<Ternary> {
    Some(match op {
        ScalarOp::Select => |condition, a, b| {
            let (a, b) = (T::from_scalar(a), T::from_scalar(b));
            Ok(if bool::from_scalar(condition) { a } else { b }.into_scalar())
        },
        _ => return None,
    })
}
