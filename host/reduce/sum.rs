//! Sums of all elements of a buffer.

use super::operations::ReduceElement;
use crate::buffer::{BufferViewMut, IntoBufferView};
use crate::device::{Device, default_device};
use crate::error::{During, Result};
use tilewright_kernels::reduce::{Plan, Sum};

impl Device {
    /// The sum of all elements of `x`; 0 if it is empty.
    ///
    /// `x` is `&buffer`, a slice of one ([`Buffer::slice`](crate::Buffer::slice)), or
    /// [`matrix.as_buffer()`](crate::Matrix::as_buffer).
    ///
    /// The additions form a tree that depends on the number of elements and their type alone. So the same elements
    /// give the same bits in every run and on every device. Let h be the tree's height ([`reduce_sum_height`], 30 for
    /// 2^24 f32). Then the error is |s' - s| <= gamma_h * sum |x| with gamma_h = h u / (1 - h u) (Higham, Accuracy and
    /// Stability of Numerical Algorithms, 4.2).
    ///
    /// Infinities follow IEEE 754. A NaN element or inf - inf gives the canonical NaN, whatever the NaN's sign and
    /// payload: the bits 0x7fff_ffff in f32, 0x7fff_ffff_ffff_ffff in f64. A zero sum is +0, whether `x` is empty, all
    /// its elements are -0, or they cancel.
    ///
    /// The call waits for all submitted work, the sum included. [`Device::reduce_sum_into`] does not wait.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[i32::MAX, i32::MAX, 2])?;
    /// assert_eq!(device.reduce_sum(&x)?, 4_294_967_296_i64);
    /// assert_eq!(device.reduce_sum(x.slice(1..)?)?, 2_147_483_649);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` is on another device;
    /// [`ErrorKind::OutOfHostMemory`](crate::ErrorKind::OutOfHostMemory),
    /// [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), and those of [`Device::zeros`].
    #[doc(alias = "sum")]
    pub fn reduce_sum<'x, T: ReduceElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
    ) -> Result<T::Sum> {
        self.reduced::<Sum, T, 1>([x.into()]).during("reduce_sum")
    }

    /// Writes the sum of all elements of `x` to the one element of `result`, without waiting.
    ///
    /// `result` is a buffer or a slice of one. Work that is submitted later sees the sum.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `result` does not have one element, and those of
    /// [`Device::reduce_sum`].
    pub fn reduce_sum_into<'x, 'r, T: ReduceElement>(
        &self,
        x: impl IntoBufferView<'x, T>,
        result: impl Into<BufferViewMut<'r, T::Sum>>,
    ) -> Result<()> {
        self.reduced_into::<Sum, T, 1>([x.into()], result.into())
            .during("reduce_sum_into")
    }
}

/// The sum of all elements of `data` on the default device; 0 if it is empty.
///
/// ```
/// assert_eq!(tilewright::reduce_sum(&[1.0_f32, 2.0, 3.5])?, 6.5);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`], [`Device::upload`] and [`Device::reduce_sum`].
#[doc(alias = "sum")]
pub fn reduce_sum<T: ReduceElement>(data: &[T]) -> Result<T::Sum> {
    let device = default_device()?;
    device.reduce_sum(&device.upload(data)?)
}

/// The height of the tree that adds `len` elements of type `T`: the h of [`Device::reduce_sum`]'s error bound.
///
/// It is the largest number of additions between an element and the sum. It grows slowly until the grid reaches its
/// largest size, and then by one for every 2^23 elements of f32 (2^24 of f16 or bf16, 2^22 of f64):
///
/// | elements | f16, bf16 | f32 | f64 |
/// |---:|---:|---:|---:|
/// | 2^10 | 14 | 13 | 12 |
/// | 2^20 | 23 | 22 | 22 |
/// | 2^24 | 30 | 30 | 31 |
/// | 2^26 | 33 | 36 | 43 |
/// | 2^28 | 45 | 60 | 91 |
/// | 2^30 | 93 | 156 | 283 |
/// | 2^33 | 541 | 1052 | 2075 |
///
/// ```
/// assert_eq!(tilewright::reduce_sum_height::<f32>(1 << 24), 30);
/// assert_eq!(tilewright::reduce_sum_height::<f64>(1 << 33), 2075);
/// ```
#[must_use]
pub fn reduce_sum_height<T: ReduceElement>(len: usize) -> u32 {
    Plan::new(len, size_of::<T>()).tree_height()
}
