//! Scans by operations that other crates define.

use super::launch::{Axis, Kind, Scanned, shape_of};
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixView, MatrixViewMut};
use crate::module::Module;
use tilewright_kernels::reduce::Reduction;
use tilewright_kernels::scan::{ScanKernel, ScanPlan};

/// A custom scan whose elements and results device memory can hold: every [`ScanKernel`] of such types.
pub trait CustomScan:
    ScanKernel<Element = Self::Input, Operation: Reduction<Self::Input, Output = Self::Output>>
{
    /// The type of the elements.
    type Input: Element;

    /// The type of the results.
    type Output: Element;
}

impl<K, I: Element, O: Element> CustomScan for K
where
    K: ScanKernel<Element = I, Operation: Reduction<I, Output = O>>,
{
    type Input = I;
    type Output = O;
}

impl Module {
    /// The inclusive scan of `x` by a custom operation: element i is the value of `x[0]` to `x[i]`.
    ///
    /// [`reductions!`](tilewright_kernels::reductions) generates `kernel` by a line such as `kernel: Operation of
    /// scans of f32;`. The operation must be associative, up to rounding. It need not be commutative: accumulators are
    /// combined in the order of the elements. The order of the combinations depends on the number and the type of the
    /// elements alone, so the same elements give the same bits in every run and on every device. The call does not
    /// wait.
    ///
    /// ```
    /// use tilewright::{Device, ModuleSource};
    /// use tilewright_kernels::reduce::Reduction;
    ///
    /// /// The recurrence y = a y + b, for elements [a, b], from y = 0 on.
    /// pub struct Recurrence;
    ///
    /// impl Reduction<[f32; 2]> for Recurrence {
    ///     type Accumulator = [f32; 2];
    ///     type Output = f32;
    ///     const IDENTITY: [f32; 2] = [1.0, 0.0];
    ///
    ///     fn lift(element: [f32; 2], _index: usize) -> [f32; 2] {
    ///         element
    ///     }
    ///
    ///     fn combine([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
    ///         [a * c, b * c + d]
    ///     }
    ///
    ///     fn finish([_, y]: [f32; 2], _elements: usize) -> f32 {
    ///         y
    ///     }
    /// }
    ///
    /// tilewright_kernels::reductions! {
    ///     /// The recurrence of each element.
    ///     recurrence: Recurrence of scans of [f32; 2];
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("recurrence", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let module = device.load(&KERNELS)?;
    /// let x = device.upload(&[[0.5_f32, 8.0], [0.5, 0.0], [2.0, 1.0]])?;
    /// assert_eq!(module.scan_inclusive(recurrence, &x)?.to_vec()?, [8.0, 4.0, 9.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` is on another device, and those of
    /// [`launch`](Self::launch).
    pub fn scan_inclusive<'x, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
    ) -> Result<Buffer<K::Output>> {
        self.buffer_scanned(kernel, x.into(), Kind::Inclusive)
            .during("scan_inclusive")
    }

