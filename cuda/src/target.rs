//! What the host needs of a device.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;

use weft_emulator::{Address, Device, Emulator, Error, Grid, Module, Schedule};
use weft_ir::{Column, ScalarType, Span};

use crate::shared::MOST_SHARED;
use crate::text::{Code, Entry};

/// Why a device did not do what it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Broken {
    /// The user interrupted the run.
    Interrupted,
    /// A defect: what the device reports.
    Report(String),
    /// The device is of no use any more, or was never: why.
    Lost(String),
    /// The memory of the device is not enough.
    Memory {
        /// The bytes that were asked for last.
        wanted: u64,
        /// The bytes that the run has already.
        held: u64,
    },
    /// A kernel would take so many blocks of threads, more than a grid has. It was not launched.
    Grid(u64),
    /// A kernel would take more shared memory than a block of threads has. It was neither compiled nor launched.
    Shared {
        /// The bytes that it would take.
        wanted: usize,
        /// The expression of the first operation of the kernel.
        span: Span,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Interrupted => f.write_str("interrupted"),
            Broken::Report(report) => f.write_str(report),
            Broken::Lost(why) => write!(f, "the device is lost: {why}"),
            Broken::Memory { wanted, held } => {
                write!(f, "the device has no room for {wanted} bytes beside {held} of this run")
            }
            Broken::Grid(blocks) => write!(f, "no grid has {blocks} blocks"),
            Broken::Shared { wanted, span: _ } => write!(
                f,
                "elements are tuples so wide that a block of threads would take {wanted} bytes of shared memory, and \
                 {MOST_SHARED} are there"
            ),
        }
    }
}

/// Elements that a program yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The number of its leaf.
    pub leaf: usize,
    /// How many elements there are.
    pub count: usize,
    /// What they are.
    pub element: ScalarType,
}

/// What a launch does with the memory whose addresses are among its parameters, at multiples of eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<'a> {
    /// The buffers that it only reads; it may write into all others.
    pub reads: &'a [u64],
    /// Whether it has checks, one of which may fail. What begins after that does nothing then.
    pub checks: bool,
    /// Whether it must not begin before all launches with checks that were asked for earlier are done.
    pub relies: bool,
}

impl Access<'_> {
    /// Whatever a launch may do.
    pub const ANY: Access<'static> = Access { reads: &[], checks: true, relies: true };
}

/// What is known of how long a kernel of the plan takes, and how much of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Whether it does not fill a device.
    pub is_small: bool,
    /// Whether its points have loops. What has none, and is small, takes 20 µs at most.
    pub is_long: bool,
    /// Whether it is independent of one that is long.
    pub is_beside_long: bool,
}

