//! Scans of buffers and rows by the library's operations.

use super::launch::{Axis, Kind, Scanned, shape_of};
use crate::buffer::{Buffer, BufferView, BufferViewMut, IntoBufferView};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, Outcome, Result};
use crate::kernels::{OwnKernel, own_kernels};
use crate::matrix::{AsMatrixViewMut, IntoMatrixView, Matrix, MatrixView, MatrixViewMut};
use crate::module::Module;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use half::{bf16, f16};
use tilewright_kernels::for_each_row_scan;
use tilewright_kernels::reduce::{self, Max, Min, Reduction};
use tilewright_kernels::scan::{self, PrefixProduct, PrefixSum, ScanPlan, ScanShape};

/// An element type that the operation `R` scans: `Sum`, `Product`, `Min` or `Max` of [`ops`](crate::ops).
///
/// The types are f32, f64, f16, bf16, i32, u32, i64 and u64. Results have the type of the elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be scanned by `{R}`",
    note = "scans are by `Sum`, `Product`, `Min` and `Max` of `tilewright::ops`, of f32, f64, f16, bf16, i32, u32, \
            i64 and u64"
)]
pub trait Scannable<R>: sealed::ScanBy<R> {}

mod sealed {
    use super::{Element, Global, GlobalMut, GridConstant, OwnKernel, ScanPlan, ScanShape};

    /// An element type with a kernel that scans it by `R`.
    pub trait ScanBy<R>: Element {
        /// The type that the kernel takes: of the same size, and unsigned for sums and products of integers.
        type Scanned: Element;
        type Kernel: for<'launch> OwnKernel<
            Params<'launch> = (
                Global<'launch, Self::Scanned>,
                GlobalMut<'launch, Self::Scanned>,
                GlobalMut<'launch, u64>,
                [Self::Scanned; 1],
                GridConstant<'launch, ScanShape>,
                Global<'launch, u64>,
                Global<'launch, [u64; 3]>,
            ),
        >;
        const NEEDS_AN_ELEMENT: bool;
        const PLAN: fn(usize) -> ScanPlan;
    }
}

