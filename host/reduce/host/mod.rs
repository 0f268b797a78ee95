//! Reductions of host data of any size, through a bounded part of the device's memory.
//!
//! ```text
//! host:         fills page-locked memory with a chunk          chunk 2   chunk 3
//! copy stream:  copies it to the device              chunk 1   chunk 2
//! device:       reduces it to partial results        chunk 0   chunk 1
//! ```
//!
//! A chunk has all elements of some blocks of the whole array's launch ([`Stripes`]), so those blocks have the same
//! partial results. The host combines them in the kernels' tree. Chunks of consecutive elements, as an iterator returns
//! them, give different partial results: operations that do not round accept them, and others need all on the device.
//!
//! [`Stripes`]: crate::partition::Stripes

mod chunks;
mod gather;
mod pipeline;
mod slices;

pub use chunks::ReducibleInChunks;
pub use slices::HostReducer;

#[cfg(test)]
mod tests;
