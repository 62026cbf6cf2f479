//! The limits of a run: memory, which is asked for before it is taken, and the wish to end it.

use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::{Exhausted, Span, Stop};

/// How many steps may pass between two looks at whether the run shall end.
const STEPS: u32 = 1024;

/// What a run may still use.
pub(crate) struct Memory<'a> {
    limit: u64,
    /// The bytes of the arrays that are being built.
    held: u128,
    cancel: &'a AtomicBool,
    steps: u32,
    /// How many such looks there may be, if that is limited.
    looks: Option<u32>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(limit: u64, cancel: &'a AtomicBool) -> Memory<'a> {
        Memory { limit, held: 0, cancel, steps: 0, looks: None }
    }

    /// Counts a step, and looks now and then whether the user wants the run to end.
    pub(crate) fn step(&mut self) -> Result<(), Stop> {
        if self.steps > 0 {
            self.steps -= 1;
            return Ok(());
        }
        self.steps = STEPS;
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Exhausted::Interrupted.into());
        }
        match &mut self.looks {
            None => Ok(()),
            // Any limit: whoever limits the looks asks only whether there was one.
            Some(0) => Err(Exhausted::Recursion { depth: 0, span: Span::default() }.into()),
            Some(looks) => {
                *looks -= 1;
                Ok(())
            }
        }
    }

    /// Limits how many [`STEPS`] may still be done; yields what is left of the limit before.
    pub(crate) fn limit_looks(&mut self, looks: Option<u32>) -> Option<u32> {
        std::mem::replace(&mut self.looks, looks)
    }

    /// Asks for memory, before an allocation by the expression at `span`.
    pub(crate) fn admit(&self, bytes: u128, span: Span) -> Result<(), Stop> {
        if bytes.saturating_add(self.held) > u128::from(self.limit) {
            let wanted = u64::try_from(bytes).unwrap_or(u64::MAX);
            return Err(Exhausted::Memory { wanted, limit: self.limit, span }.into());
        }
        Ok(())
    }

    /// As [`Memory::admit`], for a part of an array that is being built. It is held until
    /// [`Memory::release`] gives it back.
    pub(crate) fn hold(&mut self, bytes: usize, span: Span) -> Result<(), Stop> {
        self.admit(bytes as u128, span)?;
        self.held += bytes as u128;
        Ok(())
    }

    /// The bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.held as usize
    }

    /// Gives back what was held.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.held -= bytes as u128;
    }
}
