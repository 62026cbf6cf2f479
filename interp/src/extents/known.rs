//! What is known of a value when of the items that it depends on only the extents are.

use std::rc::Rc;

use weft_ir::{Column, Type};

use crate::code::Code;
use crate::elements::Elements;
use crate::value::{Val, component_type, element_type};

/// What is known of a value.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// Nothing; also of every part of it.
    Nothing,
    /// All of it; an error too, if it does not depend on the items.
    Val(Val),
    /// All of an array of arrays, and what is known of its shape otherwise: what its rows have in common is not looked
    /// for in them.
    Rows(Val, Rc<Known>),
    /// Something of each component.
    Tuple(Rc<Vec<Known>>),
    /// Of an array perhaps its length, and what all its elements have in common.
    Array { length: Option<usize>, element: Rc<Known> },
    /// A function that has captured something.
    Closure { code: Rc<Code>, captured: Rc<Vec<Known>> },
    /// A function that was applied to fewer arguments than it takes.
    Partial { function: Rc<Known>, args: Rc<Vec<Known>> },
}

impl Known {
    pub(crate) fn of(val: &Val) -> Known {
        Known::Val(val.clone())
    }

    pub(super) fn tuple(parts: Vec<Known>) -> Known {
        Known::Tuple(Rc::new(parts))
    }

    pub(super) fn array(length: Option<usize>, element: Known) -> Known {
        Known::Array { length, element: Rc::new(element) }
    }

    pub(super) fn partial(function: &Known, args: Vec<Known>) -> Known {
        Known::Partial { function: Rc::new(function.clone()), args: Rc::new(args) }
    }

    /// What the elements of an array have in common.
    pub(crate) fn element_of(elements: &Elements) -> Known {
        match elements {
            Elements::Packed(column) => shape_of_elements(column),
            Elements::Boxed(vals) => {
                let shapes = vals.iter().map(|val| Known::of(val).shape());
                shapes.reduce(|a, b| a.join(&b)).unwrap_or(Known::Nothing)
            }
        }
    }

    /// The length of an array and what its elements have in common.
    pub(super) fn elements(&self) -> (Option<usize>, Known) {
        match self {
            Known::Array { length, element } => (*length, (**element).clone()),
            Known::Val(Val::Array(column)) => (Some(column.len()), shape_of_elements(column)),
            Known::Val(Val::Boxed(vals)) => {
                (Some(vals.len()), Known::element_of(&Elements::Boxed(Rc::clone(vals))))
            }
            Known::Rows(_, known) => known.elements(),
            _ => (None, Known::Nothing),
        }
    }

    /// The lengths and nothing else.
    pub(super) fn shape(&self) -> Known {
        match self {
            Known::Val(Val::Array(_) | Val::Boxed(_)) => {
                let (length, element) = self.elements();
                Known::array(length, element)
            }
            Known::Val(Val::Tuple(parts)) => {
                Known::tuple(parts.iter().map(|part| Known::of(part).shape()).collect())
            }
            Known::Tuple(parts) => Known::tuple(parts.iter().map(Known::shape).collect()),
            Known::Val(Val::Function(_) | Val::Window(_) | Val::Boundary(_)) => self.clone(),
            Known::Val(_) => Known::Nothing,
            Known::Rows(_, known) => known.shape(),
            Known::Array { length, element } => Known::array(*length, element.shape()),
            Known::Nothing | Known::Closure { .. } | Known::Partial { .. } => self.clone(),
        }
    }

    /// What holds of both. Scalars have nothing in common.
    pub(super) fn join(&self, other: &Known) -> Known {
        match (self.shape(), other.shape()) {
            (Known::Tuple(a), Known::Tuple(b)) => {
                Known::tuple(a.iter().zip(b.iter()).map(|(a, b)| a.join(b)).collect())
            }
            (
                Known::Array { length: a, element: of_a },
                Known::Array { length: b, element: of_b },
            ) => Known::array(a.filter(|_| a == b), of_a.join(&of_b)),
            _ => Known::Nothing,
        }
    }

    /// This value, where nothing is known that is not known of another one: it was chosen, and the other one was not.
    pub(super) fn beside(&self, other: &Known) -> Known {
        match (self, other) {
            (Known::Val(_), Known::Val(_)) | (_, Known::Val(Val::Error(_))) => return self.clone(),
            _ => {}
        }
        let parts = |known: &Known, count| (0..count).map(|at| known.component(at)).collect();
        match (self, other) {
            (Known::Rows(val, _), Known::Rows(..) | Known::Val(_))
            | (Known::Val(val @ (Val::Array(_) | Val::Boxed(_))), Known::Rows(..)) => {
                Known::Rows(val.clone(), Rc::new(self.shape().beside(&other.shape())))
            }
            (Known::Tuple(own), other) => {
                let others: Vec<Known> = parts(other, own.len());
                Known::tuple(
                    own.iter().zip(&others).map(|(own, other)| own.beside(other)).collect(),
                )
            }
            (Known::Val(Val::Tuple(own)), Known::Tuple(others)) => {
                let own: Vec<Known> = parts(self, own.len());
                Known::tuple(own.iter().zip(others.iter()).map(|(a, b)| a.beside(b)).collect())
            }
            _ => match (self.shape(), other.shape()) {
                (
                    Known::Array { length, element },
                    Known::Array { length: of_other, element: others },
                ) => Known::array(of_other.and(length), element.beside(&others)),
                _ => Known::Nothing,
            },
        }
    }

