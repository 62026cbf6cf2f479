//! The inputs of the program of one point.

use std::collections::HashMap;

use weft_ir::flat::{Dimension, Program, Size, Var};
use weft_ir::leaves::Axis as InputAxis;
use weft_ir::{MatrixRows, RowInput, RowNumber, nested};

/// What an extent of an input is the same as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    Size(Size),
    /// The length of a row of a segment descriptor.
    Row(Var, RowNumber),
    /// That of these rows of one, which are as long as each other (Note [Matrices row by row] in `ir::rows`).
    Width(Var, MatrixRows),
}

/// The inputs of a program of one point.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) params: Vec<(nested::Var, nested::Type)>,
    pub(super) layouts: Vec<Vec<InputAxis>>,
    /// Per parameter what its elements are, and its extents.
    pub(super) given: Vec<(RowInput, Vec<Extent>)>,
    /// Which axis of which parameter had an extent first.
    pub(super) known: HashMap<Extent, (usize, usize)>,
}

impl Inputs {
    pub(super) fn push(
        &mut self,
        var: nested::Var,
        ty: nested::Type,
        given: RowInput,
        extents: Vec<Extent>,
    ) {
        let leaf = self.params.len();
        let mut layout = Vec::with_capacity(extents.len());
        for (axis, extent) in extents.iter().enumerate() {
            layout.push(match (*extent, self.known.get(extent)) {
                (Extent::Size(Size::Constant(size)), _) => InputAxis::Known(size),
                (_, Some(&(leaf, axis))) => InputAxis::Like { leaf, axis },
                (_, None) => {
                    self.known.insert(*extent, (leaf, axis));
                    InputAxis::Dense
                }
            });
        }
        self.params.push((var, ty));
        self.layouts.push(layout);
        self.given.push((given, extents));
    }

    /// What the variables of the program are.
    pub(super) fn of(&self, program: &Program) -> Vec<(Var, RowInput)> {
        let mut inputs = Vec::new();
        for ((leaf, (given, extents)), layout) in
            program.inputs.iter().zip(&self.given).zip(&self.layouts)
        {
            for ((axis, extent), kind) in leaf.axes.iter().zip(extents).zip(layout) {
                if let (Dimension::Dense(Size::Var(var)), InputAxis::Dense) = (axis, kind) {
                    inputs.push((
                        *var,
                        match *extent {
                            Extent::Size(size) => RowInput::Size(size),
                            Extent::Row(offsets, row) => RowInput::Length(offsets, row),
                            Extent::Width(offsets, rows) => RowInput::Width(offsets, rows),
                        },
                    ));
                }
            }
            inputs.push((leaf.data, *given));
        }
        inputs
    }
}
