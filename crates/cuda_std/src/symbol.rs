//! Static arrays: memory of a module that has a name, and that the host reaches by it.
//!
//! A [`GlobalArray`] is global memory that kernels write and read, a
//! [`ConstantArray`](crate::constant::ConstantArray) is constant memory. Each device that loads a
//! module has its own copy of the module's arrays: it begins with the values that the source
//! gives, is overwritten and read by the host between launches (`Module::write_symbol` and
//! `Module::read_symbol` of the host library), and keeps what kernels write to it.

use crate::global::GlobalMut;
use crate::static_array::StaticArray;
use bytemuck::Pod;

/// A static array of `LEN` elements in global memory, 16-byte aligned, declared by
/// [`global_array!`](crate::global_array): CUDA C++'s `__device__` variable.
#[derive(Debug)]
#[repr(transparent)]
pub struct GlobalArray<T, const LEN: usize> {
    array: StaticArray<T, LEN>,
}

impl<T: Pod, const LEN: usize> GlobalArray<T, LEN> {
    /// What [`global_array!`](crate::global_array) expands to.
    ///
    /// # Safety
    /// 1. The result is the value of a static that on a GPU is in the module's global memory, under
    ///    this name.
    #[doc(hidden)]
    #[must_use]
    pub const unsafe fn declared(name: &'static str, values: [T; LEN]) -> Self {
        Self {
            array: StaticArray::new(name, values),
        }
    }

    /// Elements of the array.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the length is in the type")]
    pub const fn len(&self) -> usize {
        LEN
    }

    /// Calls `action` with a view of the array: each element is read and written as one of a buffer
    /// is, by the thread to whose unique index it belongs or by `unsafe` accesses. The view cannot
    /// leave `action`, as it ends with the launch.
    ///
    /// # Panics
    /// In the simulator, outside of a launch: a host program has no copy of the array.
    #[inline(always)]
    #[track_caller]
    pub fn with<R>(
        &'static self,
        action: impl for<'launch> FnOnce(GlobalMut<'launch, T>) -> R,
    ) -> R {
        let base = self.array.base_in_launch();
        // SAFETY: (1) the static has `LEN` elements, and lives as long as its module, which a
        // launch keeps. (2) The host touches it between launches only; all views of it are copies
        // of one.
        action(unsafe { GlobalMut::from_raw_parts(base, LEN) })
    }
}

/// A static array of a kernel crate, as the host names it: a [`GlobalArray`] or a
/// [`ConstantArray`](crate::constant::ConstantArray).
#[cfg(not(target_arch = "nvptx64"))]
pub trait Symbol: sealed::Symbol + Sync + 'static {
    /// The type of the elements.
    type Element: Pod;

    /// The name in the PTX module.
    fn name(&self) -> &'static str;

    /// The values that the source gives.
    fn initial_values(&self) -> &[Self::Element];
}

#[cfg(not(target_arch = "nvptx64"))]
mod sealed {
    pub trait Symbol {}
}

#[cfg(not(target_arch = "nvptx64"))]
mod symbols {
    use super::{GlobalArray, Symbol, sealed};
    use crate::constant::ConstantArray;
    use bytemuck::Pod;

    macro_rules! symbols {
        ($($array:ident)*) => {$(
            impl<T: Pod + Send + Sync, const LEN: usize> sealed::Symbol for $array<T, LEN> {}

            impl<T: Pod + Send + Sync, const LEN: usize> Symbol for $array<T, LEN> {
                type Element = T;

                fn name(&self) -> &'static str {
                    self.array.name
                }

                fn initial_values(&self) -> &[T] {
                    &self.array.values
                }
            }
        )*};
    }
    symbols!(GlobalArray ConstantArray);
}

/// Declares a static array in global memory with the values that it begins with, a
/// [`GlobalArray`](crate::symbol::GlobalArray).
///
/// It stands beside the kernels, outside of functions. In the PTX it has the static's own name, so
/// names are unique within a kernel crate.
///
/// ```
/// use cuda_std::prelude::*;
///
/// global_array! {
///     /// How often each of four things was seen.
///     pub static SEEN: [u32; 4] = [0; 4];
/// }
///
/// /// Counts each of `things`: numbers below 4.
/// #[kernel]
/// pub fn count(things: Global<u32>) {
///     let i = thread::unique_index();
///     if let Some(thing) = things.get(i.get()) {
///         SEEN.with(|seen| {
///             if (thing as usize) < seen.len() {
///                 // SAFETY: (1) is the comparison. (2) All accesses are atomic.
///                 unsafe { seen.atomic_add(thing as usize, 1) };
///             }
///         });
///     }
/// }
/// ```
#[macro_export]
macro_rules! global_array {
    ($(#[$meta:meta])* $visibility:vis static $name:ident: [$element:ty; $len:expr] = $values:expr;) => {
        $(#[$meta])*
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".global"), unsafe(no_mangle))]
        $visibility static $name: $crate::symbol::GlobalArray<$element, { $len }> = {
            const VALUES: [$element; { $len }] = $values;
            // SAFETY: (1) it is the static's value, and the section is the builder's for global
            // memory.
            unsafe { $crate::symbol::GlobalArray::declared(stringify!($name), VALUES) }
        };
    };
}
