//! Loops of the points of a space, row by row.
//!
//! Note [Loops row by row]. A loop inside of an apply-to-each is flattened to one loop of the host whose turns
//! compute the next state of all points, each with kernels over all of them. That suits where a turn has much to
//! do, and is slow where it replaces a few elements of an array of its own: every turn goes through the memory
//! of all points. So such a loop carries along what it is for one point, as a program of its own. A back end may at
//! any turn take the state as it is, and run that program for each point to the end of its loop; what the state is
//! then is what the loop would have ended with, except that a fault may be met earlier. The CPU does so on functions of
//! C once a loop has taken long enough for a compiler, a device from the beginning and with a thread for each point.
//!
//! Note [Matrices row by row]. An array of rank two that each point has is stored as rows of rows. For a point it is a
//! matrix, with one length of its rows, if these are as long as each other: a function needs no descriptor then, and finds an
//! element by its indices. Where that is not seen from the program it is looked at before the function is called, and
//! a point whose rows differ keeps the loop with the host, as does one in which a turn makes a row of another length. The last
//! state has the same rows.
//!
//! Source: Henriksen, Serup, Elsman, Henglein and Oancea, "Futhark: purely functional GPU-programming with nested
//! parallelism and in-place array updates" (PLDI 2017), section 5, on where nested parallelism had better be sequential.

mod check;

use std::fmt::{self, Write};

use crate::Span;
use crate::flat::{Size, Var, parse_size, parse_var};
use crate::text::{Reader, TextError, Writer};

/// A loop as a program of one point (Note [Loops row by row]).
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<P> {
    /// How many points there are.
    pub points: Size,
    /// What the variables of the program's inputs are at a point, those of their extents among them.
    pub inputs: Vec<(Var, RowInput)>,
    /// What each part of the loop's state becomes.
    pub state: Vec<RowState>,
    /// From a state of one point to its last one: the outputs.
    pub program: P,
    /// The loop.
    pub span: Span,
}

/// Which row of an array is a point's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowNumber {
    /// The number of the point in the order of storage, divided by how many points have the same row.
    Point(Size),
    /// What an array of `i64` over the points says.
    At(Var),
}

/// Which rows of a segment descriptor are those of a point's matrix (Note [Matrices row by row]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixRows {
    /// So many, after those of the points before.
    Each(Size),
    /// What the point's row of this segment descriptor says.
    Segment(Var),
}

/// What a variable of one point's program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowInput {
    /// An extent.
    Size(Size),
    /// A scalar or an array that all points have.
    All(Var),
    /// A row of an array whose rows are as long as each other.
    Row(Var, RowNumber),
    /// The length of a row of a segment descriptor.
    Length(Var, RowNumber),
    /// The elements of that row: of the array, by the descriptor.
    Segment(Var, Var, RowNumber),
    /// The length of the rows that a point's matrix has in a segment descriptor; 0 if it has none.
    Width(Var, MatrixRows),
    /// The elements of these rows: of the array, by the descriptor.
    Matrix(Var, Var, MatrixRows),
}

/// What a part of a loop's state becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// An output of the program that is the same at all points.
    All(usize),
    /// An output at each point.
    Point(usize),
    /// An output at each point, as rows of this segment descriptor, which is part of the state too.
    Segment(usize, Var),
    /// An output at each point, as a matrix whose rows this segment descriptor has, which is part of the state too.
    Matrix(usize, Var, MatrixRows),
    /// An output at each point, whose first extent is known only then, one row behind the other.
    Grown(usize),
    /// How many rows such outputs have in all, along their first axis.
    Total(usize),
    /// Where those of each point begin among them: their segment descriptor.
    Offsets(usize),
    /// The first extent of such an output, which is the same at all points.
    Extent(usize),
    /// It stays what it was.
    Kept,
    /// False: no point goes on.
    Done,
}

impl<P> Rows<P> {
    /// The variables around it that it uses.
    pub fn uses(&self, visit: &mut dyn FnMut(Var)) {
        self.points.uses(visit);
        for (_, input) in &self.inputs {
            input.uses(visit);
        }
        for state in &self.state {
            match *state {
                RowState::Segment(_, offsets) => visit(offsets),
                RowState::Matrix(_, offsets, rows) => {
                    visit(offsets);
                    rows.uses(visit);
                }
                _ => {}
            }
        }
    }

