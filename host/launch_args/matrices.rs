//! Matrices as a kernel's parameters.

use super::sealed::{self, Position};
use super::{LaunchArg, view_address};
use crate::element::Element;
use crate::error::{ErrorKind, Outcome};
use crate::matrix::{Matrix, MatrixView, MatrixViewMut};
use cuda_std::global::{GlobalMatrix, GlobalMatrixMut};

impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMatrix<'launch, T>> for MatrixView<'a, T> {}

impl<'launch, 'a: 'launch, T: Element> sealed::LaunchArg<GlobalMatrix<'launch, T>>
    for MatrixView<'a, T>
{
    fn into_param(self, position: Position<'_>) -> Outcome<GlobalMatrix<'launch, T>> {
        let view = row_major(self, position)?;
        position
            .device
            .check_reads(|| position.what(), view.holder())?;
        let base = view_address::<T>(view.device_address());
        // SAFETY: the lines are live and aligned: they are in one live allocation, aligned for its elements, a
        // leading dimension apart. The allocation stays while the borrow lasts, the launch is submitted within it,
        // and work that frees it is ordered after it. Nothing writes the elements meanwhile: such work is also
        // ordered after it.
        Ok(unsafe {
            GlobalMatrix::from_raw_parts(base, view.rows(), view.cols(), view.leading_dimension())
        })
    }
}

impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMatrixMut<'launch, T>>
    for MatrixViewMut<'a, T>
{
}

impl<'launch, 'a: 'launch, T: Element> sealed::LaunchArg<GlobalMatrixMut<'launch, T>>
    for MatrixViewMut<'a, T>
{
    fn into_param(self, position: Position<'_>) -> Outcome<GlobalMatrixMut<'launch, T>> {
        let view = row_major(self.view(), position)?;
        position
            .device
            .check_writes(|| position.what(), self.written())?;
        let base = view_address::<T>(view.device_address());
        // SAFETY: the lines are live and aligned, as for a matrix that is read. Nothing else accesses the elements:
        // the borrow is mutable, so no other argument of this launch and no work that is submitted meanwhile does.
        // The launch has one value of the parameter: a launch has one value of each.
        Ok(unsafe {
            GlobalMatrixMut::from_raw_parts(
                base,
                view.rows(),
                view.cols(),
                view.leading_dimension(),
            )
        })
    }
}

impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMatrix<'launch, T>> for &'a Matrix<T> {}

impl<'launch, 'a: 'launch, T: Element> sealed::LaunchArg<GlobalMatrix<'launch, T>>
    for &'a Matrix<T>
{
    fn into_param(self, position: Position<'_>) -> Outcome<GlobalMatrix<'launch, T>> {
        sealed::LaunchArg::into_param(self.view(), position)
    }
}

impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMatrixMut<'launch, T>>
    for &'a mut Matrix<T>
{
}

impl<'launch, 'a: 'launch, T: Element> sealed::LaunchArg<GlobalMatrixMut<'launch, T>>
    for &'a mut Matrix<T>
{
    fn into_param(self, position: Position<'_>) -> Outcome<GlobalMatrixMut<'launch, T>> {
        sealed::LaunchArg::into_param(self.view_mut(), position)
    }
}

/// The matrix, if it is row-major.
fn row_major<'a, T: Element>(
    view: MatrixView<'a, T>,
    position: Position<'_>,
) -> Outcome<MatrixView<'a, T>> {
    view.with_rows().ok_or_else(|| ErrorKind::LaunchConfig {
        kernel: position.kernel,
        reason: format!(
            "argument {} is a column-major matrix, and kernels take row-major ones; make it row-major, \
             or pass its transpose, which is row-major",
            position.number
        ),
    })
}
