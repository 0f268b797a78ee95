//! The operations.
//!
//! | file | operations |
//! |---|---|
//! | `sum.rs` | [`Sum`] |
//! | `extremes.rs` | [`Min`], [`Max`], [`MinMax`], [`ArgMin`], [`ArgMax`] |
//! | `terms.rs` | [`Mean`], [`SumOfSquares`], [`Norm1`], [`Product`], [`Dot`] |
//! | `norms.rs` | [`Norm2`], [`NormInf`] |
//! | `variance.rs` | [`Variance`] |
//! | `mask.rs` | [`Count`], [`Any`], [`All`] |
//!
//! `order.rs` has the order of elements, `number.rs` what is computed with in f64.

mod extremes;
mod mask;
mod norms;
mod number;
mod order;
mod sum;
mod terms;
mod variance;

pub use extremes::{ArgMax, ArgMin, Max, Min, MinMax};
pub use mask::{All, Any, Count};
pub use norms::{Norm2, NormInf};
pub use number::{Number, Real};
pub use order::{Magnitude, Ordered, Rank};
pub use sum::Sum;
pub use terms::{Dot, Mean, Norm1, Product, SumOfSquares};
pub use variance::Variance;
