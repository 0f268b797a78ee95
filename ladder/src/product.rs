//! The product ladder. Its first steps are those of chapter 6 of Hwu, Kirk, El Hajj: Programming
//! Massively Parallel Processors, 4th edition (PMPP).

use super::StepInfo;
use crate::kernels::KERNELS;
use crate::operands::Operands;
use tilewright::{Buffer, Device, ErrorKind, LaunchConfig, Matrix, Order, Result};
use tilewright_ladder_kernels::product as kernels;

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// One output per thread, a warp down a column of C.
    Naive,
    /// A column-major B, read by rows (PMPP, figure 6.3).
    Uncoalesced,
    /// A row-major B, read by rows (PMPP, figure 6.2).
    Coalesced,
    /// Operands through tiles in shared memory (PMPP, figure 6.10).
    Tiled,
    /// Tiles of a column-major B, copied by rows (PMPP, figure 6.4 A).
    TiledUncoalesced,
    /// Corner turning: tiles of a column-major B, copied by columns (PMPP, figure 6.4 B).
    CornerTurned,
    /// Thread coarsening along a row of C (PMPP, figure 6.13).
    Coarsened(CoarseFactor),
    /// Thread coarsening with a factor of 8, with one block per multiprocessor instead of two
    /// because of its registers: the third pitfall of PMPP, in isolation.
    CoarsenedOneBlock,
    /// Thread coarsening in two dimensions: 8 x 8 outputs for each thread.
    TwoDimensional,
    /// Accesses of 16 bytes.
    Vectorised,
    /// Asynchronous copies of the next tiles.
    DoubleBuffered,
    /// [`Device::matmul_coarsened`].
    MatmulCoarsened,
}

/// Outputs or elements per thread: COARSE_FACTOR of PMPP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoarseFactor {
    /// 1: not coarsened.
    One,
    /// 2.
    Two,
    /// 4.
    Four,
    /// 8.
    Eight,
    /// 16.
    Sixteen,
}

impl CoarseFactor {
    /// All factors, in order.
    pub const ALL: [Self; 5] = [Self::One, Self::Two, Self::Four, Self::Eight, Self::Sixteen];

    /// The factor.
    #[must_use]
    pub const fn get(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }
}

impl Step {
    /// All steps, in the ladder's order.
    pub const ALL: [Self; 16] = [
        Self::Naive,
        Self::Uncoalesced,
        Self::Coalesced,
        Self::Tiled,
        Self::TiledUncoalesced,
        Self::CornerTurned,
        Self::Coarsened(CoarseFactor::One),
        Self::Coarsened(CoarseFactor::Two),
        Self::Coarsened(CoarseFactor::Four),
        Self::Coarsened(CoarseFactor::Eight),
        Self::Coarsened(CoarseFactor::Sixteen),
        Self::CoarsenedOneBlock,
        Self::TwoDimensional,
        Self::Vectorised,
        Self::DoubleBuffered,
        Self::MatmulCoarsened,
    ];

