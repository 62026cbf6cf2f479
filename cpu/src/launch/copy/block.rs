//! The loops that copy a box of elements.

use crate::lanes::Lane;
use crate::launch::transpose::{TILE, tile};
use crate::stream::Stream;

/// Runs of so many bytes go past the caches, where results do.
const LONG: usize = 1024;

/// How many elements of a row that is written one by one are read before the next row is.
const STRIP: usize = 256;

/// Elements so many bytes apart share no line of the cache, so that neighbours in other rows are read with them.
const APART: usize = 64;

/// A dimension of the box: how many elements there are, and how far apart on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimension {
    pub(super) extent: usize,
    pub(super) to: usize,
    pub(super) from: isize,
}

/// Copies the elements of a box, outermost dimension first, whose first one stands at these places.
pub(super) fn copy<T: Lane>(
    from: &[T],
    first: isize,
    to: &mut [T],
    place: usize,
    dimensions: Vec<Dimension>,
    stream: &Stream,
) {
    let mut dimensions = merged(dimensions);
    // The loops are in any order: the last two are those along which the elements of either side are nearest.
    let near = |at: &Dimension| if at.from == 0 { usize::MAX } else { at.from.unsigned_abs() };
    if let Some((&last, outer)) = dimensions.split_last()
        && last.from.unsigned_abs() * size_of::<T>() >= APART
        && let Some(nearest) = (0..outer.len()).min_by_key(|&at| near(&outer[at]))
        && near(&outer[nearest]) < near(&last)
    {
        let row = dimensions.remove(nearest);
        dimensions.insert(dimensions.len() - 1, row);
    }
    Copy { from, to, stream }.all(first, place, &dimensions);
}

/// Without dimensions of one element, and with those as one that are one on both sides.
fn merged(dimensions: Vec<Dimension>) -> Vec<Dimension> {
    let mut merged: Vec<Dimension> = Vec::with_capacity(dimensions.len());
    for inner in dimensions.into_iter().filter(|dimension| dimension.extent != 1) {
        match merged.last_mut() {
            Some(outer)
                if outer.to == inner.to * inner.extent
                    && outer.from == inner.from * inner.extent as isize =>
            {
                *outer = Dimension { extent: outer.extent * inner.extent, ..inner };
            }
            _ => merged.push(inner),
        }
    }
    merged
}

struct Copy<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
    stream: &'a Stream,
}

impl<T: Lane> Copy<'_, T> {
    fn all(&mut self, from: isize, to: usize, dimensions: &[Dimension]) {
        match *dimensions {
            [] => self.to[to] = self.from[from as usize],
            [row] => self.rows(from, to, Dimension { extent: 1, to: 0, from: 0 }, row),
            [rows, row]
                if row.from.unsigned_abs() * size_of::<T>() >= APART
                    && rows.from != 0
                    && rows.from.unsigned_abs() < row.from.unsigned_abs() =>
            {
                self.tiles(from, to, rows, row);
            }
            [rows, row] => self.rows(from, to, rows, row),
            [outer, ref inner @ ..] => {
                for at in 0..outer.extent {
                    self.all(from + at as isize * outer.from, to + at * outer.to, inner);
                }
            }
        }
    }

    /// Row by row.
    fn rows(&mut self, from: isize, to: usize, rows: Dimension, row: Dimension) {
        match (row.from, row.to, row.extent) {
            (1, 1, 2) => self.short_rows::<2>(from, to, rows),
            (1, 1, 3) => self.short_rows::<3>(from, to, rows),
            (1, 1, 4) => self.short_rows::<4>(from, to, rows),
            (1, 1, length) => {
                let long = self.stream.is_past() && length * size_of::<T>() >= LONG;
                self.each_row(from, to, rows, |from, to, stream, from_at, to_at| {
                    let (from, to) =
                        (&from[from_at..from_at + length], &mut to[to_at..to_at + length]);
                    if long { stream.copy(from, to) } else { to.copy_from_slice(from) }
                });
            }
            (0, 1, length) => self.each_row(from, to, rows, |from, to, _, from_at, to_at| {
                to[to_at..to_at + length].fill(from[from_at]);
            }),
            (-1, 1, length) => self.each_row(from, to, rows, |from, to, _, from_at, to_at| {
                let from = &from[from_at + 1 - length..=from_at];
                let to = &mut to[to_at..to_at + length];
                to.iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
            }),
            (2.., 1, length) => {
                let step = row.from as usize;
                self.each_row(from, to, rows, |from, to, _, from_at, to_at| {
                    let to = &mut to[to_at..to_at + length];
                    let from = from[from_at..].iter().step_by(step);
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                });
            }
            (step, apart, length) => {
                self.each_row(from, to, rows, |from, to, _, from_at, to_at| {
                    for at in 0..length {
                        to[to_at + at * apart] =
                            from[(from_at as isize + at as isize * step) as usize];
                    }
                })
            }
        }
    }

    fn each_row(
        &mut self,
        from: isize,
        to: usize,
        rows: Dimension,
        mut copy: impl FnMut(&[T], &mut [T], &Stream, usize, usize),
    ) {
        for at in 0..rows.extent {
            let from = from + at as isize * rows.from;
            copy(self.from, self.to, self.stream, from as usize, to + at * rows.to);
        }
    }

    /// Rows of so few elements that they are loaded and stored at once.
    fn short_rows<const LENGTH: usize>(&mut self, from: isize, to: usize, rows: Dimension) {
        self.each_row(from, to, rows, |from, to, _, from_at, to_at| {
            let from: &[T; LENGTH] =
                from[from_at..from_at + LENGTH].try_into().expect("as many elements");
            to[to_at..to_at + LENGTH].copy_from_slice(from);
        });
    }

    /// Tile by tile, where the elements of a row are further apart than those of a column. A few columns
    /// are read from one end to the other, a strip at a time.
    fn tiles(&mut self, from: isize, to: usize, rows: Dimension, row: Dimension) {
        let high = if row.extent < TILE { STRIP } else { TILE };
        let plain = rows.from == 1 && row.to == 1 && row.from > 0;
        for top in (0..rows.extent).step_by(high) {
            let height = high.min(rows.extent - top);
            for left in (0..row.extent).step_by(TILE) {
                let width = TILE.min(row.extent - left);
                let from = from + top as isize * rows.from + left as isize * row.from;
                let to = to + top * rows.to + left * row.to;
                if plain && height == TILE && width == TILE {
                    let from = &self.from[from as usize..];
                    tile(from, row.from as usize, &mut self.to[to..], rows.to, [TILE, TILE]);
                    continue;
                }
                for column in 0..width {
                    let from = from + column as isize * row.from;
                    let to = to + column * row.to;
                    for at in 0..height {
                        self.to[to + at * rows.to] =
                            self.from[(from + at as isize * rows.from) as usize];
                    }
                }
            }
        }
    }
}
