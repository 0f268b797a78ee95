//! Products of arrays.

use crate::device::default_device;
use crate::error::Result;
use crate::matmul::{ChainElement, MatmulElement};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// The product of two arrays of any layout, on the default device, by [`Device::matmul`](crate::Device::matmul).
///
/// ```
/// use ndarray::array;
///
/// let a = array![[1.0_f32, 2.0], [3.0, 4.0]];
/// let c = tilewright::matmul(a.view(), a.t())?;
/// assert_eq!(c, array![[5.0, 11.0], [11.0, 25.0]]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array) and [`Device::matmul`](crate::Device::matmul).
#[doc(alias = "gemm")]
#[doc(alias = "dot")]
pub fn matmul<T: MatmulElement>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
) -> Result<Array2<T::Product>> {
    let device = default_device()?;
    let (a, b) = (device.matrix_from_array(a)?, device.matrix_from_array(b)?);
    device.matmul(&a, &b)?.to_array2()
}

/// The symmetric product A^T A of an array of any layout, on the default device.
///
/// It is [`Device::gram`](crate::Device::gram), with copies to the device and back.
///
/// ```
/// use ndarray::array;
///
/// let a = array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// assert_eq!(tilewright::gram(a.view())?, a.t().dot(&a));
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array) and [`Device::gram`](crate::Device::gram).
#[doc(alias = "syrk")]
pub fn gram<T: MatmulElement>(a: ArrayView2<'_, T>) -> Result<Array2<T::Product>> {
    let device = default_device()?;
    let a = device.matrix_from_array(a)?;
    device.gram(&a)?.to_array2()
}

/// The product of an array of any layout and a vector, on the default device.
///
/// It is [`Device::matvec`](crate::Device::matvec), with copies to the device and back.
///
/// ```
/// use ndarray::array;
///
/// let a = array![[1.0_f32, 2.0], [3.0, 4.0]];
/// let x = array![1.0, 10.0];
/// assert_eq!(tilewright::matvec(a.view(), x.view())?, a.dot(&x));
/// assert_eq!(tilewright::matvec(a.t(), x.view())?, x.dot(&a));
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array),
/// [`Device::upload_array`](crate::Device::upload_array) and [`Device::matvec`](crate::Device::matvec).
pub fn matvec<T: MatmulElement>(
    a: ArrayView2<'_, T>,
    x: ArrayView1<'_, T>,
) -> Result<Array1<T::Product>> {
    let device = default_device()?;
    let (a, x) = (device.matrix_from_array(a)?, device.upload_array(x)?);
    device.matvec(&a, &x)?.to_array1()
}

/// The product of two arrays of any layout, on the default device, with additions in order of k.
///
/// It is [`Device::matmul_tiled`](crate::Device::matmul_tiled), with copies to the device and back.
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
/// The errors of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array) and
/// [`Device::matmul_tiled`](crate::Device::matmul_tiled).
pub fn matmul_tiled<T: ChainElement>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
) -> Result<Array2<T>> {
    let device = default_device()?;
    let (a, b) = (device.matrix_from_array(a)?, device.matrix_from_array(b)?);
    device.matmul_tiled(&a, &b)?.to_array2()
}

/// The product of two arrays of any layout, on the default device, with additions in order of k.
///
/// It is [`Device::matmul_coarsened`](crate::Device::matmul_coarsened), with copies to the device and back.
///
/// ```
/// use tilewright::ndarray::array;
///
/// let a = array![[1.0_f64, 2.0], [3.0, 4.0]];
/// let c = tilewright::matmul_coarsened(a.t(), a.view())?;
/// assert_eq!(c, array![[10.0, 14.0], [14.0, 20.0]]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`](crate::Device::from_env),
/// [`Device::matrix_from_array`](crate::Device::matrix_from_array) and
/// [`Device::matmul_coarsened`](crate::Device::matmul_coarsened).
pub fn matmul_coarsened<T: ChainElement>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
) -> Result<Array2<T>> {
    let device = default_device()?;
    let (a, b) = (device.matrix_from_array(a)?, device.matrix_from_array(b)?);
    device.matmul_coarsened(&a, &b)?.to_array2()
}
