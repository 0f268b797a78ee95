//! Bulk copies of boxes of tensors between global and shared memory (TMA).
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

use crate::grid_constant::GridConstant;
use crate::machine;
use crate::mbarrier::Slot;
use crate::shared::{ROW_BYTES, SwizzledTile};
use bytemuck::{Pod, Zeroable};
use core::marker::PhantomData;

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
        const { TensorMap::<T, ROWS, COLUMNS>::IS_BOX };
        let map = self.as_ptr().cast();
        each_panel(tile, place, |panel, place| {
            // SAFETY: (1) the map is a parameter, and the matrix is not written. (2) A panel of a tile
            // is aligned, and has room for a box. (3), (4) are the caller's.
            unsafe { machine::tensor_load(map, panel, slot.barrier(), place) };
        });
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
        const { TensorMap::<T, ROWS, COLUMNS>::IS_BOX };
        let map = self.as_ptr().cast();
        each_panel(tile, place, |panel, place| {
            // SAFETY: as in `load`, for each of the blocks.
            unsafe { machine::tensor_load_multicast(map, panel, slot.barrier(), place, blocks) };
        });
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
        const { TensorMapMut::<T, ROWS, COLUMNS>::IS_BOX };
        let map = self.as_ptr().cast();
        each_panel(tile, place, |panel, place| {
            // SAFETY: (1), (3) are the caller's. (2) A panel of a tile is aligned, and a whole box.
            unsafe { machine::tensor_store(map, panel, place) };
        });
    }
}

/// Calls `action` with each panel of a tile, and with the place that it has in the matrix.
#[inline(always)]
fn each_panel<T: Pod, const ROWS: usize, const WIDTH: usize>(
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    (row, column): (u32, u32),
    mut action: impl FnMut(*mut u8, (u32, u32)),
) {
    let mut panel = 0;
    while panel < SwizzledTile::<T, ROWS, WIDTH>::PANELS {
        let first = panel * SwizzledTile::<T, ROWS, WIDTH>::PANEL_COLUMNS;
        action(tile.panel(panel).cast(), (row, column + first as u32));
        panel += 1;
    }
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
