//! Elements that only one thread can reach.

use super::GlobalMut;
use crate::thread::UniqueIndex;
use bytemuck::Pod;

/// One element of a [`GlobalMut`] or a [`GlobalMatrixMut`](super::GlobalMatrixMut) that only the calling thread can reach.
#[derive(Debug)]
pub struct OwnElement<'launch, T> {
    /// Neither `Send` nor `Sync`: the element stays with its thread.
    pub(super) view: GlobalMut<'launch, T>,
    /// The unique index of the thread.
    pub(super) index: usize,
}

impl<T: Pod> OwnElement<'_, T> {
    /// The element's value.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn get(&self) -> T {
        // SAFETY: `own` compared the index with the length. The index is unique to this thread.
        unsafe { self.view.load(self.index) }
    }

    /// Writes the element.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, value: T) {
        // SAFETY: `own` compared the index with the length. The index is unique to this thread.
        unsafe { self.view.store(self.index, value) }
    }
}

impl<'launch, T: Pod> GlobalMut<'launch, T> {
    /// The calling thread's own element, by its [`UniqueIndex`], or `None` if it is past the end.
    /// No other thread can reach it this way.
    ///
    /// `unsafe` accesses through this view must not touch other threads' own elements.
    #[inline(always)]
    #[must_use]
    pub fn own(self, index: UniqueIndex<'launch>) -> Option<OwnElement<'launch, T>> {
        let index = index.get();
        (index < self.len).then_some(OwnElement { view: self, index })
    }
}
