//! Graphs: calls that are recorded once, then launched repeatedly with one driver call each time.

mod operands;
mod recorded;
mod recorder;

pub use operands::GraphOperands;
pub(crate) use operands::sealed;

use crate::backend::StreamPriority;
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::scratch::Allocation;
use crate::workspace::{Counters, Workspace};
use recorded::Recorded;
use recorder::Recorder;
use sealed::GraphOperand;
use std::fmt;
use std::sync::Arc;

/// Recorded calls, with the buffers and matrices that they use. [`Device::capture`] records one.
///
/// A launch of a graph costs the host as much as one call, however many calls were recorded.
pub struct Graph<O: GraphOperands> {
    /// The stream in which the graph was recorded and runs. No other calls use it.
    stream: Device,
    /// `None` while it is recorded again.
    recorded: Option<Recorded>,
    /// Whether a recording or a launch has failed since the memory of the stream's reductions was last filled with
    /// zeros.
    has_failed: bool,
    operands: O,
}

impl Device {
    /// Records calls as a graph, which owns the `operands` that they use.
    ///
    /// `record` gets a stream and a view of each operand. Calls on this stream and on the views are recorded instead of
    /// run: products, reductions and scans in their `_into` forms, copies between buffers, fills, and launches of
    /// kernels. Buffers that `record` allocates must be dropped before it returns; every launch reuses their memory.
    /// Calls on other streams are not recorded: they run immediately.
    ///
    /// Scalar arguments are recorded by value. To change them, record again ([`Graph::update`]).
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::from_env()?;
    /// let operands = (
    ///     device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?,
    ///     device.matrix((2, 2), &[0.0_f32; 4])?,
    ///     device.zeros::<f32>(1)?,
    /// );
    /// let mut graph = device.capture(operands, |stream, (x, mut product, sum)| {
    ///     stream.matmul_into(x.view(), x.view(), &mut product)?;
    ///     let product = product.as_buffer_view_mut().expect("no gaps");
    ///     stream.reduce_sum_into(product.view(), sum)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.operands().2.to_vec()?, [54.0]);
    ///
    /// let (mut x, _, _) = graph.views_mut();
    /// let mut x = x.as_buffer_view_mut().expect("no gaps");
    /// x.copy_from_slice(&[1.0, 0.0, 0.0, 1.0])?;
    /// graph.launch()?;
    /// assert_eq!(graph.operands().2.to_vec()?, [2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NotRecorded`](crate::ErrorKind::NotRecorded) for a call that waits or copies to or from the host,
    /// for memory that is neither an operand nor allocated by `record`, for textures, and for kernels whose module has
    /// static arrays or prints; [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) for an operand of another
    /// device; the errors of `record` and of [`Device::new_stream`].
    pub fn capture<O: GraphOperands>(
        &self,
        operands: O,
        record: impl for<'a> FnOnce(&'a Self, O::Views<'a>) -> Result<()>,
    ) -> Result<Graph<O>> {
        let mut graph = Graph::new(self, operands).during("capture")?;
        graph.record(record)?;
        Ok(graph)
    }
}

