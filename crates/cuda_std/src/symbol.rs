//! Static arrays: named memory of a module, which the host accesses by name.
//!
//! A [`GlobalArray`] is global memory that kernels read and write; a
//! [`ConstantArray`](crate::constant::ConstantArray) is constant memory. Each device that loads a
//! module has its own copy of the module's arrays, with the source's initial values. Between
//! launches the host can read and overwrite it (`Module::read_symbol` and `Module::write_symbol` of
//! the host library). Kernels' writes persist.

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
    /// [`global_array!`](crate::global_array) expands to this call.
    ///
    /// # Safety
    /// 1. The result is the value of a static. On a GPU the static is in the module's global
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

    /// Calls `action` with a view of the array.
    ///
    /// As for a buffer, elements are accessed by unique index or by `unsafe` accesses. The view
    /// ends with the launch, so it cannot leave `action`.
    ///
    /// # Panics
    /// In the simulator, outside a launch: a host program has no copy of the array.
    #[inline(always)]
    #[track_caller]
    pub fn with<R>(
        &'static self,
        action: impl for<'launch> FnOnce(GlobalMut<'launch, T>) -> R,
    ) -> R {
        let base = self.array.base_in_launch();
        // SAFETY: the static has `LEN` elements, and lives as long as its module, which a launch
        // keeps alive. The host accesses it only between launches, and all views of it are copies
        // of this one.
        action(unsafe { GlobalMut::from_raw_parts(base, LEN) })
    }
}

/// A static array that the host can name: a [`GlobalArray`] or a
/// [`ConstantArray`](crate::constant::ConstantArray).
#[cfg(not(target_arch = "nvptx64"))]
pub trait Symbol: sealed::Symbol + Sync + 'static {
    /// The type of the elements.
    type Element: Pod;

    /// The name in the PTX module.
    fn name(&self) -> &'static str;

    /// The initial values in the source.
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

/// Declares a [`GlobalArray`](crate::symbol::GlobalArray) with its initial values.
///
/// Declare it beside the kernels, outside functions. Its PTX symbol is the static's name, so names
/// must be unique within a kernel crate. Names that begin with `_`, `anon_` or `r#` are reserved, and so are `memcmp` and
/// other functions that compilers call by themselves:
///
/// ```compile_fail,E0080
/// cuda_std::global_array! {
///     /// In a module, a constant of the compiler's.
///     pub static anon_0: [u32; 4] = [0; 4];
/// }
/// ```
///
/// ```compile_fail,E0080
/// cuda_std::global_array! {
///     /// In a module, the same constant.
///     pub static r#anon_0: [u32; 4] = [0; 4];
/// }
/// ```
///
/// ```compile_fail,E0080
/// cuda_std::global_array! {
///     /// Comparisons of slices would call it.
///     pub static memcmp: [u32; 4] = [0; 4];
/// }
/// ```
///
/// ```
/// use cuda_std::prelude::*;
///
/// global_array! {
///     /// The count of each of four things.
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
///                 // SAFETY: the index was compared with the length. All accesses are atomic.
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
            const __CUDA_STD_VALUES: [$element; { $len }] = $values;
            // SAFETY: it is a static's value, and the builder places its section in global memory.
            unsafe { $crate::symbol::GlobalArray::declared(::core::stringify!($name), __CUDA_STD_VALUES) }
        };
    };
}
