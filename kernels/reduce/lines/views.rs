//! What the blocks of one launch read and write.

use cuda_std::prelude::*;

/// The rows or columns of a matrix, or pairs of those of two: a [`Source`](super::source::Source) has their
/// elements.
#[derive(Clone, Copy)]
pub struct Lines<X> {
    pub source: X,
    /// Their number.
    pub count: usize,
    /// Elements, or pairs, of a line.
    pub len: usize,
}

/// What the blocks of one launch write. If lines are one unit of work each, the first two are not touched.
#[derive(Clone, Copy)]
pub struct LineWorkspace<'launch, A, O> {
    /// An element for each section of each line, or for each unit of it where lines are not contiguous.
    pub partials: GlobalMut<'launch, A>,
    /// Counters, which are 0 when the launch starts and when it ends: one for each line where lines
    /// are contiguous, one for each [`ACROSS_LINES`](super::ACROSS_LINES) of them where they are not.
    pub tickets: GlobalMut<'launch, u32>,
    /// The value of each line.
    pub values: GlobalMut<'launch, O>,
}
