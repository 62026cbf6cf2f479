//! Where the results of points go: straight to an array, or to registers for somebody to look at.

use std::ops::Range;

use crate::isa::Slot;
use crate::lanes::{Frame, Lane, StorageMut, copy_lanes, flat, with_lane_type};
use crate::stream::Stream;

/// Places for the results of consecutive points.
#[derive(Debug, Default)]
pub(crate) struct Places<'p> {
    /// The position of the point whose results come first.
    first: usize,
    /// Per result; the others are shown block by block.
    straight: Vec<Option<StorageMut<'p>>>,
    /// The results that are the elements of rows (Note [Interleaved results] in `weft_ir::plan`), and where these go.
    rows: Vec<(Range<usize>, StorageMut<'p>)>,
    /// Results that nobody needs to see.
    unseen: Vec<usize>,
    /// Results that are written past the caches, and what writes them.
    past: Vec<usize>,
    stream: Option<Stream>,
}

impl<'p> Places<'p> {
    /// For the results of points from a position on. Results without an entry are shown.
    pub(crate) fn new(first: usize, straight: Vec<Option<StorageMut<'p>>>) -> Places<'p> {
        Places { first, straight, ..Places::default() }
    }

    /// With the rows of which these results are the elements.
    pub(crate) fn with_rows(self, rows: Vec<(Range<usize>, StorageMut<'p>)>) -> Places<'p> {
        Places { rows, ..self }
    }

    /// But for these results, which nobody needs to see.
    pub(crate) fn without(self, unseen: Vec<usize>) -> Places<'p> {
        Places { unseen, ..self }
    }

    /// These results are written past the caches.
    pub(crate) fn past_caches(self, past: Vec<usize>) -> Places<'p> {
        let stream = (!past.is_empty()).then(|| Stream::new(true));
        Places { past, stream, ..self }
    }

    /// Whether a result is.
    pub(crate) fn is_past_caches(&self, result: usize) -> bool {
        self.past.contains(&result)
    }

    /// Whether some of these results are shown.
    pub(crate) fn show_any_of(&self, results: &[Slot]) -> bool {
        let in_row = |at: usize| self.rows.iter().any(|(results, _)| results.contains(&at));
        let straight = |at: usize| matches!(self.straight.get(at), Some(Some(_))) || in_row(at);
        !(0..results.len()).all(|at| straight(at) || self.unseen.contains(&at))
    }

    /// Where a native function writes a result for so many lanes, unless that is a register: as for
    /// those that all lanes share.
    pub(crate) fn lanes(
        &mut self,
        result: usize,
        slot: Slot,
        position: usize,
        count: usize,
    ) -> Option<StorageMut<'_>> {
        let place = self.straight.get_mut(result)?.as_mut()?;
        let first = position - self.first;
        (!slot.uniform).then(|| place.part(first, first + count))
    }

    /// Where a native function writes the rows of which a result is the first element, for so many lanes.
    pub(crate) fn rows(
        &mut self,
        result: usize,
        position: usize,
        count: usize,
    ) -> Option<StorageMut<'_>> {
        let (results, rows) = self.rows.iter_mut().find(|(results, _)| results.start == result)?;
        let first = (position - self.first) * results.len();
        Some(rows.part(first, first + count * results.len()))
    }

    /// Copies results that a native function has left in registers to their places: those that all
    /// lanes share.
    pub(crate) fn fill(&mut self, frame: &Frame, results: &[Slot], block: Range<usize>) {
        self.copy(frame, results, block, |slot| slot.uniform);
    }

    /// Copies the results that are in registers to their places.
    pub(crate) fn store(&mut self, frame: &Frame, results: &[Slot], block: Range<usize>) {
        self.copy(frame, results, block.clone(), |_| true);
        let (start, end) = (block.start - self.first, block.end - self.first);
        for (of_row, rows) in &mut self.rows {
            let elements = of_row.len();
            for (at, &slot) in results[of_row.clone()].iter().enumerate() {
                store_apart(frame, slot, rows, start * elements..end * elements, (at, elements));
            }
        }
    }

    fn copy(
        &mut self,
        frame: &Frame,
        results: &[Slot],
        block: Range<usize>,
        wanted: impl Fn(Slot) -> bool,
    ) {
        let (start, end) = (block.start - self.first, block.end - self.first);
        for (number, (&slot, place)) in results.iter().zip(&mut self.straight).enumerate() {
            let Some(place) = place.as_mut().filter(|_| wanted(slot)) else { continue };
            let stream = self.stream.as_ref().filter(|_| self.past.contains(&number));
            with_lane_type!(slot.ty, T => {
                let place = &mut <T as Lane>::slice_mut(place)[start..end];
                match stream {
                    Some(stream) => stream.lanes::<T>(frame, slot, place),
                    None => copy_lanes::<T>(frame, slot, place),
                }
            });
        }
    }
}

/// Copies the lanes of a register to one place of every so many.
pub(crate) fn store_apart(
    frame: &Frame,
    slot: Slot,
    part: &mut StorageMut<'_>,
    places: Range<usize>,
    (step, steps): (usize, usize),
) {
    with_lane_type!(slot.ty, T => {
        let to = <T as Lane>::slice_mut(part)[places].iter_mut().skip(step).step_by(steps);
        let lanes = flat(&T::file(frame)[slot.index as usize]);
        match slot.uniform {
            true => to.for_each(|to| *to = lanes[0]),
            false => to.zip(lanes).for_each(|(to, lane)| *to = *lane),
        }
    });
}
