//! Bulk copies between global and shared memory (TMA): boxes of tensors, and runs of elements.
//!
//! A [`TensorMap`] is a kernel's parameter that describes a matrix in global memory and the box of it
//! that one copy moves; the host makes it, and checks what the hardware asks of it. A load fills a
//! [`SwizzledTile`] and counts its bytes at the barrier of a [`Slot`]; what lies outside of the matrix
//! becomes zero. A store copies a tile back, without what lies outside. (PTX ISA, 9.7.8.24, "Data
//! Movement and Conversion Instructions: Asynchronous copy: bulk and tensor copy".)
//!
//! ```text
//! load:   slot.expect(bytes); map.load(tile, &slot, (row, column)); a consumer's wait
//! store:  every thread writes its part of the tile; tma::fence(); a barrier;
//!         one thread: map.store(tile, (row, column)); tma::commit(); tma::wait_read::<0>()
//! ```
//!
//! Elements in a row need no map: [`Global::bulk_load`] and [`GlobalMut::bulk_store`] copy them in the
//! same way (PTX ISA, `cp.async.bulk`).
//!
//! Both kinds take a [`CachePolicy`] for the second-level cache, such as for a matrix that is read once
//! beside one that all blocks read: `map.hinted(policy).load(tile, &slot, (row, column))`. It changes no
//! result.

use crate::global::{Global, GlobalMut};
use crate::grid_constant::GridConstant;
use crate::machine::{self, Eviction};
use crate::mbarrier::Slot;
use crate::shared::{ROW_BYTES, SharedSlice, SwizzledTile};
use bytemuck::{Pod, Zeroable};
use core::marker::PhantomData;
use core::ops::Range;

/// How the second-level cache treats what copies access: a hint, which a thread makes once, before its
/// loop. Without one, all lines are alike. (PTX ISA, `createpolicy`)
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy {
    policy: u64,
}

impl CachePolicy {
    /// Lines are evicted before others: for what is read or written once.
    #[inline(always)]
    #[must_use]
    pub fn evict_first() -> Self {
        Self {
            policy: machine::cache_policy(Eviction::First),
        }
    }

    /// Lines are evicted after others: for what other blocks read again.
    #[inline(always)]
    #[must_use]
    pub fn evict_last() -> Self {
        Self {
            policy: machine::cache_policy(Eviction::Last),
        }
    }
}

/// What copies access, with their policy.
#[derive(Clone, Copy, Debug)]
pub struct Hinted<S> {
    side: S,
    policy: CachePolicy,
}

macro_rules! hinted {
    ($([$($generics:tt)*] $side:ty;)*) => {$(
        impl<T: Pod $($generics)*> $side {
            /// The same, with a policy for the copies that access it.
            #[inline(always)]
            #[must_use]
            pub fn hinted(self, policy: CachePolicy) -> Hinted<Self> {
                Hinted { side: self, policy }
            }
        }
    )*};
}
hinted! {
    [, const ROWS: usize, const COLUMNS: usize] GridConstant<'_, TensorMap<T, ROWS, COLUMNS>>;
    [, const ROWS: usize, const COLUMNS: usize] GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS>>;
    [] Global<'_, T>;
    [] GlobalMut<'_, T>;
}

/// A matrix in global memory of which a copy moves `ROWS` rows of `COLUMNS` elements: 128 bytes of
/// each row, which stand swizzled in shared memory.
///
/// It is the parameter `GridConstant<TensorMap<T, ROWS, COLUMNS>>` of a kernel, at most 256 rows. As a
/// parameter it is plain data, which a host can make of any words: that it is the map of a matrix is a
/// requirement of the copies, and so of the kernel.
/// Other boxes do not compile:
///
/// ```compile_fail,E0080
/// # use cuda_std::tma::TensorMap;
/// let map = TensorMap::<f32, 8, 16>::of_words([0; 16]);
/// ```
#[repr(C, align(64))]
#[derive(Debug)]
pub struct TensorMap<T, const ROWS: usize, const COLUMNS: usize> {
    /// What the driver has encoded, or the simulator.
    words: [u64; 16],
    element: PhantomData<T>,
}

/// A matrix in global memory to which a copy brings `ROWS` rows of `COLUMNS` elements from shared
/// memory: a [`TensorMap`] of a matrix that the launch writes.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct TensorMapMut<T, const ROWS: usize, const COLUMNS: usize> {
    /// What the driver has encoded, or the simulator.
    words: [u64; 16],
    element: PhantomData<T>,
}

