//! A device that remembers why it failed: what runs a plan only learns that it is to stop.

use weft_ir::Column;

use crate::target::{Access, Broken, Output, Target, Weight};

/// The most blocks of a grid along x, on every architecture: the programming guide's table of technical
/// specifications.
const MOST_BLOCKS: u32 = (1 << 31) - 1;

/// A device, and why it is of no use any more.
pub(crate) struct Watched<'a> {
    target: &'a mut dyn Target,
    broken: Option<Broken>,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(target: &'a mut dyn Target) -> Watched<'a> {
        Watched { target, broken: None }
    }

    /// Why the device failed, if it did.
    pub(crate) fn take_broken(&mut self) -> Option<Broken> {
        self.broken.take()
    }

    fn watch<T>(&mut self, result: Result<T, Broken>) -> Result<T, Broken> {
        if let Err(broken) = &result {
            self.broken = Some(broken.clone());
        }
        result
    }

    pub(crate) fn failure(&mut self) -> Option<u64> {
        self.target.failure()
    }

    pub(crate) fn allocate(
        &mut self,
        bytes: u64,
        element: usize,
        name: &str,
    ) -> Result<u64, Broken> {
        let result = self.target.allocate(bytes, element, name);
        self.watch(result)
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), Broken> {
        let result = self.target.free(address);
        self.watch(result)
    }

    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Broken> {
        let result = self.target.write(address, bytes);
        self.watch(result)
    }

    pub(crate) fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        let result = self.target.read(address, into);
        self.watch(result)
    }

    pub(crate) fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Broken> {
        let result = self.target.copy(to, from, bytes);
        self.watch(result)
    }

    pub(crate) fn clear(&mut self, address: u64, bytes: u64) -> Result<(), Broken> {
        let result = self.target.clear(address, bytes);
        self.watch(result)
    }

    /// As the device does it, if a grid has so many blocks.
    pub(crate) fn launch(
        &mut self,
        entry: &str,
        blocks: u64,
        threads: u32,
        parameters: &[Vec<u8>],
        access: Access<'_>,
    ) -> Result<(), Broken> {
        let result = match u32::try_from(blocks).ok().filter(|blocks| *blocks <= MOST_BLOCKS) {
            Some(blocks) => self.target.launch(entry, blocks, threads, parameters, access),
            None => Err(Broken::Grid(blocks)),
        };
        self.watch(result)
    }

    /// What is not asked of the device, as it cannot do it.
    pub(crate) fn refuse(&mut self, broken: Broken) -> Result<(), Broken> {
        self.watch(Err(broken))
    }

    pub(crate) fn begin_kernel(&mut self, reads: &[u64], weight: Weight) -> Result<(), Broken> {
        let result = self.target.begin_kernel(reads, weight);
        self.watch(result)
    }

    pub(crate) fn end_kernel(&mut self) {
        self.target.end_kernel();
    }

    pub(crate) fn begin_loop(&mut self, number: usize) -> Result<(), Broken> {
        let result = self.target.begin_loop(number);
        self.watch(result)
    }

    pub(crate) fn end_turn(&mut self) -> Result<(), Broken> {
        let result = self.target.end_turn();
        self.watch(result)
    }

    pub(crate) fn end_loop(&mut self) -> Result<(), Broken> {
        let result = self.target.end_loop();
        self.watch(result)
    }

    pub(crate) fn end_kernels(&mut self) -> Result<(), Broken> {
        let result = self.target.end_kernels();
        self.watch(result)
    }

    pub(crate) fn resident(&mut self, elements: &Column) -> Result<Option<u64>, Broken> {
        let result = self.target.resident(elements);
        self.watch(result)
    }

    pub(crate) fn defer(&mut self, address: u64, output: Output) -> Option<Column> {
        self.target.defer(address, output)
    }

    pub(crate) fn keep(&mut self, address: u64, elements: &Column) {
        self.target.keep(address, elements);
    }
}
