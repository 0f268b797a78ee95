//! Graphs: recorded work of a CUDA stream.

use super::CudaDevice;
use crate::backend::{Backend as _, DeviceGraphs, DeviceStreams as _, GraphHandle};
use crate::cuda::driver::{Failure, call};
use crate::error::Outcome;
use cuda_bindings::driver::sys;
use std::ptr;
use std::sync::atomic::Ordering;

impl DeviceGraphs for CudaDevice {
    fn start_capture(&self) -> Outcome<()> {
        // Modules are loaded while work is recorded, which the other modes refuse.
        use sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_RELAXED as RELAXED;
        self.synchronize()?;
        self.gpu.streams.set_capturing(self.stream(), true);
        self.is_capturing.store(true, Ordering::Relaxed);
        // SAFETY: the stream is alive.
        let started = self
            .run(|_current| unsafe { call!(cuStreamBeginCapture_v2(self.stream.raw(), RELAXED)) });
        if started.is_err() {
            self.stop_capturing();
        }
        started
    }

    fn end_capture(&self) -> Outcome<GraphHandle> {
        let ended = self.run(|_current| {
            let mut graph = ptr::null_mut();
            // SAFETY: the stream is alive, and `graph` is valid for one handle.
            unsafe { call!(cuStreamEndCapture(self.stream.raw(), &raw mut graph)) }?;
            let executable = instantiate(graph);
            // SAFETY: the graph is alive, and this is its last use: the executable one has a copy.
            let destroyed = unsafe { call!(cuGraphDestroy(graph)) };
            destroyed.and(executable)
        });
        self.stop_capturing();
        ended.map(|executable| GraphHandle(executable.expose_provenance() as u64))
    }

    unsafe fn launch_graph(&self, graph: GraphHandle) -> Outcome<()> {
        self.run(|_current| {
            // SAFETY: the graph and the stream are alive, and the recorded work may run: the caller's contract.
            unsafe { call!(cuGraphLaunch(raw_graph(graph), self.stream.raw())) }
        })
    }

    unsafe fn destroy_graph(&self, graph: GraphHandle) {
        // The driver destroys it after the work that it has submitted.
        let _ = self.run(|_current| {
            // SAFETY: the graph is alive, and this is its last use: the caller's contract.
            unsafe { call!(cuGraphExecDestroy(raw_graph(graph))) }
        });
    }
}

impl CudaDevice {
    fn stop_capturing(&self) {
        self.is_capturing.store(false, Ordering::Relaxed);
        self.gpu.streams.set_capturing(self.stream(), false);
    }
}

fn instantiate(graph: sys::CUgraph) -> Result<sys::CUgraphExec, Failure> {
    let mut executable = ptr::null_mut();
    // SAFETY: the graph is alive, and `executable` is valid for one handle; flags 0 request nothing.
    unsafe { call!(cuGraphInstantiateWithFlags(&raw mut executable, graph, 0)) }?;
    Ok(executable)
}

fn raw_graph(GraphHandle(graph): GraphHandle) -> sys::CUgraphExec {
    ptr::with_exposed_provenance_mut(graph as usize)
}