/// A device with the kernels of one program.
pub trait Target {
    /// The word in which a check leaves its number that fails, if the device has one for all runs: it writes
    /// there itself when somebody interrupts.
    fn failure(&mut self) -> Option<u64> {
        None
    }

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
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Broken>;

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
        access: Access<'_>,
    ) -> Result<(), Broken>;

    /// What is asked for from now on is of one kernel of the plan, which does not depend on some others, nor they on
    /// it. It reads these buffers. Launches may run beside others then, in any order that their accesses allow.
    ///
    /// # Errors
    /// If the device is broken.
    fn begin_kernel(&mut self, _reads: &[u64], _weight: Weight) -> Result<(), Broken> {
        Ok(())
    }

    /// That kernel has been asked for.
    fn end_kernel(&mut self) {}

    /// A loop begins, whose turns may repeat themselves; `number` is the same whenever this loop of the program
    /// begins, and no other loop's.
    ///
    /// # Errors
    /// If the device is broken.
    fn begin_loop(&mut self, _number: usize) -> Result<(), Broken> {
        Ok(())
    }

    /// A turn of the innermost loop ends.
    ///
    /// # Errors
    /// If the device is broken.
    fn end_turn(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    /// The innermost loop ends.
    ///
    /// # Errors
    /// If the device is broken.
    fn end_loop(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    /// All kernels have been asked for: what comes now looks at whether they failed, and at results.
    ///
    /// # Errors
    /// If the device is broken.
    fn end_kernels(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    /// A buffer with these elements, which need not be in memory then, if the device keeps one for all
    /// runs. Nobody writes into it or gives it back.
    ///
    /// # Errors
    /// If the device is broken.
    fn resident(&mut self, _elements: &Column) -> Result<Option<u64>, Broken> {
        Ok(None)
    }

    /// A column of the elements at an address, which stay on the device until somebody wants to see them.
    /// This run does not write there any more. Nothing if they have to be read at once.
    fn defer(&mut self, _address: u64, _output: Output) -> Option<Column> {
        None
    }

    /// Says that a buffer holds these elements of the host from now on, and that this run does not
    /// write into it any more: the device may keep it for later runs.
    fn keep(&mut self, _address: u64, _elements: &Column) {}
}

/// The emulated device. Kernels are compiled when they are first launched.
#[derive(Debug)]
pub struct EmulatedTarget<'a> {
    emulator: &'a Emulator,
    units: Vec<Unit>,
    /// By the name of the kernel.
    modules: BTreeMap<String, Module>,
    device: Device,
    schedule: Schedule,
    cancel: &'a AtomicBool,
}

/// A text with `__global__` functions.
#[derive(Debug)]
struct Unit {
    text: String,
    entries: Vec<Entry>,
}

impl<'a> EmulatedTarget<'a> {
    /// Starts a device for some kernels.
    ///
    /// # Errors
    /// If the device does not start.
    pub fn new(
        emulator: &'a Emulator,
        code: &Code,
        schedule: Schedule,
        cancel: &'a AtomicBool,
    ) -> Result<EmulatedTarget<'a>, Error> {
        let beginning = Code::beginning();
        let units = vec![
            Unit { text: format!("{beginning}{}", code.body), entries: code.entries.clone() },
            Unit {
                text: format!("{beginning}{}", code.common),
                entries: code.common_entries.clone(),
            },
        ];
        EmulatedTarget::of_units(emulator, units, schedule, cancel)
    }

    /// As [`EmulatedTarget::new`], of a text with these `__global__` functions.
    ///
    /// # Errors
    /// If the device does not start.
    pub fn of_text(
        emulator: &'a Emulator,
        text: &str,
        entries: Vec<Entry>,
        schedule: Schedule,
        cancel: &'a AtomicBool,
    ) -> Result<EmulatedTarget<'a>, Error> {
        let units = vec![Unit { text: text.to_owned(), entries }];
        EmulatedTarget::of_units(emulator, units, schedule, cancel)
    }

    fn of_units(
        emulator: &'a Emulator,
        units: Vec<Unit>,
        schedule: Schedule,
        cancel: &'a AtomicBool,
    ) -> Result<EmulatedTarget<'a>, Error> {
        let (modules, device) = (BTreeMap::new(), Device::new(emulator)?);
        Ok(EmulatedTarget { emulator, units, modules, device, schedule, cancel })
    }

    /// The module of a kernel. With it those are compiled that will be launched anyhow; one that the
    /// host chooses may never be.
    fn module(&mut self, name: &str) -> Result<Module, Error> {
        if let Some(module) = self.modules.get(name) {
            return Ok(module.clone());
        }
        let has = |unit: &&Unit| unit.entries.iter().any(|entry| entry.name == name);
        let unit = self.units.iter().find(has);
        let Some(Unit { text, entries }) = unit else {
            return Err(Error::Report(format!("there is no kernel {name}")));
        };
        let wanted = |entry: &&Entry| {
            entry.name == name || (!entry.chosen && !self.modules.contains_key(&entry.name))
        };
        let names: Vec<&str> =
            entries.iter().filter(wanted).map(|entry| entry.name.as_str()).collect();
        let module = self.emulator.compile(text, &names)?;
        self.modules.extend(names.into_iter().map(|name| (name.to_owned(), module.clone())));
        Ok(module)
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

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        into.copy_from_slice(&self.device.read(Address(address), into.len() as u64)?);
        Ok(())
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
        _access: Access<'_>,
    ) -> Result<(), Broken> {
        let grid = Grid::linear(blocks, threads);
        let report = self.module(entry).and_then(|module| {
            self.device.launch(&module, entry, grid, parameters, &self.schedule, self.cancel)
        });
        match report {
            Ok(_) => Ok(()),
            Err(Error::Interrupted) => Err(Broken::Interrupted),
            Err(other) => Err(Broken::Report(format!("{entry}: {other}"))),
        }
    }
}