macro_rules! maps {
    ($($map:ident)*) => {$(
        impl<T, const ROWS: usize, const COLUMNS: usize> Clone for $map<T, ROWS, COLUMNS> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, const ROWS: usize, const COLUMNS: usize> Copy for $map<T, ROWS, COLUMNS> {}

        // SAFETY: the words may be zero. Whether they are a map is a requirement of its copies.
        unsafe impl<T: Pod, const ROWS: usize, const COLUMNS: usize> Zeroable
            for $map<T, ROWS, COLUMNS>
        {
        }

        // SAFETY: 128 bytes of integers at a multiple of 64, without padding.
        unsafe impl<T: Pod, const ROWS: usize, const COLUMNS: usize> Pod
            for $map<T, ROWS, COLUMNS>
        {
        }

        impl<T: Pod, const ROWS: usize, const COLUMNS: usize> $map<T, ROWS, COLUMNS> {
            /// Rejects, when compiled, boxes that no map has.
            const IS_BOX: () = assert!(
                ROWS > 0 && ROWS <= 256 && COLUMNS * size_of::<T>() == ROW_BYTES,
                "a box has 1 to 256 rows of 128 bytes"
            );

            /// The map of these words, which the driver or the simulator has encoded.
            #[must_use]
            pub const fn of_words(words: [u64; 16]) -> Self {
                const { Self::IS_BOX };
                Self {
                    words,
                    element: PhantomData,
                }
            }

            /// The words of the map.
            #[must_use]
            pub const fn words(&self) -> &[u64; 16] {
                &self.words
            }
        }

        impl<T: Pod, const ROWS: usize, const COLUMNS: usize>
            GridConstant<'_, $map<T, ROWS, COLUMNS>>
        {
            /// Fetches the map before it is used first.
            #[inline(always)]
            pub fn prefetch(self) {
                // SAFETY: (1) the map is a parameter of the launch.
                unsafe { machine::prefetch_tensor_map(self.as_ptr().cast()) };
            }
        }
    )*};
}
maps!(TensorMap TensorMapMut);

impl<T: Pod, const ROWS: usize, const COLUMNS: usize>
    GridConstant<'_, TensorMap<T, ROWS, COLUMNS>>
{
    /// Starts to copy what lies at `place`, a row and a column of the matrix, into a tile: a box for
    /// each of its panels. Called by one thread. The bytes, [`SwizzledTile::BYTES`] wherever the matrix
    /// ends, count at the barrier of `slot`.
    ///
    /// # Safety
    /// 1. The map is of a matrix that lives, and that no thread writes during the launch; the tile is
    ///    there.
    /// 2. The slot's ring is initialised, and `slot.stage()` is expecting the bytes in this round.
    /// 3. Until a consumer has waited for the stage, no thread accesses the tile.
    /// 4. The block does not end before the bytes have landed.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: (u32, u32),
    ) {
        // SAFETY: (1) to (4) are the caller's.
        unsafe { load_boxes(self, tile, slot, place, (None, None)) };
    }

    /// [`Self::load`] into the tile at the same place in each block of the cluster whose bit is set in
    /// `blocks`. The bytes count at the barrier of the same stage of each.
    ///
    /// # Safety
    /// 1. to 4. as for [`Self::load`], in each of these blocks.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_multicast<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: (u32, u32),
        blocks: u16,
    ) {
        // SAFETY: (1) to (4) are the caller's.
        unsafe { load_boxes(self, tile, slot, place, (Some(blocks), None)) };
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize>
    Hinted<GridConstant<'_, TensorMap<T, ROWS, COLUMNS>>>
{
    /// As without a policy.
    ///
    /// # Safety
    /// 1. to 4. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: (u32, u32),
    ) {
        // SAFETY: (1) to (4) are the caller's.
        unsafe { load_boxes(self.side, tile, slot, place, (None, Some(self.policy))) };
    }

    /// As without a policy.
    ///
    /// # Safety
    /// 1. to 4. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_multicast<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: (u32, u32),
        blocks: u16,
    ) {
        let options = (Some(blocks), Some(self.policy));
        // SAFETY: (1) to (4) are the caller's.
        unsafe { load_boxes(self.side, tile, slot, place, options) };
    }
}