    /// The rows of the matrices that points have, each with its segment descriptor.
    pub fn matrices(&self) -> impl Iterator<Item = (Var, MatrixRows)> + '_ {
        self.inputs.iter().filter_map(|(_, input)| match *input {
            RowInput::Width(offsets, rows) => Some((offsets, rows)),
            _ => None,
        })
    }

    /// With other names for the variables around it.
    pub fn rename(&mut self, rename: &mut dyn FnMut(Var) -> Var) {
        let size = |size: Size, rename: &mut dyn FnMut(Var) -> Var| match size {
            Size::Var(var) => Size::Var(rename(var)),
            Size::Constant(_) => size,
        };
        let number = |row: RowNumber, rename: &mut dyn FnMut(Var) -> Var| match row {
            RowNumber::Point(below) => RowNumber::Point(size(below, rename)),
            RowNumber::At(var) => RowNumber::At(rename(var)),
        };
        let matrix = |rows: MatrixRows, rename: &mut dyn FnMut(Var) -> Var| match rows {
            MatrixRows::Each(count) => MatrixRows::Each(size(count, rename)),
            MatrixRows::Segment(offsets) => MatrixRows::Segment(rename(offsets)),
        };
        self.points = size(self.points, rename);
        for (_, input) in &mut self.inputs {
            *input = match *input {
                RowInput::Size(of) => RowInput::Size(size(of, rename)),
                RowInput::All(var) => RowInput::All(rename(var)),
                RowInput::Row(var, row) => RowInput::Row(rename(var), number(row, rename)),
                RowInput::Length(offsets, row) => {
                    RowInput::Length(rename(offsets), number(row, rename))
                }
                RowInput::Segment(var, offsets, row) => {
                    RowInput::Segment(rename(var), rename(offsets), number(row, rename))
                }
                RowInput::Width(offsets, rows) => {
                    RowInput::Width(rename(offsets), matrix(rows, rename))
                }
                RowInput::Matrix(var, offsets, rows) => {
                    RowInput::Matrix(rename(var), rename(offsets), matrix(rows, rename))
                }
            };
        }
        for state in &mut self.state {
            match state {
                RowState::Segment(_, offsets) => *offsets = rename(*offsets),
                RowState::Matrix(_, offsets, rows) => {
                    *offsets = rename(*offsets);
                    *rows = matrix(*rows, rename);
                }
                _ => {}
            }
        }
    }

    /// The same with another program.
    pub fn with<Q>(&self, program: Q) -> Rows<Q> {
        let Rows { points, inputs, state, program: _, span } = self;
        let (inputs, state) = (inputs.clone(), state.clone());
        Rows { points: *points, inputs, state, program, span: *span }
    }
}

impl RowInput {
    fn uses(self, visit: &mut dyn FnMut(Var)) {
        match self {
            RowInput::Size(size) => size.uses(visit),
            RowInput::All(var) => visit(var),
            RowInput::Row(var, row) | RowInput::Length(var, row) => {
                visit(var);
                row.uses(visit);
            }
            RowInput::Segment(var, offsets, row) => {
                visit(var);
                visit(offsets);
                row.uses(visit);
            }
            RowInput::Width(offsets, rows) => {
                visit(offsets);
                rows.uses(visit);
            }
            RowInput::Matrix(var, offsets, rows) => {
                visit(var);
                visit(offsets);
                rows.uses(visit);
            }
        }
    }
}

impl MatrixRows {
    fn uses(self, visit: &mut dyn FnMut(Var)) {
        match self {
            MatrixRows::Each(size) => size.uses(visit),
            MatrixRows::Segment(offsets) => visit(offsets),
        }
    }
}

impl RowNumber {
    fn uses(self, visit: &mut dyn FnMut(Var)) {
        match self {
            RowNumber::Point(below) => below.uses(visit),
            RowNumber::At(var) => visit(var),
        }
    }
}

/// The number of points that have the same row, or `at` and the array.
impl fmt::Display for RowNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowNumber::Point(below) => write!(f, "{below}"),
            RowNumber::At(var) => write!(f, "at {var}"),
        }
    }
}

impl fmt::Display for MatrixRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatrixRows::Each(size) => write!(f, "each {size}"),
            MatrixRows::Segment(offsets) => write!(f, "of {offsets}"),
        }
    }
}

impl fmt::Display for RowInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowInput::Size(size) => write!(f, "size {size}"),
            RowInput::All(var) => write!(f, "all {var}"),
            RowInput::Row(var, row) => write!(f, "row {var} {row}"),
            RowInput::Length(offsets, row) => write!(f, "length {offsets} {row}"),
            RowInput::Segment(var, offsets, row) => write!(f, "segment {var} {offsets} {row}"),
            RowInput::Width(offsets, rows) => write!(f, "width {offsets} {rows}"),
            RowInput::Matrix(var, offsets, rows) => write!(f, "matrix {var} {offsets} {rows}"),
        }
    }
}

