//! The types of generated expressions.

use std::fmt;

/// A type of the language; of scalars the three that differ most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Float,
    Bool,
    Pair(Box<Type>, Box<Type>),
    Array(Box<Type>),
}

impl Type {
    pub(super) fn array(&self) -> Type {
        Type::Array(Box::new(self.clone()))
    }

    pub(super) fn pair(left: &Type, right: &Type) -> Type {
        Type::Pair(Box::new(left.clone()), Box::new(right.clone()))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int => formatter.write_str("i64"),
            Type::Float => formatter.write_str("f64"),
            Type::Bool => formatter.write_str("bool"),
            Type::Pair(left, right) => write!(formatter, "({left}, {right})"),
            Type::Array(element) => write!(formatter, "[]{element}"),
        }
    }
}
