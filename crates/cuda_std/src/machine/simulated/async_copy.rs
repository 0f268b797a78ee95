//! Asynchronous copies, performed at their wait.

use super::memory::{Space, announce};
use bytemuck::Pod;
use simt::AccessKind;

/// Starts to copy `source_bytes` bytes from element `source_index` of global memory to element
/// `index` of shared memory, and zeros to the rest of `N` elements.
///
/// # Safety
/// 1. Source and destination are allocated with the given lengths, the source until the launch has ended. (The
///    indices are checked here.) No host thread except the simulator's workers writes the source.
#[track_caller]
pub unsafe fn async_copy<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
    source_bytes: u32,
) {
    let element = size_of::<T>();
    let (bytes, present) = (N * element, source_bytes as usize);
    // SAFETY: the elements are in shared memory.
    unsafe { announce(Space::Shared, AccessKind::AsyncWrite, base, len, index, N) };
    // A GPU checks the source's alignment even if it reads nothing.
    let (view_bytes, offset) = if present > 0 {
        (source_len * element, source_index.saturating_mul(element))
    } else {
        (0, 0)
    };
    // SAFETY: the source is allocated and not written: the caller's contract.
    unsafe {
        simt::access(
            Space::Global,
            AccessKind::AsyncRead,
            source.addr(),
            view_bytes,
            offset,
            present,
            bytes,
        );
    }
    // SAFETY: both are allocated: the caller's contract. The indices were checked; a source that is
    // not read may lie anywhere.
    unsafe {
        let to = base.add(index).cast();
        let from = source.wrapping_add(source_index).cast();
        simt::async_copy(to, from, bytes, present);
    }
}

/// [`async_copy`] with all of the source present.
///
/// # Safety
/// As for [`async_copy`].
#[track_caller]
pub unsafe fn async_copy_whole<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
) {
    let bytes = (N * size_of::<T>()) as u32;
    // SAFETY: the caller's contract.
    unsafe { async_copy::<T, N>(base, len, index, source, source_len, source_index, bytes) }
}

/// Closes the group of copies that this thread has started since the last call.
#[track_caller]
pub fn async_commit() {
    simt::async_commit();
}

/// Waits until at most `PENDING` of this thread's youngest groups are unfinished.
#[track_caller]
pub fn async_wait<const PENDING: u32>() {
    simt::async_wait(PENDING);
}

/// [`async_wait`] with all but `DONE` of `STAGES` groups pending.
#[track_caller]
pub fn async_wait_in_ring<const STAGES: usize, const DONE: usize>() {
    simt::async_wait((STAGES - DONE) as u32);
}
