//! Reductions of segments of buffers.

mod division;
mod operand;
mod tiles;

use super::operations::{Reducible, ReducibleSegments};
use super::sealed::{ReduceSegments, SegmentShared};
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_length, counted};
use crate::launch::{LaunchConfig, grid_x};
use crate::launch_args::{global, global_mut};
use crate::module::Module;
use crate::workspace::Counters;
use division::Division;
use std::sync::Arc;
use tiles::LongSegments;
pub(crate) use tiles::ScanTiles;
use tilewright_kernels::reduce::lines::{LANES_OF_PART, LINE_THREADS, SEGMENT_LANES};
use tilewright_kernels::scan::ScanPlan;

/// Segments of a buffer: segment i has the elements `offsets[i]..offsets[i + 1]`, as in CSR.
///
/// [`Device::segments`] checks them and divides them among threads once, for any number of reductions and scans.
#[derive(Debug)]
pub struct Segments {
    /// The start of each segment, and the end of the last one.
    offsets: Buffer<u64>,
    /// The sections of the long segments, each listed once for each of its parts.
    parts: Buffer<u64>,
    /// Whether a segment has several sections.
    is_shared: bool,
    /// The segments without elements, ascending.
    empty: Vec<usize>,
    /// The segments that scans may divide.
    long: LongSegments,
    /// The first element of the first segment.
    start: usize,
    /// The number of elements that a buffer needs at least.
    end: usize,
}

impl Segments {
    /// The number of segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no segments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs `submit`, which submits a launch for the segments, at least one, with its grid, and the memory that its
    /// blocks share: the lists that [`Device::segments`] checked and made, partial results, and tickets, which are 0
    /// and locked.
    pub(super) fn with_memory<A: Element>(
        &self,
        device: &Device,
        submit: impl FnOnce(LaunchConfig, SegmentShared<'_, A>) -> Outcome<()>,
    ) -> Outcome<()> {
        let config = LaunchConfig::new(self.blocks()?, LINE_THREADS);
        let mut partials = Buffer::uninit(device, self.shared())?;
        let mut tickets = Counters::lock(device, self.shared())?;
        let shared = SegmentShared {
            offsets: global(self.offsets.view()),
            parts: global(self.parts.view()),
            partials: global_mut(partials.view_mut()),
            tickets: tickets.words(),
        };
        let submitted = submit(config, shared);
        tickets.after(submitted)
    }

    /// The start of each segment, and the end of the last one.
    pub(crate) fn offsets(&self) -> BufferView<'_, u64> {
        self.offsets.view()
    }

    /// The tiles for scans of elements of `bytes` bytes in the split of `plan`, after [`check`](Self::check).
    ///
    /// The first call for a split waits for a copy in the segments' own stream, which copies even while `device`
    /// records a graph.
    pub(crate) fn scan_tiles(
        &self,
        device: &Device,
        bytes: usize,
        plan: fn(usize) -> ScanPlan,
    ) -> Outcome<Arc<ScanTiles>> {
        // If a kernel that makes this call were stopped, the lock of the lists would stay locked.
        simt::refuse_host_call("a scan of segments");
        let list = self.long.tiles(self.offsets.device(), bytes, plan)?;
        if let Some(capture) = device.backend().capture() {
            // Segments that passed the check are the graph's own, and so are their lists.
            list.tiles.permit(capture.number());
        }
        list.tiles.holder().order_reads(device)?;
        Ok(list)
    }

    /// Memory for a result of each of `len` elements: 0 for those in no segment, unspecified for the others.
    pub(crate) fn results<O: Element>(&self, device: &Device, len: usize) -> Outcome<Buffer<O>> {
        if self.start > 0 || self.end < len {
            Buffer::zeroed(device, len)
        } else {
            Buffer::uninit(device, len)
        }
    }

    /// Fails unless the segments are on `device`, all within `elements` elements.
    pub(crate) fn check(&self, device: &Device, elements: usize) -> Outcome<()> {
        device.check_reads(|| "the list of segments".to_owned(), self.offsets.holder())?;
        self.check_end(elements)
    }

    /// The number of blocks of a launch for them.
    fn blocks(&self) -> Outcome<u32> {
        blocks(self.parts.len(), self.len())
    }

    /// The number of partial results, and of tickets, of a launch for them.
    fn shared(&self) -> usize {
        if self.is_shared { self.parts.len() } else { 0 }
    }

