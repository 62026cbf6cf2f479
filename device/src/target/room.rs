//! Room for buffers.
//!
//! Note [Room on the device]. Where the device has no room for a buffer, those that are kept for the turns of loops
//! are given back, copies of arrays that the host has
//! let go of are given back, and what was given back is waited for; then the pool gives back what it keeps;
//! then copies of arrays go that no run uses, the longest unused first: those that the host has too, then
//! those that are brought to it first. Only then is it said that there is no room.

use std::time::Instant;

use weft_cuda::Broken;

use super::DeviceTarget;
use crate::streams::FIRST;

impl DeviceTarget<'_> {
    /// A buffer (Note [Room on the device]).
    pub(super) fn room(&mut self, bytes: u64) -> Result<u64, Broken> {
        let mut stage = 0;
        loop {
            match self.state.driver.allocate(bytes, self.streams.current()) {
                Ok(address) => return Ok(address),
                Err(failure) if !failure.is_memory() => return self.checked(Err(failure)),
                Err(_) => {}
            }
            stage += 1;
            match stage {
                1 => {
                    let kept = self.spare.take_all();
                    self.give_back(kept)?;
                    let given_back = self.state.purge();
                    self.checked(given_back)?;
                    self.wait()?;
                }
                2 => {
                    let trimmed = self.state.driver.trim();
                    self.checked(trimmed)?;
                }
                _ => {
                    let room = self.evict(bytes)?;
                    if room == 0 {
                        return Err(Broken::Memory { wanted: bytes, held: self.held });
                    }
                    self.wait()?;
                    let trimmed = self.state.driver.trim();
                    self.checked(trimmed)?;
                }
            }
        }
    }

    /// Gives back copies that no run uses, of so many bytes if there are; how many they were.
    fn evict(&mut self, bytes: u64) -> Result<u64, Broken> {
        let mut room = 0;
        while room < bytes {
            if let Some(dropped) = self.state.table.take_oldest() {
                let freed = self.state.driver.free(dropped.address, FIRST);
                self.checked(freed)?;
                room += dropped.bytes;
            } else if let Some(dirty) = self.state.table.oldest_dirty() {
                self.wait()?;
                let begun = Instant::now();
                let brought = dirty.spill(&self.state.driver);
                self.checked(brought)?;
                self.traffic.downloaded += dirty.bytes();
                self.traffic.download += begun.elapsed();
            } else {
                break;
            }
        }
        Ok(room)
    }
}
