//! Asynchronous copies (PTX ISA, 9.7.9.22: `cp.async`), from compute capability 8.0. On older
//! devices they are loads and stores, complete at once.

#[cfg(not(cuda_arch_at_least = "80"))]
use super::memory::{Space, load, store};
#[cfg(cuda_arch_at_least = "80")]
use super::memory::{global_address, shared_address};
use bytemuck::Pod;
#[cfg(cuda_arch_at_least = "80")]
use core::arch::asm;

/// Starts to copy `source_bytes` bytes from element `source_index` of global memory to element
/// `index` of shared memory, and zeros to the rest of `N` elements.
///
/// # Safety
/// 1. The first `source_bytes` bytes of elements `source_index..source_index + N` lie within the
///    `source_len` elements at `source`.
/// 2. Elements `index..index + N` lie within the `len` elements at `base`.
/// 3. Both addresses are multiples of `N * size_of::<T>()`, which is 4, 8 or 16.
/// 4. Until the copy has been waited for, no thread writes the source or accesses the destination.
#[inline(always)]
pub unsafe fn async_copy<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
    source_bytes: u32,
) {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: the caller's contract. The source's address may lie outside the source if no byte is
    // read, so it is computed without `add`.
    unsafe {
        let _ = (len, source_len);
        let to = shared_address(base.add(index));
        let from = global_address(source.wrapping_add(source_index));
        match const { N * size_of::<T>() } {
            16 => asm!(
                "cp.async.cg.shared.global [{0}], [{1}], 16, {2};",
                in(reg32) to, in(reg64) from, in(reg32) source_bytes, options(nostack),
            ),
            8 => asm!(
                "cp.async.ca.shared.global [{0}], [{1}], 8, {2};",
                in(reg32) to, in(reg64) from, in(reg32) source_bytes, options(nostack),
            ),
            _ => asm!(
                "cp.async.ca.shared.global [{0}], [{1}], 4, {2};",
                in(reg32) to, in(reg64) from, in(reg32) source_bytes, options(nostack),
            ),
        }
    }
    #[cfg(not(cuda_arch_at_least = "80"))]
    // SAFETY: the caller's contract. Elements past `source_bytes` are not read.
    unsafe {
        let present = source_bytes as usize / size_of::<T>();
        let values: [T; N] = if present >= N {
            load(Space::Global, source, source_len, source_index)
        } else {
            core::array::from_fn(|i| {
                if i < present {
                    source.add(source_index + i).read()
                } else {
                    T::zeroed()
                }
            })
        };
        store(Space::Shared, base, len, index, values);
    }
}

/// [`async_copy`] with all of the source present.
///
/// # Safety
/// As for [`async_copy`], with `source_bytes` the whole copy.
#[inline(always)]
pub unsafe fn async_copy_whole<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
) {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: the caller's contract.
    unsafe {
        let _ = (len, source_len);
        let to = shared_address(base.add(index));
        let from = global_address(source.add(source_index));
        match const { N * size_of::<T>() } {
            16 => asm!(
                "cp.async.cg.shared.global [{0}], [{1}], 16;",
                in(reg32) to, in(reg64) from, options(nostack),
            ),
            8 => asm!(
                "cp.async.ca.shared.global [{0}], [{1}], 8;",
                in(reg32) to, in(reg64) from, options(nostack),
            ),
            _ => asm!(
                "cp.async.ca.shared.global [{0}], [{1}], 4;",
                in(reg32) to, in(reg64) from, options(nostack),
            ),
        }
    }
    #[cfg(not(cuda_arch_at_least = "80"))]
    // SAFETY: the caller's contract.
    unsafe {
        let values: [T; N] = load(Space::Global, source, source_len, source_index);
        store(Space::Shared, base, len, index, values);
    }
}

/// Closes the group of copies that this thread has started since the last call.
#[inline(always)]
pub fn async_commit() {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: touches no memory.
    unsafe {
        asm!("cp.async.commit_group;", options(nostack));
    }
}

/// Waits until at most `PENDING` of this thread's youngest groups are unfinished.
#[inline(always)]
pub fn async_wait<const PENDING: u32>() {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: the callers of the copies guarantee their accesses. Without `nomem`, the compiler
    // moves no memory access across the wait.
    unsafe {
        asm!("cp.async.wait_group {0};", const PENDING, options(nostack));
    }
}

/// [`async_wait`] with all but `DONE` of `STAGES` groups pending.
#[inline(always)]
pub fn async_wait_in_ring<const STAGES: usize, const DONE: usize>() {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: as in `async_wait`.
    unsafe {
        asm!("cp.async.wait_group {0};", const STAGES - DONE, options(nostack));
    }
}