    /// Fails unless all segments end within a buffer of `len` elements.
    fn check_end(&self, len: usize) -> Outcome<()> {
        if self.end <= len {
            return Ok(());
        }
        Err(ErrorKind::InvalidOffsets {
            reason: format!(
                "the last one is {}, past the end of the buffer, which has {}; make the buffer longer, or \
                 the last offset at most its length",
                self.end,
                counted(len, "element", "elements")
            ),
        })
    }

    /// The segments without elements, ascending.
    pub(super) fn empty(&self) -> &[usize] {
        &self.empty
    }

    /// Fails if a segment has no elements.
    pub(super) fn check_elements(&self, remedy: &'static str) -> Outcome<()> {
        match self.empty.first() {
            None => Ok(()),
            Some(segment) => Err(ErrorKind::NoElements {
                what: format!("segment {segment}"),
                remedy,
            }),
        }
    }
}

impl Device {
    /// Prepares the segments `offsets[i]..offsets[i + 1]` for reductions and scans on this device.
    ///
    /// n + 1 offsets make n segments. The first offset need not be 0, and segments may be empty.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0, 4.0, 8.0])?;
    /// let segments = device.segments(&[0, 1, 1, 4])?;
    /// assert_eq!(device.reduce_segments(&x, &segments, ops::Sum)?.to_vec()?, [1.0, 0.0, 14.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOffsets`] if an offset is below the one before it, or if there are no offsets;
    /// [`ErrorKind::OutOfHostMemory`], and those of [`Device::zeros`], for offsets that no buffer has: a segment takes
    /// up to 64 KiB on the host and on the device.
    pub fn segments(&self, offsets: &[usize]) -> Result<Segments> {
        self.divided(offsets).during("segments")
    }

