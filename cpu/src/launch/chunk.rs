//! Cuts a space into chunks.

use std::ops::Range;

use crate::execute::{Context, Halt};
use crate::fold::SECOND;
use crate::shape::Shape;

/// The points of a chunk, about; a multiple of the second level of the tree of a fold.
pub(crate) const CHUNK: usize = 4 * SECOND;

/// Where chunks shall have fewer points than this, each point is much work, and smaller pieces of a row pay.
const DEAR: usize = SECOND / 2;

/// How many chunks are made between two looks at whether the run shall end.
const POLL: usize = 1 << 16;

/// Consecutive points: whole rows, or a piece of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Their positions.
    pub(crate) positions: Range<usize>,
    /// Their rows.
    pub(crate) rows: Range<usize>,
    /// If it is a piece of a row: whether it is the first and whether it is the last, in the order
    /// of the chunks.
    pub(crate) piece: Option<(bool, bool)>,
}

impl Chunk {
    /// How many rows end with this chunk.
    pub(crate) fn finished_rows(&self) -> usize {
        match self.piece {
            None => self.rows.len(),
            Some((_, last)) => usize::from(last),
        }
    }
}

/// Where a space may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Anywhere.
    Anywhere,
    /// Between rows; long rows also at multiples of [`CHUNK`] from their start, or of [`SECOND`] where points are much work.
    FromStart,
    /// As `FromStart`, counted from the end of a row; the chunks are in reverse order.
    FromEnd,
    /// Between rows only.
    Rows,
}

/// The chunks of a space in order, each of at most `most` points if it can; rows are cut that are longer
/// than that and than [`CHUNK`], or than [`SECOND`] where points are much work. A space that nobody stores can be very large: making the list then takes
/// long, and ends when the run shall.
pub(crate) fn chunks(
    shape: &Shape<'_>,
    cut: Cut,
    most: usize,
    context: Context<'_>,
) -> Result<Vec<Chunk>, Halt> {
    let mut chunks = Vec::new();
    if cut == Cut::Anywhere {
        let points = shape.points();
        for start in (0..points).step_by(most) {
            if chunks.len().is_multiple_of(POLL) {
                context.poll()?;
            }
            let positions = start..points.min(start + most);
            chunks.push(Chunk { positions, rows: 0..0, piece: None });
        }
        return Ok(chunks);
    }
    let rows = shape.rows();
    let mut row = 0;
    while row < rows {
        let start = shape.row(row).start;
        // The most rows, at least one, whose elements fit; rows may be empty.
        let last = rows.min(row + most);
        let (mut fits, mut beyond) = (row + 1, last + 1);
        while beyond - fits > 1 {
            let middle = fits + (beyond - fits) / 2;
            if shape.row(middle - 1).end - start <= most { fits = middle } else { beyond = middle }
        }
        let positions = start..shape.row(fits - 1).end;
        let longest = if most < DEAR { SECOND } else { most.max(CHUNK) };
        if positions.len() > longest && cut != Cut::Rows {
            pieces(row, positions, cut, longest / SECOND * SECOND, context, &mut chunks)?;
        } else {
            if chunks.len().is_multiple_of(POLL) {
                context.poll()?;
            }
            chunks.push(Chunk { positions, rows: row..fits, piece: None });
        }
        row = fits;
    }
    if cut == Cut::FromEnd {
        chunks.reverse();
    }
    Ok(chunks)
}

/// The pieces of a long row, by position, of so many points: a multiple of [`SECOND`].
fn pieces(
    row: usize,
    positions: Range<usize>,
    cut: Cut,
    points: usize,
    context: Context<'_>,
    chunks: &mut Vec<Chunk>,
) -> Result<(), Halt> {
    let length = positions.len();
    let first = match cut {
        Cut::FromEnd => match length % points {
            0 => points,
            rest => rest,
        },
        Cut::FromStart | Cut::Rows | Cut::Anywhere => points,
    };
    let mut start = positions.start;
    let mut end = start + first;
    while start < positions.end {
        if chunks.len().is_multiple_of(POLL) {
            context.poll()?;
        }
        let ends = (start == positions.start, end == positions.end);
        let (is_first, is_last) = if cut == Cut::FromEnd { (ends.1, ends.0) } else { ends };
        let piece = Some((is_first, is_last));
        chunks.push(Chunk { positions: start..end, rows: row..row + 1, piece });
        start = end;
        end = positions.end.min(start + points);
    }
    Ok(())
}
