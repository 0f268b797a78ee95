//! Groups of neighbouring lanes of one warp.

use super::lanes::Lanes;
use super::thread_block::ThreadBlock;
use super::{Collective, Group, NotSend, sealed};
use crate::warp::{self, LaneMask, LaneValue};
use core::marker::PhantomData;

/// `SIZE` threads with consecutive ranks in one warp, from [`tiled_partition`] of a block or a larger tile.
///
/// `SIZE` is a power of two from 2 to 64. If the block's size is not a multiple of it, the last tile has fewer
/// threads, and the same operations.
///
/// Tiles of 64 threads need warps of 64 lanes. With warps of 32, as on every NVIDIA GPU, such a tile is not valid
/// ([`Group::is_valid`]): its threads cannot exchange registers. It has a size and ranks, and can be cut into smaller
/// tiles. Every other operation stops the launch.
#[derive(Clone, Debug)]
pub struct TiledPartition<const SIZE: usize> {
    lanes: Lanes,
    meta_group_rank: usize,
    meta_group_size: usize,
    not_send: NotSend,
}

/// A group that can be cut into tiles. This crate alone implements it.
pub trait Partition: Group {
    /// The most threads that the group can have.
    const MAX_SIZE: usize;
}

impl Partition for ThreadBlock {
    const MAX_SIZE: usize = 1024;
}

impl<const SIZE: usize> Partition for TiledPartition<SIZE> {
    const MAX_SIZE: usize = SIZE;
}

/// Cuts `parent` into tiles of `SIZE` threads, and returns the calling thread's.
///
/// Invalid sizes do not compile, nor do tiles larger than the tile that is cut:
///
/// ```compile_fail,E0080
/// use cuda_std::cooperative_groups::{this_thread_block, tiled_partition};
/// let tile = tiled_partition::<24>(&this_thread_block());
/// ```
/// ```compile_fail,E0080
/// use cuda_std::cooperative_groups::{this_thread_block, tiled_partition};
/// let tile = tiled_partition::<16>(&tiled_partition::<8>(&this_thread_block()));
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn tiled_partition<const SIZE: usize>(parent: &impl Partition) -> TiledPartition<SIZE> {
    assert_tile::<SIZE, _>(parent);
    let (rank, size) = (parent.thread_rank(), parent.size());
    let rank_in_tile = rank % SIZE;
    let before = rank - rank_in_tile;
    TiledPartition {
        lanes: Lanes {
            width: SIZE as u32,
            size: SIZE.min(size - before) as u32,
            rank: rank_in_tile as u32,
        },
        meta_group_rank: rank / SIZE,
        meta_group_size: size.div_ceil(SIZE),
        not_send: PhantomData,
    }
}

/// Rejects tiles that `P` does not have, at compile time.
#[inline(always)]
fn assert_tile<const SIZE: usize, P: Partition>(_parent: &P) {
    const {
        assert!(
            SIZE.is_power_of_two() && 2 <= SIZE && SIZE <= 64,
            "a tile has 2, 4, 8, 16, 32 or 64 threads"
        );
        assert!(
            SIZE <= P::MAX_SIZE,
            "a tile cannot be larger than the tile it is cut from"
        );
    }
}

impl<const SIZE: usize> TiledPartition<SIZE> {
    /// The tile's rank in its parent, from 0 to [`meta_group_size`](Self::meta_group_size) - 1.
    #[inline(always)]
    #[must_use]
    pub fn meta_group_rank(&self) -> usize {
        self.meta_group_rank
    }

    /// The number of tiles in the parent.
    #[inline(always)]
    #[must_use]
    pub fn meta_group_size(&self) -> usize {
        self.meta_group_size
    }

