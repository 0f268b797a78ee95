//! Outputs that are computed from sums one after the other, and written straight to global memory.
//!
//! A warp's sums pass through shared memory, so that a loop can go over them, and so that a warp reads and writes
//! whole rows of C.
//!
//! | part | file |
//! |---|---|
//! | types of outputs, and an output alone | `output.rs` |
//! | what becomes of a sum: a `Finish` | `sum.rs` |
//! | the staging buffer in shared memory through which a warp's sums pass | `room.rs` |
//! | from there to rows of C: `CMatrices` | `rows.rs` |

mod output;
mod room;
mod rows;
mod sum;

pub use output::{FromSum, Output, store_output, store_plain};
pub use room::{COLUMNS, OF_LANE, ROWS, Staging, WARP_ROOM, WarpRoom};
pub use rows::CMatrices;
pub use sum::Finish;
