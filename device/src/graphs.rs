//! Turns of a loop as graphs of the driver.
//!
//! Note [Matched replay]. A graph costs the host and the device less than its kernels one by one, but it is a record of
//! values: what it does is fixed. So nothing here believes that a loop goes on as it has begun. What is asked of the
//! device is recorded; what has come twice becomes a graph; and from then on each operation that is asked for
//! is compared with the next one of the graph. If it is the same, it waits. If all of the graph has been asked for, the
//! graph is launched. If anything else comes (another operation, somebody who reads, writes or waits), those that wait
//! are launched one by one, in their order. So the device does what it was asked for and nothing else, with or without
//! graphs. What an operation is, says all that the driver is told: the kernel, the grid, the bytes of the parameters.
//! Parameters may differ in numbers that are no addresses of the run's buffers, as that of a turn: they are
//! put into the graph before it is launched.
//!
//! In a graph an operation waits for those alone that it depends on (`edges.rs`), by the buffers whose addresses are
//! among its parameters. Buffers are told apart by their first addresses, so while a graph is kept, or operations
//! wait, none that it names may be given back to the driver.

mod edges;
mod operation;
mod trace;

use std::collections::BTreeSet;

use crate::driver::{Driver, Graph, Node};
use crate::words::Failure;
use edges::{Edges, edges};
pub(crate) use operation::{Asked, Buffers, Operation, Touch};
use trace::{MOST_OPERATIONS, Pattern, Trace};

/// A pattern that repeats itself becomes a graph of so many operations or more, by repetition.
const ENOUGH: usize = 32;

/// A stretch of fewer operations is not worth a graph: on an H200, one of nine took 12 µs longer than they do one by one. Of 16,
/// which were turns without looks of the host, a graph took half as long.
const LEAST: usize = 16;

/// The most graphs that are kept.
const MOST_GRAPHS: usize = 8;

/// A graph that was begun so often in vain, one time after the other, goes.
const MOST_MISSES: u32 = 4;

/// A graph, and what it does.
#[derive(Debug)]
struct Known {
    graph: Graph,
    operations: Vec<Operation>,
    /// Those whose parameters are others than those of the graph.
    changed: BTreeSet<usize>,
    /// Of the pattern that it was made of.
    hash: u64,
    misses: u32,
}

/// A graph of which a part has been asked for.
#[derive(Debug)]
struct Begun {
    /// Which one.
    number: usize,
    /// How many operations wait.
    count: usize,
    /// Where units end in them.
    ends: Vec<usize>,
}

/// The graphs of a run, and what they may be made of.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    trace: Trace,
    /// Those that were launched last come last.
    known: Vec<Known>,
    begun: Option<Begun>,
    /// Hashes of patterns of which no graph is made any more.
    useless: BTreeSet<u64>,
    /// Whether of several checks that fail another one may come first than without graphs.
    pub(crate) reorders_checks: bool,
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matched {
    /// It waits.
    Part,
    /// It was the last one of a graph, which is to be launched.
    Whole,
    /// It is not the next one of a graph: those that wait are to be done, and then this one.
    No,
}

impl Graphs {
    /// Compares an operation with the next one of a graph, or where a unit begins, with the first of all of them.
    pub(crate) fn matched(&mut self, asked: &Asked<'_>, buffers: &Buffers) -> Matched {
        if self.begun.is_none() && self.trace.is_at_unit() {
            let begins = |known: &Known| asked.is_like(&known.operations[0], buffers);
            let number = self.known.iter().rposition(begins);
            self.begun = number.map(|number| Begun { number, count: 0, ends: Vec::new() });
        }
        let Some(begun) = &mut self.begun else { return Matched::No };
        let known = &mut self.known[begun.number];
        let next = &mut known.operations[begun.count];
        if !asked.is_like(next, buffers) {
            return Matched::No;
        }
        if next.parameters != asked.parameters {
            next.parameters = asked.parameters.to_vec();
            known.changed.insert(begun.count);
        }
        begun.count += 1;
        if begun.count == known.operations.len() { Matched::Whole } else { Matched::Part }
    }

    /// Launches the graph of which all has been asked for: how many kernels it has. If the driver has no room for it
    /// or cannot do it, all of it is to be done otherwise.
    pub(crate) fn launch(&mut self, driver: &Driver) -> Result<usize, Failure> {
        let Some(Begun { number, .. }) = self.begun else { return Ok(0) };
        let mut known = self.known.remove(number);
        let mut queue = || {
            while let Some(changed) = known.changed.pop_first() {
                let Operation { work, parameters, .. } = &known.operations[changed];
                if let Err(failure) =
                    driver.set_parameters(&known.graph, changed, *work, parameters)
                {
                    known.changed.insert(changed);
                    return Err(failure);
                }
            }
            driver.launch_graph(&known.graph)
        };
        let queued = queue();
        if queued.is_ok() {
            known.misses = 0;
            self.begun = None;
            self.trace.forget();
        }
        let kernels = known.operations.iter().filter(|operation| operation.is_kernel()).count();
        match queued {
            Ok(()) => self.known.push(known),
            Err(_) => self.known.insert(number, known),
        }
        queued.map(|()| kernels)
    }

