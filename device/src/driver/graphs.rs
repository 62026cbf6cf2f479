//! Graphs: several pieces of work that the driver queues as one.

use std::ffi::c_uint;
use std::ptr;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::{Driver, Function, Parameters, Work, failed};
use crate::words::Failure;

/// A graph that can be queued, again and again. Whoever has one gives it back ([`Driver::forget_graph`]).
#[derive(Debug)]
pub(crate) struct Graph {
    /// It is held because nodes are named by what is in it.
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
    nodes: Vec<sys::CUgraphNode>,
}

// SAFETY: as for `Driver`.
unsafe impl Send for Graph {}

/// A node of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) work: Work,
    /// Of a kernel.
    pub(crate) parameters: &'a [Vec<u8>],
    /// The numbers of nodes before this one that must be done first, each once.
    pub(crate) after: Vec<usize>,
}

impl Driver {
    /// A graph.
    pub(crate) fn graph(&self, nodes: &[Node<'_>]) -> Result<Graph, Failure> {
        let failed = failed("building a graph");
        let mut graph = ptr::null_mut();
        // SAFETY: the pointer is to a handle that lives during the call.
        unsafe { sys::cuGraphCreate(&raw mut graph, 0) }.result().map_err(&failed)?;
        match self.filled(graph, nodes) {
            Ok(graph) => Ok(graph),
            Err(error) => {
                // SAFETY: nothing else knows it.
                let _ = unsafe { result::graph::destroy(graph) };
                Err(failed(error))
            }
        }
    }

    /// A graph with its nodes; if that fails, it is the caller's.
    fn filled(&self, graph: sys::CUgraph, nodes: &[Node<'_>]) -> Result<Graph, DriverError> {
        let mut added: Vec<sys::CUgraphNode> = Vec::new();
        for node in nodes {
            let after = node.after.iter().map(|before| added[*before]);
            let after: Vec<sys::CUgraphNode> = after.collect();
            added.push(self.add(graph, node, &after)?);
        }
        // SAFETY: the graph is there.
        let executable =
            unsafe { result::graph::instantiate(graph, sys::CUgraphInstantiate_flags_enum(0)) }?;
        Ok(Graph { graph, executable, nodes: added })
    }

    fn add(
        &self,
        graph: sys::CUgraph,
        node: &Node<'_>,
        after: &[sys::CUgraphNode],
    ) -> Result<sys::CUgraphNode, DriverError> {
        let mut added = ptr::null_mut();
        let (first, count) = (after.as_ptr(), after.len());
        // SAFETY: Note [Handles of the driver]; the nodes are of this graph, the driver copies what describes the
        // new one before it returns, and the parameters are those of the kernel, by the one who wrote it.
        let answer = unsafe {
            match node.work {
                Work::Kernel { function, blocks, threads } => {
                    let mut parameters = Parameters::new(node.parameters);
                    let kernel = kernel(function, blocks, threads, &mut parameters);
                    sys::cuGraphAddKernelNode_v2(
                        &raw mut added,
                        graph,
                        first,
                        count,
                        &raw const kernel,
                    )
                }
                Work::Clear { address, bytes } => {
                    let clear = clear(address, bytes);
                    let context = self.context;
                    sys::cuGraphAddMemsetNode(
                        &raw mut added,
                        graph,
                        first,
                        count,
                        &raw const clear,
                        context,
                    )
                }
                Work::Copy { to, from, bytes } => {
                    let copy = copy(to, from, bytes);
                    let context = self.context;
                    sys::cuGraphAddMemcpyNode(
                        &raw mut added,
                        graph,
                        first,
                        count,
                        &raw const copy,
                        context,
                    )
                }
            }
        };
        answer.result().map(|()| added)
    }

    /// Gives a kernel of a graph other parameters, for when it is queued next.
    pub(crate) fn set_parameters(
        &self,
        graph: &Graph,
        number: usize,
        work: Work,
        parameters: &[Vec<u8>],
    ) -> Result<(), Failure> {
        let Work::Kernel { function, blocks, threads } = work else { return Ok(()) };
        let mut parameters = Parameters::new(parameters);
        let kernel = kernel(function, blocks, threads, &mut parameters);
        // SAFETY: Note [Handles of the driver]; the node is a kernel of this graph, and the same kernel; the driver
        // copies the parameters before it returns.
        let answer = unsafe {
            let node = graph.nodes[number];
            sys::cuGraphExecKernelNodeSetParams_v2(graph.executable, node, &raw const kernel)
        };
        answer.result().map_err(failed("changing a graph"))
    }

    /// Queues all that is in a graph.
    pub(crate) fn launch_graph(&self, graph: &Graph) -> Result<(), Failure> {
        // SAFETY: Note [Handles of the driver].
        let launched = unsafe { result::graph::launch(graph.executable, self.stream) };
        launched.map_err(failed("launching a graph"))
    }

    /// Gives a graph back. If it is queued, the driver waits with that.
    pub(crate) fn forget_graph(&self, graph: Graph) {
        // It only fails where the context is gone, and the graph with it.
        // SAFETY: Note [Handles of the driver]; the handles are forgotten.
        unsafe {
            let _ = result::graph::exec_destroy(graph.executable);
            let _ = result::graph::destroy(graph.graph);
        }
    }
}

fn kernel(
    function: Function,
    blocks: u32,
    threads: u32,
    parameters: &mut Parameters,
) -> sys::CUDA_KERNEL_NODE_PARAMS {
    sys::CUDA_KERNEL_NODE_PARAMS {
        func: function.0,
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: parameters.pointers.as_mut_ptr(),
        extra: ptr::null_mut(),
        kern: ptr::null_mut(),
        ctx: ptr::null_mut(),
    }
}

/// One row of bytes.
fn clear(address: u64, bytes: u64) -> sys::CUDA_MEMSET_NODE_PARAMS {
    const BYTE: c_uint = 1;
    let width = bytes as usize;
    sys::CUDA_MEMSET_NODE_PARAMS {
        dst: address,
        pitch: 0,
        value: 0,
        elementSize: BYTE,
        width,
        height: 1,
    }
}

/// One row of bytes.
fn copy(to: u64, from: u64, bytes: u64) -> sys::CUDA_MEMCPY3D {
    let width = bytes as usize;
    sys::CUDA_MEMCPY3D {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: ptr::null(),
        srcDevice: from,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: width,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: to,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: width,
        dstHeight: 1,
        WidthInBytes: width,
        Height: 1,
        Depth: 1,
    }
}
