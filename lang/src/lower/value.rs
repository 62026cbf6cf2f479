//! Symbolic values, and how types become leaves.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use weft_ir::nested::{self, Atom};
use weft_ir::{Scalar, ScalarType, Span};

use crate::builtins::Builtin;
use crate::typed::{Expr, InstanceId, LocalId, Pattern};
use crate::types::Type;

/// What an expression evaluates to at compile time (Note [Symbolic values]).
#[derive(Clone)]
pub(super) enum Value<'p> {
    /// A scalar.
    Scalar(Atom),
    /// An array: the leaves of its elements' type, each under one more axis.
    Array(Rc<[Atom]>),
    /// A tuple, or a record with its fields in the order of the type.
    Tuple(Rc<[Value<'p>]>),
    /// A function.
    Function(Rc<Function<'p>>),
    /// A sequence: its length and, for two positions, the array of the items between them.
    Seq(Rc<Seq<'p>>),
    /// What a stencil's function reads.
    Window(Rc<Window<'p>>),
    /// What lies outside an array.
    Boundary(Rc<Boundary<'p>>),
}

/// A function.
pub(super) enum Function<'p> {
    /// A lambda and the variables around it.
    Closure {
        /// At least one.
        params: &'p [Pattern],
        /// What it yields.
        body: &'p Expr,
        /// Where it was made.
        frame: Rc<Frame<'p>>,
    },
    /// A top-level function that is a lambda.
    Instance(InstanceId),
    /// A builtin of this type that takes at least one argument.
    Builtin {
        /// Which.
        builtin: Builtin,
        /// Its type.
        ty: &'p Type,
        /// Where its name stands.
        span: Span,
    },
    /// A function with its first arguments.
    Partial {
        /// The function.
        function: Rc<Function<'p>>,
        /// Fewer than it takes.
        args: Vec<Value<'p>>,
    },
}

/// A regular array and what lies around it.
pub(super) struct Grid<'p> {
    /// The leaves of the array.
    pub(super) leaves: Rc<[Atom]>,
    /// The type of its elements.
    pub(super) element: &'p Type,
    /// One per axis.
    pub(super) extents: Vec<Atom>,
    /// What lies outside.
    pub(super) boundary: Rc<Boundary<'p>>,
}

/// A sequence (Note [Sequences in chunks] in `session/src/prelude/sequences.weft`).
pub(super) struct Seq<'p> {
    /// How many items its sources have.
    pub(super) length: Atom,
    /// Whether a filter may have left some of them out.
    pub(super) filtered: Atom,
    /// The function from two positions to the array of the items between them.
    pub(super) part: Value<'p>,
}

/// A grid around one of its elements.
pub(super) struct Window<'p> {
    /// The array.
    pub(super) grid: Rc<Grid<'p>>,
    /// The index of the element.
    pub(super) centre: Vec<Atom>,
}

/// What lies outside an array.
pub(super) enum Boundary<'p> {
    /// The nearest element.
    Clamp,
    /// The elements in reverse, without the edge.
    Mirror,
    /// The array again.
    Wrap,
    /// Everywhere the same.
    Constant(Value<'p>),
    /// A function of the index.
    Outside(Value<'p>),
}

/// The variables of one application of a function. A variable is bound once per application, but
/// for those of a comprehension's generators, which its filter and its body bind anew.
pub(super) struct Frame<'p> {
    locals: RefCell<BTreeMap<LocalId, Value<'p>>>,
    /// The types of those that patterns bind.
    types: RefCell<BTreeMap<LocalId, &'p Type>>,
    parent: Option<Rc<Frame<'p>>>,
}

impl<'p> Frame<'p> {
    /// A frame without variables, inside another one.
    pub(super) fn new(parent: Option<Rc<Frame<'p>>>) -> Rc<Frame<'p>> {
        let (locals, types) = (RefCell::default(), RefCell::default());
        Rc::new(Frame { locals, types, parent })
    }

    /// The value of a variable.
    pub(super) fn get(&self, local: LocalId) -> Value<'p> {
        let mut frame = self;
        loop {
            if let Some(value) = frame.locals.borrow().get(&local) {
                return value.clone();
            }
            frame = match &frame.parent {
                Some(parent) => parent,
                None => panic!("lower: the variable {local:?} is bound nowhere"),
            };
        }
    }

    /// The value of a variable, if it is bound here or around, and its type, if a pattern binds it.
    pub(super) fn find(&self, local: LocalId) -> Option<(Value<'p>, Option<&'p Type>)> {
        match self.locals.borrow().get(&local) {
            Some(value) => Some((value.clone(), self.types.borrow().get(&local).copied())),
            None => self.parent.as_ref()?.find(local),
        }
    }

    /// The type of a variable that a pattern binds.
    pub(super) fn type_of(&self, local: LocalId) -> &'p Type {
        let mut frame = self;
        loop {
            if let Some(ty) = frame.types.borrow().get(&local) {
                return ty;
            }
            frame = match &frame.parent {
                Some(parent) => parent,
                None => panic!("lower: no pattern binds the variable {local:?}"),
            };
        }
    }

    /// Binds a variable.
    pub(super) fn set(&self, local: LocalId, value: Value<'p>) {
        self.locals.borrow_mut().insert(local, value);
    }

    /// Binds a variable of a type, if that is known.
    pub(super) fn set_typed(&self, local: LocalId, value: Value<'p>, ty: Option<&'p Type>) {
        self.set(local, value);
        if let Some(ty) = ty {
            self.types.borrow_mut().insert(local, ty);
        }
    }

    /// Binds the variables of a pattern.
    pub(super) fn bind(&self, pattern: &'p Pattern, value: &Value<'p>) {
        match (pattern, value) {
            (Pattern::Wildcard(_), _) => {}
            (Pattern::Local { local, ty, .. }, value) => {
                self.types.borrow_mut().insert(*local, ty);
                self.set(*local, value.clone());
            }
            (Pattern::Tuple(patterns), Value::Tuple(parts)) => {
                for (pattern, part) in patterns.iter().zip(parts.iter()) {
                    self.bind(pattern, part);
                }
            }
            (Pattern::Tuple(_), _) => panic!("lower: a tuple pattern for what is no tuple"),
        }
    }
}

