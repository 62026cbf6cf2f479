//! How far long work of known size has come: counted where it is done, read by whoever watches.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts how much of a piece of work is done. The outermost piece of known size counts; pieces within
/// it do not, so that what is seen goes up steadily.
///
/// One thread at a time begins and ends pieces; any thread may count and read. A reader may see the
/// numbers of two pieces mixed for a moment.
#[derive(Debug, Default)]
pub struct Meter {
    done: AtomicU64,
    /// 0 while there is no piece.
    total: AtomicU64,
    /// How many pieces have begun.
    pieces: AtomicU64,
}

/// What a [`Meter`] shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Which piece it is: another number means other work.
    pub piece: u64,
    /// How much is done.
    pub done: u64,
    /// How much there is to do, at least 1.
    pub total: u64,
}

impl Meter {
    /// Nothing is going on.
    pub fn new() -> Meter {
        Meter::default()
    }

    /// Begins a piece of that much work; nothing if it is part of another one, or no work at all.
    pub fn begin(&self, total: u64) -> Option<Piece<'_>> {
        if total == 0 || self.total.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.done.store(0, Ordering::Relaxed);
        self.pieces.store(self.pieces.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        Some(Piece(self))
    }

    /// What it shows; nothing while no piece of known size is going on.
    pub fn read(&self) -> Option<Reading> {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        let piece = self.pieces.load(Ordering::Relaxed);
        (total > 0).then_some(Reading { piece, done, total })
    }
}

/// A piece of work that is going on; it ends when this is dropped.
#[derive(Debug)]
pub struct Piece<'a>(&'a Meter);

impl Piece<'_> {
    /// So much more is done.
    pub fn advance(&self, done: u64) {
        self.0.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Where it stands how much is done, for those who count by themselves.
    pub fn counter(&self) -> &AtomicU64 {
        &self.0.done
    }

    /// So much is done in all.
    pub fn set(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        self.0.total.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Meter, Reading};

    #[test]
    fn the_outermost_piece_counts() {
        let meter = Meter::new();
        assert_eq!(meter.read(), None);
        let outer = meter.begin(10).unwrap();
        assert!(meter.begin(3).is_none());
        outer.advance(2);
        outer.advance(2);
        assert_eq!(meter.read(), Some(Reading { piece: 1, done: 4, total: 10 }));
        drop(outer);
        assert_eq!(meter.read(), None);
        assert!(meter.begin(0).is_none());
        let next = meter.begin(5).unwrap();
        next.set(7);
        assert_eq!(meter.read(), Some(Reading { piece: 2, done: 5, total: 5 }));
    }
}
