//! The blocks of a launch.

use super::problem::{DeviceFacts, Problem};
use super::vector::VectorWork;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use crate::matmul::kernel::{GemmKernel, Method};
use tilewright_kernels::matvec::VECTOR_THREADS;
use tilewright_kernels::tensor::ClusterTile;

/// The blocks of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Grid {
    /// Blocks for each product along x, or `None` if they are more than a grid can have, and the products along y.
    Blocks {
        blocks: Option<usize>,
        threads: u32,
        shared_bytes: usize,
    },
    /// Clusters that compute the tiles of all products, at most `most` of them.
    Clusters {
        tile: &'static ClusterTile,
        tiles: usize,
        most: usize,
    },
}

impl Grid {
    /// The blocks of a kernel, which share the work of a product with a vector as `work` says.
    pub fn of(
        kernel: &GemmKernel,
        work: Option<&VectorWork>,
        problem: &Problem,
        device: DeviceFacts,
    ) -> Self {
        if let Some(work) = work {
            return Self::of_vector(work);
        }
        let Some(tile) = kernel.cluster else {
            return Self::of_blocks(kernel, problem);
        };
        let tiles = tile.tiles((problem.m, problem.n), problem.is_gram);
        let resident = (device.multiprocessors * tile.resident) as usize / tile.blocks;
        let most = match kernel.method {
            Method::Single => usize::MAX,
            _ => resident.max(1),
        };
        Self::Clusters { tile, tiles, most }
    }

    /// The blocks of a product with a vector.
    pub fn of_vector(work: &VectorWork) -> Self {
        Self::Blocks {
            blocks: Some(work.blocks),
            threads: VECTOR_THREADS,
            shared_bytes: 0,
        }
    }

    /// A block for each tile of the result.
    pub fn of_blocks(kernel: &GemmKernel, problem: &Problem) -> Self {
        let descriptor = &kernel.descriptor;
        let blocks = descriptor.tile.blocks(problem.m, problem.n);
        Self::Blocks {
            blocks: blocks.map(|blocks| blocks as usize),
            threads: descriptor.tile.threads,
            shared_bytes: descriptor.dynamic_shared_bytes,
        }
    }

    /// The launch for `products` with results of these rows and columns.
    pub fn of_results(&self, products: usize, (m, n): (usize, usize)) -> Outcome<LaunchConfig> {
        self.config(products, || format!("a result of {m}x{n} elements"))
    }

    /// The launch for `products`. An error names by `what` what needs the blocks.
    pub fn config(&self, products: usize, what: impl FnOnce() -> String) -> Outcome<LaunchConfig> {
        let (config, shared_bytes) = match *self {
            Self::Blocks {
                blocks,
                threads,
                shared_bytes,
            } => {
                let blocks = grid_x(blocks, what)?;
                let config = LaunchConfig::new((blocks, products as u32), threads);
                (config, shared_bytes)
            }
            Self::Clusters { tile, tiles, most } => {
                let clusters = tiles.saturating_mul(products).min(most);
                let blocks = (clusters * tile.blocks) as u32;
                (LaunchConfig::new(blocks, tile.threads), tile.shared_bytes)
            }
        };
        Ok(config.with_dynamic_shared(shared_bytes as u32))
    }
}
