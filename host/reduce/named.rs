//! Reductions of whole buffers, by operation and by name.

use super::operations::{Reducible, ReduciblePairs};
use super::ops::{
    All, Any, ArgMax, ArgMin, Count, Dot, Max, Mean, Min, MinMax, Norm1, Norm2, NormInf, Product,
    SumOfSquares, Variance,
};
use crate::buffer::{BufferViewMut, IntoBufferView};
use crate::device::{Device, default_device};
use crate::error::{During, Result};
use std::ptr;

impl Device {
    /// Reduces all elements of `x` to one value by `operation`, one of [`ops`](crate::ops).
    ///
    /// `x` is `&buffer`, a slice of one ([`Buffer::slice`](crate::Buffer::slice)), or
    /// [`matrix.as_buffer()`](crate::Matrix::as_buffer).
    ///
    /// The elements are combined in a tree that depends on their number and type alone. So the same elements give the
    /// same bits in every run and on every device. [docs/reductions.md] has the tree, the error bounds, and the rules
    /// for NaN, ties and empty input.
    ///
    /// [docs/reductions.md]: https://github.com/tilewright/tilewright/blob/main/docs/reductions.md
    ///
    /// The call waits for all submitted work, the reduction included. [`Device::reduce_into`] does not wait.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[3.0_f32, -4.0, 0.5, 3.0])?;
    /// assert_eq!(device.reduce(&x, ops::MinMax)?, [-4.0, 3.0]);
    /// assert_eq!(device.reduce(&x, ops::ArgMax)?, 0);
    /// assert_eq!(device.reduce(x.slice(..2)?, ops::Norm2)?, 5.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoElements`](crate::ErrorKind::NoElements) for `Min`, `Max`, `MinMax`, `ArgMin` and `ArgMax` if
    /// `x` is empty, and those of [`Device::reduce_sum`].
    pub fn reduce<'x, R, T: Reducible<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        operation: R,
    ) -> Result<T::Output> {
        let _: R = operation;
        self.reduced::<R, T, 1>([x.into()]).during("reduce")
    }

    /// Writes the value of [`Device::reduce`] to the one element of `result`, without waiting.
    ///
    /// Work that is submitted later sees the value.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[2_i32, -3, 7])?;
    /// let mut product = device.zeros::<i64>(1)?;
    /// device.reduce_into(&x, ops::Product, &mut product)?;
    /// assert_eq!(product.to_vec()?, [-42]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `result` does not have one element,
    /// and those of [`Device::reduce`].
    pub fn reduce_into<'x, 'r, R, T: Reducible<R>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        operation: R,
        result: impl Into<BufferViewMut<'r, T::Output>>,
    ) -> Result<()> {
        let _: R = operation;
        self.reduced_into::<R, T, 1>([x.into()], result.into())
            .during("reduce_into")
    }
}

