//! What launches say about the memory that they touch, held against what they do. Which launches run beside each other,
//! on several streams or in graphs, rests on that: who only reads a buffer does not change it, and who has no checks
//! does not say that one has failed.

use std::collections::BTreeMap;

use weft_cuda::{Access, Broken, Target};

/// A device whose launches are watched.
pub(crate) struct Claims<'a> {
    target: &'a mut dyn Target,
    /// The bytes of the buffers.
    buffers: BTreeMap<u64, u64>,
    /// The word in which failed checks leave their numbers.
    failure: u64,
}

impl<'a> Claims<'a> {
    pub(crate) fn new(target: &'a mut dyn Target) -> Claims<'a> {
        Claims { target, buffers: BTreeMap::new(), failure: 0 }
    }

    fn bytes(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Broken> {
        let mut read = vec![0; bytes as usize];
        self.target.read(address, &mut read)?;
        Ok(read)
    }

    /// What is in the buffers that a launch only reads.
    fn contents(&mut self, reads: &[u64]) -> Result<Vec<Vec<u8>>, Broken> {
        let mut contents = Vec::new();
        for address in reads {
            let bytes = self.buffers[address];
            contents.push(self.bytes(*address, bytes)?);
        }
        Ok(contents)
    }
}

impl Target for Claims<'_> {
    fn allocate(&mut self, bytes: u64, element: usize, name: &str) -> Result<u64, Broken> {
        let address = self.target.allocate(bytes, element, name)?;
        self.buffers.insert(address, bytes);
        if name == "failure" {
            self.failure = address;
        }
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<(), Broken> {
        self.buffers.remove(&address);
        self.target.free(address)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Broken> {
        self.target.write(address, bytes)
    }

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        self.target.read(address, into)
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Broken> {
        self.target.copy(to, from, bytes)
    }

    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), Broken> {
        self.target.clear(address, bytes)
    }

    fn launch(
        &mut self,
        entry: &str,
        blocks: u32,
        threads: u32,
        parameters: &[Vec<u8>],
        access: Access<'_>,
    ) -> Result<(), Broken> {
        let (before, failed) = (self.contents(access.reads)?, self.bytes(self.failure, 4)?);
        self.target.launch(entry, blocks, threads, parameters, access)?;
        assert!(self.contents(access.reads)? == before, "{entry} writes what it only reads");
        let says_nothing = access.checks || self.bytes(self.failure, 4)? == failed;
        assert!(says_nothing, "a check fails in {entry}, which has none");
        Ok(())
    }
}