impl<O: GraphOperands> Graph<O> {
    fn new(device: &Device, mut operands: O) -> Outcome<Self> {
        operands.each(&mut |GraphOperand(operand): GraphOperand<'_>| {
            device.check_owns(
                || "an operand of the graph".to_owned(),
                operand.holder.device,
            )
        })?;
        let stream = device.backend().new_stream(StreamPriority::Normal)?;
        let stream = Device::of_backend(stream);
        // Reductions find them, and need not fill them with zeros in each launch.
        Workspace::lock(&stream)?.addresses()?;
        drop(Counters::lock(&stream, 1)?);
        Ok(Self {
            stream,
            recorded: None,
            has_failed: false,
            operands,
        })
    }

    /// Replaces the recorded calls, for instance to change scalars.
    ///
    /// If this fails, the graph is empty, and its launches do nothing.
    ///
    /// # Errors
    /// The errors of [`Device::capture`].
    pub fn update(
        &mut self,
        record: impl for<'a> FnOnce(&'a Device, O::Views<'a>) -> Result<()>,
    ) -> Result<()> {
        self.recorded = None;
        self.record(record)
    }

    fn record(
        &mut self,
        record: impl for<'a> FnOnce(&'a Device, O::Views<'a>) -> Result<()>,
    ) -> Result<()> {
        self.order().during("capture")?;
        self.clear().during("capture")?;
        self.has_failed = true;
        let recorder = Recorder::start(&self.stream).during("capture")?;
        let number = recorder.capture.number();
        let permit = |GraphOperand(operand): GraphOperand<'_>| {
            if let Some(uses) = operand.holder.uses {
                uses.permit(number);
            }
            Ok(())
        };
        self.operands.each(&mut { permit }).during("capture")?;
        let panicking = EndOnDrop(&recorder);
        let stream = Device::of_backend(Arc::clone(&recorder) as Arc<_>);
        let closed = record(&stream, self.operands.views(Some(&stream)));
        std::mem::forget(panicking);
        let recorded = recorder.end().during("capture");
        closed?;
        self.recorded = Some(recorded?);
        self.has_failed = false;
        Ok(())
    }

    /// Fills memory that reductions expect to be zero, because a failure may have left other values there.
    fn clear(&mut self) -> Outcome<()> {
        if !self.has_failed {
            return Ok(());
        }
        let backend = self.stream.backend();
        let recorded = self.recorded.iter().flat_map(|it| &it.memory);
        let scratch = backend.scratch().allocations();
        recorded
            .chain(&scratch)
            .try_for_each(|&Allocation { address, bytes }| {
                // SAFETY: live allocations, which only work of this stream uses: the stream's own, and those that
                // were given back while it recorded.
                unsafe { backend.fill_zero(address, bytes) }
            })?;
        self.has_failed = false;
        Ok(())
    }

    /// Orders the graph's work after all work that uses the operands.
    fn order(&mut self) -> Outcome<()> {
        let stream = &self.stream;
        self.operands
            .each(&mut |GraphOperand(operand): GraphOperand<'_>| operand.order(stream))
    }

    /// Submits the recorded work.
    ///
    /// The graph runs in its own stream, after earlier calls that use its operands. Later calls that use them wait for
    /// it.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`]; on the simulator, also those of the recorded calls.
    pub fn launch(&mut self) -> Result<()> {
        self.submit().during("launch")
    }

    fn submit(&mut self) -> Outcome<()> {
        self.order()?;
        self.clear()?;
        let Some(recorded) = &self.recorded else {
            return Ok(());
        };
        // SAFETY: the recorded calls had their requirements from the borrows of the operands, which the graph owns and
        // `self` borrows mutably, or allocated their memory while they were recorded, which `recorded` keeps. The
        // workspace and the counters are of this stream, in which nothing else runs. `order` has ordered the rest. The
        // handle is alive, and of this stream.
        let launched = unsafe { self.stream.backend().launch_graph(recorded.handle) };
        self.has_failed = launched.is_err();
        launched
    }

    /// The operands, for instance to copy results to the host.
    #[must_use]
    pub fn operands(&self) -> &O {
        &self.operands
    }

    /// Views of the operands, for instance to overwrite them before the next launch.
    #[must_use]
    pub fn views_mut(&mut self) -> O::Views<'_> {
        self.operands.views(None)
    }

    /// Drops the recorded work, and returns the operands.
    #[must_use]
    pub fn into_operands(self) -> O {
        self.operands
    }
}

/// Ends a recording whose closure panics.
struct EndOnDrop<'a>(&'a Recorder);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        drop(self.0.end());
    }
}

/// Shows the stream, but not the operands, which are on the device.
impl<O: GraphOperands> fmt::Debug for Graph<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Graph")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}
