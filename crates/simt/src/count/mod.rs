//! The costs of a launch: counters per source line, in warp-level requests.
//!
//! A *request* is one instruction of one warp. The simulator runs lanes one after the other, so it assembles requests
//! afterwards: one request consists of a warp's accesses at the same source line and of the same view that were, for
//! each lane, the n-th at that line since the warp last converged. A warp converges at a block barrier, at a warp-wide
//! operation of all its lanes, and at the end of the kernel. So lanes that skip an iteration of a loop shift the
//! requests of that line only until the next such point.
//!
//! The simulator counts memory accesses, barriers, warp-wide operations, and the arithmetic that
//! [`count_arithmetic`](crate::count_arithmetic) reports. It does not see a plain `+` or `*` of Rust.

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
