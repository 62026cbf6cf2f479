//! Memory of arrays that nobody holds any more, kept for the next ones.
//!
//! On memory-bound work buffers matter more than code: fresh pages cost several times what it takes to
//! write them. So large arrays lie on huge pages, and their memory comes back when the last value
//! that holds it is dropped ([`Recycle`]). What it then holds is stale: only kernels that write
//! every element take from here.

use std::sync::{Arc, Mutex, Weak};

use weft_ir::{Buf, Column, Recycle, ScalarType};

use crate::lanes::{Elements, Lane, LaneType, Storage, for_lane_types};
use crate::pages;
use crate::workers::lock;

/// Arrays of fewer bytes come from the allocator and go back to it.
const LEAST: usize = 1 << 12;

/// Of arrays of fewer bytes only so many are kept: looking through them takes time too.
const LARGE: usize = 1 << 18;
const MOST_SMALL: usize = 48;

/// How many runs memory is kept without being asked for.
const IDLE_RUNS: u64 = 3;

/// The memory.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    /// With the run in which it came back, oldest first.
    kept: Vec<(u64, Storage)>,
    bytes: u64,
    most: u64,
    run: u64,
}

impl Pool {
    /// A run begins that may take so many bytes: a quarter of that may lie here.
    pub(crate) fn begin_run(&self, limit: u64) {
        let mut shelf = lock(&self.shelf);
        shelf.most = limit / 4;
        shelf.run += 1;
        let run = shelf.run;
        let old: Vec<Storage> = shelf
            .kept
            .extract_if(.., |(since, _)| *since + IDLE_RUNS < run)
            .map(|kept| kept.1)
            .collect();
        shelf.bytes -= old.iter().map(bytes).sum::<u64>();
        drop(shelf);
        // The system takes pages back slowly: nobody waits for it here.
        drop(old);
    }

    /// That many elements, which may be anything.
    pub(crate) fn take(&self, ty: LaneType, length: usize) -> Storage {
        if length.saturating_mul(ty.scalar_type().bytes()) < LEAST {
            return Storage::zeros(ty, length);
        }
        let mut shelf = lock(&self.shelf);
        let most = rounded(length) + rounded(length) / 4;
        let fits = |(_, kept): &(u64, Storage)| {
            kept.ty() == ty && (length..=most).contains(&kept.capacity())
        };
        // The youngest is the one that caches may know.
        if let Some(at) = shelf.kept.iter().rposition(fits) {
            let (_, mut storage) = shelf.kept.remove(at);
            shelf.bytes -= bytes(&storage);
            drop(shelf);
            storage.resize(length);
            return storage;
        }
        drop(shelf);
        let mut storage = Storage::zeros(ty, rounded(length));
        pages::prefer_huge(&storage);
        storage.resize(length);
        storage
    }

    /// These elements for writing: as they are if nobody else holds them, else in a copy.
    pub(crate) fn own(&self, column: Column) -> Storage {
        if column.is_alone() {
            return Storage::from_column(column);
        }
        let elements = Elements::of_column(&column);
        let mut copy = self.take(elements.ty(), elements.len());
        copy.resize(0);
        copy.append(elements);
        copy
    }

    /// Takes back what no value was made of.
    pub(crate) fn keep(&self, storage: Storage) {
        let mut shelf = lock(&self.shelf);
        let size = bytes(&storage);
        if size < LEAST as u64 || size > shelf.most {
            return;
        }
        let mut over = Vec::new();
        if size < LARGE as u64 {
            let is_small = |(_, kept): &(u64, Storage)| bytes(kept) < LARGE as u64;
            if shelf.kept.iter().filter(|kept| is_small(kept)).count() >= MOST_SMALL
                && let Some(oldest) = shelf.kept.iter().position(is_small)
            {
                let (_, oldest) = shelf.kept.remove(oldest);
                shelf.bytes -= bytes(&oldest);
                over.push(oldest);
            }
        }
        shelf.bytes += size;
        let run = shelf.run;
        shelf.kept.push((run, storage));
        while shelf.bytes > shelf.most {
            let (_, oldest) = shelf.kept.remove(0);
            shelf.bytes -= bytes(&oldest);
            over.push(oldest);
        }
        drop(shelf);
        drop(over);
    }
}

impl<T: Lane> Recycle<T> for Pool {
    fn recycle(&self, elements: Vec<T>) {
        self.keep(T::into_storage(elements));
    }
}

/// The length with room for more, so that arrays that grow or shrink a little from one to the next share
/// their memory: a quarter, half or three quarters more than a power of two, or the next. Pages that nobody
/// writes to take no memory.
fn rounded(length: usize) -> usize {
    let step = (length.next_power_of_two() / 8).max(1);
    length.next_multiple_of(step)
}

fn bytes(storage: &Storage) -> u64 {
    (storage.capacity() * storage.ty().scalar_type().bytes()) as u64
}

/// Storage as what values are made of.
pub(crate) trait IntoColumn {
    /// The first elements as a column of a scalar type with these lanes; a large one's memory comes
    /// back to the pool.
    fn into_column(self, ty: ScalarType, len: usize, pool: &Arc<Pool>) -> Column;
}

