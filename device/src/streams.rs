//! Which stream work goes to, and what it waits for in others.
//!
//! Note [Streams of a run]. All work goes through the first stream, but for small kernels that take long and do not depend
//! on some others: these go to further streams, beside what is in the first. Nothing rests on the plan for that. What each
//! piece of work touches is known (`graphs/operation.rs`), and it waits for what it depends on: who reads, for the last
//! who wrote, who writes, for him and for all who have read since; and who relies on checks, for all kernels with checks
//! (`Note [What relies on checks]` in `weft-cuda`). A stream waits for another one by an event, and then it is
//! behind all that was queued there up to then; so it is counted what is queued in each stream, and up to where the
//! others are behind it. What was there before the first such kernel, all streams are behind: the *base*.
//!
//! Note [Inputs come when they are needed]. What a program takes and the device has not got is copied there right before
//! the first work that touches it is queued; or while the compiler works, if that takes longer. What comes when
//! kernels are queued already goes through a stream of its own, the last one, which is behind none of them: so the
//! device runs them while the host brings the rest. What is never touched, never comes.
//!
//! A buffer is allocated in the stream of the kernel that needs it, and counts as written there. It is given back in a
//! stream that is behind all who have touched it. If there is none, that waits until the streams *join*: the first one
//! waits for all others, which become its past. They do before the host reads, marks a place, or waits, before loops
//! (whose turns become graphs), and at the end.

use std::collections::BTreeMap;

use crate::graphs::Touch;

/// Which kernels that do not depend on others go to further streams, beside those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// None: all goes through one.
    Nothing,
    /// Those that are small and long, as four long recurrences of few points are, which take 0.28 of the time then. Six
    /// prefix sums of 20 µs each take 1.25 of it: events and waits between streams take longer than they save.
    Long,
    /// All that are small.
    All,
}

/// How many streams there are.
pub(crate) const STREAMS: usize = 6;

/// The first one.
pub(crate) const FIRST: usize = 0;

/// The one through which inputs come while kernels run; no kernel goes there.
pub(crate) const INPUTS: usize = STREAMS - 1;

/// The most bytes of buffers that wait for a join to be given back.
const MOST_LATE: u64 = 64 << 20;

/// A piece of work: the stream that it is in, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    stream: usize,
    number: u64,
}

/// Who has touched a buffer since the last join.
#[derive(Debug, Default)]
struct Touched {
    writer: Option<Place>,
    /// Since then.
    readers: Vec<Place>,
}

impl Touched {
    fn all(&self) -> impl Iterator<Item = Place> {
        self.writer.iter().chain(&self.readers).copied()
    }
}

/// A stream.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// How many pieces of work were queued in it.
    queued: u64,
    /// Up to where it is behind the others.
    behind: [u64; STREAMS],
    /// Where its event was last recorded, and up to where it was behind the others then.
    recorded: u64,
    recorded_behind: [u64; STREAMS],
    /// The number of the last kernel.
    kernel: u64,
    /// Where the last kernel of the plan begins.
    begun: u64,
}

/// What is to be asked of the driver before something is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The event of this stream is recorded behind all that is queued there.
    Record(usize),
    /// A stream waits for what the event of another one has recorded last.
    For { stream: usize, other: usize },
}

/// What a piece of work is, besides what it touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Whether it has checks.
    pub(crate) checks: bool,
    /// Whether it relies on those before it.
    pub(crate) relies: bool,
    pub(crate) is_kernel: bool,
}

/// A buffer is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Free {
    In(usize),
    /// When the streams join.
    Later,
}

