//! Elements that one thread alone can reach.

use super::GlobalMut;
use crate::thread::UniqueIndex;
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

impl<'launch, T: Pod> GlobalMut<'launch, T> {
    /// The element that belongs to the calling thread by its [`UniqueIndex`], or `None` where the
    /// view ends before it. No other thread can reach it this way.
    ///
    /// In a kernel that also uses this view's `unsafe` accesses, those must keep off other
    /// threads' own elements.
    #[inline(always)]
    #[must_use]
    pub fn own(self, index: UniqueIndex<'launch>) -> Option<OwnElement<'launch, T>> {
        let index = index.get();
        (index < self.len).then_some(OwnElement { view: self, index })
    }
}
