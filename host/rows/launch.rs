//! Launches of row operations: the grid, and the rows kept in shared memory.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::images::oldest_driver;
use crate::kernels::OwnKernel;
use crate::launch::{LaunchConfig, grid_x};
use cuda_std::kernel::Architecture;
use tilewright_kernels::map::RowMapKernel;
use tilewright_kernels::rows::{MOST_THREADS, PARTS, RowClass, RowPlan};

/// Shared memory of a block that is not for a row's elements: for values of warps and for what the compiler places.
const OTHER_SHARED_BYTES: usize = 1024;

/// The kernels of rows.
#[derive(Clone, Copy)]
pub(crate) enum RowKernel {
    Short,
    Block,
    /// Each block takes several rows, and copies the next one to shared memory meanwhile.
    Ahead,
    Long,
    /// A block takes one part after another.
    Parts,
    /// A cluster has the parts.
    Cluster,
}

/// The grid of a launch, and the shapes' fields that follow from the plan.
pub(crate) struct RowLaunch {
    pub kernel: RowKernel,
    pub config: LaunchConfig,
    /// Lanes that share a short row.
    pub lanes: u32,
    /// Whether rows are moved through shared memory.
    pub is_staged: bool,
    /// Whether shared memory has room for the part of a staged row that a block keeps in registers.
    pub has_room: bool,
    /// Elements that are kept in shared memory, of a row that is read piece by piece.
    pub kept: u32,
}

impl RowLaunch {
    /// Of the library's kernels, for `count` rows, at least one, of `len` elements of type `T`. `A` is that of rows of 16
    /// bits that are copied ahead, and `C` that of clusters.
    pub(super) fn new<T: Element, A: OwnKernel, C: OwnKernel>(
        device: &Device,
        (count, len): (usize, usize),
        is_staged: bool,
    ) -> Outcome<Self> {
        let plan = RowPlan::new(len, size_of::<T>());
        let kernel = match plan.class {
            RowClass::Short { .. } => RowKernel::Short,
            RowClass::Block { .. } => RowKernel::Block,
            RowClass::Parts { .. } if runs::<C>(device) => RowKernel::Cluster,
            RowClass::Parts { .. } => RowKernel::Parts,
            RowClass::Long => RowKernel::Long,
        };
        // One block of 1024 threads at a time: without copies ahead, a multiprocessor would wait for each row. For f32
        // rows memory alone takes as long.
        let is_large = matches!(plan.class, RowClass::Block { threads } if threads == MOST_THREADS);
        let has_ahead = is_large && !is_staged && size_of::<T>() == 2 && runs::<A>(device);
        let selected = (plan, kernel, has_ahead, OTHER_SHARED_BYTES);
        Self::of_plan::<T>(device, (count, len), is_staged, selected)
    }

    /// Of a custom map.
    pub(crate) fn of_map<K: RowMapKernel<Element: Element>>(
        device: &Device,
        (count, len): (usize, usize),
        is_staged: bool,
    ) -> Outcome<Self> {
        let plan = RowPlan::new(len, size_of::<K::Element>()).without_parts();
        // Maps have one kernel, which keeps rows like the one for long rows.
        let kernel = RowKernel::Long;
        let others = OTHER_SHARED_BYTES.max(K::SCRATCH_BYTES + OTHER_SHARED_BYTES / 4);
        let selected = (plan, kernel, false, others);
        Self::of_plan::<K::Element>(device, (count, len), is_staged, selected)
    }

    fn of_plan<T: Element>(
        device: &Device,
        (count, len): (usize, usize),
        is_staged: bool,
        (plan, kernel, has_ahead, others): (RowPlan, RowKernel, bool, usize),
    ) -> Outcome<Self> {
        let in_registers = match kernel {
            RowKernel::Block => Some(len.next_multiple_of(plan.vector())),
            RowKernel::Cluster => Some(plan.part()),
            _ => None,
        };
        let limit = device.properties().max_shared_bytes_per_block as usize;
        let room = limit.saturating_sub(others) / size_of::<T>();
        let fits = in_registers.filter(|&elements| elements <= room);
        let groups = count.div_ceil(plan.rows_of_block());
        let multiprocessors = device.properties().multiprocessors.max(1) as usize;
        let is_ahead = has_ahead && fits.is_some() && groups > multiprocessors;
        let whole = fits.filter(|_| is_staged || is_ahead);
        let (kernel, groups) = match is_ahead {
            true => (RowKernel::Ahead, multiprocessors),
            false => (kernel, groups),
        };
        let blocks_of_group = match kernel {
            RowKernel::Cluster => PARTS,
            _ => 1,
        };
        let blocks = grid_x(groups.saturating_mul(blocks_of_group), || {
            format!("a grid for {count} rows of {len} elements")
        })?;
        let stage = if is_staged { plan.stride() } else { 0 };
        let stage = stage.max(whole.unwrap_or(0));
        let kept = match kernel {
            RowKernel::Parts | RowKernel::Long => plan.kept(room.saturating_sub(stage)),
            _ => 0,
        };
        let shared = (stage + kept) * size_of::<T>();
        let config = LaunchConfig::new(blocks, plan.threads());
        Ok(Self {
            kernel,
            config: config.with_dynamic_shared(shared as u32),
            lanes: match plan.class {
                RowClass::Short { lanes, .. } => lanes,
                _ => 1,
            },
            is_staged,
            has_room: is_staged && whole.is_some(),
            kept: kept as u32,
        })
    }
}

/// Whether the device runs the kernel.
pub(super) fn runs<K: OwnKernel>(device: &Device) -> bool {
    let properties = device.properties();
    let runs_on = |architecture: Architecture| {
        let capability = properties.compute_capability;
        capability.is_none_or(|it| architecture.runs_on(it))
    };
    let reads = |oldest| properties.driver.is_none_or(|driver| driver >= oldest);
    K::ARCH.is_none_or(runs_on) && oldest_driver(K::MODULE.images()).is_none_or(reads)
}
