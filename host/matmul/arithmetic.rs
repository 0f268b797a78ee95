//! The ways to compute a product.

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
    /// The fastest way that keeps the promise of the type. A product of a matrix and a vector, M or N = 1,
    /// and one of f64, or of f32 in chains, with a small result, for which K is divided
    /// ([`SelectionReason::InParts`](crate::SelectionReason::InParts)), have the same bits on every device.
    #[default]
    Auto,
    /// f32 and f64: the products of an output are added in order, each by a fused multiply-add. The bits
    /// are those of [`Device::matmul_tiled`](crate::Device::matmul_tiled), on every device. i8: on the ordinary
    /// units, with the same exact sums.
    Chain,
    /// f32 on tensor cores: each element as two halves, three products for each. Closer to the exact
    /// result than a chain, with other bits, and not bound to an order of the elements. From compute capability
    /// 8.0 on: by warpgroups on 9.0, and elsewhere by warps, whose bits are others again.
    Split,
}
