//! The ladder of products on Hopper's tensor cores: bf16 with f32 accumulators and bf16 outputs.

use super::StepInfo;
use crate::kernels::TENSOR_KERNELS;
use crate::operands::Operands;
use half::bf16;
use tilewright::{Device, LaunchConfig, Matrix, Order, Result};
use tilewright_ladder_tensor_kernels as kernels;

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Warp-level products, and a column-major B.
    Warps,
    /// The same with a row-major B.
    WarpsRows,
    /// A warpgroup that does everything itself.
    Warpgroup,
    /// Bulk copies through a ring.
    Bulk,
    /// A producer and two consumers.
    Specialised,
    /// 128 x 256 outputs per block.
    Large,
    /// Clusters of two blocks that share B.
    Clusters,
    /// Outputs written by bulk copies.
    Stores,
    /// Persistent clusters, and a column-major B.
    Persistent,
    /// The same with a row-major B.
    PersistentRows,
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 10] = [
        Self::Warps,
        Self::WarpsRows,
        Self::Warpgroup,
        Self::Bulk,
        Self::Specialised,
        Self::Large,
        Self::Clusters,
        Self::Stores,
        Self::Persistent,
        Self::PersistentRows,
    ];

    /// Information on the step.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        let (term, kernel, change) = match self {
            Self::Warps => (
                "products of a warp",
                "tensor_warps_nt",
                "mma on fragments that ldmatrix loads; cp.async fills a ring of stages",
            ),
            Self::WarpsRows => (
                "products of a warp, row-major B",
                "tensor_warps_nn",
                "the same kernel for rows of B",
            ),
            Self::Warpgroup => (
                "one warpgroup",
                "tensor_warpgroup_nt",
                "wgmma on tiles that the warpgroup itself copies to shared memory",
            ),
            Self::Bulk => (
                "bulk copies",
                "tensor_bulk_nt",
                "TMA fills a ring of stages ahead of the products",
            ),
            Self::Specialised => (
                "warp specialisation",
                "tensor_specialised_nt",
                "one thread copies, two warpgroups multiply: 128 x 128 outputs",
            ),
            Self::Large => (
                "larger tiles",
                "tensor_large_nt",
                "128 x 256 outputs, with registers that the copying warpgroup releases",
            ),
            Self::Clusters => (
                "clusters",
                "tensor_clusters_nt",
                "two blocks load half of B each, for both",
            ),
            Self::Stores => (
                "asynchronous stores",
                "tensor_stores_nt",
                "outputs go through shared memory and are written by bulk copies",
            ),
            Self::Persistent => (
                "persistent",
                "tensor_persistent_nt",
                "a cluster computes one tile after another, in groups of rows",
            ),
            Self::PersistentRows => (
                "persistent, row-major B",
                "tensor_persistent_nn",
                "the same kernel for rows of B",
            ),
        };
        StepInfo {
            term,
            kernel,
            change,
        }
    }

    /// The step's order of B. A and C are row-major.
    #[must_use]
    pub const fn order_of_b(self) -> Order {
        match self {
            Self::WarpsRows | Self::PersistentRows => Order::RowMajor,
            _ => Order::ColumnMajor,
        }
    }

    /// The step's operands.
    fn operands(self) -> Operands {
        Operands {
            operation: "ladder::tensor",
            step: self.info(),
            order_of_b: self.order_of_b(),
        }
    }
}

/// The driver compiler's performance warnings for the kernels: see
/// [`Module::compiler_warnings`](tilewright::Module::compiler_warnings).
///
/// # Errors
/// Those of [`Device::load`].
pub fn compiler_warnings(device: &Device) -> Result<Vec<String>> {
    device.load(&TENSOR_KERNELS)?.compiler_warnings()
}

