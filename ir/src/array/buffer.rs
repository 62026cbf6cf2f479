//! Runs of elements that values share.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use super::Identity;

/// Takes back the memory of elements that nobody holds any more, to use it again.
pub trait Recycle<T>: Send + Sync + fmt::Debug {
    /// What the elements are no longer matters.
    fn recycle(&self, elements: Vec<T>);
}

/// A shared, sliceable run of elements.
#[derive(Clone, Debug)]
pub struct Buf<T> {
    data: Arc<Data<T>>,
    start: usize,
    len: usize,
}

/// Elements, and where their memory goes in the end.
#[derive(Debug)]
struct Data<T> {
    elements: Vec<T>,
    home: Option<Weak<dyn Recycle<T>>>,
    /// As [`Buf::distances`] of the whole, once somebody has asked for them.
    distances: OnceLock<Buf<i64>>,
}

impl<T> Data<T> {
    fn new(elements: Vec<T>, home: Option<Weak<dyn Recycle<T>>>) -> Data<T> {
        Data { elements, home, distances: OnceLock::new() }
    }
}

impl<T> Drop for Data<T> {
    fn drop(&mut self) {
        if let Some(home) = self.home.take().and_then(|home| home.upgrade()) {
            home.recycle(std::mem::take(&mut self.elements));
        }
    }
}

impl<T> Buf<T> {
    /// The whole of `data`.
    pub fn new(data: Vec<T>) -> Buf<T> {
        let len = data.len();
        Buf { data: Arc::new(Data::new(data, None)), start: 0, len }
    }

    /// The first `len` of `data`, whose memory goes home in the end, if that still exists then.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn lent(data: Vec<T>, len: usize, home: Weak<dyn Recycle<T>>) -> Buf<T> {
        assert!(len <= data.len(), "{len} elements of {}", data.len());
        Buf { data: Arc::new(Data::new(data, Some(home))), start: 0, len }
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        &self.data.elements[self.start..self.start + self.len]
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The `len` elements from `start` on, sharing storage.
    ///
    /// # Panics
    /// If they reach past the end.
    pub fn slice(&self, start: usize, len: usize) -> Buf<T> {
        assert!(start + len <= self.len, "slice {start}+{len} of a buffer of {}", self.len);
        Buf { data: Arc::clone(&self.data), start: self.start + start, len }
    }

    /// The elements as a vector: without a copy if nobody else holds them.
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        if self.start != 0 || self.len != self.data.elements.len() {
            return self.as_slice().to_vec();
        }
        let whole = |mut data: Data<T>| {
            data.home = None;
            std::mem::take(&mut data.elements)
        };
        Arc::try_unwrap(self.data).map_or_else(|shared| shared.elements.clone(), whole)
    }

    /// The elements for writing: in place if nobody else holds them, else in a copy.
    pub fn make_mut(&mut self) -> &mut [T]
    where
        T: Clone,
    {
        if Arc::get_mut(&mut self.data).is_none() {
            *self = Buf::new(self.as_slice().to_vec());
        }
        let (start, len) = (self.start, self.len);
        let data = Arc::get_mut(&mut self.data).expect("just made unique");
        data.distances.take();
        &mut data.elements[start..start + len]
    }
}

impl<T: Send + Sync + 'static> Buf<T> {
    /// Which elements these are.
    pub fn identity(&self) -> Identity {
        let elements: Weak<dyn Any + Send + Sync> = Arc::downgrade(&self.data) as _;
        Identity { elements, start: self.start, len: self.len }
    }
}

impl Buf<usize> {
    /// How far each of these positions is from the first. What all of a buffer's are is kept with
    /// it, so that it is the same buffer every time.
    pub fn distances(&self) -> Buf<i64> {
        let whole = self.start == 0 && self.len == self.data.elements.len();
        let of = || -> Buf<i64> {
            let all = self.as_slice();
            let first = all.first().copied().unwrap_or(0);
            all.iter().map(|&position| position as i64 - first as i64).collect::<Vec<_>>().into()
        };
        if whole { self.data.distances.get_or_init(of).clone() } else { of() }
    }
}

impl<T> From<Vec<T>> for Buf<T> {
    fn from(data: Vec<T>) -> Buf<T> {
        Buf::new(data)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError, Weak};

    use super::{Buf, Recycle};

    #[derive(Debug, Default)]
    struct Home(Mutex<Vec<Vec<u8>>>);

    impl Recycle<u8> for Home {
        fn recycle(&self, elements: Vec<u8>) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(elements);
        }
    }

    fn lend(home: &Arc<Home>) -> Buf<u8> {
        let home: Weak<dyn Recycle<u8>> = Arc::downgrade(home) as Weak<dyn Recycle<u8>>;
        Buf::lent(vec![1, 2, 3], 2, home)
    }

    #[test]
    fn memory_goes_home_with_the_last_holder() {
        let home = Arc::new(Home::default());
        let buf = lend(&home);
        assert_eq!(buf.as_slice(), [1, 2]);
        let part = buf.slice(1, 1);
        drop(buf);
        assert!(home.0.lock().is_ok_and(|back| back.is_empty()));
        drop(part);
        assert!(home.0.lock().is_ok_and(|back| *back == [vec![1, 2, 3]]));
    }

    #[test]
    fn what_is_taken_does_not_go_home() {
        let home = Arc::new(Home::default());
        let whole: Weak<dyn Recycle<u8>> = Arc::downgrade(&home) as Weak<dyn Recycle<u8>>;
        assert_eq!(Buf::lent(vec![7, 8], 2, whole).into_vec(), [7, 8]);
        assert!(home.0.lock().is_ok_and(|back| back.is_empty()));
        // A part is copied, and the whole goes home.
        assert_eq!(lend(&home).into_vec(), [1, 2]);
        assert!(home.0.lock().is_ok_and(|back| back.len() == 1));
    }

    #[test]
    fn distances_are_kept_until_the_positions_change() {
        let mut positions = Buf::new(vec![2_usize, 3, 7]);
        let distances = positions.distances();
        assert_eq!(distances.as_slice(), [0, 1, 5]);
        assert_eq!(
            distances.as_slice().as_ptr(),
            positions.clone().distances().as_slice().as_ptr()
        );
        assert_eq!(positions.slice(1, 2).distances().as_slice(), [0, 4]);
        drop(distances);
        positions.make_mut()[0] = 0;
        assert_eq!(positions.distances().as_slice(), [0, 3, 7]);
    }

    #[test]
    fn a_home_may_be_gone() {
        let home = Arc::new(Home::default());
        let mut buf = lend(&home);
        drop(home);
        buf.make_mut()[0] = 5;
        assert_eq!(buf.as_slice(), [5, 2]);
    }
}
