//! A warp's staging buffer in shared memory: 16 rows of 64 columns of sums at a time.

use crate::epilogue::EpilogueElement;
use cuda_std::prelude::*;
use cuda_std::shared::SharedArray;

/// Rows and columns of sums that a warp handles at a time.
pub const ROWS: usize = 16;
pub const COLUMNS: usize = 64;

/// A lane's share of these sums: those of eight consecutive 16 x 8 products.
pub const OF_LANE: usize = ROWS * COLUMNS / 32;

/// Neighbouring sums that a lane handles at a time.
pub const PAIR: usize = 2;

/// The staging buffers of several warps.
pub type Staging<'a, S, const LEN: usize> = SharedArray<'a, S, LEN>;

/// Elements of a warp's staging buffer.
pub const STAGING_LEN: usize = ROWS * COLUMNS;

/// A warp's staging buffer.
#[derive(Clone, Copy)]
pub struct StagingBuffer<'a, S, const LEN: usize> {
    staging: Staging<'a, S, LEN>,
    first: usize,
}

impl<'a, S: EpilogueElement, const LEN: usize> StagingBuffer<'a, S, LEN> {
    /// The staging buffer of warp number `warp`, counting the warps that have one.
    #[inline(always)]
    pub fn of_warp(staging: Staging<'a, S, LEN>, warp: u32) -> Self {
        Self {
            staging,
            first: warp as usize * STAGING_LEN,
        }
    }

    /// The index of an element. Columns of neighbouring rows are in different banks.
    #[inline(always)]
    fn place(self, row: usize, column: usize) -> usize {
        self.first + row * COLUMNS + (column ^ (row % 4 * 8))
    }

    /// Writes a warp's sums of part `part` of `parts`, a constant. The lane's sums are `sum(part, i)`, for `i` below
    /// [`OF_LANE`].
    ///
    /// # Safety
    /// 1. All lanes make the call, with a staging buffer that no other warp accesses, and no lane reads it meanwhile.
    #[inline(always)]
    pub unsafe fn stage(self, sum: &impl Fn(usize, usize) -> S, (part, parts): (usize, usize)) {
        let lane = warp::lane() as usize;
        let (row, column) = (lane / 4, PAIR * (lane % 4));
        // Compares with constants: a dynamic index would move the sums out of registers.
        let mut known = 0;
        while known < parts {
            if known == part {
                let mut j = 0;
                while j < COLUMNS / 8 {
                    let of_product = |i: usize| sum(known, 4 * j + i);
                    // SAFETY: the indices are in the warp's staging buffer, which nothing else accesses: the caller's
                    // contract. Pairs begin at even columns.
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

    /// Loads `WIDTH` neighbouring sums of a row, one or two, from `column`.
    ///
    /// # Safety
    /// 1. The staging buffer has them, and all lanes have written theirs.
    /// 2. No lane writes to the staging buffer meanwhile.
    /// 3. `column` is a multiple of `WIDTH`.
    #[inline(always)]
    pub unsafe fn load<const WIDTH: usize>(self, row: usize, column: usize) -> [S; WIDTH] {
        // SAFETY: the sums were written, no lane writes, and the index is a multiple of `WIDTH`:
        // the caller's contract.
        unsafe { self.staging.load_vector(self.place(row, column)) }
    }
}
