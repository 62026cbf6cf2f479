//! Writes results past the caches.
//!
//! A store that misses the caches first reads the line that it changes. Where the whole line is
//! written and nobody reads it soon, that is a third of the traffic for nothing; streaming stores
//! leave it out.
#![allow(unsafe_code)]

use crate::isa::Slot;
#[cfg(target_arch = "x86_64")]
use crate::lanes::GROUP;
use crate::lanes::{Frame, Lane, copy_lanes};

/// Writes past the caches, or through them. What it has written is visible to other threads when it
/// is dropped.
#[derive(Debug)]
pub struct Stream {
    past: bool,
}

impl Stream {
    /// Past the caches, if what is written is not read soon.
    pub fn new(past: bool) -> Stream {
        Stream { past: past && cfg!(target_arch = "x86_64") }
    }

    /// Whether it goes past the caches.
    pub fn is_past(&self) -> bool {
        self.past
    }

    /// As [`copy_lanes`].
    pub fn lanes<T: Lane>(&self, frame: &Frame, slot: Slot, to: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if self.past && !slot.uniform && to.as_ptr().addr().is_multiple_of(16) {
            let groups = &T::file(frame)[slot.index as usize];
            let (whole, rest) = to.as_chunks_mut::<GROUP>();
            let last = whole.len();
            for (to, from) in whole.iter_mut().zip(groups) {
                stream_group(&from.0, to);
            }
            if !rest.is_empty() {
                rest.copy_from_slice(&groups[last].0[..rest.len()]);
            }
            return;
        }
        copy_lanes(frame, slot, to);
    }

    /// Copies elements.
    ///
    /// # Panics
    /// If they are not as many as the places.
    pub fn copy<T: Lane>(&self, from: &[T], to: &mut [T]) {
        assert_eq!(from.len(), to.len(), "as many elements as places");
        #[cfg(target_arch = "x86_64")]
        if self.past && to.as_ptr().addr().is_multiple_of(16) {
            use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
            let words = size_of_val(from) / 16;
            let (whole, rest) = from.split_at(words * 16 / size_of::<T>());
            to[whole.len()..].copy_from_slice(rest);
            let (from, to) = (whole.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
            for at in 0..words {
                // SAFETY: both have so many words of 16 bytes, they do not overlap, and the address of
                // the second is a multiple of 16; any bytes of a `T` are copied as they are.
                unsafe { _mm_stream_si128(to.add(at), _mm_loadu_si128(from.add(at))) };
            }
            return;
        }
        to.copy_from_slice(from);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.past {
            // SAFETY: every x86-64 processor has the instruction. It makes the stores before it visible
            // to other threads before what follows.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }
}

/// Copies a group to a place whose address is a multiple of 16.
#[cfg(target_arch = "x86_64")]
#[inline]
fn stream_group<T: Lane>(from: &[T; GROUP], to: &mut [T; GROUP]) {
    use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
    let from = from.as_ptr().cast::<__m128i>();
    let to = to.as_mut_ptr().cast::<__m128i>();
    assert!(from.is_aligned() && to.is_aligned(), "groups of lanes are aligned");
    for at in 0..size_of::<[T; GROUP]>() / 16 {
        // SAFETY: both are groups of the same size, a multiple of 16 bytes, which do not overlap and
        // whose addresses are multiples of 16; any bytes of a `T` are copied as they are.
        unsafe { _mm_stream_si128(to.add(at), _mm_load_si128(from.add(at))) };
    }
}

/// Asks the memory for elements that are read soon. Nothing waits for them.
pub(crate) fn ask_for<T: Lane>(elements: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in elements.chunks(LINE / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, which changes nothing but caches; the address
        // is that of an element.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = elements;
}

/// The bytes of a line of the caches.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

#[cfg(test)]
mod tests {
    use super::Stream;
    use crate::isa::Slot;
    use crate::lanes::{Frame, GROUP, Group, Lane, LaneType};

    fn check<T: Lane>(ty: LaneType, of: impl Fn(usize) -> T) {
        let mut frame = Frame::default();
        let lanes = |group: usize| Group(std::array::from_fn(|lane| of(group * GROUP + lane)));
        *T::file_mut(&mut frame) = vec![(0..4).map(lanes).collect(), vec![Group([of(7); GROUP])]];
        for length in [0, 1, 63, 64, 65, 200, 256] {
            for start in 0..3 {
                let mut to = vec![of(1); length + start];
                let slot = Slot { ty, uniform: false, index: 0 };
                Stream::new(true).lanes::<T>(&frame, slot, &mut to[start..]);
                assert!(to[start..].iter().enumerate().all(|(at, &lane)| lane == of(at)));
                let slot = Slot { ty, uniform: true, index: 1 };
                Stream::new(true).lanes::<T>(&frame, slot, &mut to[start..]);
                assert!(to[start..].iter().all(|&lane| lane == of(7)));
            }
        }
    }

    #[test]
    fn all_elements_arrive() {
        for length in [0, 1, 15, 16, 17, 100, 1000] {
            for start in 0..5 {
                let from: Vec<u32> = (0..length).collect();
                let mut to = vec![0; length as usize + start];
                Stream::new(true).copy(&from, &mut to[start..]);
                assert_eq!(to[start..], from[..]);
            }
        }
    }

    #[test]
    fn all_lanes_arrive() {
        check(LaneType::U8, |at| at as u8);
        check(LaneType::F32, |at| at as f32);
        check(LaneType::I64, |at| at as i64);
        check(LaneType::Bool, |at| at % 3 == 0);
    }
}
