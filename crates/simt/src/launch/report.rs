//! The report of a launch that has ended.

use crate::count::Counts;

/// Counts of the work that a launch has executed, and its counters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads that ran, over all blocks.
    pub threads: u64,
    /// Block barriers that were completed, over all blocks.
    pub barriers: u64,
    /// Warp-wide operations that were completed, over all warps.
    pub warp_collectives: u64,
    /// Asynchronous copies that were issued, over all threads.
    pub async_copies: u64,
    /// The costs of the launch, line by line; none without [`Options::counters`](crate::Options::counters).
    pub counts: Option<Box<Counts>>,
}
