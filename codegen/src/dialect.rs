//! The languages that the text is written in.

use weft_ir::ScalarType;

/// A language of the C family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// C11 with the builtins of GCC and Clang.
    C,
    /// CUDA C++ as NVRTC compiles it.
    Cuda,
}

impl Dialect {
    /// What comes before all other text: types, and the operators as functions. It includes nothing.
    pub fn prelude(self) -> String {
        let shared = include_str!("prelude/shared.h");
        match self {
            Dialect::C => {
                let division = include_str!("prelude/division.h");
                format!("{}\n{shared}\n{division}", include_str!("prelude/c.h"))
            }
            Dialect::Cuda => format!("{}\n{shared}", include_str!("prelude/cuda.h")),
        }
    }
}

/// The type of registers and elements of a scalar type; a `char` is a byte.
pub(crate) fn type_name(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Char => "u8",
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::F32
        | ScalarType::F64
        | ScalarType::Bool => ty.name(),
    }
}

impl Dialect {
    /// The name of the type of registers and elements of a scalar type; a `char` is a byte.
    pub fn type_name(self, ty: ScalarType) -> &'static str {
        type_name(ty)
    }
}
