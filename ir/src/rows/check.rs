//! That what a loop is for one point fits the loop: back ends address memory by it.

use std::collections::HashMap;

use super::{MatrixRows, RowInput, RowNumber, RowState, Rows};
use crate::ScalarType;
use crate::flat::{Leaf, Scope, Size, Type, Var};

/// The program of one point, and what it is given.
struct Point<'a> {
    scope: &'a Scope<'a>,
    types: &'a [Type],
    given: HashMap<Var, RowInput>,
}

impl<P> Rows<P> {
    /// That its parts fit together, and those around it. `state` is the state of the loop, `own` are the types of
    /// the program, whose inputs and outputs these are.
    ///
    /// # Errors
    /// A sentence about the first thing that is wrong.
    pub(crate) fn check(
        &self,
        scope: &Scope<'_>,
        state: &[Var],
        own: &[Type],
        [inputs, outputs]: [&[Leaf]; 2],
    ) -> Result<(), String> {
        let mut missing = Ok(());
        self.uses(&mut |var| {
            if let Err(problem) = scope.ty(var) {
                missing = Err(problem);
            }
        });
        missing?;
        scope.size(self.points)?;
        let point = Point { scope, types: own, given: self.inputs.iter().copied().collect() };
        for (var, input) in &self.inputs {
            point.input(*var, *input)?;
        }
        let is_given = |leaf: &&Leaf| point.given.contains_key(&leaf.data);
        if let Some(leaf) = inputs.iter().find(|leaf| !is_given(leaf)) {
            return Err(format!("the input {} is given nothing", leaf.data));
        }
        if self.state.len() != state.len() {
            return Err(format!("{} parts for a state of {}", self.state.len(), state.len()));
        }
        for (var, part) in state.iter().zip(&self.state) {
            point.state(*var, *part, outputs)?;
        }
        Ok(())
    }
}

