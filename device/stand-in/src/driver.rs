//! The functions of libcuda.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use weft_emulator::Grid;

use crate::aside::Step;
use crate::faults;
use crate::kernels::{self, Kernel};
use crate::machine::{Machine, Work};
use crate::objects::Objects;
use crate::pinned;
use crate::profile;
use crate::streams::Mark;

pub(crate) const SUCCESS: c_int = 0;
pub(crate) const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const NO_DEVICE: c_int = 100;
const INVALID_CONTEXT: c_int = 201;
pub(crate) const INVALID_HANDLE: c_int = 400;
const NOT_FOUND: c_int = 500;
const NOT_READY: c_int = 600;
const ILLEGAL_ADDRESS: c_int = 700;
pub(crate) const NOT_SUPPORTED: c_int = 801;
const UNKNOWN: c_int = 999;

/// The attributes that are asked for.
const MULTIPROCESSORS: c_int = 16;
const MAJOR: c_int = 75;
const MINOR: c_int = 76;

/// Handles of what there is one of in a context, and of its streams: they do work in the background, but for the
/// second one, which does it at once, and only copies of four bytes. It has the number [`ASIDE`].
const STREAMS: usize = 20;
const POOL: usize = 13;
const ASIDE: usize = 1;

/// Copies of more bytes from the host, whose memory is not pinned, wait for what is queued in their stream.
const STAGED: usize = 64 << 10;

/// The most streams of a context.
const MOST_STREAMS: usize = 64;

static CONTEXTS: Objects<Arc<Machine>> = Objects::new(100);

/// The bytes that contexts have, with what their pools keep.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_used() -> u64 {
    CONTEXTS.all().iter().map(|machine| machine.used()).sum()
}
static MODULES: Objects<Arc<String>> = Objects::new(1000);
pub(crate) static FUNCTIONS: Objects<Arc<Kernel>> = Objects::new(3_000_000);
static EVENTS: Objects<Arc<Mark>> = Objects::new(500_000_000);

thread_local! {
    /// The context that is current in a thread.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn machine() -> Option<Arc<Machine>> {
    CONTEXTS.get(ptr::without_provenance_mut(CURRENT.get()))
}

/// The handle of the context that is current in this thread.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

/// Counts a call that needs no context, and does it.
fn plain<F: FnOnce() -> c_int>(action: F) -> c_int {
    profile::timed::<F, _>(|| if faults::fails() { UNKNOWN } else { action() })
}

/// Counts a call, and does it in the context.
pub(crate) fn call<F: FnOnce(&Machine) -> c_int>(action: F) -> c_int {
    profile::timed::<F, _>(|| in_context(action))
}

fn in_context(action: impl FnOnce(&Machine) -> c_int) -> c_int {
    if faults::fails() {
        return UNKNOWN;
    }
    match machine() {
        None => INVALID_CONTEXT,
        Some(machine) if machine.fault().is_some() => ILLEGAL_ADDRESS,
        Some(machine) => action(&machine),
    }
}

/// As [`call`], about a stream: with its number.
pub(crate) fn call_in<F: FnOnce(&Machine, usize) -> c_int>(
    stream: *mut c_void,
    action: F,
) -> c_int {
    profile::timed::<F, _>(|| {
        in_context(|machine| match stream.addr().checked_sub(STREAMS) {
            Some(number) if number < MOST_STREAMS => action(machine, number),
            _ => INVALID_HANDLE,
        })
    })
}

// ---- errors -------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(error: c_int, name: *mut *const c_char) -> c_int {
    let text = match error {
        INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
        OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
        INVALID_CONTEXT => c"CUDA_ERROR_INVALID_CONTEXT",
        INVALID_HANDLE => c"CUDA_ERROR_INVALID_HANDLE",
        NOT_FOUND => c"CUDA_ERROR_NOT_FOUND",
        NOT_SUPPORTED => c"CUDA_ERROR_NOT_SUPPORTED",
        ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        _ => c"CUDA_ERROR_UNKNOWN",
    };
    // SAFETY: the contract of the function.
    unsafe { *name = text.as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(error: c_int, words: *mut *const c_char) -> c_int {
    let fault = machine().and_then(|machine| machine.fault());
    let text: &'static CStr = match (error, fault) {
        (ILLEGAL_ADDRESS, Some(fault)) => fault,
        (OUT_OF_MEMORY, _) => c"out of memory",
        _ => c"an error of the stand-in",
    };
    // SAFETY: the contract of the function.
    unsafe { *words = text.as_ptr() };
    SUCCESS
}

