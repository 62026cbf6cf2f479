//! What an expression evaluates to: a value, or the error that stands in its place.
//!
//! Evaluation is eager, but an error is observable only if its value is needed. So an error is a
//! value like any other: a strict operation that meets one yields it, a tuple or an array may hold
//! one, and only what is left in the result of the whole program is reported.

use std::rc::Rc;
use std::sync::Arc;

use weft_ir::{Array, Column, ColumnBuilder, Scalar, ScalarType, Trap, Type, Value};

use crate::apply::Function;
use crate::builtins::neighbourhood::{Boundary, Window};

/// A value or an error.
///
/// Scalars are words: an integer sign- or zero-extended, the bits of a float, 0 or 1 for a `bool`,
/// the byte of a `char`. With a payload of one word in every variant, a value is passed in two
/// registers; [`Val::of_scalar`] and [`Val::scalar`] convert.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    I8(u64),
    I16(u64),
    I32(u64),
    I64(i64),
    U8(u64),
    U16(u64),
    U32(u64),
    U64(u64),
    F32(u64),
    F64(u64),
    Bool(u64),
    Char(u64),
    /// A tuple, or a record with its fields in the order of the type.
    Tuple(Rc<Vec<Val>>),
    /// An array without any error inside.
    Array(Rc<Column>),
    /// An array with an error in at least one of its elements.
    Boxed(Rc<Vec<Val>>),
    Error(Rc<Trap>),
    Function(Rc<Function>),
    Window(Rc<Window>),
    Boundary(Rc<Boundary>),
}

impl Val {
    /// What a slot holds that nobody reads.
    pub(crate) const NOTHING: Val = Val::Bool(0);

    pub(crate) fn bool(value: bool) -> Val {
        Val::Bool(u64::from(value))
    }

    #[inline]
    pub(crate) fn of_scalar(scalar: Scalar) -> Val {
        match scalar {
            Scalar::I8(value) => Val::I8(value as u64),
            Scalar::I16(value) => Val::I16(value as u64),
            Scalar::I32(value) => Val::I32(value as u64),
            Scalar::I64(value) => Val::I64(value),
            Scalar::U8(value) => Val::U8(value.into()),
            Scalar::U16(value) => Val::U16(value.into()),
            Scalar::U32(value) => Val::U32(value.into()),
            Scalar::U64(value) => Val::U64(value),
            Scalar::F32(value) => Val::F32(value.to_bits().into()),
            Scalar::F64(value) => Val::F64(value.to_bits()),
            Scalar::Bool(value) => Val::Bool(value.into()),
            Scalar::Char(value) => Val::Char(value.into()),
        }
    }

    /// The scalar of type `ty` that a word stands for.
    #[inline]
    pub(crate) fn of_word(word: u64, ty: ScalarType) -> Val {
        // In the order of the variants, so that the tag is the type.
        match ty {
            ScalarType::I8 => Val::I8(word),
            ScalarType::I16 => Val::I16(word),
            ScalarType::I32 => Val::I32(word),
            ScalarType::I64 => Val::I64(word as i64),
            ScalarType::U8 => Val::U8(word),
            ScalarType::U16 => Val::U16(word),
            ScalarType::U32 => Val::U32(word),
            ScalarType::U64 => Val::U64(word),
            ScalarType::F32 => Val::F32(word),
            ScalarType::F64 => Val::F64(word),
            ScalarType::Bool => Val::Bool(word),
            ScalarType::Char => Val::Char(word),
        }
    }

    /// The word of a scalar.
    #[inline]
    pub(crate) fn word(&self) -> Option<u64> {
        match self {
            Val::I64(value) => Some(*value as u64),
            Val::I8(word)
            | Val::I16(word)
            | Val::I32(word)
            | Val::U8(word)
            | Val::U16(word)
            | Val::U32(word)
            | Val::U64(word)
            | Val::F32(word)
            | Val::F64(word)
            | Val::Bool(word)
            | Val::Char(word) => Some(*word),
            Val::Tuple(_)
            | Val::Array(_)
            | Val::Boxed(_)
            | Val::Error(_)
            | Val::Function(_)
            | Val::Window(_)
            | Val::Boundary(_) => None,
        }
    }

