//! Prefix sums of an array in one pass, and scans of rows, columns and segments.
//!
//! ```text
//! each block:   take the next tile
//! each thread:  copy its vectors to shared memory
//! each warp:    scan the sums of its vectors by shuffles, row after row
//! each block:   add up the warps' sums; publish the tile's
//! one warp:     wait for the sums of the group's earlier tiles, and add them in a tree; after the
//!               group's last tile publish the group's
//! another:      wait for the sums of the span's earlier groups, and add them in a tree
//! one thread:   wait for the sum of all before the span
//! each block:   after the span's last tile publish the sum of all before the next one
//! each thread:  read its vectors again; add what comes before; store the sums
//! ```
//!
//! Departures from Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back
//! (2016), which CUB has:
//! 1. A tile never uses whatever sums happen to be ready: it waits for the sums of all earlier tiles of its group and
//!    of all earlier groups of its span. So the order of addition is fixed, and so are the bits of floats.
//! 2. The chain of prefixes has one link for each span of 1024 tiles. A link is one wait and one addition, since the
//!    span's own sum is ready by then.
//! 3. Elements wait for the preceding sums in shared memory, not in registers, and threads scan vectors as they were
//!    loaded, without a transpose.
//!
//! docs/reductions.md explains the design.
//!
//!
//! | part | file |
//! |---|---|
//! | the split, and a thread's vectors | `plan.rs`, `place.rs` |
//! | the operations, and values that go between lanes and blocks | `operations.rs`, `value.rs` |
//! | the communication between blocks, and what precedes a tile | `state.rs`, `preceding.rs` |
//! | values of a row of threads, and the elements of a tile | `shuffles.rs`, `tile.rs` |
//! | the scan of a buffer, and of contiguous lines | `body.rs`, `views.rs` |
//! | of segments, and of lines across memory | `segments.rs`, `across.rs` |
//! | the library's kernels, and custom ones | `macros.rs`, `entries.rs`, `custom.rs` |

#[macro_use]
mod macros;

mod across;
mod body;
mod custom;
#[cfg(feature = "entries")]
mod entries;
mod operations;
mod place;
mod plan;
mod preceding;
mod segments;
mod shuffles;
mod state;
mod tile;
mod value;
mod views;

#[doc(hidden)]
pub use body::scan_lines;
#[cfg(not(target_arch = "nvptx64"))]
pub use custom::ScanKernel;
#[cfg(feature = "entries")]
pub use entries::*;
pub use operations::{PrefixProduct, PrefixSum};
#[doc(hidden)]
pub use plan::{BEFORE, PARTS};
pub use plan::{FAN, SCAN_THREADS, SPAN_TILES, ScanPlan, ScanShape, TICKET_WORDS};
#[doc(hidden)]
pub use segments::Segments;
pub use value::ScanValue;
#[doc(hidden)]
pub use views::{Operands, Shared};
