//! Building an array element by element: packed as long as no element has an error in it.

use weft_ir::{ColumnBuilder, Span, Type};

use crate::elements::{Elements, element};
use crate::value::Val;

/// Collects the elements of an array.
#[derive(Debug)]
pub(crate) struct Collector {
    ty: Type,
    state: State,
    /// Roughly the bytes collected so far, …
    pub(crate) bytes: u64,
    /// … and how many of them the memory limit has admitted.
    pub(crate) admitted: u64,
    /// The expression that makes the array.
    pub(crate) span: Span,
}

#[derive(Debug)]
enum State {
    Packed(ColumnBuilder),
    Boxed(Vec<Val>),
}

impl Collector {
    /// A collector of elements of type `ty`, for the expression at `span`.
    pub(crate) fn new(ty: &Type, span: Span) -> Collector {
        let state = State::Packed(ColumnBuilder::new(ty));
        Collector { ty: ty.clone(), state, bytes: 0, admitted: 0, span }
    }

    /// The array of these elements, which exist already (so no memory is asked for).
    pub(crate) fn from_iter(ty: &Type, elements: impl Iterator<Item = Val>) -> Elements {
        let mut collector = Collector::new(ty, Span::default());
        for val in elements {
            collector.push(val);
        }
        collector.finish()
    }

    /// Appends an element.
    #[inline]
    pub(crate) fn push(&mut self, val: Val) {
        match (&mut self.state, val.scalar()) {
            (State::Packed(builder), Some(scalar)) => {
                builder.push_scalar(scalar);
                self.bytes += 8;
            }
            _ => self.push_composite(val),
        }
    }

    fn push_composite(&mut self, val: Val) {
        self.bytes += val.bytes();
        if let State::Packed(builder) = &mut self.state {
            if val.first_error().is_none() {
                val.push_to(builder);
                return;
            }
            self.unpack();
        }
        match &mut self.state {
            State::Boxed(elements) => elements.push(val),
            State::Packed(_) => unreachable!("just unpacked"),
        }
    }

    /// Appends all of `elements`.
    pub(crate) fn extend(&mut self, elements: &Elements) {
        match (&mut self.state, elements) {
            (State::Packed(builder), Elements::Packed(column)) => {
                builder.extend(column);
                self.bytes += column.bytes() as u64;
            }
            _ => {
                for val in elements.iter() {
                    self.push(val);
                }
            }
        }
    }

    /// The array of the elements.
    pub(crate) fn finish(self) -> Elements {
        match self.state {
            State::Packed(builder) => Elements::packed(builder.finish()),
            State::Boxed(elements) => Elements::Boxed(elements.into()),
        }
    }

    /// Goes over to a list that may hold errors.
    fn unpack(&mut self) {
        let empty = State::Packed(ColumnBuilder::new(&self.ty));
        if let State::Packed(builder) = std::mem::replace(&mut self.state, empty) {
            let column = builder.finish();
            let elements = (0..column.len()).map(|index| element(&column, index)).collect();
            self.state = State::Boxed(elements);
        }
    }
}