/// The streams of a run.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Whether there is work that may be in several.
    is_on: bool,
    /// The stream of what is asked for now.
    current: usize,
    streams: [Stream; STREAMS],
    /// All are behind so much of the first one.
    base: u64,
    /// The last kernel with checks of each stream, or one that is behind them.
    checked: Vec<Place>,
    /// Whether of several checks that fail another one may come first than in one stream.
    pub(crate) reorders_checks: bool,
    touched: BTreeMap<u64, Touched>,
    /// Buffers that go when the streams join, and their bytes.
    late: Vec<u64>,
    late_bytes: u64,
    /// The stream that was begun last.
    last: usize,
    /// Kernels that were not behind all that had been launched before.
    pub(crate) beside: u64,
}

impl Streams {
    /// Whether anything need be asked.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// The stream of what is asked for now.
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// Inputs are to come later, which need not be behind what is queued from now on.
    pub(crate) fn expect_inputs(&mut self) -> Vec<Wait> {
        self.begin();
        let (base, mut waits) = (self.base, Vec::new());
        self.follow(INPUTS, Place { stream: FIRST, number: base }, &mut waits);
        waits
    }

    /// An input is to come, in its own stream: what that has to wait for.
    pub(crate) fn bring_input(&mut self, buffer: u64) -> Vec<Wait> {
        let current = std::mem::replace(&mut self.current, INPUTS);
        let waits = self.queue(&[Touch { buffer, writes: true }], Kind::default());
        self.current = current;
        waits
    }

    fn begin(&mut self) {
        if !self.is_on {
            self.is_on = true;
            self.set_base();
        }
    }

    /// A kernel of the plan begins that some others do not depend on, nor it on them, and reads these buffers.
    pub(crate) fn begin_kernel(&mut self, reads: &[u64], is_small: bool) -> Vec<Wait> {
        self.begin();
        let mut waits = Vec::new();
        self.current = if is_small { self.stream_for(reads) } else { FIRST };
        // What comes beside it need not be behind it.
        if self.current == FIRST && self.streams[FIRST].recorded < self.base {
            self.record(FIRST, &mut waits);
        }
        let stream = &mut self.streams[self.current];
        stream.begun = stream.queued + 1;
        waits
    }

    /// The stream whose last kernel has written what one reads; or one that has nothing to do; or the next one.
    fn stream_for(&mut self, reads: &[u64]) -> usize {
        let writer = |buffer: &u64| self.touched.get(buffer)?.writer;
        let goes_on = |place: &Place| {
            ![FIRST, INPUTS].contains(&place.stream)
                && place.number >= self.streams[place.stream].begun
        };
        if let Some(place) = reads.iter().filter_map(writer).find(goes_on) {
            return place.stream;
        }
        let behind = self.streams[FIRST].behind;
        let is_done = |stream: &usize| self.streams[*stream].queued <= behind[*stream];
        let next = self.last % (INPUTS - 1) + 1;
        self.last = (1..INPUTS).find(is_done).unwrap_or(next);
        self.last
    }

    /// That kernel has been asked for.
    pub(crate) fn end_kernel(&mut self) {
        self.current = FIRST;
    }

    fn set_base(&mut self) {
        self.streams[FIRST].queued += 1;
        self.base = self.streams[FIRST].queued;
    }

    fn record(&mut self, stream: usize, waits: &mut Vec<Wait>) {
        let own = &mut self.streams[stream];
        (own.recorded, own.recorded_behind) = (own.queued, own.behind);
        waits.push(Wait::Record(stream));
    }

    /// Has a stream wait for a piece of work, unless it is behind it already.
    fn follow(&mut self, stream: usize, before: Place, waits: &mut Vec<Wait>) {
        let Place { stream: other, number } = before;
        if other == stream || self.streams[stream].behind[other] >= number {
            return;
        }
        if self.streams[other].recorded < number {
            self.record(other, waits);
        }
        waits.push(Wait::For { stream, other });
        let Stream { recorded, recorded_behind, .. } = self.streams[other];
        let behind = &mut self.streams[stream].behind;
        for (own, theirs) in behind.iter_mut().zip(recorded_behind) {
            *own = theirs.max(*own);
        }
        behind[other] = recorded.max(behind[other]);
    }

