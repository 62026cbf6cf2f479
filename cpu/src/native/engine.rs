//! Chooses, chunk by chunk, what computes the elements: the block interpreter or a native function.
//!
//! Note [Blocks that are begun again]. A block of points with long loops can take minutes on the interpreter, and it may be
//! the only one there is. So such a block asks for a native function when it has run for a while, looks now and
//! then whether it is there, and leaves the block to it from its beginning: points are pure, and what was done in vain took no
//! longer than the compiler.

use std::mem;
use std::time::{Duration, Instant};

use crate::compile::Compiled;
use crate::execute::Context;
use crate::native::call::Caller;
use crate::native::{Supply, Tier};

/// The time that the block interpreter spends on some code before a native function is asked for,
/// in nanoseconds. A compiler takes a hundred times as long, and code that has run for so long is
/// likely to run again.
pub(crate) const PATIENCE: u64 = 1_000_000;

/// After this time on the block interpreter one looks within a chunk too: its points may take seconds.
const LOOK: Duration = Duration::from_millis(1);

/// What computes elements on one thread.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    compiled: &'a Compiled,
    context: Context<'a>,
    in_place: bool,
    caller: Option<Caller<'a>>,
    /// Whether it was asked once.
    asked: bool,
}

impl<'a> Engine<'a> {
    /// For some code of a launch; `in_place` says whether all arrays that it reads at the point have
    /// the extents of the space.
    pub(crate) fn new(compiled: &'a Compiled, context: Context<'a>, in_place: bool) -> Engine<'a> {
        Engine { compiled, context, in_place, caller: None, asked: false }
    }

    /// Whether one should look for a native function within a chunk, that long after the last look.
    pub(crate) fn shall_look(&self, since: Instant) -> bool {
        let Some(source) = self.context.native.filter(|_| self.caller.is_none()) else {
            return false;
        };
        source.tier == Tier::Turning || since.elapsed() >= LOOK
    }

    /// Looks whether there is a native function by now; to be called where a chunk begins, and now and then within one
    /// that takes long. When the chunk began, if its time is to be measured.
    pub(crate) fn begin(&mut self) -> Option<Instant> {
        if self.caller.is_some() {
            return None;
        }
        let source = self.context.native?;
        let service = source.native.service();
        let slot = &self.compiled.native;
        let asked = mem::replace(&mut self.asked, true);
        let wanted = match (slot.wanted(self.in_place), source.tier) {
            (_, Tier::Interpreted) => return None,
            (_, Tier::Turning) if !asked => return None,
            (None, Tier::Automatic) => return Some(Instant::now()),
            (None, Tier::Native | Tier::Turning) => {
                slot.want(self.in_place, |function| service.request(function))?
            }
            (Some(wanted), _) => wanted,
        };
        if matches!(source.tier, Tier::Native | Tier::Turning) {
            service.wait(&wanted.ticket, self.context.cancel);
        }
        if let Some(function) = wanted.ticket.function() {
            self.caller = Some(Caller::new(function, &wanted.sites, self.context));
        }
        None
    }

    /// The native function, if there is one.
    pub(crate) fn caller(&mut self) -> Option<&mut Caller<'a>> {
        self.caller.as_mut()
    }

    /// What a block that begins now gives way to, if its code has loops.
    pub(crate) fn overdue(&self) -> Option<Overdue<'a>> {
        let source = self.context.native.filter(|_| self.caller.is_none())?;
        let automatic = source.tier == Tier::Automatic && self.compiled.routine.repeats();
        let Engine { compiled, in_place, .. } = *self;
        automatic.then(|| Overdue { began: Instant::now(), compiled, in_place, source })
    }

    /// Whether there is a native function.
    pub(crate) fn is_native(&self) -> bool {
        self.caller.is_some()
    }

    /// Asks for a native function if one was asked for other code of the same kernel: that is worth it
    /// for both.
    pub(crate) fn follow(&self, other: &Engine<'_>) {
        let Some(source) = self.context.native else { return };
        if other.compiled.native.wanted(other.in_place).is_some() {
            let service = source.native.service();
            self.compiled.native.want(self.in_place, |function| service.request(function));
        }
    }

    /// Notes how long a chunk took, and asks for a native function if that is worth it.
    pub(crate) fn end(&self, began: Option<Instant>) {
        let (Some(began), Some(source)) = (began, self.context.native) else { return };
        let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if self.compiled.native.spend(nanoseconds) >= PATIENCE {
            let service = source.native.service();
            self.compiled.native.want(self.in_place, |function| service.request(function));
        }
    }
}

/// A block on the interpreter (Note [Blocks that are begun again]).
#[derive(Debug)]
pub(crate) struct Overdue<'a> {
    began: Instant,
    compiled: &'a Compiled,
    in_place: bool,
    source: &'a Supply,
}

impl Overdue<'_> {
    /// Whether it has run for a while and there is a native function, which is asked for.
    pub(crate) fn is_overtaken(&self) -> bool {
        if self.began.elapsed() < LOOK {
            return false;
        }
        let service = self.source.native.service();
        let native = &self.compiled.native;
        let wanted = native.want(self.in_place, |function| service.request(function));
        let overtaken = wanted.is_some_and(|wanted| wanted.ticket.function().is_some());
        if overtaken {
            service.note_overtaken();
        }
        overtaken
    }
}
