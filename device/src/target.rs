//! One run on the device: what [`weft_cuda`] asks a device for, as calls of the driver.
//!
//! Note [Waiting for the device]. Nothing here waits for the device without looking at the flag that
//! interrupts the run. Launches are queued in slices: when one is queued, the one before the last must be
//! done. When somebody interrupts, what is queued is told to end: a kernel that has not begun does nothing, one
//! that runs ends when it looks at the word that says so. As the other streams have joined the first one by then, the next run
//! simply comes behind it. What waits for its graph (Note [Matched replay]) is queued before the device is waited for,
//! and what is in other streams is joined with the first one (Note [Streams of a run]).

mod inputs;
mod ordered;
mod repeated;
mod room;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use weft_cuda::{Access, Broken, Output, Target, Weight};
use weft_ir::{Column, Identity};

use crate::deferred::{Deferred, Kept, MOST_DEPTH, Origin};
use crate::driver::{Event, Function, Work};
use crate::graphs::{Asked, Graphs};
use crate::kernels::{Loading, NotLoaded};
use crate::spare::Spare;
use crate::state::{Loaded, State};
use crate::streams::{Beside, FIRST, Streams};
use crate::summary::Tools;
use crate::words::Failure;
use inputs::Inputs;

/// Launches of a slice.
const SLICE: usize = 64;

/// From so many bytes on a result stays on the device.
const LARGE: usize = 4096;

/// Up to so many bytes the driver copies from memory that is not pinned without waiting for what is queued.
const STAGED: usize = 64 << 10;

/// Of what is cleared before a run this part is read, in so many pieces.
const READ: u64 = 8;
const PIECES: u64 = 64;

/// What a run has moved, and how long parts of it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes copied to the device.
    pub uploaded: u64,
    /// Bytes of inputs that were there already.
    pub reused: u64,
    /// Bytes copied to the device beside kernels of the same run.
    pub overlapped: u64,
    /// Bytes copied from the device.
    pub downloaded: u64,
    /// The time that copying to the device took here.
    pub upload: Duration,
    /// The time that copying from the device took, without waiting for kernels.
    pub download: Duration,
    /// How long the run waited for the compiler, and for the kernels to be loaded.
    pub compile: Duration,
    /// From the first to the last thing that the device did, by its own clock, but for what looks at whether
    /// it failed and at results.
    pub on_device: Duration,
    /// Whether the code of the kernels was there.
    pub cached: bool,
    /// Kernels launched beside others, by functions; a kernel of a plan may be several.
    pub beside: u64,
    /// Graphs launched.
    pub graphs: u64,
    /// Functions launched as parts of them; a kernel of a plan may be several.
    pub in_graphs: u64,
}

/// Bytes that the device may still read.
pub(crate) enum Source {
    Bytes(Vec<u8>),
    Column(Column),
}

impl Source {
    fn bytes(&self) -> &[u8] {
        match self {
            Source::Bytes(bytes) => bytes,
            Source::Column(column) => weft_cuda::elements::bytes(column),
        }
    }
}

/// A run.
pub(crate) struct DeviceTarget<'a> {
    state: &'a mut State,
    loading: Loading<'a>,
    /// Nothing if all results are fetched at once.
    results: Option<Results>,
    /// How many dirty results the inputs are made of, one after the other.
    depth: u32,
    cancel: &'a AtomicBool,
    /// The buffers of this run, with their bytes.
    own: BTreeMap<u64, u64>,
    held: u64,
    inputs: Inputs,
    /// Those that are kept between turns of loops.
    spare: Spare,
    graphs: Graphs,
    streams: Streams,
    ways: Ways,
    pinned: Vec<Identity>,
    launched: usize,
    /// Behind the last kernel.
    last: Option<Event>,
    slices: VecDeque<Event>,
    pub(crate) traffic: Traffic,
    /// Why the device is of no use any more.
    lost: Option<String>,
}

/// What results need that stay on the device.
pub(crate) struct Results {
    /// Where they stay.
    pub(crate) device: Weak<Mutex<Result<State, String>>>,
    pub(crate) origin: Arc<Origin>,
    /// What compiles programs about them.
    pub(crate) tools: Arc<Tools>,
}

/// How work may come to the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    /// Whether graphs are made of what repeats itself.
    pub(crate) graphs: bool,
    /// Which kernels go to further streams.
    pub(crate) streams: Beside,
}

impl Ways {
    /// One after the other.
    pub(crate) const PLAIN: Ways = Ways { graphs: false, streams: Beside::Nothing };
}

