//! Where the results of points go: straight to an array, or to registers for somebody to look at.

use std::ops::Range;

use crate::isa::Slot;
use crate::lanes::{Frame, Lane, StorageMut, copy_lanes, with_lane_type};
use crate::stream::Stream;

/// Places for the results of consecutive points.
#[derive(Debug, Default)]
pub(crate) struct Places<'p> {
    /// The position of the point whose results come first.
    first: usize,
    /// Per result; the others are shown block by block.
    straight: Vec<Option<StorageMut<'p>>>,
    /// Results that nobody needs to see.
    unseen: Vec<usize>,
    /// Results that are written past the caches, and what writes them.
    past: Vec<usize>,
    stream: Option<Stream>,
}

impl<'p> Places<'p> {
    /// For the results of points from a position on. Results without an entry are shown.
    pub(crate) fn new(first: usize, straight: Vec<Option<StorageMut<'p>>>) -> Places<'p> {
        Places { first, straight, unseen: Vec::new(), past: Vec::new(), stream: None }
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
        let straight = |at: usize| matches!(self.straight.get(at), Some(Some(_)));
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

    /// Copies results that a native function has left in registers to their places: those that all
    /// lanes share.
    pub(crate) fn fill(&mut self, frame: &Frame, results: &[Slot], block: Range<usize>) {
        self.copy(frame, results, block, |slot| slot.uniform);
    }

    /// Copies the results that are in registers to their places.
    pub(crate) fn store(&mut self, frame: &Frame, results: &[Slot], block: Range<usize>) {
        self.copy(frame, results, block, |_| true);
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
