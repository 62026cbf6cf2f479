//! Loops row by row (Note [Loops row by row] in `ir::rows`): both forms are run, and must agree.

use weft_ir::flat::{Program, Var};
use weft_ir::leaves::Stored;
use weft_ir::{
    Column, ColumnBuilder, MatrixRows, RowInput, RowNumber, RowState, Rows, Scalar, ScalarType,
    Stop, Type,
};

use super::Machine;

impl<'a> Machine<'a> {
    /// What a loop ends with from the state at hand, point by point; nothing for what is not said of a part.
    pub(super) fn rows(&mut self, rows: &'a Rows<Program>) -> Result<Vec<Option<Column>>, Stop> {
        let points = self.size(rows.points);
        if !rows.matrices().all(|(offsets, of)| self.are_regular(offsets, of, points)) {
            return Ok(vec![None; rows.state.len()]);
        }
        let mut found: Vec<Vec<Stored>> = vec![Vec::new(); rows.program.outputs.len()];
        for point in 0..points {
            let given = |(var, of): &(Var, RowInput)| {
                let rank = rows.program.types[var.0 as usize].extents.len();
                (*var, self.row_input(*of, rank, point))
            };
            let inputs: Vec<(Var, Stored)> = rows.inputs.iter().map(given).collect();
            for (all, output) in found.iter_mut().zip(self.point(&rows.program, inputs)?) {
                all.push(output);
            }
        }
        let part = |part: &RowState| match *part {
            RowState::All(at) => found[at].first().map(|first| first.elements.clone()),
            RowState::Point(at)
            | RowState::Segment(at, _)
            | RowState::Matrix(at, ..)
            | RowState::Grown(at) => joined(&found[at]),
            RowState::Total(at) => offsets(&found[at]).last().map(|total| integers([*total])),
            RowState::Offsets(at) => Some(integers(offsets(&found[at]))),
            RowState::Extent(at) => {
                found[at].first().map(|first| integers([first.extents[0] as i64]))
            }
            RowState::Kept => None,
            RowState::Done => Some(Column::Bool(vec![false; points].into())),
        };
        Ok(rows.state.iter().map(part).collect())
    }

    /// Whether the state has an element for each point. There can be any number of points without elements, of which no
    /// back end computes each by itself.
    pub(super) fn has_elements(&self, rows: &Rows<Program>, state: &[Var]) -> bool {
        let elements = state.iter().map(|var| self.variable(*var).elements.len()).max();
        self.size(rows.points) <= elements.unwrap_or(0)
    }

    /// That the last state is what the points have found.
    pub(super) fn agree(&self, state: &[Var], expected: &[Option<Column>]) {
        for (var, expected) in state.iter().zip(expected) {
            let Some(expected) = expected else { continue };
            let found = &self.variable(*var).elements;
            if !found.same_bits(expected) {
                self.bug(&format!("{var} is {found:?}, and row by row {expected:?}"));
            }
        }
    }

    /// The outputs of the program of a point.
    fn point(
        &mut self,
        program: &'a Program,
        inputs: Vec<(Var, Stored)>,
    ) -> Result<Vec<Stored>, Stop> {
        let types = std::mem::replace(&mut self.types, &program.types);
        let variables = std::mem::replace(&mut self.variables, vec![None; program.types.len()]);
        let current = self.current;
        for (var, value) in inputs {
            self.variables[var.0 as usize] = Some(value);
        }
        let done = self.block(&program.body);
        let outputs: Vec<Var> = program.outputs.iter().map(|leaf| leaf.data).collect();
        let results = done.map(|_| self.all(&outputs));
        (self.types, self.variables, self.current) = (types, variables, current);
        results
    }

