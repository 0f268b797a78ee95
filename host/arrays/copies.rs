//! Copies of arrays to a device, and back.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_shapes};
use crate::matrix::{Matrix, MatrixView, MatrixViewMut, Order};
use ndarray::{
    Array1, Array2, ArrayView, ArrayView2, ArrayViewMut2, Axis, Dimension, ShapeBuilder,
};
use std::borrow::Cow;

impl Device {
    /// Makes a buffer with a copy of `array`'s elements in its logical order, the last axis fastest.
    ///
    /// The array can have any layout: transposed, sliced, reversed, with axes of length 0. If it is not contiguous
    /// in that order, it is copied on the host first.
    ///
    /// # Errors
    /// The errors of [any call](crate#errors).
    pub fn upload_array<T: Element, D: Dimension>(
        &self,
        array: ArrayView<'_, T, D>,
    ) -> Result<Buffer<T>> {
        Buffer::uploaded(self, &in_logical_order(&array)).during("upload_array")
    }

    /// Makes a matrix with a copy of `array`, which can have any layout.
    ///
    /// | layout | result |
    /// |---|---|
    /// | each row contiguous | row-major, without a copy on the host |
    /// | each column contiguous | column-major, without a copy on the host |
    /// | others: steps, reversed axes | row-major, copied on the host first |
    ///
    /// Part of a larger array needs no copy on the host. Products accept either order.
    ///
    /// ```
    /// use ndarray::array;
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let array = array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// let matrix = Device::simulator().matrix_from_array(array.t())?;
    /// assert_eq!(matrix.shape(), (2, 3));
    /// assert_eq!(matrix.to_array2()?, array.t());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [any call](crate#errors).
    pub fn matrix_from_array<T: Element>(&self, array: ArrayView2<'_, T>) -> Result<Matrix<T>> {
        Matrix::of_array(self, array).during("matrix_from_array")
    }
}

impl<T: Element> Matrix<T> {
    fn of_array(device: &Device, array: ArrayView2<'_, T>) -> Outcome<Self> {
        let order = strides_of(&array).map_or(Order::RowMajor, |(order, _)| order);
        Self::of_array_in(order, device, array)
    }

    pub(super) fn of_array_in(
        order: Order,
        device: &Device,
        array: ArrayView2<'_, T>,
    ) -> Outcome<Self> {
        let (rows, cols) = array.dim();
        let mut matrix = Self::uninit(device, (rows, cols, order).into())?;
        matrix.view_mut().read_array(array)?;
        Ok(matrix)
    }
}

impl<T: Element> MatrixViewMut<'_, T> {
    /// Overwrites all elements with those of `array`, which can have any layout.
    ///
    /// Nothing is copied on the host if the array's rows are contiguous and the view is row-major, or its columns
    /// are and the view is column-major.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if the array has another shape; and those of [any call](crate#errors).
    pub fn copy_from_array(&mut self, array: ArrayView2<'_, T>) -> Result<()> {
        self.read_array(array).during("copy_from_array")
    }

    fn read_array(&mut self, array: ArrayView2<'_, T>) -> Outcome<()> {
        check_shape(self.shape(), array.dim())?;
        if let Some(apart) = lines_apart(&array, self.order()) {
            // SAFETY: the places are aligned and readable, and nothing writes them: the array has its elements
            // there, and is borrowed.
            return unsafe { self.read_rows(array.as_ptr(), apart) };
        }
        let (array, line) = match self.order() {
            Order::RowMajor => (array, self.cols()),
            Order::ColumnMajor => (array.reversed_axes(), self.rows()),
        };
        let elements = in_logical_order(&array);
        // SAFETY: the places are aligned and readable, and nothing writes them: the slice has the elements in the
        // view's order without gaps, and is borrowed.
        unsafe { self.read_rows(elements.as_ptr(), line) }
    }
}

impl<T: Element> Buffer<T> {
    /// Copies the elements to an array on the host.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`], and [`ErrorKind::TooLarge`] for more than `isize::MAX` elements of no bytes,
    /// which `ndarray` does not allow.
    pub fn to_array1(&self) -> Result<Array1<T>> {
        let array = self.view().elements().and_then(|elements| {
            Array1::from_shape_vec(elements.len(), elements)
                .map_err(|_| too_long(format!("the length {}", self.len())))
        });
        array.during("to_array1")
    }
}

