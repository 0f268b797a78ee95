//! Host memory that stands for a device's. Untouched memory costs nothing.

use std::alloc::{self, Layout};
use std::ptr::{self, NonNull};

/// The alignment that `cudaMalloc` guarantees, on which kernels with vector accesses rely.
pub(super) const ALIGNMENT: usize = 256;

/// From here on, pages take memory when they are touched.
///
/// An allocator writes the zeros itself if the alignment is larger than its own. So large memory is allocated with the
/// alignment of a word, and its first bytes are skipped. The word before the rest has their number.
const LARGE_BYTES: usize = 1 << 20;

const WORD_BYTES: usize = size_of::<usize>();

/// The layout of an allocation for `bytes` bytes, at least one; `None` if no address space has them.
fn layout(bytes: usize) -> Option<Layout> {
    match bytes < LARGE_BYTES {
        true => Layout::from_size_align(bytes, ALIGNMENT).ok(),
        false => Layout::from_size_align(bytes.checked_add(ALIGNMENT)?, WORD_BYTES).ok(),
    }
}

/// Allocates `bytes` bytes, all zero, at a multiple of [`ALIGNMENT`]; `None` if the host has no memory for them.
///
/// # Panics
/// If `bytes` is 0.
pub(super) fn allocate(bytes: usize) -> Option<NonNull<u8>> {
    assert!(bytes > 0, "empty buffers are not allocated");
    // SAFETY: the layout has at least `bytes` bytes, and `bytes` is not 0.
    let first = NonNull::new(unsafe { alloc::alloc_zeroed(layout(bytes)?) })?;
    if bytes < LARGE_BYTES {
        return Some(first);
    }
    // At least a word, because the address is a multiple of a word.
    let left_out = ALIGNMENT - first.addr().get() % ALIGNMENT;
    // SAFETY: the allocation has `ALIGNMENT` bytes more than `bytes`, and at most as many are left out: at least the word
    // before the rest, which nothing else accesses.
    unsafe {
        let rest = first.add(left_out);
        rest.cast::<usize>().sub(1).write(left_out);
        Some(rest)
    }
}

/// Frees an allocation.
///
/// # Safety
/// 1. [`allocate`] returned `rest` for `bytes`, and it has not been freed. It is not used again.
pub(super) unsafe fn free(rest: *mut u8, bytes: usize) {
    let Some(layout) = layout(bytes) else {
        return;
    };
    // SAFETY: `allocate` made the allocation with this layout, and wrote what is read here: the caller's contract.
    unsafe {
        let left_out = match bytes < LARGE_BYTES {
            true => 0,
            false => rest.cast::<usize>().sub(1).read(),
        };
        alloc::dealloc(rest.sub(left_out), layout);
    }
}

/// The host pointer of an address that was exposed.
pub(super) fn host_pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_zero_whatever_its_size() {
        for bytes in [
            1,
            255,
            257,
            LARGE_BYTES - 1,
            LARGE_BYTES,
            LARGE_BYTES + 1,
            3 * LARGE_BYTES,
        ] {
            let first = allocate(bytes).unwrap();
            assert!(first.addr().get().is_multiple_of(ALIGNMENT));
            // SAFETY: the allocation has `bytes` bytes, and is freed once.
            unsafe {
                let (last, byte) = (first.add(bytes - 1), 7);
                assert_eq!((first.read(), last.read()), (0, 0));
                first.write(byte);
                last.write(byte);
                free(first.as_ptr(), bytes);
            }
        }
        assert_eq!(allocate(usize::MAX), None);
        assert_eq!(allocate(isize::MAX as usize), None);
    }
}
