//! The calls of the driver, with what makes them sound.
//!
//! Note [Handles of the driver]. A [`Driver`] owns a context, a pool, and streams: the first one, one aside, through
//! which comes only the word that ends work ([`Driver::end_kernels`]), and others if they are asked for. Buffers may be
//! given back in a stream as soon as the last work on them is queued in it, or the stream waits for it; which streams
//! have to wait for which, those know who ask (Note [Streams of a run]). A graph is one piece of work in the first one. Every function
//! is called with the context current ([`Driver::enter`]), with handles that this driver has made and has
//! not destroyed, and with addresses from its pool. That kernels stay in their buffers is the business of
//! those who write them; if they do not, the device says so, and no memory of the host is touched.
#![allow(unsafe_code, reason = "calls of a C library; each block says why it is sound")]

mod graphs;

pub(crate) use graphs::{Graph, Node};

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::ptr;
use std::time::Duration;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use crate::streams::{FIRST, STREAMS};
use crate::words::Failure;

/// A context on a device, with a stream and a pool.
#[derive(Debug)]
pub(crate) struct Driver {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    aside: sys::CUstream,
    /// Those beside the first one, if they were asked for.
    others: Vec<sys::CUstream>,
    /// An event for each, the first one's first.
    events: Vec<sys::CUevent>,
    pool: sys::CUmemoryPool,
    /// The address of the word that says whether kernels go on.
    word: u64,
    /// Marks that were given back.
    marks: RefCell<Vec<Event>>,
    /// Behind what has cleared the word last, so that what it says then comes later.
    cleared: sys::CUevent,
    /// What the word says when somebody interrupts. Memory that is pinned, so that copying never waits.
    interrupted: *mut c_void,
}

/// So many marks are kept to be used again.
const MOST_MARKS: usize = 8;

/// The bytes of the word that says whether kernels go on.
const WORD: usize = 4;

// SAFETY: the handles are not bound to a thread; the context is made current where they are used.
unsafe impl Send for Driver {}

/// Machine code on the device.
#[derive(Debug)]
pub(crate) struct Module(sys::CUmodule);

// SAFETY: as for `Driver`.
unsafe impl Send for Module {}

/// A kernel of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: as for `Driver`.
unsafe impl Send for Function {}

#[cfg(test)]
impl Function {
    /// One that cannot be launched, to tell operations apart.
    pub(crate) fn numbered(number: usize) -> Function {
        Function(ptr::without_provenance_mut(number))
    }
}

/// Work of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    /// Runs a kernel.
    Kernel { function: Function, blocks: u32, threads: u32 },
    /// Makes all bytes zero.
    Clear { address: u64, bytes: u64 },
    /// Copies on the device.
    Copy { to: u64, from: u64, bytes: u64 },
}

/// A place in the stream.
#[derive(Debug)]
pub(crate) struct Event(sys::CUevent);

// SAFETY: as for `Driver`.
unsafe impl Send for Event {}

/// What the driver says of a device.
#[derive(Clone, Debug)]
pub(crate) struct Properties {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) architecture: (u32, u32),
    pub(crate) multiprocessors: u32,
}

fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| Failure { action, error }
}

/// Whether there is a library of the driver.
pub(crate) fn is_present() -> bool {
    // SAFETY: the library is the system's own; loading it runs nothing but its initialisation.
    unsafe { sys::is_culib_present() }
}

/// Prepares the driver; the release of CUDA that it is for, and how many devices there are. The library
/// must be present.
pub(crate) fn initialise() -> Result<((u32, u32), u32), Failure> {
    let mut version = 0;
    // SAFETY: the pointer is to a number that lives during the call.
    let answer = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
    answer.map_err(failed("asking for the version"))?;
    result::init().map_err(failed("starting the driver"))?;
    let count = result::device::get_count().map_err(failed("counting devices"))?;
    let version = version as u32;
    Ok(((version / 1000, version % 1000 / 10), count as u32))
}

/// What a device is. The driver must be initialised.
pub(crate) fn properties(number: u32) -> Result<Properties, Failure> {
    let failed = failed("describing a device");
    let device = result::device::get(number as i32).map_err(&failed)?;
    let attribute = |attribute| {
        // SAFETY: the device comes from the driver.
        let value = unsafe { result::device::get_attribute(device, attribute) };
        value.map(|value| value as u32).map_err(&failed)
    };
    use sys::CUdevice_attribute_enum as Attribute;
    Ok(Properties {
        name: result::device::get_name(device).map_err(&failed)?,
        // SAFETY: the device comes from the driver.
        bytes: unsafe { result::device::total_mem(device) }.map_err(&failed)? as u64,
        architecture: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
    })
}

