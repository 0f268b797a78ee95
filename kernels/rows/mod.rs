//! Fused operations on the rows of a matrix: softmax and its relatives, and normalisation.
//!
//! Each reads a row once and writes it once, as far as registers and shared memory hold it. The order of all sums
//! depends on the length of a row and its type alone ([`RowPlan`]), so the bits are the same on every device and
//! wherever the rows start.
//!
//! | part | file |
//! |---|---|
//! | the split of a row | `plan.rs`, `place.rs`, `short.rs`, `parts.rs` |
//! | loads and stores, elements | `vectors.rs`, `mover.rs`, `ahead.rs`, `element.rs`, `kept.rs` |
//! | values of several threads | `combine.rs` |
//! | softmax, its logarithm, cross entropy | `softmax.rs`, `terms.rs`, `class.rs` |
//! | normalisation | `norm.rs`, `moments.rs` |
//! | the kernels of both | `entries.rs` |
//! | maps that other crates define | `map.rs`, `steps.rs` |

#[cfg(feature = "entries")]
mod ahead;
#[cfg(feature = "entries")]
mod class;
pub(crate) mod combine;
mod element;
#[cfg(feature = "entries")]
mod entries;
mod kept;
mod map;
#[cfg(feature = "entries")]
mod moments;
mod mover;
#[cfg(feature = "entries")]
mod norm;
#[cfg(feature = "entries")]
mod parts;
mod place;
mod plan;
#[cfg(feature = "entries")]
mod shape;
mod short;
#[cfg(feature = "entries")]
mod softmax;
mod steps;
#[cfg(feature = "entries")]
mod terms;
mod vectors;

#[cfg(feature = "entries")]
pub use class::IGNORED;
pub use element::RowElement;
#[cfg(feature = "entries")]
pub use entries::*;
pub use map::MapRowsShape;
#[doc(hidden)]
pub use map::map_rows;
pub use plan::{MOST_THREADS, PARTS, RowClass, RowPlan, SECTION_VALUES, VALUES, VECTOR_BYTES};
#[cfg(feature = "entries")]
pub use shape::{NormShape, SoftmaxShape};
pub use steps::{RowMap, RowValue};
#[doc(hidden)]
pub use steps::{RowSteps, Then};
