//! What a launch costs: counters per source line, in warp-level requests.
//!
//! A *request* is what one instruction of one warp asks of the machine. The simulator runs lanes
//! one after the other, so it puts requests together afterwards: the accesses of one warp at the
//! same source line (and of the same view) that were, for their lanes, the n-th at that line since
//! the warp last came together, are one request. A warp comes together at a block barrier, at a
//! warp-wide operation of all its lanes, and at the end of the kernel. Lanes that skip a loop's
//! iteration therefore shift the requests of that line until the next such point, and no further.
//!
//! Only what goes through the simulator is seen: memory, barriers, warp-wide operations, and the
//! arithmetic that is reported by [`count_arithmetic`]. A plain `+` or `*` of Rust is not.

mod banks;
mod coalescing;
mod cost;
mod counts;
mod footprint;
mod operation;
mod pending;
mod recorder;
mod span;
mod tally;

pub use counts::{Counts, LineCounts};
pub use operation::{Arithmetic, Operation};
pub use tally::{AsynchronousTally, GlobalTally, LINE_BYTES, SECTOR_BYTES, SharedTally, Tally};

pub(crate) use counts::MergedCounts;
pub(crate) use pending::{Round, round_within};
pub(crate) use recorder::{BlockCounts, Recorder};
pub(crate) use span::Span;
