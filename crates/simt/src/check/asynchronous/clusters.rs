//! The blocks of a launch that form one cluster.

use crate::basics::Dim3;

/// The division of a launch's blocks into clusters.
#[derive(Debug)]
pub(crate) struct Clusters {
    grid: Dim3,
    dim: Dim3,
}

impl Clusters {
    /// Each block is a cluster.
    pub const NONE: Self = Self {
        grid: Dim3::new(1, 1, 1),
        dim: Dim3::new(1, 1, 1),
    };

    /// Clusters of `dim` blocks, which divide the grid.
    pub fn new(grid: Dim3, dim: Dim3) -> Self {
        Self { grid, dim }
    }

    /// Whether each block is a cluster.
    #[inline]
    pub(in crate::check) fn are_single(&self) -> bool {
        self.dim.count() == 1
    }

    /// The number of the cluster of block number `block`.
    #[inline]
    pub(in crate::check) fn number_of(&self, block: u32) -> u32 {
        if self.are_single() {
            return block;
        }
        let (grid, dim) = (self.grid, self.dim);
        let index = grid.index_of(block.into());
        let row = (index.z / dim.z) * (grid.y / dim.y) + index.y / dim.y;
        row * (grid.x / dim.x) + index.x / dim.x
    }
}

impl Default for Clusters {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_one_cluster_have_one_number() {
        let clusters = Clusters::new(Dim3::new(4, 2, 2), Dim3::new(2, 1, 2));
        let numbers: Vec<u32> = (0..16).map(|block| clusters.number_of(block)).collect();
        let layer = [0, 0, 1, 1, 2, 2, 3, 3];
        assert_eq!(numbers, [layer, layer].concat());
        assert_eq!(Clusters::NONE.number_of(7), 7);
    }
}
