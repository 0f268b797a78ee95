//! Copies of operands: with aligned rows, or transposed.

use super::tile_grid::tile_grid;
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::launch_args::{read_words, written_words};
use crate::matmul::plan::ROW_ALIGNMENT;
use crate::matrix::{Matrix, MatrixBatch, MatrixView};
use crate::module::Module;
use cuda_std::grid_constant::GridConstant;
use tilewright_kernels::align::{ALIGN_THREADS, align_tiles, align_u8, align_u16, align_u64};
use tilewright_kernels::copy_shape::CopyShape;
use tilewright_kernels::transpose::{TRANSPOSE_THREADS, transpose_bytes, transpose_tiles};
use tilewright_kernels::transpose_words::{
    TRANSPOSE_WORDS_THREADS, transpose_u32, transpose_u64, word_tiles,
};

/// Launches a kernel that copies `$source` to the new matrix `$result`, in words of the elements' size.
macro_rules! copy_words {
    ($device:expr, $config:expr, $source:expr, $result:expr, $shape:expr; $kernel:ident of $word:ty) => {{
        // SAFETY: the launch reads only elements of the matrices, as the kernels document, and writes only elements of
        // the new matrix, which belongs to this call.
        let (source, result) = unsafe {
            (read_words::<_, $word>($source), written_words::<_, $word>($result.view_mut().into()))
        };
        let module = Module::on_demand($device, module_of!($kernel));
        // SAFETY: the launch meets the kernel's requirements: the views and the shape are those of the matrices, the
        // result is a new buffer with rows of `pitch` elements, a multiple of 16 bytes where the kernel needs it, and
        // the grid covers the tiles. The views are live without conflicting work: the operand is borrowed, and the
        // result belongs to this call.
        unsafe { module.launch_params::<$kernel>($config, (source, result, GridConstant::new(&$shape))) }
    }};
}

/// Copies row-major matrices, one below the other, with zeros from the end of each row to the next multiple of 16
/// bytes.
pub fn align<T: Element>(batch: MatrixBatch<'_, T>) -> Outcome<Matrix<T>> {
    let (first, device) = (batch.first(), batch.first().device());
    let alignment = ROW_ALIGNMENT / size_of::<T>();
    let pitch = first.cols().next_multiple_of(alignment);
    let (mut copy, shape) = new_copy(device, batch, first.rows(), pitch)?;
    let config = grid(&shape, align_tiles(&shape), ALIGN_THREADS)?;
    match size_of::<T>() {
        1 => copy_words!(device, config, batch, copy, shape; align_u8 of u8),
        2 => copy_words!(device, config, batch, copy, shape; align_u16 of u16),
        8 => copy_words!(device, config, batch, copy, shape; align_u64 of u64),
        bytes => unreachable!("no product reads aligned lines of elements of {bytes} bytes"),
    }?;
    Ok(copy)
}

/// Transposes row-major matrices of 8-bit elements, one below the other, with zeros from the end of each row to the
/// next multiple of `alignment`, itself a multiple of 16.
pub fn transpose<T: Element>(batch: MatrixBatch<'_, T>, alignment: usize) -> Outcome<Matrix<T>> {
    let (first, device) = (batch.first(), batch.first().device());
    let pitch = first.rows().next_multiple_of(alignment);
    let (mut copy, shape) = new_copy(device, batch, first.cols(), pitch)?;
    let config = grid(&shape, transpose_tiles(&shape), TRANSPOSE_THREADS)?;
    copy_words!(device, config, batch, copy, shape; transpose_bytes of u8)?;
    Ok(copy)
}

/// Transposes a row-major matrix of f32 or f64, in the stream of `device`.
pub fn transpose_wide<T: Element>(
    device: &Device,
    matrix: MatrixView<'_, T>,
) -> Outcome<Matrix<T>> {
    let (rows, columns) = matrix.shape();
    let batch = MatrixBatch::from(matrix);
    let (mut copy, shape) = new_copy(device, batch, columns, rows)?;
    let shape = CopyShape {
        source_stride: 0,
        result_stride: 0,
        ..shape
    };
    let config = grid(&shape, word_tiles(&shape), TRANSPOSE_WORDS_THREADS as usize)?;
    match size_of::<T>() {
        4 => copy_words!(device, config, batch, copy, shape; transpose_u32 of u32),
        8 => copy_words!(device, config, batch, copy, shape; transpose_u64 of u64),
        bytes => unreachable!("no product transposes elements of {bytes} bytes"),
    }?;
    Ok(copy)
}

/// A matrix for the copies of a batch, each of `rows` rows of `pitch` elements, and the parameter of the kernels.
fn new_copy<T: Element>(
    device: &Device,
    batch: MatrixBatch<'_, T>,
    rows: usize,
    pitch: usize,
) -> Outcome<(Matrix<T>, CopyShape)> {
    let (first, count) = (batch.first(), batch.count().unwrap_or(1));
    let copy = Matrix::uninit(device, (count * rows, pitch).into())?;
    let shape = CopyShape {
        rows: first.rows(),
        columns: first.cols(),
        leading_dimension: first.leading_dimension(),
        pitch,
        source_stride: batch.stride(),
        result_stride: rows * pitch,
        matrices: count,
    };
    Ok((copy, shape))
}

fn grid(shape: &CopyShape, tiles: (usize, usize), threads: usize) -> Outcome<LaunchConfig> {
    tile_grid(tiles, shape.matrices, threads, || {
        format!("an operand of {}x{} elements", shape.rows, shape.columns)
    })
}
