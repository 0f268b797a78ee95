//! Constant memory: up to 64 KiB that no thread writes during a launch. Its cache serves one
//! address to a whole warp at once; different addresses are served one after the other. The values
//! come from the source, and the host can overwrite them before a launch: see
//! [`symbol`](crate::symbol).

use crate::machine::{self, Space};
use crate::static_array::StaticArray;
use bytemuck::Pod;

/// An array in constant memory, declared by [`constant_array!`](crate::constant_array).
#[derive(Debug)]
#[repr(transparent)]
pub struct ConstantArray<T, const LEN: usize> {
    pub(crate) array: StaticArray<T, LEN>,
}

impl<T: Pod, const LEN: usize> ConstantArray<T, LEN> {
    /// What [`constant_array!`](crate::constant_array) expands to.
    ///
    /// # Safety
    /// 1. The result is the value of a static. On a GPU the static is in the module's constant
    ///    memory, under this name.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn declared(name: &'static str, values: [T; LEN]) -> Self {
        Self {
            array: StaticArray::new(name, values),
        }
    }

    /// The number of elements.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the length is in the type")]
    pub const fn len(&self) -> usize {
        LEN
    }

    /// Element `index`, or `None` if it is past the end.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        // No closure: it would be the place that the simulator reports.
        if index < LEN {
            // SAFETY: `index < LEN`: compared above.
            Some(unsafe { self.load(index) })
        } else {
            None
        }
    }

    /// Element `index`.
    ///
    /// # Safety
    /// 1. `index < LEN`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(&self, index: usize) -> T {
        let base = self.array.base();
        // SAFETY: `index < LEN`: the caller's contract. No thread writes constant memory during a
        // launch.
        let [value] = unsafe { machine::load::<T, 1>(Space::Constant, base, LEN, index) };
        value
    }
}

/// Declares a [`ConstantArray`](crate::constant::ConstantArray) with its initial values.
///
/// Declare it beside the kernels, outside functions. Its PTX symbol is the static's name, so names
/// must be unique within a kernel crate.
///
/// ```
/// use cuda_std::prelude::*;
///
/// constant_array! {
///     /// A binomial filter.
///     static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
/// }
///
/// /// Writes the filter's weights to `y`, over and over.
/// #[kernel]
/// pub fn weights(y: GlobalMut<f32>) {
///     let i = thread::unique_index();
///     let weight = WEIGHTS.get(i.get() % WEIGHTS.len());
///     if let (Some(weight), Some(y)) = (weight, y.own(i)) {
///         y.set(weight);
///     }
/// }
/// ```
#[macro_export]
macro_rules! constant_array {
    ($(#[$meta:meta])* $visibility:vis static $name:ident: [$element:ty; $len:expr] = $values:expr;) => {
        $(#[$meta])*
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".constant"), unsafe(no_mangle))]
        $visibility static $name: $crate::constant::ConstantArray<$element, { $len }> = {
            const __CUDA_STD_VALUES: [$element; { $len }] = $values;
            // SAFETY: it is a static's value, and the builder places its section in constant
            // memory.
            unsafe { $crate::constant::ConstantArray::declared(::core::stringify!($name), __CUDA_STD_VALUES) }
        };
    };
}
