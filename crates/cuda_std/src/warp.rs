//! Warp-level operations: lanes exchange registers.
//!
//! Each takes a member mask, in which bit 0 is lane 0. Every lane in the mask must make the same call with the same
//! mask, and the calling lane must be in it. The simulator reports violations. On a GPU the values are then
//! unspecified, or the lanes wait forever, but no undefined memory is accessed; a calling lane takes part even if the
//! mask omits it.

use crate::machine::{self, Shuffle};
use bytemuck::Pod;

/// A set of lanes of one warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct LaneMask(u64);

impl LaneMask {
    /// Every lane of a warp, of any width.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn all() -> Self {
        Self::first(width())
    }

    /// The lanes below `lanes`, at most 64.
    #[inline(always)]
    #[must_use]
    pub const fn first(lanes: u32) -> Self {
        Self(if lanes >= u64::BITS {
            u64::MAX
        } else {
            (1 << lanes) - 1
        })
    }

    /// The lanes whose bits are set.
    #[inline(always)]
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// One bit for each lane.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The mask for instructions.
    #[inline(always)]
    fn members(self) -> u64 {
        machine::with_own_lane(self.0)
    }

    /// Whether the set contains this lane.
    #[inline(always)]
    #[must_use]
    pub const fn contains(self, lane: u32) -> bool {
        lane < u64::BITS && self.0 >> lane & 1 == 1
    }

    /// The number of lanes in the set.
    #[inline(always)]
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }
}

/// The number of lanes in a warp: 32 on every NVIDIA GPU, 32 or 64 in the simulator.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn width() -> u32 {
    machine::warp_width()
}

/// The calling thread's lane, from 0 to [`width`] - 1.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn lane() -> u32 {
    machine::lane_index()
}

/// The rank of the calling thread's warp in its block.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn warp_in_block() -> u32 {
    crate::thread::rank_in_block() / width()
}

/// The lanes that execute this instruction together. Only a hint: lanes of one branch may run
/// separately, so take member masks from the program's logic.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn active_lanes() -> LaneMask {
    LaneMask(machine::active_lanes())
}

/// Waits for the lanes of `mask` and makes their earlier memory accesses visible to one another
/// (CUDA C++'s `__syncwarp`).
#[inline(always)]
#[track_caller]
pub fn sync(mask: LaneMask) {
    machine::warp_barrier(mask.members());
}

/// A value that lanes can exchange: a number of at most 8 bytes. This crate alone implements it.
pub trait LaneValue: Pod + sealed::LaneValue {
    /// The value's bits, zero-extended.
    #[doc(hidden)]
    fn to_lane_bits(self) -> u64;

    /// The value with these bits.
    #[doc(hidden)]
    fn from_lane_bits(bits: u64) -> Self;
}

pub(crate) mod sealed {
    pub trait LaneValue {}
}

macro_rules! lane_values {
    ($($value:ty, $bits:ty;)*) => {$(
        impl sealed::LaneValue for $value {}

        impl LaneValue for $value {
            #[inline(always)]
            fn to_lane_bits(self) -> u64 {
                bytemuck::cast::<Self, $bits>(self) as u64
            }

            #[inline(always)]
            fn from_lane_bits(bits: u64) -> Self {
                bytemuck::cast::<$bits, Self>(bits as $bits)
            }
        }
    )*};
}
lane_values! {
    u8, u8; i8, u8; u16, u16; i16, u16; half::f16, u16; half::bf16, u16;
    u32, u32; i32, u32; f32, u32;
    u64, u64; i64, u64; f64, u64; usize, u64; isize, u64;
}

/// A value that lanes can exchange by shuffles: a number, or an array of numbers, one shuffle each.
pub trait Exchange: Pod {
    /// The value of the lane whose index differs from the caller's in the bits of `lanes`, which is
    /// below the warp's width.
    #[track_caller]
    #[must_use]
    fn exchange_xor(self, mask: LaneMask, lanes: u32) -> Self;
}

impl<T: LaneValue> Exchange for T {
    #[inline(always)]
    #[track_caller]
    fn exchange_xor(self, mask: LaneMask, lanes: u32) -> Self {
        shuffle_xor(mask, self, lanes)
    }
}

impl<T: LaneValue, const N: usize> Exchange for [T; N] {
    #[inline(always)]
    #[track_caller]
    fn exchange_xor(self, mask: LaneMask, lanes: u32) -> Self {
        let mut values = self;
        let mut number = 0;
        // No closure: the simulator would report its location.
        while number < N {
            values[number] = shuffle_xor(mask, values[number], lanes);
            number += 1;
        }
        values
    }
}

#[inline(always)]
#[track_caller]
fn shuffle_bits<T: LaneValue>(kind: Shuffle, mask: LaneMask, value: T, lane: u32, width: u32) -> T {
    let bits = value.to_lane_bits();
    T::from_lane_bits(machine::shuffle(
        kind,
        mask.members(),
        bits,
        size_of::<T>(),
        lane,
        width,
    ))
}

/// The value of lane `lane` (modulo the warp's width).
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle<T: LaneValue>(mask: LaneMask, value: T, lane: u32) -> T {
    shuffle_width(mask, value, lane, width())
}

/// The value of the lane `delta` above, or the caller's own if there is none. `delta` is below the
/// warp's width.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_down<T: LaneValue>(mask: LaneMask, value: T, delta: u32) -> T {
    shuffle_down_in(mask, value, delta, width())
}