    /// A value that was computed, of whose rows nothing is known but this.
    pub(super) fn computed(&self, val: &Val) -> Known {
        let rows = |length| {
            Known::Rows(val.clone(), Rc::new(Known::array(Some(length), self.elements().1)))
        };
        match (self, val) {
            (_, val) if is_without_rows(val) => Known::of(val),
            (_, Val::Tuple(parts)) => {
                let with = |(at, part)| self.component(at).computed(part);
                Known::tuple(parts.iter().enumerate().map(with).collect())
            }
            (_, Val::Array(column)) => rows(column.len()),
            (_, Val::Boxed(vals)) => rows(vals.len()),
            (Known::Array { .. }, _) => self.clone(),
            (_, val) => Known::of(val),
        }
    }

    /// The value, if all of it is known.
    pub(super) fn val(&self) -> Option<&Val> {
        match self {
            Known::Val(val) | Known::Rows(val, _) => Some(val),
            _ => None,
        }
    }

    /// Whether the same is known of both.
    pub(super) fn same(&self, other: &Known) -> bool {
        match (self, other) {
            (Known::Nothing, Known::Nothing) => true,
            (Known::Tuple(a), Known::Tuple(b)) => a.iter().zip(b.iter()).all(|(a, b)| a.same(b)),
            (
                Known::Array { length: a, element: of_a },
                Known::Array { length: b, element: of_b },
            ) => a == b && of_a.same(of_b),
            _ => false,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Known::Val(Val::I64(value)) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn component(&self, index: usize) -> Known {
        match self {
            Known::Tuple(parts) => parts[index].clone(),
            Known::Val(Val::Tuple(parts)) => Known::of(&parts[index]),
            _ => Known::Nothing,
        }
    }

    /// Component `index` of the tuples under `depth` axes.
    pub(super) fn field(&self, index: usize, depth: usize) -> Known {
        if depth == 0 {
            return self.component(index);
        }
        let (length, element) = self.elements();
        Known::array(length, element.field(index, depth - 1))
    }

    /// An array of which an element, under `depth` axes, is replaced by another value.
    pub(super) fn with_element(&self, depth: usize, value: &Known) -> Known {
        if depth == 0 {
            return self.join(value);
        }
        let (length, element) = self.elements();
        Known::array(length, element.with_element(depth - 1, value))
    }

    /// What is under `depth` axes.
    pub(crate) fn under(&self, depth: usize) -> Known {
        (0..depth).fold(self.clone(), |known, _| known.elements().1)
    }
}

/// Whether a value holds no arrays of arrays.
pub(super) fn is_without_rows(val: &Val) -> bool {
    match val {
        Val::Tuple(parts) | Val::Boxed(parts) => parts.iter().all(is_without_rows),
        Val::Array(column) => is_column_without_rows(column),
        _ => true,
    }
}

fn is_column_without_rows(column: &Column) -> bool {
    match column {
        Column::Dense { .. } | Column::Ragged { .. } => false,
        Column::Tuple { parts, .. } => parts.iter().all(is_column_without_rows),
        _ => true,
    }
}

fn shape_of_elements(column: &Column) -> Known {
    match column {
        Column::Tuple { parts, .. } => Known::tuple(parts.iter().map(shape_of_elements).collect()),
        Column::Dense { .. } | Column::Ragged { .. } => {
            Known::array(column.extent().ok(), shape_of_elements(&column.flatten()))
        }
        _ => Known::Nothing,
    }
}

/// Whether a column of elements of that type has an axis without elements and another one below it.
pub(super) fn has_rows_of_nothing(column: &Column, ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => false,
        Type::Tuple(types) => {
            (0..types.len()).any(|at| has_rows_of_nothing(part(column, at), &types[at]))
        }
        Type::Record(fields) => {
            (0..fields.len()).any(|at| has_rows_of_nothing(part(column, at), &fields[at].1))
        }
        Type::Array(element) => {
            column.is_empty() || has_rows_of_nothing(&column.flatten(), element)
        }
    }
}

fn part(column: &Column, index: usize) -> &Column {
    match column {
        Column::Tuple { parts, .. } => &parts[index],
        other => panic!("{other:?} holds no tuples"),
    }
}

/// The column with the extents that are known under axes without elements, and 0 where they are not.
pub(super) fn with_extents(column: &Column, ty: &Type, known: &Known) -> Column {
    match column {
        Column::Tuple { len, parts } => {
            let parts = parts
                .iter()
                .enumerate()
                .map(|(at, part)| with_extents(part, component_type(ty, at), &known.component(at)));
            Column::Tuple { len: *len, parts: parts.collect() }
        }
        Column::Dense { .. } | Column::Ragged { .. } => {
            let (length, element) = known.elements();
            let inner = with_extents(&column.flatten(), element_type(ty), &element);
            if column.is_empty() {
                let extent = length.unwrap_or(0);
                return Column::Dense { len: 0, extent, inner: Box::new(inner) };
            }
            let lengths: Vec<usize> =
                (0..column.len()).filter_map(|row| column.row_len(row)).collect();
            Column::from_lengths(&lengths, inner)
        }
        scalars => scalars.clone(),
    }
}
