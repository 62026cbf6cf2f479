//! Chunks for threads to work on, with the places of their results.

use std::ops::Range;

use crate::lanes::{Storage, StorageMut};
use crate::launch::chunk::Chunk;
use crate::launch::layout::Layout;

/// A chunk that a thread works on.
pub(super) struct Claim<'c, 'o> {
    pub(super) number: usize,
    pub(super) chunk: &'c Chunk,
    /// Its parts of the outputs.
    pub(super) parts: Vec<StorageMut<'o>>,
    /// Its rows among the results of all, where there is room for these.
    pub(super) rows: Vec<StorageMut<'o>>,
    /// Whether some chunks are pieces of rows.
    pub(super) chained: bool,
}

/// Consecutive chunks.
pub(super) struct Portion<'c, 'o> {
    layout: &'c Layout,
    chunks: &'c [Chunk],
    /// Those that nobody has claimed.
    left: Range<usize>,
    /// Their parts of the outputs.
    outputs: Vec<StorageMut<'o>>,
    /// Their rows.
    rows: Vec<StorageMut<'o>>,
    /// Whether the outputs end where the first chunk does.
    backwards: bool,
    chained: bool,
}

/// Cuts chunks in at most so many portions of about as many of them each. `rows` are the results of all
/// rows, or nothing; `backwards` says whether the chunks are in reverse order, and then it is one portion.
pub(super) fn portions<'c, 'o>(
    layout: &'c Layout,
    chunks: &'c [Chunk],
    outputs: &'o mut [Storage],
    rows: &'o mut [Storage],
    backwards: bool,
    most: usize,
) -> Vec<Portion<'c, 'o>> {
    let chained = chunks.iter().any(|chunk| chunk.piece.is_some());
    let mut outputs: Vec<StorageMut<'o>> = outputs.iter_mut().map(Storage::as_mut).collect();
    let mut rows: Vec<StorageMut<'o>> = rows.iter_mut().map(Storage::as_mut).collect();
    let count = if backwards { 1 } else { most.clamp(1, chunks.len().max(1)) };
    let mut portions = Vec::with_capacity(count);
    for number in 0..count {
        let left = number * chunks.len() / count..(number + 1) * chunks.len() / count;
        let own = &chunks[left.clone()];
        let own_rows = own.iter().map(Chunk::finished_rows).sum();
        let of_output = |(at, rest): (usize, &mut StorageMut<'o>)| {
            let output = &layout.outputs[at];
            rest.take_front(own.iter().map(|chunk| output.part(chunk)).sum())
        };
        portions.push(Portion {
            layout,
            chunks,
            left,
            outputs: outputs.iter_mut().enumerate().map(of_output).collect(),
            rows: rows.iter_mut().map(|rest| rest.take_front(own_rows)).collect(),
            backwards,
            chained,
        });
    }
    portions
}

impl<'c, 'o> Iterator for Portion<'c, 'o> {
    type Item = Claim<'c, 'o>;

    fn next(&mut self) -> Option<Claim<'c, 'o>> {
        let number = self.left.next()?;
        let chunk = &self.chunks[number];
        let mut parts = Vec::with_capacity(self.outputs.len());
        for (rest, output) in self.outputs.iter_mut().zip(&self.layout.outputs) {
            let length = output.part(chunk);
            parts.push(match self.backwards {
                true => rest.take_back(length),
                false => rest.take_front(length),
            });
        }
        // A row that is cut belongs to several chunks; the place of its result comes with the last.
        let mut rows = Vec::with_capacity(self.rows.len());
        for rest in &mut self.rows {
            rows.push(rest.take_front(chunk.finished_rows()));
        }
        if chunk.piece.is_some() {
            rows.clear();
        }
        Some(Claim { number, chunk, parts, rows, chained: self.chained })
    }
}

#[cfg(test)]
mod tests {
    use super::portions;
    use crate::lanes::{LaneType, Storage, StorageMut};
    use crate::launch::chunk::Chunk;
    use crate::launch::layout::Layout;

    #[test]
    fn every_row_belongs_to_one_portion() {
        // Rows 0 to 9, of which the fifth is cut in two.
        let chunk = |rows: std::ops::Range<usize>, piece| Chunk { positions: 0..0, rows, piece };
        let chunks = [
            chunk(0..3, None),
            chunk(3..5, None),
            chunk(5..6, Some((true, false))),
            chunk(5..6, Some((false, true))),
            chunk(6..10, None),
        ];
        let layout = Layout::default();
        for most in 1..8 {
            let mut rows = [Storage::zeros(LaneType::I64, 10)];
            for portion in portions(&layout, &chunks, &mut [], &mut rows, false, most) {
                for mut claim in portion {
                    let of_chunk = claim.rows.first_mut();
                    assert_eq!(of_chunk.is_some(), claim.chunk.piece.is_none());
                    if let Some(StorageMut::I64(places)) = of_chunk {
                        let numbers = claim.chunk.rows.clone();
                        assert_eq!(places.len(), numbers.len());
                        places.iter_mut().zip(numbers).for_each(|(to, row)| *to += row as i64);
                    }
                }
            }
            assert_eq!(rows, [Storage::I64(vec![0, 1, 2, 3, 4, 0, 6, 7, 8, 9])]);
        }
    }
}
