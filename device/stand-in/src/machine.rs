//! A context: an emulated device that does what is queued in streams, in a thread of its own.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use weft_emulator::{Address, Device, Error, Grid, Poker, Schedule};

use crate::aside::{self, Aside};
use crate::faults;
use crate::kernels::{Kernel, emulator};
use crate::streams::{Mark, Streams};
use crate::work;

/// What a device does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Kernel { kernel: Arc<Kernel>, grid: Grid, parameters: Vec<Vec<u8>> },
    Fill { address: u64, bytes: u64, value: u8 },
    Copy { to: u64, from: u64, bytes: u64 },
}

/// A piece of work, with the numbers of those that are to be done before it.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) work: Work,
    pub(crate) after: Vec<usize>,
}

/// A context.
pub(crate) struct Machine {
    poker: Poker,
    aside: Arc<Aside>,
    shared: Arc<Shared>,
}

/// What a context and its thread have in common.
#[derive(Default)]
struct Shared {
    streams: Arc<Streams>,
    /// How many streams have been made.
    made: AtomicUsize,
    /// Ends a launch, and all after it.
    cancel: AtomicBool,
    /// What a kernel did wrong.
    fault: Mutex<Option<CString>>,
    memory: Mutex<Memory>,
    /// How many graphs are queued or run.
    graphs: AtomicU64,
}

/// The memory of a context, with a pool that keeps what is given back to it.
#[derive(Debug, Default)]
struct Memory {
    /// The buffers that are not given back, with their bytes, as the host sees it.
    buffers: BTreeMap<u64, u64>,
    /// Those that are.
    pool: Vec<Pooled>,
    /// All there is, with its bytes, and whether it is a buffer, as the device sees it where it is by now.
    places: BTreeMap<u64, (u64, bool)>,
}

/// A buffer that was given back in a stream, which has got there when the mark is passed.
#[derive(Debug)]
struct Pooled {
    address: u64,
    bytes: u64,
    stream: usize,
    freed: Arc<Mark>,
}

impl Memory {
    /// Whether an address is one of a buffer that was given back, or is not there yet.
    fn is_gone(&self, address: u64) -> bool {
        let place = self.places.range(..=address).next_back();
        place.is_some_and(|(begin, (bytes, is_there))| !is_there && address - begin < *bytes)
    }

    fn set_there(&mut self, address: u64, is_there: bool) {
        if let Some((_, there)) = self.places.get_mut(&address) {
            *there = is_there;
        }
    }

    fn used(&self) -> u64 {
        self.places.values().map(|(bytes, _)| bytes).sum()
    }

    /// Takes a buffer out of the pool: rather one that was given back in the same stream, or has been by now.
    fn take(&mut self, bytes: u64, stream: usize) -> Option<Pooled> {
        let worst = |pooled: &Pooled| pooled.stream != stream && !pooled.freed.has_passed();
        let fitting = self.pool.iter().enumerate().filter(|(_, pooled)| pooled.bytes == bytes);
        let (at, _) = fitting.min_by_key(|(_, pooled)| worst(pooled))?;
        Some(self.pool.remove(at))
    }
}

/// What is in buffers that were others before.
const GARBAGE: u8 = 0xa5;

