//! Buffers between the turns of loops.
//!
//! Note [Turns take the same buffers]. Turns of a loop are only alike if they take the same buffers
//! (Note [Matched replay]). So a buffer that is given back in a loop is kept, and the next one of as many bytes may be it. Of several,
//! a turn takes the one that the turn before the last took at the same place, which is free again where turns take two
//! sets of buffers by turns; else the one that the last turn took there. What has not been taken for some turns of
//! the loop in which it was given back goes to the driver, and all of them do when the outermost loop ends, or when
//! there is no room.

use std::collections::{BTreeMap, VecDeque};

/// A buffer that is not taken in so many turns goes.
const MOST_TURNS: usize = 4;

/// Buffers that turns took, in their order: their bytes and addresses.
type Taken = Vec<(u64, u64)>;

/// A loop that runs.
#[derive(Debug)]
struct Loop {
    number: usize,
    /// When it began.
    begun: u64,
    /// When its last turns began.
    turns: VecDeque<u64>,
}

/// What turns of a loop took.
#[derive(Debug, Default)]
struct Places {
    before_last: Taken,
    last: Taken,
    now: Taken,
}

/// A buffer that nobody uses.
#[derive(Debug)]
struct Unused {
    bytes: u64,
    /// When it was given back.
    since: u64,
}

/// Buffers that are kept between the turns of loops.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// From the outermost to the innermost.
    loops: Vec<Loop>,
    /// By the number of the loop.
    places: BTreeMap<usize, Places>,
    /// By address.
    unused: BTreeMap<u64, Unused>,
    /// How often something was given back, or began.
    now: u64,
}

impl Spare {
    /// Whether a loop runs.
    pub(crate) fn is_in_loop(&self) -> bool {
        !self.loops.is_empty()
    }

    pub(crate) fn begin_loop(&mut self, number: usize) {
        self.now += 1;
        self.loops.push(Loop { number, begun: self.now, turns: VecDeque::from([self.now]) });
    }

    /// A turn of the innermost loop ends: what goes to the driver.
    pub(crate) fn end_turn(&mut self) -> Vec<u64> {
        self.now += 1;
        let Some(Loop { number, begun, turns }) = self.loops.last_mut() else { return Vec::new() };
        let places = self.places.entry(*number).or_default();
        places.before_last = std::mem::take(&mut places.last);
        places.last = std::mem::take(&mut places.now);
        turns.push_back(self.now);
        if turns.len() <= MOST_TURNS {
            return Vec::new();
        }
        turns.pop_front();
        // What was given back before this loop began, loops around it judge.
        let stale = *begun..turns.front().copied().unwrap_or(*begun);
        let is_stale = |unused: &Unused| stale.contains(&unused.since);
        let old = self.unused.iter().filter(|(_, unused)| is_stale(unused));
        let old: Vec<u64> = old.map(|(address, _)| *address).collect();
        self.unused.retain(|_, unused| !is_stale(unused));
        old
    }

    /// The innermost loop ends. If it is the outermost too: what goes to the driver.
    pub(crate) fn end_loop(&mut self) -> Vec<u64> {
        self.loops.pop();
        if self.is_in_loop() { Vec::new() } else { self.take_all() }
    }

    /// All that goes to the driver, as there is no room.
    pub(crate) fn take_all(&mut self) -> Vec<u64> {
        self.places.clear();
        std::mem::take(&mut self.unused).into_keys().collect()
    }

    /// A buffer is given back.
    pub(crate) fn put(&mut self, address: u64, bytes: u64) {
        self.now += 1;
        self.unused.insert(address, Unused { bytes, since: self.now });
    }

    /// A buffer of so many bytes, if one is kept.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<u64> {
        let number = self.loops.last()?.number;
        let places = self.places.entry(number).or_default();
        let at = places.now.len();
        let is_free =
            |address: &u64| self.unused.get(address).is_some_and(|unused| unused.bytes == bytes);
        let of = |taken: &Taken| taken.get(at).map(|(_, address)| *address).filter(is_free);
        let oldest = || {
            let fitting = self.unused.iter().filter(|(_, unused)| unused.bytes == bytes);
            fitting.min_by_key(|(_, unused)| unused.since).map(|(address, _)| *address)
        };
        let address = of(&places.before_last).or_else(|| of(&places.last)).or_else(oldest)?;
        self.unused.remove(&address);
        Some(address)
    }

    /// The turn has taken a buffer, new or not.
    pub(crate) fn note(&mut self, address: u64, bytes: u64) {
        if let Some(Loop { number, .. }) = self.loops.last() {
            self.places.entry(*number).or_default().now.push((bytes, address));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Spare;

    /// A turn that takes buffers of these bytes, the first of which becomes the state that the next turn gives back,
    /// and gives the others back itself: the buffers that it takes. New ones come from `next` on.
    fn turn(
        spare: &mut Spare,
        state: &mut Option<(u64, u64)>,
        sizes: &[u64],
        next: &mut u64,
    ) -> Vec<u64> {
        let mut taken = Vec::new();
        for bytes in sizes {
            let address = spare.take(*bytes).unwrap_or_else(|| {
                *next += 1000;
                *next
            });
            spare.note(address, *bytes);
            taken.push(address);
        }
        let before = state.replace((taken[0], sizes[0]));
        let others = taken.iter().copied().zip(sizes.iter().copied()).skip(1);
        for (address, bytes) in others.chain(before) {
            spare.put(address, bytes);
        }
        taken
    }

    #[test]
    fn turns_take_the_same_buffers() {
        let (mut spare, mut state, mut next) = (Spare::default(), None, 0);
        spare.begin_loop(7);
        let turns: Vec<Vec<u64>> = (0..6)
            .map(|_| {
                let taken = turn(&mut spare, &mut state, &[8, 8, 4, 8], &mut next);
                assert!(spare.end_turn().is_empty());
                taken
            })
            .collect();
        assert_eq!(turns[2], turns[4]);
        assert_eq!(turns[3], turns[5]);
        assert!(spare.end_loop().len() >= 3);
        assert!(!spare.is_in_loop());
    }

    #[test]
    fn what_is_not_taken_goes() {
        let mut spare = Spare::default();
        spare.begin_loop(1);
        spare.put(1000, 8);
        spare.begin_loop(2);
        spare.put(2000, 16);
        let gone: Vec<Vec<u64>> = (0..6).map(|_| spare.end_turn()).collect();
        // What was given back around the inner loop stays.
        assert_eq!(gone.concat(), [2000]);
        assert!(spare.end_loop().is_empty());
        let gone: Vec<Vec<u64>> = (0..6).map(|_| spare.end_turn()).collect();
        assert_eq!(gone.concat(), [1000]);
    }

    #[test]
    fn only_buffers_of_that_size_are_taken() {
        let mut spare = Spare::default();
        spare.begin_loop(1);
        spare.put(1000, 8);
        assert_eq!(spare.take(4), None);
        assert_eq!(spare.take(8), Some(1000));
        assert_eq!(spare.take(8), None);
        spare.put(1000, 8);
        assert_eq!(spare.take_all(), [1000]);
    }
}