/// Starts to load a tile, to some blocks or to the caller's, with a policy or without.
///
/// # Safety
/// 1. to 4. as for [`GridConstant::load`], in each of the blocks.
#[inline(always)]
#[track_caller]
unsafe fn load_boxes<T: Pod, const ROWS: usize, const COLUMNS: usize, const WIDTH: usize>(
    map: GridConstant<'_, TensorMap<T, ROWS, COLUMNS>>,
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    slot: &Slot<'_>,
    place: (u32, u32),
    (blocks, policy): (Option<u16>, Option<CachePolicy>),
) {
    const { TensorMap::<T, ROWS, COLUMNS>::IS_BOX };
    let (map, barrier) = (map.as_ptr().cast(), slot.barrier());
    let policy = bits(policy);
    let mut number = 0;
    while number < SwizzledTile::<T, ROWS, WIDTH>::PANELS {
        let (panel, place) = panel_of(tile, place, number);
        // SAFETY: (1) the map is a parameter, and the matrix is not written. (2) A panel of a tile is
        // aligned, and has room for a box. (3), (4) are the caller's. (5) The policy is one.
        unsafe {
            match blocks {
                None => machine::tensor_load(map, panel, barrier, place, policy),
                Some(blocks) => {
                    machine::tensor_load_multicast(map, panel, barrier, place, blocks, policy);
                }
            }
        }
        number += 1;
    }
}

/// What an instruction is given.
#[inline(always)]
const fn bits(policy: Option<CachePolicy>) -> Option<u64> {
    match policy {
        None => None,
        Some(CachePolicy { policy }) => Some(policy),
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize>
    GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS>>
{
    /// Starts to copy a tile to `place`, a row and a column of the matrix. Called by one thread; the
    /// copy belongs to the thread's next group, see [`commit`].
    ///
    /// # Safety
    /// 1. The map is of a matrix that lives, and no other thread accesses the box during the launch; the
    ///    tile is there.
    /// 2. The tile has been written; the threads that wrote it have called [`fence`], and a barrier
    ///    stands between them and this call.
    /// 3. Until the group has been waited for, no thread writes the tile.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        place: (u32, u32),
    ) {
        // SAFETY: (1) to (3) are the caller's.
        unsafe { store_boxes(self, tile, place, None) };
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize>
    Hinted<GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS>>>
{
    /// As without a policy.
    ///
    /// # Safety
    /// 1. to 3. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        place: (u32, u32),
    ) {
        // SAFETY: (1) to (3) are the caller's.
        unsafe { store_boxes(self.side, tile, place, Some(self.policy)) };
    }
}

/// Starts to store a tile, with a policy or without.
///
/// # Safety
/// 1. to 3. as for [`GridConstant::store`].
#[inline(always)]
#[track_caller]
unsafe fn store_boxes<T: Pod, const ROWS: usize, const COLUMNS: usize, const WIDTH: usize>(
    map: GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS>>,
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    place: (u32, u32),
    policy: Option<CachePolicy>,
) {
    const { TensorMapMut::<T, ROWS, COLUMNS>::IS_BOX };
    let map = map.as_ptr().cast();
    let mut number = 0;
    while number < SwizzledTile::<T, ROWS, WIDTH>::PANELS {
        let (panel, place) = panel_of(tile, place, number);
        // SAFETY: (1), (3) are the caller's. (2) A panel of a tile is aligned, and a whole box. (4) The
        // policy is one.
        unsafe { machine::tensor_store(map, panel, place, bits(policy)) };
        number += 1;
    }
}

/// Elements of global memory that the launch does not write, as bulk copies read them.
impl<T: Pod> Global<'_, T> {
    /// Starts to copy the elements `range` to those of `destination` from number `to` on. Called by one
    /// thread. Their bytes count at the barrier of `slot`.
    ///
    /// # Safety
    /// 1. The elements lie within both views, and there are some.
    /// 2. The addresses of the first ones and the number of bytes are multiples of 16.
    /// 3. The slot's ring is initialised, and `slot.stage()` is expecting the bytes in this round.
    /// 4. Until a consumer has waited for the stage, no thread accesses these elements of `destination`.
    /// 5. The block does not end before the bytes have landed.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_load(
        self,
        range: Range<usize>,
        (destination, to): (SharedSlice<'_, T>, usize),
        slot: &Slot<'_>,
    ) {
        // SAFETY: (1) to (5) are the caller's.
        unsafe { load_elements(self, range, (destination, to), slot, None) };
    }
}

impl<T: Pod> Hinted<Global<'_, T>> {
    /// [`Global::bulk_load`] with the policy.
    ///
    /// # Safety
    /// 1. to 5. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_load(
        self,
        range: Range<usize>,
        (destination, to): (SharedSlice<'_, T>, usize),
        slot: &Slot<'_>,
    ) {
        // SAFETY: (1) to (5) are the caller's.
        unsafe { load_elements(self.side, range, (destination, to), slot, Some(self.policy)) };
    }
}