    /// Work that touches these buffers is to be queued in the current stream: what that has to wait for.
    pub(crate) fn queue(&mut self, touches: &[Touch], kind: Kind) -> Vec<Wait> {
        let Kind { checks, relies, is_kernel } = kind;
        let (stream, mut waits) = (self.current, Vec::new());
        self.follow(stream, Place { stream: FIRST, number: self.base }, &mut waits);
        let mut before = if relies { std::mem::take(&mut self.checked) } else { Vec::new() };
        for Touch { buffer, writes } in touches {
            let Some(touched) = self.touched.get(buffer) else { continue };
            before.extend(touched.writer);
            if *writes {
                before.extend(&touched.readers);
            }
        }
        for place in before {
            self.follow(stream, place, &mut waits);
        }
        let own = &mut self.streams[stream];
        own.queued += 1;
        let place = Place { stream, number: own.queued };
        for Touch { buffer, writes } in touches {
            let touched = self.touched.entry(*buffer).or_default();
            match writes {
                true => *touched = Touched { writer: Some(place), readers: Vec::new() },
                false => touched.readers.push(place),
            }
        }
        if checks {
            let behind = self.streams[stream].behind;
            let is_past =
                |known: &Place| known.stream == stream || behind[known.stream] >= known.number;
            self.reorders_checks |= !self.checked.iter().all(is_past);
        }
        if checks || relies {
            self.checked.retain(|known| known.stream != stream);
            self.checked.push(place);
        }
        if is_kernel {
            self.streams[stream].kernel = place.number;
            let behind = self.streams[stream].behind;
            let is_beside =
                |other: usize| other != stream && self.streams[other].kernel > behind[other];
            self.beside += u64::from((0..STREAMS).any(is_beside));
        }
        waits
    }

    /// A buffer was allocated in the current stream, or the host has written there, which nobody else touches.
    pub(crate) fn made(&mut self, buffer: u64) {
        if self.is_on {
            let own = &mut self.streams[self.current];
            own.queued += 1;
            let place = Place { stream: self.current, number: own.queued };
            self.touched.insert(buffer, Touched { writer: Some(place), readers: Vec::new() });
        }
    }

    /// A buffer of so many bytes is to be given back.
    pub(crate) fn free(&mut self, buffer: u64, bytes: u64) -> Free {
        let Some(touched) = self.touched.remove(&buffer) else { return Free::In(FIRST) };
        let is_behind = |stream: &Place| {
            let behind = self.streams[stream.stream].behind;
            let is_past = |place: Place| {
                place.stream == stream.stream || behind[place.stream] >= place.number
            };
            touched.all().all(is_past)
        };
        match touched.all().find(is_behind) {
            Some(Place { stream, .. }) => {
                self.streams[stream].queued += 1;
                Free::In(stream)
            }
            None => {
                self.late.push(buffer);
                self.late_bytes += bytes;
                Free::Later
            }
        }
    }

    /// Whether too much waits for a join.
    pub(crate) fn is_late(&self) -> bool {
        self.late_bytes > MOST_LATE
    }

    /// The first stream waits for all others, which are its past from then on. What is late is given back behind that.
    pub(crate) fn join(&mut self) -> Vec<Wait> {
        let mut waits = Vec::new();
        if !self.is_on {
            return waits;
        }
        for stream in 1..STREAMS {
            let number = self.streams[stream].queued;
            self.follow(FIRST, Place { stream, number }, &mut waits);
        }
        self.set_base();
        self.touched.clear();
        self.checked.clear();
        self.late_bytes = 0;
        waits
    }

    /// A buffer that is given back behind a join.
    pub(crate) fn next_late(&mut self) -> Option<u64> {
        self.late.pop()
    }

