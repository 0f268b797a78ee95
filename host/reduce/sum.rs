//! Sums of all elements of a buffer.

use super::operations::ReduceElement;
use crate::buffer::{BufferView, BufferViewMut};
use crate::device::{Device, default_device};
use crate::error::{During, Result};
use tilewright_kernels::reduce::{Plan, Sum};

impl Device {
    /// The sum of all elements of `x`, a buffer or a part of one ([`Buffer::slice`](crate::Buffer::slice)); 0 for none.
    ///
    /// The additions form a tree that depends on the number of elements and their type alone: the
    /// same elements give the same bits in every run and on every device. With h the tree's height
    /// ([`reduce_sum_height`], 30 for 2^24 f32), |s' - s| <= gamma_h * sum |x| where gamma_h =
    /// h u / (1 - h u) (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
    ///
    /// Infinities go through as IEEE 754 has them. A NaN, of a term or of inf - inf, gives the one
    /// canonical NaN, whatever its sign and payload: the bits 0x7fff_ffff in f32,
    /// 0x7fff_ffff_ffff_ffff in f64. A sum that is zero is +0: that of no terms, that of terms that
    /// are all -0, and that of terms that cancel.
    ///
    /// It waits for all submitted work, and so for the result. [`Device::reduce_sum_into`] does not.
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
    /// [`ErrorKind::WrongDevice`](crate::ErrorKind::WrongDevice) if `x` is of another device; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory),
    /// [`ErrorKind::OutOfHostMemory`](crate::ErrorKind::OutOfHostMemory), [`ErrorKind::NoModule`](crate::ErrorKind::NoModule), [`ErrorKind::DeviceLost`](crate::ErrorKind::DeviceLost) or
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    #[doc(alias = "sum")]
    pub fn reduce_sum<'x, T: ReduceElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
    ) -> Result<T::Sum> {
        self.reduced::<Sum, T, 1>([x.into()]).during("reduce_sum")
    }

    /// Writes the sum of all elements of `x` to the one element of `result`, a buffer or a part of one, without
    /// waiting: work that is submitted later sees it.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `result` does not have one element, and those of
    /// [`Device::reduce_sum`].
    pub fn reduce_sum_into<'x, 'r, T: ReduceElement>(
        &self,
        x: impl Into<BufferView<'x, T>>,
        result: impl Into<BufferViewMut<'r, T::Sum>>,
    ) -> Result<()> {
        self.reduced_into::<Sum, T, 1>([x.into()], result.into())
            .during("reduce_sum_into")
    }
}

/// The sum of all elements of `data` on the default device; 0 for none.
///
/// ```
/// assert_eq!(tilewright::reduce_sum(&[1.0_f32, 2.0, 3.5])?, 6.5);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// Those of [`Device::from_env`], [`Device::upload`] and [`Device::reduce_sum`].
#[doc(alias = "sum")]
pub fn reduce_sum<T: ReduceElement>(data: &[T]) -> Result<T::Sum> {
    let device = default_device()?;
    device.reduce_sum(&device.upload(data)?)
}

/// The height of the tree in which `len` elements of type `T` are added: the most additions
/// between an element and the sum, and so the h of the error bound of [`Device::reduce_sum`].
///
/// It grows slowly as long as more elements bring more blocks, and by one for every 2^23 f32 (2^24
/// f16 or bf16, 2^22 f64) from there on:
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
