//! Buffers of the device, and what they count for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_ir::{Column, Exhausted, Scalar, ScalarType, Span, Stop};

use super::stop;
use crate::fields::scalar_bytes;
use crate::target::Target;

/// A buffer on the device; it is given back when the last of its clones is dropped.
pub(crate) type Buffer = Arc<Allocation>;

/// A part of the device's memory.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// What the memory that it came from gives back next.
    unused: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        lock(&self.unused).push((self.address, self.bytes));
    }
}

/// The memory of a device.
pub(crate) struct Memory<'a> {
    pub(crate) target: &'a mut dyn Target,
    limit: u64,
    alive: u64,
    allocated: u64,
    /// The bytes of the inputs, which do not count.
    inputs: u64,
    unused: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(target: &'a mut dyn Target, limit: u64) -> Memory<'a> {
        let unused = Arc::default();
        Memory { target, limit, alive: 0, allocated: 0, inputs: 0, unused }
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
        Ok(Arc::new(Allocation { address, bytes, unused: Arc::clone(&self.unused) }))
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
        self.target.read(buffer.address, bytes).map_err(stop)
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

    /// Elements of the host.
    pub(crate) fn upload(&mut self, elements: &Column, name: &str) -> Result<Buffer, Stop> {
        let ty = elements.scalar_type().expect("elements are scalars");
        let buffer = self.scratch(elements.len() as u64, ty.bytes(), name)?;
        self.target.write(buffer.address, &bytes(elements)).map_err(stop)?;
        Ok(buffer)
    }

    /// The first elements of a buffer.
    pub(crate) fn download(
        &mut self,
        buffer: &Buffer,
        count: u64,
        element: ScalarType,
    ) -> Result<Column, Stop> {
        let bytes = self.read(buffer, count * element.bytes() as u64)?;
        Ok(column(&bytes, element))
    }

    /// One element of a buffer.
    pub(crate) fn element(
        &mut self,
        buffer: &Buffer,
        at: u64,
        element: ScalarType,
    ) -> Result<Scalar, Stop> {
        let size = element.bytes() as u64;
        let bytes = self.target.read(buffer.address + at * size, size).map_err(stop)?;
        Ok(column(&bytes, element).scalar(0).expect("one element"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of a column of scalars, as the device stores them.
fn bytes(elements: &Column) -> Vec<u8> {
    let scalar = |at: usize| elements.scalar(at).expect("elements are scalars");
    (0..elements.len()).flat_map(|at| scalar_bytes(scalar(at))).collect()
}

/// The column of bytes that the device stored.
fn column(bytes: &[u8], element: ScalarType) -> Column {
    macro_rules! numbers {
        ($variant:ident, $ty:ty) => {{
            let number = |chunk: &[u8]| {
                let chunk = chunk.first_chunk().expect("a whole element");
                <$ty>::from_le_bytes(*chunk)
            };
            let chunks = bytes.chunks_exact(size_of::<$ty>());
            Column::$variant(chunks.map(number).collect::<Vec<_>>().into())
        }};
    }
    match element {
        ScalarType::I8 => numbers!(I8, i8),
        ScalarType::I16 => numbers!(I16, i16),
        ScalarType::I32 => numbers!(I32, i32),
        ScalarType::I64 => numbers!(I64, i64),
        ScalarType::U8 => numbers!(U8, u8),
        ScalarType::U16 => numbers!(U16, u16),
        ScalarType::U32 => numbers!(U32, u32),
        ScalarType::U64 => numbers!(U64, u64),
        ScalarType::F32 => numbers!(F32, f32),
        ScalarType::F64 => numbers!(F64, f64),
        ScalarType::Bool => {
            Column::Bool(bytes.iter().map(|byte| *byte != 0).collect::<Vec<_>>().into())
        }
        ScalarType::Char => Column::Char(bytes.to_vec().into()),
    }
}