    /// All that would be given back behind a join.
    pub(crate) fn take_late(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.late)
    }

    /// All is in the first stream again, behind a join.
    pub(crate) fn end(&mut self) {
        (self.is_on, self.current) = (false, FIRST);
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, Free, INPUTS, Kind, Streams, Wait};
    use crate::graphs::Touch;

    /// Has checks.
    const CHECKS: Kind = Kind { checks: true, relies: false, is_kernel: true };
    /// Relies on checks.
    const RELIES: Kind = Kind { checks: false, relies: true, is_kernel: true };

    /// A small kernel that reads and writes these buffers: its stream, and what that waits for.
    fn kernel(streams: &mut Streams, reads: &[u64], writes: &[u64]) -> (usize, Vec<Wait>) {
        kernel_of(streams, reads, writes, Kind { is_kernel: true, ..Kind::default() })
    }

    fn kernel_of(
        streams: &mut Streams,
        reads: &[u64],
        writes: &[u64],
        kind: Kind,
    ) -> (usize, Vec<Wait>) {
        let mut waits = streams.begin_kernel(reads, true);
        let stream = streams.current();
        let touches = |buffers: &[u64], writes| -> Vec<Touch> {
            buffers.iter().map(|buffer| Touch { buffer: *buffer, writes }).collect()
        };
        let touches = [touches(reads, false), touches(writes, true)].concat();
        waits.extend(streams.queue(&touches, kind));
        streams.end_kernel();
        (stream, waits)
    }

    fn wait(stream: usize, other: usize) -> Wait {
        Wait::For { stream, other }
    }

    #[test]
    fn what_is_independent_goes_to_streams_of_its_own() {
        let mut streams = Streams::default();
        let first = kernel(&mut streams, &[1], &[2]);
        // All are behind what was there before, for which one event will do.
        assert_eq!(first, (1, vec![Wait::Record(FIRST), wait(1, FIRST)]));
        assert_eq!(kernel(&mut streams, &[1], &[3]), (2, vec![wait(2, FIRST)]));
        assert_eq!(kernel(&mut streams, &[2], &[4]), (1, vec![]), "it goes on there");
        // One that needs both, and has the second one waited for.
        let both = kernel(&mut streams, &[4, 3], &[5]);
        assert_eq!(both, (1, vec![Wait::Record(2), wait(1, 2)]));
        assert_eq!(streams.beside, 2);
        // One that writes what two have read.
        let (stream, waits) = kernel(&mut streams, &[], &[1]);
        assert_eq!((stream, &waits[..2]), (3, &[wait(3, FIRST), Wait::Record(1)][..]));
        assert_eq!(waits[2..], [wait(3, 1)], "what that one is behind, this one is");
        assert_eq!(streams.join(), [wait(FIRST, 1), Wait::Record(3), wait(FIRST, 3)]);
        assert_eq!(streams.next_late(), None);
    }

    #[test]
    fn what_relies_is_behind_checks_and_all_behind_a_join() {
        let mut streams = Streams::default();
        kernel_of(&mut streams, &[1], &[2], CHECKS);
        let (stream, waits) = kernel_of(&mut streams, &[1], &[3], RELIES);
        assert_eq!(waits, [wait(stream, FIRST), Wait::Record(1), wait(stream, 1)]);
        streams.join();
        let (stream, waits) = kernel(&mut streams, &[3], &[4]);
        assert_eq!(waits, [Wait::Record(FIRST), wait(stream, FIRST)]);
        // In the first stream, a kernel that is not small has to wait too.
        let waits = streams.begin_kernel(&[4], false);
        assert_eq!((waits, streams.current()), (vec![], FIRST));
        let reads = [Touch { buffer: 4, writes: false }];
        assert_eq!(streams.queue(&reads, RELIES), [Wait::Record(stream), wait(FIRST, stream)]);
    }

    #[test]
    fn kernels_with_checks_run_beside_each_other() {
        let mut streams = Streams::default();
        for (to, stream) in [(2, 1), (3, 2)] {
            let checked = kernel_of(&mut streams, &[1], &[to], CHECKS);
            assert_eq!((checked.0, checked.1.last()), (stream, Some(&wait(stream, FIRST))));
        }
        assert!(streams.reorders_checks);
        assert_eq!(kernel(&mut streams, &[1], &[4]), (3, vec![wait(3, FIRST)]));
        // Who relies is behind both; and who relies next, is behind them too.
        let (stream, waits) = kernel_of(&mut streams, &[1], &[5], RELIES);
        assert_eq!((stream, &waits[..1]), (4, &[wait(4, FIRST)][..]));
        assert_eq!(waits[1..], [Wait::Record(1), wait(4, 1), Wait::Record(2), wait(4, 2)]);
        let (stream, waits) = kernel_of(&mut streams, &[4], &[6], RELIES);
        assert_eq!((stream, waits), (3, vec![Wait::Record(4), wait(3, 4)]));
    }

    #[test]
    fn checks_behind_each_other_are_in_order() {
        let mut streams = Streams::default();
        kernel_of(&mut streams, &[1], &[2], CHECKS);
        kernel_of(&mut streams, &[2], &[3], CHECKS);
        let both = Kind { checks: true, relies: true, is_kernel: true };
        kernel_of(&mut streams, &[1], &[4], both);
        kernel(&mut streams, &[1], &[5]);
        assert!(!streams.reorders_checks);
        streams.join();
        kernel_of(&mut streams, &[1], &[6], CHECKS);
        assert!(!streams.reorders_checks);
        kernel_of(&mut streams, &[5], &[7], CHECKS);
        assert!(streams.reorders_checks);
    }

    #[test]
    fn inputs_come_beside_kernels_and_before_their_readers() {
        let mut streams = Streams::default();
        let at_first = [Wait::Record(FIRST), wait(INPUTS, FIRST)];
        assert_eq!(streams.expect_inputs(), at_first);
        // A kernel in the first stream, which reads another one.
        let work = Kind { is_kernel: true, ..Kind::default() };
        let reads = |buffer| [Touch { buffer, writes: false }];
        assert_eq!(streams.queue(&reads(1), work), []);
        assert_eq!(streams.expect_inputs(), []);
        assert_eq!(streams.bring_input(2), [], "it is behind no kernel");
        assert_eq!(streams.current(), FIRST);
        let expected = [Wait::Record(INPUTS), wait(FIRST, INPUTS)];
        assert_eq!(streams.queue(&reads(2), work), expected);
        let (stream, waits) = kernel(&mut streams, &[2], &[3]);
        assert_eq!((stream, waits), (1, vec![wait(1, FIRST), wait(1, INPUTS)]));
        // Behind a join all is.
        streams.join();
        assert_eq!(streams.bring_input(4), at_first);
    }

    #[test]
    fn buffers_go_behind_all_who_have_touched_them() {
        let mut streams = Streams::default();
        kernel(&mut streams, &[1], &[2]);
        kernel(&mut streams, &[1], &[3]);
        assert_eq!(streams.free(2, 8), Free::In(1));
        assert_eq!(streams.free(1, 8), Free::Later, "two have read it");
        assert_eq!(streams.free(9, 8), Free::In(FIRST), "nobody has touched it");
        // A stream that is behind the other one.
        kernel(&mut streams, &[3], &[4]);
        let (stream, _) = kernel(&mut streams, &[4], &[5]);
        kernel(&mut streams, &[], &[6]);
        let (other, _) = kernel(&mut streams, &[6, 5], &[7]);
        assert_ne!(stream, other);
        assert_eq!(streams.free(5, 8), Free::In(other));
        streams.join();
        assert_eq!((streams.next_late(), streams.next_late()), (Some(1), None));
        streams.begin_kernel(&[], true);
        streams.made(10);
        assert_eq!(streams.free(10, 8), Free::In(streams.current()));
    }
}
