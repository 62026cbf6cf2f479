//! Puts what a kernel appends behind arrays, in their own buffers (Note [Arrays that grow]).

use std::time::Instant;

use weft_ir::flat::{Dimension, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Exhausted, ScalarType, Stop};

use super::{Datum, Destinations, Launched, Machine};
use crate::lanes::{Elements, Storage};
use crate::launch::Yield;
use crate::pool::IntoColumn as _;
use crate::prepare::Appending;
use crate::shape::{Axis, Shape};

/// Shorter arrays are copied.
const LONG: usize = 1024;

/// What there is, and what comes behind.
struct Growth {
    /// The extents of the whole.
    extents: Vec<usize>,
    /// How many elements that is.
    whole: usize,
    /// How many there are.
    before: usize,
    /// How far it grows, along the first dimension.
    behind: usize,
}

impl Machine<'_> {
    /// Runs a kernel over the points behind the arrays that its results begin with; whether it did. It does
    /// where the arrays are long, and what comes behind is not longer.
    pub(super) fn append(
        &mut self,
        kernel: &Kernel,
        appending: Option<&Appending>,
    ) -> Result<bool, Stop> {
        let Some(appending) = appending else { return Ok(false) };
        let begin = Instant::now();
        let Some(growth) = self.growth(kernel, appending)? else { return Ok(false) };
        self.make_room(kernel, appending, &growth)?;
        let mut axes: Vec<Axis<'_>> =
            growth.extents.iter().map(|extent| Axis::Dense(*extent)).collect();
        axes[0] = Axis::Dense(growth.behind);
        let Some(shape) = Shape::new(axes) else { return Ok(false) };
        let points = shape.points() as u64;
        let Appending { appended, bound } = appending;
        let (yields, beside) =
            self.traverse(&appended.kernel, bound, shape, Destinations::default(), None)?;
        let mut bytes_written = 0;
        for (result, value) in yields {
            let Yield::Array(_, behind) = value else { panic!("a kernel that stores arrays") };
            let sink = kernel
                .sinks
                .iter()
                .position(|sink| matches!(sink, Sink::Store { array, .. } if *array == result));
            let array = appended.parts[sink.expect("one of its sinks stores it")].array;
            let Datum::Array { elements, bytes, .. } = self.take(array) else {
                panic!("a scalar is no array")
            };
            self.alive = self.alive.saturating_sub(bytes);
            bytes_written += behind.bytes() as u64;
            let mut storage = Storage::from_column(elements);
            // A buffer may be larger than what it holds.
            storage.resize(growth.before);
            storage.append(Elements::of_column(&behind));
            let (extents, memory) = (growth.extents.clone(), self.config.workers.memory());
            let ty = self.element_type(result);
            let elements = storage.into_column(ty, growth.whole, memory);
            let bytes = elements.bytes() as u64;
            self.set(result, Datum::Array { extents, elements, bytes });
        }
        let (time, bytes_alive) = (begin.elapsed(), self.alive.saturating_add(beside));
        (self.observe)(Launched { kernel, points, time, bytes_written, bytes_alive });
        Ok(true)
    }

    /// What there is, and what comes behind; none if the kernel had better run as it is.
    fn growth(&self, kernel: &Kernel, appending: &Appending) -> Result<Option<Growth>, Stop> {
        let appended = &appending.appended;
        let mut extents = Vec::with_capacity(kernel.space.len());
        for dimension in &kernel.space {
            let Dimension::Dense(size) = dimension else { return Ok(None) };
            extents.push(self.size(*size, kernel.span)?);
        }
        let length = self.size(appended.length, kernel.span)?;
        let row = extents[1..].iter().try_fold(1_usize, |row, extent| row.checked_mul(*extent));
        let whole = row.and_then(|row| row.checked_mul(extents[0]));
        let (Some(row), Some(whole), Some(behind)) = (row, whole, extents[0].checked_sub(length))
        else {
            return Ok(None);
        };
        let before = row * length;
        let begins = appended.parts.iter().all(|part| match self.get(part.array) {
            // A buffer that somebody else has too would be copied, and stay.
            Datum::Array { extents: found, elements, .. } => {
                let same = found.len() == extents.len()
                    && found[0] == length
                    && found[1..] == extents[1..];
                same && elements.is_alone()
            }
            Datum::Scalar(_) => false,
        });
        let pays = before >= LONG && behind <= length;
        Ok((begins && pays).then_some(Growth { extents, whole, before, behind }))
    }

    /// Whether there is memory for the results, and for what comes behind once more.
    fn make_room(
        &self,
        kernel: &Kernel,
        appending: &Appending,
        growth: &Growth,
    ) -> Result<(), Stop> {
        let mut wanted = 0_u64;
        for (part, sink) in appending.appended.parts.iter().zip(&kernel.sinks) {
            let (Datum::Array { bytes, .. }, Sink::Store { array: result, .. }) =
                (self.get(part.array), sink)
            else {
                panic!("a kernel that stores arrays")
            };
            let elements = growth.whole.saturating_add(growth.whole - growth.before) as u64;
            let room = elements.saturating_mul(self.element_type(*result).bytes() as u64);
            wanted = wanted.saturating_add(room.saturating_sub(*bytes));
        }
        let limit = self.config.memory_limit;
        match self.alive.saturating_add(wanted) > limit {
            true => Err(Exhausted::Memory { wanted, limit, span: kernel.span }.into()),
            false => Ok(()),
        }
    }

    fn element_type(&self, var: Var) -> ScalarType {
        self.types[var.0 as usize].element
    }
}
