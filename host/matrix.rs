//! Row-major matrices in device memory.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};

/// A matrix in the memory of one device. Its rows lie one after another, without gaps; the
/// element in row `i` and column `j` is number `i * cols + j`.
#[derive(Debug)]
pub struct Matrix<T: Element> {
    buffer: Buffer<T>,
    rows: usize,
    cols: usize,
}

impl<T: Element> Matrix<T> {
    pub(crate) fn uploaded(device: &Device, rows: usize, cols: usize, data: &[T]) -> Result<Self> {
        Self::check_shape("matrix", rows, cols, data.len())?;
        let buffer = Buffer::uploaded(device, "matrix", data)?;
        Ok(Self { buffer, rows, cols })
    }

    pub(crate) fn unspecified(
        device: &Device,
        operation: &'static str,
        rows: usize,
        cols: usize,
    ) -> Result<Self> {
        let len = Self::checked_len(operation, rows, cols)?;
        let buffer = Buffer::unspecified(device, operation, len)?;
        Ok(Self { buffer, rows, cols })
    }

    pub(crate) fn of_buffer(
        operation: &'static str,
        buffer: Buffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<Self> {
        Self::check_shape(operation, rows, cols, buffer.len())?;
        Ok(Self { buffer, rows, cols })
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

    /// The device that holds the matrix.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// The elements, row after row.
    #[must_use]
    pub fn as_buffer(&self) -> &Buffer<T> {
        &self.buffer
    }

    /// The elements, row after row, for writing.
    #[must_use]
    pub fn as_mut_buffer(&mut self) -> &mut Buffer<T> {
        &mut self.buffer
    }

    /// The elements, row after row, without the shape.
    #[must_use]
    pub fn into_buffer(self) -> Buffer<T> {
        self.buffer
    }

    /// A copy of the elements in host memory, row after row.
    ///
    /// # Errors
    /// Those of [`Buffer::to_vec`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.buffer.to_vec()
    }
}
