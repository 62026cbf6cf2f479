//! What an expression evaluates to: a value, or the error that stands in its place.
//!
//! Evaluation is eager, but an error is observable only if its value is needed. So an error is a
//! value like any other: a strict operation that meets one yields it, a tuple or an array may hold
//! one, and only what is left in the result of the whole program is reported.

use std::rc::Rc;
use std::sync::Arc;

use weft_ir::{Array, Column, ColumnBuilder, Scalar, Trap, Type, Value};

use crate::apply::Function;
use crate::builtins::neighbourhood::{Boundary, Window};

/// A value or an error. Two words wide.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    Scalar(Scalar),
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
    pub(crate) const NOTHING: Val = Val::Scalar(Scalar::Bool(false));

    pub(crate) fn i64(value: i64) -> Val {
        Val::Scalar(Scalar::I64(value))
    }

    pub(crate) fn bool(value: bool) -> Val {
        Val::Scalar(Scalar::Bool(value))
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
            Value::Scalar(scalar) => Val::Scalar(*scalar),
            Value::Tuple(parts) => Val::tuple(parts.iter().map(Val::of_value).collect()),
            Value::Array(array) => Val::array(array.elements.clone()),
        }
    }

    /// The value, if there is no error in it; else the first one in order.
    pub(crate) fn force(self) -> Result<Value, Rc<Trap>> {
        match self {
            Val::Scalar(scalar) => Ok(Value::Scalar(scalar)),
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
            Val::Function(_) | Val::Window(_) | Val::Boundary(_) => {
                panic!("a program's result is a function, a window or a boundary")
            }
        }
    }

    /// The first error in the value, in the order of its parts.
    pub(crate) fn first_error(&self) -> Option<Rc<Trap>> {
        match self {
            Val::Error(error) => Some(Rc::clone(error)),
            Val::Tuple(parts) | Val::Boxed(parts) => parts.iter().find_map(Val::first_error),
            Val::Scalar(_)
            | Val::Array(_)
            | Val::Function(_)
            | Val::Window(_)
            | Val::Boundary(_) => None,
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
        match self {
            Val::Scalar(scalar) => builder.push_scalar(*scalar),
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
            Val::Scalar(scalar) => scalar.ty().bytes() as u64,
            Val::Tuple(parts) => parts.iter().map(Val::bytes).sum(),
            Val::Array(elements) => elements.bytes() as u64 + size_of::<usize>() as u64,
            Val::Boxed(elements) => elements.iter().map(Val::bytes).sum(),
            Val::Error(_) | Val::Function(_) | Val::Window(_) | Val::Boundary(_) => {
                size_of::<Val>() as u64
            }
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