/// A method for each operation on one buffer.
macro_rules! named_reductions {
    ($(
        $(#[$doc:meta])*
        $name:ident: $operation:ident of $element:ident $(: $with:ty)? => $value:ty, $finish:expr;
    )*) => {
        impl Device {$(
            named_reductions! { @method
                $(#[$doc])*
                ///
                /// [`Device::reduce`] has the rules of all reductions. This method waits for the value;
                /// [`Device::reduce_into`] does not.
                ///
                /// # Errors
                /// The errors of [`Device::reduce`].
                $name: $operation of $element $(: $with)? => $value, $finish
            }
        )*}
    };
    (@method $(#[$doc:meta])* $name:ident: $operation:ident of u8 => $value:ty, $finish:expr) => {
        $(#[$doc])*
        pub fn $name<'x>(&self, mask: impl IntoBufferView<'x, u8>) -> Result<$value> {
            let value = self.reduced::<$operation, u8, 1>([mask.into()]);
            value.map($finish).during(stringify!($name))
        }
    };
    (@method $(#[$doc:meta])* $name:ident: $operation:ident of $element:ident: $with:ty => $value:ty,
        $finish:expr) => {
        $(#[$doc])*
        pub fn $name<'x, $element: Reducible<$operation, Output = $with>>(
            &self,
            x: impl IntoBufferView<'x, $element>,
        ) -> Result<$value> {
            let value = self.reduced::<$operation, $element, 1>([x.into()]);
            value.map($finish).during(stringify!($name))
        }
    };
    (@method $(#[$doc:meta])* $name:ident: $operation:ident of $element:ident => $value:ty,
        $finish:expr) => {
        $(#[$doc])*
        pub fn $name<'x, $element: Reducible<$operation>>(
            &self,
            x: impl IntoBufferView<'x, $element>,
        ) -> Result<$value> {
            let value = self.reduced::<$operation, $element, 1>([x.into()]);
            value.map($finish).during(stringify!($name))
        }
    };
}

named_reductions! {
    /// The smallest element of `x`; NaN if any element is NaN. -0 is less than +0.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[3.0_f32, -4.0, 0.5])?;
    /// assert_eq!(device.reduce_min(&x)?, -4.0);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    #[doc(alias = "min")]
    #[doc(alias = "amin")]
    reduce_min: Min of T: T => T, |value| value;

    /// The largest element of `x`; NaN if any element is NaN. +0 is greater than -0.
    #[doc(alias = "max")]
    #[doc(alias = "amax")]
    reduce_max: Max of T: T => T, |value| value;

    /// The smallest and the largest element of `x`, in one pass.
    ///
    /// Both follow the rules of [`Device::reduce_min`] and [`Device::reduce_max`].
    reduce_min_max: MinMax of T: [T; 2] => (T, T), |[least, greatest]| (least, greatest);

    /// The index of the smallest element of `x`, counted from 0.
    ///
    /// Among equal elements, the first wins; +0 and -0 are equal. If any element is NaN, it is the index of the first
    /// NaN.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[3, -4, 0, -4])?;
    /// assert_eq!(device.reduce_argmin(&x)?, 1);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    #[doc(alias = "argmin")]
    #[doc(alias = "iamin")]
    reduce_argmin: ArgMin of T: u64 => usize, |index| index as usize;

    /// The index of the largest element of `x`, counted from 0.
    ///
    /// Among equal elements, the first wins; +0 and -0 are equal. If any element is NaN, it is the index of the first
    /// NaN.
    #[doc(alias = "argmax")]
    #[doc(alias = "iamax")]
    reduce_argmax: ArgMax of T: u64 => usize, |index| index as usize;

    /// The product of all elements of `x`; 1 if `x` is empty.
    ///
    /// Floats are multiplied in f64 and rounded once to the result's type. Integers are multiplied in 64 bits and wrap
    /// on overflow.
    #[doc(alias = "prod")]
    reduce_product: Product of T => T::Output, |value| value;

    /// The arithmetic mean of `x`; NaN if `x` is empty.
    ///
    /// The sum is added in f64, divided, and rounded once to the result's type. The mean of finite numbers is finite:
    /// no intermediate sum overflows.
    #[doc(alias = "mean")]
    #[doc(alias = "average")]
    reduce_mean: Mean of T => T::Output, |value| value;

    /// The sum of the squares of the elements of `x`, added in f64 and rounded once to the result's type.
    reduce_sum_of_squares: SumOfSquares of T => T::Output, |value| value;

    /// The sum of the absolute values of the elements of `x`, added in f64 and rounded once to the result's type.
    #[doc(alias = "asum")]
    reduce_norm_1: Norm1 of T => T::Output, |value| value;

    /// The Euclidean norm of `x`.
    ///
    /// It is infinite or zero only if the exact norm, rounded to the result's type, is: intermediate squares neither
    /// overflow nor underflow.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[3e200_f64, -4e200])?;
    /// assert!((device.reduce_norm_2(&x)? - 5e200).abs() < 1e186);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    #[doc(alias = "nrm2")]
    #[doc(alias = "norm")]
    reduce_norm_2: Norm2 of T => T::Output, |value| value;

    /// The largest absolute value in `x`; 0 if `x` is empty, and NaN if any element is NaN.
    reduce_norm_inf: NormInf of T: T => T, |value| value;

    /// The variance of the elements of `x`: the mean of the squared deviations from the mean, in one pass.
    ///
    /// It is computed in f64 and rounded once to the result's type. The divisor is n, the number of elements. For the
    /// sample variance, multiply by n / (n - 1). It is NaN if `x` is empty or contains an infinity or a NaN. Otherwise
    /// it is infinite only if the computed variance exceeds the range of the result's type.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[1e6_f32 + 1.0, 1e6 + 2.0, 1e6 + 3.0, 1e6 + 4.0])?;
    /// assert_eq!(device.reduce_variance(&x)?, 1.25);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    #[doc(alias = "var")]
    #[doc(alias = "std")]
    reduce_variance: Variance of T => T::Output, |value| value;

    /// The number of bytes of `mask` that are not 0.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let mask = device.upload(&[1_u8, 0, 255])?;
    /// assert_eq!(device.reduce_count(&mask)?, 2);
    /// assert!(device.reduce_any(&mask)? && !device.reduce_all(&mask)?);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    reduce_count: Count of u8 => usize, |count| count as usize;

    /// Whether any byte of `mask` is not 0; false if `mask` is empty.
    reduce_any: Any of u8 => bool, |any| any != 0;

    /// Whether no byte of `mask` is 0; true if `mask` is empty.
    reduce_all: All of u8 => bool, |all| all != 0;
}

impl Device {
    /// The dot product of `x` and `y`; 0 if they are empty.
    ///
    /// Floats are multiplied and added in f64, and rounded once to the result's type. Integers are multiplied and added
    /// in 64 bits and wrap on overflow.
    ///
    /// [`Device::reduce`] has the rules of all reductions. This method waits for the value;
    /// [`Device::reduce_dot_into`] does not.
    ///
    /// ```
    /// # let device = tilewright::Device::simulator();
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
    /// let y = device.upload(&[10.0_f32, 100.0, 1000.0])?;
    /// assert_eq!(device.reduce_dot(&x, &y)?, 3210.0);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `y` is not as long as `x`, and those
    /// of [`Device::reduce_sum`].
    #[doc(alias = "dot")]
    #[doc(alias = "inner product")]
    pub fn reduce_dot<'x, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        y: impl IntoBufferView<'x, T>,
    ) -> Result<T::Output> {
        let value = self.reduced::<Dot, T, 2>([x.into(), y.into()]);
        value.during("reduce_dot")
    }

    /// Writes the value of [`Device::reduce_dot`] to the one element of `result`, without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) if `result` does not have one element,
    /// and those of [`Device::reduce_dot`].
    pub fn reduce_dot_into<'x, 'r, T: ReduciblePairs<Dot>>(
        &self,
        x: impl IntoBufferView<'x, T>,
        y: impl IntoBufferView<'x, T>,
        result: impl Into<BufferViewMut<'r, T::Output>>,
    ) -> Result<()> {
        self.reduced_into::<Dot, T, 2>([x.into(), y.into()], result.into())
            .during("reduce_dot_into")
    }
}

/// Reduces all elements of `data` by `operation` on the default device: [`Device::reduce`].
///
/// ```
/// use tilewright::ops;
///
/// assert_eq!(tilewright::reduce(&[1.0_f32, 2.0, 6.0], ops::Mean)?, 3.0);
/// assert_eq!(tilewright::reduce(&[5_i32, 9, 2], ops::ArgMin)?, 2);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`], [`Device::upload`] and [`Device::reduce`].
pub fn reduce<R, T: Reducible<R>>(data: &[T], operation: R) -> Result<T::Output> {
    let device = default_device()?;
    device.reduce(&device.upload(data)?, operation)
}

/// The dot product of `x` and `y` on the default device: [`Device::reduce_dot`].
///
/// If both are the same slice, it is uploaded once.
///
/// ```
/// let (x, y) = ([1.0_f32, 2.0, 3.0], [10.0, 100.0, 1000.0]);
/// assert_eq!(tilewright::reduce_dot(&x, &y)?, 3210.0);
/// assert_eq!(tilewright::reduce_dot(&x, &x)?, 14.0);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`], [`Device::upload`] and [`Device::reduce_dot`].
#[doc(alias = "dot")]
#[doc(alias = "inner product")]
pub fn reduce_dot<T: ReduciblePairs<Dot>>(x: &[T], y: &[T]) -> Result<T::Output> {
    let device = default_device()?;
    let x_on_device = device.upload(x)?;
    // Same address and length, so the same elements.
    if ptr::eq(x, y) {
        return device.reduce_dot(&x_on_device, &x_on_device);
    }
    device.reduce_dot(&x_on_device, &device.upload(y)?)
}
