//! Copies of boxes of matrices, by tensor maps.

use super::policy::{CachePolicy, Hinted, bits};
use crate::grid_constant::GridConstant;
use crate::machine;
use crate::mbarrier::Slot;
use crate::shared::{ROW_BYTES, SwizzledTile};
use bytemuck::{Pod, Zeroable};
use core::marker::PhantomData;

/// A matrix in global memory, copied in boxes of `ROWS` x `COLUMNS` elements.
///
/// A box has 128 bytes of each of at most 256 rows, swizzled in shared memory. With a `RANK` of 3 the map is of a
/// batch of matrices of one shape, and a copy moves rows of one of them.
///
/// Pass it to a kernel as `GridConstant<TensorMap<T, ROWS, COLUMNS>>`. It is plain data, so a host could make it of
/// any words: the copies, and so the kernel, require a valid map. Other boxes do not compile:
///
/// ```compile_fail,E0080
/// # use cuda_std::tma::TensorMap;
/// let map = TensorMap::<f32, 8, 16>::of_words([0; 16]);
/// ```
#[repr(C, align(64))]
#[derive(Debug)]
pub struct TensorMap<T, const ROWS: usize, const COLUMNS: usize, const RANK: usize = 2> {
    /// The words that the driver or the simulator encoded.
    words: [u64; 16],
    element: PhantomData<T>,
}

/// A [`TensorMap`] of a matrix that the launch writes, by copies from shared memory.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct TensorMapMut<T, const ROWS: usize, const COLUMNS: usize, const RANK: usize = 2> {
    /// The words that the driver or the simulator encoded.
    words: [u64; 16],
    element: PhantomData<T>,
}

/// The position of a box: a row and a column of a matrix, or a matrix, a row and a column of a
/// batch.
pub trait Place<const RANK: usize>: Copy + sealed::Coordinates {}

impl Place<2> for (u32, u32) {}
impl Place<3> for (u32, u32, u32) {}

mod sealed {
    pub trait Coordinates {
        /// The column, the row and, in a batch, the matrix.
        fn coordinates(self) -> [u32; 3];
    }

    impl Coordinates for (u32, u32) {
        #[inline(always)]
        fn coordinates(self) -> [u32; 3] {
            let (row, column) = self;
            [column, row, 0]
        }
    }

    impl Coordinates for (u32, u32, u32) {
        #[inline(always)]
        fn coordinates(self) -> [u32; 3] {
            let (matrix, row, column) = self;
            [column, row, matrix]
        }
    }
}

macro_rules! maps {
    ($($map:ident)*) => {$(
        impl<T, const ROWS: usize, const COLUMNS: usize, const RANK: usize> Clone for $map<T, ROWS, COLUMNS, RANK> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, const ROWS: usize, const COLUMNS: usize, const RANK: usize> Copy for $map<T, ROWS, COLUMNS, RANK> {}

        // SAFETY: the words may be zero. Only copies require that they are a map.
        unsafe impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize> Zeroable
            for $map<T, ROWS, COLUMNS, RANK>
        {
        }

        // SAFETY: 128 bytes of integers at a multiple of 64, without padding.
        unsafe impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize> Pod
            for $map<T, ROWS, COLUMNS, RANK>
        {
        }

        impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize> $map<T, ROWS, COLUMNS, RANK> {
            /// Rejects boxes that no map has, at compile time.
            const IS_BOX: () = assert!(
                ROWS > 0 && ROWS <= 256 && COLUMNS * size_of::<T>() == ROW_BYTES,
                "a box has 1 to 256 rows of 128 bytes"
            );

            /// The map with these words, encoded by the driver or the simulator.
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

        impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize>
            GridConstant<'_, $map<T, ROWS, COLUMNS, RANK>>
        {
            /// Prefetches the map before its first use.
            #[inline(always)]
            pub fn prefetch(self) {
                // SAFETY: the map is in parameter, constant or global memory: on a GPU, only `from_raw` makes a
                // `GridConstant`, and requires it.
                unsafe { machine::prefetch_tensor_map(self.as_ptr().cast()) };
            }
        }
    )*};
}
maps!(TensorMap TensorMapMut);

impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize>
    GridConstant<'_, TensorMap<T, ROWS, COLUMNS, RANK>>
{
    /// Starts to copy elements from `place` into a tile, a box for each of its panels.
    ///
    /// `place` is a row and a column of the matrix, or a matrix, a row and a column of a batch. One thread makes the
    /// call. The bytes count at the barrier of `slot`: always [`SwizzledTile::BYTES`], even where the matrix ends
    /// within the tile.
    ///
    /// # Safety
    /// 1. The map is of a live matrix that no thread writes during the launch. The tile is in range.
    /// 2. The slot's ring is initialised, and `slot.stage()` expects the bytes in this round.
    /// 3. Until a consumer has waited for the stage, no thread accesses the tile.
    /// 4. The block does not end before the bytes have landed.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: impl Place<RANK>,
    ) {
        // SAFETY: the caller's contract.
        unsafe { load_boxes(self, tile, slot, place, (None, None)) };
    }

    /// [`Self::load`] into the same tile of each block of the cluster whose bit is set in `blocks`. The bytes count
    /// at the same stage's barrier in each block.
    ///
    /// # Safety
    /// 1. to 4. as for [`Self::load`], in each of these blocks.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_multicast<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: impl Place<RANK>,
        blocks: u16,
    ) {
        // SAFETY: the caller's contract.
        unsafe { load_boxes(self, tile, slot, place, (Some(blocks), None)) };
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize>
    Hinted<GridConstant<'_, TensorMap<T, ROWS, COLUMNS, RANK>>>
{
    /// [`GridConstant::load`] with a cache policy.
    ///
    /// # Safety
    /// 1. to 4. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: impl Place<RANK>,
    ) {
        // SAFETY: the caller's contract.
        unsafe { load_boxes(self.side, tile, slot, place, (None, Some(self.policy))) };
    }

    /// [`GridConstant::load_multicast`] with a cache policy.
    ///
    /// # Safety
    /// 1. to 4. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load_multicast<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        slot: &Slot<'_>,
        place: impl Place<RANK>,
        blocks: u16,
    ) {
        let options = (Some(blocks), Some(self.policy));
        // SAFETY: the caller's contract.
        unsafe { load_boxes(self.side, tile, slot, place, options) };
    }
}

