//! Reductions of buffers to one value, and of rows, columns and segments to one value each.
//!
//! - `operations.rs`: the types that each operation reduces; `sealed.rs`: their kernels.
//! - `launch.rs`: launches for whole buffers; `sum.rs` and `named.rs`: the methods.
//! - `lines.rs`: rows and columns.
//! - `segments.rs`: segments; `empty_segments.rs`: segments with a given value for empty ones.
//! - `pairs.rs`: reductions of two matrices or two buffers.
//! - `custom.rs`: operations that other crates define.
//! - `shards.rs`: a device's part in reducing an array on several devices; `combine.rs`: the host's part.
//! - `host/`: host data of any size, chunk by chunk.
//! - `reproducible/`: sums that do not depend on the order of the elements.

mod combine;
mod custom;
mod empty_segments;
mod host;
mod launch;
mod lines;
mod named;
mod operations;
mod pairs;
mod reproducible;
mod sealed;
mod segments;
mod shards;
mod sum;

/// Operations that reduce elements to one value: sums, minima, norms and others.
///
/// [`Reducible`] lists the element types of each operation; [docs/reductions.md] has the rules and error bounds.
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

pub use host::{HostReducer, ReducibleInChunks};
pub(crate) use launch::CHECK_FIRST;
pub use named::{reduce, reduce_dot};
pub use operations::{ReduceElement, Reducible, ReducibleLines, ReduciblePairs, ReducibleSegments};
pub use reproducible::{ReproducibleElement, ReproducibleSum, reduce_sum_reproducible};
pub(crate) use sealed::Reduce;
pub(crate) use segments::ScanTiles;
pub use segments::Segments;
pub use sum::{reduce_sum, reduce_sum_height};
