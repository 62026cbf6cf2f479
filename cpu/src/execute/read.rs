//! Reads: contiguous, strided, of one element for all lanes, and gathers.
//!
//! An index outside the array yields zero: it can only belong to a lane whose value is not used,
//! because the block ended before it or because another side of a conditional was taken.

use crate::execute::{Context, Lanes, Source, uniform_i64};
use crate::lanes::{Frame, GROUP, Group, Lane, with_lane_type};
use crate::routine::{Index, Read, set_uniform};

/// Performs a read.
pub(super) fn read(frame: &mut Frame, read: &Read, lanes: Lanes, context: &Context<'_>) {
    match &context.sources[read.array] {
        Source::Scalar(scalar) => set_uniform(frame, read.out, *scalar),
        Source::Array { elements, strides, over_space } => {
            with_lane_type!(read.out.ty, T => {
                let elements = <T as Lane>::elements(*elements);
                if read.at_point && *over_space {
                    load::<T>(frame, read, elements, lanes.position as i64, lanes.count);
                } else {
                    general::<T>(frame, read, elements, strides, lanes.count);
                }
            });
        }
    }
}

/// Any read that is not at the point itself.
fn general<T: Lane>(frame: &mut Frame, read: &Read, elements: &[T], strides: &[i64], lanes: usize) {
    let (mut base, mut step) = (0_i64, 0_i64);
    let mut varying = 0;
    for (index, &stride) in read.indices.iter().zip(strides) {
        let (slot, coefficient) = match *index {
            Index::Uniform(slot) => (slot, 0),
            Index::Affine(slot, coefficient) => (slot, coefficient),
            Index::Varying(_) => {
                varying += 1;
                continue;
            }
        };
        base = base.wrapping_add(uniform_i64(frame, slot).wrapping_mul(stride));
        step = step.wrapping_add(coefficient.wrapping_mul(stride));
    }
    if varying > 0 {
        gather(frame, read, elements, strides, (base, step), lanes);
    } else if read.out.uniform || step == 0 {
        let value = element(elements, base);
        let groups = if read.out.uniform { 1 } else { lanes.div_ceil(GROUP) };
        T::file_mut(frame)[read.out.index as usize][..groups].fill(Group([value; GROUP]));
    } else if step == 1 {
        load(frame, read, elements, base, lanes);
    } else {
        for group in out::<T>(frame, read, lanes) {
            for lane in &mut group.0 {
                *lane = element(elements, base);
                base = base.wrapping_add(step);
            }
        }
    }
}

/// Consecutive elements from a position on, which may be negative.
fn load<T: Lane>(frame: &mut Frame, read: &Read, elements: &[T], start: i64, lanes: usize) {
    let mut position = start;
    for group in out::<T>(frame, read, lanes) {
        let inside = usize::try_from(position).ok();
        match inside.and_then(|from| elements.get(from..from.checked_add(GROUP)?)) {
            Some(from) => group.0.copy_from_slice(from),
            None => {
                for (lane, at) in group.0.iter_mut().zip(0_i64..) {
                    *lane = element(elements, position.wrapping_add(at));
                }
            }
        }
        position = position.wrapping_add(GROUP as i64);
    }
}

/// Elements at indices that differ from lane to lane.
fn gather<T: Lane>(
    frame: &mut Frame,
    read: &Read,
    elements: &[T],
    strides: &[i64],
    (mut base, step): (i64, i64),
    lanes: usize,
) {
    let mut out = std::mem::take(&mut T::file_mut(frame)[read.out.index as usize]);
    for (at, group) in out[..lanes.div_ceil(GROUP)].iter_mut().enumerate() {
        let mut indices = [0_i64; GROUP];
        for (lane, offset) in indices.iter_mut().zip(0_i64..) {
            *lane = base.wrapping_add(step.wrapping_mul(offset));
        }
        for (index, &stride) in read.indices.iter().zip(strides) {
            if let Index::Varying(slot) = index {
                let more = &i64::file(frame)[slot.index as usize][at].0;
                for (lane, more) in indices.iter_mut().zip(more) {
                    *lane = lane.wrapping_add(more.wrapping_mul(stride));
                }
            }
        }
        for (lane, index) in group.0.iter_mut().zip(indices) {
            *lane = element(elements, index);
        }
        base = base.wrapping_add(step.wrapping_mul(GROUP as i64));
    }
    T::file_mut(frame)[read.out.index as usize] = out;
}

/// The groups of the result.
fn out<'a, T: Lane>(frame: &'a mut Frame, read: &Read, lanes: usize) -> &'a mut [Group<T>] {
    &mut T::file_mut(frame)[read.out.index as usize][..lanes.div_ceil(GROUP)]
}

#[inline(always)]
fn element<T: Lane>(elements: &[T], index: i64) -> T {
    elements.get(index as usize).copied().unwrap_or_default()
}