impl<'a> DeviceTarget<'a> {
    pub(crate) fn new(
        state: &'a mut State,
        loading: Loading<'a>,
        results: Option<Results>,
        ways: Ways,
        cancel: &'a AtomicBool,
    ) -> DeviceTarget<'a> {
        DeviceTarget {
            state,
            loading,
            results,
            depth: 0,
            cancel,
            own: BTreeMap::new(),
            held: 0,
            inputs: Inputs::default(),
            spare: Spare::default(),
            graphs: Graphs::default(),
            streams: Streams::default(),
            ways,
            pinned: Vec::new(),
            launched: 0,
            last: None,
            slices: VecDeque::new(),
            traffic: Traffic::default(),
            lost: None,
        }
    }

    /// Has the compiler begin, if the kernels are not there.
    pub(crate) fn prepare(&mut self) -> Result<(), Broken> {
        let begun = self.loading.begin(self.state);
        self.loaded(begun)
    }

    /// Gives everything back that the run has. Why the device is of no use any more, if it is not.
    pub(crate) fn end(&mut self) -> Option<String> {
        let interrupted = self.launched > 0 && self.cancel.load(Ordering::Relaxed);
        if interrupted && self.lost.is_none() {
            let told = self.state.driver.end_kernels();
            // Noted with the others.
            drop(self.checked(told));
        }
        self.launched = 0;
        if self.lost.is_none() {
            // Noted with the others.
            drop(self.join());
        }
        // What waits is of no interest any more.
        self.graphs.clear(&self.state.driver);
        for identity in self.pinned.drain(..) {
            self.state.table.unpin(&identity);
        }
        for mark in self.slices.drain(..).chain(self.last.take()) {
            self.state.driver.forget(mark);
        }
        let absent = self.take_absent_inputs();
        let own = std::mem::take(&mut self.own).into_keys();
        // Where a join has failed.
        let late = self.streams.take_late();
        for address in own.chain(self.spare.take_all()).chain(absent).chain(late) {
            // Also of a device that is lost, as its pool may outlive the context. Noted with the others.
            let freed = self.state.driver.free(address, FIRST);
            if self.checked(freed).is_err() {
                self.state.give_back_later(address);
            }
        }
        self.lost.clone()
    }

    /// Whether of several checks that fail another one may come first than in the program.
    pub(crate) fn reorders_checks(&self) -> bool {
        self.streams.reorders_checks || self.graphs.reorders_checks
    }

    /// Has the device clear its caches, unless these are no bytes. What it clears last is in the caches and not yet in memory,
    /// and would be written there beside the first kernel. So it reads something else behind that, an eighth, by copying
    /// pieces that are all put into one place, of which alone the caches then have something that memory has not.
    pub(crate) fn clear_caches(&mut self, bytes: u64) -> Result<(), Broken> {
        if bytes == 0 {
            return Ok(());
        }
        let known = self.state.cleared.filter(|(_, known)| *known == bytes);
        let address = match known {
            Some((address, _)) => address,
            None => {
                let given_back = self.state.give_back_cleared();
                self.checked(given_back)?;
                let address = self.room(bytes)?;
                self.state.cleared = Some((address, bytes));
                address
            }
        };
        let piece = bytes / (READ * PIECES);
        // Neither of the first nor of the last that was cleared.
        let from = |number: u64| address + bytes / 2 + number * piece;
        let copy = |number| Work::Copy { to: address, from: from(number), bytes: piece };
        let copies = (0..PIECES).filter(|_| piece > 0).map(copy);
        for work in [Work::Clear { address, bytes }].into_iter().chain(copies) {
            let queued = self.state.driver.queue(work, &[], FIRST);
            self.checked(queued)?;
        }
        Ok(())
    }

    /// Forgets a mark.
    pub(crate) fn forget(&mut self, mark: Event) {
        self.state.driver.forget(mark);
    }

    /// A mark behind all that was asked for.
    pub(crate) fn mark(&mut self) -> Result<Event, Broken> {
        self.end_stretch()?;
        self.mark_queued()
    }

    /// A mark behind all that is queued.
    fn mark_queued(&mut self) -> Result<Event, Broken> {
        self.join()?;
        let mark = self.state.driver.mark();
        self.checked(mark)
    }

    /// Waits for the end of all, and notes the time since a mark.
    pub(crate) fn finish(&mut self, begin: Event) -> Result<(), Broken> {
        self.traffic.beside = self.streams.beside;
        let time = self.wait().and_then(|()| match &self.last {
            None => Ok(Duration::ZERO),
            Some(end) => {
                let time = self.state.driver.between(&begin, end);
                self.checked(time)
            }
        });
        self.state.driver.forget(begin);
        self.traffic.on_device = time?;
        Ok(())
    }

    /// Takes what a call says; anything but a lack of memory is the end of the device.
    fn checked<T>(&mut self, result: Result<T, Failure>) -> Result<T, Broken> {
        result.map_err(|failure| {
            let why = failure.to_string();
            self.lost.get_or_insert_with(|| why.clone());
            Broken::Lost(why)
        })
    }

    /// Waits until the device is idle (Note [Waiting for the device]).
    fn wait(&mut self) -> Result<(), Broken> {
        self.end_stretch()?;
        self.join()?;
        self.wait_until(|target| target.state.driver.is_idle())?;
        self.state.sources.clear();
        Ok(())
    }

    fn wait_until(
        &mut self,
        done: impl Fn(&DeviceTarget<'_>) -> Result<bool, Failure>,
    ) -> Result<(), Broken> {
        let mut patience = Patience::new();
        loop {
            let answer = done(self);
            if self.checked(answer)? {
                return Ok(());
            }
            patience.pass(self.cancel)?;
        }
    }

    fn function(&mut self, name: &str) -> Result<Function, Broken> {
        let loaded = self.wait_for_code(name)?;
        Ok(self.state.function(loaded, name).expect("a function of that unit"))
    }

    /// Waits for the code of a function.
    fn wait_for_code(&mut self, name: &str) -> Result<Loaded, Broken> {
        if let Some(loaded) = self.loading.loaded(name) {
            return Ok(loaded);
        }
        let (begun, upload) = (Instant::now(), self.traffic.upload);
        let mut patience = Patience::new();
        loop {
            // Note [Loading waits for the device].
            let is_compiled = self.loading.is_compiled(name);
            if is_compiled {
                self.wait()?;
            }
            let answer = self.loading.load(self.state, name, is_compiled);
            if let Some(loaded) = self.loaded(answer)? {
                let uploads = self.traffic.upload - upload;
                self.traffic.compile += begun.elapsed().saturating_sub(uploads);
                return Ok(loaded);
            }
            if !self.bring_any_input()? {
                patience.pass(self.cancel)?;
            }
        }
    }

    fn loaded<T>(&mut self, answer: Result<T, NotLoaded>) -> Result<T, Broken> {
        match answer {
            Ok(loaded) => Ok(loaded),
            Err(NotLoaded::Driver(failure)) => self.checked(Err(failure)),
            Err(NotLoaded::Compiler(said)) => Err(Broken::Lost(said)),
        }
    }

    /// Queues a copy to a buffer in a stream.
    fn upload(&mut self, address: u64, source: Source, stream: usize) -> Result<(), Broken> {
        self.end_stretch()?;
        let begun = Instant::now();
        self.traffic.uploaded += source.bytes().len() as u64;
        let written = self.state.driver.write(address, source.bytes(), stream);
        // The device may read the bytes, which do not move, until it is idle.
        self.state.sources.push(source);
        self.traffic.upload += begun.elapsed();
        self.checked(written)
    }
}

