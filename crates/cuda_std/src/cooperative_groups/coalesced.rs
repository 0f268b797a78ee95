//! Groups of converged lanes.

use super::{Collective, Group, NotSend, sealed};
use crate::machine;
use crate::warp::{self, LaneMask, LaneValue};
use core::marker::PhantomData;

/// Converged lanes of one warp: those of the branch that called [`coalesced_threads`], or some of
/// them. Always valid.
///
/// Ranks follow the lanes' order.
#[derive(Clone, Debug)]
pub struct CoalescedGroup {
    lanes: LaneMask,
    rank: u32,
    not_send: NotSend,
}

/// The threads that are converged with the calling one.
///
/// The machine chooses them: a GPU may run lanes of one branch separately, and the simulator
/// sometimes does. A kernel must be correct for every choice, such as one in which each group, of
/// any size, adds its sum to a counter with one atomic addition.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn coalesced_threads() -> CoalescedGroup {
    CoalescedGroup::of(LaneMask::from_bits(machine::converged_lanes()))
}

impl CoalescedGroup {
    /// The group of `lanes`, which include the calling one.
    #[inline(always)]
    #[track_caller]
    fn of(lanes: LaneMask) -> Self {
        let below = lanes.bits() & LaneMask::first(warp::lane()).bits();
        Self {
            lanes,
            rank: LaneMask::from_bits(below).count(),
            not_send: PhantomData,
        }
    }

    /// The group's lanes in its warp.
    #[inline(always)]
    #[must_use]
    pub fn lanes(&self) -> LaneMask {
        self.lanes
    }

    /// The threads of the group with the same `label` as the calling one (CUDA C++'s
    /// `labeled_partition`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn labeled_partition<T: LaneValue>(&self, label: T) -> Self {
        Self::of(warp::match_any(self.lanes, label))
    }

    /// The value of the thread of rank `rank`, which is below [`size`](Group::size) and may differ
    /// between threads (CUDA C++'s `shfl`).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn shuffle<T: LaneValue>(&self, value: T, rank: usize) -> T {
        warp::shuffle(self.lanes, value, lane_of_rank(self.lanes, rank as u32))
    }

    /// Whether `predicate` is true for any thread of the group.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn any(&self, predicate: bool) -> bool {
        warp::any(self.lanes, predicate)
    }

    /// Whether `predicate` is true for every thread of the group.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn all(&self, predicate: bool) -> bool {
        warp::all(self.lanes, predicate)
    }
}

/// The lane with rank `rank` among `lanes`; `rank` is below their count.
///
/// A binary search: each step counts the lanes in the lower half.
#[inline(always)]
#[track_caller]
fn lane_of_rank(lanes: LaneMask, rank: u32) -> u32 {
    let (mut lanes, mut rank, mut first) = (lanes.bits(), rank, 0);
    let mut half = warp::width() / 2;
    while half > 0 {
        let lower = LaneMask::from_bits(lanes & LaneMask::first(half).bits()).count();
        if rank >= lower {
            rank -= lower;
            lanes >>= half;
            first += half;
        }
        half /= 2;
    }
    first
}

impl sealed::Group for CoalescedGroup {}

impl Group for CoalescedGroup {
    #[inline(always)]
    #[track_caller]
    fn size(&self) -> usize {
        self.lanes.count() as usize
    }

    #[inline(always)]
    #[track_caller]
    fn thread_rank(&self) -> usize {
        self.rank as usize
    }

    #[inline(always)]
    #[track_caller]
    fn is_valid(&self) -> bool {
        true
    }

    /// [`warp::sync`] for the group's lanes.
    #[inline(always)]
    #[track_caller]
    fn sync(&self) {
        warp::sync(self.lanes);
    }
}

/// Shuffles in log2(warp width) steps, for any lanes.
impl Collective for CoalescedGroup {
    #[inline(always)]
    #[track_caller]
    fn reduce<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let (size, own) = (self.lanes.count(), self.rank);
        let mut value = value;
        let mut distance = 1;
        while distance < warp::width() {
            let above = own + distance;
            let other = self.shuffle(value, above.min(size - 1) as usize);
            if above < size {
                value = combine(value, other);
            }
            distance *= 2;
        }
        self.shuffle(value, 0)
    }

    #[inline(always)]
    #[track_caller]
    fn inclusive_scan<T: LaneValue>(&self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let mut value = value;
        let mut distance = 1;
        while distance < warp::width() {
            let below = self.shuffle(value, self.rank.saturating_sub(distance) as usize);
            if self.rank >= distance {
                value = combine(below, value);
            }
            distance *= 2;
        }
        value
    }

    #[inline(always)]
    #[track_caller]
    fn exclusive_scan<T: LaneValue>(&self, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T {
        let inclusive = self.inclusive_scan(value, combine);
        let below = self.shuffle(inclusive, self.rank.saturating_sub(1) as usize);
        if self.rank == 0 { neutral } else { below }
    }
}
