//! Products with block scales, and of groups of rows that are counted on the device.

use super::element::MatmulElement;
use super::product::Matmul;
use crate::buffer::IntoBufferView;
use crate::element::Element;
use crate::matmul::block_scales::BlockScales;
use crate::matrix::IntoMatrixBatch;
use cuda_std::fp8::F8E4M3;

impl<'a> Matmul<'a, F8E4M3> {
    /// Scales blocks of the operands: those of 1 x 128 elements of A, and those of 128 x 128 elements of B.
    ///
    /// With b the number of blocks that cover K, `of_a` is M x b, and `of_b` is b x the number of blocks that cover N.
    /// Blocks at the ends of K and N may be smaller. Both may be in either [`Order`](crate::Order). For a batch of
    /// operands, they are a batch of the same size. A weight matrix with its scales is often stored N x K:
    /// `weights.t()` and `scales.t()` are the operand and its scales.
    ///
    /// ```text
    /// C[i, j] = sum over blocks p of K of (of_a[i, p] of_b[p, j / 128]) (sum over k in p of A[i, k] B[k, j])
    /// ```
    ///
    /// Tensor cores compute the inner sum. It is multiplied by the rounded product of the scales and added to the
    /// total, in order of p, by one fused multiply-add. So the bits depend on K alone, not on M, N or the tiles, and
    /// the product is batch-invariant. The epilogue follows.
    ///
    /// [`Device::quantize_rows`](crate::Device::quantize_rows) and
    /// [`Device::quantize_blocks`](crate::Device::quantize_blocks) make operands and scales. One scale for each row of A
    /// and column of B needs no blocks: [`row_scale`](Self::row_scale) and [`column_scale`](Self::column_scale).
    ///
    /// ```
    /// use tilewright::cuda_std::fp8::F8E4M3;
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens = device.matrix((2, 3), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(F8E4M3::from_f32))?;
    /// let weights = device.matrix((1, 3), &[1.0, 1.0, 2.0].map(F8E4M3::from_f32))?;
    /// let of_tokens = device.matrix((2, 1), &[0.5_f32, 0.25])?;
    /// let of_weights = device.matrix((1, 1), &[8.0_f32])?;
    /// let product = Matmul::new(&tokens, weights.t()).block_scales(&of_tokens, of_weights.t());
    /// assert_eq!(product.run_as::<f32>()?.to_vec()?, [36.0, 42.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Results are row-major; bf16 or f32. The call fails with [`ErrorKind::ShapeMismatch`](crate::ErrorKind) if the
    /// scales have another shape, with `BatchMismatch` if their batches differ from the operands', and with `NoKernel`
    /// if C is column-major or the device's compute capability is not 9.0.
    #[doc(alias = "deepseek")]
    #[doc(alias = "blockwise")]
    #[must_use]
    pub fn block_scales(
        mut self,
        of_a: impl IntoMatrixBatch<'a, f32>,
        of_b: impl IntoMatrixBatch<'a, f32>,
    ) -> Self {
        self.operands.scales = Some(BlockScales {
            a: of_a.into(),
            b: of_b.into(),
        });
        self
    }
}

impl<'a, T: MatmulElement, S: Element> Matmul<'a, T, S> {
    /// Multiplies groups of rows whose sizes are in device memory, each by its matrix B, without a copy to the host.
    ///
    /// B is a batch of one matrix for each group, and `counts` has one number for each.
    ///
    /// | A | group g |
    /// |---|---|
    /// | one matrix | the `counts[g]` rows after those of the groups before; C is one matrix, too |
    /// | a batch | the first `counts[g]` rows of matrix g; so are those of C |
    ///
    /// A count that goes past the last row counts as the rows that are left. Rows of C outside the groups keep their
    /// values; in a new matrix they are zero. The launch has blocks for all rows; those outside the groups read the
    /// counts and exit early.
    ///
    /// ```
    /// use half::bf16;
    /// use tilewright::{Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let of = |values: &[f32]| -> Vec<bf16> { values.iter().map(|&it| bf16::from_f32(it)).collect() };
    /// // Room for four tokens: one for the first expert, two for the second.
    /// let tokens = device.matrix((4, 2), &of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]))?;
    /// let experts = device.matrix((4, 1), &of(&[1.0, 1.0, 10.0, 1.0]))?;
    /// let counts = device.upload(&[1_u32, 2])?;
    /// let product = Matmul::new(&tokens, experts.view().batch_rows(2)?).row_counts(&counts);
    /// assert_eq!(product.run()?.to_vec()?, of(&[3.0, 34.0, 56.0, 0.0]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// For bf16 and f16 with results of their type and a row-major A, and for [`F8E4M3`](cuda_std::fp8::F8E4M3) with
    /// [`block_scales`](Matmul::block_scales), on compute capability 9.0. Results are row-major. Each output has the
    /// bits of the product of its row and its matrix B with
    /// [`Arithmetic::BatchInvariant`](crate::Arithmetic::BatchInvariant). The call fails with
    /// [`ErrorKind::WrongLength`](crate::ErrorKind::WrongLength) unless there is one count for each product, and with
    /// [`ErrorKind::NoKernel`](crate::ErrorKind::NoKernel) for other types and orders.
    #[doc(alias = "grouped_gemm")]
    #[doc(alias = "masked")]
    #[doc(alias = "mixture of experts")]
    #[must_use]
    pub fn row_counts(mut self, counts: impl IntoBufferView<'a, u32>) -> Self {
        self.operands.counts = Some(counts.into());
        self
    }
}
