//! Views of one matrix that are written have no element in common with another.

use tilewright::{Device, Matrix, MatrixView, Result};

fn two_parts_for_writing(matrix: &mut Matrix<f32>) -> Result<()> {
    let mut left = matrix.slice_mut(.., ..2)?;
    let mut right = matrix.slice_mut(.., 2..)?;
    left.copy_from_matrix(&right)?;
    right.copy_from_strided(&[], 2)
}

fn operand_and_result(device: &Device, matrix: &mut Matrix<f32>) -> Result<()> {
    let operand = matrix.slice(.., ..2)?;
    device.matmul_tiled_into(operand, operand, matrix)
}

fn half_twice(device: &Device, matrix: &mut Matrix<f32>) -> Result<()> {
    let (mut left, _) = matrix.split_columns_at_mut(2)?;
    device.matmul_tiled_into(&left, &left, &mut left)
}

fn longer_than_its_matrix(device: &Device) -> Result<MatrixView<'_, f32>> {
    let matrix = device.matrix_zeros((2, 2))?;
    matrix.slice(.., ..1)
}

fn main() {}
