//! Epilogues applied to sums one after another, with outputs written straight to global memory.
//!
//! A warp stages its sums in shared memory, so that a loop can index them, and so that it reads and writes whole rows
//! of C.
//!
//! | part | file |
//! |---|---|
//! | output types, and single outputs | `output.rs` |
//! | the epilogue of a sum: a `Finish` | `sum.rs` |
//! | a warp's staging buffer in shared memory | `staging.rs` |
//! | from the staging buffer to rows of C: `CMatrices` | `rows.rs` |
//! | from the staging buffer to another function | `sums.rs` |

mod output;
mod rows;
mod staging;
mod sum;
mod sums;

pub use output::{FromSum, Output, store_output, store_plain};
pub use rows::CMatrices;
pub use staging::{COLUMNS, OF_LANE, ROWS, STAGING_LEN, Staging, StagingBuffer};
pub use sum::Finish;
pub use sums::for_each_sum;
