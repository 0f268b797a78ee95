//! Reductions of arrays along an axis.

use crate::device::default_device;
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::matrix::Matrix;
use crate::reduce::{Reducible, ReducibleLines, ReduciblePairs, ops};
use ndarray::{Array1, ArrayView2, Axis};

/// The lines, rows or columns, that are each reduced to one value.
enum Lines {
    Columns,
    Rows,
}

impl Lines {
    /// The lines along an axis of an array.
    fn along(axis: Axis) -> Outcome<Self> {
        match axis {
            Axis(0) => Ok(Self::Columns),
            Axis(1) => Ok(Self::Rows),
            Axis(axis) => Err(ErrorKind::NoAxis { axis, axes: 2 }),
        }
    }
}

/// Reduces an array along `axis` by an operation from [`ops`](crate::ops), on the default device.
///
/// `Axis(0)` gives a value for each column, by [`Device::reduce_columns`](crate::Device::reduce_columns), and
/// `Axis(1)` one for each row, by [`Device::reduce_rows`](crate::Device::reduce_rows). The array can have any
/// layout. If it has more than two axes, merge some of them first, for example with
/// `into_shape_with_order`.
///
/// ```
/// use ndarray::{Axis, array};
/// use tilewright::ops;
///
/// let a = array![[1.0_f32, 5.0, 2.0], [4.0, 3.0, 6.0]];
/// assert_eq!(tilewright::reduce_axis(a.view(), Axis(0), ops::Sum)?, a.sum_axis(Axis(0)));
/// assert_eq!(tilewright::reduce_axis(a.view(), Axis(1), ops::ArgMin)?, array![0, 1]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NoAxis`] if `axis` is neither of the two; those of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array),
/// [`Device::reduce_rows`](crate::Device::reduce_rows) and [`Buffer::to_array1`](crate::Buffer::to_array1).
pub fn reduce_axis<R, T: ReducibleLines<R>>(
    array: ArrayView2<'_, T>,
    axis: Axis,
    operation: R,
) -> Result<Array1<<T as Reducible<R>>::Output>> {
    let lines = Lines::along(axis).during("reduce_axis")?;
    let device = default_device()?;
    let matrix = device.matrix_from_array(array)?;
    let values = match lines {
        Lines::Columns => device.reduce_columns(&matrix, operation)?,
        Lines::Rows => device.reduce_rows(&matrix, operation)?,
    };
    values.to_array1()
}

/// The dot products of two arrays of one shape along `axis`, on the default device.
///
/// `Axis(0)` gives the dot product of each column of `x` with that of `y`, by
/// [`Device::reduce_dot_columns`](crate::Device::reduce_dot_columns), and `Axis(1)` that of each row, by
/// [`Device::reduce_dot_rows`](crate::Device::reduce_dot_rows). The arrays can have any layout. If their layouts
/// differ, `y` is copied on the host first.
///
/// ```
/// use ndarray::{Axis, array};
///
/// let x = array![[1.0_f32, 5.0, 2.0], [4.0, 3.0, 6.0]];
/// let y = array![[1.0_f32, 0.0, 2.0], [1.0, 1.0, 1.0]];
/// assert_eq!(tilewright::reduce_dot_axis(x.view(), y.view(), Axis(0))?, array![5.0, 3.0, 10.0]);
/// assert_eq!(tilewright::reduce_dot_axis(x.view(), y.view(), Axis(1))?, array![5.0, 13.0]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::NoAxis`] if `axis` is neither of the two; [`ErrorKind::ShapeMismatch`] if the arrays have different
/// shapes; those of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array),
/// [`Device::reduce_dot_rows`](crate::Device::reduce_dot_rows) and [`Buffer::to_array1`](crate::Buffer::to_array1).
#[doc(alias = "vecdot")]
pub fn reduce_dot_axis<T: ReduciblePairs<ops::Dot>>(
    x: ArrayView2<'_, T>,
    y: ArrayView2<'_, T>,
    axis: Axis,
) -> Result<Array1<T::Output>> {
    let lines = Lines::along(axis).during("reduce_dot_axis")?;
    let device = default_device()?;
    let x = device.matrix_from_array(x)?;
    let y = Matrix::of_array_in(x.order(), device, y).during("matrix_from_array")?;
    let values = match lines {
        Lines::Columns => device.reduce_dot_columns(&x, &y)?,
        Lines::Rows => device.reduce_dot_rows(&x, &y)?,
    };
    values.to_array1()
}
