//! The tiles of warp-level products.

use super::element::{COLUMNS_OF_PRODUCT, ROWS_OF_PRODUCT};
use crate::matmul::descriptor::BlockTile;

/// What a block computes: how its outputs are divided among warps, and how operands come to it.
#[derive(Clone, Copy, Debug)]
pub struct MmaTile {
    /// Products of a warp above one another.
    pub down: usize,
    /// Products of a warp side by side.
    pub along: usize,
    /// Warps of a block.
    pub warps: usize,
    /// Warps of a block side by side.
    pub warps_along: usize,
    /// Stages in shared memory.
    pub stages: usize,
    /// Blocks that are on a multiprocessor together.
    pub resident: u32,
    /// Whether operands whose rows start anywhere are multiplied as fast as that allows. It takes registers, and the host
    /// copies those of large results to rows that start at multiples of 16 bytes.
    pub by_elements: bool,
}

impl MmaTile {
    /// The tile, if its sizes fit together.
    ///
    /// # Panics
    /// If they do not: where the tile is a constant, the crate does not compile.
    const fn checked(self) -> Self {
        assert!(
            self.warps_along > 0 && self.warps.is_multiple_of(self.warps_along),
            "the warps of a block stand in rows of the same length"
        );
        assert!(
            self.stages >= 2,
            "one stage is filled while another is multiplied"
        );
        assert!(
            self.resident as usize * self.threads() <= 2048 && self.threads() <= 1024,
            "a multiprocessor has 2048 threads, and a block 1024"
        );
        self
    }

    /// Rows of a block's outputs.
    pub const fn rows(&self) -> usize {
        self.warps / self.warps_along * self.down * ROWS_OF_PRODUCT
    }

    /// Columns of a block's outputs.
    pub const fn columns(&self) -> usize {
        self.warps_along * self.along * COLUMNS_OF_PRODUCT
    }

    /// Threads of a block.
    pub const fn threads(&self) -> usize {
        32 * self.warps
    }

    /// The part of C that a block computes.
    pub const fn block_tile(&self) -> BlockTile {
        BlockTile {
            rows: self.rows(),
            columns: self.columns(),
            threads: self.threads() as u32,
        }
    }
}

/// 128 x 128 outputs of f64.
pub const F64_LARGE: MmaTile = MmaTile {
    down: 2,
    along: 8,
    warps: 8,
    warps_along: 2,
    stages: 4,
    resident: 1,
    by_elements: false,
}
.checked();

/// 64 x 64 outputs of f64.
pub const F64_SMALL: MmaTile = MmaTile {
    down: 2,
    along: 4,
    warps: 4,
    warps_along: 2,
    stages: 3,
    resident: 3,
    by_elements: true,
}
.checked();

/// 128 x 128 outputs of narrow elements.
pub const NARROW_LARGE: MmaTile = MmaTile {
    down: 4,
    along: 8,
    warps: 4,
    warps_along: 2,
    stages: 4,
    resident: 2,
    by_elements: false,
}
.checked();

/// 64 x 64 outputs of narrow elements.
pub const NARROW_SMALL: MmaTile = MmaTile {
    down: 1,
    along: 8,
    warps: 4,
    warps_along: 1,
    stages: 3,
    resident: 3,
    by_elements: false,
}
.checked();

/// 128 x 64 f32 outputs of split operands: a stage holds both halves of both operands.
pub const SPLIT_LARGE: MmaTile = MmaTile {
    down: 2,
    along: 8,
    warps: 4,
    warps_along: 1,
    stages: 2,
    resident: 2,
    by_elements: false,
}
.checked();

/// 64 x 64 f32 outputs of split operands.
pub const SPLIT_SMALL: MmaTile = MmaTile {
    down: 1,
    resident: 3,
    ..SPLIT_LARGE
}
.checked();

/// As [`NARROW_SMALL`], for a product of a group: products that fill a device with large tiles are launched alone.
///
/// With one stage more the main loop is another instance, which is inlined: one that two entries share became a
/// function, with its sums in memory and 35 registers more.
pub const NARROW_GROUPED: MmaTile = MmaTile {
    stages: 4,
    ..NARROW_SMALL
}
.checked();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "rows of the same length"]
    fn a_tile_whose_warps_are_no_rectangle_is_refused() {
        let _ = MmaTile {
            warps_along: 3,
            ..NARROW_LARGE
        }
        .checked();
    }
}
