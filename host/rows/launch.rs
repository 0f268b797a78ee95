//! Launches of row operations: the grid, and what is kept in shared memory.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::{LaunchConfig, grid_x};
use tilewright_kernels::rows::{RowClass, RowPlan};

/// Shared memory of a block that is not for a long row's elements.
const OTHER_SHARED_BYTES: u32 = 1024;

/// The grid of a launch, and the shapes' fields that follow from the plan.
pub(crate) struct RowLaunch {
    pub class: RowClass,
    pub config: LaunchConfig,
    /// Lanes that share a short row.
    pub lanes: u32,
    /// Whether rows are moved through shared memory.
    pub is_staged: bool,
    /// Elements of a long row that are kept in shared memory.
    pub kept: u32,
}

impl RowLaunch {
    /// For `count` rows, at least one, of `len` elements of type `T`.
    pub(crate) fn new<T: Element>(
        device: &Device,
        (count, len): (usize, usize),
        is_staged: bool,
    ) -> Outcome<Self> {
        let plan = RowPlan::new(len, size_of::<T>());
        let blocks = grid_x(count.div_ceil(plan.rows_of_block()), || {
            format!("a grid for {count} rows of {len} elements")
        })?;
        let stage = if is_staged { plan.stride() } else { 0 };
        let limit = device.properties().max_shared_bytes_per_block;
        let room = limit.saturating_sub(OTHER_SHARED_BYTES) as usize / size_of::<T>();
        let (kept, padded) = plan.kept(room - stage);
        let shared = (stage + padded) * size_of::<T>();
        let config = LaunchConfig::new(blocks, plan.threads());
        Ok(Self {
            class: plan.class,
            config: config.with_dynamic_shared(shared as u32),
            lanes: match plan.class {
                RowClass::Short { lanes, .. } => lanes,
                RowClass::Block { .. } | RowClass::Long => 1,
            },
            is_staged,
            kept: kept as u32,
        })
    }
}