macro_rules! row_scans {
    ($($operation:ident, $name:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {$(
        own_kernels!(scan: $kernel);

        impl sealed::ScanBy<reduce::$name> for $element {
            type Scanned = Self;
            type Kernel = scan::$kernel;
            const NEEDS_AN_ELEMENT: bool = <$operation as Reduction<$element>>::NEEDS_AN_ELEMENT;
            const PLAN: fn(usize) -> ScanPlan = ScanPlan::of::<$operation, $element>;
        }

        impl Scannable<reduce::$name> for $element {}
    )*};
}
for_each_row_scan!(row_scans);

/// Two's complement: one wrapping operation serves signed and unsigned integers.
macro_rules! signed_scans {
    ($($name:ident of $signed:ident as $unsigned:ident;)*) => {$(
        impl sealed::ScanBy<reduce::$name> for $signed {
            type Scanned = $unsigned;
            type Kernel = <$unsigned as sealed::ScanBy<reduce::$name>>::Kernel;
            const NEEDS_AN_ELEMENT: bool = false;
            const PLAN: fn(usize) -> ScanPlan = <$unsigned as sealed::ScanBy<reduce::$name>>::PLAN;
        }

        impl Scannable<reduce::$name> for $signed {}
    )*};
}
signed_scans! {
    Sum of i32 as u32;
    Sum of i64 as u64;
    Product of i32 as u32;
    Product of i64 as u64;
}

impl Device {
    /// The inclusive scan of `x` by `operation`: element i combines `x[0]` to `x[i]`.
    ///
    /// Operations are `Sum`, `Product`, `Min` and `Max` of [`ops`](crate::ops). Sums are those of [`Device::scan_inclusive`].
    /// Results have the type of the elements: sums and products of integers wrap; sums of f16 and bf16 are computed in
    /// f32, products of f32, f16 and bf16 in f64, and each result is rounded once. NaN and zeros follow the rules of
    /// the operation's reduction: once a minimum or a maximum is NaN, so are all later ones.
    ///
    /// The same elements give the same bits in every run and on every device. The call does not wait.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[3, 1, 4, 1, 5])?;
    /// assert_eq!(device.scan_inclusive_by(&x, ops::Max)?.to_vec()?, [3, 3, 4, 4, 5]);
    /// assert_eq!(device.scan_exclusive_by(&x, ops::Min, 9)?.to_vec()?, [9, 3, 1, 1, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::scan_inclusive`].
    pub fn scan_inclusive_by<'x, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        operation: R,
    ) -> Result<Buffer<T>> {
        let _: R = operation;
        self.buffer_scanned::<R, T>(x.into(), Kind::Inclusive)
            .during("scan_inclusive_by")
    }

    /// The exclusive scan of `x` by `operation`: element i combines `initial` and the i elements before `x[i]`.
    ///
    /// `initial` is an element, or `None`: then element 0 is 0 for sums and 1 for products. The rules are those of
    /// [`Device::scan_inclusive_by`].
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`](crate::ErrorKind::NoElements) for minima and maxima without an initial value, and
    /// those of [`Device::scan_inclusive`].
    pub fn scan_exclusive_by<'x, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        operation: R,
        initial: impl Into<Option<T>>,
    ) -> Result<Buffer<T>> {
        let _: R = operation;
        self.buffer_scanned::<R, T>(x.into(), Kind::Exclusive(initial.into()))
            .during("scan_exclusive_by")
    }

    /// Writes [`Device::scan_inclusive_by`] to `results`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`Device::scan_inclusive_by`].
    pub fn scan_inclusive_by_into<'x, 'r, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        operation: R,
        results: impl Into<BufferViewMut<'r, T>>,
    ) -> Result<()> {
        let _: R = operation;
        self.buffer_scanned_into::<R, T>(x.into(), results.into(), Kind::Inclusive)
            .during("scan_inclusive_by_into")
    }

    /// Writes [`Device::scan_exclusive_by`] to `results`, a buffer or a slice of one, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `results` is not as long as `x`, and those of
    /// [`Device::scan_exclusive_by`].
    pub fn scan_exclusive_by_into<'x, 'r, R, T: Scannable<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        operation: R,
        initial: impl Into<Option<T>>,
        results: impl Into<BufferViewMut<'r, T>>,
    ) -> Result<()> {
        let _: R = operation;
        self.buffer_scanned_into::<R, T>(x.into(), results.into(), Kind::Exclusive(initial.into()))
            .during("scan_exclusive_by_into")
    }

    /// The inclusive scan of each row of `matrix` by `operation`: [`Device::scan_inclusive_by`] of each row, with the
    /// same bits.
    ///
    /// `matrix` is `&matrix` or a view; the results have its order.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let matrix = device.matrix((2, 3), &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let sums = device.scan_rows_inclusive(&matrix, ops::Sum)?;
    /// assert_eq!(sums.to_vec()?, [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) for more than 2^31 - 1 blocks, and those of
    /// [`Device::scan_inclusive`].
    #[doc(alias = "cumsum")]
    #[doc(alias = "cummax")]
    pub fn scan_rows_inclusive<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
    ) -> Result<Matrix<T>> {
        let _: R = operation;
        self.matrix_scanned::<R, T>(Axis::Rows, matrix.into(), Kind::Inclusive)
            .during("scan_rows_inclusive")
    }

    /// The exclusive scan of each row of `matrix` by `operation`: [`Device::scan_exclusive_by`] of each row, with the
    /// same bits, and the same initial value for all.
    ///
    /// # Errors
    /// The errors of [`Device::scan_exclusive_by`] and of [`Device::scan_rows_inclusive`].
    pub fn scan_rows_exclusive<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        initial: impl Into<Option<T>>,
    ) -> Result<Matrix<T>> {
        let _: R = operation;
        self.matrix_scanned::<R, T>(Axis::Rows, matrix.into(), Kind::Exclusive(initial.into()))
            .during("scan_rows_exclusive")
    }

    /// Writes [`Device::scan_rows_inclusive`] to `results`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) if the shapes differ,
    /// [`ErrorKind::OrderMismatch`](crate::ErrorKind::OrderMismatch) if the orders do, unless a matrix is a single row or
    /// column, and those of [`Device::scan_rows_inclusive`].
    pub fn scan_rows_inclusive_into<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let _: R = operation;
        let results = results.as_matrix_view_mut();
        self.matrix_scanned_into::<R, T>(Axis::Rows, matrix.into(), results, Kind::Inclusive)
            .during("scan_rows_inclusive_into")
    }

    /// Writes [`Device::scan_rows_exclusive`] to `results`, without waiting.
    ///
    /// # Errors
    /// The errors of [`Device::scan_rows_exclusive`] and of [`Device::scan_rows_inclusive_into`].
    pub fn scan_rows_exclusive_into<'m, R, T: Scannable<R>>(
        &self,
        matrix: impl IntoMatrixView<'m, T>,
        operation: R,
        initial: impl Into<Option<T>>,
        results: &mut impl AsMatrixViewMut<T>,
    ) -> Result<()> {
        let _: R = operation;
        let (results, kind) = (
            results.as_matrix_view_mut(),
            Kind::Exclusive(initial.into()),
        );
        self.matrix_scanned_into::<R, T>(Axis::Rows, matrix.into(), results, kind)
            .during("scan_rows_exclusive_into")
    }

    fn buffer_scanned<R, T: Scannable<R>>(
        &self,
        x: BufferView<'_, T>,
        kind: Kind<T>,
    ) -> Outcome<Buffer<T>> {
        let mut y = Buffer::uninit(self, x.len())?;
        self.buffer_scanned_into::<R, T>(x, y.view_mut(), kind)?;
        Ok(y)
    }

    fn buffer_scanned_into<R, T: Scannable<R>>(
        &self,
        x: BufferView<'_, T>,
        y: BufferViewMut<'_, T>,
        kind: Kind<T>,
    ) -> Outcome<()> {
        kind.check(T::NEEDS_AN_ELEMENT)?;
        self.launch_row_scan::<R, T>(Scanned::buffer(self, x, y)?, kind)
    }

    pub(super) fn matrix_scanned<R, T: Scannable<R>>(
        &self,
        axis: Axis,
        x: MatrixView<'_, T>,
        kind: Kind<T>,
    ) -> Outcome<Matrix<T>> {
        let mut y = Matrix::uninit(self, shape_of(x))?;
        self.matrix_scanned_into::<R, T>(axis, x, y.view_mut(), kind)?;
        Ok(y)
    }

    pub(super) fn matrix_scanned_into<R, T: Scannable<R>>(
        &self,
        axis: Axis,
        x: MatrixView<'_, T>,
        y: MatrixViewMut<'_, T>,
        kind: Kind<T>,
    ) -> Outcome<()> {
        kind.check(T::NEEDS_AN_ELEMENT)?;
        self.launch_row_scan::<R, T>(Scanned::matrix(self, axis, x, y)?, kind)
    }

    pub(super) fn launch_row_scan<R, T: Scannable<R>>(
        &self,
        scanned: Scanned<'_, T, T>,
        kind: Kind<T>,
    ) -> Outcome<()> {
        scanned.launch(
            self,
            T::PLAN,
            kind,
            |config, (x, y, state, initial, shape, offsets, tiles)| {
                // SAFETY: for both views: the scanned type has the size and the alignment of an element.
                let params = unsafe {
                    (
                        Global::from_raw_parts(x.as_ptr().cast::<T::Scanned>(), x.len()),
                        GlobalMut::from_raw_parts(y.as_mut_ptr().cast::<T::Scanned>(), y.len()),
                        state,
                        bytemuck::cast::<[T; 1], [T::Scanned; 1]>(initial),
                        shape,
                        offsets,
                        tiles,
                    )
                };
                // SAFETY: the launch meets the kernel's requirements: `Scanned::launch` has made it for the kernel's plan.
                // Views of live memory without conflicting work: operand and results are borrowed until this returns, and
                // the state is freed after the launch, in the device's order.
                unsafe { Module::launch_own::<T::Kernel>(self, config, params) }
            },
        )
    }
}