/// # Safety
/// 1. to 5. as for [`Global::bulk_load`].
#[inline(always)]
#[track_caller]
unsafe fn load_elements<T: Pod>(
    source: Global<'_, T>,
    range: Range<usize>,
    (destination, to): (SharedSlice<'_, T>, usize),
    slot: &Slot<'_>,
    policy: Option<CachePolicy>,
) {
    // SAFETY: (1), (2) are the caller's; no thread writes what a `Global` shows. (3) is that of the slot's
    // ring. (4) (4), (5) of the caller. (5) The policy is one.
    unsafe {
        machine::bulk_load(
            destination.as_mut_ptr(),
            destination.len(),
            to,
            source.as_ptr(),
            source.len(),
            range.start,
            range.end - range.start,
            slot.barrier(),
            bits(policy),
        );
    }
}

/// Elements of global memory that the launch writes, as bulk copies do.
impl<T: Pod> GlobalMut<'_, T> {
    /// Starts to copy to the elements `range` those of `source` from number `from` on. Called by one
    /// thread; the copy belongs to the thread's next group, see [`commit`].
    ///
    /// # Safety
    /// 1. The elements lie within both views, and there are some.
    /// 2. The addresses of the first ones and the number of bytes are multiples of 16.
    /// 3. The elements of `source` have been written; the threads that wrote them have called [`fence`],
    ///    and a barrier stands between them and this call.
    /// 4. Until the group has been waited for, no thread writes these elements of `source`, and no other
    ///    thread accesses the elements `range`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_store(
        self,
        range: Range<usize>,
        (source, from): (SharedSlice<'_, T>, usize),
    ) {
        // SAFETY: (1) to (4) are the caller's.
        unsafe { store_elements(self, range, (source, from), None) };
    }
}

impl<T: Pod> Hinted<GlobalMut<'_, T>> {
    /// [`GlobalMut::bulk_store`] with the policy.
    ///
    /// # Safety
    /// 1. to 4. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn bulk_store(
        self,
        range: Range<usize>,
        (source, from): (SharedSlice<'_, T>, usize),
    ) {
        // SAFETY: (1) to (4) are the caller's.
        unsafe { store_elements(self.side, range, (source, from), Some(self.policy)) };
    }
}

/// # Safety
/// 1. to 4. as for [`GlobalMut::bulk_store`].
#[inline(always)]
#[track_caller]
unsafe fn store_elements<T: Pod>(
    destination: GlobalMut<'_, T>,
    range: Range<usize>,
    (source, from): (SharedSlice<'_, T>, usize),
    policy: Option<CachePolicy>,
) {
    // SAFETY: (1), (2) are the caller's. (3) (3), (4) of the caller. (4) The policy is one.
    unsafe {
        machine::bulk_store(
            destination.as_mut_ptr(),
            destination.len(),
            range.start,
            source.as_mut_ptr(),
            source.len(),
            from,
            range.end - range.start,
            bits(policy),
        );
    }
}

/// The panel of a tile with this number, and the place that it has in the matrix.
#[inline(always)]
fn panel_of<T: Pod, const ROWS: usize, const WIDTH: usize>(
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    (row, column): (u32, u32),
    number: usize,
) -> (*mut u8, (u32, u32)) {
    let first = number * SwizzledTile::<T, ROWS, WIDTH>::PANEL_COLUMNS;
    (tile.panel(number).cast(), (row, column + first as u32))
}

/// Closes the group of stores that the calling thread has started since the last call.
#[inline(always)]
#[track_caller]
pub fn commit() {
    machine::bulk_commit();
}

/// Waits until at most `PENDING` of the calling thread's groups of stores still read their tiles, which
/// may then be written again.
#[inline(always)]
#[track_caller]
pub fn wait_read<const PENDING: u32>() {
    machine::bulk_wait_read::<PENDING>();
}

/// Waits until at most `PENDING` of the calling thread's groups of stores have not written the matrix.
#[inline(always)]
#[track_caller]
pub fn wait<const PENDING: u32>() {
    machine::bulk_wait::<PENDING>();
}

/// Orders what the calling thread has written to shared memory before bulk copies and products that
/// read it: they do not go the way of ordinary accesses (PTX ISA, 8.6, "Proxies").
#[inline(always)]
#[track_caller]
pub fn fence() {
    machine::fence_proxy_async();
}
