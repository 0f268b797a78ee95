//! Runs one GPU kernel launch on the CPU, with checks and counters.
//!
//! A kernel is an ordinary Rust closure that is called once per GPU thread.
//! Inside of it, the functions of this crate are the instructions of the
//! simulated machine: they answer for "the thread that is running now".
//!
//! ```
//! use simt::{Dim3, Launch, Options};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! let sum = AtomicU32::new(0);
//! let options = Options::default();
//! let launch = Launch {
//!     kernel: "sum_of_lanes",
//!     grid: Dim3::from(4),
//!     block: Dim3::from(64),
//!     dynamic_shared_bytes: 0,
//!     options: &options,
//! };
//! simt::run(&launch, &|| {
//!     sum.fetch_add(simt::position().lane, Ordering::Relaxed);
//!     simt::block_barrier(simt::BarrierId(0), None);
//! })?;
//! assert_eq!(sum.into_inner(), 4 * 2 * (31 * 32 / 2));
//! # Ok::<(), Box<simt::Defect>>(())
//! ```
//!
//! # How a launch is simulated
//!
//! - Each GPU thread is a coroutine with a small stack of its own. It runs
//!   until it must wait (for a barrier, for the lanes of its warp) or exits.
//! - A block is run wholly by one host thread, so a coroutine never moves
//!   between host threads. Blocks run in parallel on at most
//!   [`MAX_WORKERS`] host threads; those of a cooperative launch in turns on one.
//! - Which warp runs next is drawn from a generator that is seeded by
//!   [`Options::seed`] and the block's index: the same seed gives the same
//!   order in every run, on every machine.
//!
//! # What is checked
//!
//! Data races in shared and global memory, also between blocks; reads of what
//! nobody has written; use of freed memory; asynchronous copies in use or never waited for;
//! accesses out of bounds or misaligned; barriers and warp-wide operations that not all
//! threads reach; launches above the limits. Memory is checked unless
//! [`Options::checks`] is off, which makes a launch several times faster; the
//! rest always is.
//!
//! Accesses are ordered by barriers of the block and of the grid, by
//! [`warp_barrier`] for the lanes of its mask, by a [`fence`] and an atomic update
//! on each side, and by the end of a launch. Shuffles and votes order nothing. Two
//! threads that store the same value race nonetheless. The checks see what goes
//! through [`access`].
//!
//! A violated rule ends the launch with a [`Defect`] that names the kernel,
//! the source line, the block and the thread. Threads that can never be
//! released are a defect, not a hang. Where hardware is lenient, the simulator
//! is strict: shared memory starts poisoned, an asynchronous copy is performed
//! only at its wait, and a barrier that an exited thread has missed is a defect.
//!
//! # What a kernel must keep to
//!
//! - It does not block its host thread: no lock is held, and no channel waited
//!   for, across a barrier or a warp-wide operation.
//! - A loop that waits for another thread calls [`yield_now`]; without it the
//!   loop keeps its host thread for ever.
//! - It fits into its stack, [`Options::stack_bytes`]: the guard page turns an
//!   overflow into a segmentation fault of the process.
//! - Blocks may run one after the other: a block that waits for another one
//!   must know that it has started, as on a GPU without a cooperative launch.
//!   In a cooperative one, [`run_cooperative`], all blocks run at the same time.

mod allocation;
mod async_copy;
mod barrier;
mod block;
mod check;
mod collective;
mod converge;
mod cooperative;
mod coroutine;
mod count;
mod current;
mod defect;
mod diagnosis;
mod dim;
pub mod dram;
mod launch;
mod memory;
pub mod occupancy;
mod panic_hook;
mod profile;
mod random;
mod scheduler;
mod shared;
mod statics;
mod texture;
mod watch;

pub use allocation::{
    Contents, forget_allocation, mark_copied, mark_freed, mark_written, register_allocation,
};
pub use async_copy::{async_commit, async_copy, async_wait, async_wait_all};
pub use barrier::{BarrierId, block_barrier, block_barrier_reduce};
pub use check::FenceScope;
pub use collective::{LaneValues, active_lanes, warp_barrier, warp_collective};
pub use converge::converged_lanes;
pub use cooperative::{MAX_RESIDENT_THREADS, grid_barrier, is_cooperative, run_cooperative};
pub use count::{
    Arithmetic, Counts, GlobalTally, LINE_BYTES, LineCounts, Operation, SECTOR_BYTES, SharedTally,
    Tally, count_arithmetic, count_prefetch,
};
pub use current::{Position, fail, is_simulated_thread, position, yield_now};
pub use defect::{Defect, DefectKind, Related, SourceLocation};
pub use dim::Dim3;
pub use launch::{
    Launch, MAX_THREADS_PER_BLOCK, MAX_WORKERS, Options, Report, check_schedules, run,
};
pub use memory::{
    AccessKind, Space, access, atomic_update_u16, atomic_update_u32, atomic_update_u64, fence,
    load_relaxed, store_relaxed,
};
pub use profile::{Datasheet, Profile, UnknownProfile};
pub use shared::{MAX_SHARED_BYTES, MAX_STATIC_SHARED_BYTES, dynamic_shared, static_shared};
pub use statics::{StaticMemory, static_memory};
pub use texture::{AddressMode, Texels, Texture, TextureFilter, TextureOptions};