    /// What a variable with so many dimensions is at a point.
    fn row_input(&self, input: RowInput, rank: usize, point: usize) -> Stored {
        let row = |row: RowNumber| match row {
            RowNumber::Point(below) => point / self.size(below).max(1),
            RowNumber::At(numbers) => match self.variable(numbers).elements.scalar(point) {
                Some(Scalar::I64(row)) => row as usize,
                other => self.bug(&format!("{numbers} has the row {other:?}")),
            },
        };
        let number = |value: usize| Stored::scalar(Scalar::I64(value as i64));
        let ends = |offsets: Var, row: usize| self.ends(offsets, row);
        match input {
            RowInput::Size(size) => number(self.size(size)),
            RowInput::All(var) => self.variable(var).clone(),
            RowInput::Row(var, number_of_row) => {
                let array = self.variable(var);
                let extents = array.extents[array.extents.len() - rank..].to_vec();
                let length: usize = extents.iter().product();
                Stored {
                    extents,
                    elements: array.elements.slice(row(number_of_row) * length, length),
                }
            }
            RowInput::Length(offsets, number_of_row) => {
                let (start, end) = ends(offsets, row(number_of_row));
                number(end - start)
            }
            RowInput::Segment(var, offsets, number_of_row) => {
                let array = self.variable(var);
                let (start, end) = ends(offsets, row(number_of_row));
                let inner: usize = array.extents[1..].iter().product();
                let mut extents = array.extents.clone();
                extents[0] = end - start;
                let elements = array.elements.slice(start * inner, (end - start) * inner);
                Stored { extents, elements }
            }
            RowInput::Width(offsets, rows) => number(self.width(offsets, rows, point)),
            RowInput::Matrix(var, offsets, rows) => {
                let array = self.variable(var);
                let (first, end) = self.matrix_rows(rows, point);
                let width = self.width(offsets, rows, point);
                let inner: usize = array.extents[1..].iter().product();
                let start = if first == end { 0 } else { self.ends(offsets, first).0 };
                let mut extents = vec![end - first, width];
                extents.extend_from_slice(&array.extents[1..]);
                let length = (end - first) * width * inner;
                Stored { extents, elements: array.elements.slice(start * inner, length) }
            }
        }
    }
}

impl Machine<'_> {
    /// Where a row of a segment descriptor begins and ends.
    fn ends(&self, offsets: Var, row: usize) -> (usize, usize) {
        let elements = &self.variable(offsets).elements;
        let at = |index| match elements.scalar(index) {
            Some(Scalar::I64(at)) => at as usize,
            other => self.bug(&format!("{offsets} has the offset {other:?}")),
        };
        (at(row), at(row + 1))
    }

    /// The first row of a point's matrix, and that behind its last.
    fn matrix_rows(&self, rows: MatrixRows, point: usize) -> (usize, usize) {
        match rows {
            MatrixRows::Each(size) => (point * self.size(size), (point + 1) * self.size(size)),
            MatrixRows::Segment(offsets) => self.ends(offsets, point),
        }
    }

    /// How long its rows are.
    fn width(&self, offsets: Var, rows: MatrixRows, point: usize) -> usize {
        let (first, end) = self.matrix_rows(rows, point);
        if first == end {
            return 0;
        }
        let (start, end) = self.ends(offsets, first);
        end - start
    }

    /// Whether the rows of each point's matrix are as long as each other (Note [Matrices row by row] in `ir::rows`).
    fn are_regular(&self, offsets: Var, rows: MatrixRows, points: usize) -> bool {
        (0..points).all(|point| {
            let (first, end) = self.matrix_rows(rows, point);
            let width = self.width(offsets, rows, point);
            (first..end).all(|row| {
                let (start, end) = self.ends(offsets, row);
                end - start == width
            })
        })
    }
}

/// Where rows begin that are one behind the other, and where the last one ends.
fn offsets(rows: &[Stored]) -> Vec<i64> {
    let mut offsets = vec![0];
    for row in rows {
        offsets.push(offsets[offsets.len() - 1] + row.extents[0] as i64);
    }
    offsets
}

fn integers(values: impl IntoIterator<Item = i64>) -> Column {
    Column::I64(values.into_iter().collect::<Vec<i64>>().into())
}

/// The elements of arrays one after the other; nothing if there are none.
fn joined(parts: &[Stored]) -> Option<Column> {
    let ty: ScalarType = parts.first()?.elements.scalar_type()?;
    let mut builder = ColumnBuilder::new(&Type::Scalar(ty));
    for part in parts {
        builder.extend(&part.elements);
    }
    Some(builder.finish())
}
