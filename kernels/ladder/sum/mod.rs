//! The ladder of the sum: seeds 001 and 004, step by step.
//!
//! Every kernel here leaves one partial sum for each block in `partials`.

mod neighboured;

pub use neighboured::sum_neighboured;
