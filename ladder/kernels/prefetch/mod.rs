//! The prefetch ladder, one variant after another.
//!
//! ```text
//! for round in 0..rounds:
//!     sum += f(x[thread + round * threads of the grid])
//!     barrier, in the kernels that synchronise
//! ```
//!
//! `f` is [`generations`] of a population model, one dependent chain of f64 arithmetic with a
//! transcendental function in each link. With few warps per multiprocessor, none computes while the
//! next element is loaded: the limit is latency, neither bandwidth nor arithmetic. A prefetch
//! starts the load some rounds, the *distance*, before the value is used.
//!
//! | kernels | loads start | values wait in |
//! |---|---|---|
//! | [`baseline`] | when they are needed | |
//! | [`l2`] | `distance` rounds ahead | L2, and are loaded when they are needed |
//! | [`scalar_batch`] | `distance` at once, every `distance` rounds | registers |
//! | [`shared_batch`] | the same | shared memory |
//! | [`scalar_rolling`] | one in each round, `distance` rounds ahead | registers |
//! | [`shared_rolling`] | the same | shared memory, through a register |
//! | [`shared_rolling_async`] | the same | shared memory, bypassing registers |
//!
//! The variants, and the names "scalar batch" and the like, are those of NVIDIA's article "Boosting
//! Application Performance with GPU Memory Prefetching". Each comes in two forms: with a barrier of
//! the block at the end of each round, as in the article's application, and without.
//!
//! Departure from the article: any number of elements, and any number of blocks. A thread whose
//! element is past the end fetches the last element, and does not use it.

pub mod baseline;
mod by_distance;
pub mod l2;
mod population;
pub mod scalar_batch;
pub mod scalar_rolling;
pub mod shared_batch;
pub mod shared_rolling;
pub mod shared_rolling_async;
mod slots;
mod work;

#[cfg(not(target_arch = "nvptx64"))]
pub use by_distance::{Parameters, ScalarParams, SharedParams, WithKernel};
pub use population::generations;
pub use slots::Slots;

/// The longest distance with a kernel.
pub const MAX_DISTANCE: u32 = 16;

/// Maximum threads per block. With more, threads would have too few registers for the longest
/// distances.
pub const MAX_BLOCK_THREADS: u32 = 256;