/// Waits longer and longer between looks, at first not at all, and no longer than a twentieth of what it has waited.
struct Patience {
    begun: Instant,
    looks: u32,
}

impl Patience {
    fn new() -> Patience {
        Patience { begun: Instant::now(), looks: 0 }
    }

    fn pass(&mut self, cancel: &AtomicBool) -> Result<(), Broken> {
        /// A sleep takes some 50 µs longer than is asked for.
        const LEAST: Duration = Duration::from_micros(50);
        const MOST: Duration = Duration::from_millis(1);
        if cancel.load(Ordering::Relaxed) {
            return Err(Broken::Interrupted);
        }
        self.looks += 1;
        if self.looks < 100 {
            std::hint::spin_loop();
            return Ok(());
        }
        match (self.begun.elapsed() / 20).min(MOST).checked_sub(LEAST) {
            None => thread::yield_now(),
            Some(time) => thread::sleep(time.max(LEAST / 10)),
        }
        Ok(())
    }
}

impl Target for DeviceTarget<'_> {
    fn failure(&mut self) -> Option<u64> {
        Some(self.state.driver.word())
    }

    fn allocate(&mut self, bytes: u64, _element: usize, _name: &str) -> Result<u64, Broken> {
        let address = match self.spare.take(bytes) {
            Some(address) => address,
            None => self.room(bytes)?,
        };
        self.spare.note(address, bytes);
        self.streams.made(address);
        self.own.insert(address, bytes);
        self.held += bytes;
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<(), Broken> {
        let Some(bytes) = self.own.remove(&address) else { return Ok(()) };
        self.held -= bytes;
        if self.spare.is_in_loop() {
            self.spare.put(address, bytes);
            return Ok(());
        }
        self.free_in_order(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Broken> {
        // Nobody touches it meanwhile: it is new, or the host has just waited for all.
        if self.launched > 0 && bytes.len() > STAGED {
            // Behind what is queued, the driver might wait for that, and could not be interrupted.
            self.wait()?;
        }
        self.streams.made(address);
        let stream = self.streams.current();
        self.upload(address, Source::Bytes(bytes.to_vec()), stream)
    }

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Broken> {
        self.bring_input_at(address)?;
        self.wait()?;
        let begun = Instant::now();
        let read = self.state.driver.read(address, into);
        self.checked(read)?;
        self.traffic.downloaded += into.len() as u64;
        self.traffic.download += begun.elapsed();
        Ok(())
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Broken> {
        match bytes {
            0 => Ok(()),
            _ => self.perform(Asked::plain(Work::Copy { to, from, bytes })),
        }
    }

    fn clear(&mut self, address: u64, bytes: u64) -> Result<(), Broken> {
        match bytes {
            0 => Ok(()),
            _ => self.perform(Asked::plain(Work::Clear { address, bytes })),
        }?;
        if address == self.state.driver.word() {
            let marked = self.state.driver.word_is_cleared();
            self.checked(marked)?;
        }
        Ok(())
    }

    fn launch(
        &mut self,
        entry: &str,
        blocks: u32,
        threads: u32,
        parameters: &[Vec<u8>],
        access: Access<'_>,
    ) -> Result<(), Broken> {
        let function = self.function(entry)?;
        let work = Work::Kernel { function, blocks, threads };
        self.perform(Asked { work, parameters, access })
    }

    fn begin_kernel(&mut self, reads: &[u64], weight: Weight) -> Result<(), Broken> {
        self.kernel_begins(reads, weight)
    }

    fn end_kernel(&mut self) {
        self.streams.end_kernel();
    }

    fn begin_loop(&mut self, number: usize) -> Result<(), Broken> {
        self.loop_begins(number)
    }

    fn end_turn(&mut self) -> Result<(), Broken> {
        self.turn_ends()
    }

    fn end_loop(&mut self) -> Result<(), Broken> {
        self.loop_ends()
    }

    fn end_kernels(&mut self) -> Result<(), Broken> {
        let last = self.mark()?;
        self.last = Some(last);
        Ok(())
    }

    fn resident(&mut self, elements: &Column) -> Result<Option<u64>, Broken> {
        let Some(identity) = elements.identity() else { return Ok(None) };
        let bytes = weft_cuda::elements::byte_count(elements);
        self.depth = self.depth.max(self.state.table.depth_of(&identity));
        if let Some(address) = self.state.table.pin(&identity) {
            // The same array may be two inputs, of which the first has not come yet.
            if !self.inputs.is_absent(address) {
                self.traffic.reused += bytes;
            }
            self.pinned.push(identity);
            return Ok(Some(address));
        }
        let address = self.room(bytes)?;
        // From here on the table gives it back.
        self.state.table.insert(identity.clone(), address, bytes);
        self.state.table.pin(&identity);
        self.pinned.push(identity.clone());
        self.expect_input(address, identity, elements.clone())?;
        Ok(Some(address))
    }

    fn defer(&mut self, address: u64, output: Output) -> Option<Column> {
        let &held = self.own.get(&address)?;
        let Output { leaf, count, element } = output;
        let needed = (count * element.bytes()) as u64;
        // Small ones are looked at soon, and what is made of many results holds too much.
        if self.results.is_none() || needed < LARGE as u64 || self.depth >= MOST_DEPTH {
            return None;
        }
        let (address, bytes) = match held > 2 * needed {
            true => (self.moved_closer(address, needed)?, needed),
            false => (address, held),
        };
        let results = self.results.as_ref()?;
        let (context, depth) = (self.state.number, self.depth + 1);
        let kept = Kept { context, address, count, element, depth };
        let (device, origin) = (results.device.clone(), Arc::clone(&results.origin));
        let deferred = Deferred::new(device, kept, Arc::clone(&results.tools), (origin, leaf));
        let column = deferred.column();
        let identity = column.identity()?;
        self.state.table.insert_deferred(identity, address, bytes, Arc::downgrade(&deferred));
        self.own.remove(&address);
        self.held -= bytes;
        Some(column)
    }

    fn keep(&mut self, address: u64, elements: &Column) {
        let (Some(identity), Some(&bytes)) = (elements.identity(), self.own.get(&address)) else {
            return;
        };
        // A filter has room for all that it might have kept.
        let needed = weft_cuda::elements::byte_count(elements);
        if bytes <= needed.saturating_mul(2) && self.state.table.insert(identity, address, bytes) {
            self.own.remove(&address);
            self.held -= bytes;
        }
    }
}

impl DeviceTarget<'_> {
    /// A buffer of no more than these bytes, with what is at the beginning of one that has room for much more: a filter has
    /// room for all that it might have kept. Nothing if there is no room for both, or the device is of no use any more.
    fn moved_closer(&mut self, from: u64, bytes: u64) -> Option<u64> {
        let to = self.allocate(bytes, 1, "result").ok()?;
        self.copy(to, from, bytes).ok()?;
        Some(to)
    }
}

impl Drop for DeviceTarget<'_> {
    fn drop(&mut self) {
        // Nothing is left to do but after a panic.
        drop(self.end());
    }
}
