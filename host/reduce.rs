//! Reductions of buffers to one value, and of the rows or columns of matrices to one each.
//!
//! `operations.rs` has the types that each operation reduces, `sealed.rs` its kernels; `launch.rs` the
//! launches; `sum.rs` and `named.rs` the methods; `lines.rs` has rows and columns, `segments.rs` segments, `empty_segments.rs` those with a value for the
//! empty ones,
//! `pairs.rs` those of two matrices and of two buffers;
//! `own.rs` operations of other crates; `shards.rs` what a device does for an array that several have, `combine.rs` what the host does with it;
//! `reproducible/` has sums that do not depend on the order.

mod combine;
mod empty_segments;
mod launch;
mod lines;
mod named;
mod operations;
mod own;
mod pairs;
mod reproducible;
mod sealed;
mod segments;
mod shards;
mod sum;

/// The operations that reduce elements to one value: see [`Reducible`] for the elements that each is
/// for, and [docs/reductions.md] for its rules and bounds.
///
/// [docs/reductions.md]: https://github.com/tilewright/tilewright/blob/main/docs/reductions.md
pub mod ops {
    pub use tilewright_kernels::reduce::{
        All, Any, ArgMax, ArgMin, Count, Dot, Max, Mean, Min, MinMax, Norm1, Norm2, NormInf,
        Product, Sum, SumOfSquares, Variance,
    };

    #[expect(unused_imports, reason = "for the documentation")]
    use super::Reducible;
}

pub(crate) use launch::CHECK_FIRST;
pub use named::{reduce, reduce_dot};
pub use operations::{ReduceElement, Reducible, ReducibleLines, ReduciblePairs, ReducibleSegments};
pub use reproducible::{ReproducibleElement, ReproducibleSum, reduce_sum_reproducible};
pub(crate) use sealed::Reduce;
pub use segments::Segments;
pub use sum::{reduce_sum, reduce_sum_height};