    /// Whether operations wait.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Takes the operations that wait: they are to be done now.
    pub(crate) fn take_begun(&mut self, driver: &Driver) -> Vec<Operation> {
        let Some(Begun { number, count, ends }) = self.begun.take() else { return Vec::new() };
        let known = &mut self.known[number];
        let waiting = known.operations[..count].to_vec();
        known.misses += 1;
        if known.misses >= MOST_MISSES {
            let known = self.known.remove(number);
            self.useless.insert(known.hash);
            driver.forget_graph(known.graph);
        }
        for (at, operation) in waiting.iter().enumerate() {
            if ends.contains(&at) {
                self.trace.end_unit();
            }
            self.trace.push(operation.clone());
        }
        if ends.contains(&count) {
            self.trace.end_unit();
        }
        waiting
    }

    /// An operation has been done.
    pub(crate) fn note(&mut self, asked: &Asked<'_>, buffers: &Buffers) {
        let operation = asked.operation(buffers);
        if operation.fits_graph() {
            self.trace.push(operation);
        } else {
            self.trace.forget();
        }
    }

    /// A unit ends, as a turn of a loop is one. What has come twice becomes a graph.
    pub(crate) fn end_unit(&mut self, driver: &Driver) -> Result<(), Failure> {
        match &mut self.begun {
            Some(begun) => {
                begun.ends.push(begun.count);
                Ok(())
            }
            None => match self.trace.end_unit() {
                Some(pattern) => self.learn(pattern, driver),
                None => Ok(()),
            },
        }
    }

    /// A stretch ends; nothing waits. If there was one like it, it becomes a graph.
    pub(crate) fn end_stretch(&mut self, driver: &Driver) -> Result<(), Failure> {
        match self.trace.end_stretch() {
            Some(pattern) if pattern.operations.len() >= LEAST => self.learn(pattern, driver),
            Some(_) | None => Ok(()),
        }
    }

    fn learn(&mut self, pattern: Pattern, driver: &Driver) -> Result<(), Failure> {
        let Pattern { hash, operations: once, repeats } = pattern;
        // The same operations may come as a stretch too.
        let hash = hash ^ u64::from(repeats);
        if self.useless.contains(&hash) || self.known.iter().any(|known| known.hash == hash) {
            return Ok(());
        }
        // Powers of two, so that looking for failed checks after so many turns does not come amid a graph.
        let times = ENOUGH.div_ceil(once.len()).next_power_of_two();
        let times = if repeats { times.min(MOST_OPERATIONS / once.len()) } else { 1 };
        let operations: Vec<Operation> = (0..times).flat_map(|_| once.iter().cloned()).collect();
        let Edges { before, are_checks_in_order } = edges(operations.iter());
        self.reorders_checks |= !are_checks_in_order;
        let nodes = operations.iter().zip(before);
        let nodes = nodes.map(|(operation, after)| {
            let Operation { work, parameters, .. } = operation;
            Node { work: *work, parameters, after }
        });
        let graph = driver.graph(&nodes.collect::<Vec<_>>())?;
        if self.known.len() >= MOST_GRAPHS {
            driver.forget_graph(self.known.remove(0).graph);
        }
        let (changed, misses) = (BTreeSet::new(), 0);
        self.known.push(Known { graph, operations, changed, hash, misses });
        Ok(())
    }

    /// A buffer is given back to the driver; nothing waits. What names it is of no use any more.
    pub(crate) fn forget_buffer(&mut self, buffer: u64, driver: &Driver) {
        let names = |known: &mut Known| {
            let of = |operation: &Operation| {
                operation.touches.iter().any(|touch| touch.buffer == buffer)
            };
            known.operations.iter().any(of)
        };
        for known in self.known.extract_if(.., names) {
            driver.forget_graph(known.graph);
        }
        self.trace.forget();
    }

    /// Forgets everything, also what waits.
    pub(crate) fn clear(&mut self, driver: &Driver) {
        let Graphs { known, reorders_checks, .. } = std::mem::take(self);
        self.reorders_checks = reorders_checks;
        known.into_iter().for_each(|known| driver.forget_graph(known.graph));
    }
}
