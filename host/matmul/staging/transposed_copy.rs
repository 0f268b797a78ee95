//! Transposes of matrices of 8-bit elements.

use super::tile_grid::tile_grid;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch_args::{read_words, written_words};
use crate::matrix::{Matrix, MatrixBatch};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::copy_shape::CopyShape;
use tilewright_kernels::transpose::{TRANSPOSE_THREADS, transpose_bytes, transpose_tiles};

/// Transposes row-major matrices of 8-bit elements, one below the other, with zeros from the end of each row to the
/// next multiple of `alignment`, itself a multiple of 16.
pub fn transpose<T: Element>(batch: MatrixBatch<'_, T>, alignment: usize) -> Outcome<Matrix<T>> {
    let (first, count) = (batch.first(), batch.count().unwrap_or(1));
    let (rows, columns) = first.shape();
    let pitch = rows.next_multiple_of(alignment);
    let mut copy = Matrix::uninit(first.device(), (count * columns, pitch).into())?;
    let shape = CopyShape {
        rows,
        columns,
        leading_dimension: first.leading_dimension(),
        pitch,
        source_stride: batch.stride(),
        result_stride: columns * pitch,
        matrices: count,
    };
    let config = tile_grid(transpose_tiles(&shape), count, TRANSPOSE_THREADS, || {
        format!("an operand of {rows}x{columns} elements")
    })?;
    let module = Module::on_demand(first.device(), module_of!(transpose_bytes));
    // SAFETY: the launch reads only elements of the matrices, as the kernel documents, and writes only elements of
    // the new matrix, which belongs to this call.
    let (source, result) = unsafe {
        (
            read_words::<_, u8>(batch),
            written_words::<_, u8>(copy.view_mut().into()),
        )
    };
    let params = (source, result, GridConstant::new(&shape));
    // SAFETY: the launch meets the kernel's requirements: the views and the shape are those of the matrices, the
    // result's rows start at multiples of 16 bytes in a new buffer, and the grid covers the tiles. The views are
    // live without conflicting work: the operand is borrowed, and the result belongs to this call.
    unsafe { module.launch_params::<transpose_bytes>(config, params) }?;
    Ok(copy)
}