impl Driver {
    /// A context on a device, current in this thread. The driver must be initialised.
    pub(crate) fn open(number: u32) -> Result<Driver, Failure> {
        let failed = failed("opening the device");
        let device = result::device::get(number as i32).map_err(&failed)?;
        // One of its own: it may be thrown away without harm to others in this process.
        // SAFETY: the device comes from the driver, and no parameters is what most contexts have.
        let context = unsafe { result::ctx::create_v4(ptr::null_mut(), 0, device) };
        let context = context.map_err(&failed)?;
        let (stream, aside, pool) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (others, events) = (Vec::new(), Vec::new());
        let (word, marks, cleared) = (0, RefCell::default(), ptr::null_mut());
        let mut driver = Driver {
            device,
            context,
            stream,
            aside,
            others,
            events,
            pool,
            word,
            marks,
            cleared,
            interrupted: ptr::null_mut(),
        };
        match driver.begin() {
            Ok(()) => Ok(driver),
            Err(error) => {
                driver.abandon();
                Err(failed(error))
            }
        }
    }

    /// Makes the stream and the pool, which keeps what is given back to it.
    fn begin(&mut self) -> Result<(), DriverError> {
        // SAFETY: the context was just made.
        unsafe { result::ctx::set_current(self.context) }?;
        self.stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        self.aside = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        let properties = sys::CUmemPoolProps {
            allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: self.device,
            },
            win32SecurityAttributes: ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // No stream is to wait for another one only to take its buffer.
        let reuse = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
        let (mut everything, mut never) = (u64::MAX, 0_i32);
        self.cleared = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        // SAFETY: the properties and the values, a `u64` and an `int` as these attributes have them, live during the
        // calls.
        unsafe {
            self.pool = result::mem_pool::create(&raw const properties)?;
            result::mem_pool::set_attribute(self.pool, threshold, (&raw mut everything).cast())?;
            result::mem_pool::set_attribute(self.pool, reuse, (&raw mut never).cast())?;
            self.interrupted = result::malloc_host(WORD, 0)?;
            self.interrupted.cast::<[u8; WORD]>().write([0xff; WORD]);
            self.word = result::mem_pool::alloc_async(self.pool, WORD, self.stream)?;
            // The other stream may use it from now on.
            result::stream::synchronize(self.stream)
        }
    }

    /// The address of the word that says whether kernels go on: four bytes.
    pub(crate) fn word(&self) -> u64 {
        self.word
    }

