//! Products on CUDA cores, in order of k.

use crate::device::Device;
use crate::error::Outcome;
use crate::matmul::element::GemmElement;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::launchers::{Kernels, Launcher};
use crate::matmul::matrices::Matrices;
use crate::matmul::types::Accumulator;
use crate::module::Module;

/// C = A B by the selected kernel.
pub fn multiply<T: GemmElement + Accumulator + Kernels<T, T>>(
    device: &Device,
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let Launcher { module, launch } = T::PRODUCTS.of(kernel);
    let module = Module::on_demand(device, module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        // SAFETY: the launch reads and writes only elements of A, B and C, as the kernels document.
        let arguments = unsafe { part.arguments() };
        // SAFETY: the launch meets the kernels' requirements. Block and grid are the tile's for m x n and the
        // batch. The shapes were compared, and a view starts with its first element and reaches to its last. The
        // kernel was selected by the operands' orders and by where their rows start. The views are live without
        // conflicting work: A, B and C are of this device, are borrowed until this returns, C mutably, and nothing
        // else is touched.
        unsafe { launch(&module, config, arguments) }
    })
}
