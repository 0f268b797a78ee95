//! Shared memory of the other blocks of a cluster.

use super::SharedSlice;
use crate::machine::{self, AtomicSpace};
use bytemuck::Pod;

/// A [`SharedSlice`] of another block of the cluster, from [`SharedSlice::in_block`]. Accesses are of 4, 8 or 16
/// bytes.
///
/// Writes become visible to other blocks at [`cluster::sync`](crate::cluster::sync). Before a block ends, another
/// `sync` must follow the last access to its memory.
///
/// [Atomic operations](crate::atomic) are as for the other views. The scope of an [`atomic_ref`](Self::atomic_ref)
/// must be the cluster or wider.
///
/// ```
/// use cuda_std::cluster;
/// use cuda_std::prelude::*;
///
/// /// Each block of a pair writes the other's rank to its own element of `out`.
/// ///
/// /// # Safety
/// /// 1. `out` has an element for each block.
/// #[kernel(arch = "sm_90", cluster = (2, 1, 1))]
/// pub unsafe fn neighbours(out: GlobalMut<u32>) {
///     let own = shared_array![u32; 1];
///     let own = own.as_slice();
///     let block = thread::block_idx_x();
///     let is_first = thread::rank_in_block() == 0;
///     if is_first {
///         // SAFETY: it is the only element, and one thread writes it.
///         unsafe { own.store(0, block) };
///     }
///     cluster::sync();
///     if is_first {
///         let other = own.in_block(1 - cluster::rank());
///         // SAFETY: it is the only element, and `out` has one for each block: the caller's contract. The barrier
///         // above orders the accesses, and another follows before the block ends.
///         unsafe { out.store(block as usize, other.load(0)) };
///     }
///     cluster::sync();
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RemoteSlice<'block, T> {
    /// The address of the elements in each block.
    place: SharedSlice<'block, T>,
    rank: u32,
}

impl<'block, T: Pod> SharedSlice<'block, T> {
    /// The same elements in the cluster's block of rank `rank`. From compute capability 9.0. (`mapa`)
    #[inline(always)]
    #[must_use]
    pub const fn in_block(self, rank: u32) -> RemoteSlice<'block, T> {
        RemoteSlice { place: self, rank }
    }
}

impl<T: Pod> RemoteSlice<'_, T> {
    /// The number of elements.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.place.len()
    }

    /// Whether there are no elements.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.place.is_empty()
    }

    /// Memory space, address and length, for atomic operations.
    #[inline(always)]
    pub(crate) const fn words(self) -> (AtomicSpace, *mut T, usize) {
        let space = AtomicSpace::SharedOf(self.rank);
        (space, self.place.as_mut_ptr(), self.len())
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// 1. `index < len()`, and the element has been written.
    /// 2. No other thread writes it, unless a barrier of the cluster orders the two.
    /// 3. The block has started before the access, and does not end until after it.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, index: usize) -> T {
        // SAFETY: the caller's contract. A single element is aligned.
        unsafe { self.load_vector::<1>(index)[0] }
    }

    /// The `N` elements from `index` on, in one access.
    ///
    /// # Safety
    /// 1. `index + N <= len()`, and the elements have been written.
    /// 2. No other thread writes them, unless a barrier of the cluster orders the two.
    /// 3. The block has started before the access, and does not end until after it.
    /// 4. The address of the first element is a multiple of the access's size: in an array, `index` is a multiple of
    ///    `N`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
        const { assert_access::<T, N>() };
        let (base, len) = (self.place.as_mut_ptr(), self.len());
        // SAFETY: the caller's contract.
        unsafe { machine::load_in_block(base, len, index, self.rank) }
    }

    /// Writes the element at `index`.
    ///
    /// # Safety
    /// 1. `index < len()`.
    /// 2. No other thread touches it, unless a barrier of the cluster orders the two.
    /// 3. The block has started before the access, and does not end until after it.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, index: usize, value: T) {
        // SAFETY: the caller's contract. A single element is aligned.
        unsafe { self.store_vector::<1>(index, [value]) };
    }

    /// Writes the `N` elements from `index` on, in one access.
    ///
    /// # Safety
    /// 1. `index + N <= len()`.
    /// 2. No other thread touches them, unless a barrier of the cluster orders the two.
    /// 3. The block has started before the access, and does not end until after it.
    /// 4. The address of the first element is a multiple of the access's size: in an array, `index` is a multiple of
    ///    `N`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, index: usize, values: [T; N]) {
        const { assert_access::<T, N>() };
        let (base, len) = (self.place.as_mut_ptr(), self.len());
        // SAFETY: the caller's contract.
        unsafe { machine::store_in_block(base, len, index, self.rank, values) };
    }
}

/// Rejects accesses that are not one instruction, at compile time.
const fn assert_access<T, const N: usize>() {
    let bytes = N * size_of::<T>();
    assert!(
        bytes == 4 || bytes == 8 || bytes == 16,
        "an access of another block's memory is 4, 8 or 16 bytes: choose N so that N * size_of::<T>() is one of them"
    );
}
