//! Which kernels multiply which type.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::matrix::{MatrixView, Order};
use tilewright_kernels::matmul::{self, BlockTile, ProductKernel};

/// A type whose matrices can be multiplied: f32 and f64.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32 and f64"
)]
pub trait Factor: Element + sealed::Products {}

/// The arguments of every product kernel: A, B, C, M, N, K.
pub type Arguments<'a, T> = (
    &'a Buffer<T>,
    &'a Buffer<T>,
    &'a mut Buffer<T>,
    usize,
    usize,
    usize,
);

/// The launch of one kernel.
///
/// # Safety
/// 1. The launch keeps what the kernel's documentation asks for.
pub type Launch<T> = unsafe fn(&Device, LaunchConfig, Arguments<'_, T>) -> Result<()>;

/// Bytes of the widest access of a kernel.
const VECTOR_BYTES: usize = 16;

/// Kernels that compute the same outputs for each thread, from operands that lie differently.
#[derive(Clone, Copy)]
pub struct Kernels<T: Element> {
    /// For rows of B that are multiples of 16 bytes.
    aligned: Launch<T>,
    /// For rows of B of any length.
    unaligned: Launch<T>,
    /// For a column-major A, a column-major B, and both.
    a_t: Launch<T>,
    b_t: Launch<T>,
    a_t_b_t: Launch<T>,
    pub tile: BlockTile,
}

impl<T: Element> Kernels<T> {
    /// The kernel for these operands.
    pub fn of_operands(&self, a: MatrixView<'_, T>, b: MatrixView<'_, T>) -> Launch<T> {
        match (a.order(), b.order()) {
            (Order::RowMajor, Order::RowMajor) => {
                if (b.cols() * size_of::<T>()).is_multiple_of(VECTOR_BYTES) {
                    self.aligned
                } else {
                    self.unaligned
                }
            }
            (Order::ColumnMajor, Order::RowMajor) => self.a_t,
            (Order::RowMajor, Order::ColumnMajor) => self.b_t,
            (Order::ColumnMajor, Order::ColumnMajor) => self.a_t_b_t,
        }
    }
}

pub mod sealed {
    use super::{Element, Kernels};

    /// The kernels that multiply a type.
    pub trait Products: Element {
        const TILED: Kernels<Self>;
        /// Many outputs for each thread: the fastest where there are blocks enough.
        const LARGE: Kernels<Self>;
        /// Fewer outputs for each thread, and so more blocks.
        const SMALL: Kernels<Self>;
    }
}

macro_rules! kernels {
    ($aligned:ident $unaligned:ident $a_t:ident $b_t:ident $a_t_b_t:ident) => {
        Kernels {
            aligned: kernels!(@launch $aligned),
            unaligned: kernels!(@launch $unaligned),
            a_t: kernels!(@launch $a_t),
            b_t: kernels!(@launch $b_t),
            a_t_b_t: kernels!(@launch $a_t_b_t),
            tile: <matmul::$aligned as ProductKernel>::DESCRIPTOR.tile,
        }
    };
    // One kernel for rows of B of any length.
    ($any:ident $a_t:ident $b_t:ident $a_t_b_t:ident) => {{
        let any: Launch<Self> = kernels!(@launch $any);
        Kernels {
            aligned: any,
            unaligned: any,
            a_t: kernels!(@launch $a_t),
            b_t: kernels!(@launch $b_t),
            a_t_b_t: kernels!(@launch $a_t_b_t),
            tile: <matmul::$any as ProductKernel>::DESCRIPTOR.tile,
        }
    }};
    (@launch $kernel:ident) => {
        |device, config, arguments| {
            let module = device.load(module_of!($kernel))?;
            // SAFETY: (1) is that of `Launch`.
            unsafe { module.launch_unsafe(matmul::$kernel, config, arguments) }
        }
    };
}

impl Factor for f32 {}

impl sealed::Products for f32 {
    const TILED: Kernels<Self> = kernels!(matmul_tiled_f32_nn
        matmul_tiled_f32_tn matmul_tiled_f32_nt matmul_tiled_f32_tt);
    const LARGE: Kernels<Self> = kernels!(matmul_coarsened_f32_nn
        matmul_coarsened_f32_nn_unaligned matmul_coarsened_f32_tn matmul_coarsened_f32_nt
        matmul_coarsened_f32_tt);
    const SMALL: Kernels<Self> = kernels!(matmul_coarsened_small_f32_nn
        matmul_coarsened_small_f32_nn_unaligned matmul_coarsened_small_f32_tn
        matmul_coarsened_small_f32_nt matmul_coarsened_small_f32_tt);
}

impl Factor for f64 {}

impl sealed::Products for f64 {
    const TILED: Kernels<Self> = kernels!(matmul_tiled_f64_nn
        matmul_tiled_f64_tn matmul_tiled_f64_nt matmul_tiled_f64_tt);
    const LARGE: Kernels<Self> = kernels!(matmul_coarsened_f64_nn
        matmul_coarsened_f64_nn_unaligned matmul_coarsened_f64_tn matmul_coarsened_f64_nt
        matmul_coarsened_f64_tt);
    const SMALL: Kernels<Self> = kernels!(matmul_coarsened_small_f64_nn
        matmul_coarsened_small_f64_nn_unaligned matmul_coarsened_small_f64_tn
        matmul_coarsened_small_f64_nt matmul_coarsened_small_f64_tt);
}
