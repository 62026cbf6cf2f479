//! What a run leaves behind besides its value: where it ran, and what that took.

use std::fmt;
use std::time::{Duration, Instant};

use weft_ir::{Fault, FaultKind};

use super::{Backend, Unsupported};
use crate::footer::Phase;

/// How a program ran.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// What gave the answer.
    pub(crate) backend: Backend,
    /// Why that is the interpreter although another back end was asked for.
    pub(crate) fallback: Option<Fallback>,
    /// The phases in order.
    pub(crate) phases: Vec<(Phase, Duration)>,
    /// What it did.
    pub(crate) counters: Counters,
}

impl Ran {
    /// Nothing done yet.
    pub(super) fn new(backend: Backend) -> Ran {
        let (phases, counters) = (Vec::new(), Counters::default());
        Ran { backend, fallback: None, phases, counters }
    }

    /// Does some work that belongs to a phase.
    pub(super) fn timed<T>(&mut self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.phases.push((phase, started.elapsed()));
        result
    }
}

/// Why the interpreter ran a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fallback {
    /// The compiled path cannot do it.
    Unsupported(Unsupported),
    /// The compiled program met a fault (Note [The interpreter decides]).
    Fault(Fault),
    /// The compiler or its back end broke off with this message: a defect, of which nothing but a
    /// notice comes.
    Bug(String),
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self {
            Fallback::Unsupported(unsupported) => {
                return write!(f, "on the interpreter: {}", unsupported.reason);
            }
            Fallback::Bug(message) => {
                return write!(f, "on the interpreter, as the compiler broke off: {message}");
            }
            Fallback::Fault(fault) => fault,
        };
        match fault.kind {
            // The program is right: what was compiled is not for all that it means.
            FaultKind::LengthMismatch | FaultKind::Ragged => f.write_str(
                "on the interpreter, as compiled code took rows to be as long as each other that are not",
            ),
            kind => write!(
                f,
                "on the interpreter, as compiled code met what would be an error ({})",
                kind.code()
            ),
        }
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Kernels launched.
    pub launches: u64,
    /// Kernels whose code was compiled for this run.
    pub compiled: u64,
    /// Kernels whose code was there already.
    pub cached: u64,
    /// Bytes of the elements that kernels read: one for each point and each read that all points
    /// do.
    pub bytes_read: u64,
    /// Bytes of the arrays that kernels wrote.
    pub bytes_written: u64,
    /// The most bytes that arrays took at once, those of the inputs not counted.
    pub peak_bytes: u64,
    /// Bytes copied to a device.
    pub uploaded: u64,
    /// Bytes of inputs that a device had already.
    pub reused: u64,
    /// Bytes copied from a device.
    pub downloaded: u64,
    /// Functions of kernels launched on a device beside others.
    pub beside: u64,
    /// Graphs launched on a device.
    pub graphs: u64,
    /// The time of the run by the clock of a device.
    pub on_device: Duration,
}

impl Counters {
    /// A kernel has been launched that wrote so many bytes, of so many that are alive.
    pub(super) fn launched(&mut self, bytes_written: u64, bytes_alive: u64) {
        self.launches += 1;
        self.bytes_written += bytes_written;
        self.peak_bytes = self.peak_bytes.max(bytes_alive);
    }
}

/// The programs that ran on each engine since a session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Programs that ran compiled to the end, where they were to run.
    pub compiled: u64,
    /// Programs that ran compiled to the end on the CPU, though a GPU was asked for.
    pub elsewhere: u64,
    /// Programs that the compiled path cannot do.
    pub unsupported: u64,
    /// Programs whose compiled form met a fault.
    pub faults: u64,
    /// Programs on which the compiled path broke off: its own defects.
    pub bugs: u64,
    /// Programs that ran on the interpreter because that was asked for, or because they are small.
    pub interpreted: u64,
    /// Groups of lines that ran as one program. Each line counts as a program too.
    pub joined: u64,
    /// Groups of lines of which some had to run by themselves.
    pub apart: u64,
}
