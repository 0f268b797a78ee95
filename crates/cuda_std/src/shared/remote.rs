//! Shared memory of the other blocks of a cluster.

use super::SharedSlice;
use crate::machine::{self, AtomicSpace};
use bytemuck::Pod;

/// The elements of a [`SharedSlice`] in a block of the cluster, as [`SharedSlice::in_block`] makes it. Accesses
/// are of 4, 8 or 16 bytes.
///
/// What a block writes to its own memory others may read after [`cluster::sync`](crate::cluster::sync), and
/// the same holds for what they write; another one comes before the end of the block.
///
/// Its [atomic operations](crate::atomic) are those of the other views. The scope of those that
/// [`atomic_ref`](Self::atomic_ref) makes must be the cluster or a wider one.
///
/// ```
/// use cuda_std::cluster;
/// use cuda_std::prelude::*;
///
/// /// Each block of a pair writes the number of the other one to its place in `out`.
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
///         // SAFETY: (1) the only element. (2) One thread writes it.
///         unsafe { own.store(0, block) };
///     }
///     cluster::sync();
///     if is_first {
///         let other = own.in_block(1 - cluster::rank());
///         // SAFETY: (1) the only element; for `out` that is (1) of the kernel. (2) A barrier of the cluster
///         // stands between. (3) Another one follows.
///         unsafe { out.store(block as usize, other.load(0)) };
///     }
///     cluster::sync();
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RemoteSlice<'block, T> {
    /// The place of the elements in each block.
    place: SharedSlice<'block, T>,
    rank: u32,
}

impl<'block, T: Pod> SharedSlice<'block, T> {
    /// The same elements in the block of rank `rank` of the cluster, from compute capability 9.0 on. (`mapa`)
    #[inline(always)]
    #[must_use]
    pub const fn in_block(self, rank: u32) -> RemoteSlice<'block, T> {
        RemoteSlice { place: self, rank }
    }
}

impl<T: Pod> RemoteSlice<'_, T> {
    /// Elements of the slice.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.place.len()
    }

    /// Whether the launch gave no room for even one element.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.place.is_empty()
    }

    /// Where atomic operations find the elements, and how many there are.
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
    /// 3. The block is there, from before the access until after it.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, index: usize) -> T {
        // SAFETY: (1), (2), (3) are the caller's. (4) A single element is aligned.
        unsafe { self.load_vector::<1>(index)[0] }
    }

    /// The `N` elements from `index` on, in one access.
    ///
    /// # Safety
    /// 1. `index + N <= len()`, and the elements have been written.
    /// 2. No other thread writes them, unless a barrier of the cluster orders the two.
    /// 3. The block is there, from before the access until after it.
    /// 4. The address of the first element is a multiple of the access, as `index` is of `N` in an array.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
        const { assert_access::<T, N>() };
        let (base, len) = (self.place.as_mut_ptr(), self.len());
        // SAFETY: (1) to (4) are the caller's.
        unsafe { machine::load_in_block(base, len, index, self.rank) }
    }

    /// Writes the element at `index`.
    ///
    /// # Safety
    /// 1. `index < len()`.
    /// 2. No other thread touches it, unless a barrier of the cluster orders the two.
    /// 3. The block is there, from before the access until after it.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, index: usize, value: T) {
        // SAFETY: (1), (2), (3) are the caller's. (4) A single element is aligned.
        unsafe { self.store_vector::<1>(index, [value]) };
    }

    /// Writes the `N` elements from `index` on, in one access.
    ///
    /// # Safety
    /// 1. `index + N <= len()`.
    /// 2. No other thread touches them, unless a barrier of the cluster orders the two.
    /// 3. The block is there, from before the access until after it.
    /// 4. The address of the first element is a multiple of the access, as `index` is of `N` in an array.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, index: usize, values: [T; N]) {
        const { assert_access::<T, N>() };
        let (base, len) = (self.place.as_mut_ptr(), self.len());
        // SAFETY: (1) to (4) are the caller's.
        unsafe { machine::store_in_block(base, len, index, self.rank, values) };
    }
}

/// Rejects, when compiled, an access that is no single instruction.
const fn assert_access<T, const N: usize>() {
    let bytes = N * size_of::<T>();
    assert!(
        bytes == 4 || bytes == 8 || bytes == 16,
        "an access of another block's memory is 4, 8 or 16 bytes: choose N so that N * size_of::<T>() is one of them"
    );
}
