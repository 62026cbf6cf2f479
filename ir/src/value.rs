//! Values of the language on the host, and their types.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::{Array, Looks, Scalar, ScalarType};

/// A name of the program: of a variable, a field, a size.
pub type Name = Arc<str>;

/// The type of a value: monomorphic, and without functions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar.
    Scalar(ScalarType),
    /// A tuple; `()` has no components.
    Tuple(Arc<[Type]>),
    /// A record: fields in the order of the type. Its values are stored as tuples.
    Record(Arc<[(Name, Type)]>),
    /// An array of such elements; nesting gives the rank.
    Array(Arc<Type>),
}

impl Type {
    /// The type of arrays of `element`.
    pub fn array(element: Type) -> Type {
        Type::Array(Arc::new(element))
    }

    /// How many array axes there are before an element that is no array.
    pub fn rank(&self) -> usize {
        match self {
            Type::Array(element) => 1 + element.rank(),
            Type::Scalar(_) | Type::Tuple(_) | Type::Record(_) => 0,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(ty) => write!(f, "{ty}"),
            Type::Tuple(parts) => {
                f.write_str("(")?;
                for (index, part) in parts.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{part}")?;
                }
                f.write_str(")")
            }
            Type::Record(fields) => {
                f.write_str("{")?;
                for (index, (name, ty)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{name}: {ty}")?;
                }
                f.write_str("}")
            }
            Type::Array(element) => write!(f, "[]{element}"),
        }
    }
}

/// A value on the host.
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// A tuple, or a record with its fields in the order of the type.
    Tuple(Arc<[Value]>),
    /// An array.
    Array(Arc<Array>),
}

impl Value {
    /// As [`Column::bring`](crate::Column::bring), of all arrays in it.
    pub fn bring(&self, looks: Looks, cancel: &AtomicBool) -> bool {
        match self {
            Value::Scalar(_) => true,
            Value::Tuple(parts) => parts.iter().all(|part| part.bring(looks, cancel)),
            Value::Array(array) => array.elements.bring(looks, cancel),
        }
    }

    /// The same result in the sense of numerics.md: equal shapes and bits, all NaNs being equal.
    pub fn same_bits(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Scalar(a), Value::Scalar(b)) => a.same_bits(*b),
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same_bits(b))
            }
            (Value::Array(a), Value::Array(b)) => a.elements.same_bits(&b.elements),
            (Value::Scalar(_) | Value::Tuple(_) | Value::Array(_), _) => false,
        }
    }

    /// As [`Value::same_bits`], but extents under an axis without elements do not count
    /// ([`crate::Column::same_elements`]).
    pub fn same_elements(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Scalar(a), Value::Scalar(b)) => a.same_bits(*b),
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same_elements(b))
            }
            (Value::Array(a), Value::Array(b)) => a.elements.same_elements(&b.elements),
            (Value::Scalar(_) | Value::Tuple(_) | Value::Array(_), _) => false,
        }
    }

    /// The bytes that the value takes, in memory or mapped.
    pub fn bytes(&self) -> usize {
        match self {
            Value::Scalar(scalar) => scalar.ty().bytes(),
            Value::Tuple(parts) => parts.iter().map(Value::bytes).sum(),
            Value::Array(array) => array.elements.bytes(),
        }
    }

    /// As [`Value::bytes`], of what lies somewhere else than in memory of its own ([`crate::Buf::mapped`]).
    pub fn mapped_bytes(&self) -> usize {
        match self {
            Value::Scalar(_) => 0,
            Value::Tuple(parts) => parts.iter().map(Value::mapped_bytes).sum(),
            Value::Array(array) => array.elements.mapped_bytes(),
        }
    }

    /// The bytes of memory that the value takes.
    pub fn memory_bytes(&self) -> usize {
        self.bytes() - self.mapped_bytes()
    }

    /// As [`Column::changed`](crate::Column::changed), of all arrays in it.
    pub fn changed(&self) -> Option<String> {
        match self {
            Value::Scalar(_) => None,
            Value::Tuple(parts) => parts.iter().find_map(Value::changed),
            Value::Array(array) => array.elements.changed(),
        }
    }

    /// The text of a `[]char`.
    pub fn text(text: &str) -> Value {
        let bytes = text.as_bytes().to_vec();
        Value::Array(Arc::new(Array::new(crate::Column::Char(bytes.into()))))
    }
}