impl Point<'_> {
    fn own(&self, var: Var) -> Result<&Type, String> {
        self.types.get(var.0 as usize).ok_or_else(|| format!("{var} has no type"))
    }

    fn input(&self, var: Var, input: RowInput) -> Result<(), String> {
        let ty = self.own(var)?;
        let is_number = ty.element == ScalarType::I64 && ty.extents.is_empty();
        match input {
            RowInput::Size(size) if is_number => self.scope.size(size),
            RowInput::Length(offsets, row) if is_number => {
                self.scope.offsets(offsets)?;
                self.number(row)
            }
            RowInput::Width(offsets, rows) if is_number => {
                self.scope.offsets(offsets)?;
                self.rows(rows)
            }
            RowInput::Size(_) | RowInput::Length(..) | RowInput::Width(..) => {
                Err(format!("{var} is a {ty} and no i64"))
            }
            RowInput::All(of) => {
                let outer = self.scope.ty(of)?;
                let same = ty.extents.len() == outer.extents.len();
                self.alike(var, outer, same && self.are(&ty.extents, &outer.extents))
            }
            RowInput::Row(of, row) => {
                self.number(row)?;
                let outer = self.scope.ty(of)?;
                let inner = behind(&outer.extents, ty.extents.len());
                let above = inner.is_some_and(|_| outer.extents.len() > ty.extents.len());
                let inner = inner.unwrap_or_default();
                self.alike(var, outer, above && self.are(&ty.extents, inner))
            }
            RowInput::Segment(of, offsets, row) => {
                self.number(row)?;
                self.scope.offsets(offsets)?;
                let outer = self.scope.ty(of)?;
                let length = RowInput::Length(offsets, row);
                let is_row = match ty.extents.first() {
                    Some(Size::Var(own)) => self.given.get(own) == Some(&length),
                    _ => false,
                };
                let same = ty.extents.len() == outer.extents.len();
                self.alike(
                    var,
                    outer,
                    is_row && same && self.are(&ty.extents[1..], &outer.extents[1..]),
                )
            }
            RowInput::Matrix(of, offsets, rows) => {
                self.scope.offsets(offsets)?;
                self.rows(rows)?;
                let outer = self.scope.ty(of)?;
                let fits = ty.extents.len() == outer.extents.len() + 1
                    && ty.extents.len() > 1
                    && self.are_of_matrix(&ty.extents, offsets, rows)
                    && self.are(&ty.extents[2..], &outer.extents[1..]);
                self.alike(var, outer, fits)
            }
        }
    }

    /// That these can be the rows of a matrix for each point.
    fn rows(&self, rows: MatrixRows) -> Result<(), String> {
        match rows {
            MatrixRows::Each(size) => self.scope.size(size),
            MatrixRows::Segment(offsets) => self.scope.offsets(offsets),
        }
    }

    /// Whether the first extents of an array of the program are those of a matrix.
    fn are_of_matrix(&self, own: &[Size], offsets: Var, rows: MatrixRows) -> bool {
        let [count, Size::Var(width), ..] = own else { return false };
        let is_count = match rows {
            MatrixRows::Each(size) => self.are(&[*count], &[size]),
            MatrixRows::Segment(above) => match count {
                Size::Var(count) => {
                    let length = RowInput::Length(above, RowNumber::Point(Size::Constant(1)));
                    self.given.get(count) == Some(&length)
                }
                Size::Constant(_) => false,
            },
        };
        is_count && self.given.get(width) == Some(&RowInput::Width(offsets, rows))
    }

    /// Whether the first extents of an output are those of a matrix. Sizes that the program has found to be equal have one name, so that
    /// they may be called as those of another one.
    fn are_of_some_matrix(&self, own: &[Size]) -> bool {
        let [count, Size::Var(width), ..] = own else { return false };
        let is_count = match count {
            Size::Constant(_) => true,
            Size::Var(count) => {
                matches!(self.given.get(count), Some(RowInput::Size(_) | RowInput::Length(..)))
            }
        };
        is_count && matches!(self.given.get(width), Some(RowInput::Width(..)))
    }

    fn alike(&self, var: Var, outer: &Type, fits: bool) -> Result<(), String> {
        let ty = self.own(var)?;
        match fits && ty.element == outer.element {
            true => Ok(()),
            false => Err(format!("{var} is a {ty}, and given a {outer}")),
        }
    }

    fn number(&self, row: RowNumber) -> Result<(), String> {
        let RowNumber::At(var) = row else { return Ok(()) };
        let ty = self.scope.ty(var)?;
        match ty.element == ScalarType::I64 && !ty.extents.is_empty() {
            true => Ok(()),
            false => Err(format!("{var} is a {ty} and no array of the numbers of rows")),
        }
    }

    /// Whether extents of the program are these around it.
    fn are(&self, own: &[Size], outer: &[Size]) -> bool {
        own.iter().zip(outer).all(|(own, outer)| match own {
            Size::Constant(_) => own == outer,
            Size::Var(var) => match self.given.get(var) {
                Some(RowInput::Size(size)) => size == outer,
                Some(RowInput::All(of)) => Size::Var(*of) == *outer,
                _ => false,
            },
        })
    }

    fn state(&self, var: Var, part: RowState, outputs: &[Leaf]) -> Result<(), String> {
        let ty = self.scope.ty(var)?;
        let output = |at: usize| {
            let leaf = outputs.get(at).ok_or_else(|| format!("the program has no output {at}"))?;
            let own = self.own(leaf.data)?;
            match own.element == ty.element {
                true => Ok(own),
                false => Err(format!("output {at} is a {own}, and becomes a {ty}")),
            }
        };
        let (at, fits) = match part {
            RowState::All(at) => (at, output(at)?.extents.len() == ty.extents.len()),
            RowState::Point(at) => (at, output(at)?.extents.len() < ty.extents.len()),
            RowState::Segment(at, offsets) => {
                self.scope.offsets(offsets)?;
                (at, output(at)?.extents.len() == ty.extents.len())
            }
            RowState::Matrix(at, offsets, rows) => {
                self.scope.offsets(offsets)?;
                self.rows(rows)?;
                let own = &output(at)?.extents;
                (at, self.are_of_some_matrix(own) && own.len() == ty.extents.len() + 1)
            }
            RowState::Grown(at) => {
                (at, (1..=ty.extents.len()).contains(&output(at)?.extents.len()))
            }
            RowState::Total(at) | RowState::Extent(at) => return self.size(var, at, 0, outputs),
            RowState::Offsets(at) => return self.size(var, at, 1, outputs),
            RowState::Kept => return Ok(()),
            RowState::Done if ty.element == ScalarType::Bool => return Ok(()),
            RowState::Done => return Err(format!("{var} is a {ty}, and says that all is done")),
        };
        match fits {
            true => Ok(()),
            false => Err(format!("output {at} is a {}, and becomes a {ty}", output(at)?)),
        }
    }
}

impl Point<'_> {
    /// That a variable can say what sizes an output has, with so many extents of its own.
    fn size(&self, var: Var, at: usize, rank: usize, outputs: &[Leaf]) -> Result<(), String> {
        let ty = self.scope.ty(var)?;
        let leaf = outputs.get(at).ok_or_else(|| format!("the program has no output {at}"))?;
        let own = self.own(leaf.data)?;
        let fits = ty.element == ScalarType::I64 && ty.extents.len() == rank;
        match fits && !own.extents.is_empty() {
            true => Ok(()),
            false => Err(format!("output {at} is a {own}, whose sizes no {ty} says")),
        }
    }
}

/// The last of some extents, if there are as many.
fn behind(extents: &[Size], count: usize) -> Option<&[Size]> {
    extents.len().checked_sub(count).map(|first| &extents[first..])
}
