//! The tiles of warp-level products.

use super::element::{COLUMNS_OF_PRODUCT, ROWS_OF_PRODUCT};
use crate::matmul::descriptor::BlockTile;

/// A block's tile: how warps divide its outputs, and how its operands are copied.
#[derive(Clone, Copy, Debug)]
pub struct MmaTile {
    /// Products of 16 x 8 outputs down a warp's tile.
    pub down: usize,
    /// Products of 16 x 8 outputs along a warp's tile.
    pub along: usize,
    /// Warps of a block.
    pub warps: usize,
    /// Warps of a block side by side.
    pub warps_along: usize,
    /// Stages in shared memory.
    pub stages: usize,
    /// Resident blocks of a multiprocessor.
    pub resident: u32,
    /// Whether there is a fast loop for operands with unaligned rows. It takes registers; for large results, the host
    /// copies such operands to aligned rows instead.
    pub by_elements: bool,
}

impl MmaTile {
    /// The tile, with its sizes checked.
    ///
    /// # Panics
    /// If the sizes do not fit together; at compile time for a constant.
    const fn checked(self) -> Self {
        assert!(
            self.warps_along > 0 && self.warps.is_multiple_of(self.warps_along),
            "a block's warps form a rectangle"
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
pub const F64_MEDIUM: MmaTile = MmaTile {
    down: 2,
    along: 4,
    warps: 4,
    warps_along: 2,
    stages: 3,
    resident: 3,
    by_elements: true,
}
.checked();

/// 32 x 64 outputs of f64, in as many stages as two blocks have room for: where a multiprocessor has one block, its
/// copies wait for memory.
pub const F64_SMALL: MmaTile = MmaTile {
    down: 1,
    along: 4,
    warps: 4,
    warps_along: 2,
    stages: 7,
    resident: 2,
    by_elements: true,
}
.checked();

/// 128 x 128 outputs of 8- or 16-bit elements.
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

/// 64 x 64 outputs of 8- or 16-bit elements.
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

/// 128 x 64 f32 outputs of split operands: a stage holds the high and low values of both operands.
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

/// [`NARROW_SMALL`] for grouped products. Products that fill the device with large tiles are launched alone.
///
/// One more stage makes the main loop a different instance, which is inlined. The compiler makes an instance that two
/// entries share a function, with its sums in memory and 35 registers more.
pub const NARROW_GROUPED: MmaTile = MmaTile {
    stages: 4,
    ..NARROW_SMALL
}
.checked();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "form a rectangle"]
    fn a_tile_whose_warps_form_no_rectangle_is_rejected() {
        let _ = MmaTile {
            warps_along: 3,
            ..NARROW_LARGE
        }
        .checked();
    }
}
