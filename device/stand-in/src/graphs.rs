//! Graphs: their nodes run in an order that the edges allow, and as far from that in which they were added as
//! can be. So where an edge is missing, something is computed from what is not there yet.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_emulator::Grid;

use crate::driver::{
    FUNCTIONS, INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, SUCCESS, call, call_in, current,
    parameters_of,
};
use crate::faults;
use crate::machine::{Task, Work};
use crate::objects::Objects;

/// What a graph does: the tasks, in the order in which they were added.
type Tasks = Arc<Mutex<Vec<Task>>>;

static GRAPHS: Objects<Tasks> = Objects::new(10_000_000);
/// The graph of a node, and its number there.
static NODES: Objects<(usize, usize)> = Objects::new(20_000_000);
/// The graph that it was made of, and what it does.
static EXECUTABLES: Objects<(usize, Tasks)> = Objects::new(40_000_000);

/// `CUDA_KERNEL_NODE_PARAMS`, version 2.
#[repr(C)]
struct KernelNode {
    function: *mut c_void,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: *mut c_void,
    context: *mut c_void,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
struct MemsetNode {
    to: u64,
    pitch: usize,
    value: c_uint,
    element: c_uint,
    width: usize,
    height: usize,
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: c_uint,
    host: *mut c_void,
    device: u64,
    array: *mut c_void,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
struct MemcpyNode {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
    depth: usize,
}

/// `CU_MEMORYTYPE_DEVICE`.
const DEVICE: c_uint = 2;

/// The most bytes of a row, as on devices.
const MOST_BYTES: usize = (1 << 31) - 1;

fn lock(tasks: &Tasks) -> MutexGuard<'_, Vec<Task>> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call about graphs, and does it if there are any.
fn graph_call(action: impl FnOnce() -> c_int) -> c_int {
    call(|_| if faults::has_graphs() { action() } else { NOT_SUPPORTED })
}

/// Adds a node behind others of the same graph.
///
/// # Safety
/// The contracts of the functions that add nodes.
unsafe fn add(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    work: Result<Work, c_int>,
) -> c_int {
    let Some(tasks) = GRAPHS.get(graph) else { return INVALID_VALUE };
    let mut numbers = Vec::new();
    for at in 0..count {
        // SAFETY: the caller's.
        let before = unsafe { *after.add(at) };
        match NODES.get(before) {
            Some((own, number)) if own == graph.addr() && !numbers.contains(&number) => {
                numbers.push(number);
            }
            _ => return INVALID_VALUE,
        }
    }
    let work = match work {
        Ok(work) => work,
        Err(error) => return error,
    };
    let mut tasks = lock(&tasks);
    tasks.push(Task { work, after: numbers });
    let added = NODES.add((graph.addr(), tasks.len() - 1));
    // SAFETY: the caller's.
    unsafe { *node = added };
    SUCCESS
}

/// # Safety
/// The contracts of the functions that take kernels.
unsafe fn kernel(node: *const KernelNode) -> Result<Work, c_int> {
    // SAFETY: the caller's.
    let node = unsafe { &*node };
    let kernel = FUNCTIONS.get(node.function).ok_or(INVALID_HANDLE)?;
    let is_plain = node.shared == 0 && node.extra.is_null() && node.kernel.is_null();
    if !is_plain || node.grid.contains(&0) || node.block.contains(&0) {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's.
    let parameters = unsafe { parameters_of(&kernel, node.parameters) };
    let grid = Grid { blocks: node.grid, threads: node.block };
    Ok(Work::Kernel { kernel, grid, parameters })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGraphCreate(graph: *mut *mut c_void, flags: c_uint) -> c_int {
    graph_call(|| {
        if flags != 0 {
            return INVALID_VALUE;
        }
        // SAFETY: the contract of the function.
        unsafe { *graph = GRAPHS.add(Arc::default()) };
        SUCCESS
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGraphAddKernelNode_v2(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    parameters: *const KernelNode,
) -> c_int {
    // SAFETY: the contract of the function.
    graph_call(|| unsafe { add(node, graph, after, count, kernel(parameters)) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGraphAddMemsetNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    parameters: *const MemsetNode,
    context: *mut c_void,
) -> c_int {
    graph_call(|| {
        // SAFETY: the contract of the function.
        let MemsetNode { to, value, element, width, height, .. } = unsafe { &*parameters };
        let is_row = (*element, *height) == (1, 1) && (1..=MOST_BYTES).contains(width);
        let work = match u8::try_from(*value) {
            Ok(value) if is_row && context.addr() == current() => {
                Ok(Work::Fill { address: *to, bytes: *width as u64, value })
            }
            _ => Err(INVALID_VALUE),
        };
        // SAFETY: the contract of the function.
        unsafe { add(node, graph, after, count, work) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGraphAddMemcpyNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    after: *const *mut c_void,
    count: usize,
    parameters: *const MemcpyNode,
    context: *mut c_void,
) -> c_int {
    graph_call(|| {
        // SAFETY: the contract of the function.
        let MemcpyNode { from, to, width, height, depth } = unsafe { &*parameters };
        let is_row = (*height, *depth) == (1, 1) && (1..=MOST_BYTES).contains(width);
        let is_plain = |side: &Side| {
            let begins = [side.x, side.y, side.z, side.level] == [0; 4];
            let reserved = side.reserved.is_null() && side.array.is_null() && side.host.is_null();
            begins && reserved && side.kind == DEVICE && side.pitch >= *width && side.height >= 1
        };
        let is_valid = is_row && is_plain(from) && is_plain(to) && context.addr() == current();
        let (to, from, bytes) = (to.device, from.device, *width as u64);
        let work = if is_valid { Ok(Work::Copy { to, from, bytes }) } else { Err(INVALID_VALUE) };
        // SAFETY: the contract of the function.
        unsafe { add(node, graph, after, count, work) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut *mut c_void,
    graph: *mut c_void,
    flags: c_ulonglong,
) -> c_int {
    graph_call(|| {
        let Some(tasks) = GRAPHS.get(graph).filter(|_| flags == 0) else { return INVALID_VALUE };
        let tasks = lock(&tasks).clone();
        // SAFETY: the contract of the function.
        unsafe { *executable = EXECUTABLES.add((graph.addr(), Arc::new(Mutex::new(tasks)))) };
        SUCCESS
    })
}

/// Nodes are named by those of the graph, which has to be there still; it stays the same kernel.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGraphExecKernelNodeSetParams_v2(
    executable: *mut c_void,
    node: *mut c_void,
    parameters: *const KernelNode,
) -> c_int {
    graph_call(|| {
        let (Some((graph, tasks)), Some((own, number))) =
            (EXECUTABLES.get(executable), NODES.get(node))
        else {
            return INVALID_VALUE;
        };
        // SAFETY: the contract of the function.
        let work = match unsafe { kernel(parameters) } {
            Ok(work) => work,
            Err(error) => return error,
        };
        let mut tasks = lock(&tasks);
        let before = tasks.get(number).map(|task| &task.work);
        let is_same = match (before, &work) {
            (Some(Work::Kernel { kernel: before, .. }), Work::Kernel { kernel, .. }) => {
                Arc::ptr_eq(before, kernel)
            }
            _ => false,
        };
        if graph != own || GRAPHS.get(std::ptr::without_provenance_mut(graph)).is_none() || !is_same
        {
            return INVALID_VALUE;
        }
        tasks[number].work = work;
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> c_int {
    call_in(stream, |machine, stream| {
        if !faults::has_graphs() {
            return NOT_SUPPORTED;
        }
        let Some((_, tasks)) = EXECUTABLES.get(executable) else { return INVALID_VALUE };
        // What is changed later does not count for this launch.
        machine.launch_graph(stream, lock(&tasks).clone());
        SUCCESS
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphExecDestroy(executable: *mut c_void) -> c_int {
    call(|_| EXECUTABLES.remove(executable).map_or(INVALID_VALUE, |_| SUCCESS))
}

#[unsafe(no_mangle)]
extern "C" fn cuGraphDestroy(graph: *mut c_void) -> c_int {
    call(|_| GRAPHS.remove(graph).map_or(INVALID_VALUE, |_| SUCCESS))
}
