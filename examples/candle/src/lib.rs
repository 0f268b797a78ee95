//! Products of tilewright as operations of candle.
//!
//! On a CUDA device they work in candle's stream, on candle's memory, without a copy. On the CPU they run on tilewright's
//! simulator, so a program can be tested without a GPU, with small tensors.
//!
//! ```
//! use candle_core::{Device, Tensor};
//!
//! # fn main() -> candle_core::Result<()> {
//! let a = Tensor::new(&[[1.0_f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
//! let c = candle_products::matmul(&a, &a.t()?)?;
//! assert_eq!(c.to_vec2::<f32>()?, [[5.0, 11.0], [11.0, 25.0]]);
//! # Ok(())
//! # }
//! ```

mod dequantized;
mod devices;
mod operand;
mod product;

use candle_core::{DType, Result, Tensor, bail};

/// The product of two f32 matrices: f32 stays f32, and no output is rounded to TF32. It has gradients.
///
/// Either operand may be a transpose or a part of a tensor with contiguous rows or columns; others need
/// [`Tensor::contiguous`].
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    a.apply_op2(b, product::Product)
}

/// The product of two matrices of 8-bit integers in f32, each row and each column scaled.
///
/// candle has no type for them: `a` and `b` are `u8` tensors with the bits of `i8`. The sums are exact in i32. `row_scale`
/// has an f32 for each row of `a`, and `column_scale` one for each column of `b`. There are no gradients.
pub fn matmul_dequantized(
    a: &Tensor,
    b: &Tensor,
    row_scale: &Tensor,
    column_scale: &Tensor,
) -> Result<Tensor> {
    let (rows, columns) = (a.dim(0)?, b.dim(1)?);
    for (scale, len) in [(row_scale, rows), (column_scale, columns)] {
        if scale.dims() != [len] || scale.dtype() != DType::F32 {
            bail!(
                "a scale has shape {:?}, and needs {len} elements of f32",
                scale.dims()
            );
        }
        if !scale.device().same_device(a.device()) {
            bail!("a scale is on another device than the matrices");
        }
    }
    let scales = dequantized::Dequantized {
        row_scale: row_scale.contiguous()?,
        column_scale: column_scale.contiguous()?,
    };
    a.apply_op2_no_bwd(b, &scales)
}