    /// Information on the step.
    #[must_use]
    pub const fn info(self) -> StepInfo {
        let (term, kernel, change) = match self {
            Self::Naive => (
                "naive",
                "product_naive",
                "one output for each thread, a warp down a column of C",
            ),
            Self::Uncoalesced => (
                "uncoalesced",
                "product_uncoalesced",
                "a warp along a row of C, and a column-major B",
            ),
            Self::Coalesced => (
                "coalesced",
                "product_coalesced",
                "a row-major B: neighbouring threads read neighbouring elements",
            ),
            Self::Tiled => (
                "tiled",
                "product_tiled",
                "operands through 32 x 32 tiles in shared memory",
            ),
            Self::TiledUncoalesced => (
                "tiled, uncoalesced",
                "product_tiled_uncoalesced",
                "a column-major B, whose tiles are copied by rows",
            ),
            Self::CornerTurned => (
                "corner-turned",
                "product_corner_turned",
                "the same B, whose tiles are copied by columns",
            ),
            Self::Coarsened(factor) => (
                "coarsened",
                match factor {
                    CoarseFactor::One => "product_coarsened_1",
                    CoarseFactor::Two => "product_coarsened_2",
                    CoarseFactor::Four => "product_coarsened_4",
                    CoarseFactor::Eight => "product_coarsened_8",
                    CoarseFactor::Sixteen => "product_coarsened_16",
                },
                "COARSE_FACTOR outputs for each thread: a tile of A serves as many tiles of C",
            ),
            Self::CoarsenedOneBlock => (
                "coarsened, one block",
                "product_coarsened_8_one_block",
                "more registers, so that one block fits on a multiprocessor instead of two",
            ),
            Self::TwoDimensional => (
                "two-dimensional",
                "product_two_dimensional",
                "8 x 8 outputs for each thread: a shared load serves 8 multiply-adds",
            ),
            Self::Vectorised => (
                "vectorised",
                "product_vectorised",
                "16 bytes for each access of global and shared memory",
            ),
            Self::DoubleBuffered => (
                "double-buffered",
                "product_double_buffered",
                "cp.async brings the next tiles while the block multiplies",
            ),
            Self::MatmulCoarsened => (
                "matmul_coarsened",
                "matmul_coarsened_f32_nn",
                "deeper tiles, lanes in squares, whole tiles without zero fill, sums where they suit",
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
            Self::Uncoalesced | Self::TiledUncoalesced | Self::CornerTurned => Order::ColumnMajor,
            _ => Order::RowMajor,
        }
    }

    /// The step's operands.
    fn operands(self) -> Operands {
        Operands {
            operation: "ladder::product",
            step: self.info(),
            order_of_b: self.order_of_b(),
        }
    }

    /// Rows and columns of C per block. For [`Step::MatmulCoarsened`], those for results that fill
    /// the device.
    #[must_use]
    pub const fn block_outputs(self) -> (usize, usize) {
        match self {
            Self::Coarsened(factor) => (kernels::TILE, kernels::TILE * factor.get()),
            Self::CoarsenedOneBlock => (kernels::TILE, kernels::TILE * CoarseFactor::Eight.get()),
            Self::TwoDimensional | Self::Vectorised | Self::DoubleBuffered => {
                (kernels::BLOCK, kernels::BLOCK)
            }
            Self::MatmulCoarsened => (64, 128),
            _ => (kernels::TILE, kernels::TILE),
        }
    }

    /// The launch for an `m` x `n` result. If the grid exceeds 32 bits, no device launches it.
    fn config(self, m: usize, n: usize) -> LaunchConfig {
        let (rows, columns) = self.block_outputs();
        let blocks =
            |size: usize, of_block| u32::try_from(size.div_ceil(of_block)).unwrap_or(u32::MAX);
        let side = if rows == kernels::BLOCK {
            kernels::SIDE
        } else {
            kernels::TILE
        } as u32;
        LaunchConfig::new((blocks(n, columns), blocks(m, rows)), (side, side))
    }
}

/// C = A B by one step of the ladder, without waiting.
///
/// A and C are row-major, and B has [`Step::order_of_b`]. Every step gives the bits of [`Device::matmul_coarsened`].
///
/// # Errors
/// [`ErrorKind::LaunchConfig`] if a matrix has another order, or more rows than a grid can have; and those of
/// [`Device::matmul_coarsened_into`].
pub fn launch(
    device: &Device,
    step: Step,
    a: &Matrix<f32>,
    b: &Matrix<f32>,
    c: &mut Matrix<f32>,
) -> Result<()> {
    step.operands().check(a, b, c)?;
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    if m == 0 || n == 0 {
        return Ok(());
    }
    let config = step.config(m, n);
    let module = device.load(&KERNELS)?;
    macro_rules! launch {
        ($kernel:ident) => {
            // SAFETY: `config` has the kernel's blocks for m x n. A matrix has rows * columns
            // elements, the shapes and orders were compared, and buffers are aligned to 256 bytes.
            unsafe { module.launch_unsafe(kernels::$kernel, config, (a, b, c, m, n, k)) }
        };
    }
    match step {
        Step::Naive => launch!(product_naive),
        Step::Uncoalesced => launch!(product_uncoalesced),
        Step::Coalesced => launch!(product_coalesced),
        Step::Tiled => launch!(product_tiled),
        Step::TiledUncoalesced => launch!(product_tiled_uncoalesced),
        Step::CornerTurned => launch!(product_corner_turned),
        Step::Coarsened(CoarseFactor::One) => launch!(product_coarsened_1),
        Step::Coarsened(CoarseFactor::Two) => launch!(product_coarsened_2),
        Step::Coarsened(CoarseFactor::Four) => launch!(product_coarsened_4),
        Step::Coarsened(CoarseFactor::Eight) => launch!(product_coarsened_8),
        Step::Coarsened(CoarseFactor::Sixteen) => launch!(product_coarsened_16),
        Step::CoarsenedOneBlock => launch!(product_coarsened_8_one_block),
        Step::TwoDimensional => launch!(product_two_dimensional),
        Step::Vectorised => launch!(product_vectorised),
        Step::DoubleBuffered => launch!(product_double_buffered),
        Step::MatmulCoarsened => device.matmul_coarsened_into(a, b, c),
    }
}

/// Threads per block of [`launch_addition`].
pub const ADDITION_THREADS: u32 = 256;

/// z = x + y with `factor` elements per thread, without waiting: coarsening without redundant work to save (PMPP, the
/// first pitfall).
///
/// # Errors
/// [`ErrorKind::WrongLength`] if the buffers do not have the same length; [`ErrorKind::WrongDevice`],
/// [`ErrorKind::LaunchConfig`], [`ErrorKind::NoModule`], [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`].
pub fn launch_addition(
    device: &Device,
    factor: CoarseFactor,
    x: &Buffer<f32>,
    y: &Buffer<f32>,
    z: &mut Buffer<f32>,
) -> Result<()> {
    for operand in [x, y] {
        if operand.len() != z.len() {
            return Err(ErrorKind::WrongLength {
                what: "an operand".to_owned(),
                rule: "as many as the result",
                expected: z.len(),
                found: operand.len(),
            }
            .during("ladder::addition"));
        }
    }
    let threads = z.len().div_ceil(factor.get());
    let config = LaunchConfig::for_elements(threads, ADDITION_THREADS);
    let module = device.load(&KERNELS)?;
    macro_rules! launch {
        ($kernel:ident) => {
            // SAFETY: there is a thread for each `factor` elements, and the lengths were compared.
            unsafe { module.launch_unsafe(kernels::$kernel, config, (x, y, z)) }
        };
    }
    match factor {
        CoarseFactor::One => launch!(addition_coarsened_1),
        CoarseFactor::Two => launch!(addition_coarsened_2),
        CoarseFactor::Four => launch!(addition_coarsened_4),
        CoarseFactor::Eight => launch!(addition_coarsened_8),
        CoarseFactor::Sixteen => launch!(addition_coarsened_16),
    }
}
