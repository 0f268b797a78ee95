//! The storage of static arrays in global and constant memory.

use crate::machine;
use bytemuck::Pod;
#[cfg(target_arch = "nvptx64")]
use core::cell::UnsafeCell;

/// The contents of a static array. On a GPU that is only the elements, which the host may change
/// without the compiler's knowledge. In a host program it has the initial values, and devices have
/// copies.
#[derive(Debug)]
#[cfg_attr(target_arch = "nvptx64", repr(C, align(16)))]
pub(crate) struct StaticArray<T, const LEN: usize> {
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) name: &'static str,
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) values: [T; LEN],
    #[cfg(target_arch = "nvptx64")]
    values: UnsafeCell<[T; LEN]>,
}

// SAFETY: the elements are accessed only through `base`, and each access that could race is an
// `unsafe fn` that requires that it does not.
#[cfg(target_arch = "nvptx64")]
unsafe impl<T: Send + Sync, const LEN: usize> Sync for StaticArray<T, LEN> {}

/// Whether the name is reserved for other symbols of a module: those of the library and of a crate's own statics, such as
/// `__signature_of_scale` and `_ZN7kernels5TABLE`, and constants of the code, such as `anon_0`. So is a raw name, whose
/// symbol has no `r#`, and those of the functions that compilers call without being asked to.
const fn is_reserved(name: &[u8]) -> bool {
    matches!(
        name,
        [b'_', ..]
            | [b'a', b'n', b'o', b'n', b'_', ..]
            | [b'r', b'#', ..]
            | b"bcmp"
            | b"memcmp"
            | b"memcpy"
            | b"memmove"
            | b"memset"
            | b"strlen"
    )
}

impl<T: Pod, const LEN: usize> StaticArray<T, LEN> {
    #[allow(unused_variables, reason = "on a GPU the linker knows the name")]
    pub(crate) const fn new(name: &'static str, values: [T; LEN]) -> Self {
        assert!(
            !is_reserved(name.as_bytes()),
            "names that begin with `_`, `anon_` or `r#`, and those of functions that compilers call, such as `memcmp`, \
             are reserved for the compiler, `#[kernel]` and this library"
        );
        const {
            assert!(
                LEN > 0 && size_of::<T>() > 0 && align_of::<T>() <= 16,
                "a static array has at least one byte, and elements aligned to at most 16"
            );
        }
        Self {
            #[cfg(not(target_arch = "nvptx64"))]
            name,
            #[cfg(not(target_arch = "nvptx64"))]
            values,
            #[cfg(target_arch = "nvptx64")]
            values: UnsafeCell::new(values),
        }
    }

    /// The first element of the running launch's copy.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn base(&self) -> *const T {
        self.base_in_launch()
    }

    /// The first element of the running launch's copy.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn base_in_launch(&self) -> *mut T {
        machine::static_array(self.values.get().cast())
    }

    /// The first element of the running launch's copy, for reading; outside a launch, of the
    /// initial values.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline]
    pub(crate) fn base(&self) -> *const T {
        machine::static_array(&self.values).map_or(self.values.as_ptr(), <*mut T>::cast_const)
    }

    /// The first element of the running launch's copy.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline]
    #[track_caller]
    pub(crate) fn base_in_launch(&self) -> *mut T {
        match machine::static_array(&self.values) {
            Some(first) => first,
            None => panic!(
                "`{}` was viewed outside of a launch: a host program has no copy of it; use \
                 `Module::read_symbol` and `Module::write_symbol`",
                self.name
            ),
        }
    }
}
