//! Asks the system for huge pages. The crate's other `unsafe` is in `isa` and `compact`.
#![allow(unsafe_code)]

use crate::lanes::{Storage, for_lane_types};

macro_rules! define_prefer_huge {
    ($(($variant:ident, $field:ident, $rust:ty))*) => {
        /// Asks that memory which has not been touched yet become huge pages where it can. What it
        /// holds stays as it is.
        pub(crate) fn prefer_huge(storage: &Storage) {
            match storage {
                $(Storage::$variant(vec) => prefer_huge_slice(vec),)*
            }
        }
    };
}
for_lane_types!(define_prefer_huge);

/// As [`prefer_huge`].
pub(crate) fn prefer_huge_slice<T>(slice: &[T]) {
    advise(slice.as_ptr().addr(), size_of_val(slice));
}

#[cfg(target_os = "linux")]
fn advise(address: usize, length: usize) {
    const HUGE: usize = 1 << 21;
    let first = address.next_multiple_of(HUGE);
    let end = (address + length) / HUGE * HUGE;
    if first >= end {
        return;
    }
    // SAFETY: the range lies within an allocation that the caller borrows. The advice changes the
    // size of its pages, not what they hold, and where it fails everything is as before.
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(first), end - first, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_address: usize, _length: usize) {}

#[cfg(test)]
mod tests {
    use super::prefer_huge;
    use crate::lanes::{LaneType, Storage};

    #[test]
    fn advice_changes_no_element() {
        for length in [0, 1, 1 << 10, 3 << 20] {
            let mut storage = Storage::zeros(LaneType::I64, length);
            if let Storage::I64(vec) = &mut storage {
                vec.iter_mut().zip(0..).for_each(|(element, at)| *element = at);
            }
            prefer_huge(&storage);
            assert!(
                matches!(&storage, Storage::I64(vec) if vec.iter().copied().eq(0..length as i64))
            );
        }
    }
}
