//! Copies to shared memory by the threads of a group.

use crate::put;
use cuda_std::cooperative_groups::{Group, memcpy_async, this_thread_block, tiled_partition, wait};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The elements of shared memory of the kernels below.
pub const COPIED: usize = 512;

/// The block copies `len` elements of `x` from index `from` on to shared memory from index `to` on,
/// and the threads write the contents to `out`.
///
/// # Safety
/// 1. `x` has the elements; `to + len <= COPIED`; `out` has [`COPIED`] elements for each block.
/// 2. `array` has [`COPIED`] elements, and belongs to the block.
#[inline(always)]
#[track_caller]
unsafe fn copy_by_block<T: cuda_std::Pod>(
    (from, to, len): (usize, usize, usize),
    x: Global<T>,
    out: GlobalMut<T>,
    array: SharedSlice<T>,
) {
    let block = this_thread_block();
    // SAFETY: the ranges are the caller's contract. The elements are read only after the wait.
    unsafe { memcpy_async(&block, (array, to), (x, from), len) };
    wait(&block);
    let first = thread::block_rank() as usize * COPIED;
    let mut index = to + block.thread_rank();
    while index < to + len {
        // SAFETY: the length of `array` is the caller's contract. The block has waited for the
        // copies, and each thread has its own elements of `out`.
        unsafe { put(out, first + index, array.load(index)) };
        index += block.size();
    }
}

macro_rules! copy_kernels {
    ($($name:ident: $element:ty;)*) => {$(
        #[doc = concat!("Copies ", stringify!($element), " by blocks.")]
        ///
        /// # Safety
        /// 1. `x` has the elements; `to + len <= COPIED`; `out` has [`COPIED`] elements for each
        ///    block.
        #[kernel]
        pub unsafe fn $name(from: usize, to: usize, len: usize, x: Global<$element>, out: GlobalMut<$element>) {
            let array = shared_array![$element; COPIED];
            // SAFETY: the launch and the lengths are the caller's contract. The array is declared
            // here, so it is the block's own.
            unsafe { copy_by_block((from, to, len), x, out, array.as_slice()) }
        }
    )*};
}
copy_kernels! {
    copies_of_blocks_u8: u8;
    copies_of_blocks_u16: u16;
    copies_of_blocks_u32: u32;
    copies_of_blocks_f64: f64;
}

/// Each tile of 16 threads copies `len` elements of `x`, at most 16, from its own first element on, and each thread
/// writes the element after its own.
///
/// # Safety
/// 1. Blocks have [`COPIED`] threads at most, `len` is 1 to 16; `x` has 16 elements for each tile,
///    `out` one for each thread.
#[kernel]
pub unsafe fn copies_of_tiles(len: usize, x: Global<u32>, out: GlobalMut<u32>) {
    let array = shared_array![u32; COPIED];
    let tile = tiled_partition::<16>(&this_thread_block());
    let own = thread::unique_index().get();
    let first = own - tile.thread_rank();
    let to = thread::rank_in_block() as usize - tile.thread_rank();
    // SAFETY: the lengths are the caller's contract. Each tile has its own part of the array, and
    // reads it after the wait.
    let value = unsafe {
        memcpy_async(
            &tile,
            (array.as_slice(), to),
            (x, first),
            len.min(tile.size()),
        );
        wait(&tile);
        array.load(to + (tile.thread_rank() + 1) % len.min(tile.size()))
    };
    // SAFETY: the element belongs to this thread's unique index.
    unsafe { put(out, own, value) };
}
