//! What the host needs of a device.

use std::sync::atomic::AtomicBool;

use weft_emulator::{Address, Device, Emulator, Error, Grid, Module, Schedule};

use crate::text::Code;

/// Why a device did not do what it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// The user interrupted the run.
    Interrupted,
    /// A defect: what the device reports.
    Report(String),
}

/// A device with the kernels of one program.
pub trait Target {
    /// The address of a new buffer; `element` is the number of bytes of an element.
    ///
    /// # Errors
    /// If the device is broken.
    fn allocate(&mut self, bytes: u64, element: usize, name: &str) -> Result<u64, Broken>;

    /// Gives a buffer back.
    ///
    /// # Errors
    /// If the device is broken.
    fn free(&mut self, address: u64) -> Result<(), Broken>;

    /// Copies to the device.
    ///
    /// # Errors
    /// If the device is broken.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Broken>;

    /// Copies from the device, when all launches are done.
    ///
    /// # Errors
    /// If the device is broken.
    fn read(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Broken>;

    /// Copies on the device.
    ///
    /// # Errors
    /// If the device is broken.
    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Broken>;

    /// Makes all bytes zero.
    ///
    /// # Errors
    /// If the device is broken.
    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), Broken>;

    /// Launches a kernel with the bytes of its parameters.
    ///
    /// # Errors
    /// If the device is broken.
    fn launch(
        &mut self,
        entry: &str,
        blocks: u32,
        threads: u32,
        parameters: &[Vec<u8>],
    ) -> Result<(), Broken>;
}

/// The emulated device.
#[derive(Debug)]
pub struct EmulatedTarget<'a> {
    device: Device,
    module: Module,
    schedule: Schedule,
    cancel: &'a AtomicBool,
}

impl<'a> EmulatedTarget<'a> {
    /// Compiles the kernels and starts a device.
    ///
    /// # Errors
    /// If the kernels do not compile, or the device does not start.
    pub fn new(
        emulator: &Emulator,
        code: &Code,
        schedule: Schedule,
        cancel: &'a AtomicBool,
    ) -> Result<EmulatedTarget<'a>, Error> {
        EmulatedTarget::of_text(emulator, &code.text(), &code.entries, schedule, cancel)
    }

    /// As [`EmulatedTarget::new`], of a text with these `__global__` functions.
    ///
    /// # Errors
    /// If the text does not compile, or the device does not start.
    pub fn of_text(
        emulator: &Emulator,
        text: &str,
        entries: &[String],
        schedule: Schedule,
        cancel: &'a AtomicBool,
    ) -> Result<EmulatedTarget<'a>, Error> {
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let module = emulator.compile(text, &entries)?;
        Ok(EmulatedTarget { device: Device::new(emulator)?, module, schedule, cancel })
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Broken {
        match error {
            Error::Interrupted => Broken::Interrupted,
            other => Broken::Report(other.to_string()),
        }
    }
}

impl Target for EmulatedTarget<'_> {
    fn allocate(&mut self, bytes: u64, element: usize, name: &str) -> Result<u64, Broken> {
        Ok(self.device.allocate(bytes, element as u32, name)?.0)
    }

    fn free(&mut self, address: u64) -> Result<(), Broken> {
        Ok(self.device.free(Address(address))?)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Broken> {
        Ok(self.device.write(Address(address), bytes)?)
    }

    fn read(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Broken> {
        Ok(self.device.read(Address(address), bytes)?)
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Broken> {
        Ok(self.device.copy(Address(to), Address(from), bytes)?)
    }

    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), Broken> {
        Ok(self.device.fill(Address(address), bytes, 0)?)
    }

    fn launch(
        &mut self,
        entry: &str,
        blocks: u32,
        threads: u32,
        parameters: &[Vec<u8>],
    ) -> Result<(), Broken> {
        let grid = Grid::linear(blocks, threads);
        let report =
            self.device.launch(&self.module, entry, grid, parameters, &self.schedule, self.cancel);
        match report {
            Ok(_) => Ok(()),
            Err(Error::Interrupted) => Err(Broken::Interrupted),
            Err(other) => Err(Broken::Report(format!("{entry}: {other}"))),
        }
    }
}
