//! What is known of values when of the elements that they depend on only the extents are.

use weft_ir::nested::Type;
use weft_ir::{Column, Value};

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    Nothing,
    /// That it fails, whatever the elements are.
    Failing,
    Array {
        length: Option<usize>,
        element: Box<Known>,
    },
}

/// All of a value, or something of it.
#[derive(Clone, Debug)]
pub(super) enum Whole {
    Value(Value),
    /// An array of arrays with what is known of it otherwise: what its rows have in common is not looked for in them.
    Rows(Value, Known),
    Part(Known),
}

impl Whole {
    pub(super) const NOTHING: Whole = Whole::Part(Known::Nothing);

    pub(super) fn shape(&self) -> Known {
        match self {
            Whole::Value(Value::Array(array)) => {
                Known::array(Some(array.len()), elements(&array.elements))
            }
            Whole::Value(_) => Known::Nothing,
            Whole::Rows(_, known) | Whole::Part(known) => known.clone(),
        }
    }

    /// A value that was computed, of which something is known otherwise.
    pub(super) fn computed(value: Value, known: &Known) -> Whole {
        let length = match &value {
            Value::Array(array) => Some(array.len()),
            Value::Scalar(_) | Value::Tuple(_) => None,
        };
        Whole::Rows(value, Known::array(length, known.elements().1))
    }

    /// This value, where nothing is known that is not known of another one: it was chosen, and the other one was not.
    pub(super) fn beside(&self, other: &Whole) -> Whole {
        match (self, other) {
            (Whole::Value(_), Whole::Value(_)) | (_, Whole::Part(Known::Failing)) => self.clone(),
            _ => Whole::Part(self.shape().beside(&other.shape())),
        }
    }
}

impl Known {
    pub(super) fn array(length: Option<usize>, element: Known) -> Known {
        Known::Array { length, element: Box::new(element) }
    }

    pub(super) fn elements(&self) -> (Option<usize>, Known) {
        match self {
            Known::Array { length, element } => (*length, (**element).clone()),
            Known::Nothing | Known::Failing => (None, Known::Nothing),
        }
    }

    pub(super) fn beside(&self, other: &Known) -> Known {
        match (self, other) {
            (
                Known::Array { length, element },
                Known::Array { length: of_other, element: others },
            ) => Known::array(of_other.and(*length), element.beside(others)),
            _ => Known::Nothing,
        }
    }

    /// What holds of both.
    pub(super) fn join(&self, other: &Known) -> Known {
        match (self, other) {
            (
                Known::Array { length: a, element: of_a },
                Known::Array { length: b, element: of_b },
            ) => Known::array(a.filter(|_| a == b), of_a.join(of_b)),
            _ => Known::Nothing,
        }
    }

    /// An array of which an element, under `depth` axes, is replaced by another value.
    pub(super) fn with_element(&self, depth: usize, value: &Known) -> Known {
        if depth == 0 {
            return self.join(value);
        }
        let (length, element) = self.elements();
        Known::array(length, element.with_element(depth - 1, value))
    }
}

pub(super) fn array(length: Option<usize>, element: Known) -> Whole {
    Whole::Part(Known::array(length, element))
}

pub(super) fn join_all(left: &[Whole], right: &[Whole]) -> Vec<Whole> {
    let pairs = left.iter().zip(right);
    pairs.map(|(left, right)| Whole::Part(left.shape().join(&right.shape()))).collect()
}

/// What the elements of a column have in common.
pub(super) fn elements(column: &Column) -> Known {
    match column {
        Column::Dense { .. } | Column::Ragged { .. } => {
            Known::array(column.extent().ok(), elements(&column.flatten()))
        }
        _ => Known::Nothing,
    }
}

/// Whether an array of that rank has an axis without elements and another one below it.
pub(super) fn has_rows_of_nothing(column: &Column, rank: usize) -> bool {
    rank > 1 && (column.is_empty() || has_rows_of_nothing(&column.flatten(), rank - 1))
}

/// The elements of type `ty` with the extents that are known under axes without elements, and 0 where they are not.
pub(super) fn settled(column: &Column, ty: Type, known: &Known) -> Column {
    if ty.rank == 0 {
        return column.clone();
    }
    let (length, element) = known.elements();
    let inner = settled(&column.flatten(), ty.element(), &element);
    if column.is_empty() {
        return Column::Dense { len: 0, extent: length.unwrap_or(0), inner: Box::new(inner) };
    }
    let lengths: Vec<usize> = (0..column.len()).filter_map(|row| column.row_len(row)).collect();
    Column::from_lengths(&lengths, inner)
}
