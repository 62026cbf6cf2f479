//! Types of programs: those of values, plus functions, stencil windows and boundaries, variables.

use std::fmt;
use std::sync::Arc;

use weft_ir::{Name, ScalarType};

/// A type variable. In a [`Scheme`] it counts the scheme's own variables from 0; inside the checker
/// it is a unification variable. The expressions of a monomorphic program have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeVar(pub u32);

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A variable.
    Var(TypeVar),
    /// A scalar.
    Scalar(ScalarType),
    /// A tuple; `()` has no components.
    Tuple(Arc<[Type]>),
    /// A record, fields in the order in which they were written.
    Record(Arc<[(Name, Type)]>),
    /// An array of such elements.
    Array(Arc<Type>),
    /// A function of one argument.
    Function(Arc<Type>, Arc<Type>),
    /// A sequence of such items.
    Seq(Arc<Type>),
    /// What a stencil's function reads: the type of its index (`i64`, or a tuple of them) and of its
    /// elements.
    Window(Arc<Type>, Arc<Type>),
    /// What a stencil reads beyond the edge: the same two types.
    Boundary(Arc<Type>, Arc<Type>),
}

impl Type {
    /// `i64`.
    pub const I64: Type = Type::Scalar(ScalarType::I64);
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(ScalarType::Bool);

    /// The type of arrays of `element`.
    pub fn array(element: Type) -> Type {
        Type::Array(Arc::new(element))
    }

    /// The type of sequences of `item`.
    pub fn seq(item: Type) -> Type {
        Type::Seq(Arc::new(item))
    }

    /// `element` under `depth` array axes.
    pub fn arrays(depth: usize, element: Type) -> Type {
        (0..depth).fold(element, |ty, _| Type::array(ty))
    }

    /// The type of functions from `parameter` to `result`.
    pub fn function(parameter: Type, result: Type) -> Type {
        Type::Function(Arc::new(parameter), Arc::new(result))
    }

    /// The type of functions from `parameters`, taken one after the other, to `result`.
    pub fn functions(parameters: impl DoubleEndedIterator<Item = Type>, result: Type) -> Type {
        parameters.rev().fold(result, |result, parameter| Type::function(parameter, result))
    }

    /// How many arguments a value of the type takes: 0 if it is no function.
    pub fn arity(&self) -> usize {
        let mut arity = 0;
        let mut ty = self;
        while let Type::Function(_, result) = ty {
            arity += 1;
            ty = result;
        }
        arity
    }

    /// The array axes, and what is under them.
    pub fn peel(&self) -> (usize, &Type) {
        let mut rank = 0;
        let mut ty = self;
        while let Type::Array(element) = ty {
            rank += 1;
            ty = element;
        }
        (rank, ty)
    }

    /// The same as the type of a value; `None` if it has variables or functions.
    pub fn to_value_type(&self) -> Option<weft_ir::Type> {
        Some(match self {
            Type::Scalar(ty) => weft_ir::Type::Scalar(*ty),
            Type::Tuple(parts) => {
                weft_ir::Type::Tuple(parts.iter().map(Type::to_value_type).collect::<Option<_>>()?)
            }
            Type::Record(fields) => weft_ir::Type::Record(
                fields
                    .iter()
                    .map(|(name, ty)| Some((Arc::clone(name), ty.to_value_type()?)))
                    .collect::<Option<_>>()?,
            ),
            Type::Array(element) => weft_ir::Type::array(element.to_value_type()?),
            Type::Var(_)
            | Type::Function(..)
            | Type::Seq(_)
            | Type::Window(..)
            | Type::Boundary(..) => return None,
        })
    }

    /// A value's type as a type of programs.
    pub fn of_value(ty: &weft_ir::Type) -> Type {
        match ty {
            weft_ir::Type::Scalar(ty) => Type::Scalar(*ty),
            weft_ir::Type::Tuple(parts) => Type::Tuple(parts.iter().map(Type::of_value).collect()),
            weft_ir::Type::Record(fields) => Type::Record(
                fields.iter().map(|(name, ty)| (Arc::clone(name), Type::of_value(ty))).collect(),
            ),
            weft_ir::Type::Array(element) => Type::array(Type::of_value(element)),
        }
    }
}

/// Which types a variable may stand for: a set of scalar types, and possibly tuples of them.
/// A variable without a class takes any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// Bit `i` stands for `ScalarType::ALL[i]`.
    scalars: u16,
    /// Whether tuples and records of such scalars are allowed.
    tuples: bool,
}

impl Class {
    const SIGNED: u16 = 0b0000_0000_1111;
    const UNSIGNED: u16 = 0b0000_1111_0000;
    const FLOATS: u16 = 0b0011_0000_0000;
    const ALL: u16 = 0b1111_1111_1111;

    /// Integers.
    pub const INT: Class = Class { scalars: Self::SIGNED | Self::UNSIGNED, tuples: false };
    /// `f32` and `f64`.
    pub const FLOAT: Class = Class { scalars: Self::FLOATS, tuples: false };
    /// Integers and floats.
    pub const NUM: Class =
        Class { scalars: Self::SIGNED | Self::UNSIGNED | Self::FLOATS, tuples: false };
    /// Every scalar type: what conversions take.
    pub const SCALAR: Class = Class { scalars: Self::ALL, tuples: false };
    /// Scalars and tuples of them: what `==` takes.
    pub const EQ: Class = Class { scalars: Self::ALL, tuples: true };
    /// Scalars and tuples of them, which all have an order.
    pub const ORD: Class = Class::EQ;

    /// Exactly these scalar types.
    pub fn of(types: &[ScalarType]) -> Class {
        let bit = |ty: &ScalarType| 1 << Class::position(*ty);
        Class { scalars: types.iter().map(bit).fold(0, |a, b| a | b), tuples: false }
    }

