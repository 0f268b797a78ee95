//! How the operands of f32 products on tensor cores are split.

use super::problem::{DeviceFacts, Problem};
use crate::error::CudaVersion;
use crate::images::oldest_driver;
use crate::kernels::images_of;
use crate::launch::MAX_GRID_Y;
use cuda_std::kernel::Kernel;
use tilewright_kernels::tensor::{SplitShape, split_in_cluster};

/// The launches that split operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitPasses {
    /// One launch, which reads the operands once.
    One,
    /// A launch that finds the extremes of each row or column, and one that splits it.
    Two,
}

impl SplitPasses {
    /// The launches for rows or columns of `k` elements.
    pub fn of(k: usize, device: DeviceFacts) -> Self {
        const DRIVER: Option<CudaVersion> = oldest_driver(images_of!(split_in_cluster));
        let has_kernels = device.newest_runs(<split_in_cluster as Kernel>::ARCH, DRIVER);
        match k <= SplitShape::MOST_AT_ONCE && has_kernels {
            true => Self::One,
            false => Self::Two,
        }
    }
}

/// The number of products whose operands are split at a time, if there are several: those whose halves take 256 MB,
/// as many bytes as the operands.
pub fn split_at_a_time(problem: &Problem) -> usize {
    const ELEMENTS: usize = 1 << 26;
    let lines = [problem.m, problem.n];
    let of_operand = |(lines, is_shared): (usize, bool)| match is_shared {
        true => 0,
        false => lines.saturating_mul(problem.whole_k),
    };
    let of_product = lines.into_iter().zip(problem.is_shared).map(of_operand);
    let of_product = of_product.fold(0, usize::saturating_add);
    (ELEMENTS / of_product.max(1)).clamp(1, MAX_GRID_Y as usize)
}
