//! Reductions of rows, columns and segments by operations that other crates define.

use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::kernel_output::Lines;
use crate::launch_args::{global, global_mut, read_elements};
use crate::matrix::{IntoMatrixView, MatrixView};
use crate::module::Module;
use crate::reduce::lines::LineLaunch;
use crate::reduce::segments::Segments;
use tilewright_kernels::reduce::{LineReductionKernel, Reduction, SegmentReductionKernel};

/// The accumulator and the value of an operation on elements `T`.
type AccumulatorOf<R, T> = <R as Reduction<T>>::Accumulator;
type OutputOf<R, T> = <R as Reduction<T>>::Output;

/// The remedy in errors of segments without elements.
const NO_EMPTY_SEGMENTS: &str = "leave out segments without elements";

impl Module {
    /// Reduces each row of `matrix` by a custom operation.
    ///
    /// [`reductions!`](tilewright_kernels::reductions) generates `kernel` and the kernel for the other order of a
    /// matrix, by a line such as `kernel, other: Operation of rows of f32;`. `matrix` is `&matrix` or a view.
    ///
    /// A row is combined in the tree of [`Device::reduce_rows`](crate::Device::reduce_rows): its value has the same
    /// bits in either order of the matrix, in every run and on every device. The call does not wait.
    ///
    /// ```
    /// use tilewright::{Device, ModuleSource};
    /// use tilewright_kernels::reduce::Reduction;
    ///
    /// /// The sum of the magnitudes of the elements' differences from 1.
    /// pub struct FromOne;
    ///
    /// impl Reduction<f32> for FromOne {
    ///     type Accumulator = f32;
    ///     type Output = f32;
    ///     const IDENTITY: f32 = 0.0;
    ///
    ///     fn lift(element: f32, _index: usize) -> f32 {
    ///         (element - 1.0).abs()
    ///     }
    ///
    ///     fn combine(left: f32, right: f32) -> f32 {
    ///         left + right
    ///     }
    ///
    ///     fn finish(total: f32, _elements: usize) -> f32 {
    ///         total
    ///     }
    /// }
    ///
    /// tilewright_kernels::reductions! {
    ///     /// The distance of each row or column from ones.
    ///     from_one, from_one_across: FromOne of rows of f32;
    /// }
    /// // SAFETY: there are no images that could differ from the kernels.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("from_one", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let matrix = device.matrix((2, 3), &[1.0_f32, 2.0, 0.0, 1.0, 1.0, 4.0])?;
    /// assert_eq!(module.reduce_rows(from_one, &matrix)?.to_vec()?, [2.0, 3.0]);
    /// assert_eq!(module.reduce_columns(from_one, &matrix)?.to_vec()?, [0.0, 1.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`](crate::ErrorKind::NoElements) if rows have no elements and the operation needs one;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `matrix` is on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if the launch needs more than 2^31 - 1 blocks, and those of
    /// [`launch`](Self::launch).
    pub fn reduce_rows<'m, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
    ) -> Result<Buffer<OutputOf<K::Operation, K::Element>>>
    where
        K: LineReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        self.rows_reduced(kernel, matrix.into())
            .during("reduce_rows")
    }

    /// Reduces each column of `matrix` by a custom operation: [`reduce_rows`](Self::reduce_rows) for columns, with the
    /// same kernels.
    ///
    /// # Errors
    /// The errors of [`reduce_rows`](Self::reduce_rows).
    pub fn reduce_columns<'m, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
    ) -> Result<Buffer<OutputOf<K::Operation, K::Element>>>
    where
        K: LineReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        self.rows_reduced(kernel, matrix.into().t())
            .during("reduce_columns")
    }

    /// Writes the value of [`reduce_rows`](Self::reduce_rows) of each row to `values`, a buffer or a slice of one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each row,
    /// and those of [`reduce_rows`](Self::reduce_rows).
    pub fn reduce_rows_into<'m, 'v, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
        values: impl Into<BufferViewMut<'v, OutputOf<K::Operation, K::Element>>>,
    ) -> Result<()>
    where
        K: LineReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        self.rows_reduced_into(kernel, matrix.into(), values.into())
            .during("reduce_rows_into")
    }

    /// Writes the value of [`reduce_columns`](Self::reduce_columns) of each column to `values`, a buffer or a slice of
    /// one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each column,
    /// and those of [`reduce_rows`](Self::reduce_rows).
    pub fn reduce_columns_into<'m, 'v, K>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Element>,
        values: impl Into<BufferViewMut<'v, OutputOf<K::Operation, K::Element>>>,
    ) -> Result<()>
    where
        K: LineReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        self.rows_reduced_into(kernel, matrix.into().t(), values.into())
            .during("reduce_columns_into")
    }

    /// Reduces each segment of `x` by a custom operation.
    ///
    /// [`reductions!`](tilewright_kernels::reductions) generates `kernel` by a line such as `kernel: Operation of
    /// segments of f32;`. [`Device::segments`](crate::Device::segments) makes the segments. A segment has the tree of
    /// a row of its length, and so the bits of [`reduce_rows`](Self::reduce_rows). The call does not wait.
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`](crate::ErrorKind::NoElements) if a segment has no elements and the operation needs
    /// one; otherwise those of [`Device::reduce_segments`](crate::Device::reduce_segments) and of
    /// [`launch`](Self::launch).
    pub fn reduce_segments<'x, K>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Element>,
        segments: &Segments,
    ) -> Result<Buffer<OutputOf<K::Operation, K::Element>>>
    where
        K: SegmentReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        let reduce = || {
            let mut values = Buffer::uninit(self.device(), segments.len())?;
            self.segments_reduced_into(kernel, x.into(), segments, values.view_mut())?;
            Ok(values)
        };
        reduce().during("reduce_segments")
    }

    /// Writes the value of [`reduce_segments`](Self::reduce_segments) of each segment to `values`, a buffer or a slice
    /// of one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `values` does not have an element for each segment,
    /// and those of [`reduce_segments`](Self::reduce_segments).
    pub fn reduce_segments_into<'x, 'v, K>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Element>,
        segments: &Segments,
        values: impl Into<BufferViewMut<'v, OutputOf<K::Operation, K::Element>>>,
    ) -> Result<()>
    where
        K: SegmentReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        self.segments_reduced_into(kernel, x.into(), segments, values.into())
            .during("reduce_segments_into")
    }

    fn rows_reduced<K>(
        &self,
        kernel: K,
        matrix: MatrixView<'_, K::Element>,
    ) -> Outcome<Buffer<OutputOf<K::Operation, K::Element>>>
    where
        K: LineReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        let mut values = Buffer::uninit(self.device(), matrix.rows())?;
        self.rows_reduced_into(kernel, matrix, values.view_mut())?;
        Ok(values)
    }

    fn rows_reduced_into<K>(
        &self,
        _kernel: K,
        matrix: MatrixView<'_, K::Element>,
        values: BufferViewMut<'_, OutputOf<K::Operation, K::Element>>,
    ) -> Outcome<()>
    where
        K: LineReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        let (device, (count, len)) = (self.device(), matrix.shape());
        device.check_matrices([matrix])?;
        let needs_an_element = <K::Operation as Reduction<K::Element>>::NEEDS_AN_ELEMENT;
        if !device.has_lines((count, len), &values, needs_an_element)? {
            return Ok(());
        }
        let launch = LineLaunch::new((count, len), matrix.order())?;
        let module = self.by_ref();
        // Dropped last: the operation may print, and the counters are a lock of the device.
        let lines = Lines::default();
        launch.with_memory(device, |shared| {
            let apart = matrix.leading_dimension();
            // SAFETY: both kernels read nothing but the elements of the lines.
            let x = unsafe { read_elements(matrix.into()) };
            let (partials, tickets) = (shared.partials, shared.tickets);
            let values = global_mut(values);
            let params = (
                x,
                count,
                len,
                apart,
                shared.shape,
                partials,
                tickets,
                values,
            );
            // SAFETY: the kernels' requirements are those that they document: `LineReductionKernel` guarantees it.
            // Blocks, grid, partial results and tickets are those of `launch`, for the kernel of this order; there is
            // a value for each row, as was compared. Views of live memory without conflicting work: the matrix and
            // the values are borrowed until this returns, and the partial results are freed after the launch.
            unsafe {
                match launch.is_along {
                    true => module.launch_printing::<K>(launch.config, params, &lines),
                    false => module.launch_printing::<K::Across>(launch.config, params, &lines),
                }
            }
        })
    }

    fn segments_reduced_into<K>(
        &self,
        _kernel: K,
        x: BufferView<'_, K::Element>,
        segments: &Segments,
        values: BufferViewMut<'_, OutputOf<K::Operation, K::Element>>,
    ) -> Outcome<()>
    where
        K: SegmentReductionKernel<Element: Element>,
        AccumulatorOf<K::Operation, K::Element>: Element,
        OutputOf<K::Operation, K::Element>: Element,
    {
        let device = self.device();
        device.check_arrays([x], false)?;
        if <K::Operation as Reduction<K::Element>>::NEEDS_AN_ELEMENT {
            segments.check_elements(NO_EMPTY_SEGMENTS)?;
        }
        if !device.has_segments(segments, x.len(), &values)? {
            return Ok(());
        }
        // Dropped last: the operation may print, and the counters are a lock of the device.
        let lines = Lines::default();
        segments.with_memory(device, |config, shared| {
            let (offsets, parts) = (shared.offsets, shared.parts);
            let values = global_mut(values);
            let params = (
                global(x),
                offsets,
                parts,
                shared.partials,
                shared.tickets,
                values,
            );
            // SAFETY: the kernel's requirements are those that it documents: `SegmentReductionKernel` guarantees it.
            // Grid, lists, partial results and tickets are those of `with_memory`; `x` has the elements and there is
            // a value for each segment, as was compared. Views of live memory without conflicting work: `x`, segments
            // and values are borrowed until this returns, and the partial results are freed after the launch.
            unsafe { self.by_ref().launch_printing::<K>(config, params, &lines) }
        })
    }
}
