//! Copies of matrices with rows that start at multiples of 16 bytes.

use super::tile_grid::tile_grid;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch_args::{read_words, written_words};
use crate::matmul::plan::ROW_ALIGNMENT;
use crate::matrix::{Matrix, MatrixBatch};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::align::{ALIGN_THREADS, align_tiles, align_u8, align_u16, align_u64};
use tilewright_kernels::copy_shape::CopyShape;

/// Copies row-major matrices, one below the other, with zeros from the end of each row to the next multiple of 16
/// bytes.
pub fn align<T: Element>(batch: MatrixBatch<'_, T>) -> Outcome<Matrix<T>> {
    let (first, count) = (batch.first(), batch.count().unwrap_or(1));
    let device = first.device();
    let (rows, columns) = first.shape();
    let pitch = columns.next_multiple_of(ROW_ALIGNMENT / size_of::<T>());
    let mut copy = Matrix::uninit(device, (count * rows, pitch).into())?;
    let shape = CopyShape {
        rows,
        columns,
        leading_dimension: first.leading_dimension(),
        pitch,
        source_stride: batch.stride(),
        result_stride: rows * pitch,
        matrices: count,
    };
    let config = tile_grid(align_tiles(&shape), count, ALIGN_THREADS, || {
        format!("an operand of {rows}x{columns} elements")
    })?;
    let result = copy.view_mut().into();
    /// Launches a kernel for elements of the size of a word.
    macro_rules! launch {
        ($kernel:ident of $word:ty) => {{
            // SAFETY: the launch reads only elements of the matrices, as the kernels document, and writes only
            // elements of the new matrix, which belongs to this call.
            let (source, result) = unsafe { (read_words::<_, $word>(batch), written_words::<_, $word>(result)) };
            let module = Module::on_demand(device, module_of!($kernel));
            // SAFETY: the launch meets the kernel's requirements: the view and the shape are those of the matrices,
            // the result has a row of `pitch` elements for each of theirs, and the grid covers their tiles. The
            // views are live without conflicting work: the operand is borrowed, and the result belongs to this
            // call.
            unsafe { module.launch_params::<$kernel>(config, (source, result, GridConstant::new(&shape))) }
        }};
    }
    match size_of::<T>() {
        1 => launch!(align_u8 of u8),
        2 => launch!(align_u16 of u16),
        8 => launch!(align_u64 of u64),
        bytes => unreachable!("no product reads aligned lines of elements of {bytes} bytes"),
    }?;
    Ok(copy)
}