impl<'p> Value<'p> {
    /// An array.
    pub(super) fn array(leaves: Vec<Atom>) -> Value<'p> {
        Value::Array(leaves.into())
    }

    /// A tuple.
    pub(super) fn tuple(parts: Vec<Value<'p>>) -> Value<'p> {
        Value::Tuple(parts.into())
    }

    /// An index or a shape: an `i64`, or a tuple of several.
    pub(super) fn index(parts: &[Atom]) -> Value<'p> {
        match parts {
            [part] => Value::Scalar(*part),
            parts => Value::tuple(parts.iter().map(|part| Value::Scalar(*part)).collect()),
        }
    }

    /// The value of a type whose leaves these are.
    pub(super) fn of_leaves(ty: &Type, leaves: &[Atom]) -> Value<'p> {
        let mut rest = leaves;
        let value = take_value(ty, &mut rest);
        assert!(rest.is_empty(), "lower: {} leaves too many for {ty}", rest.len());
        value
    }

    /// The leaves, or nothing if there is a function in the value.
    pub(super) fn leaves(&self) -> Option<Vec<Atom>> {
        let mut leaves = Vec::new();
        self.add_leaves(&mut leaves).then_some(leaves)
    }

    fn add_leaves(&self, leaves: &mut Vec<Atom>) -> bool {
        match self {
            Value::Scalar(atom) => leaves.push(*atom),
            Value::Array(atoms) => leaves.extend(atoms.iter()),
            Value::Tuple(parts) if parts.is_empty() => leaves.push(UNIT),
            Value::Tuple(parts) => return parts.iter().all(|part| part.add_leaves(leaves)),
            Value::Function(_) | Value::Seq(_) | Value::Window(_) | Value::Boundary(_) => {
                return false;
            }
        }
        true
    }

    /// The leaves of an array.
    pub(super) fn expect_array(&self) -> Rc<[Atom]> {
        match self {
            Value::Array(leaves) => Rc::clone(leaves),
            _ => panic!("lower: an array is expected"),
        }
    }

    /// The atom of a scalar.
    pub(super) fn expect_scalar(&self) -> Atom {
        match self {
            Value::Scalar(atom) => *atom,
            _ => panic!("lower: a scalar is expected"),
        }
    }

    /// The parts of an index or a shape.
    pub(super) fn expect_index(&self) -> Vec<Atom> {
        self.leaves().expect("an index has no functions")
    }
}

