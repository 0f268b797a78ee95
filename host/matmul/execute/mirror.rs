//! The other half of a symmetric product.

use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch_args::written_words;
use crate::matmul::staging::tile_grid;
use crate::matrix::MatrixBatchMut;
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::triangle::{
    MIRROR_THREADS, MirrorShape, mirror_u16, mirror_u32, mirror_u64,
};

/// Overwrites one triangle of each matrix with the other: the upper one if they are row-major.
pub fn mirror<T: Element>(device: &Device, batch: MatrixBatchMut<'_, T>) -> Outcome<()> {
    let first = batch.view().first();
    let shape = MirrorShape {
        n: first.rows(),
        leading_dimension: first.leading_dimension(),
        stride: batch.view().stride(),
        matrices: batch.view().count().unwrap_or(1),
    };
    if shape.n <= 1 {
        return Ok(());
    }
    let tiles = (shape.tiles(), shape.tiles());
    let config = tile_grid(tiles, shape.matrices, MIRROR_THREADS, || {
        format!("a result of {0}x{0} elements", shape.n)
    })?;
    /// Launches a kernel for elements of the size of a word.
    macro_rules! launch {
        ($kernel:ident of $word:ty) => {{
            // SAFETY: the launch accesses only elements of the matrices, as the kernels document.
            let words = unsafe { written_words::<_, $word>(batch) };
            let module = Module::on_demand(device, module_of!($kernel));
            // SAFETY: the launch meets the kernel's requirements: the view and the shape are those of the matrices,
            // whose diagonals are the same as rows or as columns, and the grid covers the tiles. The views are live
            // without conflicting work: the matrices are borrowed mutably until this returns.
            unsafe { module.launch_params::<$kernel>(config, (words, GridConstant::new(&shape))) }
        }};
    }
    match size_of::<T>() {
        2 => launch!(mirror_u16 of u16),
        4 => launch!(mirror_u32 of u32),
        8 => launch!(mirror_u64 of u64),
        bytes => unreachable!("no product has elements of {bytes} bytes"),
    }
}