/// C = A B by one step of the ladder, without waiting.
///
/// A and C are row-major, and B has [`Step::order_of_b`]. Rows of A and C, and rows or columns of B in its order,
/// must have a multiple of 8 elements.
///
/// # Errors
/// [`ShapeMismatch`](tilewright::ErrorKind::ShapeMismatch); [`LaunchConfig`](tilewright::ErrorKind::LaunchConfig) if
/// a matrix has another order, or the device does not have compute capability 9.0;
/// [`TensorMap`](tilewright::ErrorKind::TensorMap) if rows are not a multiple of 8 elements; those of
/// [`Module::launch_unsafe`](tilewright::Module::launch_unsafe).
pub fn launch(
    device: &Device,
    step: Step,
    a: &Matrix<bf16>,
    b: &Matrix<bf16>,
    c: &mut Matrix<bf16>,
) -> Result<()> {
    step.operands().check(a, b, c)?;
    [a, b, c].into_iter().try_for_each(check_lines)?;
    let (m, n, k) = (a.rows() as u32, b.cols() as u32, a.cols() as u32);
    let module = device.load(&TENSOR_KERNELS)?;
    let grid = |rows: usize, columns: usize| (n.div_ceil(columns as u32), m.div_ceil(rows as u32));
    let config = |grid: (u32, u32), threads: usize, bytes: u32| {
        LaunchConfig::new(grid, threads as u32).with_dynamic_shared(bytes)
    };
    macro_rules! launch {
        ($step:ident, $kernel:ident, $grid:expr, $arguments:expr) => {{
            use kernels::$step::{SHARED_BYTES, THREADS};
            let config = config($grid, THREADS, SHARED_BYTES);
            // SAFETY: the shapes and orders were compared, matrices and rows are aligned to 16 bytes,
            // and the maps are the matrices'. Grid, block and shared memory are the kernel's for m x n
            // outputs.
            unsafe { module.launch_unsafe(kernels::$step::$kernel, config, $arguments) }
        }};
    }
    macro_rules! plain {
        ($step:ident, $kernel:ident, $grid:expr) => {{
            let (a, b) = (a.tensor_map()?, b.tensor_map()?);
            launch!($step, $kernel, $grid, (&a, &b, c, n, k))
        }};
    }
    match step {
        Step::Warps => {
            use kernels::warps::{COLUMNS, ROWS};
            let grid = grid(ROWS, COLUMNS);
            launch!(warps, tensor_warps_nt, grid, (a, b, c, n, k))
        }
        Step::WarpsRows => {
            use kernels::warps::{COLUMNS, ROWS};
            let grid = grid(ROWS, COLUMNS);
            launch!(warps, tensor_warps_nn, grid, (a, b, c, n, k))
        }
        Step::Warpgroup => {
            use kernels::warpgroup::{COLUMNS, ROWS};
            let grid = grid(ROWS, COLUMNS);
            launch!(warpgroup, tensor_warpgroup_nt, grid, (a, b, c, n, k))
        }
        Step::Bulk => {
            use kernels::bulk::{COLUMNS, ROWS};
            plain!(bulk, tensor_bulk_nt, grid(ROWS, COLUMNS))
        }
        Step::Specialised => {
            use kernels::specialised::{COLUMNS, ROWS};
            plain!(specialised, tensor_specialised_nt, grid(ROWS, COLUMNS))
        }
        Step::Large => {
            use kernels::large::{COLUMNS, ROWS};
            plain!(large, tensor_large_nt, grid(ROWS, COLUMNS))
        }
        Step::Clusters => {
            use kernels::clusters::{BLOCKS, COLUMNS, ROWS};
            let (x, y) = grid(ROWS, COLUMNS);
            plain!(
                clusters,
                tensor_clusters_nt,
                (y.next_multiple_of(BLOCKS as u32), x)
            )
        }
        Step::Stores => {
            use kernels::stores::{BLOCKS, COLUMNS, ROWS};
            let (x, y) = grid(ROWS, COLUMNS);
            let (a, b, c) = (a.tensor_map()?, b.tensor_map()?, c.tensor_map_mut()?);
            launch!(
                stores,
                tensor_stores_nt,
                (y.next_multiple_of(BLOCKS as u32), x),
                (&a, &b, &c, k)
            )
        }
        Step::Persistent => {
            let grid = persistent_grid(device, m, n);
            let (a, b, c) = (a.tensor_map()?, b.tensor_map()?, c.tensor_map_mut()?);
            launch!(
                persistent,
                tensor_persistent_nt,
                grid,
                (&a, &b, &c, m, n, k)
            )
        }
        Step::PersistentRows => {
            let grid = persistent_grid(device, m, n);
            let (a, b, c) = (a.tensor_map()?, b.tensor_map()?, c.tensor_map_mut()?);
            launch!(
                persistent,
                tensor_persistent_nn,
                grid,
                (&a, &b, &c, m, n, k)
            )
        }
    }
}

/// Checks that rows or columns are multiples of 16 bytes: the first steps' copies have the same requirement as bulk
/// copies.
fn check_lines(matrix: &Matrix<bf16>) -> Result<()> {
    matrix.tensor_map::<64, 64>().map(drop)
}

/// As many clusters as the device runs at a time, at most one per tile.
fn persistent_grid(device: &Device, m: u32, n: u32) -> (u32, u32) {
    use kernels::persistent::{BLOCKS, COLUMNS, ROWS};
    let blocks = BLOCKS as u32;
    let tiles = m.div_ceil(ROWS as u32 * blocks) * n.div_ceil(COLUMNS as u32);
    let resident = device.properties().multiprocessors / blocks;
    (tiles.min(resident.max(1)) * blocks, 1)
}
