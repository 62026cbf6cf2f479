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
    /// A scalar that the host knows.
    Scalar(Var),
    /// A scalar that a kernel has computed, on the device.
    Computed(Var),
    /// A scalar by which is divided.
    Divisor(Var),
    /// A buffer that only the pieces of one kernel know.
    Temporary(usize),
    /// As [`Field::Temporary`], of numbers: of 32 bits where these suffice.
    Numbers(usize),
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Argument {
    /// The address of a buffer.
    Pointer(u64),
    /// A scalar.
    Scalar(Scalar),
    /// A divisor.
    Divisor(Divisor),
}

/// A number by which numbers from 0 on are divided by multiplying (Granlund and Montgomery, "Division
/// by invariant integers using multiplication", 1994, theorem 4.2): of 63 bits, and of 31 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    by: u64,
    magic: u64,
    narrow: u32,
    shift: u32,
}

impl Divisor {
    /// Of a number below 2^63. Nothing is divided by 0: where an extent is 0, there are no points.
    pub(crate) fn new(by: u64) -> Divisor {
        if by < 2 {
            return Divisor { by, magic: 0, narrow: 0, shift: 0 };
        }
        let bits = u64::BITS - (by - 1).leading_zeros();
        let magic = (1_u128 << (63 + bits)) / u128::from(by) + 1;
        let narrow = (1_u128 << (31 + bits)) / u128::from(by) + 1;
        // The second is only used below 2^31, where it fits.
        Divisor { by, magic: magic as u64, narrow: narrow as u32, shift: bits - 1 }
    }

    /// As the skeletons have it.
    pub(crate) fn bytes(self) -> Vec<u8> {
        let wide = self.by.to_le_bytes().into_iter().chain(self.magic.to_le_bytes());
        wide.chain(self.narrow.to_le_bytes()).chain(self.shift.to_le_bytes()).collect()
    }
}

impl Field {
    /// The field as an expression in a function that takes the arguments as `in`.
    pub(crate) fn name(self) -> String {
        match self {
            Field::Failure => "in.failure".into(),
            Field::Array(var) | Field::Output(var) | Field::Scalar(var) => format!("in.a{}", var.0),
            Field::Computed(var) => format!("in.c{}[0]", var.0),
            Field::Divisor(var) => format!("in.d{}", var.0),
            Field::Temporary(number) | Field::Numbers(number) => format!("in.t{number}"),
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
            Field::Computed(var) => format!("const {}* c{};", of(var), var.0),
            Field::Divisor(var) => format!("Divisor d{};", var.0),
            Field::Temporary(number) => format!("{}* t{number};", name(temporaries[number])),
            Field::Numbers(number) => format!("Index* t{number};"),
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
            Argument::Divisor(divisor) => divisor.bytes(),
        };
        let alignment = field.len().min(8);
        widest = widest.max(alignment);
        bytes.resize(bytes.len().next_multiple_of(alignment), 0);
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

#[cfg(test)]
mod tests {
    use super::Divisor;

    fn quotient(number: u64, by: Divisor) -> u64 {
        match by.magic {
            0 => number,
            magic => ((u128::from(number) * u128::from(magic)) >> 64) as u64 >> by.shift,
        }
    }

    fn narrow_quotient(number: u32, by: Divisor) -> u32 {
        match by.magic {
            0 => number,
            _ => ((u64::from(number) * u64::from(by.narrow)) >> 32) as u32 >> by.shift,
        }
    }

    #[test]
    fn quotients_are_exact() {
        let powers = (0..63).map(|bits| 1_u64 << bits);
        let around = powers.flat_map(|power| [power.saturating_sub(1), power, power + 1]);
        let numbers: Vec<u64> =
            around.chain([3, 5, 6, 7, 10, 641, 1000, 6_700_417, (1 << 63) - 1]).collect();
        for &by in numbers.iter().filter(|by| **by > 0) {
            let divisor = Divisor::new(by);
            let multiples = numbers.iter().flat_map(|times| {
                let product = times.checked_mul(by).filter(|product| *product < 1 << 63);
                product.into_iter().flat_map(|product| [product.saturating_sub(1), product])
            });
            for number in numbers.iter().copied().chain(multiples) {
                assert_eq!(quotient(number, divisor), number / by, "{number} / {by}");
                if let (Ok(number), true) = (u32::try_from(number), by < 1 << 31)
                    && number < 1 << 31
                {
                    assert_eq!(narrow_quotient(number, divisor), number / by as u32);
                }
            }
        }
    }
}
