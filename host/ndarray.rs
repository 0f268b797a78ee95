//! Arrays of the crate `ndarray`, to a device and back.

use crate::buffer::Buffer;
use crate::device::{Device, default_device};
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::matmul::GemmElement;
use crate::matrix::{Matrix, Order};
use ndarray::{Array1, Array2, ArrayView, ArrayView2, Dimension, ShapeBuilder};
use std::borrow::Cow;

impl Device {
    /// A buffer with a copy of `array`'s elements in its logical order, the last axis fastest.
    ///
    /// The array can have any layout: transposed, sliced, reversed, with axes of length 0. One
    /// that is not contiguous in that order is copied on the host first.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`], [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`].
    pub fn upload_array<T: Element, D: Dimension>(
        &self,
        array: ArrayView<'_, T, D>,
    ) -> Result<Buffer<T>> {
        Buffer::uploaded(self, &in_logical_order(&array)).during("upload_array")
    }

    /// A matrix with a copy of `array`, which can have any layout.
    ///
    /// An array in Fortran order becomes a column-major matrix, one in standard order a row-major
    /// one, as it is; others are copied on the host first, and become row-major. Products take
    /// either.
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
    /// [`ErrorKind::OutOfMemory`], [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`].
    pub fn matrix_from_array<T: Element>(&self, array: ArrayView2<'_, T>) -> Result<Matrix<T>> {
        Matrix::of_array(self, array).during("matrix_from_array")
    }
}

impl<T: Element> Matrix<T> {
    fn of_array(device: &Device, array: ArrayView2<'_, T>) -> Outcome<Self> {
        let (rows, cols) = array.dim();
        if array.as_slice().is_none()
            && let Some(columns) = array.t().as_slice()
        {
            return Self::uploaded(device, (rows, cols, Order::ColumnMajor).into(), columns);
        }
        Self::uploaded(device, (rows, cols).into(), &in_logical_order(&array))
    }
}

impl<T: Element> Buffer<T> {
    /// A copy of the elements as an array on the host.
    ///
    /// # Errors
    /// Those of [`Buffer::to_vec`], and [`ErrorKind::TooLarge`] for more than `isize::MAX` elements of
    /// no bytes, which `ndarray` does not allow.
    pub fn to_array1(&self) -> Result<Array1<T>> {
        let array = self.view().elements().and_then(|elements| {
            Array1::from_shape_vec(elements.len(), elements)
                .map_err(|_| too_long(format!("the length {}", self.len())))
        });
        array.during("to_array1")
    }
}

impl<T: Element> Matrix<T> {
    /// A copy of the matrix as an array on the host: in standard layout if the matrix is
    /// row-major, in Fortran layout if it is column-major.
    ///
    /// # Errors
    /// Those of [`Buffer::to_vec`], and [`ErrorKind::TooLarge`] for a matrix without elements one of
    /// whose axes is longer than `isize::MAX`, which `ndarray` does not allow.
    pub fn to_array2(&self) -> Result<Array2<T>> {
        let shape = self.shape();
        let is_column_major = self.order() == Order::ColumnMajor;
        let array = self.as_buffer().view().elements().and_then(|elements| {
            Array2::from_shape_vec(shape.set_f(is_column_major), elements)
                .map_err(|_| too_long(format!("the shape {}x{}", shape.0, shape.1)))
        });
        array.during("to_array2")
    }
}

/// What `ndarray` cannot hold.
fn too_long(what: String) -> ErrorKind {
    ErrorKind::TooLarge {
        what,
        remedy: "an array of ndarray has at most isize::MAX elements, and axes of at most that",
    }
}

/// The elements as one slice, without a copy where the layout allows it.
fn in_logical_order<'a, T: Element, D: Dimension>(array: &'a ArrayView<'_, T, D>) -> Cow<'a, [T]> {
    match array.as_slice() {
        Some(elements) => Cow::Borrowed(elements),
        None => Cow::Owned(array.iter().copied().collect()),
    }
}

/// The product of two arrays of any layout on the default device, by [`Device::matmul_tiled`].
///
/// ```
/// use ndarray::array;
///
/// let a = array![[1.0_f32, 2.0], [3.0, 4.0]];
/// let c = tilewright::matmul_tiled(a.view(), a.t())?;
/// assert_eq!(c, array![[5.0, 11.0], [11.0, 25.0]]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// Those of [`Device::from_env`], [`Device::matrix_from_array`] and [`Device::matmul_tiled`].
pub fn matmul_tiled<T: GemmElement>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
) -> Result<Array2<T>> {
    let device = default_device()?;
    let (a, b) = (device.matrix_from_array(a)?, device.matrix_from_array(b)?);
    device.matmul_tiled(&a, &b)?.to_array2()
}

/// The product of two arrays of any layout on the default device, by [`Device::matmul_coarsened`].
///
/// # Errors
/// Those of [`Device::from_env`], [`Device::matrix_from_array`] and [`Device::matmul_coarsened`].
pub fn matmul_coarsened<T: GemmElement>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
) -> Result<Array2<T>> {
    let device = default_device()?;
    let (a, b) = (device.matrix_from_array(a)?, device.matrix_from_array(b)?);
    device.matmul_coarsened(&a, &b)?.to_array2()
}