// ---- devices ------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    plain(|| {
        // SAFETY: the contract of the function.
        unsafe { *version = faults::release() };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuInit(_flags: c_uint) -> c_int {
    plain(|| if kernels::emulator().is_some() { SUCCESS } else { NO_DEVICE })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    plain(|| {
        // SAFETY: the contract of the function.
        unsafe { *count = faults::devices() };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(device: *mut c_int, number: c_int) -> c_int {
    plain(|| {
        // SAFETY: the contract of the function.
        unsafe { *device = number };
        if number == 0 { SUCCESS } else { INVALID_VALUE }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) -> c_int {
    plain(|| {
        let text = c"Weft's stand-in".to_bytes_with_nul();
        if text.len() > length as usize {
            return INVALID_VALUE;
        }
        // SAFETY: the contract of the function.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len()) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) -> c_int {
    plain(|| {
        // SAFETY: the contract of the function.
        unsafe { *bytes = faults::memory() as usize };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    _device: c_int,
) -> c_int {
    plain(|| {
        let known = match attribute {
            MULTIPROCESSORS => 1,
            MAJOR => faults::architecture(),
            MINOR => 0,
            _ => return INVALID_VALUE,
        };
        // SAFETY: the contract of the function.
        unsafe { *value = known };
        SUCCESS
    })
}

// ---- the context, the stream and the pool -------------------------------------------------------

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxCreate_v4(
    context: *mut *mut c_void,
    _parameters: *const c_void,
    _flags: c_uint,
    _device: c_int,
) -> c_int {
    plain(|| {
        if faults::refuses() {
            return ILLEGAL_ADDRESS;
        }
        let Some(machine) = Machine::new() else { return NO_DEVICE };
        let handle = CONTEXTS.add(Arc::new(machine));
        CURRENT.set(handle.addr());
        // SAFETY: the contract of the function.
        unsafe { *context = handle };
        SUCCESS
    })
}

/// Works also where all else fails: a context can always be thrown away.
#[unsafe(no_mangle)]
extern "C" fn cuCtxDestroy_v2(context: *mut c_void) -> c_int {
    faults::fails();
    faults::reset();
    let Some(machine) = CONTEXTS.remove(context) else { return INVALID_CONTEXT };
    faults::lose(machine.lost_bytes());
    SUCCESS
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> c_int {
    plain(|| {
        CURRENT.set(context.addr());
        CONTEXTS.get(context).map_or(INVALID_CONTEXT, |_| SUCCESS)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, _flags: c_uint) -> c_int {
    call(|machine| {
        let number = machine.make_stream();
        if number >= MOST_STREAMS {
            return OUT_OF_MEMORY;
        }
        // SAFETY: the contract of the function.
        unsafe { *stream = ptr::without_provenance_mut(STREAMS + number) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(stream: *mut c_void) -> c_int {
    call_in(stream, |_, _| SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamQuery(stream: *mut c_void) -> c_int {
    call_in(stream, |machine, stream| match machine.streams().is_idle(stream) {
        true => SUCCESS,
        false => NOT_READY,
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> c_int {
    call_in(stream, |machine, stream| {
        machine.ask(Some(stream), |_| Ok(())).map_or(ILLEGAL_ADDRESS, |()| SUCCESS)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) -> c_int {
    call_in(stream, |machine, stream| match EVENTS.get(event) {
        Some(_) if flags != 0 => INVALID_VALUE,
        Some(mark) if stream == ASIDE => {
            let number = mark.number();
            machine.queue_aside(Step::Wait(mark, number));
            SUCCESS
        }
        Some(mark) => {
            machine.streams().wait(stream, &mark);
            SUCCESS
        }
        None => INVALID_HANDLE,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemPoolCreate(pool: *mut *mut c_void, _properties: *const c_void) -> c_int {
    call(|_| {
        // SAFETY: the contract of the function.
        unsafe { *pool = ptr::without_provenance_mut(POOL) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolDestroy(_pool: *mut c_void) -> c_int {
    call(|_| SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolSetAttribute(
    _pool: *mut c_void,
    _name: c_int,
    _value: *mut c_void,
) -> c_int {
    call(|_| SUCCESS)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemPoolTrimTo(_pool: *mut c_void, _bytes: usize) -> c_int {
    call(|machine| {
        machine.trim();
        SUCCESS
    })
}

// ---- memory -------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    call(|machine| {
        let all = faults::memory();
        let used = machine.used().saturating_add(faults::lost());
        // SAFETY: the contract of the function.
        unsafe {
            *free = all.saturating_sub(used) as usize;
            *total = all as usize;
        }
        SUCCESS
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAllocFromPoolAsync(
    address: *mut u64,
    bytes: usize,
    _pool: *mut c_void,
    stream: *mut c_void,
) -> c_int {
    call_in(stream, |machine, stream| match machine.allocate(bytes as u64, stream) {
        _ if bytes == 0 => INVALID_VALUE,
        Ok(Some(buffer)) => {
            // SAFETY: the contract of the function.
            unsafe { *address = buffer };
            SUCCESS
        }
        Ok(None) => OUT_OF_MEMORY,
        Err(()) => ILLEGAL_ADDRESS,
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> c_int {
    call_in(stream, |machine, stream| match machine.free(address, stream) {
        true => SUCCESS,
        false => INVALID_VALUE,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    address: u64,
    source: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call_in(stream, |machine, stream| {
        // SAFETY: the contract of the function; the bytes are copied at once, as the driver may do.
        let bytes = unsafe { std::slice::from_raw_parts(source.cast::<u8>(), bytes) }.to_vec();
        if stream == ASIDE {
            let Ok(word) = <[u8; 4]>::try_from(bytes) else { return INVALID_VALUE };
            // Else the driver might wait for the stream.
            if !pinned::is_pinned(source) {
                return INVALID_VALUE;
            }
            machine.queue_aside(Step::Poke(address, u32::from_le_bytes(word)));
            return SUCCESS;
        }
        let is_large = bytes.len() > STAGED;
        machine.write(stream, address, bytes);
        if is_large && machine.ask(Some(stream), |_| Ok(())).is_none() {
            return ILLEGAL_ADDRESS;
        }
        SUCCESS
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    destination: *mut c_void,
    address: u64,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call_in(stream, |machine, stream| {
        let Some(read) = machine.read(stream, address, bytes as u64) else {
            return ILLEGAL_ADDRESS;
        };
        // SAFETY: the contract of the function.
        unsafe { ptr::copy_nonoverlapping(read.as_ptr(), destination.cast(), read.len()) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> c_int {
    call_in(stream, |machine, stream| {
        let bytes = bytes as u64;
        machine.queue_work(stream, Work::Copy { to, from, bytes });
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(
    address: u64,
    value: c_uchar,
    bytes: usize,
    stream: *mut c_void,
) -> c_int {
    call_in(stream, |machine, stream| {
        let bytes = bytes as u64;
        machine.queue_work(stream, Work::Fill { address, bytes, value });
        SUCCESS
    })
}

// ---- kernels ------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    call(|machine| {
        machine.streams().settle();
        // SAFETY: the contract of the function.
        unsafe { *module = MODULES.add(Arc::new(kernels::decode(image.cast()))) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: *mut c_void) -> c_int {
    call(|_| MODULES.remove(module).map_or(INVALID_HANDLE, |_| SUCCESS))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    call(|machine| {
        let Some(text) = MODULES.get(module) else { return INVALID_HANDLE };
        // SAFETY: the contract of the function.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        if !kernels::has(&text, &name) {
            return NOT_FOUND;
        }
        machine.streams().settle();
        let kernel = machine.ask(None, move |device| kernels::kernel(device, &text, &name));
        let Some(kernel) = kernel else { return ILLEGAL_ADDRESS };
        // SAFETY: the contract of the function.
        unsafe { *function = FUNCTIONS.add(kernel) };
        SUCCESS
    })
}

/// The bytes of a kernel's parameters.
///
/// # Safety
/// There is a pointer to each of them.
pub(crate) unsafe fn parameters_of(kernel: &Kernel, parameters: *mut *mut c_void) -> Vec<Vec<u8>> {
    let values = kernel.parameters.iter().enumerate().map(|(at, bytes)| {
        // SAFETY: the caller's.
        let value = unsafe { (*parameters.add(at)).cast::<u8>() };
        // SAFETY: likewise.
        unsafe { std::slice::from_raw_parts(value, *bytes) }.to_vec()
    });
    values.collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> c_int {
    call_in(stream, |machine, stream| {
        let Some(kernel) = FUNCTIONS.get(function) else { return INVALID_HANDLE };
        if shared != 0 || !extra.is_null() || [grid_x, grid_y, grid_z].contains(&0) {
            return INVALID_VALUE;
        }
        // SAFETY: the contract of the function.
        let parameters = unsafe { parameters_of(&kernel, parameters) };
        let grid = Grid { blocks: [grid_x, grid_y, grid_z], threads: [block_x, block_y, block_z] };
        let work = Work::Kernel { kernel, grid, parameters };
        machine.launch(stream, work);
        SUCCESS
    })
}

// ---- events -------------------------------------------------------------------------------------

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) -> c_int {
    call(|_| {
        // SAFETY: the contract of the function.
        unsafe { *event = EVENTS.add(Arc::default()) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    call_in(stream, |machine, stream| {
        let Some(mark) = EVENTS.get(event) else { return INVALID_HANDLE };
        match stream {
            ASIDE => {
                let number = mark.record();
                machine.queue_aside(Step::Record(mark, number));
            }
            stream => machine.streams().record(stream, &mark),
        }
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventQuery(event: *mut c_void) -> c_int {
    call(|machine| match EVENTS.get(event) {
        None => INVALID_HANDLE,
        Some(mark) if machine.streams().has_passed(&mark) => SUCCESS,
        Some(_) => NOT_READY,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventElapsedTime_v2(
    milliseconds: *mut f32,
    first: *mut c_void,
    last: *mut c_void,
) -> c_int {
    call(|_| {
        let (Some(first), Some(last)) = (EVENTS.get(first), EVENTS.get(last)) else {
            return INVALID_HANDLE;
        };
        let (Some(begun), Some(ended)) = (first.time(), last.time()) else {
            return NOT_READY;
        };
        let time = ended.saturating_duration_since(begun).as_secs_f64() * 1e3;
        // SAFETY: the contract of the function.
        unsafe { *milliseconds = time as f32 };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(event: *mut c_void) -> c_int {
    call(|_| EVENTS.remove(event).map_or(INVALID_HANDLE, |_| SUCCESS))
}