/// Starts to load a tile, into `blocks` or the caller's block, with or without a policy.
///
/// # Safety
/// 1. to 4. as for [`GridConstant::load`], in each of the blocks.
#[inline(always)]
#[track_caller]
unsafe fn load_boxes<
    T: Pod,
    const ROWS: usize,
    const COLUMNS: usize,
    const RANK: usize,
    const WIDTH: usize,
>(
    map: GridConstant<'_, TensorMap<T, ROWS, COLUMNS, RANK>>,
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    slot: &Slot<'_>,
    place: impl Place<RANK>,
    (blocks, policy): (Option<u16>, Option<CachePolicy>),
) {
    const { TensorMap::<T, ROWS, COLUMNS, RANK>::IS_BOX };
    let (map, barrier) = (map.as_ptr().cast(), slot.barrier());
    let policy = bits(policy);
    let mut number = 0;
    while number < SwizzledTile::<T, ROWS, WIDTH>::PANELS {
        let (panel, place) = panel_of(tile, place.coordinates(), number);
        // SAFETY: the map is a parameter, of a live matrix that is not written; a panel is aligned and holds a box;
        // the policy comes from `cache_policy`. The barrier and accesses of the tile: the caller's contract.
        unsafe {
            match blocks {
                None => machine::tensor_load::<RANK>(map, panel, barrier, place, policy),
                Some(blocks) => {
                    machine::tensor_load_multicast::<RANK>(
                        map, panel, barrier, place, blocks, policy,
                    );
                }
            }
        }
        number += 1;
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize>
    GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS, RANK>>
{
    /// Starts to copy a tile to `place`, a row and a column of the matrix, or a matrix, a row and a column of a
    /// batch.
    ///
    /// One thread makes the call. The copy belongs to the thread's next group: see [`commit`](super::commit).
    ///
    /// # Safety
    /// 1. The map is of a live matrix, and no other thread accesses the box during the launch. The tile is in range.
    /// 2. The tile has been written. The threads that wrote it have called [`fence`](super::fence), and a barrier
    ///    followed before this call.
    /// 3. Until the group has been waited for, no thread writes the tile.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        place: impl Place<RANK>,
    ) {
        // SAFETY: the caller's contract.
        unsafe { store_boxes(self, tile, place, None) };
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const RANK: usize>
    Hinted<GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS, RANK>>>
{
    /// [`GridConstant::store`] with a cache policy.
    ///
    /// # Safety
    /// 1. to 3. as without a policy.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<const WIDTH: usize>(
        self,
        tile: SwizzledTile<'_, T, ROWS, WIDTH>,
        place: impl Place<RANK>,
    ) {
        // SAFETY: the caller's contract.
        unsafe { store_boxes(self.side, tile, place, Some(self.policy)) };
    }
}

/// Starts to store a tile, with or without a policy.
///
/// # Safety
/// 1. to 3. as for [`GridConstant::store`].
#[inline(always)]
#[track_caller]
unsafe fn store_boxes<
    T: Pod,
    const ROWS: usize,
    const COLUMNS: usize,
    const RANK: usize,
    const WIDTH: usize,
>(
    map: GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS, RANK>>,
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    place: impl Place<RANK>,
    policy: Option<CachePolicy>,
) {
    const { TensorMapMut::<T, ROWS, COLUMNS, RANK>::IS_BOX };
    let map = map.as_ptr().cast();
    let mut number = 0;
    while number < SwizzledTile::<T, ROWS, WIDTH>::PANELS {
        let (panel, place) = panel_of(tile, place.coordinates(), number);
        // SAFETY: a panel is aligned and a whole box; the policy comes from `cache_policy`. The map and accesses of
        // the tile: the caller's contract.
        unsafe { machine::tensor_store::<RANK>(map, panel, place, bits(policy)) };
        number += 1;
    }
}

/// Panel `number` of a tile, and its position in the matrix.
#[inline(always)]
fn panel_of<T: Pod, const ROWS: usize, const WIDTH: usize>(
    tile: SwizzledTile<'_, T, ROWS, WIDTH>,
    [column, row, matrix]: [u32; 3],
    number: usize,
) -> (*mut u8, [u32; 3]) {
    let first = number * SwizzledTile::<T, ROWS, WIDTH>::PANEL_COLUMNS;
    (
        tile.panel(number).cast(),
        [column + first as u32, row, matrix],
    )
}
