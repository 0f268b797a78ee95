//! Recorded work of a simulated stream.

use super::Simulator;
use super::work::Work;
use crate::backend::{DeviceGraphs, DeviceMemory as _, GraphHandle};
use crate::error::Outcome;
use crate::kernel_output::Lines;
use crate::locks::lock;
use std::sync::Arc;

impl Simulator {
    /// Adds `work` to the recording; returns it if it has to run.
    pub(super) fn record<W>(&self, work: W, recorded: impl FnOnce(W) -> Work) -> Result<(), W> {
        match &mut lock(&self.graphs).recording {
            Some(recording) => {
                recording.push(recorded(work));
                Ok(())
            }
            None => Err(work),
        }
    }
}

impl DeviceGraphs for Simulator {
    fn start_capture(&self) -> Outcome<()> {
        simt::refuse_host_call("capture");
        lock(&self.graphs).recording = Some(Vec::new());
        Ok(())
    }

    fn end_capture(&self) -> Outcome<GraphHandle> {
        let mut graphs = lock(&self.graphs);
        let recorded = graphs.recording.take().unwrap_or_default();
        graphs.made += 1;
        let number = graphs.made;
        graphs.graphs.insert(number, recorded.into());
        Ok(GraphHandle(number))
    }

    unsafe fn launch_graph(&self, GraphHandle(number): GraphHandle) -> Outcome<()> {
        simt::refuse_host_call("a launch of a graph");
        let work = Arc::clone(&lock(&self.graphs).graphs[&number]);
        work.iter().try_for_each(|work| match *work {
            Work::Launch(ref launch, ref uses) => {
                let lines = Lines::default();
                // SAFETY: the launch may run: the caller's contract.
                unsafe { self.run_launch(launch, &lines, || uses.clone()) }
            }
            Work::Copy {
                destination,
                source,
                bytes,
                // SAFETY: live memory without conflicting work, and ranges that do not overlap: the caller's contract.
            } => unsafe { self.copy_on_device(destination, source, bytes) },
            // SAFETY: live memory without conflicting work: the caller's contract.
            Work::Fill { address, bytes } => unsafe { self.fill_zero(address, bytes) },
        })
    }

    unsafe fn destroy_graph(&self, GraphHandle(number): GraphHandle) {
        // The lock must not stay locked if a kernel that drops a graph is stopped.
        simt::uninterrupted(|| drop(lock(&self.graphs).graphs.remove(&number)));
    }
}
