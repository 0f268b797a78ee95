//! The methods to compute a product.

/// How a product is computed.
///
/// ```
/// use tilewright::{Arithmetic, Device, Matmul};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0])?;
/// let chain = Matmul::new(&a, &a).arithmetic(Arithmetic::Chain);
/// println!("{}", chain.plan()?);
/// assert_eq!(chain.run()?.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arithmetic {
    /// The fastest method that meets the type's accuracy guarantee.
    ///
    /// Two kinds of products have the same bits on every device: those of a matrix and a vector (M or N = 1), and
    /// those of f64, or of f32 as chains, with a small result whose K is split
    /// ([`SelectionReason::InParts`](crate::tuning::SelectionReason::InParts)).
    #[default]
    Auto,
    /// In order of k, with a fixed order of additions.
    ///
    /// f32 and f64: one fused multiply-add for each k, in order. The bits are those of
    /// [`Device::matmul_tiled`](crate::Device::matmul_tiled), on every device. i8: on CUDA cores, with the same
    /// exact sums.
    Chain,
    /// f32 on tensor cores: each element is split into two f16 values, and each product becomes three.
    ///
    /// The result is usually closer to the exact one than a chain's. Its bits differ, and additions are not in order
    /// of k. Needs compute capability 8.0: warpgroups multiply on 9.0, and warps with `mma.sync`
    /// elsewhere. The two have different bits.
    Split,
    /// The fastest method under which the bits of an output depend on its row of A, its column of B and K alone: not
    /// on M, N, the batch, or the other rows and columns.
    ///
    /// f16, bf16 and 8-bit floats are added for all of K on tensor cores: K is not divided, and a vector is a matrix of
    /// one row or column. f32 and f64 are chains. i8 is as with `Auto`, because its sums are exact.
    ///
    /// ```
    /// use half::bf16;
    /// use tilewright::{Arithmetic, Device, Matmul};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let tokens: Vec<bf16> = (0..3 * 256).map(|i| bf16::from_f32(1.0 / (1 + i) as f32)).collect();
    /// let (tokens, weights) = (device.matrix((3, 256), &tokens)?, device.matrix((256, 3), &tokens)?);
    /// let layer = |tokens| Matmul::new(tokens, &weights).arithmetic(Arithmetic::BatchInvariant).run();
    /// let all = layer(tokens.view())?.to_vec()?;
    /// let first = layer(tokens.slice(..1, ..)?)?.to_vec()?;
    /// assert_eq!(first, all[..3]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "batch_invariant")]
    BatchInvariant,
    /// f32 and f64: each output is the exact dot product, rounded once to the nearest, ties to even.
    ///
    /// Its bits depend on the elements alone: not on the order of k, the device, or how the product is cut.
    /// [`Device::matmul_exact`](crate::Device::matmul_exact) says how special values count, and what it costs.
    Exact,
}