    fn position(ty: ScalarType) -> usize {
        ScalarType::ALL.iter().position(|other| *other == ty).unwrap_or(0)
    }

    /// Whether the class has that scalar type.
    pub fn contains(self, ty: ScalarType) -> bool {
        self.scalars & (1 << Class::position(ty)) != 0
    }

    /// Whether tuples of its scalar types belong to it.
    pub(crate) fn has_tuples(self) -> bool {
        self.tuples
    }

    /// What belongs to both; `None` if nothing does.
    pub(crate) fn intersect(self, other: Class) -> Option<Class> {
        let both =
            Class { scalars: self.scalars & other.scalars, tuples: self.tuples && other.tuples };
        (both.scalars != 0).then_some(both)
    }

    /// The scalar types, in declaration order.
    pub fn scalars(self) -> impl Iterator<Item = ScalarType> {
        ScalarType::ALL.into_iter().filter(move |ty| self.contains(*ty))
    }

    /// The class by which a literal or an otherwise open type is fixed where nothing else does:
    /// `i64` if it may be, else the float type of the mode, else the first.
    pub(crate) fn default_type(self, float: ScalarType) -> ScalarType {
        if self.contains(ScalarType::I64) {
            ScalarType::I64
        } else if self.contains(float) {
            float
        } else {
            self.scalars().next().unwrap_or(ScalarType::I64)
        }
    }

    /// How messages call it.
    pub fn name(self) -> String {
        if self == Class::EQ {
            "Ord".to_owned()
        } else if self == Class::NUM {
            "Num".to_owned()
        } else if self == Class::INT {
            "Int".to_owned()
        } else if self == Class::FLOAT {
            "Float".to_owned()
        } else if self == Class::SCALAR {
            "Scalar".to_owned()
        } else {
            self.scalars().map(ScalarType::name).collect::<Vec<_>>().join("|")
        }
    }
}

/// A type that stands for all its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The classes of its variables `TypeVar(0)`, `TypeVar(1)`, …; `None` takes any type.
    pub vars: Vec<Option<Class>>,
    /// For the type of a definition that is checked at each use: which of its variables are records with at least these
    /// fields, and which are not known (none).
    pub records: Vec<(TypeVar, Option<Fields>)>,
    /// The type.
    pub ty: Type,
}

/// The names of a record's fields with their types.
pub type Fields = Vec<(Name, Type)>;

impl Scheme {
    /// A type without variables.
    pub(crate) fn mono(ty: Type) -> Scheme {
        Scheme { vars: Vec::new(), records: Vec::new(), ty }
    }
}

/// The letter of a scheme's variable: `a` … `z`, `a1` ….
pub(crate) fn variable_name(index: usize) -> String {
    let letter = char::from(b'a' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26) }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes: Vec<String> = self
            .vars
            .iter()
            .enumerate()
            .filter_map(|(index, class)| {
                class.map(|class| format!("{} {}", class.name(), variable_name(index)))
            })
            .collect();
        match classes.len() {
            0 => {}
            1 => write!(f, "{} => ", classes[0])?,
            _ => write!(f, "({}) => ", classes.join(", "))?,
        }
        write!(f, "{}", Shown { ty: &self.ty, records: &self.records })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown { ty: self, records: &[] }.fmt(f)
    }
}

/// A type as it is written, with what is known of records among its variables.
struct Shown<'a> {
    ty: &'a Type,
    records: &'a [(TypeVar, Option<Fields>)],
}

impl Shown<'_> {
    /// A part of the type.
    fn part<'a>(&'a self, ty: &'a Type) -> Shown<'a> {
        Shown { ty, records: self.records }
    }

    fn variable(&self, var: TypeVar, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.records.iter().find(|(record, _)| *record == var) {
            None => f.write_str(&variable_name(var.0 as usize)),
            Some((_, None)) => f.write_str("_"),
            Some((_, Some(fields))) => {
                f.write_str("{")?;
                for (name, ty) in fields {
                    write!(f, "{name}: {}, ", self.part(ty))?;
                }
                f.write_str("…}")
            }
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Var(var) => self.variable(*var, f),
            Type::Scalar(ty) => write!(f, "{ty}"),
            Type::Tuple(parts) => {
                f.write_str("(")?;
                for (index, part) in parts.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", self.part(part))?;
                }
                f.write_str(")")
            }
            Type::Record(fields) => {
                f.write_str("{")?;
                for (index, (name, ty)) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{name}: {}", self.part(ty))?;
                }
                f.write_str("}")
            }
            Type::Array(element) => match &**element {
                Type::Function(..) => write!(f, "[]({})", self.part(element)),
                _ => write!(f, "[]{}", self.part(element)),
            },
            Type::Function(parameter, result) => match &**parameter {
                Type::Function(..) => {
                    write!(f, "({}) -> {}", self.part(parameter), self.part(result))
                }
                _ => write!(f, "{} -> {}", self.part(parameter), self.part(result)),
            },
            Type::Seq(item) => match &**item {
                Type::Function(..) => write!(f, "seq ({})", self.part(item)),
                _ => write!(f, "seq {}", self.part(item)),
            },
            Type::Window(index, element) => {
                write!(f, "window{} {}", index_rank(index), self.part(element))
            }
            Type::Boundary(..) => write!(f, "boundary"),
        }
    }
}

/// How many axes an index of that type has, as far as it is known.
fn index_rank(index: &Type) -> String {
    match index {
        Type::Scalar(_) => "1".to_owned(),
        Type::Tuple(parts) => parts.len().to_string(),
        _ => String::new(),
    }
}
