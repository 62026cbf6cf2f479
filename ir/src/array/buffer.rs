//! Runs of elements that values share.

use std::any::Any;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};

use super::Identity;
use crate::Scalar;

/// Takes back the memory of elements that nobody holds any more, to use it again.
pub trait Recycle<T>: Send + Sync + fmt::Debug {
    /// What the elements are no longer matters.
    fn recycle(&self, elements: Vec<T>);
}

/// Knows elements that are not in memory yet.
pub trait Fetch<T>: Send + Sync + fmt::Debug {
    /// All of them. Nobody asks again once they are there.
    fn fetch(&self) -> Vec<T>;

    /// One of them, for somebody who looks at few; nothing if all are to be fetched.
    fn one(&self, _index: usize) -> Option<T> {
        None
    }

    /// What all of them come to, found out where they are; nothing if they are to be fetched for it.
    fn summary(&self) -> Option<Summary> {
        None
    }

    /// Does what would take long if they were looked at now, unless `cancel` is set meanwhile: false then.
    fn bring(&self, _looks: Looks, _cancel: &AtomicBool) -> bool {
        true
    }
}

/// Has elements that lie somewhere else than in memory of their own, such as in a file that the system reads
/// when they are looked at.
pub trait Mapped<T>: Send + Sync + fmt::Debug {
    /// All of them: always the same ones.
    fn elements(&self) -> &[T];

    /// What has happened to where they lie, if they may no longer be what they were: a sentence for people.
    /// Nobody should look at them then.
    fn changed(&self) -> Option<String>;
}

/// How much somebody is about to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// Single elements, and what all come to; perhaps more.
    AtSome,
    /// All elements, which are to be fetched.
    AtAll,
}

/// What numbers come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The least of those that are not NaN; if there are none, no matter what.
    pub least: Scalar,
    /// The greatest of them.
    pub greatest: Scalar,
    /// Their sum, folded as the language folds: blocks of 64 from left to right, then their sums likewise. In
    /// place of NaN stands 0.
    pub sum: f64,
    /// How many are NaN.
    pub nans: usize,
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
    /// Empty until somebody wants to see elements that have to be fetched.
    elements: OnceLock<Elements<T>>,
    /// How many there are.
    len: usize,
    /// What has them, if they have to be fetched.
    source: Option<Arc<dyn Fetch<T>>>,
    home: Option<Weak<dyn Recycle<T>>>,
    /// As [`Buf::distances`] of the whole, once somebody has asked for them.
    distances: OnceLock<Buf<i64>>,
}

/// Elements that can be looked at.
#[derive(Debug)]
enum Elements<T> {
    /// In memory of their own.
    Own(Vec<T>),
    /// Elsewhere: nobody writes to them or takes them.
    Mapped(Arc<dyn Mapped<T>>),
}

impl<T> Elements<T> {
    fn as_slice(&self) -> &[T] {
        match self {
            Elements::Own(elements) => elements,
            Elements::Mapped(mapped) => mapped.elements(),
        }
    }
}

impl<T> Data<T> {
    fn new(elements: Elements<T>, home: Option<Weak<dyn Recycle<T>>>) -> Data<T> {
        let len = elements.as_slice().len();
        let (elements, distances) = (OnceLock::from(elements), OnceLock::new());
        Data { elements, len, source: None, home, distances }
    }

    fn elements(&self) -> &[T] {
        let elements = self.elements.get_or_init(|| {
            let source = self.source.as_ref().expect("elements are here or elsewhere");
            let elements = source.fetch();
            assert_eq!(elements.len(), self.len, "as many elements as were promised");
            Elements::Own(elements)
        });
        elements.as_slice()
    }

    fn mapped(&self) -> Option<&dyn Mapped<T>> {
        match self.elements.get() {
            Some(Elements::Mapped(mapped)) => Some(&**mapped),
            Some(Elements::Own(_)) | None => None,
        }
    }

    /// The elements, which are in memory of their own, and forgets them.
    fn take(&mut self) -> Vec<T> {
        self.home = None;
        match self.elements.take() {
            Some(Elements::Own(elements)) => elements,
            Some(Elements::Mapped(_)) => {
                unreachable!("mapped elements are copied, and have no home")
            }
            None => Vec::new(),
        }
    }
}

