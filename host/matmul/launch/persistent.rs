//! Grids of persistent clusters, and of blocks without a cluster.

use crate::device::Device;
use crate::launch::LaunchConfig;
use tilewright_kernels::tensor::ClusterTile;

/// As many clusters as the device runs at a time, or as there are tiles to compute.
pub fn persistent_grid(device: &Device, tile: &ClusterTile, tiles: usize) -> LaunchConfig {
    let resident = (device.properties().multiprocessors * tile.resident) as usize / tile.blocks;
    let clusters = tiles.min(resident.max(1));
    LaunchConfig::new((clusters * tile.blocks) as u32, tile.threads)
        .with_dynamic_shared(tile.shared_bytes as u32)
}

/// A block for each of `tiles` tiles.
pub fn grid_of_blocks(tile: &ClusterTile, tiles: usize) -> LaunchConfig {
    LaunchConfig::new(tiles as u32, tile.threads).with_dynamic_shared(tile.shared_bytes as u32)
}
