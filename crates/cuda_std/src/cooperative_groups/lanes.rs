//! Collectives of consecutive lanes, in registers.

use crate::warp::{self, LaneMask, LaneValue};

/// The first `size` lanes of a segment of `width` lanes, and the calling lane's rank. `width` is a
/// power of two; `size` is smaller if the block ends within the segment.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    pub width: u32,
    pub size: u32,
    pub rank: u32,
}

impl Lanes {
    /// The mask of these lanes in the warp.
    #[inline(always)]
    #[track_caller]
    pub fn mask(self) -> LaneMask {
        let first = warp::lane() - self.rank;
        LaneMask::from_bits(LaneMask::first(self.size).bits() << first)
    }

    /// The value of the lane of rank `rank`, below `width`.
    #[inline(always)]
    #[track_caller]
    pub fn shuffle<T: LaneValue>(self, value: T, rank: u32) -> T {
        warp::shuffle_width(self.mask(), value, rank, self.width)
    }

    /// `combine` over all lanes, in each of them.
    #[inline(always)]
    #[track_caller]
    pub fn reduce<T: LaneValue>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        // Both arms make the same tree. The condition is the same for all lanes.
        if self.size == self.width {
            self.reduce_whole(value, combine)
        } else {
            self.reduce_part(value, combine)
        }
    }

    #[inline(always)]
    #[track_caller]
    fn reduce_whole<T: LaneValue>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let mask = self.mask();
        let mut value = value;
        let mut distance = 1;
        while distance < self.width {
            let other = warp::shuffle_xor_in(mask, value, distance, self.width);
            value = combine(value, other);
            distance *= 2;
        }
        value
    }

    /// Before each step, lanes whose rank is a multiple of `distance` hold the result of `distance`
    /// values, or of those that exist.
    #[inline(always)]
    #[track_caller]
    fn reduce_part<T: LaneValue>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let mut value = value;
        let mut distance = 1;
        while distance < self.width {
            let above = self.rank + distance;
            let other = self.shuffle(value, above.min(self.size - 1));
            if above < self.size {
                value = combine(value, other);
            }
            distance *= 2;
        }
        self.shuffle(value, 0)
    }

    /// `combine` over the lanes up to the calling one.
    ///
    /// The steps are those of Hillis and Steele ("Data parallel algorithms", 1986): before each
    /// step, a lane holds the result of the `distance` values that end with its own.
    #[inline(always)]
    #[track_caller]
    pub fn inclusive_scan<T: LaneValue>(self, value: T, combine: impl Fn(T, T) -> T) -> T {
        let mask = self.mask();
        let mut value = value;
        let mut distance = 1;
        while distance < self.width {
            let below = warp::shuffle_up_in(mask, value, distance, self.width);
            if self.rank >= distance {
                value = combine(below, value);
            }
            distance *= 2;
        }
        value
    }

    /// The value of the lane below; `first` in the first lane.
    #[inline(always)]
    #[track_caller]
    pub fn shift_up<T: LaneValue>(self, value: T, first: T) -> T {
        let below = warp::shuffle_up_in(self.mask(), value, 1, self.width);
        if self.rank == 0 { first } else { below }
    }
}
