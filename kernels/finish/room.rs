//! The staging buffer in shared memory through which a warp's sums pass, 16 rows of 64 columns at a time.

use crate::epilogue::EpilogueElement;
use cuda_std::prelude::*;
use cuda_std::shared::SharedArray;

/// Rows and columns of sums that a warp handles at a time.
pub const ROWS: usize = 16;
pub const COLUMNS: usize = 64;

/// Sums of a lane among them: those of eight products of 16 x 8, one after the other.
pub const OF_LANE: usize = ROWS * COLUMNS / 32;

/// Neighbours that a lane handles at a time.
pub const PAIR: usize = 2;

/// Room for the sums of warps.
pub type Staging<'a, S, const LEN: usize> = SharedArray<'a, S, LEN>;

/// Elements of a warp's staging buffer.
pub const WARP_ROOM: usize = ROWS * COLUMNS;

/// A warp's staging buffer.
#[derive(Clone, Copy)]
pub struct WarpRoom<'a, S, const LEN: usize> {
    staging: Staging<'a, S, LEN>,
    first: usize,
}

impl<'a, S: EpilogueElement, const LEN: usize> WarpRoom<'a, S, LEN> {
    /// The staging buffer of warp number `warp` of those that have some.
    #[inline(always)]
    pub fn of_warp(staging: Staging<'a, S, LEN>, warp: u32) -> Self {
        Self {
            staging,
            first: warp as usize * WARP_ROOM,
        }
    }

    /// Where an element stands: the columns of neighbouring rows in different banks.
    #[inline(always)]
    fn place(self, row: usize, column: usize) -> usize {
        self.first + row * COLUMNS + (column ^ (row % 4 * 8))
    }

    /// Writes a warp's sums of part number `part` of `parts`, a constant: the lane's are `sum(part, i)`, [`OF_LANE`]
    /// of them.
    ///
    /// # Safety
    /// 1. All lanes make the call, with a staging buffer that no other warp accesses, and no lane reads it meanwhile.
    #[inline(always)]
    pub unsafe fn stage(self, sum: &impl Fn(usize, usize) -> S, (part, parts): (usize, usize)) {
        let lane = warp::lane() as usize;
        let (row, column) = (lane / 4, PAIR * (lane % 4));
        // Not by an index that is known to the launch alone, for which the sums would leave registers.
        let mut known = 0;
        while known < parts {
            if known == part {
                let mut j = 0;
                while j < COLUMNS / 8 {
                    let of_product = |i: usize| sum(known, 4 * j + i);
                    // SAFETY: (1) the places are of the warp's staging buffer. (2) is (1). (3) Pairs begin at even
                    // columns.
                    unsafe {
                        let at = |down: usize| self.place(row + down, column + 8 * j);
                        self.staging
                            .store_vector(at(0), [of_product(0), of_product(1)]);
                        self.staging
                            .store_vector(at(8), [of_product(2), of_product(3)]);
                    }
                    j += 1;
                }
            }
            known += 1;
        }
    }

    /// `WIDTH` neighbouring sums of a row, one or two, from `column` on.
    ///
    /// # Safety
    /// 1. The staging buffer has them, and all lanes have written theirs.
    /// 2. No lane writes to the staging buffer meanwhile.
    /// 3. `column` is a multiple of `WIDTH`.
    #[inline(always)]
    pub unsafe fn load<const WIDTH: usize>(self, row: usize, column: usize) -> [S; WIDTH] {
        // SAFETY: (1) to (3) are the caller's.
        unsafe { self.staging.load_vector(self.place(row, column)) }
    }
}