impl<T> Drop for Data<T> {
    fn drop(&mut self) {
        if let Some(home) = self.home.take().and_then(|home| home.upgrade()) {
            home.recycle(self.take());
        }
    }
}

impl<T> Buf<T> {
    /// The whole of `data`.
    pub fn new(data: Vec<T>) -> Buf<T> {
        let len = data.len();
        Buf { data: Arc::new(Data::new(Elements::Own(data), None)), start: 0, len }
    }

    /// The first `len` of `data`, whose memory goes home in the end, if that still exists then.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn lent(data: Vec<T>, len: usize, home: Weak<dyn Recycle<T>>) -> Buf<T> {
        assert!(len <= data.len(), "{len} elements of {}", data.len());
        Buf { data: Arc::new(Data::new(Elements::Own(data), Some(home))), start: 0, len }
    }

    /// The elements that `mapped` has, which are never copied but to be written to.
    pub fn mapped(mapped: Arc<dyn Mapped<T>>) -> Buf<T> {
        let data = Data::new(Elements::Mapped(mapped), None);
        Buf { start: 0, len: data.len, data: Arc::new(data) }
    }

    /// `len` elements that `source` has, which is asked for them when somebody wants to see them.
    pub fn deferred(len: usize, source: Arc<dyn Fetch<T>>) -> Buf<T> {
        let (elements, distances) = (OnceLock::new(), OnceLock::new());
        let data = Data { elements, len, source: Some(source), home: None, distances };
        Buf { data: Arc::new(data), start: 0, len }
    }

    /// Whether the elements can be looked at without being fetched.
    pub fn is_here(&self) -> bool {
        self.data.elements.get().is_some()
    }

    /// Whether the elements lie somewhere else than in memory of their own ([`Buf::mapped`]).
    pub fn is_mapped(&self) -> bool {
        self.data.mapped().is_some()
    }

    /// As [`Mapped::changed`], if the elements are mapped.
    pub fn changed(&self) -> Option<String> {
        self.data.mapped()?.changed()
    }

    /// Whether nobody else holds the elements, so that they can be written to without a copy.
    pub fn is_alone(&self) -> bool {
        let whole = self.start == 0 && self.is_here() && self.len == self.data.elements().len();
        whole && !self.is_mapped() && Arc::strong_count(&self.data) == 1
    }

    /// An element. Of elements that are elsewhere it may come alone.
    ///
    /// # Panics
    /// If there is none at this index.
    pub fn at(&self, index: usize) -> T
    where
        T: Copy,
    {
        assert!(index < self.len, "element {index} of {}", self.len);
        if let (None, Some(source)) = (self.data.elements.get(), &self.data.source)
            && let Some(one) = source.one(self.start + index)
        {
            return one;
        }
        self.as_slice()[index]
    }

    /// Makes sure that looking at the elements does not take long; false if `cancel` was set meanwhile.
    pub fn bring(&self, looks: Looks, cancel: &AtomicBool) -> bool {
        match (&self.data.source, self.data.elements.get()) {
            (Some(source), None) => source.bring(looks, cancel),
            (_, _) => true,
        }
    }

    /// What the elements come to, if they are elsewhere, all of those that are there, and it can be found out
    /// without fetching them.
    pub fn summary(&self) -> Option<Summary> {
        match (&self.data.source, self.data.elements.get()) {
            (Some(source), None) if self.len == self.data.len => source.summary(),
            (_, _) => None,
        }
    }

    /// The elements, fetched if they are elsewhere.
    pub fn as_slice(&self) -> &[T] {
        &self.data.elements()[self.start..self.start + self.len]
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

    /// The elements as a vector: without a copy if nobody else holds them and they are not mapped.
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        let all = self.data.elements();
        if self.start != 0 || self.len != all.len() || self.is_mapped() {
            return self.as_slice().to_vec();
        }
        let whole = |mut data: Data<T>| data.take();
        Arc::try_unwrap(self.data).map_or_else(|shared| shared.elements().to_vec(), whole)
    }

    /// The elements for writing: in place if nobody else holds them and they are not mapped, else in a copy.
    pub fn make_mut(&mut self) -> &mut [T]
    where
        T: Clone,
    {
        if self.is_mapped() || Arc::get_mut(&mut self.data).is_none() {
            *self = Buf::new(self.as_slice().to_vec());
        }
        let (start, len) = (self.start, self.len);
        let data = Arc::get_mut(&mut self.data).expect("just made unique");
        data.distances.take();
        data.elements();
        match data.elements.get_mut().expect("just fetched") {
            Elements::Own(all) => &mut all[start..start + len],
            Elements::Mapped(_) => unreachable!("mapped elements were just copied"),
        }
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
        let whole = self.start == 0 && self.len == self.data.len;
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
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex, PoisonError, Weak};

    use super::{Buf, Fetch, Mapped, Recycle};

    #[derive(Debug, Default)]
    struct Elsewhere(AtomicU32);

    impl Fetch<u8> for Elsewhere {
        fn fetch(&self) -> Vec<u8> {
            self.0.fetch_add(1, Ordering::Relaxed);
            vec![1, 2, 3]
        }

        fn one(&self, index: usize) -> Option<u8> {
            [10, 20].get(index).copied()
        }
    }

    #[test]
    fn single_elements_come_alone_where_they_are_given() {
        let elsewhere = Arc::new(Elsewhere::default());
        let buf = Buf::deferred(3, Arc::clone(&elsewhere) as Arc<dyn Fetch<u8>>);
        let part = buf.slice(1, 2);
        assert_eq!((buf.at(0), part.at(0), buf.is_here()), (10, 20, false));
        assert_eq!((part.at(1), buf.is_here()), (3, true));
        assert_eq!((buf.at(0), part.at(0)), (1, 2));
        assert_eq!(elsewhere.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_lies_elsewhere_is_fetched_once_when_it_is_seen() {
        let elsewhere = Arc::new(Elsewhere::default());
        let buf = Buf::deferred(3, Arc::clone(&elsewhere) as Arc<dyn Fetch<u8>>);
        let (part, mut other) = (buf.slice(1, 2), buf.clone());
        assert_eq!((part.len(), part.is_here()), (2, false));
        assert_eq!(buf.identity().key(), other.identity().key());
        assert_eq!(elsewhere.0.load(Ordering::Relaxed), 0);
        assert_eq!(part.as_slice(), [2, 3]);
        assert!(buf.is_here());
        other.make_mut()[0] = 7;
        assert_eq!((buf.into_vec(), other.into_vec()), (vec![1, 2, 3], vec![7, 2, 3]));
        assert_eq!(elsewhere.0.load(Ordering::Relaxed), 1);
        let taken = Buf::deferred(3, Arc::clone(&elsewhere) as Arc<dyn Fetch<u8>>);
        assert_eq!(taken.into_vec(), [1, 2, 3]);
    }

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

    #[derive(Debug)]
    struct Lying([u8; 3]);

    impl Mapped<u8> for Lying {
        fn elements(&self) -> &[u8] {
            &self.0
        }

        fn changed(&self) -> Option<String> {
            (self.0[0] == 0).then(|| "they are gone".to_owned())
        }
    }

    #[test]
    fn what_is_mapped_is_copied_to_be_written_to() {
        let buf = Buf::mapped(Arc::new(Lying([1, 2, 3])));
        assert_eq!((buf.len(), buf.at(2), buf.as_slice()), (3, 3, &[1, 2, 3][..]));
        // Nobody else holds them, and yet they are not one's own.
        assert_eq!((buf.is_here(), buf.is_mapped(), buf.is_alone()), (true, true, false));
        let place = buf.as_slice().as_ptr();
        let mut part = buf.slice(1, 2);
        assert_eq!(part.as_slice().as_ptr(), place.wrapping_add(1));
        part.make_mut()[0] = 7;
        assert_eq!((part.as_slice(), part.is_mapped()), (&[7, 3][..], false));
        let mut other = buf.clone();
        drop(buf);
        let identity = other.identity();
        other.make_mut()[2] = 9;
        assert_eq!((other.as_slice(), other.is_alone()), (&[1, 2, 9][..], true));
        assert!(!identity.is_alive() && identity.key() != other.identity().key());
        assert_eq!(Buf::mapped(Arc::new(Lying([4, 5, 6]))).into_vec(), [4, 5, 6]);
    }

    #[test]
    fn what_is_mapped_may_change() {
        let changed = |first| Buf::mapped(Arc::new(Lying([first, 2, 3]))).slice(1, 1).changed();
        assert_eq!((changed(1), changed(0)), (None, Some("they are gone".to_owned())));
        assert_eq!(Buf::new(vec![0_u8]).changed(), None);
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
