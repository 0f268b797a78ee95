//! Matrices in device memory.

mod view;

pub use view::MatrixView;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};

/// How the elements of a matrix lie in memory, without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row after row, as in C: the element in row `i` and column `j` is number `i * cols + j`.
    #[default]
    RowMajor,
    /// Column after column, as in Fortran: it is number `j * rows + i`.
    ColumnMajor,
}

impl Order {
    /// The order of the transpose, for which the same elements stand.
    #[must_use]
    pub const fn transposed(self) -> Self {
        match self {
            Self::RowMajor => Self::ColumnMajor,
            Self::ColumnMajor => Self::RowMajor,
        }
    }
}

/// A matrix in the memory of one device: row-major, unless it was made in another [`Order`].
///
/// Products take their operands in either order, and transposed by [`Matrix::t`], without a copy.
#[derive(Debug)]
pub struct Matrix<T: Element> {
    buffer: Buffer<T>,
    rows: usize,
    cols: usize,
    order: Order,
}

impl Device {
    /// A matrix with a copy of `data`, which holds its rows one after another.
    ///
    /// # Errors
    /// [`Error::WrongLength`] if `data` does not have `rows * cols` elements; [`Error::TooLarge`]
    /// if that product overflows; [`Error::OutOfMemory`], [`Error::DeviceLost`] or [`Error::Cuda`].
    pub fn matrix<T: Element>(&self, rows: usize, cols: usize, data: &[T]) -> Result<Matrix<T>> {
        Matrix::uploaded(self, "matrix", (rows, cols), Order::RowMajor, data)
    }

    /// A matrix with a copy of `data`, which holds its columns one after another. The device
    /// has the same order: nothing is transposed.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let matrix = Device::simulator().column_major_matrix(2, 3, &[1.0_f32, 4.0, 2.0, 5.0, 3.0, 6.0])?;
    /// assert_eq!(matrix.to_vec()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Device::matrix`].
    pub fn column_major_matrix<T: Element>(
        &self,
        rows: usize,
        cols: usize,
        data: &[T],
    ) -> Result<Matrix<T>> {
        Matrix::uploaded(
            self,
            "column_major_matrix",
            (rows, cols),
            Order::ColumnMajor,
            data,
        )
    }

    /// A matrix whose bytes are all zero.
    ///
    /// # Errors
    /// Those of [`Device::zeros`].
    pub fn zero_matrix<T: Element>(&self, rows: usize, cols: usize) -> Result<Matrix<T>> {
        let len = Matrix::<T>::checked_len("zero_matrix", rows, cols)?;
        Buffer::zeroed(self, "zero_matrix", len)?.into_matrix(rows, cols)
    }
}

impl<T: Element> Buffer<T> {
    /// The same memory as a matrix, whose rows lie one after another.
    ///
    /// # Errors
    /// [`Error::WrongLength`] if there are not `rows * cols` elements; [`Error::TooLarge`] if
    /// that product overflows.
    pub fn into_matrix(self, rows: usize, cols: usize) -> Result<Matrix<T>> {
        Matrix::of_buffer("into_matrix", self, rows, cols)
    }
}

impl<T: Element> Matrix<T> {
    pub(crate) fn uploaded(
        device: &Device,
        operation: &'static str,
        (rows, cols): (usize, usize),
        order: Order,
        data: &[T],
    ) -> Result<Self> {
        Self::check_shape(operation, rows, cols, data.len())?;
        let buffer = Buffer::uploaded(device, operation, data)?;
        Ok(Self {
            buffer,
            rows,
            cols,
            order,
        })
    }

    pub(crate) fn unspecified(
        device: &Device,
        operation: &'static str,
        rows: usize,
        cols: usize,
    ) -> Result<Self> {
        let len = Self::checked_len(operation, rows, cols)?;
        let buffer = Buffer::unspecified(device, operation, len)?;
        Self::of_buffer(operation, buffer, rows, cols)
    }

    pub(crate) fn of_buffer(
        operation: &'static str,
        buffer: Buffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<Self> {
        Self::check_shape(operation, rows, cols, buffer.len())?;
        Ok(Self {
            buffer,
            rows,
            cols,
            order: Order::RowMajor,
        })
    }

    /// The number of elements of a matrix, or an error if it overflows.
    pub(crate) fn checked_len(operation: &'static str, rows: usize, cols: usize) -> Result<usize> {
        rows.checked_mul(cols).ok_or_else(|| {
            Error::size_overflow(operation, format!("a matrix of {rows}x{cols} elements"))
        })
    }

    fn check_shape(operation: &'static str, rows: usize, cols: usize, found: usize) -> Result<()> {
        let expected = Self::checked_len(operation, rows, cols)?;
        if found == expected {
            return Ok(());
        }
        Err(Error::WrongLength {
            operation,
            expected,
            found,
        })
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The numbers of rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// How the elements lie in memory.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// The matrix, borrowed: what products take.
    #[must_use]
    pub fn view(&self) -> MatrixView<'_, T> {
        MatrixView::new(&self.buffer, self.shape(), self.order)
    }

    /// The transpose, without a copy: the same elements in the other order.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = device.matrix(2, 3, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let gram = device.matmul_coarsened(a.t(), &a)?;
    /// assert_eq!(gram.shape(), (3, 3));
    /// assert_eq!(gram.to_vec()?[..3], [17.0, 22.0, 27.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn t(&self) -> MatrixView<'_, T> {
        self.view().t()
    }

    /// The transpose in place of the matrix, without a copy: the same elements in the other order.
    #[must_use]
    pub fn into_transposed(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            order: self.order.transposed(),
            buffer: self.buffer,
        }
    }

    /// The device that holds the matrix.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The elements in the matrix's [`order`](Self::order).
    #[must_use]
    pub fn as_buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// The buffer, for kernels to write. A mutable reference could put a buffer of another length in
    /// its place, so it does not leave the library.
    pub(crate) fn buffer_mut(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// Overwrites all elements with those of `source`, in the matrix's [`order`](Self::order).
    ///
    /// # Errors
    /// Those of [`Buffer::copy_from_slice`].
    pub fn copy_from_slice(&mut self, source: &[T]) -> Result<()> {
        self.buffer.copy_from_slice(source)
    }

    /// Overwrites all bytes with zero.
    ///
    /// # Errors
    /// Those of [`Buffer::fill_zero`].
    pub fn fill_zero(&mut self) -> Result<()> {
        self.buffer.fill_zero()
    }

    /// The elements in the matrix's [`order`](Self::order), without the shape.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// A copy of the elements in host memory, row after row. Those of a column-major matrix are
    /// put into that order on the host.
    ///
    /// # Errors
    /// Those of [`Buffer::to_vec`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let elements = self.buffer.to_vec()?;
        Ok(match self.order {
            Order::RowMajor => elements,
            Order::ColumnMajor => row_after_row(&elements, self.rows),
        })
    }
}

/// The elements of a matrix of `rows` rows that are there column after column.
fn row_after_row<T: Element>(elements: &[T], rows: usize) -> Vec<T> {
    // Without columns, or with elements of no bytes, there may be any number of rows.
    if size_of_val(elements) == 0 {
        return elements.to_vec();
    }
    (0..rows)
        .flat_map(|row| elements.iter().skip(row).step_by(rows).copied())
        .collect()
}