impl<T: Element> Matrix<T> {
    /// Copies the matrix to an array on the host.
    ///
    /// The array has standard layout if the matrix is row-major, and Fortran layout if it is column-major.
    ///
    /// # Errors
    /// The errors of [`Buffer::to_vec`], and [`ErrorKind::TooLarge`] for a matrix without elements and with an axis
    /// longer than `isize::MAX`, which `ndarray` does not allow.
    pub fn to_array2(&self) -> Result<Array2<T>> {
        self.view().to_array2()
    }
}

impl<T: Element> MatrixView<'_, T> {
    /// Copies the elements to an array on the host.
    ///
    /// The array has standard layout if the view is row-major, and Fortran layout if it is column-major.
    ///
    /// # Errors
    /// The errors of [`Matrix::to_array2`].
    pub fn to_array2(&self) -> Result<Array2<T>> {
        let shape = self.shape();
        let is_column_major = self.order() == Order::ColumnMajor;
        let array = self.elements().and_then(|elements| {
            Array2::from_shape_vec(shape.set_f(is_column_major), elements)
                .map_err(|_| too_long(format!("the shape {}x{}", shape.0, shape.1)))
        });
        array.during("to_array2")
    }

    /// Copies all elements to `array`, which can have any layout.
    ///
    /// Nothing is copied on the host if the array's rows are contiguous and the view is row-major, or its columns
    /// are and the view is column-major.
    ///
    /// ```
    /// use ndarray::{Array2, s};
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let matrix = Device::simulator().matrix((2, 2), &[1, 2, 3, 4])?;
    /// let mut array = Array2::zeros((2, 3));
    /// matrix.view().copy_to_array(array.slice_mut(s![.., 1..]))?;
    /// assert_eq!(array, ndarray::array![[0, 1, 2], [0, 3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`] if the array has another shape; those of [`Buffer::to_vec`].
    pub fn copy_to_array(&self, array: ArrayViewMut2<'_, T>) -> Result<()> {
        self.write_array(array).during("copy_to_array")
    }

    fn write_array(&self, mut array: ArrayViewMut2<'_, T>) -> Outcome<()> {
        check_shape(self.shape(), array.dim())?;
        if let Some(apart) = lines_apart(&array.view(), self.order()) {
            // SAFETY: the places are aligned and writable, and nothing else touches them: the array has its
            // elements there, and is borrowed mutably.
            return unsafe { self.write_rows(array.as_mut_ptr(), apart) };
        }
        let elements = self.row_after_row()?;
        array
            .iter_mut()
            .zip(elements)
            .for_each(|(place, element)| *place = element);
        Ok(())
    }
}

/// The order in which `array` has contiguous rows or columns, and the distance from the start of one to the next,
/// in elements; `None` if it has neither.
fn strides_of<T>(array: &ArrayView2<'_, T>) -> Option<(Order, usize)> {
    [Order::RowMajor, Order::ColumnMajor]
        .into_iter()
        .find_map(|order| Some((order, lines_apart(array, order)?)))
}

/// The distance from the start of one row of `array` (one column, in column-major order) to the next, in elements,
/// if each is contiguous and none overlaps another.
fn lines_apart<T>(array: &ArrayView2<'_, T>, order: Order) -> Option<usize> {
    let (along, down) = match order {
        Order::RowMajor => (Axis(1), Axis(0)),
        Order::ColumnMajor => (Axis(0), Axis(1)),
    };
    let (len, count) = (array.len_of(along), array.len_of(down));
    if len > 1 && array.stride_of(along) != 1 {
        return None;
    }
    if len == 0 || count <= 1 {
        return Some(len);
    }
    let apart = usize::try_from(array.stride_of(down)).ok()?;
    (apart >= len).then_some(apart)
}

/// Fails unless an array has the shape of the matrix.
fn check_shape(matrix: (usize, usize), array: (usize, usize)) -> Outcome<()> {
    check_shapes(["the matrix", "the array"], matrix, array)
}

/// The error for an array that `ndarray` cannot hold.
fn too_long(what: String) -> ErrorKind {
    ErrorKind::TooLarge {
        what,
        remedy: "ndarray allows at most isize::MAX elements, and as many on an axis",
    }
}

/// The elements as one slice, without a copy if the layout allows it.
fn in_logical_order<'a, T: Element, D: Dimension>(array: &'a ArrayView<'_, T, D>) -> Cow<'a, [T]> {
    match array.as_slice() {
        Some(elements) => Cow::Borrowed(elements),
        None => Cow::Owned(array.iter().copied().collect()),
    }
}
