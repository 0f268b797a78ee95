//! Products of f32 matrices.

#[cfg(feature = "cuda")]
use crate::devices::bridge;
use crate::devices::{simulator, wrapped};
use crate::operand::{Operand, product_shape};
#[cfg(feature = "cuda")]
use candle_core::CudaStorage;
use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor};

/// The operation of [`matmul`](crate::matmul).
pub struct Product;

impl CustomOp2 for Product {
    fn name(&self) -> &'static str {
        "tilewright-matmul"
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
        let (a, b) = (a.as_slice::<f32>()?, b.as_slice::<f32>()?);
        let device = simulator();
        let product = || {
            let a = device.upload(&a[of_a.start..])?;
            let b = device.upload(&b[of_b.start..])?;
            let c = device.matmul(of_a.view(a.view())?, of_b.view(b.view())?)?;
            c.to_vec()
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
        let bridge = bridge(&a.device)?;
        let mut c = a.device.alloc_zeros::<f32>(shape.0 * shape.1)?;
        let (left, right) = (a.as_cuda_slice::<f32>()?, b.as_cuda_slice::<f32>()?);
        let (left, right) = (left.slice(of_a.start..), right.slice(of_b.start..));
        wrapped(bridge.with((&left, &right, &mut c), |(a, b, c)| {
            let mut c = c.into_matrix(shape)?;
            bridge
                .device()
                .matmul_into(of_a.view(a)?, of_b.view(b)?, &mut c)
        }))?;
        let c = CudaStorage::wrap_cuda_slice(c, a.device.clone());
        Ok((c, shape.into()))
    }

    /// Of C = A B the gradients are C' B<sup>T</sup> and A<sup>T</sup> C'.
    fn bwd(
        &self,
        a: &Tensor,
        b: &Tensor,
        _c: &Tensor,
        of_c: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let of_a = crate::matmul(of_c, &b.t()?)?;
        let of_b = crate::matmul(&a.t()?, of_c)?;
        Ok((Some(of_a), Some(of_b)))
    }
}