macro_rules! define_lent {
    ($(($variant:ident, $field:ident, $rust:ty))*) => {
        impl IntoColumn for Storage {
            fn into_column(self, ty: ScalarType, len: usize, pool: &Arc<Pool>) -> Column {
                match self {
                    Storage::U8(vec) if ty == ScalarType::Char => Column::Char(lend(vec, len, pool)),
                    $(Storage::$variant(vec) => Column::$variant(lend(vec, len, pool)),)*
                }
            }
        }
    };
}
for_lane_types!(define_lent);

fn lend<T: Lane>(vec: Vec<T>, len: usize, pool: &Arc<Pool>) -> Buf<T> {
    if len * size_of::<T>() < LEAST {
        let mut vec = vec;
        vec.truncate(len);
        // An array that grew in a loop had room for more (Note [Arrays that move] in `weft_codegen`).
        if vec.capacity() * size_of::<T>() > 2 * LEAST {
            vec.shrink_to_fit();
        }
        return Buf::new(vec);
    }
    let home: Weak<dyn Recycle<T>> = Arc::downgrade(pool) as Weak<dyn Recycle<T>>;
    Buf::lent(vec, len, home)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use weft_ir::ScalarType;

    use super::{IntoColumn, MOST_SMALL, Pool, rounded};
    use crate::lanes::{LaneType, Storage};

    fn address(storage: &Storage) -> usize {
        match storage {
            Storage::F64(vec) => vec.as_ptr().addr(),
            other => panic!("{:?} are no doubles", other.ty()),
        }
    }

    #[test]
    fn memory_comes_back_and_is_used_again() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(1 << 30);
        let first = pool.take(LaneType::F64, 100_000);
        let place = address(&first);
        let column = first.into_column(ScalarType::F64, 100_000, &pool);
        let copy = column.clone();
        drop(column);
        assert_ne!(address(&pool.take(LaneType::F64, 100_000)), place, "it is still held");
        drop(copy);
        let second = pool.take(LaneType::F64, 90_000);
        assert_eq!((address(&second), second.len()), (place, 90_000));
    }

    #[test]
    fn an_array_that_grows_finds_the_memory_of_the_last() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(1 << 30);
        let first = pool.take(LaneType::F64, 100_000);
        let place = address(&first);
        drop(first.into_column(ScalarType::F64, 100_000, &pool));
        let second = pool.take(LaneType::F64, 110_000);
        assert_eq!((address(&second), second.len()), (place, 110_000));
        assert_eq!(
            [1, 8, 9, 100_000, 1 << 20, (1 << 20) + 1].map(rounded),
            [1, 8, 10, 114_688, 1 << 20, (1 << 20) + (1 << 18)]
        );
    }

    #[test]
    fn a_copy_finds_the_memory_of_the_last() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(1 << 30);
        let storage = Storage::F64((0..5000).map(f64::from).collect());
        let column = storage.clone().into_column(ScalarType::F64, 5000, &pool);
        let first = pool.own(column.clone());
        assert_eq!(first, storage);
        let place = address(&first);
        pool.keep(first);
        let second = pool.own(column.clone());
        assert_eq!((address(&second), &second), (place, &storage));
        let alone = second.into_column(ScalarType::F64, 5000, &pool);
        assert_eq!(address(&pool.own(alone)), place, "nobody else has it");
        drop(column);
    }

    #[test]
    fn what_nobody_asks_for_is_given_up() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(1 << 30);
        drop(pool.take(LaneType::F64, 100_000).into_column(ScalarType::F64, 100_000, &pool));
        for _ in 0..5 {
            pool.begin_run(1 << 30);
        }
        assert!(pool.shelf.lock().is_ok_and(|shelf| shelf.kept.is_empty() && shelf.bytes == 0));
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(8_000_000);
        let columns: Vec<_> = (0..5)
            .map(|_| pool.take(LaneType::F64, 100_000).into_column(ScalarType::F64, 100_000, &pool))
            .collect();
        drop(columns);
        let two = 2 * 114_688 * 8;
        assert!(pool.shelf.lock().is_ok_and(|shelf| shelf.bytes == two && shelf.kept.len() == 2));
    }

    #[test]
    fn few_small_arrays_are_kept() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(1 << 30);
        let columns: Vec<_> = (0..100)
            .map(|_| pool.take(LaneType::F64, 1000).into_column(ScalarType::F64, 1000, &pool))
            .collect();
        drop(columns);
        let bytes = MOST_SMALL as u64 * 1024 * 8;
        assert!(
            pool.shelf
                .lock()
                .is_ok_and(|shelf| shelf.kept.len() == MOST_SMALL && shelf.bytes == bytes)
        );
    }

    #[test]
    fn tiny_arrays_are_not_kept() {
        let pool = Arc::new(Pool::default());
        pool.begin_run(1 << 30);
        drop(pool.take(LaneType::Bool, 100).into_column(ScalarType::Bool, 50, &pool));
        assert!(pool.shelf.lock().is_ok_and(|shelf| shelf.kept.is_empty()));
    }
}
