//! A matrix in host memory.

use crate::element::Element;
use crate::error::{During, ErrorKind, Result};
use crate::matrix::{MatrixShape, check_shape};
use std::fmt;

/// A matrix in host memory, borrowed as an operand of [`Device::matmul_host`](crate::Device::matmul_host).
///
/// The slice may be a memory-mapped file, or a [`PinnedBuffer`](crate::PinnedBuffer), which is copied fastest.
///
/// ```
/// use tilewright::HostMatrix;
///
/// # fn main() -> tilewright::Result<()> {
/// let elements = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let matrix = HostMatrix::new((2, 3), &elements)?;
/// assert_eq!(matrix.t().shape().rows, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct HostMatrix<'a, T: Element> {
    elements: &'a [T],
    shape: MatrixShape,
}

impl<'a, T: Element> HostMatrix<'a, T> {
    /// The matrix whose elements are `elements` in the shape's order: row after row for `(rows, cols)`.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if the slice does not have `rows * cols` elements;
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) if that product overflows.
    pub fn new(shape: impl Into<MatrixShape>, elements: &'a [T]) -> Result<Self> {
        let shape = shape.into();
        let checked = match shape.rows.checked_mul(shape.cols) {
            Some(_) => check_shape("the slice", shape, elements.len()),
            None => Err(ErrorKind::TooLarge {
                what: format!("a matrix of {}x{} elements", shape.rows, shape.cols),
                remedy: "no slice has as many; give the rows and columns of the slice's matrix",
            }),
        };
        checked.during("HostMatrix::new")?;
        Ok(Self { elements, shape })
    }

    /// The transpose, without a copy.
    #[must_use]
    pub fn t(self) -> Self {
        let MatrixShape { rows, cols, order } = self.shape;
        Self {
            shape: (cols, rows, order.transposed()).into(),
            ..self
        }
    }

    /// The number of rows and columns, and the order of the elements.
    #[must_use]
    pub fn shape(&self) -> MatrixShape {
        self.shape
    }

    /// The elements, in the shape's order.
    #[must_use]
    pub fn elements(&self) -> &'a [T] {
        self.elements
    }
}

/// Shows the type and the shape, but not the elements.
impl<T: Element> fmt::Debug for HostMatrix<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HostMatrix")
            .field("element", &std::any::type_name::<T>())
            .field("shape", &self.shape)
            .finish()
    }
}
