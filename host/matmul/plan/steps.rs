//! How the outputs of a product are computed.

use super::exact::{ExactPlan, ResiduesPlan};
use super::grid::Grid;
use super::split::SplitPasses;
use super::vector::VectorWork;
use crate::matmul::kernel::GemmKernel;

/// How the outputs are computed.
pub enum Steps {
    /// A block for each tile, on CUDA cores or at warp level on tensor cores.
    Tiles,
    /// The same, with operands in words of four elements.
    TilesOfWords,
    /// Clusters of warpgroups on tensor cores.
    Warpgroups,
    /// The same, with block scales or with rows that are counted on the device.
    Scaled,
    /// Split operands on tensor cores.
    Split(SplitPlan),
    /// Rows or columns times a vector.
    Vector(VectorWork),
    /// The same, with operands in words of four elements.
    VectorOfWords(VectorWork),
    /// Exact dot products.
    Exact(ExactPlan),
    /// Products of residues, of lines that are in their range.
    Residues(ResiduesPlan),
    /// In a launch that products of unequal shapes share.
    Grouped,
}

/// How f32 operands are split, and what computes the outputs of rows and columns outside the split's range.
pub struct SplitPlan {
    pub fallback: &'static GemmKernel,
    pub fallback_grid: Grid,
    pub passes: SplitPasses,
    /// The number of products whose operands are split at a time.
    pub at_a_time: usize,
}

impl Steps {
    /// The products of residues, if there are any.
    pub fn residues(&self) -> Option<&ResiduesPlan> {
        match self {
            Self::Exact(ExactPlan { residues }) => residues.as_ref(),
            Self::Residues(residues) => Some(residues),
            _ => None,
        }
    }

    /// How the work of a product with a vector is shared.
    pub fn vector_work(&self) -> Option<&VectorWork> {
        match self {
            Self::Vector(work) | Self::VectorOfWords(work) => Some(work),
            _ => None,
        }
    }
}
