//! Matrices as colours.

use super::colour::{self, Rgb};
use super::figure::{Figure, Grid};
use super::scale::{Scale, Tick};

/// A matrix made ready to be drawn, from the top left, row by row.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// How far each cell is from the least number (0) to the greatest (1); `None` for NaN.
    levels: Vec<Option<f64>>,
    /// The numbers beside the bar of colours, with places from 0 to 1.
    pub(crate) ticks: Vec<Tick>,
}

impl Cells {
    /// The colour of a cell.
    pub(crate) fn colour(&self, row: usize, column: usize) -> Rgb {
        match self.level(row, column) {
            Some(level) => colour::heat(level),
            None => colour::MISSING,
        }
    }

    /// How far a cell is from the least number (0) to the greatest (1); `None` for NaN.
    pub(crate) fn level(&self, row: usize, column: usize) -> Option<f64> {
        self.levels[row * self.columns + column]
    }
}

/// The least and the greatest finite number; `None` if there is none.
pub(crate) fn range(grid: &Grid) -> Option<(f64, f64)> {
    let finite = grid.values.iter().copied().filter(|value| value.is_finite());
    finite.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// The scale of an axis of a matrix with `count` rows or columns: by the coordinates of their
/// middles, if there is one for each and they ascend; else by position.
pub(crate) fn scale(coordinates: &[f64], count: usize, is_vertical: bool) -> Scale {
    match coordinates {
        [first, .., last] if coordinates.len() == count && first < last && count > 1 => {
            let half = (last - first) / (count - 1) as f64 / 2.0;
            Scale::new(first - half, last + half, false, (0.0, 0.0))
        }
        _ => Scale::positions(count.max(1), is_vertical),
    }
}

/// The cells of a figure, of which at most that many columns and rows can be told apart; where
/// there are more, each is the mean of several.
pub(crate) fn cells(
    figure: &Figure,
    (low, high): (f64, f64),
    (most_columns, most_rows): (usize, usize),
    ticks: Vec<Tick>,
) -> Cells {
    let grid = &figure.grid;
    let columns = grid.columns.min(most_columns.max(1));
    let rows = grid.rows.min(most_rows.max(1));
    // Rows with coordinates ascend upwards.
    let ascends = figure.y.len() == grid.rows && figure.y.first() < figure.y.last();
    let mut levels = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        let row = if ascends { rows - 1 - row } else { row };
        let rows = row * grid.rows / rows..((row + 1) * grid.rows).div_ceil(rows);
        for column in 0..columns {
            let columns =
                column * grid.columns / columns..((column + 1) * grid.columns).div_ceil(columns);
            let within = rows.clone().flat_map(|row| {
                columns.clone().map(move |column| grid.values[row * grid.columns + column])
            });
            levels.push(mean(within).map(|value| {
                if low < high { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
            }));
        }
    }
    Cells { rows, columns, levels, ticks }
}

/// The mean of those that are numbers.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values
        .filter(|value| !value.is_nan())
        .fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