/// How often threads may look at a word in vain. A kernel that computes for long looks now and then whether it was
/// interrupted, and whoever is to interrupt it may have to wait for a processor, and for a compiler: many minutes.
/// Threads that wait for each other for ever are found after a minute.
const PATIENCE: u64 = 1_000_000_000;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Machine {
    /// Starts one; nothing where there is no emulator.
    pub(crate) fn new() -> Option<Machine> {
        let device = Device::new(emulator()?);
        let mut device = device.unwrap_or_else(|error| panic!("{error}"));
        let (shared, poker) = (Arc::new(Shared::default()), device.poker());
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            own.streams.run(|job| {
                let stuck = lock(&own.fault).is_some() || own.cancel.load(Ordering::SeqCst);
                if !stuck && let Err(error) = job(&mut device) {
                    let text = error.to_string().replace('\0', " ");
                    *lock(&own.fault) = CString::new(text).ok();
                }
            });
        });
        Some(Machine { poker, aside: Arc::default(), shared })
    }

    /// What a kernel did wrong, if one did; the text lives as long as the process.
    pub(crate) fn fault(&self) -> Option<&'static std::ffi::CStr> {
        let text = lock(&self.shared.fault).clone()?;
        Some(Box::leak(text.into_boxed_c_str()))
    }

    /// How many streams were made before this one.
    pub(crate) fn make_stream(&self) -> usize {
        self.shared.made.fetch_add(1, Ordering::SeqCst)
    }

    /// What is queued.
    pub(crate) fn streams(&self) -> &Streams {
        &self.shared.streams
    }

    /// Does something behind all that is queued in a stream.
    pub(crate) fn queue(
        &self,
        stream: usize,
        job: impl FnOnce(&mut Device) -> Result<(), Error> + Send + 'static,
    ) {
        self.shared.streams.queue(stream, Box::new(job), false);
    }

    /// Does a step of the second stream.
    pub(crate) fn queue_aside(&self, step: aside::Step) {
        self.aside.queue(step, &self.poker, &self.shared.streams);
    }

    /// Does something behind all that is queued in a stream, or in none at once, and waits for what comes of it:
    /// nothing if that fails.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        stream: Option<usize>,
        job: impl FnOnce(&mut Device) -> Result<T, Error> + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = channel();
        let job = move |device: &mut Device| {
            // Whoever asked waits.
            drop(sender.send(job(device)?));
            Ok(())
        };
        match stream {
            Some(stream) => {
                self.queue(stream, job);
                self.shared.streams.ask();
            }
            None => self.shared.streams.do_now(Box::new(job)),
        }
        let answer = answer.recv().ok();
        if stream.is_some() {
            self.shared.streams.rest();
        }
        answer
    }

    /// A buffer, from where a stream is on: `Ok(None)` if there is no room beside what the pool keeps.
    pub(crate) fn allocate(&self, bytes: u64, stream: usize) -> Result<Option<u64>, ()> {
        let streams = &self.shared.streams;
        let mut memory = lock(&self.shared.memory);
        let pooled = memory.take(bytes, stream);
        let is_used = pooled.is_some();
        let address = match pooled {
            Some(Pooled { address, stream: before, freed, .. }) => {
                // The driver sees to it that nobody has it before the stream that gave it back is there.
                if before != stream {
                    streams.wait(stream, &freed);
                }
                address
            }
            None => {
                let all = memory.used().saturating_add(faults::lost()).saturating_add(bytes);
                if all > faults::memory() {
                    return Ok(None);
                }
                drop(memory);
                let address = self.ask(None, move |device| device.allocate(bytes, 1, "a buffer"));
                memory = lock(&self.shared.memory);
                address.ok_or(())?.0
            }
        };
        memory.buffers.insert(address, bytes);
        memory.places.entry(address).or_insert((bytes, false));
        drop(memory);
        let shared = Arc::clone(&self.shared);
        self.queue(stream, move |device| {
            lock(&shared.memory).set_there(address, true);
            // Who reads still what was there before gets something else.
            if is_used { device.fill(Address(address), bytes, GARBAGE) } else { Ok(()) }
        });
        Ok(Some(address))
    }

    /// Gives back what the pool keeps and nobody needs any more.
    pub(crate) fn trim(&self) {
        let mut memory = lock(&self.shared.memory);
        let gone = memory.pool.extract_if(.., |pooled| pooled.freed.has_passed());
        let gone: Vec<u64> = gone.map(|pooled| pooled.address).collect();
        for address in gone {
            memory.places.remove(&address);
            self.shared.streams.do_now(Box::new(move |device| device.free(Address(address))));
        }
    }

    /// The bytes that are not given back, and if a kernel did something wrong all others too: nobody gets them back by
    /// throwing the context away.
    pub(crate) fn lost_bytes(&self) -> u64 {
        match self.fault() {
            Some(_) => self.used(),
            None => lock(&self.shared.memory).buffers.values().sum(),
        }
    }

    /// The bytes of all buffers, and of those that the pool keeps.
    pub(crate) fn used(&self) -> u64 {
        lock(&self.shared.memory).used()
    }

    /// Gives a buffer back to the pool, behind all that is queued in a stream: false if there is none.
    pub(crate) fn free(&self, address: u64, stream: usize) -> bool {
        let mut memory = lock(&self.shared.memory);
        let Some(bytes) = memory.buffers.remove(&address) else { return false };
        let (shared, freed) = (Arc::clone(&self.shared), Arc::new(Mark::default()));
        self.queue(stream, move |_| {
            let mut memory = lock(&shared.memory);
            if memory.is_gone(address) {
                return Err(Error::Report(format!(
                    "{address:#x} is given back before it is there"
                )));
            }
            memory.set_there(address, false);
            Ok(())
        });
        self.shared.streams.record(stream, &freed);
        memory.pool.push(Pooled { address, bytes, stream, freed });
        true
    }

    /// Launches a kernel.
    pub(crate) fn launch(&self, stream: usize, work: Work) {
        work::asked_for();
        self.queue_work(stream, work);
    }

    /// Launches a graph of tasks.
    pub(crate) fn launch_graph(&self, stream: usize, tasks: Vec<Task>) {
        work::asked_for();
        // Of those that may be next, the last one.
        let (mut left, mut order) = ((0..tasks.len()).collect::<Vec<usize>>(), Vec::new());
        let may_be_next = |order: &[usize], number: usize| {
            tasks[number].after.iter().all(|before| order.contains(before))
        };
        while let Some(at) = left.iter().rposition(|number| may_be_next(&order, *number)) {
            order.push(left.remove(at));
        }
        let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
        let works = order.into_iter().filter_map(|number| Some(tasks[number].take()?.work));
        let shared = Arc::clone(&self.shared);
        self.queue(stream, move |_| {
            shared.graphs.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        works.for_each(|work| self.queue_work(stream, work));
        let shared = Arc::clone(&self.shared);
        self.queue(stream, move |_| {
            shared.graphs.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        });
    }

    /// Writes to a buffer behind all that is queued in a stream.
    pub(crate) fn write(&self, stream: usize, address: u64, bytes: Vec<u8>) {
        let shared = Arc::clone(&self.shared);
        self.queue(stream, move |device| device.write(shared.held(address)?, &bytes));
    }

    /// Reads from a buffer behind all that is queued in a stream, and waits for that: nothing if it fails.
    pub(crate) fn read(&self, stream: usize, address: u64, bytes: u64) -> Option<Vec<u8>> {
        let shared = Arc::clone(&self.shared);
        self.ask(Some(stream), move |device| device.read(shared.held(address)?, bytes))
    }

    /// Queues a piece of work.
    pub(crate) fn queue_work(&self, stream: usize, work: Work) {
        let (shared, is_kernel) = (Arc::clone(&self.shared), matches!(work, Work::Kernel { .. }));
        let job = Box::new(move |device: &mut Device| shared.perform(device, &work));
        self.shared.streams.queue(stream, job, is_kernel);
    }
}

impl Shared {
    /// An address, if it is not in a buffer that is not there.
    fn held(&self, address: u64) -> Result<Address, Error> {
        match lock(&self.memory).is_gone(address) {
            true => Err(Error::Report(format!(
                "{address:#x} is in a buffer that was given back, or is not there yet"
            ))),
            false => Ok(Address(address)),
        }
    }

    fn perform(&self, device: &mut Device, work: &Work) -> Result<(), Error> {
        match work {
            Work::Kernel { kernel, grid, parameters } => {
                let Kernel { name, module, .. } = &**kernel;
                let words = parameters.iter().flat_map(|bytes| bytes.chunks_exact(8));
                for word in words.filter_map(|word| word.first_chunk()) {
                    self.held(u64::from_le_bytes(*word))?;
                }
                let schedule = Schedule { patience: PATIENCE, ..Schedule::numbered(0) };
                work::begins();
                if self.graphs.load(Ordering::SeqCst) > 0 {
                    work::begins_in_graph();
                    thread::sleep(Duration::from_millis(faults::delay()));
                }
                let ran =
                    device.launch(module, name, *grid, parameters, &schedule, &self.cancel)?;
                work::ended(ran.late_accesses.unwrap_or(ran.accesses));
                Ok(())
            }
            Work::Fill { address, bytes, value } => {
                device.fill(self.held(*address)?, *bytes, *value)
            }
            Work::Copy { to, from, bytes } => {
                device.copy(self.held(*to)?, self.held(*from)?, *bytes)
            }
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The thread ends: it need not do what is queued.
        self.shared.cancel.store(true, Ordering::SeqCst);
        self.shared.streams.close();
    }
}
