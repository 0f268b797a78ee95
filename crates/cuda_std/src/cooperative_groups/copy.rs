//! Copies from global to shared memory by all threads of a group.

use super::Collective;
use crate::global::Global;
use crate::machine;
use crate::shared::SharedSlice;
use bytemuck::Pod;

/// Bytes of the widest asynchronous copy.
const VECTOR_BYTES: usize = 16;

/// Starts to copy `source[from..][..len]` to `destination[to..]` (CUDA C++'s `memcpy_async`).
///
/// Every thread of the group makes the same call, and copies its part. [`wait`] makes the elements
/// visible.
///
/// If both addresses have the same offset modulo 16, each thread copies 16 bytes at a time,
/// neighbouring threads neighbouring bytes. The rest at either end, or everything if the offsets
/// differ, is copied element by element. Copies of 4, 8 and 16 bytes are asynchronous (`cp.async`,
/// from compute capability 8.0); others are loads and stores.
///
/// # Safety
/// 1. Elements `from..from + len` lie within `source`, and `to..to + len` within `destination`.
/// 2. From the call until the group has returned from [`wait`], nothing else accesses the elements
///    of the destination.
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
    // SAFETY: the ranges and conflicting accesses: the caller's contract. Each arm's `N` elements
    // are 16 bytes.
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

/// Waits until all copies that the group's threads have started are complete and visible to all of
/// them.
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
    /// The number of elements before the first that is aligned to 16 bytes in both memories, or
    /// `None` if there is no such element.
    #[inline(always)]
    fn elements_before_vectors(self) -> Option<usize> {
        let place = |base: usize, index: usize| (base + index * size_of::<T>()) % VECTOR_BYTES;
        let destination = place(self.destination.as_mut_ptr().addr(), self.to);
        let source = place(self.source.as_ptr().addr(), self.from);
        let lie_alike = destination == source && destination.is_multiple_of(size_of::<T>());
        lie_alike.then(|| (VECTOR_BYTES - destination) % VECTOR_BYTES / size_of::<T>())
    }

    /// Copies vectors of `N` elements, and the rest one by one.
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
            // SAFETY: the last vector ends at or before `len`. The ranges and conflicting accesses: the caller's
            // contract. `N` elements are 16 bytes, and `head` aligns both addresses to them.
            unsafe { self.start::<N>(index) };
            vector += self.threads;
        }
        // SAFETY: the ranges and conflicting accesses: the caller's contract. The vectors lie
        // within the length.
        unsafe { self.singles(head, vectors * N) }
    }

    /// Copies the first `head` elements one by one, and those after the next `skipped`.
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
            // SAFETY: the ranges and conflicting accesses: the caller's contract. An element is
            // aligned to its type.
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
    /// 1. Elements `index..index + N` lie within the copy, which meets the requirements of
    ///    [`memcpy_async`].
    /// 2. `N * size_of::<T>()` is 4, 8 or 16, and divides both addresses.
    #[inline(always)]
    #[track_caller]
    unsafe fn start<const N: usize>(self, index: usize) {
        // SAFETY: the range, the alignment and conflicting accesses: the caller's contract.
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
