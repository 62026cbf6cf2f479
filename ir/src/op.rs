//! The scalar operators: one enum, shared by the typed program, the interpreter and every later
//! stage. What each one yields is defined in [`crate::math`].

use crate::ScalarType;

/// An operator from scalars to a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named as the language names it; see the builtins table")]
pub enum ScalarOp {
    // One operand.
    Neg,
    Not,
    Complement,
    Abs,
    Signum,
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Floor,
    Ceil,
    Round,
    Trunc,
    IsNan,
    IsInf,
    Popcount,
    Clz,
    Ctz,
    /// Conversion to the given type (truncating, saturating or rounding as numerics.md says).
    Cast(ScalarType),
    /// The same bits read as another type of the same width.
    Bitcast(ScalarType),
    // Two operands.
    Add,
    Sub,
    Mul,
    /// `/`, floats only.
    Div,
    /// `//`: towards minus infinity.
    FloorDiv,
    /// `%`: the remainder of `//`.
    Mod,
    /// Truncating division.
    Quot,
    /// The remainder of `quot`.
    Rem,
    /// `**`.
    Pow,
    Min,
    Max,
    Atan2,
    Hypot,
    Gcd,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    // Three operands.
    /// `fma a b c` = a·b + c, rounded once.
    Fma,
    /// `clip lo hi x`.
    Clip,
    /// `select c a b`: a where c holds, else b.
    Select,
}
