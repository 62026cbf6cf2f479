//! Inputs that the device has not got yet (Note [Inputs come when they are needed]).

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use weft_cuda::Broken;
use weft_ir::{Column, Identity};

use super::{DeviceTarget, Source};
use crate::driver::Work;
use crate::graphs::{Asked, Buffers};
use crate::streams::{Beside, FIRST, INPUTS};

/// The inputs of a run that the device had not got.
#[derive(Default)]
pub(super) struct Inputs {
    /// Those that it has not got yet, by the addresses of their buffers, and whose these are.
    absent: BTreeMap<u64, (Identity, Column)>,
    /// The buffers of those that have come, with their bytes.
    pub(super) brought: Buffers,
}

impl Inputs {
    /// Whether what belongs there has not come yet.
    pub(super) fn is_absent(&self, address: u64) -> bool {
        self.absent.contains_key(&address)
    }
}

impl DeviceTarget<'_> {
    /// An input is to come to a buffer of the memory table.
    pub(super) fn expect_input(
        &mut self,
        address: u64,
        identity: Identity,
        elements: Column,
    ) -> Result<(), Broken> {
        self.inputs.absent.insert(address, (identity, elements));
        match self.ways.streams {
            Beside::Long | Beside::All => Ok(()),
            Beside::Nothing => self.bring_input(address),
        }
    }

    /// Brings the input of a buffer, if it is one that is not there.
    pub(super) fn bring_input(&mut self, address: u64) -> Result<(), Broken> {
        let Some((_, elements)) = self.inputs.absent.remove(&address) else { return Ok(()) };
        let bytes = weft_cuda::elements::byte_count(&elements);
        self.inputs.brought.insert(address, bytes);
        let stream = match self.streams.is_on() {
            true => {
                let waits = self.streams.bring_input(address);
                self.obey(&waits)?;
                if self.launched > 0 {
                    self.traffic.overlapped += bytes;
                }
                INPUTS
            }
            false => FIRST,
        };
        self.upload(address, Source::Column(elements), stream)
    }

    /// Brings some input that is not there: false if all are.
    pub(super) fn bring_any_input(&mut self) -> Result<bool, Broken> {
        let Some(address) = self.inputs.absent.keys().next().copied() else { return Ok(false) };
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Broken::Interrupted);
        }
        self.bring_input(address).map(|()| true)
    }

    /// Brings the inputs that are touched by what is about to be done.
    pub(super) fn bring_inputs_of(&mut self, asked: &Asked<'_>) -> Result<(), Broken> {
        if self.inputs.absent.is_empty() {
            return Ok(());
        }
        let of = |(address, (_, elements)): (&u64, &(Identity, Column))| {
            (*address, weft_cuda::elements::byte_count(elements))
        };
        let absent: Buffers = self.inputs.absent.iter().map(of).collect();
        for touch in asked.touches(&absent) {
            self.bring_input(touch.buffer)?;
        }
        let is_kernel = matches!(asked.work, Work::Kernel { .. });
        if is_kernel && !self.inputs.absent.is_empty() && !self.spare.is_in_loop() {
            if !self.make_streams()? {
                return self.bring_all_inputs();
            }
            let waits = self.streams.expect_inputs();
            self.obey(&waits)?;
        }
        Ok(())
    }

    /// Brings the input that has this address in it, if it is not there.
    pub(super) fn bring_input_at(&mut self, address: u64) -> Result<(), Broken> {
        let before = self.inputs.absent.range(..=address).next_back();
        match before
            .map(|(first, (_, elements))| (*first, weft_cuda::elements::byte_count(elements)))
        {
            Some((first, bytes)) if address - first < bytes => self.bring_input(first),
            Some(_) | None => Ok(()),
        }
    }

    /// Brings all inputs that are not there.
    pub(super) fn bring_all_inputs(&mut self) -> Result<(), Broken> {
        while self.bring_any_input()? {}
        Ok(())
    }

    /// The addresses of inputs that nobody has touched: the table forgets their buffers, which are to be given back.
    pub(super) fn take_absent_inputs(&mut self) -> Vec<u64> {
        let absent = std::mem::take(&mut self.inputs.absent);
        for (identity, _) in absent.values() {
            self.state.table.forget(identity);
        }
        absent.into_keys().collect()
    }
}
