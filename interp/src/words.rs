//! Scalar operators on words: the common binary operators once more, in the form in which
//! [`Val`](crate::value::Val) holds scalars, so that operands and results stay in registers. The
//! meaning is that of [`weft_ir::math`], whose typed methods these functions call; a test compares
//! the two.

use weft_ir::math::element::Character;
use weft_ir::math::float::Float;
use weft_ir::math::integer::Integer;
use weft_ir::{Column, Scalar, ScalarOp, ScalarType};

/// A binary operator on words; nothing where it traps.
pub(crate) type Words = fn(u64, u64) -> Option<u64>;

/// A type that is held in a word.
trait Word: Copy {
    fn from_word(word: u64) -> Self;
    fn into_word(self) -> u64;
}

macro_rules! words {
    ($($ty:ty)*) => {$(
        impl Word for $ty {
            #[inline]
            fn from_word(word: u64) -> $ty {
                word as $ty
            }

            #[inline]
            fn into_word(self) -> u64 {
                self as u64
            }
        }
    )*};
}

words! { i8 i16 i32 i64 u8 u16 u32 u64 }

impl Word for f32 {
    #[inline]
    fn from_word(word: u64) -> f32 {
        f32::from_bits(word as u32)
    }

    #[inline]
    fn into_word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Word for f64 {
    #[inline]
    fn from_word(word: u64) -> f64 {
        f64::from_bits(word)
    }

    #[inline]
    fn into_word(self) -> u64 {
        self.to_bits()
    }
}

impl Word for bool {
    #[inline]
    fn from_word(word: u64) -> bool {
        word != 0
    }

    #[inline]
    fn into_word(self) -> u64 {
        u64::from(self)
    }
}

impl Word for Character {
    #[inline]
    fn from_word(word: u64) -> Character {
        Character(word as u8)
    }

