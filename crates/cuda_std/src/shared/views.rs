//! Arrays with the length in the type, and slices without.

use super::memory::{AnyShape, ArrayShape, Scope, SharedMemory};
use crate::global::assert_vector;
use crate::machine::{self, Space};
use bytemuck::Pod;

/// A static array of `LEN` elements in shared memory, 16-byte aligned.
#[derive(Debug)]
pub struct SharedArray<'block, T, const LEN: usize> {
    #[doc(hidden)]
    pub memory: SharedMemory<'block, T, ArrayShape<LEN>>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

/// Shared memory with a dynamic length: of an array, a tile or the launch
/// ([`dynamic_shared!`](crate::dynamic_shared)).
#[derive(Debug)]
pub struct SharedSlice<'block, T> {
    #[doc(hidden)]
    pub memory: SharedMemory<'block, T, AnyShape>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

impl<T> Clone for SharedSlice<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SharedSlice<'_, T> {}

impl<T, const LEN: usize> Clone for SharedArray<'_, T, LEN> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const LEN: usize> Copy for SharedArray<'_, T, LEN> {}

macro_rules! accesses {
    () => {
        /// Element `index`.
        ///
        /// # Safety
        /// 1. `index` lies within the array, and the element has been written.
        /// 2. No other thread writes it, unless a barrier orders the two.
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn load(self, index: usize) -> T {
            // SAFETY: the caller's contract.
            unsafe {
                let [value] =
                    machine::load::<T, 1>(Space::Shared, self.memory.base, self.len(), index);
                value
            }
        }

        /// Elements `index..index + N` in one access of 2, 4, 8 or 16 bytes.
        ///
        /// # Safety
        /// 1. The elements lie within the array and have been written.
        /// 2. No other thread writes them, unless a barrier orders the two.
        /// 3. `index` is a multiple of `N`.
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
            const { assert_vector::<T, N>() };
            // SAFETY: the caller's contract. The array is 16-byte aligned.
            unsafe { machine::load::<T, N>(Space::Shared, self.memory.base, self.len(), index) }
        }

        /// Writes element `index`.
        ///
        /// # Safety
        /// 1. `index` lies within the array.
        /// 2. No other thread touches it, unless a barrier orders the two.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn store(self, index: usize, value: T) {
            // SAFETY: the caller's contract.
            unsafe {
                machine::store::<T, 1>(Space::Shared, self.memory.base, self.len(), index, [value])
            }
        }

        /// Writes elements `index..index + N` in one access of 2, 4, 8 or 16 bytes.
        ///
        /// # Safety
        /// 1. The elements lie within the array.
        /// 2. No other thread touches them, unless a barrier orders the two.
        /// 3. `index` is a multiple of `N`.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn store_vector<const N: usize>(self, index: usize, values: [T; N]) {
            const { assert_vector::<T, N>() };
            // SAFETY: the caller's contract. The array is 16-byte aligned.
            unsafe {
                machine::store::<T, N>(Space::Shared, self.memory.base, self.len(), index, values)
            }
        }

        /// The address of the first element.
        #[inline(always)]
        #[must_use]
        pub const fn as_mut_ptr(self) -> *mut T {
            self.memory.base
        }
    };
}

impl<'block, T: Pod, const LEN: usize> SharedArray<'block, T, LEN> {
    /// The array in this memory.
    #[inline(always)]
    pub(crate) const fn of_memory(memory: SharedMemory<'block, T, ArrayShape<LEN>>) -> Self {
        Self {
            memory,
            scope: &Scope(()),
        }
    }

    /// The number of elements.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the length is in the type")]
    pub const fn len(self) -> usize {
        LEN
    }

    /// The array as a slice, without the length in its type.
    #[inline(always)]
    #[must_use]
    pub const fn as_slice(self) -> SharedSlice<'block, T> {
        SharedSlice {
            memory: self.memory.of_any_shape(),
            scope: self.scope,
        }
    }

    accesses!();
}

impl<T: Pod> SharedSlice<'_, T> {
    /// The number of elements.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.memory.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.memory.len == 0
    }

    accesses!();
}
