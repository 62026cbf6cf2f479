//! The arguments of a kernel: the fields of one structure, which the text declares and the host fills.

use weft_codegen::Dialect;
use weft_ir::flat::{Type, Var};
use weft_ir::{Scalar, ScalarType};

/// A field of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    /// Where a failing check leaves its number.
    Failure,
    /// An array that is read.
    Array(Var),
    /// An array that is written.
    Output(Var),
    /// A scalar.
    Scalar(Var),
    /// A buffer that only the pieces of one kernel know.
    Temporary(usize),
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Argument {
    /// The address of a buffer.
    Pointer(u64),
    /// A scalar.
    Scalar(Scalar),
}

impl Field {
    /// The field as an expression in a function that takes the arguments as `in`.
    pub(crate) fn name(self) -> String {
        match self {
            Field::Failure => "in.failure".into(),
            Field::Array(var) | Field::Output(var) | Field::Scalar(var) => format!("in.a{}", var.0),
            Field::Temporary(number) => format!("in.t{number}"),
        }
    }

    /// The declaration; `temporaries` are the types of the kernel's.
    pub(crate) fn declaration(self, types: &[Type], temporaries: &[ScalarType]) -> String {
        let name = |ty| Dialect::Cuda.type_name(ty);
        let of = |var: Var| name(types[var.0 as usize].element);
        match self {
            Field::Failure => "u32* failure;".into(),
            Field::Array(var) => format!("const {}* a{};", of(var), var.0),
            Field::Output(var) => format!("{}* a{};", of(var), var.0),
            Field::Scalar(var) => format!("{} a{};", of(var), var.0),
            Field::Temporary(number) => format!("{}* t{number};", name(temporaries[number])),
        }
    }
}

/// The bytes of a structure with these fields, laid out as C++ does.
pub(crate) fn structure(arguments: &[Argument]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut widest = 1;
    for argument in arguments {
        let field = match *argument {
            Argument::Pointer(address) => address.to_le_bytes().to_vec(),
            Argument::Scalar(scalar) => scalar_bytes(scalar),
        };
        widest = widest.max(field.len());
        bytes.resize(bytes.len().next_multiple_of(field.len()), 0);
        bytes.extend(field);
    }
    bytes.resize(bytes.len().next_multiple_of(widest), 0);
    bytes
}

/// A scalar as the device stores it.
pub(crate) fn scalar_bytes(scalar: Scalar) -> Vec<u8> {
    match scalar {
        Scalar::I8(value) => value.to_le_bytes().to_vec(),
        Scalar::I16(value) => value.to_le_bytes().to_vec(),
        Scalar::I32(value) => value.to_le_bytes().to_vec(),
        Scalar::I64(value) => value.to_le_bytes().to_vec(),
        Scalar::U8(value) | Scalar::Char(value) => vec![value],
        Scalar::U16(value) => value.to_le_bytes().to_vec(),
        Scalar::U32(value) => value.to_le_bytes().to_vec(),
        Scalar::U64(value) => value.to_le_bytes().to_vec(),
        Scalar::F32(value) => value.to_le_bytes().to_vec(),
        Scalar::F64(value) => value.to_le_bytes().to_vec(),
        Scalar::Bool(value) => vec![u8::from(value)],
    }
}
