//! The Rust types that stand for the scalar types, and their way into and out of [`Scalar`].

use crate::{Scalar, ScalarType};

/// A Rust type that represents one scalar type.
pub trait Element: Copy + 'static {
    /// The scalar type it represents.
    const TYPE: ScalarType;

    /// The value inside `scalar`.
    ///
    /// # Panics
    ///
    /// When `scalar` has another type.
    fn from_scalar(scalar: Scalar) -> Self;

    /// The value with its type.
    fn into_scalar(self) -> Scalar;
}

/// One byte of text: the language's `char`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Character(pub u8);

macro_rules! element {
    ($rust:ty, $variant:ident, $inner:pat => $value:expr, $this:ident => $payload:expr) => {
        impl Element for $rust {
            const TYPE: ScalarType = ScalarType::$variant;

            #[inline]
            fn from_scalar(scalar: Scalar) -> $rust {
                match scalar {
                    Scalar::$variant($inner) => $value,
                    other => wrong_type(ScalarType::$variant, other),
                }
            }

            #[inline]
            fn into_scalar(self) -> Scalar {
                let $this = self;
                Scalar::$variant($payload)
            }
        }
    };
    ($rust:ty, $variant:ident) => {
        element!($rust, $variant, value => value, this => this);
    };
}

element!(i8, I8);
element!(i16, I16);
element!(i32, I32);
element!(i64, I64);
element!(u8, U8);
element!(u16, U16);
element!(u32, U32);
element!(u64, U64);
element!(f32, F32);
element!(f64, F64);
element!(bool, Bool);
element!(Character, Char, byte => Character(byte), this => this.0);

#[cold]
fn wrong_type(wanted: ScalarType, found: Scalar) -> ! {
    panic!("an operand of type {wanted} is {found:?}")
}