/// The leaf of `()`.
const UNIT: Atom = Atom::Scalar(Scalar::Bool(false));

fn take_value<'p>(ty: &Type, rest: &mut &[Atom]) -> Value<'p> {
    match ty {
        Type::Scalar(_) => Value::Scalar(take(rest, 1)[0]),
        Type::Tuple(parts) if parts.is_empty() => {
            take(rest, 1);
            Value::tuple(Vec::new())
        }
        Type::Tuple(parts) => Value::Tuple(parts.iter().map(|ty| take_value(ty, rest)).collect()),
        Type::Record(fields) if fields.is_empty() => {
            take(rest, 1);
            Value::tuple(Vec::new())
        }
        Type::Record(fields) => {
            Value::Tuple(fields.iter().map(|(_, ty)| take_value(ty, rest)).collect())
        }
        Type::Array(element) => Value::Array(take(rest, leaf_count(element)).into()),
        Type::Var(_)
        | Type::Function(..)
        | Type::Seq(_)
        | Type::Window(..)
        | Type::Boundary(..) => {
            panic!("lower: {ty} has no leaves")
        }
    }
}

fn take<'a>(rest: &mut &'a [Atom], count: usize) -> &'a [Atom] {
    let (taken, others) = rest.split_at(count);
    *rest = others;
    taken
}

/// How many leaves a type has.
pub(super) fn leaf_count(ty: &Type) -> usize {
    match ty {
        Type::Tuple(parts) => parts.iter().map(leaf_count).sum::<usize>().max(1),
        Type::Record(fields) => fields.iter().map(|(_, ty)| leaf_count(ty)).sum::<usize>().max(1),
        Type::Array(element) => leaf_count(element),
        Type::Scalar(_)
        | Type::Var(_)
        | Type::Function(..)
        | Type::Seq(_)
        | Type::Window(..)
        | Type::Boundary(..) => 1,
    }
}

/// The types of the leaves, or nothing if there is a function in the type.
pub(super) fn leaf_types(ty: &Type) -> Option<Vec<nested::Type>> {
    let mut leaves = Vec::new();
    add_leaf_types(ty, 0, &mut leaves).then_some(leaves)
}

fn add_leaf_types(ty: &Type, rank: usize, leaves: &mut Vec<nested::Type>) -> bool {
    match ty {
        Type::Scalar(element) => leaves.push(nested::Type { rank, element: *element }),
        Type::Array(element) => return add_leaf_types(element, rank + 1, leaves),
        Type::Tuple(parts) if parts.is_empty() => {
            leaves.push(nested::Type { rank, element: ScalarType::Bool });
        }
        Type::Tuple(parts) => return parts.iter().all(|ty| add_leaf_types(ty, rank, leaves)),
        Type::Record(fields) if fields.is_empty() => {
            leaves.push(nested::Type { rank, element: ScalarType::Bool });
        }
        Type::Record(fields) => {
            return fields.iter().all(|(_, ty)| add_leaf_types(ty, rank, leaves));
        }
        Type::Var(_)
        | Type::Function(..)
        | Type::Seq(_)
        | Type::Window(..)
        | Type::Boundary(..) => return false,
    }
    true
}

/// The type of the elements of an array type.
pub(super) fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::Array(element) => element,
        other => panic!("lower: {other} is no array type"),
    }
}

/// The type under `depth` array axes.
pub(super) fn under(ty: &Type, depth: usize) -> &Type {
    (0..depth).fold(ty, |ty, _| element_type(ty))
}

/// The types of the components of a tuple or record type.
pub(super) fn component_types(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Tuple(parts) => parts.iter().collect(),
        Type::Record(fields) => fields.iter().map(|(_, ty)| ty).collect(),
        other => panic!("lower: {other} is no tuple type"),
    }
}
