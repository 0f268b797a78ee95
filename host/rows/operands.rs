//! The matrices of row operations, checked, and as kernels' parameters.

use crate::device::Device;
use crate::element::Element;
use crate::error::{ErrorKind, Outcome, check_shapes};
use crate::launch_args::{no_elements, no_operand, read_elements, written_by_product};
use crate::matrix::{MatrixView, MatrixViewMut};
use cuda_std::global::{Global, GlobalMut};
use tilewright_kernels::rows::VECTOR_BYTES;

/// The names of an operation's matrix and of its results, for messages.
pub(super) const OPERATION: [&str; 2] = ["the matrix", "the matrix of the results"];

/// Rows whose results are written: of a matrix, to another or in place.
pub(crate) enum Rows<'a, T: Element> {
    /// Only values of rows are wanted.
    Read(MatrixView<'a, T>),
    /// The results of one matrix go to another of the same shape.
    Written(MatrixView<'a, T>, MatrixViewMut<'a, T>),
    /// The results replace the elements.
    InPlace(MatrixViewMut<'a, T>),
}

impl<'a, T: Element> Rows<'a, T> {
    /// The matrix whose rows are read, or replaced.
    pub(crate) fn operand(&self) -> MatrixView<'_, T> {
        match self {
            Self::Read(x) | Self::Written(x, _) => *x,
            Self::InPlace(y) => y.view(),
        }
    }

    /// Whether rows are moved through shared memory: one of the matrices does not have whole aligned vectors.
    pub(crate) fn is_staged(&self) -> bool {
        match self {
            Self::Read(x) => !has_vectors(*x),
            Self::Written(x, y) => !has_vectors(*x) || !has_vectors(y.view()),
            Self::InPlace(y) => !has_vectors(y.view()),
        }
    }

    /// Fails unless the matrices, named `names`, are on `device`, of one shape, and their rows contiguous.
    pub(crate) fn check(&self, device: &Device, names: [&'static str; 2]) -> Outcome<()> {
        if let Self::Read(x) | Self::Written(x, _) = self {
            device.check_reads(|| names[0].to_owned(), x.holder())?;
            check_order(device, *x)?;
        }
        if let Self::Written(_, y) | Self::InPlace(y) = self {
            device.check_writes(|| names[1].to_owned(), y.written())?;
            check_order(device, y.view())?;
        }
        match self {
            Self::Written(x, y) => check_shapes(names, x.shape(), y.shape()),
            _ => Ok(()),
        }
    }

    /// The leading dimensions of both matrices, and their elements as kernels' parameters: a matrix that is only read
    /// has no results, and one that is changed in place no operand.
    ///
    /// # Safety
    /// 1. Through the parameters, the launch accesses the elements of the matrices alone.
    pub(crate) unsafe fn into_params(self) -> ([usize; 2], Global<'a, T>, GlobalMut<'a, T>) {
        // SAFETY: for all conversions: the launch accesses elements alone, the caller's contract.
        unsafe {
            match self {
                Self::Read(x) => {
                    let apart = apart(x);
                    ([apart, 0], read_elements(x.into()), no_elements())
                }
                Self::Written(x, y) => {
                    let apart = [apart(x), apart(y.view())];
                    (apart, read_elements(x.into()), written_by_product(y.into()))
                }
                Self::InPlace(y) => {
                    let apart = apart(y.view());
                    ([apart; 2], no_operand(), written_by_product(y.into()))
                }
            }
        }
    }
}

/// Elements from one row to the next of a matrix with contiguous rows.
pub(crate) fn apart<T: Element>(matrix: MatrixView<'_, T>) -> usize {
    matrix.with_rows().unwrap_or(matrix).leading_dimension()
}

/// Whether the contiguous rows of `matrix` consist of whole vectors at multiples of 16 bytes.
fn has_vectors<T: Element>(matrix: MatrixView<'_, T>) -> bool {
    let bytes = size_of::<T>() as u64;
    let starts = match matrix.rows() {
        0 | 1 => matrix.device_address(),
        _ => matrix.device_address() | (apart(matrix) as u64 * bytes),
    };
    let len = matrix.cols() as u64 * bytes;
    (starts | len).is_multiple_of(VECTOR_BYTES as u64)
}

/// Fails unless the rows of `matrix` are contiguous.
pub(crate) fn check_order<T: Element>(device: &Device, matrix: MatrixView<'_, T>) -> Outcome<()> {
    if matrix.is_empty() || matrix.with_rows().is_some() {
        return Ok(());
    }
    let (rows, columns) = matrix.shape();
    Err(ErrorKind::NoKernel {
        problem: format!("the rows of a column-major matrix of {rows}x{columns}"),
        device: device.label(),
        reason: "row operations take row-major matrices; copy it to one first".to_owned(),
    })
}
