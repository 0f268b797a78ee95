//! Grids of clusters that stay.

use crate::device::Device;
use crate::launch::LaunchConfig;
use tilewright_kernels::tensor::ClusterTile;

/// As many clusters as the device runs at a time, or as there are tiles of `count` results of `m` x `n`.
pub fn persistent_grid(
    device: &Device,
    tile: &ClusterTile,
    (m, n): (usize, usize),
    count: usize,
) -> LaunchConfig {
    let (rows, columns) = tile.count(m, n);
    let resident = device.properties().multiprocessors as usize * tile.resident / tile.blocks;
    let clusters = rows
        .saturating_mul(columns)
        .saturating_mul(count)
        .min(resident.max(1));
    LaunchConfig::new((clusters * tile.blocks) as u32, tile.threads as u32)
        .with_dynamic_shared(tile.shared_bytes as u32)
}
