//! The memory table: which arrays of the host have a copy on the device.
//!
//! There is one copy per identity of host elements (Tarditi, Puri and Oglesby, "Accelerator", 2006; the
//! table is that of Chakravarty et al., "Accelerating Haskell array codes with multicore GPUs", 2011). A copy
//! is clean if the host has the elements too: then it may go at any time at which no run uses it. Results
//! that were not fetched are dirty (Note [Results that are not fetched]): they have to be brought first.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use weft_ir::Identity;

use crate::deferred::Deferred;

type Key = (usize, usize, usize);

/// A copy that is gone from the table: its buffer must be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
struct Entry {
    identity: Identity,
    address: u64,
    bytes: u64,
    /// When it was used last.
    used: u64,
    /// How many runs use it now.
    pins: u32,
    /// The result that it is, if it was not fetched when it was made.
    deferred: Weak<Deferred>,
}

impl Entry {
    /// The result that it is, if the host has not got it.
    fn dirty(&self) -> Option<Arc<Deferred>> {
        self.deferred.upgrade().filter(|deferred| deferred.depth() > 0)
    }
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: BTreeMap<Key, Entry>,
    now: u64,
}

impl Table {
    /// The copy of these elements, which stays until it is unpinned.
    pub(crate) fn pin(&mut self, identity: &Identity) -> Option<u64> {
        self.now += 1;
        let entry = self.entries.get_mut(&identity.key())?;
        entry.used = self.now;
        entry.pins += 1;
        Some(entry.address)
    }

    /// A run has ended that used a copy.
    pub(crate) fn unpin(&mut self, identity: &Identity) {
        if let Some(entry) = self.entries.get_mut(&identity.key()) {
            entry.pins = entry.pins.saturating_sub(1);
        }
    }

    /// There is a copy from now on, unpinned. Yields false if there was one, which stays.
    pub(crate) fn insert(&mut self, identity: Identity, address: u64, bytes: u64) -> bool {
        self.insert_deferred(identity, address, bytes, Weak::new())
    }

    /// As [`Table::insert`], of a result that was not fetched.
    pub(crate) fn insert_deferred(
        &mut self,
        identity: Identity,
        address: u64,
        bytes: u64,
        deferred: Weak<Deferred>,
    ) -> bool {
        self.now += 1;
        let key = identity.key();
        if self.entries.contains_key(&key) {
            return false;
        }
        let entry = Entry { identity, address, bytes, used: self.now, pins: 0, deferred };
        self.entries.insert(key, entry);
        true
    }

    /// The elements at an address go by another identity too, and stay there, until that is taken back: the
    /// buffer is not given back under either. False if nothing is there.
    pub(crate) fn alias(&mut self, identity: Identity, address: u64) -> bool {
        let known = self.entries.values_mut().find(|entry| entry.address == address);
        let Some(entry) = known else { return false };
        let (bytes, own, key) = (entry.bytes, entry.identity.key(), identity.key());
        let is_new = self.insert(identity, address, bytes);
        if is_new {
            for key in [own, key] {
                if let Some(entry) = self.entries.get_mut(&key) {
                    entry.pins += 1;
                }
            }
        }
        is_new
    }

    /// Takes back what [`Table::alias`] did.
    pub(crate) fn forget_alias(&mut self, identity: &Identity) {
        let Some(alias) = self.entries.remove(&identity.key()) else { return };
        let known = self.entries.values_mut().find(|entry| entry.address == alias.address);
        if let Some(entry) = known {
            entry.pins = entry.pins.saturating_sub(1);
        }
    }

    /// There is no copy of these elements after all.
    pub(crate) fn forget(&mut self, identity: &Identity) {
        self.entries.remove(&identity.key());
    }

    /// The bytes of the copy of these elements.
    pub(crate) fn bytes_of(&self, identity: &Identity) -> Option<u64> {
        self.entries.get(&identity.key()).map(|entry| entry.bytes)
    }

    /// How many copies there are, and their bytes.
    pub(crate) fn held(&self) -> (usize, u64) {
        (self.entries.len(), self.entries.values().map(|entry| entry.bytes).sum())
    }