    /// The tile's lanes in its warp.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn lanes(&self) -> LaneMask {
        self.valid().mask()
    }

    /// The lanes, if they lie in one warp; stops the launch otherwise. On a GPU, the compiler
    /// knows the answer.
    #[inline(always)]
    #[track_caller]
    fn valid(&self) -> Lanes {
        assert!(
            self.is_valid(),
            "a tile of 64 threads in warps of 32 lanes is not valid: its threads exchange nothing"
        );
        self.lanes
    }

    /// The value of the thread of rank `rank` (CUDA C++'s `shfl`).
    ///
    /// `rank` is below [`size`](Group::size), and may differ between threads.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn shuffle<T: LaneValue>(&self, value: T, rank: usize) -> T {
        self.valid().shuffle(value, rank as u32)
    }

    /// The value of the thread `delta` ranks above, or the caller's own where there is none
    /// (`shfl_down`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn shuffle_down<T: LaneValue>(&self, value: T, delta: usize) -> T {
        self.shuffle_existing(value, self.thread_rank().saturating_add(delta))
    }

    /// The value of the thread `delta` ranks below, or the caller's own where there is none
    /// (`shfl_up`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn shuffle_up<T: LaneValue>(&self, value: T, delta: usize) -> T {
        self.shuffle_existing(value, self.thread_rank().wrapping_sub(delta))
    }

    /// The value of the thread whose rank differs from the caller's in the bits of `ranks`, or the
    /// caller's own where there is none (`shfl_xor`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn shuffle_xor<T: LaneValue>(&self, value: T, ranks: usize) -> T {
        self.shuffle_existing(value, self.thread_rank() ^ ranks)
    }

    /// [`Self::shuffle`], or the caller's own value if no thread has the rank.
    #[inline(always)]
    #[track_caller]
    fn shuffle_existing<T: LaneValue>(&self, value: T, rank: usize) -> T {
        let exists = rank < self.size();
        self.shuffle(value, if exists { rank } else { self.thread_rank() })
    }

    /// The threads for which `predicate` is true: bit 0 is rank 0.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn ballot(&self, predicate: bool) -> u64 {
        self.by_rank(warp::ballot(self.lanes(), predicate))
    }

    /// Whether `predicate` is true for any thread of the tile.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn any(&self, predicate: bool) -> bool {
        warp::any(self.lanes(), predicate)
    }

    /// Whether `predicate` is true for every thread of the tile.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn all(&self, predicate: bool) -> bool {
        warp::all(self.lanes(), predicate)
    }

    /// The threads whose value has the same bits as the caller's: bit 0 is rank 0.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn match_any<T: LaneValue>(&self, value: T) -> u64 {
        self.by_rank(warp::match_any(self.lanes(), value))
    }

    /// Whether the values of all threads of the tile have the same bits.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn match_all<T: LaneValue>(&self, value: T) -> bool {
        let lanes = self.lanes();
        // All values are equal if all equal the caller's.
        warp::match_any(lanes, value) == lanes
    }

    /// Converts lanes of the tile to ranks in the tile.
    #[inline(always)]
    #[track_caller]
    fn by_rank(&self, lanes: LaneMask) -> u64 {
        lanes.bits() >> (warp::lane() - self.lanes.rank)
    }
}

impl<const SIZE: usize> sealed::Group for TiledPartition<SIZE> {}

impl<const SIZE: usize> Group for TiledPartition<SIZE> {
    #[inline(always)]
    #[track_caller]
    fn size(&self) -> usize {
        self.lanes.size as usize
    }

    #[inline(always)]
    #[track_caller]
    fn thread_rank(&self) -> usize {
        self.lanes.rank as usize
    }

    /// Whether the tile lies in one warp: false for 64 threads in warps of 32 lanes.
    #[inline(always)]
    #[track_caller]
    fn is_valid(&self) -> bool {
        SIZE <= warp::width() as usize
    }

    /// [`warp::sync`] for the tile's lanes.
    #[inline(always)]
    #[track_caller]
    fn sync(&self) {
        warp::sync(self.lanes());
    }
}

impl<const SIZE: usize> Collective for TiledPartition<SIZE> {
    #[inline(always)]
    #[track_caller]
    fn reduce<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        self.valid().reduce(value, combine)
    }

    #[inline(always)]
    #[track_caller]
    fn inclusive_scan<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        self.valid().inclusive_scan(value, combine)
    }

    #[inline(always)]
    #[track_caller]
    fn exclusive_scan<T: LaneValue>(&self, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T {
        let lanes = self.valid();
        let inclusive = lanes.inclusive_scan(value, combine);
        lanes.shift_up(inclusive, neutral)
    }
}