impl fmt::Display for RowState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowState::All(at) => write!(f, "all {at}"),
            RowState::Point(at) => write!(f, "point {at}"),
            RowState::Segment(at, offsets) => write!(f, "segment {at} {offsets}"),
            RowState::Matrix(at, offsets, rows) => write!(f, "matrix {at} {offsets} {rows}"),
            RowState::Grown(at) => write!(f, "grown {at}"),
            RowState::Total(at) => write!(f, "total {at}"),
            RowState::Offsets(at) => write!(f, "offsets {at}"),
            RowState::Extent(at) => write!(f, "extent {at}"),
            RowState::Kept => f.write_str("kept"),
            RowState::Done => f.write_str("done"),
        }
    }
}

/// Writes `rows a5`, a line for each input and each part of the state, the program and `end`.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_rows<P>(
    w: &mut Writer,
    rows: &Rows<P>,
    program: impl FnOnce(&mut Writer, &P) -> fmt::Result,
) -> fmt::Result {
    writeln!(w, "rows {}", rows.points)?;
    w.indented(|w| {
        for (var, input) in &rows.inputs {
            writeln!(w, "given {var} {input}")?;
        }
        rows.state.iter().try_for_each(|state| writeln!(w, "state {state}"))?;
        program(w, &rows.program)
    })?;
    w.write_str("end\n")
}

/// Reads what stands behind `rows`.
///
/// # Errors
/// The first place that differs from [`write_rows`].
pub(crate) fn parse_rows<P>(
    reader: &mut Reader,
    program: fn(&mut Reader) -> Result<P, TextError>,
) -> Result<Rows<P>, TextError> {
    let points = parse_size(reader)?;
    let mut inputs = Vec::new();
    while reader.take_word("given") {
        let var = parse_var(reader)?;
        inputs.push((var, parse_input(reader)?));
    }
    let mut state = Vec::new();
    while reader.take_word("state") {
        state.push(parse_state(reader)?);
    }
    let program = program(reader)?;
    reader.expect_word("end")?;
    Ok(Rows { points, inputs, state, program, span: Span::default() })
}

fn parse_input(reader: &mut Reader) -> Result<RowInput, TextError> {
    if reader.take_word("size") {
        return Ok(RowInput::Size(parse_size(reader)?));
    }
    if reader.take_word("all") {
        return Ok(RowInput::All(parse_var(reader)?));
    }
    if reader.take_word("row") {
        return Ok(RowInput::Row(parse_var(reader)?, parse_row(reader)?));
    }
    if reader.take_word("length") {
        return Ok(RowInput::Length(parse_var(reader)?, parse_row(reader)?));
    }
    if reader.take_word("width") {
        return Ok(RowInput::Width(parse_var(reader)?, parse_matrix(reader)?));
    }
    if reader.take_word("matrix") {
        let (var, offsets) = (parse_var(reader)?, parse_var(reader)?);
        return Ok(RowInput::Matrix(var, offsets, parse_matrix(reader)?));
    }
    reader.expect_word("segment")?;
    Ok(RowInput::Segment(parse_var(reader)?, parse_var(reader)?, parse_row(reader)?))
}

fn parse_row(reader: &mut Reader) -> Result<RowNumber, TextError> {
    Ok(match reader.take_word("at") {
        true => RowNumber::At(parse_var(reader)?),
        false => RowNumber::Point(parse_size(reader)?),
    })
}

fn parse_matrix(reader: &mut Reader) -> Result<MatrixRows, TextError> {
    if reader.take_word("each") {
        return Ok(MatrixRows::Each(parse_size(reader)?));
    }
    reader.expect_word("of")?;
    Ok(MatrixRows::Segment(parse_var(reader)?))
}

fn parse_state(reader: &mut Reader) -> Result<RowState, TextError> {
    if reader.take_word("kept") {
        return Ok(RowState::Kept);
    }
    if reader.take_word("done") {
        return Ok(RowState::Done);
    }
    type Numbered = fn(usize) -> RowState;
    let numbered: [(&str, Numbered); 6] = [
        ("all", RowState::All),
        ("point", RowState::Point),
        ("grown", RowState::Grown),
        ("total", RowState::Total),
        ("offsets", RowState::Offsets),
        ("extent", RowState::Extent),
    ];
    for (word, state) in numbered {
        if reader.take_word(word) {
            return Ok(state(parse_number(reader)?));
        }
    }
    if reader.take_word("matrix") {
        let (at, offsets) = (parse_number(reader)?, parse_var(reader)?);
        return Ok(RowState::Matrix(at, offsets, parse_matrix(reader)?));
    }
    reader.expect_word("segment")?;
    Ok(RowState::Segment(parse_number(reader)?, parse_var(reader)?))
}

fn parse_number(reader: &mut Reader) -> Result<usize, TextError> {
    Ok(reader.number("the number of an output")? as usize)
}
