//! Scans of columns and segments by the library's operations.

use super::launch::{Axis, Kind, Scanned};
use super::rows::Scannable;
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix};
use crate::reduce::Segments;

impl Device {
    /// The inclusive scan of each column of `matrix` by `operation`: [`Device::scan_inclusive_by`] of each column, with
    /// the same bits.
    ///
    /// `matrix` is `&matrix` or a view; the results have its order.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let matrix = device.matrix((3, 2), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let sums = device.scan_columns_inclusive(&matrix, ops::Sum)?;
    /// assert_eq!(sums.to_vec()?, [1.0, 2.0, 4.0, 6.0, 9.0, 12.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::scan_rows_inclusive`].
    #[doc(alias = "cumsum")]
    #[doc(alias = "cummax")]
    pub fn scan_columns_inclusive<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
    ) -> Result<Matrix<T>> {
        let _: R = operation;
        self.matrix_scanned::<R, T>(Axis::Columns, matrix.into(), Kind::Inclusive)
            .during("scan_columns_inclusive")
    }

    /// The exclusive scan of each column of `matrix` by `operation`: [`Device::scan_exclusive_by`] of each column, with
    /// the same bits, and the same initial value for all.
    ///
    /// # Errors
    /// The errors of [`Device::scan_rows_exclusive`].
    pub fn scan_columns_exclusive<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        initial: impl Into<Option<T>>,
    ) -> Result<Matrix<T>> {
        let _: R = operation;
        let kind = Kind::Exclusive(initial.into());
        self.matrix_scanned::<R, T>(Axis::Columns, matrix.into(), kind)
            .during("scan_columns_exclusive")
    }

    /// Writes [`Device::scan_columns_inclusive`] to `results`, without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::scan_rows_inclusive_into`].
    pub fn scan_columns_inclusive_into<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let _: R = operation;
        let results = results.as_matrix_view_mut();
        self.matrix_scanned_into::<R, T>(Axis::Columns, matrix.into(), results, Kind::Inclusive)
            .during("scan_columns_inclusive_into")
    }

    /// Writes [`Device::scan_columns_exclusive`] to `results`, without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::scan_rows_exclusive_into`].
    pub fn scan_columns_exclusive_into<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        initial: impl Into<Option<T>>,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let _: R = operation;
        let kind = Kind::Exclusive(initial.into());
        let results = results.as_matrix_view_mut();
        self.matrix_scanned_into::<R, T>(Axis::Columns, matrix.into(), results, kind)
            .during("scan_columns_exclusive_into")
    }

    /// The inclusive scan of each of `segments` of `x` by `operation`: [`Device::scan_inclusive_by`] of each segment,
    /// with the same bits, wherever it starts.
    ///
    /// There is one result for each element of `x`. Those in no segment are 0.
    ///
    /// If a segment has more than 8 KiB, the first scan of `segments` by an operation on a type copies a list of tiles
    /// to the device, and waits for earlier work of the stream in which the segments were made. Later scans do not wait.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[3, 1, 4, 1, 5])?;
    /// let segments = device.segments(&[0, 2, 5])?;
    /// let sums = device.scan_segments_inclusive(&x, &segments, ops::Sum)?;
    /// assert_eq!(sums.to_vec()?, [3, 4, 4, 5, 10]);
    /// let least = device.scan_segments_exclusive(&x, &segments, ops::Min, 9)?;
    /// assert_eq!(least.to_vec()?, [9, 3, 9, 4, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOffsets`](crate::ErrorKind::InvalidOffsets) if a segment ends past the end of `x`;
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` or the segments are on another device;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks, and those of
    /// [`Device::scan_inclusive`].
    pub fn scan_segments_inclusive<'x, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
    ) -> Result<Buffer<T>> {
        let _: R = operation;
        self.segments_scanned::<R, T>(x.into(), segments, Kind::Inclusive)
            .during("scan_segments_inclusive")
    }

    /// The exclusive scan of each of `segments` of `x` by `operation`: [`Device::scan_exclusive_by`] of each segment,
    /// with the same bits, and the same initial value for all.
    ///
    /// # Errors
    /// The errors of [`Device::scan_segments_inclusive`] and of [`Device::scan_exclusive_by`].
    pub fn scan_segments_exclusive<'x, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
        initial: impl Into<Option<T>>,
    ) -> Result<Buffer<T>> {
        let _: R = operation;
        self.segments_scanned::<R, T>(x.into(), segments, Kind::Exclusive(initial.into()))
            .during("scan_segments_exclusive")
    }

    /// Writes [`Device::scan_segments_inclusive`] to `results`, a buffer or a slice of one.
    ///
    /// Elements in no segment are left as they are.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`Device::scan_segments_inclusive`].
    pub fn scan_segments_inclusive_into<'x, 'r, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
        results: impl Into<BufferViewMut<'r, T>>,
    ) -> Result<()> {
        let _: R = operation;
        self.segments_scanned_into::<R, T>(x.into(), segments, results.into(), Kind::Inclusive)
            .during("scan_segments_inclusive_into")
    }

    /// Writes [`Device::scan_segments_exclusive`] to `results`, a buffer or a slice of one.
    ///
    /// Elements in no segment are left as they are.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`Device::scan_segments_exclusive`].
    pub fn scan_segments_exclusive_into<'x, 'r, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        segments: &Segments,
        operation: R,
        initial: impl Into<Option<T>>,
        results: impl Into<BufferViewMut<'r, T>>,
    ) -> Result<()> {
        let _: R = operation;
        let kind = Kind::Exclusive(initial.into());
        self.segments_scanned_into::<R, T>(x.into(), segments, results.into(), kind)
            .during("scan_segments_exclusive_into")
    }

    fn segments_scanned<R, T: Scannable<R>>(
        &self,
        x: BufferView<'_, T>,
        segments: &Segments,
        kind: Kind<T>,
    ) -> Outcome<Buffer<T>> {
        let mut y = segments.results(self, x.len())?;
        self.segments_scanned_into::<R, T>(x, segments, y.view_mut(), kind)?;
        Ok(y)
    }

    fn segments_scanned_into<R, T: Scannable<R>>(
        &self,
        x: BufferView<'_, T>,
        segments: &Segments,
        y: BufferViewMut<'_, T>,
        kind: Kind<T>,
    ) -> Outcome<()> {
        kind.check(T::NEEDS_AN_ELEMENT)?;
        self.launch_row_scan::<R, T>(Scanned::segments(self, x, y, segments)?, kind)
    }
}
