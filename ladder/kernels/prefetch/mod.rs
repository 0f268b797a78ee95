//! The ladder of the prefetch, variant by variant.
//!
//! ```text
//! for round in 0..rounds:
//!     sum += f(x[thread + round * threads of the grid])
//!     barrier, in the kernels that synchronise
//! ```
//!
//! `f` is [`generations`] of a population model, one dependent chain of f64 arithmetic with a
//! transcendental function in each link. Where few warps share a multiprocessor, none computes
//! while the load of the next element is on its way: latency limits, and neither bandwidth nor
//! arithmetic. A prefetch starts that load some rounds, the *distance*, before the value is used.
//!
//! | kernels | the loads start | and the values wait in |
//! |---|---|---|
//! | [`baseline`] | when they are needed | |
//! | [`l2`] | `distance` rounds ahead | L2: the load itself comes when it is needed |
//! | [`scalar_batch`] | `distance` at once, every `distance` rounds | registers |
//! | [`shared_batch`] | the same | shared memory |
//! | [`scalar_rolling`] | one in each round, `distance` rounds ahead | registers |
//! | [`shared_rolling`] | the same | shared memory, by way of a register |
//! | [`shared_rolling_async`] | the same | shared memory, past the registers |
//!
//! The variants, and the names "scalar batch" and the like, are those of NVIDIA's article "Boosting
//! Application Performance with GPU Memory Prefetching". Each comes in two forms: with a barrier of
//! the block at the end of each round, as in the article's application, and without.
//!
//! Departure from the article: any number of elements, and any number of blocks. A thread whose
//! element is past the end fetches the last one of all, and does not use it.

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

/// The longest distance that there are kernels for.
pub const MAX_DISTANCE: u32 = 16;

/// The most threads of a block: with more, the compiler gives a thread too few registers for the
/// longest distances.
pub const MAX_BLOCK_THREADS: u32 = 256;