    /// The exclusive scan of `x` by a custom operation: element i is the value of the i elements before `x[i]`, after
    /// the element `initial` if there is one.
    ///
    /// The initial element is lifted with index 0, and is not counted. The rules are those of
    /// [`scan_inclusive`](Self::scan_inclusive).
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`](crate::ErrorKind::NoElements) without an initial value if the operation needs an
    /// element, and those of [`scan_inclusive`](Self::scan_inclusive).
    pub fn scan_exclusive<'x, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        initial: impl Into<Option<K::Input>>,
    ) -> Result<Buffer<K::Output>> {
        self.buffer_scanned(kernel, x.into(), Kind::Exclusive(initial.into()))
            .during("scan_exclusive")
    }

    /// Writes [`scan_inclusive`](Self::scan_inclusive) to `results`, a buffer or a slice of one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`scan_inclusive`](Self::scan_inclusive).
    pub fn scan_inclusive_into<'x, 'r, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        results: impl Into<BufferViewMut<'r, K::Output>>,
    ) -> Result<()> {
        self.buffer_scanned_into(kernel, x.into(), results.into(), Kind::Inclusive)
            .during("scan_inclusive_into")
    }

    /// Writes [`scan_exclusive`](Self::scan_exclusive) to `results`, a buffer or a slice of one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`scan_exclusive`](Self::scan_exclusive).
    pub fn scan_exclusive_into<'x, 'r, K: CustomScan>(
        &self,
        kernel: K,
        x: impl IntoBufferView<'x, K::Input>,
        initial: impl Into<Option<K::Input>>,
        results: impl Into<BufferViewMut<'r, K::Output>>,
    ) -> Result<()> {
        let kind = Kind::Exclusive(initial.into());
        self.buffer_scanned_into(kernel, x.into(), results.into(), kind)
            .during("scan_exclusive_into")
    }

    /// The inclusive scan of each row of `matrix` by a custom operation: each has the bits of
    /// [`scan_inclusive`](Self::scan_inclusive), and the results the order of the matrix.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks, and those of
    /// [`scan_inclusive`](Self::scan_inclusive).
    pub fn scan_rows_inclusive<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
    ) -> Result<Matrix<K::Output>> {
        self.matrix_scanned(kernel, Axis::Rows, matrix.into(), Kind::Inclusive)
            .during("scan_rows_inclusive")
    }

    /// The exclusive scan of each row of `matrix` by a custom operation: each has the bits of
    /// [`scan_exclusive`](Self::scan_exclusive).
    ///
    /// # Errors
    /// The errors of [`scan_exclusive`](Self::scan_exclusive) and of
    /// [`scan_rows_inclusive`](Self::scan_rows_inclusive).
    pub fn scan_rows_exclusive<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
        initial: impl Into<Option<K::Input>>,
    ) -> Result<Matrix<K::Output>> {
        let kind = Kind::Exclusive(initial.into());
        self.matrix_scanned(kernel, Axis::Rows, matrix.into(), kind)
            .during("scan_rows_exclusive")
    }

    /// Writes [`scan_rows_inclusive`](Self::scan_rows_inclusive) to `results`.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the shapes differ,
    /// [`ErrorKind::OrderMismatch`](crate::ErrorKind::OrderMismatch) if the orders do, and those of
    /// [`scan_rows_inclusive`](Self::scan_rows_inclusive).
    pub fn scan_rows_inclusive_into<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
        results: &mut impl AsMatrixViewMut<K::Output>,
    ) -> Result<()> {
        let results = results.as_matrix_view_mut();
        self.matrix_scanned_into(kernel, Axis::Rows, matrix.into(), results, Kind::Inclusive)
            .during("scan_rows_inclusive_into")
    }

    /// Writes [`scan_rows_exclusive`](Self::scan_rows_exclusive) to `results`.
    ///
    /// # Errors
    /// The errors of [`scan_rows_exclusive`](Self::scan_rows_exclusive) and of
    /// [`scan_rows_inclusive_into`](Self::scan_rows_inclusive_into).
    pub fn scan_rows_exclusive_into<'m, K: CustomScan>(
        &self,
        kernel: K,
        matrix: impl IntoMatrixView<'m, K::Input>,
        initial: impl Into<Option<K::Input>>,
        results: &mut impl AsMatrixViewMut<K::Output>,
    ) -> Result<()> {
        let kind = Kind::Exclusive(initial.into());
        let results = results.as_matrix_view_mut();
        self.matrix_scanned_into(kernel, Axis::Rows, matrix.into(), results, kind)
            .during("scan_rows_exclusive_into")
    }

    fn buffer_scanned<K: CustomScan>(
        &self,
        kernel: K,
        x: BufferView<'_, K::Input>,
        kind: Kind<K::Input>,
    ) -> Outcome<Buffer<K::Output>> {
        let mut y = Buffer::uninit(self.device(), x.len())?;
        self.buffer_scanned_into(kernel, x, y.view_mut(), kind)?;
        Ok(y)
    }

    fn buffer_scanned_into<K: CustomScan>(
        &self,
        kernel: K,
        x: BufferView<'_, K::Input>,
        y: BufferViewMut<'_, K::Output>,
        kind: Kind<K::Input>,
    ) -> Outcome<()> {
        self.launch_scan(kernel, Scanned::buffer(self.device(), x, y)?, kind)
    }

    pub(super) fn matrix_scanned<K: CustomScan>(
        &self,
        kernel: K,
        axis: Axis,
        x: MatrixView<'_, K::Input>,
        kind: Kind<K::Input>,
    ) -> Outcome<Matrix<K::Output>> {
        let mut y = Matrix::uninit(self.device(), shape_of(x))?;
        self.matrix_scanned_into(kernel, axis, x, y.view_mut(), kind)?;
        Ok(y)
    }

    pub(super) fn matrix_scanned_into<K: CustomScan>(
        &self,
        kernel: K,
        axis: Axis,
        x: MatrixView<'_, K::Input>,
        y: MatrixViewMut<'_, K::Output>,
        kind: Kind<K::Input>,
    ) -> Outcome<()> {
        self.launch_scan(kernel, Scanned::matrix(self.device(), axis, x, y)?, kind)
    }

    pub(super) fn launch_scan<K: CustomScan>(
        &self,
        _kernel: K,
        scanned: Scanned<'_, K::Input, K::Output>,
        kind: Kind<K::Input>,
    ) -> Outcome<()> {
        kind.check(<K::Operation as Reduction<K::Input>>::NEEDS_AN_ELEMENT)?;
        let plan = ScanPlan::of::<K::Operation, K::Input>;
        scanned.launch(self.device(), plan, kind, |config, params| {
            // SAFETY: the kernel's requirements are those that it documents: `ScanKernel` guarantees it.
            // `Scanned::launch` has made the launch for its plan. Views of live memory without conflicting work:
            // operand and results are borrowed until this returns, and the state is freed after the launch.
            unsafe { self.by_ref().launch_params::<K>(config, params) }
        })
    }
}
