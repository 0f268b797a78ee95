//! Scans of columns and segments by operations that other crates define.

use super::custom::CustomScan;
use super::launch::{Axis, Kind, Scanned};
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix};
use crate::module::Module;
use crate::reduce::Segments;

impl Module {
    /// The inclusive scan of each column of `matrix` by a custom operation: each has the bits of
    /// [`scan_inclusive`](Self::scan_inclusive), and the results the order of the matrix.
    ///
    /// # Errors
    /// The errors of [`scan_rows_inclusive`](Self::scan_rows_inclusive).
    pub fn scan_columns_inclusive<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
    ) -> Result<Matrix<K::Output>> {
        self.matrix_scanned(kernel, Axis::Columns, matrix.into(), Kind::Inclusive)
            .during("scan_columns_inclusive")
    }

    /// The exclusive scan of each column of `matrix` by a custom operation: each has the bits of
    /// [`scan_exclusive`](Self::scan_exclusive), and the results the order of the matrix.
    ///
    /// # Errors
    /// The errors of [`scan_rows_exclusive`](Self::scan_rows_exclusive).
    pub fn scan_columns_exclusive<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
        initial: impl Into<Option<K::Input>>,
    ) -> Result<Matrix<K::Output>> {
        let kind = Kind::Exclusive(initial.into());
        self.matrix_scanned(kernel, Axis::Columns, matrix.into(), kind)
            .during("scan_columns_exclusive")
    }

    /// Writes [`scan_columns_inclusive`](Self::scan_columns_inclusive) to `results`.
    ///
    /// # Errors
    /// The errors of [`scan_rows_inclusive_into`](Self::scan_rows_inclusive_into).
    pub fn scan_columns_inclusive_into<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
        results: &mut impl AsMatrixViewMut<K::Output>,
    ) -> Result<()> {
        let results = results.as_matrix_view_mut();
        let kind = Kind::Inclusive;
        self.matrix_scanned_into(kernel, Axis::Columns, matrix.into(), results, kind)
            .during("scan_columns_inclusive_into")
    }

    /// Writes [`scan_columns_exclusive`](Self::scan_columns_exclusive) to `results`.
    ///
    /// # Errors
    /// The errors of [`scan_rows_exclusive_into`](Self::scan_rows_exclusive_into).
    pub fn scan_columns_exclusive_into<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
        initial: impl Into<Option<K::Input>>,
        results: &mut impl AsMatrixViewMut<K::Output>,
    ) -> Result<()> {
        let kind = Kind::Exclusive(initial.into());
        let results = results.as_matrix_view_mut();
        self.matrix_scanned_into(kernel, Axis::Columns, matrix.into(), results, kind)
            .during("scan_columns_exclusive_into")
    }

    /// The inclusive scan of each of `segments` of `x` by a custom operation: each has the bits of
    /// [`scan_inclusive`](Self::scan_inclusive), wherever it starts.
    ///
    /// There is one result for each element of `x`. Those in no segment are 0. The first call waits if
    /// [`Device::scan_segments_inclusive`](crate::Device::scan_segments_inclusive) does.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOffsets`](crate::ErrorKind::InvalidOffsets) if a segment ends past the end of `x`;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks, and those of
    /// [`scan_inclusive`](Self::scan_inclusive).
    pub fn scan_segments_inclusive<'x, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        segments: &Segments,
    ) -> Result<Buffer<K::Output>> {
        self.segments_scanned(kernel, x.into(), segments, Kind::Inclusive)
            .during("scan_segments_inclusive")
    }

    /// The exclusive scan of each of `segments` of `x` by a custom operation: each has the bits of
    /// [`scan_exclusive`](Self::scan_exclusive), wherever it starts, and the same initial element.
    ///
    /// # Errors
    /// The errors of [`scan_segments_inclusive`](Self::scan_segments_inclusive) and of
    /// [`scan_exclusive`](Self::scan_exclusive).
    pub fn scan_segments_exclusive<'x, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        segments: &Segments,
        initial: impl Into<Option<K::Input>>,
    ) -> Result<Buffer<K::Output>> {
        self.segments_scanned(kernel, x.into(), segments, Kind::Exclusive(initial.into()))
            .during("scan_segments_exclusive")
    }

    /// Writes [`scan_segments_inclusive`](Self::scan_segments_inclusive) to `results`, a buffer or a slice of one.
    /// Elements in no segment are left as they are.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`scan_segments_inclusive`](Self::scan_segments_inclusive).
    pub fn scan_segments_inclusive_into<'x, 'r, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        segments: &Segments,
        results: impl Into<BufferViewMut<'r, K::Output>>,
    ) -> Result<()> {
        self.segments_scanned_into(kernel, x.into(), segments, results.into(), Kind::Inclusive)
            .during("scan_segments_inclusive_into")
    }

    /// Writes [`scan_segments_exclusive`](Self::scan_segments_exclusive) to `results`, a buffer or a slice of one.
    /// Elements in no segment are left as they are.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`scan_segments_exclusive`](Self::scan_segments_exclusive).
    pub fn scan_segments_exclusive_into<'x, 'r, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        segments: &Segments,
        initial: impl Into<Option<K::Input>>,
        results: impl Into<BufferViewMut<'r, K::Output>>,
    ) -> Result<()> {
        let kind = Kind::Exclusive(initial.into());
        self.segments_scanned_into(kernel, x.into(), segments, results.into(), kind)
            .during("scan_segments_exclusive_into")
    }

    fn segments_scanned<K: CustomScan>(
        &self,
        kernel: K,
        x: BufferView<'_, K::Input>,
        segments: &Segments,
        kind: Kind<K::Input>,
    ) -> Outcome<Buffer<K::Output>> {
        let mut y = segments.results(self.device(), x.len())?;
        self.segments_scanned_into(kernel, x, segments, y.view_mut(), kind)?;
        Ok(y)
    }

    fn segments_scanned_into<K: CustomScan>(
        &self,
        kernel: K,
        x: BufferView<'_, K::Input>,
        segments: &Segments,
        y: BufferViewMut<'_, K::Output>,
        kind: Kind<K::Input>,
    ) -> Outcome<()> {
        let scanned = Scanned::segments(self.device(), x, y, segments)?;
        self.launch_scan(kernel, scanned, kind)
    }
}