/// The value of the lane `delta` below, or the caller's own if there is none. `delta` is below the
/// warp's width.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_up<T: LaneValue>(mask: LaneMask, value: T, delta: u32) -> T {
    shuffle_up_in(mask, value, delta, width())
}

/// The value of the lane whose index differs from the caller's in the bits of `lanes`, which is
/// below the warp's width.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_xor<T: LaneValue>(mask: LaneMask, value: T, lanes: u32) -> T {
    shuffle_xor_in(mask, value, lanes, width())
}

/// [`shuffle`] within segments of `width` lanes, a power of two up to the warp's width: the value
/// of lane `lane` (modulo `width`) of the caller's segment.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_width<T: LaneValue>(mask: LaneMask, value: T, lane: u32, width: u32) -> T {
    shuffle_bits(Shuffle::Index, mask, value, lane, width)
}

/// [`shuffle_down`] within segments of `width` lanes, a power of two. The result is the caller's
/// own value if the lane above is in another segment.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_down_in<T: LaneValue>(mask: LaneMask, value: T, delta: u32, width: u32) -> T {
    shuffle_bits(Shuffle::Down, mask, value, delta, width)
}

/// [`shuffle_up`] within segments of `width` lanes, a power of two. The result is the caller's own
/// value if the lane below is in another segment.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_up_in<T: LaneValue>(mask: LaneMask, value: T, delta: u32, width: u32) -> T {
    shuffle_bits(Shuffle::Up, mask, value, delta, width)
}

/// [`shuffle_xor`] within segments of `width` lanes, a power of two. The result is the caller's own
/// value if the other lane is in a later segment.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn shuffle_xor_in<T: LaneValue>(mask: LaneMask, value: T, lanes: u32, width: u32) -> T {
    shuffle_bits(Shuffle::Xor, mask, value, lanes, width)
}

/// The lanes of `mask` for which `predicate` is true.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn ballot(mask: LaneMask, predicate: bool) -> LaneMask {
    LaneMask(machine::ballot(mask.members(), predicate))
}

/// Whether `predicate` is true for any lane of `mask`.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn any(mask: LaneMask, predicate: bool) -> bool {
    ballot(mask, predicate).0 != 0
}

/// Whether `predicate` is true for every lane of `mask`.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn all(mask: LaneMask, predicate: bool) -> bool {
    ballot(mask, predicate) == mask
}

/// The lanes of `mask` whose value has the same bits as the caller's.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn match_any<T: LaneValue>(mask: LaneMask, value: T) -> LaneMask {
    LaneMask(machine::match_any(
        mask.members(),
        value.to_lane_bits(),
        size_of::<T>(),
    ))
}

/// Sums `value` over the whole warp. Every lane gets the sum.
///
/// An unrolled butterfly of shuffles, of height log2([`width`]). All lanes add the same pairs, so
/// they hold the same bits.
///
/// Every lane of the warp must call it: the mask is [`LaneMask::all`].
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Divides each element by the sum over its warp. Launch blocks of a multiple of the warp's
/// /// width.
/// #[kernel]
/// pub fn normalise_warps(x: GlobalMut<f32>) {
///     let x = x.own(thread::unique_index());
///     // Outside any branch: lanes without an element contribute 0.
///     let sum = warp::reduce_sum(x.as_ref().map_or(0.0, |x| x.get()));
///     if let Some(x) = x {
///         x.set(x.get() / sum);
///     }
/// }
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn reduce_sum<T: LaneValue + core::ops::Add<Output = T>>(value: T) -> T {
    reduce(value, |a, b| a + b)
}

/// Combines values over the whole warp, in the order of [`reduce_sum`]. Every lane gets the result.
///
/// The lanes agree only if `combine` is commutative.
///
/// Neighbours are combined first, then pairs, and so on. So [`block::reduce`](crate::block::reduce)
/// combines the threads of a block in the same tree for warps of 32 and of 64 lanes.
///
/// Every lane of the warp must call it: the mask is [`LaneMask::all`].
#[inline(always)]
#[track_caller]
#[must_use]
pub fn reduce<T: Exchange>(value: T, combine: impl Fn(T, T) -> T) -> T {
    let mask = LaneMask::all();
    let mut value = value;
    let mut distance = 1;
    while distance < width() {
        value = combine(value, value.exchange_xor(mask, distance));
        distance *= 2;
    }
    value
}

/// Combines values over the lanes of any non-empty `mask`. Each gets the result.
///
/// The order is from the lowest member to the highest, with one shuffle a member.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn reduce_members<T: LaneValue>(mask: LaneMask, value: T, combine: impl Fn(T, T) -> T) -> T {
    let mut members = mask.0;
    let mut result = shuffle(mask, value, members.trailing_zeros());
    members &= members - 1;
    while members != 0 {
        result = combine(result, shuffle(mask, value, members.trailing_zeros()));
        members &= members - 1;
    }
    result
}

/// Sums `value` over the lanes of `mask`, wrapping. Each gets the sum. One instruction
/// (`redux.sync`) from compute capability 8.0.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn reduce_sum_u32(mask: LaneMask, value: u32) -> u32 {
    match machine::reduce_add_u32(mask.members(), value) {
        Some(sum) => sum,
        None => reduce_members(mask, value, u32::wrapping_add),
    }
}
