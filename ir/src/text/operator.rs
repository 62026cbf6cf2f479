//! The names of the scalar operators, in one table, and of the forms of other operations.

use std::fmt;

use crate::nested::{RandomKind, ScanForm};
use crate::{ScalarOp, ScalarType};

/// Makes the table, and a match that the compiler only takes if the table has every operator.
macro_rules! operators {
    ($($op:ident $name:literal,)*) => {
        /// Every operator but the conversions with its name; those are `cast_f32`, `bitcast_u64`, ….
        pub const OPERATORS: [(ScalarOp, &str); [$($name),*].len()] = [$((ScalarOp::$op, $name)),*];

        /// The name of an operator, and of a conversion what comes before the type.
        fn name(op: ScalarOp) -> (&'static str, Option<ScalarType>) {
            match op {
                $(ScalarOp::$op => ($name, None),)*
                ScalarOp::Cast(target) => ("cast_", Some(target)),
                ScalarOp::Bitcast(target) => ("bitcast_", Some(target)),
            }
        }
    };
}

operators! {
    Neg "neg",
    Not "not",
    Complement "complement",
    Abs "abs",
    Signum "signum",
    Sqrt "sqrt",
    Rsqrt "rsqrt",
    Cbrt "cbrt",
    Exp "exp",
    Exp2 "exp2",
    Expm1 "expm1",
    Log "log",
    Log2 "log2",
    Log10 "log10",
    Log1p "log1p",
    Sin "sin",
    Cos "cos",
    Tan "tan",
    Asin "asin",
    Acos "acos",
    Atan "atan",
    Sinh "sinh",
    Cosh "cosh",
    Tanh "tanh",
    Asinh "asinh",
    Acosh "acosh",
    Atanh "atanh",
    Erf "erf",
    Floor "floor",
    Ceil "ceil",
    Round "round",
    Trunc "trunc",
    IsNan "is_nan",
    IsInf "is_inf",
    Popcount "popcount",
    Clz "clz",
    Ctz "ctz",
    Add "add",
    Sub "sub",
    Mul "mul",
    Div "div",
    FloorDiv "floor_div",
    Mod "mod",
    Quot "quot",
    Rem "rem",
    Pow "pow",
    Min "min",
    Max "max",
    Atan2 "atan2",
    Hypot "hypot",
    Gcd "gcd",
    BitAnd "bit_and",
    BitOr "bit_or",
    BitXor "bit_xor",
    Shl "shl",
    Shr "shr",
    Eq "eq",
    Ne "ne",
    Lt "lt",
    Le "le",
    Gt "gt",
    Ge "ge",
    And "and",
    Or "or",
    Fma "fma",
    Clip "clip",
    Select "select",
}

/// The name in the text of the intermediate languages: `floor_div`, `cast_f32`.
impl fmt::Display for ScalarOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match name(*self) {
            (name, None) => f.write_str(name),
            (name, Some(target)) => write!(f, "{name}{target}"),
        }
    }
}

impl ScalarOp {
    /// Every operator, with the conversions to every type.
    pub fn all() -> impl Iterator<Item = ScalarOp> {
        let to = |conversion: fn(ScalarType) -> ScalarOp| ScalarType::ALL.map(conversion);
        let plain = OPERATORS.into_iter().map(|(op, _)| op);
        plain.chain(to(ScalarOp::Cast)).chain(to(ScalarOp::Bitcast))
    }

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
