//! The names of the scalar operators, in one table, and of the forms of other operations.

use std::fmt;

use crate::nested::{RandomKind, ScanForm};
use crate::{ScalarOp, ScalarType};

/// Every operator but the conversions with its name; those are `cast_f32`, `bitcast_u64`, ….
pub const OPERATORS: [(ScalarOp, &str); 67] = [
    (ScalarOp::Neg, "neg"),
    (ScalarOp::Not, "not"),
    (ScalarOp::Complement, "complement"),
    (ScalarOp::Abs, "abs"),
    (ScalarOp::Signum, "signum"),
    (ScalarOp::Sqrt, "sqrt"),
    (ScalarOp::Rsqrt, "rsqrt"),
    (ScalarOp::Cbrt, "cbrt"),
    (ScalarOp::Exp, "exp"),
    (ScalarOp::Exp2, "exp2"),
    (ScalarOp::Expm1, "expm1"),
    (ScalarOp::Log, "log"),
    (ScalarOp::Log2, "log2"),
    (ScalarOp::Log10, "log10"),
    (ScalarOp::Log1p, "log1p"),
    (ScalarOp::Sin, "sin"),
    (ScalarOp::Cos, "cos"),
    (ScalarOp::Tan, "tan"),
    (ScalarOp::Asin, "asin"),
    (ScalarOp::Acos, "acos"),
    (ScalarOp::Atan, "atan"),
    (ScalarOp::Sinh, "sinh"),
    (ScalarOp::Cosh, "cosh"),
    (ScalarOp::Tanh, "tanh"),
    (ScalarOp::Asinh, "asinh"),
    (ScalarOp::Acosh, "acosh"),
    (ScalarOp::Atanh, "atanh"),
    (ScalarOp::Erf, "erf"),
    (ScalarOp::Floor, "floor"),
    (ScalarOp::Ceil, "ceil"),
    (ScalarOp::Round, "round"),
    (ScalarOp::Trunc, "trunc"),
    (ScalarOp::IsNan, "is_nan"),
    (ScalarOp::IsInf, "is_inf"),
    (ScalarOp::Popcount, "popcount"),
    (ScalarOp::Clz, "clz"),
    (ScalarOp::Ctz, "ctz"),
    (ScalarOp::Add, "add"),
    (ScalarOp::Sub, "sub"),
    (ScalarOp::Mul, "mul"),
    (ScalarOp::Div, "div"),
    (ScalarOp::FloorDiv, "floor_div"),
    (ScalarOp::Mod, "mod"),
    (ScalarOp::Quot, "quot"),
    (ScalarOp::Rem, "rem"),
    (ScalarOp::Pow, "pow"),
    (ScalarOp::Min, "min"),
    (ScalarOp::Max, "max"),
    (ScalarOp::Atan2, "atan2"),
    (ScalarOp::Hypot, "hypot"),
    (ScalarOp::Gcd, "gcd"),
    (ScalarOp::BitAnd, "bit_and"),
    (ScalarOp::BitOr, "bit_or"),
    (ScalarOp::BitXor, "bit_xor"),
    (ScalarOp::Shl, "shl"),
    (ScalarOp::Shr, "shr"),
    (ScalarOp::Eq, "eq"),
    (ScalarOp::Ne, "ne"),
    (ScalarOp::Lt, "lt"),
    (ScalarOp::Le, "le"),
    (ScalarOp::Gt, "gt"),
    (ScalarOp::Ge, "ge"),
    (ScalarOp::And, "and"),
    (ScalarOp::Or, "or"),
    (ScalarOp::Fma, "fma"),
    (ScalarOp::Clip, "clip"),
    (ScalarOp::Select, "select"),
];

/// The name in the text of the intermediate languages: `floor_div`, `cast_f32`.
impl fmt::Display for ScalarOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarOp::Cast(target) => write!(f, "cast_{target}"),
            ScalarOp::Bitcast(target) => write!(f, "bitcast_{target}"),
            op => {
                let entry = OPERATORS.iter().find(|(other, _)| other == op);
                f.write_str(entry.expect("the table has every operator").1)
            }
        }
    }
}

impl ScalarOp {
    /// The operator of that name.
    pub fn from_name(name: &str) -> Option<ScalarOp> {
        if let Some(target) = name.strip_prefix("cast_") {
            return ScalarType::from_name(target).map(ScalarOp::Cast);
        }
        if let Some(target) = name.strip_prefix("bitcast_") {
            return ScalarType::from_name(target).map(ScalarOp::Bitcast);
        }
        OPERATORS.iter().find(|(_, other)| *other == name).map(|(op, _)| *op)
    }
}

/// The name in the text of the intermediate languages.
impl fmt::Display for ScanForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScanForm::Inclusive => "inclusive",
            ScanForm::Exclusive => "exclusive",
            ScanForm::Full => "full",
        })
    }
}

impl ScanForm {
    /// The form of that name.
    pub fn from_name(name: &str) -> Option<ScanForm> {
        match name {
            "inclusive" => Some(ScanForm::Inclusive),
            "exclusive" => Some(ScanForm::Exclusive),
            "full" => Some(ScanForm::Full),
            _ => None,
        }
    }
}

/// The name in the text of the intermediate languages.
impl fmt::Display for RandomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RandomKind::UniformF64 => "uniform_f64",
            RandomKind::UniformF32 => "uniform_f32",
            RandomKind::Int => "random_int",
        })
    }
}

impl RandomKind {
    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<RandomKind> {
        match name {
            "uniform_f64" => Some(RandomKind::UniformF64),
            "uniform_f32" => Some(RandomKind::UniformF32),
            "random_int" => Some(RandomKind::Int),
            _ => None,
        }
    }
}