    /// Reduces each segment of `x` by `operation`, one of [`ops`](crate::ops).
    ///
    /// The result has one element for each segment. `ArgMin` and `ArgMax` count from the start of the segment.
    ///
    /// A segment is reduced in the same tree as a row of its length ([`Device::reduce_rows`]). Its bits depend on its
    /// own elements alone, wherever it lies and whatever the other segments hold. Long segments are divided among
    /// blocks. An empty segment has the value of empty input: 0 for sums, 1 for products, NaN for means.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[5, 9, 2, 7, 7])?;
    /// let segments = device.segments(&[0, 2, 5])?;
    /// assert_eq!(device.reduce_segments(&x, &segments, ops::ArgMax)?.to_vec()?, [1_u64, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOffsets`] if a segment ends past the end of `x`; [`ErrorKind::NoElements`] for `Min`, `Max`,
    /// `MinMax`, `ArgMin` and `ArgMax` if a segment is empty ([`reduce_segments_or`](Self::reduce_segments_or) takes a
    /// value for it); [`ErrorKind::WrongDevice`] if `x` or the segments are on another device; [`ErrorKind::TooLarge`]
    /// if the launch needs more than 2^31 - 1 blocks; [`ErrorKind::NoModule`], and those of [`Device::zeros`].
    #[doc(alias = "DeviceSegmentedReduce")]
    #[doc(alias = "reduceat")]
    pub fn reduce_segments<'x, R, T: ReducibleSegments<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
    ) -> Result<Buffer<<T as Reducible<R>>::Output>> {
        let _: R = operation;
        self.segments_reduced::<R, T, 1>([x.into()], segments)
            .during("reduce_segments")
    }

    /// Writes the value of each segment of `x` to `values`, without waiting.
    ///
    /// Work that is submitted later sees the values.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if `values` does not have an element for each segment, and those of
    /// [`Device::reduce_segments`].
    pub fn reduce_segments_into<'x, 'r, R, T: ReducibleSegments<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
        values: impl Into<BufferViewMut<'r, <T as Reducible<R>>::Output>>,
    ) -> Result<()> {
        let _: R = operation;
        self.segments_reduced_into::<R, T, 1>([x.into()], segments, values.into())
            .during("reduce_segments_into")
    }

    pub(crate) fn divided(&self, offsets: &[usize]) -> Outcome<Segments> {
        let division = Division::of(offsets)?;
        // Offsets that fit no buffer can have a list that fits no memory: allocating on the device fails at once.
        let mut parts = Buffer::uninit(self, division.listed())?;
        parts.view_mut().read_host(&division.parts(offsets)?)?;
        let offsets: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
        Ok(Segments {
            offsets: Buffer::uploaded(self, &offsets)?,
            parts,
            is_shared: division.is_shared,
            empty: division.empty,
            long: LongSegments::new(division.long),
            start: division.start,
            end: division.end,
        })
    }

    /// The values of the segments of `x`: one array, or two of the same length.
    pub(crate) fn segments_reduced<R, T: ReduceSegments<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        segments: &Segments,
    ) -> Outcome<Buffer<T::Value>> {
        let mut values = Buffer::uninit(self, segments.len())?;
        self.segments_reduced_into::<R, T, ARRAYS>(x, segments, values.view_mut())?;
        Ok(values)
    }

    /// Writes the values of the segments of `x` to `values`. `x` is one array, or two of the same length.
    pub(super) fn segments_reduced_into<R, T: ReduceSegments<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        segments: &Segments,
        values: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        if T::NEEDS_AN_ELEMENT {
            segments.check_elements("give a value for empty segments, by reduce_segments_or")?;
        }
        self.any_segments_reduced_into::<R, T, ARRAYS>(x, segments, values)
    }

    /// [`segments_reduced_into`](Self::segments_reduced_into) without the check for empty segments: their values are
    /// meaningless if the operation needs an element.
    pub(super) fn any_segments_reduced_into<
        R,
        T: ReduceSegments<R, ARRAYS>,
        const ARRAYS: usize,
    >(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        segments: &Segments,
        values: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        self.check_arrays(x, false)?;
        match self.has_segments(segments, x[0].len(), &values)? {
            true => self.launch_segments::<R, T, ARRAYS>(x, segments, values),
            false => Ok(()),
        }
    }

    /// Whether there are segments to reduce. Fails unless they and `values` are on this device, all within `elements`
    /// elements, and with a value each.
    pub(super) fn has_segments<O: Element>(
        &self,
        segments: &Segments,
        elements: usize,
        values: &BufferViewMut<'_, O>,
    ) -> Outcome<bool> {
        self.check_reads(
            || "the list of segments".to_owned(),
            segments.offsets.holder(),
        )?;
        segments.parts.holder().order_reads(self)?;
        self.check_writes(|| "the buffer of the values".to_owned(), values.written())?;
        let rule = "one for each segment";
        check_length(
            "the buffer of the values",
            values.len(),
            segments.len(),
            rule,
        )?;
        if segments.is_empty() {
            return Ok(false);
        }
        segments.check_end(elements)?;
        Ok(true)
    }

    /// Reduces the segments, at least one, to `values`, one for each segment. All segments are within each of `x`.
    fn launch_segments<R, T: ReduceSegments<R, ARRAYS>, const ARRAYS: usize>(
        &self,
        x: [BufferView<'_, T>; ARRAYS],
        segments: &Segments,
        values: BufferViewMut<'_, T::Value>,
    ) -> Outcome<()> {
        segments.with_memory(self, |config, shared| {
            let params = T::segment_params(x, shared, global_mut(values));
            let module = Module::on_demand(self, T::SEGMENTS_MODULE);
            // SAFETY: the kernel's requirements. Grid, offsets, parts, partial results and tickets are those of
            // `with_memory`. Each of `x` has the elements, and there is a value for each segment, as was compared.
            // Views of live memory without conflicting work: `x`, segments and values are borrowed until this
            // returns, and the partial results are freed after the launch, in the device's order.
            unsafe { module.launch_params::<T::Segments>(config, params) }
        })
    }
}

/// The number of blocks of a launch for `parts` listed parts and `segments` segments.
fn blocks(parts: usize, segments: usize) -> Outcome<u32> {
    let of_parts = parts.div_ceil((LINE_THREADS / LANES_OF_PART) as usize);
    let of_segments = segments.div_ceil((LINE_THREADS / SEGMENT_LANES) as usize);
    let blocks = of_parts.saturating_add(of_segments);
    grid_x(blocks, || format!("a grid of {blocks} blocks for segments"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_segments_than_32_bits_count_are_a_launch() {
        const MANY: usize = (1 << 32) + 3;
        assert_eq!(blocks(0, MANY).unwrap(), (1 << 27) + 1);
        assert_eq!(blocks(MANY, MANY).unwrap(), (1 << 29) + 1 + (1 << 27) + 1);
        for (parts, segments) in [(1 << 34, 0), (0, 1 << 36), (usize::MAX, usize::MAX)] {
            let error = blocks(parts, segments).unwrap_err();
            assert!(matches!(error, ErrorKind::TooLarge { .. }), "{error}");
        }
    }
}