    /// Takes out the copies of elements that the host does not hold any more.
    pub(crate) fn take_dead(&mut self) -> Vec<Dropped> {
        let dead = |entry: &Entry| entry.pins == 0 && !entry.identity.is_alive();
        let keys: Vec<Key> =
            self.entries.iter().filter(|(_, entry)| dead(entry)).map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| self.take(key)).collect()
    }

    /// Takes out the clean copy that has not been used for longest.
    pub(crate) fn take_oldest(&mut self) -> Option<Dropped> {
        let unused = self.entries.iter().filter(|(_, entry)| entry.pins == 0);
        let clean = unused.filter(|(_, entry)| entry.dirty().is_none());
        let (key, _) = clean.min_by_key(|(_, entry)| entry.used)?;
        let key = *key;
        self.take(&key)
    }

    /// The dirty copy that has not been used for longest.
    pub(crate) fn oldest_dirty(&self) -> Option<Arc<Deferred>> {
        let unused = self.entries.values().filter(|entry| entry.pins == 0);
        let dirty = unused.filter_map(|entry| Some((entry.used, entry.dirty()?)));
        dirty.min_by_key(|(used, _)| *used).map(|(_, deferred)| deferred)
    }

    /// Of how many dirty results these elements are made, one after the other, themselves included.
    pub(crate) fn depth_of(&self, identity: &Identity) -> u32 {
        let entry = self.entries.get(&identity.key());
        entry.and_then(Entry::dirty).map_or(0, |deferred| deferred.depth())
    }

    /// Takes all copies out.
    pub(crate) fn take_all(&mut self) -> Vec<Dropped> {
        let entries = std::mem::take(&mut self.entries).into_values();
        entries.map(|Entry { address, bytes, .. }| Dropped { address, bytes }).collect()
    }

    fn take(&mut self, key: &Key) -> Option<Dropped> {
        let Entry { address, bytes, .. } = self.entries.remove(key)?;
        Some(Dropped { address, bytes })
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::Buf;

    use super::{Dropped, Table};

    #[test]
    fn copies_go_when_the_host_forgets_them() {
        let mut table = Table::default();
        let (kept, gone) = (Buf::new(vec![1_u8]), Buf::new(vec![2_u8]));
        assert!(table.insert(kept.identity(), 16, 1));
        assert!(table.insert(gone.identity(), 32, 1));
        assert!(table.take_dead().is_empty());
        let identity = gone.identity();
        assert_eq!(table.pin(&identity), Some(32));
        drop(gone);
        assert!(table.take_dead().is_empty(), "a run uses it");
        table.unpin(&identity);
        assert_eq!(table.take_dead(), [Dropped { address: 32, bytes: 1 }]);
        assert_eq!(table.held(), (1, 1));
        assert_eq!(table.bytes_of(&kept.identity()), Some(1));
    }

    #[test]
    fn a_copy_stays_as_long_as_it_goes_by_another_name() {
        let mut table = Table::default();
        let (own, other) = (Buf::new(vec![1_u8]), Buf::new(vec![2_u8]));
        assert!(!table.alias(other.identity(), 16));
        assert!(table.insert(own.identity(), 16, 1));
        assert!(table.alias(other.identity(), 16));
        assert!(table.take_oldest().is_none(), "no run uses it yet");
        assert_eq!(table.pin(&other.identity()), Some(16));
        assert!(table.take_oldest().is_none());
        table.unpin(&other.identity());
        table.forget_alias(&other.identity());
        assert_eq!(table.held(), (1, 1));
        assert_eq!(table.take_oldest(), Some(Dropped { address: 16, bytes: 1 }));
    }

    #[test]
    fn the_oldest_goes_first_and_what_is_used_stays() {
        let mut table = Table::default();
        let buffers = [1_u8, 2, 3].map(|byte| Buf::new(vec![byte]));
        for (buffer, address) in buffers.iter().zip([10, 20, 30]) {
            assert!(table.insert(buffer.identity(), address, 1));
        }
        assert!(!table.insert(buffers[0].identity(), 40, 1), "one copy of each");
        assert_eq!(table.pin(&buffers[0].identity()), Some(10));
        table.unpin(&buffers[0].identity());
        assert_eq!(table.pin(&buffers[1].identity()), Some(20));
        let mut taken = || table.take_oldest().map(|dropped| dropped.address);
        assert_eq!([taken(), taken(), taken()], [Some(30), Some(10), None]);
    }
}
