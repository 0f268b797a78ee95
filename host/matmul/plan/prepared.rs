//! Operands that were prepared for several products.

/// The forms that [`Device::prepare`](crate::Device::prepare) and
/// [`Device::prepare_exact`](crate::Device::prepare_exact) give an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparedAs {
    /// Two f16 values of each f32.
    Split,
    /// Residues for products within gamma_K |A||B|.
    Residues,
    /// Residues for exact products.
    Exact,
}
