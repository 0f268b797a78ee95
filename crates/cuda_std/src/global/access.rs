//! What accesses are made of: elements that a thread has alone, and widths.

use super::GlobalMut;
use bytemuck::Pod;

/// One element of a [`GlobalMut`] or a [`GlobalMatrixMut`](super::GlobalMatrixMut) that only the calling thread can reach.
#[derive(Debug)]
pub struct OwnElement<'launch, T> {
    /// It stays with its thread, and the element with it.
    pub(super) view: GlobalMut<'launch, T>,
    /// From a witness.
    pub(super) index: usize,
}

impl<T: Pod> OwnElement<'_, T> {
    /// The element's value.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(&self) -> T {
        // SAFETY: (1) `own` compared the index. (2) The witness was the thread's alone.
        unsafe { self.view.load(self.index) }
    }

    /// Writes the element.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, value: T) {
        // SAFETY: (1) `own` compared the index. (2) The witness was the thread's alone.
        unsafe { self.view.store(self.index, value) }
    }
}

/// Rejects, when compiled, a load that no cache operator has.
pub(super) const fn assert_cached<T, const N: usize>() {
    assert!(
        matches!(N * size_of::<T>(), 4 | 8 | 16),
        "a load that names its caches is 4, 8 or 16 bytes wide: choose N so that N * size_of::<T>() is one of them"
    );
}

/// Rejects, when compiled, a vector that is no single access of the machine.
pub(crate) const fn assert_vector<T, const N: usize>() {
    assert!(
        N * size_of::<T>() == 4 || N * size_of::<T>() == 8 || N * size_of::<T>() == 16,
        "a vector access is 4, 8 or 16 bytes wide: choose N so that N * size_of::<T>() is one of them"
    );
}
