//! Copies from global to shared memory that a group shares out among its threads.

use super::Collective;
use crate::global::Global;
use crate::machine;
use crate::shared::SharedSlice;
use bytemuck::Pod;

/// Bytes of the widest asynchronous copy.
const VECTOR_BYTES: usize = 16;

/// Starts to copy the `len` elements of `source` from `from` on to those of `destination` from `to`
/// on (CUDA C++'s `memcpy_async`). Every thread of the group makes the same call, and copies its
/// part; [`wait`] is what makes them visible.
///
/// Where both places lie alike within 16 bytes, a thread moves 16 bytes at a time, neighbours next
/// to each other; what is left at either end, and all of it otherwise, goes element by element.
/// Elements of 4, 8 and 16 bytes are copied asynchronously (`cp.async`, from compute capability 8.0
/// on), as are smaller ones where they go by 16 bytes; others are loaded and stored.
///
/// # Safety
/// 1. Elements `from..from + len` lie within `source`, and `to..to + len` within `destination`.
/// 2. From the call until the group has returned from [`wait`], nothing else accesses those of the
///    destination.
#[inline(always)]
#[track_caller]
pub unsafe fn memcpy_async<T: Pod>(
    group: &impl Collective,
    (destination, to): (SharedSlice<'_, T>, usize),
    (source, from): (Global<'_, T>, usize),
    len: usize,
) {
    let copy = Copy {
        destination,
        to,
        source,
        from,
        len,
        rank: group.thread_rank(),
        threads: group.size(),
    };
    // SAFETY: (1), (2) are the caller's; (3) of `all` is each arm's own size.
    unsafe {
        match const { size_of::<T>() } {
            1 => copy.all::<16>(),
            2 => copy.all::<8>(),
            4 => copy.all::<4>(),
            8 => copy.all::<2>(),
            16 => copy.all::<1>(),
            _ => copy.singles(0, 0),
        }
    }
    machine::async_commit();
}

/// Waits until all that the group's threads have started to copy is there, for all of them.
#[inline(always)]
#[track_caller]
pub fn wait(group: &impl Collective) {
    machine::async_wait::<0>();
    group.sync();
}

/// One thread's part of a copy.
#[derive(Clone, Copy)]
struct Copy<'launch, T> {
    destination: SharedSlice<'launch, T>,
    to: usize,
    source: Global<'launch, T>,
    from: usize,
    len: usize,
    rank: usize,
    threads: usize,
}

impl<T: Pod> Copy<'_, T> {
    /// How many elements come before the first that both memories have at a multiple of 16 bytes;
    /// none if there is no such element.
    #[inline(always)]
    fn elements_before_vectors(self) -> Option<usize> {
        let place = |base: usize, index: usize| (base + index * size_of::<T>()) % VECTOR_BYTES;
        let destination = place(self.destination.as_mut_ptr().addr(), self.to);
        let source = place(self.source.as_ptr().addr(), self.from);
        let lie_alike = destination == source && destination.is_multiple_of(size_of::<T>());
        lie_alike.then(|| (VECTOR_BYTES - destination) % VECTOR_BYTES / size_of::<T>())
    }

    /// Copies by vectors of `N` elements, and singly what they leave.
    ///
    /// # Safety
    /// 1. As (1) of [`memcpy_async`].
    /// 2. As (2) of [`memcpy_async`].
    /// 3. `N` elements are 16 bytes.
    #[inline(always)]
    #[track_caller]
    unsafe fn all<const N: usize>(self) {
        let head = self.elements_before_vectors().unwrap_or(self.len);
        let head = head.min(self.len);
        let vectors = (self.len - head) / N;
        let mut vector = self.rank;
        while vector < vectors {
            let index = head + vector * N;
            // SAFETY: (1), (2) are the caller's; the last vector ends at or before `len`. By (3) and
            // the choice of `head` both addresses are multiples of the copy's 16 bytes.
            unsafe { self.start::<N>(index) };
            vector += self.threads;
        }
        // SAFETY: (1), (2) are the caller's; (3) the vectors lie within.
        unsafe { self.singles(head, vectors * N) }
    }

    /// Copies one by one the first `head` elements, and those behind the next `skipped`.
    ///
    /// # Safety
    /// 1. As (1) of [`memcpy_async`].
    /// 2. As (2) of [`memcpy_async`].
    /// 3. `head + skipped` is at most the length.
    #[inline(always)]
    #[track_caller]
    unsafe fn singles(self, head: usize, skipped: usize) {
        let mut single = self.rank;
        while single < self.len - skipped {
            let index = single + if single < head { 0 } else { skipped };
            // An asynchronous copy needs an address that is a multiple of its bytes.
            let is_async =
                const { matches!(size_of::<T>(), 4 | 8 | 16) && align_of::<T>() == size_of::<T>() };
            // SAFETY: (1), (2) are the caller's; an element is aligned as its type is.
            unsafe {
                if is_async {
                    self.start::<1>(index);
                } else {
                    let value = self.source.load(self.from + index);
                    self.destination.store(self.to + index, value);
                }
            }
            single += self.threads;
        }
    }

    /// Starts to copy `N` elements.
    ///
    /// # Safety
    /// 1. Elements `index..index + N` lie within the copy, which keeps (1) and (2) of
    ///    [`memcpy_async`].
    /// 2. `N * size_of::<T>()` is 4, 8 or 16, and divides both addresses.
    #[inline(always)]
    #[track_caller]
    unsafe fn start<const N: usize>(self, index: usize) {
        // SAFETY: (1) to (3) are (1) and (2); (4) is in (1).
        unsafe {
            machine::async_copy_whole::<T, N>(
                self.destination.as_mut_ptr(),
                self.destination.len(),
                self.to + index,
                self.source.as_ptr(),
                self.source.len(),
                self.from + index,
            );
        }
    }
}
