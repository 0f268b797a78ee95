//! Products on the ordinary units, in order of k.

use crate::device::Device;
use crate::error::Outcome;
use crate::matmul::element::GemmElement;
use crate::matmul::entry::ChainLaunch;
use crate::matmul::kernel::GemmKernel;
use crate::matmul::matrices::Matrices;
use crate::matmul::types::Accumulator;
use crate::module::Module;

/// C = A B by a kernel that was selected for the operands.
pub fn multiply<T: GemmElement + Accumulator>(
    device: &Device,
    kernel: &'static GemmKernel,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let launch: ChainLaunch<T> = kernel.entry.launch();
    let module = Module::on_demand(device, kernel.module);
    matrices.for_each_grid(|part| {
        let config = part.grid(kernel)?;
        // SAFETY: (1) the launch is one of products, which reads and writes elements of A, B and C
        // alone, by (2) of the kernels.
        let arguments = unsafe { part.arguments() };
        // SAFETY: (1) of `ProductLaunch` is (1) to (3) of the kernels: (1) Block and grid are the
        // tile's for m x n and the batch. (2) The shapes were compared, and a view starts with its
        // first element and reaches to its last. (3) The kernel was selected by the operands' orders
        // and by where their rows start. (2) A, B and C are of this device, are borrowed until this
        // returns, C mutably, and nothing else is touched.
        unsafe { launch(&module, config, arguments) }
    })
}
