//! The histogram ladder: counts the occurrences of each byte value (privatisation, coarsening and
//! coalescing; Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th edition).
//!
//! Many threads update few counters, so the limit is that updates of one counter are serialised.
//! Every kernel adds to the counts in `bins`; counts wrap.
//!
//! Every step accepts blocks of any size.

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