    /// The scalar that the value is, if it is one.
    #[inline]
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        Some(match self {
            Val::I8(word) => Scalar::I8(*word as i8),
            Val::I16(word) => Scalar::I16(*word as i16),
            Val::I32(word) => Scalar::I32(*word as i32),
            Val::I64(value) => Scalar::I64(*value),
            Val::U8(word) => Scalar::U8(*word as u8),
            Val::U16(word) => Scalar::U16(*word as u16),
            Val::U32(word) => Scalar::U32(*word as u32),
            Val::U64(value) => Scalar::U64(*value),
            Val::F32(word) => Scalar::F32(f32::from_bits(*word as u32)),
            Val::F64(word) => Scalar::F64(f64::from_bits(*word)),
            Val::Bool(word) => Scalar::Bool(*word != 0),
            Val::Char(word) => Scalar::Char(*word as u8),
            Val::Tuple(_)
            | Val::Array(_)
            | Val::Boxed(_)
            | Val::Error(_)
            | Val::Function(_)
            | Val::Window(_)
            | Val::Boundary(_) => return None,
        })
    }

    pub(crate) fn tuple(parts: Vec<Val>) -> Val {
        Val::Tuple(Rc::new(parts))
    }

    pub(crate) fn array(elements: Column) -> Val {
        Val::Array(Rc::new(elements))
    }

    /// The value of an earlier binding.
    pub(crate) fn of_value(value: &Value) -> Val {
        match value {
            Value::Scalar(scalar) => Val::of_scalar(*scalar),
            Value::Tuple(parts) => Val::tuple(parts.iter().map(Val::of_value).collect()),
            Value::Array(array) => Val::array(array.elements.clone()),
        }
    }

    /// The value, if there is no error in it; else the first one in order.
    pub(crate) fn force(self) -> Result<Value, Rc<Trap>> {
        if let Some(scalar) = self.scalar() {
            return Ok(Value::Scalar(scalar));
        }
        match self {
            Val::Tuple(parts) => {
                let parts: Result<Vec<Value>, _> = parts.iter().cloned().map(Val::force).collect();
                Ok(Value::Tuple(parts?.into()))
            }
            Val::Array(elements) => {
                let elements = Rc::try_unwrap(elements).unwrap_or_else(|shared| (*shared).clone());
                Ok(Value::Array(Arc::new(Array::new(elements))))
            }
            Val::Boxed(elements) => match elements.iter().find_map(Val::first_error) {
                Some(error) => Err(error),
                None => panic!("a boxed array without an error"),
            },
            Val::Error(error) => Err(error),
            other => panic!("a program's result is {other:?}"),
        }
    }

    /// The first error in the value, in the order of its parts.
    pub(crate) fn first_error(&self) -> Option<Rc<Trap>> {
        match self {
            Val::Error(error) => Some(Rc::clone(error)),
            Val::Tuple(parts) | Val::Boxed(parts) => parts.iter().find_map(Val::first_error),
            _ => None,
        }
    }

    /// Component `index` of a tuple. An error has itself in every component.
    pub(crate) fn component(&self, index: usize) -> Val {
        match self {
            Val::Tuple(parts) => parts[index].clone(),
            Val::Error(_) => self.clone(),
            other => panic!("{other:?} is no tuple"),
        }
    }

    /// Appends the value to a builder of its type; there must be no error in it.
    pub(crate) fn push_to(&self, builder: &mut ColumnBuilder) {
        if let Some(scalar) = self.scalar() {
            return builder.push_scalar(scalar);
        }
        match self {
            Val::Tuple(parts) => {
                for (part, builder) in parts.iter().zip(builder.push_tuple()) {
                    part.push_to(builder);
                }
            }
            Val::Array(elements) => builder.push_array(elements),
            other => panic!("{other:?} cannot be packed"),
        }
    }

    /// Roughly the bytes that the value takes as an element of an array.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Val::Tuple(parts) => parts.iter().map(Val::bytes).sum(),
            Val::Array(elements) => elements.bytes() as u64 + size_of::<usize>() as u64,
            Val::Boxed(elements) => elements.iter().map(Val::bytes).sum(),
            // Errors that are equal are mostly shared.
            Val::Error(error) if Rc::strong_count(error) > 2 => size_of::<Val>() as u64,
            Val::Error(_) => (size_of::<Val>() + size_of::<Trap>()) as u64,
            other => other.scalar().map_or(size_of::<Val>(), |scalar| scalar.ty().bytes()) as u64,
        }
    }
}

/// The element type of an array type.
pub(crate) fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::Array(element) => element,
        other => panic!("{other} is no array type"),
    }
}

/// The type of a component of a tuple or record type.
pub(crate) fn component_type(ty: &Type, index: usize) -> &Type {
    match ty {
        Type::Tuple(parts) => &parts[index],
        Type::Record(fields) => &fields[index].1,
        other => panic!("{other} is no tuple type"),
    }
}

/// The type under `depth` array axes.
pub(crate) fn under(ty: &Type, depth: usize) -> &Type {
    (0..depth).fold(ty, |ty, _| element_type(ty))
}

/// The type of `ty` under `depth` array axes.
pub(crate) fn arrays(depth: usize, ty: &Type) -> Type {
    (0..depth).fold(ty.clone(), |ty, _| Type::array(ty))
}

// Evaluation passes values around more than anything else.
const _: () = assert!(size_of::<Val>() == 16);
const _: () = assert!(size_of::<Result<Val, crate::machine::Unwind>>() == 16);
