//! Matrices that are borrowed, and their transposes.

use super::{Matrix, Order};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;

/// A borrowed matrix in the memory of one device: all of a [`Matrix`], or its
/// transpose.
#[derive(Clone, Copy, Debug)]
pub struct MatrixView<'a, T: Element> {
    buffer: &'a Buffer<T>,
    rows: usize,
    cols: usize,
    order: Order,
}

impl<'a, T: Element> MatrixView<'a, T> {
    /// `buffer` has the elements of `rows` x `cols`.
    pub(super) fn new(buffer: &'a Buffer<T>, (rows, cols): (usize, usize), order: Order) -> Self {
        Self {
            buffer,
            rows,
            cols,
            order,
        }
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

    /// The transpose, without a copy.
    #[must_use]
    pub fn t(self) -> Self {
        Self::new(self.buffer, (self.cols, self.rows), self.order.transposed())
    }

    /// The device that holds the matrix.
    #[must_use]
    pub fn device(&self) -> &'a Device {
        self.buffer.device()
    }

    /// The elements in the view's [`order`](Self::order).
    #[must_use]
    pub fn as_buffer(&self) -> &'a Buffer<T> {
        self.buffer
    }
}

impl<'a, T: Element> From<&'a Matrix<T>> for MatrixView<'a, T> {
    fn from(matrix: &'a Matrix<T>) -> Self {
        matrix.view()
    }
}

impl<'a, T: Element> From<&MatrixView<'a, T>> for MatrixView<'a, T> {
    fn from(view: &MatrixView<'a, T>) -> Self {
        *view
    }
}
