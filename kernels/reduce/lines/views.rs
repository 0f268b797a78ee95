//! The inputs and outputs of a launch.

use cuda_std::prelude::*;

/// The rows or columns of a matrix, or pairs from two. A `Source` has their elements.
#[derive(Clone, Copy)]
pub struct Lines<X> {
    /// The elements.
    pub source: X,
    /// The number of lines.
    pub count: usize,
    /// Elements or pairs per line.
    pub len: usize,
}

/// The outputs of a launch. If each line is one unit of work, only `values` is used.
#[derive(Clone, Copy)]
pub struct LineWorkspace<'launch, A, O> {
    /// An element for each section of each line, or for each unit if lines are not contiguous.
    pub partials: GlobalMut<'launch, A>,
    /// Counters, 0 when the launch starts and when it ends: one for each line, or for each
    /// [`ACROSS_LINES`](super::ACROSS_LINES) lines if they are not contiguous.
    pub tickets: GlobalMut<'launch, u32>,
    /// The value of each line.
    pub values: GlobalMut<'launch, O>,
}
