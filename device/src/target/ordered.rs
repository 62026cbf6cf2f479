//! Work in several streams (Note [Streams of a run]).

use weft_cuda::{Access, Broken, Weight};

use super::DeviceTarget;
use crate::driver::Work;
use crate::graphs::Asked;
use crate::streams::{Beside, FIRST, Free, Kind, Wait};

impl DeviceTarget<'_> {
    /// A kernel of the plan begins that others do not depend on, nor it on them.
    pub(super) fn kernel_begins(&mut self, reads: &[u64], weight: Weight) -> Result<(), Broken> {
        let (is_worth_it, goes_beside) = match self.ways.streams {
            Beside::Nothing => (false, false),
            Beside::Long => {
                (weight.is_long || weight.is_beside_long, weight.is_small && weight.is_long)
            }
            Beside::All => (true, weight.is_small),
        };
        if !is_worth_it || self.spare.is_in_loop() {
            return Ok(());
        }
        if !self.streams.is_on() {
            reads.iter().try_for_each(|buffer| self.bring_input(*buffer))?;
        }
        if !self.make_streams()? {
            return Ok(());
        }
        let waits = self.streams.begin_kernel(reads, goes_beside);
        self.obey(&waits)
    }

    /// Makes the streams, unless they are there; whether they are.
    pub(super) fn make_streams(&mut self) -> Result<bool, Broken> {
        let made = self.state.driver.make_streams();
        match made {
            // Without them all goes through the first one.
            Err(failure) if failure.is_memory() || failure.is_unsupported() => {
                self.ways.streams = Beside::Nothing;
                self.leave_streams()?;
                Ok(false)
            }
            made => self.checked(made).map(|()| true),
        }
    }

    /// Queues what is asked for in the stream of its kernel, behind what it depends on.
    pub(super) fn queue_ordered(&mut self, asked: &Asked<'_>) -> Result<(), Broken> {
        let mut touches = asked.touches(&self.own);
        touches.extend(asked.touches(&self.inputs.brought));
        let Access { checks, relies, .. } = asked.access;
        let is_kernel = matches!(asked.work, Work::Kernel { .. });
        let waits = self.streams.queue(&touches, Kind { checks, relies, is_kernel });
        self.obey(&waits)?;
        self.queue(asked.work, asked.parameters)
    }

    /// Gives a buffer back behind all that touches it.
    pub(super) fn free_in_order(&mut self, address: u64, bytes: u64) -> Result<(), Broken> {
        match self.streams.free(address, bytes) {
            Free::In(stream) => {
                let freed = self.state.driver.free(address, stream);
                self.checked(freed)
            }
            Free::Later if self.streams.is_late() => self.join(),
            Free::Later => Ok(()),
        }
    }

    /// The first stream is behind all others from now on.
    pub(super) fn join(&mut self) -> Result<(), Broken> {
        let waits = self.streams.join();
        self.obey(&waits)?;
        while let Some(address) = self.streams.next_late() {
            let freed = self.state.driver.free(address, FIRST);
            if freed.is_err() {
                self.state.give_back_later(address);
            }
            self.checked(freed)?;
        }
        Ok(())
    }

    /// All goes through the first stream again.
    pub(super) fn leave_streams(&mut self) -> Result<(), Broken> {
        self.join()?;
        self.streams.end();
        Ok(())
    }

    pub(super) fn obey(&mut self, waits: &[Wait]) -> Result<(), Broken> {
        for wait in waits {
            let done = match *wait {
                Wait::Record(stream) => self.state.driver.record(stream),
                Wait::For { stream, other } => self.state.driver.wait_for(stream, other),
            };
            self.checked(done)?;
        }
        Ok(())
    }
}
