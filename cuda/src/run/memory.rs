//! Buffers of the device, and what they count for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_ir::{Column, Exhausted, Scalar, ScalarType, Span, Stop};

use super::{Halt, stop};
use crate::elements::{byte_count, bytes, read_column};
use crate::run::watched::Watched;
use crate::target::{Broken, Output};

/// A buffer on the device; it is given back when the last of its clones is dropped.
pub(crate) type Buffer = Arc<Allocation>;

/// Addresses and bytes of what nobody holds any more.
type Unused = Arc<Mutex<Vec<(u64, u64)>>>;

/// A part of the device's memory.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// What the memory that it came from gives back next; nothing if the device keeps it.
    unused: Option<Unused>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(unused) = &self.unused {
            lock(unused).push((self.address, self.bytes));
        }
    }
}

/// The memory of a device.
pub(crate) struct Memory<'a> {
    pub(crate) target: Watched<'a>,
    limit: u64,
    alive: u64,
    allocated: u64,
    /// The bytes of the inputs, which do not count.
    inputs: u64,
    unused: Unused,
    /// What the device keeps, with what the host has of it: held to the end, so that nobody takes it for
    /// his own.
    resident: Vec<(Buffer, Column)>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(target: Watched<'a>, limit: u64) -> Memory<'a> {
        let (unused, resident) = (Arc::default(), Vec::new());
        Memory { target, limit, alive: 0, allocated: 0, inputs: 0, unused, resident }
    }

    /// Why a run has no results that stopped like this.
    pub(crate) fn halt(&mut self, stop: Stop) -> Halt {
        match self.target.take_broken() {
            None | Some(Broken::Interrupted) => Halt::Stop(stop),
            Some(broken) => Halt::Broken(broken),
        }
    }

    /// The word in which a check leaves its number that fails.
    pub(crate) fn failure(&mut self) -> Result<Buffer, Stop> {
        match self.target.failure() {
            Some(address) => Ok(Arc::new(Allocation { address, bytes: 4, unused: None })),
            None => self.scratch(1, 4, "failure"),
        }
    }

    /// What has been allocated so far is not held against the limit.
    pub(crate) fn inputs_are_uploaded(&mut self) {
        self.inputs = self.alive;
    }

    /// The bytes of all buffers, those of the inputs excluded.
    pub(crate) fn alive(&mut self) -> u64 {
        let unused: u64 = lock(&self.unused).iter().map(|(_, bytes)| bytes).sum();
        (self.alive - unused).saturating_sub(self.inputs)
    }

    /// The bytes of all buffers that ever were.
    pub(crate) fn allocated(&self) -> u64 {
        self.allocated
    }

    /// A buffer of that many elements.
    pub(crate) fn allocate(
        &mut self,
        count: u64,
        element: usize,
        name: &str,
        span: Span,
    ) -> Result<Buffer, Stop> {
        let unused: Vec<(u64, u64)> = lock(&self.unused).drain(..).collect();
        for (address, bytes) in unused {
            self.alive -= bytes;
            self.target.free(address).map_err(stop)?;
        }
        let bytes = count.saturating_mul(element as u64);
        let after = self.alive.saturating_sub(self.inputs).saturating_add(bytes);
        if after > self.limit {
            let (wanted, limit) = (bytes, self.limit);
            return Err(Exhausted::Memory { wanted, limit, span }.into());
        }
        let address = self.target.allocate(bytes, element, name).map_err(stop)?;
        self.alive += bytes;
        self.allocated += bytes;
        let unused = Some(Arc::clone(&self.unused));
        Ok(Arc::new(Allocation { address, bytes, unused }))
    }

    /// As [`Memory::allocate`], for what no expression of the program asked for.
    pub(crate) fn scratch(
        &mut self,
        count: u64,
        element: usize,
        name: &str,
    ) -> Result<Buffer, Stop> {
        self.allocate(count, element, name, Span::default())
    }

    /// Makes all bytes zero.
    pub(crate) fn clear(&mut self, buffer: &Buffer) -> Result<(), Stop> {
        self.target.clear(buffer.address, buffer.bytes).map_err(stop)
    }

    pub(crate) fn read(&mut self, buffer: &Buffer, bytes: u64) -> Result<Vec<u8>, Stop> {
        let mut into = vec![0; bytes as usize];
        self.target.read(buffer.address, &mut into).map_err(stop)?;
        Ok(into)
    }

    /// Another buffer with the same bytes.
    pub(crate) fn copy(
        &mut self,
        from: &Buffer,
        element: usize,
        name: &str,
        span: Span,
    ) -> Result<Buffer, Stop> {
        let to = self.allocate(from.bytes / element as u64, element, name, span)?;
        self.target.copy(to.address, from.address, from.bytes).map_err(stop)?;
        Ok(to)
    }

    /// Elements of the host that others know too: those that the device keeps, if it keeps any.
    pub(crate) fn input(&mut self, elements: &Column, name: &str) -> Result<Buffer, Stop> {
        let Some(address) = self.target.resident(elements).map_err(stop)? else {
            return self.upload(elements, name);
        };
        let bytes = byte_count(elements);
        let buffer = Arc::new(Allocation { address, bytes, unused: None });
        self.resident.push((Arc::clone(&buffer), elements.clone()));
        Ok(buffer)
    }

    /// Elements of the host.
    pub(crate) fn upload(&mut self, elements: &Column, name: &str) -> Result<Buffer, Stop> {
        let ty = elements.scalar_type().expect("elements are scalars");
        let buffer = self.scratch(elements.len() as u64, ty.bytes(), name)?;
        self.target.write(buffer.address, bytes(elements)).map_err(stop)?;
        Ok(buffer)
    }

    /// The first elements of a buffer.
    pub(crate) fn download(
        &mut self,
        buffer: &Buffer,
        count: u64,
        element: ScalarType,
    ) -> Result<Column, Stop> {
        self.elements(buffer.address, count, element)
    }

    /// The first elements of a buffer, as far as a leaf of the value has them: they may stay on the device,
    /// and it may keep the buffer for later runs.
    pub(crate) fn result(&mut self, buffer: &Buffer, output: Output) -> Result<Column, Stop> {
        let Output { count, element, .. } = output;
        let own = |(known, column): &&(Buffer, Column)| {
            Arc::ptr_eq(known, buffer) && column.len() == count
        };
        if let Some((_, column)) = self.resident.iter().find(own) {
            return Ok(column.clone());
        }
        if let Some(column) = self.target.defer(buffer.address, output) {
            return Ok(column);
        }
        let elements = self.download(buffer, count as u64, element)?;
        self.target.keep(buffer.address, &elements);
        Ok(elements)
    }

    fn elements(&mut self, address: u64, count: u64, of: ScalarType) -> Result<Column, Stop> {
        let count = usize::try_from(count).expect("what is on the device fits in memory");
        read_column(of, count, |into| self.target.read(address, into)).map_err(stop)
    }

    /// One element of a buffer.
    pub(crate) fn element(
        &mut self,
        buffer: &Buffer,
        at: u64,
        element: ScalarType,
    ) -> Result<Scalar, Stop> {
        let size = element.bytes() as u64;
        let column = self.elements(buffer.address + at * size, 1, element)?;
        Ok(column.scalar(0).expect("one element"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
