//! Transposes of matrices of f32 and f64.

use super::tile_grid::tile_grid;
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch_args::{read_words, written_words};
use crate::matrix::{Matrix, MatrixView};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::copy_shape::CopyShape;
use tilewright_kernels::transpose_words::{
    TRANSPOSE_WORDS_THREADS, transpose_u32, transpose_u64, word_tiles,
};

/// Transposes a row-major matrix, in the stream of `device`.
pub fn transpose_wide<T: Element>(
    device: &Device,
    matrix: MatrixView<'_, T>,
) -> Outcome<Matrix<T>> {
    let (rows, columns) = matrix.shape();
    let mut copy = Matrix::uninit(device, (columns, rows).into())?;
    let shape = CopyShape {
        rows,
        columns,
        leading_dimension: matrix.leading_dimension(),
        pitch: rows,
        source_stride: 0,
        result_stride: 0,
        matrices: 1,
    };
    let threads = TRANSPOSE_WORDS_THREADS as usize;
    let config = tile_grid(word_tiles(&shape), 1, threads, || {
        format!("an operand of {rows}x{columns} elements")
    })?;
    let result = copy.view_mut().into();
    /// Launches a kernel for elements of the size of a word.
    macro_rules! launch {
        ($kernel:ident of $word:ty) => {{
            // SAFETY: the launch reads only elements of the matrix, as the kernels document, and writes only elements
            // of the new matrix, which belongs to this call.
            let (source, result) = unsafe {
                (read_words::<_, $word>(matrix.into()), written_words::<_, $word>(result))
            };
            let module = Module::on_demand(device, module_of!($kernel));
            // SAFETY: the launch meets the kernel's requirements: the view and the shape are those of the matrix, the
            // result has its elements, and the grid covers the tiles. The views are live without conflicting work:
            // the operand is borrowed, and the result belongs to this call.
            unsafe { module.launch_params::<$kernel>(config, (source, result, GridConstant::new(&shape))) }
        }};
    }
    match size_of::<T>() {
        4 => launch!(transpose_u32 of u32),
        8 => launch!(transpose_u64 of u64),
        bytes => unreachable!("no product transposes elements of {bytes} bytes"),
    }?;
    Ok(copy)
}
