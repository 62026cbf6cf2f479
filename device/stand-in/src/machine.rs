//! A context: an emulated device that does what is queued, in order, in a thread of its own.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use weft_emulator::{Address, Device, Error, Grid, Poker, Schedule};

use crate::faults;
use crate::kernels::{Kernel, emulator};
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

type Job = Box<dyn FnOnce(&mut Device) -> Result<(), Error> + Send>;

/// A context.
#[derive(Debug)]
pub(crate) struct Machine {
    jobs: Sender<Job>,
    poker: Poker,
    shared: Arc<Shared>,
}

/// What a context and its thread have in common.
#[derive(Debug, Default)]
struct Shared {
    /// Jobs that are not done.
    pending: AtomicU64,
    has_stream: AtomicBool,
    /// Ends a launch, and all after it.
    cancel: AtomicBool,
    /// What a kernel did wrong.
    fault: Mutex<Option<CString>>,
    memory: Mutex<Memory>,
}

/// The memory of a context, with a pool that keeps what is given back to it.
#[derive(Debug, Default)]
struct Memory {
    /// The buffers that are not given back, with their bytes.
    buffers: BTreeMap<u64, u64>,
    /// Those that are, by their bytes.
    pool: BTreeMap<u64, Vec<u64>>,
}

impl Memory {
    /// Whether an address is one of a buffer that was given back.
    fn is_given_back(&self, address: u64) -> bool {
        let pooled =
            self.pool.iter().flat_map(|(bytes, all)| all.iter().map(move |at| (bytes, at)));
        pooled.into_iter().any(|(bytes, begin)| (*begin..begin + bytes).contains(&address))
    }

    fn used(&self) -> u64 {
        let pooled = self.pool.iter().map(|(bytes, pooled)| bytes * pooled.len() as u64);
        self.buffers.values().sum::<u64>() + pooled.sum::<u64>()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Machine {
    /// Starts one; nothing where there is no emulator.
    pub(crate) fn new() -> Option<Machine> {
        let mut device = Device::new(emulator()?).ok()?;
        let (shared, poker) = (Arc::new(Shared::default()), device.poker());
        let (jobs, queue) = channel::<Job>();
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for job in queue {
                let stuck = lock(&own.fault).is_some() || own.cancel.load(Ordering::SeqCst);
                if !stuck && let Err(error) = job(&mut device) {
                    let text = error.to_string().replace('\0', " ");
                    *lock(&own.fault) = CString::new(text).ok();
                }
                own.pending.fetch_sub(1, Ordering::SeqCst);
            }
        });
        Some(Machine { jobs, poker, shared })
    }

    /// What a kernel did wrong, if one did; the text lives as long as the process.
    pub(crate) fn fault(&self) -> Option<&'static std::ffi::CStr> {
        let text = lock(&self.shared.fault).clone()?;
        Some(Box::leak(text.into_boxed_c_str()))
    }

    /// Whether no stream has been made so far.
    pub(crate) fn is_first_stream(&self) -> bool {
        !self.shared.has_stream.swap(true, Ordering::SeqCst)
    }

    /// Whether all is done.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.pending.load(Ordering::SeqCst) == 0
    }

    /// Does something behind all that is queued.
    pub(crate) fn queue(
        &self,
        job: impl FnOnce(&mut Device) -> Result<(), Error> + Send + 'static,
    ) {
        self.shared.pending.fetch_add(1, Ordering::SeqCst);
        if self.jobs.send(Box::new(job)).is_err() {
            self.shared.pending.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Changes four bytes at once, whatever is queued or runs.
    pub(crate) fn poke(&self, address: u64, value: u32) {
        work::poked();
        self.poker.poke(Address(address), value);
    }

    /// As [`Machine::queue`], and waits for what comes of it: nothing if that fails.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Device) -> Result<T, Error> + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = channel();
        self.queue(move |device| {
            // Whoever asked waits.
            drop(sender.send(job(device)?));
            Ok(())
        });
        answer.recv().ok()
    }

    /// A buffer: `Ok(None)` if there is no room beside what the pool keeps.
    pub(crate) fn allocate(&self, bytes: u64) -> Result<Option<u64>, ()> {
        let mut memory = lock(&self.shared.memory);
        if let Some(address) = memory.pool.get_mut(&bytes).and_then(Vec::pop) {
            memory.buffers.insert(address, bytes);
            return Ok(Some(address));
        }
        if memory.used().saturating_add(bytes) > faults::memory() {
            return Ok(None);
        }
        drop(memory);
        let address = self.ask(move |device| device.allocate(bytes, 1, "a buffer")).ok_or(())?;
        lock(&self.shared.memory).buffers.insert(address.0, bytes);
        Ok(Some(address.0))
    }

    /// Gives back what the pool keeps.
    pub(crate) fn trim(&self) {
        for address in std::mem::take(&mut lock(&self.shared.memory).pool).into_values().flatten() {
            self.queue(move |device| device.free(Address(address)));
        }
    }

    /// The bytes of all buffers, and of those that the pool keeps.
    pub(crate) fn used(&self) -> u64 {
        lock(&self.shared.memory).used()
    }

    /// Gives a buffer back to the pool, behind all that is queued: false if there is none.
    pub(crate) fn free(&self, address: u64) -> bool {
        if !lock(&self.shared.memory).buffers.contains_key(&address) {
            return false;
        }
        let shared = Arc::clone(&self.shared);
        self.queue(move |_| {
            let mut memory = lock(&shared.memory);
            if let Some(bytes) = memory.buffers.remove(&address) {
                memory.pool.entry(bytes).or_default().push(address);
            }
            Ok(())
        });
        true
    }

    /// Launches a kernel, or a graph of tasks.
    pub(crate) fn launch_all(&self, tasks: Vec<Task>) {
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
        for number in order {
            if let Some(task) = tasks[number].take() {
                self.queue_work(task.work);
            }
        }
    }

    /// Queues a piece of work.
    pub(crate) fn queue_work(&self, work: Work) {
        let shared = Arc::clone(&self.shared);
        self.queue(move |device| shared.perform(device, &work));
    }
}

impl Shared {
    fn perform(&self, device: &mut Device, work: &Work) -> Result<(), Error> {
        let held = |address: u64| match lock(&self.memory).is_given_back(address) {
            true => Err(Error::Report(format!("{address:#x} is in a buffer that was given back"))),
            false => Ok(Address(address)),
        };
        match work {
            Work::Kernel { kernel, grid, parameters } => {
                let Kernel { name, module, .. } = &**kernel;
                let words = parameters.iter().flat_map(|bytes| bytes.chunks_exact(8));
                for word in words.filter_map(|word| word.first_chunk()) {
                    held(u64::from_le_bytes(*word))?;
                }
                let schedule = Schedule::numbered(0);
                work::begins();
                let ran =
                    device.launch(module, name, *grid, parameters, &schedule, &self.cancel)?;
                work::ended(ran.late_accesses.unwrap_or(ran.accesses));
                Ok(())
            }
            Work::Fill { address, bytes, value } => device.fill(held(*address)?, *bytes, *value),
            Work::Copy { to, from, bytes } => device.copy(held(*to)?, held(*from)?, *bytes),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The thread ends when it has seen all jobs, none of which does anything now.
        self.shared.cancel.store(true, Ordering::SeqCst);
    }
}