    #[inline]
    fn into_word(self) -> u64 {
        u64::from(self.0)
    }
}

/// The word form of a binary operator on operands of type `ty`, if it has one.
pub(crate) fn binary(op: ScalarOp, ty: ScalarType) -> Option<Words> {
    match ty {
        ScalarType::I8 => integer::<i8>(op),
        ScalarType::I16 => integer::<i16>(op),
        ScalarType::I32 => integer::<i32>(op),
        ScalarType::I64 => integer::<i64>(op),
        ScalarType::U8 => integer::<u8>(op),
        ScalarType::U16 => integer::<u16>(op),
        ScalarType::U32 => integer::<u32>(op),
        ScalarType::U64 => integer::<u64>(op),
        ScalarType::F32 => float::<f32>(op),
        ScalarType::F64 => float::<f64>(op),
        ScalarType::Bool => comparison::<bool>(op),
        ScalarType::Char => comparison::<Character>(op),
    }
}

/// A function on words from one on `$ty`; `try` if that yields a `Result`.
macro_rules! lift {
    (|$a:ident, $b:ident| $ty:ty => try $body:expr) => {
        |a, b| {
            let ($a, $b) = (<$ty>::from_word(a), <$ty>::from_word(b));
            $body.ok().map(Word::into_word)
        }
    };
    (|$a:ident, $b:ident| $ty:ty => $body:expr) => {
        |a, b| {
            let ($a, $b) = (<$ty>::from_word(a), <$ty>::from_word(b));
            Some(Word::into_word($body))
        }
    };
}

fn integer<T: Integer + Word>(op: ScalarOp) -> Option<Words> {
    Some(match op {
        ScalarOp::Add => lift!(|a, b| T => a.add(b)),
        ScalarOp::Sub => lift!(|a, b| T => a.sub(b)),
        ScalarOp::Mul => lift!(|a, b| T => a.mul(b)),
        ScalarOp::FloorDiv => lift!(|a, b| T => try a.floor_div(b)),
        ScalarOp::Mod => lift!(|a, b| T => try a.modulo(b)),
        ScalarOp::Quot => lift!(|a, b| T => try a.quot(b)),
        ScalarOp::Rem => lift!(|a, b| T => try a.rem(b)),
        ScalarOp::Min => lift!(|a, b| T => a.min(b)),
        ScalarOp::Max => lift!(|a, b| T => a.max(b)),
        ScalarOp::BitAnd => lift!(|a, b| T => a.bit_and(b)),
        ScalarOp::BitOr => lift!(|a, b| T => a.bit_or(b)),
        ScalarOp::BitXor => lift!(|a, b| T => a.bit_xor(b)),
        ScalarOp::Shl => lift!(|a, b| T => a.shl(b)),
        ScalarOp::Shr => lift!(|a, b| T => a.shr(b)),
        _ => return comparison::<T>(op),
    })
}

fn float<T: Float + Word>(op: ScalarOp) -> Option<Words> {
    Some(match op {
        ScalarOp::Add => lift!(|a, b| T => a.add(b)),
        ScalarOp::Sub => lift!(|a, b| T => a.sub(b)),
        ScalarOp::Mul => lift!(|a, b| T => a.mul(b)),
        ScalarOp::Div => lift!(|a, b| T => a.div(b)),
        ScalarOp::Min => lift!(|a, b| T => a.min(b)),
        ScalarOp::Max => lift!(|a, b| T => a.max(b)),
        _ => return comparison::<T>(op),
    })
}

fn comparison<T: PartialOrd + Word>(op: ScalarOp) -> Option<Words> {
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

/// Element `index` of a scalar column, as a word.
#[inline]
pub(crate) fn word_at(column: &Column, index: usize) -> u64 {
    match column {
        Column::I8(buf) => buf.as_slice()[index].into_word(),
        Column::I16(buf) => buf.as_slice()[index].into_word(),
        Column::I32(buf) => buf.as_slice()[index].into_word(),
        Column::I64(buf) => buf.as_slice()[index].into_word(),
        Column::U8(buf) | Column::Char(buf) => buf.as_slice()[index].into_word(),
        Column::U16(buf) => buf.as_slice()[index].into_word(),
        Column::U32(buf) => buf.as_slice()[index].into_word(),
        Column::U64(buf) => buf.as_slice()[index].into_word(),
        Column::F32(buf) => buf.as_slice()[index].into_word(),
        Column::F64(buf) => buf.as_slice()[index].into_word(),
        Column::Bool(buf) => buf.as_slice()[index].into_word(),
        Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => {
            panic!("a column of words is no column of {column:?}")
        }
    }
}

/// A scalar as a word.
#[inline]
pub(crate) fn word_of(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::I8(value) => value.into_word(),
        Scalar::I16(value) => value.into_word(),
        Scalar::I32(value) => value.into_word(),
        Scalar::I64(value) => value.into_word(),
        Scalar::U8(value) | Scalar::Char(value) => value.into_word(),
        Scalar::U16(value) => value.into_word(),
        Scalar::U32(value) => value.into_word(),
        Scalar::U64(value) => value.into_word(),
        Scalar::F32(value) => value.into_word(),
        Scalar::F64(value) => value.into_word(),
        Scalar::Bool(value) => value.into_word(),
    }
}

/// The scalar of type `ty` that a word stands for.
#[inline]
pub(crate) fn scalar_of(word: u64, ty: ScalarType) -> Scalar {
    match ty {
        ScalarType::I8 => Scalar::I8(Word::from_word(word)),
        ScalarType::I16 => Scalar::I16(Word::from_word(word)),
        ScalarType::I32 => Scalar::I32(Word::from_word(word)),
        ScalarType::I64 => Scalar::I64(Word::from_word(word)),
        ScalarType::U8 => Scalar::U8(Word::from_word(word)),
        ScalarType::U16 => Scalar::U16(Word::from_word(word)),
        ScalarType::U32 => Scalar::U32(Word::from_word(word)),
        ScalarType::U64 => Scalar::U64(Word::from_word(word)),
        ScalarType::F32 => Scalar::F32(Word::from_word(word)),
        ScalarType::F64 => Scalar::F64(Word::from_word(word)),
        ScalarType::Bool => Scalar::Bool(Word::from_word(word)),
        ScalarType::Char => Scalar::Char(Word::from_word(word)),
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::{ScalarOp, ScalarType, math};

    use super::{binary, scalar_of, word_of};

    const OPERATORS: &[ScalarOp] = &[
        ScalarOp::Add,
        ScalarOp::Sub,
        ScalarOp::Mul,
        ScalarOp::Div,
        ScalarOp::FloorDiv,
        ScalarOp::Mod,
        ScalarOp::Quot,
        ScalarOp::Rem,
        ScalarOp::Min,
        ScalarOp::Max,
        ScalarOp::BitAnd,
        ScalarOp::BitOr,
        ScalarOp::BitXor,
        ScalarOp::Shl,
        ScalarOp::Shr,
        ScalarOp::Eq,
        ScalarOp::Ne,
        ScalarOp::Lt,
        ScalarOp::Le,
        ScalarOp::Gt,
        ScalarOp::Ge,
    ];

    /// Bit patterns that are interesting as integers and as floats.
    const WORDS: &[u64] = &[
        0,
        1,
        2,
        3,
        7,
        63,
        64,
        127,
        128,
        255,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0x7fc0_0000,
        0xff80_0000,
        0x3ff0_0000_0000_0000,
        0x4008_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0x8000_0000_0000_0000,
        u64::MAX,
    ];

    #[test]
    fn words_mean_what_scalars_mean() {
        let mut compared = 0;
        for ty in ScalarType::ALL {
            for op in OPERATORS {
                let (Some(words), Some(scalars)) = (binary(*op, ty), math::binary(*op, ty)) else {
                    assert!(binary(*op, ty).is_none(), "{op:?} is not defined for {ty}");
                    continue;
                };
                let result = math::result_type(*op, &[ty, ty]).expect("a typed operator");
                for a in WORDS.iter().map(|word| scalar_of(*word, ty)) {
                    for b in WORDS.iter().map(|word| scalar_of(*word, ty)) {
                        let found = words(word_of(a), word_of(b));
                        let found = found.map(|word| scalar_of(word, result));
                        match (found, scalars(a, b)) {
                            (Some(found), Ok(wanted)) => {
                                assert!(found.same_bits(wanted), "{op:?} {a:?} {b:?}: {found:?}");
                                assert_eq!(
                                    word_of(found),
                                    word_of(scalar_of(word_of(found), result))
                                );
                            }
                            (None, Err(_)) => {}
                            (found, wanted) => panic!("{op:?} {a:?} {b:?}: {found:?}, {wanted:?}"),
                        }
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 50_000, "only {compared} pairs");
    }
}
