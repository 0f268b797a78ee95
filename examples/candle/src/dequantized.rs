//! Products of 8-bit matrices, scaled.

#[cfg(feature = "cuda")]
use crate::devices::bridge;
use crate::devices::{simulator, wrapped};
use crate::operand::{Operand, product_shape};
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};
#[cfg(feature = "cuda")]
use candle_core::{CudaStorage, Storage, bail};
use tilewright::Matmul;

/// The operation of [`matmul_dequantized`](crate::matmul_dequantized). The scales are contiguous vectors of f32, one for
/// each row and one for each column, on the device of the matrices.
pub struct Dequantized {
    pub row_scale: Tensor,
    pub column_scale: Tensor,
}

/// The elements of a contiguous vector on the CPU.
fn host_elements(vector: &Tensor) -> Result<Vec<f32>> {
    vector.to_vec1::<f32>()
}

impl CustomOp2 for Dequantized {
    fn name(&self) -> &'static str {
        "tilewright-matmul-dequantized"
    }

    fn cpu_fwd(
        &self,
        a: &CpuStorage,
        of_a: &Layout,
        b: &CpuStorage,
        of_b: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (of_a, of_b) = (Operand::new(of_a)?, Operand::new(of_b)?);
        let shape = product_shape(&of_a, &of_b)?;
        let (a, b) = (a.as_slice::<u8>()?, b.as_slice::<u8>()?);
        let (row_scale, column_scale) = (
            host_elements(&self.row_scale)?,
            host_elements(&self.column_scale)?,
        );
        let device = simulator();
        let product = || {
            let a = device.upload::<i8>(bytemuck::cast_slice(&a[of_a.start..]))?;
            let b = device.upload::<i8>(bytemuck::cast_slice(&b[of_b.start..]))?;
            let row_scale = device.upload(&row_scale)?;
            let column_scale = device.upload(&column_scale)?;
            Matmul::dequantized(of_a.view(a.view())?, of_b.view(b.view())?)
                .row_scale(&row_scale)
                .column_scale(&column_scale)
                .run_as::<f32>()?
                .to_vec()
        };
        Ok((CpuStorage::F32(wrapped(product())?), shape.into()))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        a: &CudaStorage,
        of_a: &Layout,
        b: &CudaStorage,
        of_b: &Layout,
    ) -> Result<(CudaStorage, Shape)> {
        let (of_a, of_b) = (Operand::new(of_a)?, Operand::new(of_b)?);
        let shape = product_shape(&of_a, &of_b)?;
        let (row_scale, of_row_scale) = self.row_scale.storage_and_layout();
        let (column_scale, of_column_scale) = self.column_scale.storage_and_layout();
        let (Storage::Cuda(row_scale), Storage::Cuda(column_scale)) = (&*row_scale, &*column_scale)
        else {
            bail!("the scales are on another device than the matrices");
        };
        let row_scale = row_scale.as_cuda_slice::<f32>()?;
        let column_scale = column_scale.as_cuda_slice::<f32>()?;
        let (first, last) = (of_row_scale.start_offset(), of_column_scale.start_offset());
        let row_scale = row_scale.slice(first..first + shape.0);
        let column_scale = column_scale.slice(last..last + shape.1);

        let bridge = bridge(&a.device)?;
        let mut c = a.device.alloc_zeros::<f32>(shape.0 * shape.1)?;
        let (left, right) = (a.as_cuda_slice::<u8>()?, b.as_cuda_slice::<u8>()?);
        let (left, right) = (left.slice(of_a.start..), right.slice(of_b.start..));
        // SAFETY: an i8 has the size of a u8, and every bit pattern is one.
        let signed = unsafe {
            (
                left.transmute::<i8>(left.len()),
                right.transmute::<i8>(right.len()),
            )
        };
        let (Some(left), Some(right)) = signed else {
            bail!("the views have other sizes");
        };
        let operands = (&left, &right, &row_scale, &column_scale, &mut c);
        wrapped(bridge.with(operands, |(a, b, row_scale, column_scale, c)| {
            Matmul::dequantized(of_a.view(a)?, of_b.view(b)?)
                .row_scale(row_scale)
                .column_scale(column_scale)
                .run_into(&mut c.into_matrix(shape)?)
        }))?;
        let c = CudaStorage::wrap_cuda_slice(c, a.device.clone());
        Ok((c, shape.into()))
    }
}