    /// The word is cleared behind all that is queued in the first stream: what ends kernels then comes later.
    pub(crate) fn word_is_cleared(&self) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver].
        unsafe { result::event::record(self.cleared, self.stream) }
            .map_err(failed("marking a place in the stream"))
    }

    /// Tells the kernels that run, and those that are queued, to end as soon as they look. What is queued from
    /// now on comes behind that. The copy needs no multiprocessor, so it does not wait for them.
    pub(crate) fn end_kernels(&self) -> Result<(), Failure> {
        let failed = failed("ending kernels");
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
        let event = event.map_err(&failed)?;
        // SAFETY: Note [Handles of the driver]; the word is no buffer of anybody else's, nobody writes to the bytes
        // again, and the event lives until the calls that name it are made.
        let told = unsafe {
            let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            let bytes: &[u8; WORD] = &*self.interrupted.cast();
            result::stream::wait_event(self.aside, self.cleared, flags)
                .and_then(|()| result::memcpy_htod_async(self.word, bytes, self.aside))
                .and_then(|()| result::event::record(event, self.aside))
                .and_then(|()| result::stream::wait_event(self.stream, event, flags))
        };
        // It only fails where the context is gone, and the event with it.
        // SAFETY: Note [Handles of the driver]; the event is forgotten.
        let _ = unsafe { result::event::destroy(event) };
        told.map_err(failed)
    }

    /// Makes the context current in this thread: before anything else here, in every thread.
    pub(crate) fn enter(&self) -> Result<(), Failure> {
        // SAFETY: the context lives as long as this.
        unsafe { result::ctx::set_current(self.context) }.map_err(failed("entering the context"))
    }

    /// Ends the context, whatever state it is in, with all that it has: buffers, modules, events.
    pub(crate) fn abandon(self) {
        // The stream and the pool go with the context; what fails here fails because it is gone.
        // SAFETY: Note [Handles of the driver]; this is the end of them all.
        unsafe {
            if !self.pool.is_null() {
                let _ = result::mem_pool::destroy(self.pool);
            }
            let marks = self.marks.into_inner().into_iter().map(|Event(event)| event);
            for event in self.events.into_iter().chain(marks).chain([self.cleared]) {
                if !event.is_null() {
                    let _ = result::event::destroy(event);
                }
            }
            for stream in [self.stream, self.aside].into_iter().chain(self.others) {
                if !stream.is_null() {
                    let _ = result::stream::destroy(stream);
                }
            }
            if !self.interrupted.is_null() {
                let _ = result::free_host(self.interrupted);
            }
            let _ = sys::cuCtxDestroy_v2(self.context);
        }
    }

    /// A buffer, whose bytes are garbage, for work in that stream.
    pub(crate) fn allocate(&self, bytes: u64, stream: usize) -> Result<u64, Failure> {
        // The driver has no empty buffers.
        let bytes = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        // SAFETY: Note [Handles of the driver].
        let address =
            unsafe { result::mem_pool::alloc_async(self.pool, bytes, self.stream(stream)) };
        address.map_err(failed("allocating memory"))
    }

    /// Gives a buffer back, behind all work that is queued in a stream.
    pub(crate) fn free(&self, address: u64, stream: usize) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver]; whoever gives it back forgets the address.
        unsafe { result::free_async(address, self.stream(stream)) }
            .map_err(failed("freeing memory"))
    }

    /// Copies to the device. The bytes must stay as they are until the stream is idle.
    pub(crate) fn write(&self, address: u64, bytes: &[u8], stream: usize) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: Note [Handles of the driver]; the caller keeps the bytes.
        let copied = unsafe { result::memcpy_htod_async(address, bytes, self.stream(stream)) };
        copied.map_err(failed("copying to the device"))
    }

    /// Copies from the device, behind all work that is queued in the first stream, and waits.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Failure> {
        if into.is_empty() {
            return Ok(());
        }
        let failed = failed("copying from the device");
        // SAFETY: Note [Handles of the driver]; nobody else sees the bytes before the stream has been
        // waited for. If that fails, the context is of no use, and nothing is copied any more.
        unsafe {
            result::memcpy_dtoh_async(into, address, self.stream).map_err(&failed)?;
            result::stream::synchronize(self.stream).map_err(&failed)
        }
    }

    /// Copies on the device.
    fn copy(&self, to: u64, from: u64, bytes: u64, stream: usize) -> Result<(), Failure> {
        if bytes == 0 {
            return Ok(());
        }
        let stream = self.stream(stream);
        // SAFETY: Note [Handles of the driver].
        let copied = unsafe { result::memcpy_dtod_async(to, from, bytes as usize, stream) };
        copied.map_err(failed("copying on the device"))
    }

    /// Makes all bytes zero.
    fn clear(&self, address: u64, bytes: u64, stream: usize) -> Result<(), Failure> {
        if bytes == 0 {
            return Ok(());
        }
        let stream = self.stream(stream);
        // SAFETY: Note [Handles of the driver].
        let cleared = unsafe { result::memset_d8_async(address, 0, bytes as usize, stream) };
        cleared.map_err(failed("clearing memory"))
    }

    /// Whether all that was queued in the first stream is done.
    pub(crate) fn is_idle(&self) -> Result<bool, Failure> {
        // SAFETY: Note [Handles of the driver].
        answered(unsafe { sys::cuStreamQuery(self.stream) }, "running kernels")
    }

    /// Waits for all that was queued in the first stream, for who knows that it does not take long.
    pub(crate) fn settle(&self) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver].
        unsafe { result::stream::synchronize(self.stream) }
            .map_err(failed("waiting for the stream"))
    }

    /// Gives back to the system what the pool does not need.
    pub(crate) fn trim(&self) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver].
        unsafe { result::mem_pool::trim_to(self.pool, 0) }.map_err(failed("trimming the pool"))
    }

    /// Loads machine code, or PTX that ends with a zero.
    pub(crate) fn load(&self, image: &[u8]) -> Result<Module, Failure> {
        // SAFETY: the image comes from the compiler, says its own length, and lives during the call.
        let module = unsafe { result::module::load_data(image.as_ptr().cast::<c_void>()) };
        module.map(Module).map_err(failed("loading kernels"))
    }

    /// Forgets machine code, of which nothing may be queued any more.
    pub(crate) fn unload(&self, module: Module) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver]; its functions are forgotten with it.
        unsafe { result::module::unload(module.0) }.map_err(failed("unloading kernels"))
    }

    /// A kernel.
    pub(crate) fn function(&self, module: &Module, name: &str) -> Result<Function, Failure> {
        let text = CString::new(name).expect("names of kernels have no zeros");
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(module.0, text) };
        function.map(Function).map_err(failed("finding a kernel"))
    }

    /// Queues work in a stream, with the parameters of a kernel.
    pub(crate) fn queue(
        &self,
        work: Work,
        parameters: &[Vec<u8>],
        stream: usize,
    ) -> Result<(), Failure> {
        match work {
            Work::Kernel { function, blocks, threads } => {
                self.launch(function, (blocks, threads), parameters, stream)
            }
            Work::Clear { address, bytes } => self.clear(address, bytes, stream),
            Work::Copy { to, from, bytes } => self.copy(to, from, bytes, stream),
        }
    }

    /// Queues a kernel with the bytes of its parameters.
    fn launch(
        &self,
        function: Function,
        (blocks, threads): (u32, u32),
        parameters: &[Vec<u8>],
        stream: usize,
    ) -> Result<(), Failure> {
        let mut parameters = Parameters::new(parameters);
        let (grid, block, stream) = ((blocks, 1, 1), (threads, 1, 1), self.stream(stream));
        // SAFETY: the parameters are those of the kernel, by the one who wrote it; the driver copies
        // them before it returns.
        let launched = unsafe {
            let pointers = &mut parameters.pointers;
            result::launch_kernel(function.0, grid, block, 0, stream, pointers)
        };
        launched.map_err(failed("launching a kernel"))
    }

    /// A stream by its number.
    fn stream(&self, number: usize) -> sys::CUstream {
        match number {
            FIRST => self.stream,
            number => self.others[number - 1],
        }
    }

    /// Makes the streams beside the first one, unless they are there.
    pub(crate) fn make_streams(&mut self) -> Result<(), Failure> {
        let failed = failed("making streams");
        while self.others.len() + 1 < STREAMS {
            let other = result::stream::create(result::stream::StreamKind::NonBlocking);
            self.others.push(other.map_err(&failed)?);
        }
        while self.events.len() < STREAMS {
            let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING);
            self.events.push(event.map_err(&failed)?);
        }
        Ok(())
    }

    /// Records the event of a stream behind all work that is queued in it.
    pub(crate) fn record(&self, stream: usize) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver].
        let recorded = unsafe { result::event::record(self.events[stream], self.stream(stream)) };
        recorded.map_err(failed("marking a place in a stream"))
    }

    /// What is queued in a stream from now on waits for what the event of another one has recorded last.
    pub(crate) fn wait_for(&self, stream: usize, other: usize) -> Result<(), Failure> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        let (stream, event) = (self.stream(stream), self.events[other]);
        // SAFETY: Note [Handles of the driver].
        let waits = unsafe { result::stream::wait_event(stream, event, flags) };
        waits.map_err(failed("waiting for another stream"))
    }

    /// A mark behind all work that is queued in the first stream.
    pub(crate) fn mark(&self) -> Result<Event, Failure> {
        let failed = failed("marking a place in the stream");
        let known = self.marks.borrow_mut().pop().map(|Event(event)| event);
        let new = || result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let event = known.map_or_else(new, Ok).map_err(&failed)?;
        // SAFETY: Note [Handles of the driver]; nobody else has the event.
        match unsafe { result::event::record(event, self.stream) } {
            Ok(()) => Ok(Event(event)),
            Err(error) => {
                self.forget(Event(event));
                Err(failed(error))
            }
        }
    }

    /// Whether all before a mark is done.
    pub(crate) fn has_passed(&self, event: &Event) -> Result<bool, Failure> {
        // SAFETY: the event was recorded and is not destroyed.
        answered(unsafe { sys::cuEventQuery(event.0) }, "running kernels")
    }

    /// The time between two marks, which must both have passed.
    pub(crate) fn between(&self, first: &Event, last: &Event) -> Result<Duration, Failure> {
        // SAFETY: both were recorded in the stream and are not destroyed.
        let milliseconds = unsafe { result::event::elapsed(first.0, last.0) };
        let milliseconds = milliseconds.map_err(failed("measuring time"))?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }

    /// Gives a mark back.
    pub(crate) fn forget(&self, event: Event) {
        let mut marks = self.marks.borrow_mut();
        if marks.len() < MOST_MARKS {
            return marks.push(event);
        }
        // It only fails where the context is gone, and the event with it.
        // SAFETY: Note [Handles of the driver]; the event is forgotten.
        let _ = unsafe { result::event::destroy(event.0) };
    }
}

/// Parameters of a kernel as the driver wants them: aligned as their types are, to eight bytes at most.
struct Parameters {
    /// To the words, which do not move.
    pointers: Vec<*mut c_void>,
    _words: Vec<Vec<u64>>,
}

impl Parameters {
    fn new(bytes: &[Vec<u8>]) -> Parameters {
        let words = |bytes: &Vec<u8>| -> Vec<u64> {
            let word = |chunk: &[u8]| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_ne_bytes(word)
            };
            bytes.chunks(8).map(word).collect()
        };
        let mut words: Vec<Vec<u64>> = bytes.iter().map(words).collect();
        let pointers = words.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
        Parameters { pointers, _words: words }
    }
}

/// Whether something is done; the driver has two words for that, and others for failures.
fn answered(answer: sys::CUresult, action: &'static str) -> Result<bool, Failure> {
    match answer {
        sys::CUresult::CUDA_SUCCESS => Ok(true),
        sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        other => Err(Failure { action, error: DriverError(other) }),
    }
}
