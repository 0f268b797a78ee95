//! The ladder of the histogram: how often each byte value occurs (privatisation, coarsening and
//! coalescing; Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th edition).
//!
//! Many threads update few counters: what limits is that updates of one counter have to wait for
//! one another. Every kernel here adds to the counts that `bins` holds; counts wrap.
//!
//! Every step takes blocks of any number of threads.

mod aggregated;
mod contiguous;
mod global;
mod interleaved;
mod part;
mod private;
mod privatised;
mod vectors;

pub use aggregated::histogram_aggregated;
pub use contiguous::histogram_contiguous;
pub use global::histogram_global;
pub use interleaved::histogram_interleaved;
pub use part::COARSENING;
pub use private::BINS;
pub use privatised::histogram_privatised;
pub use vectors::histogram_vectors;
