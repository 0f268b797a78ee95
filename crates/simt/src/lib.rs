//! Runs one GPU kernel launch on the CPU, with checks and counters.
//!
//! A kernel is an ordinary Rust closure that is called once per GPU thread.
//! Inside of it, the functions of this crate are the instructions of the
//! simulated machine: they answer for "the thread that is running now".
//!
//! ```
//! use simt::{Body, Dim3, Launch, Options};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static SUM: AtomicU32 = AtomicU32::new(0);
//! let options = Options::default();
//! let launch = Launch {
//!     kernel: "sum_of_lanes",
//!     grid: Dim3::from(4),
//!     block: Dim3::from(64),
//!     cluster: Dim3::from(1),
//!     thread_registers: None,
//!     dynamic_shared_bytes: 0,
//!     options: &options,
//! };
//! let body = Body::new(|| {
//!     SUM.fetch_add(simt::position().lane, Ordering::Relaxed);
//!     simt::block_barrier(simt::BarrierId(0), None);
//! });
//! simt::run(&launch, &body)?;
//! assert_eq!(SUM.load(Ordering::Relaxed), 4 * 2 * (31 * 32 / 2));
//! # Ok::<(), Box<simt::Defect>>(())
//! ```
//!
//! # How a launch is simulated
//!
//! - Each GPU thread is a coroutine with its own small stack. It runs
//!   until it must wait (for a barrier, for the lanes of its warp), is switched, or exits.
//! - A block is run wholly by one host thread, so a coroutine never moves
//!   between host threads. Blocks run in parallel on at most
//!   [`MAX_WORKERS`] host threads; those of a cooperative launch in turns on one.
//! - Which warp runs next is drawn from a generator that is seeded by
//!   [`Options::seed`] and the block's index: the same seed gives the same
//!   order in every run, on every machine.
//! - Under every seed but 0, the schedule is preemptive ([`Preemption`]): a thread may be switched
//!   before each access that others can see, and as many blocks as the device holds are resident
//!   and take turns. Mistakes that need another thread between two atomic operations show up under
//!   some of the seeds: lost updates, locks in two orders, a value that is the same again, a
//!   look-back that finds a prefix in place of an aggregate. [`under_seeds`] runs a kernel
//!   under many seeds.
//! - With [`Options::parallel_blocks`], the order within a block is the seed's, and so is which of
//!   the blocks of one host thread is next; the host decides how host threads interleave. Without
//!   it, all is the seed's.
//! - Blocks start in the order of their index ([`Options::blocks_in_order`]), and a thread that waits
//!   lets others run: at a [`yield_now`], and in a loop of atomic updates that change nothing.
//!
//! # What is checked
//!
//! Data races in shared and global memory, also between blocks; reads of bytes that
//! have not been written; use of freed memory; asynchronous copies in use or never waited for;
//! accesses out of bounds or misaligned; barriers and warp-wide operations that not all
//! threads reach; launches above the limits. Memory is checked unless
//! [`Options::checks`] is off, which makes a launch several times faster; the
//! rest always is.
//!
//! Of Hopper's asynchronous machine: clusters with [`map_shared`] and multicast, mbarriers, bulk
//! copies, products of warpgroups, proxy fences and `setmaxnreg`. What runs beside the threads does
//! so at moments that the seed chooses, and as late as possible under seed 0; the blocks of a cluster
//! are resident together on one host thread. `docs/synchronisation.md` has the rules.
//!
//! Accesses are ordered by barriers of the block and of the grid, by
//! [`warp_barrier`] for the lanes of its mask, by a [`fence`] and an atomic update
//! on each side, by an [`atomic_access`] that releases and one that acquires, and by
//! the end of a launch. Shuffles and votes order nothing. Two
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
//!   for, across an instruction or an access.
//! - A loop that waits for another thread asks by atomic updates or calls [`yield_now`]; a loop of
//!   plain accesses keeps its host thread for ever.
//! - It fits into its stack, [`Options::stack_bytes`], and ends in time, [`Options::time_limit`]:
//!   see below.
//! - Its simulated threads share host threads. A thread-local value that one of them sets is seen
//!   by others between any two instructions, so a scope that is kept in one (as the crate
//!   `scoped-tls` has it) may be seen by a thread that did not open it, and after its end: kernels
//!   must not use such scopes. Nothing can enforce that.
//! - The initialiser of a thread-local executes no instruction: the standard library takes a value that was
//!   made meanwhile for its own earlier one, and drops it, though a thread of the same host thread may have
//!   borrowed it. Nothing can enforce that, either; `#[kernel]` refuses a library that names `thread_local!`.
//! - Nothing panics in a destructor while it unwinds: that ends the process, as in any Rust
//!   program, and so does a panic under an `extern "C" fn`. A thread of a block with a defect
//!   unwinds, whatever it waits for: an assertion in a destructor must hold then, too, or ask
//!   [`std::thread::panicking`].
//! - Blocks may run one after the other: a block that waits for another one
//!   must know that it has started, as on a GPU without a cooperative launch. Those of a lower index
//!   have. In a cooperative launch, [`run_cooperative`], all blocks run at the same time.
//!
//! # What happens to a kernel that misbehaves
//!
//! - **A block with a defect** is cut off: each of its threads unwinds from the instruction that it
//!   waits at. In a destructor that runs meanwhile, instructions do not wait, and give made-up
//!   results. A thread that catches its unwinding is unwound again at its next instruction; one
//!   that does so over and over is left where it is, and so is one that waits under a function
//!   that cannot unwind, such as an `extern "C" fn`, where the tables of exceptions are read (Linux
//!   on x86-64 and aarch64). A destructor that panics meanwhile ends the process, with a message that
//!   has the finding for which the thread unwinds. With `panic = "abort"` nothing is unwound, and all
//!   threads of the block are left, each with its stack.
//! - **A thread that is left** may have lent a part of what it uses to a host thread that it has started. So
//!   its stack, the [`Body`] and the parameters of the launch stay for ever.
//! - **A stack overflow** is [`DefectKind::StackOverflow`], and the process goes on. rustc has
//!   large frames touch each of their pages, so that none jumps over the guard page. The thread is
//!   left where it is: its destructors do not run, its stack is never given back, and locks that it
//!   holds stay locked. An overflow within the C library, whose locks would stay locked too, ends
//!   the process with a message, and so does one that leaves the lock of a standard stream locked (in
//!   a `Display` under a `println!`), or that of an allocator of the program's own, within seconds.
//!   Linux on x86-64 and aarch64 has all of this; elsewhere only an instruction that is called near
//!   the end of the stack is found, and other overflows end the process.
//! - **A block over its limit of time** is [`DefectKind::TimeLimit`]: it is cut off at the next
//!   instruction, other than an unchecked access. A loop without one is interrupted by a
//!   signal (`SIGURG`), on the same systems: the looping function is stopped in its own code, not
//!   in one that it calls, and its thread is left where it is. That leaves nothing half done but
//!   what the loop itself does, and a lock that it holds stays locked, with the same end as above if
//!   it is a standard stream's. A thread that waits for the
//!   host, such as for a lock that another one holds over a barrier, or that loops while it unwinds
//!   or in a foreign library, cannot be stopped: after two more seconds the process aborts, with a
//!   message that names the kernel, the block and the thread, and says what it waits for.
//!   [`Options::time_limit`] of `None` has it go on.
//! - **After a fork** the child may launch kernels: it starts new host threads. A launch that
//!   is under way in the parent does not go on in the child.
//!
//! # Layers
//!
//! Each folder uses only those above it in this table.
//!
//! | folder | what it holds |
//! |---|---|
//! | `basics` | plain data: extents, positions, accesses, defects, the generator of schedules |
//! | `tensor` | the arithmetic of tensor cores, bit by bit |
//! | `memory` | global memory: atomic words, the allocations, static arrays |
//! | `device` | models of devices: occupancy, datasheets, textures |
//! | `count` | counters: from the accesses of lanes to requests, sectors and passes |
//! | `state` | the state of a block in pieces: barriers, warp-wide operations, copies, shared memory, confinement |
//! | `check` | the checks of memory: shadow and vector clocks |
//! | `launch` | a launch as data, its options, limits and report |
//! | `block` | threads, warps and the block that they are in; findings |
//! | `current` | the thread that is running on this host thread |
//! | `instructions` | what a kernel calls |
//! | `host` | the process: worker threads, watchdog, signals, panics, forks |
//! | `runner` | coroutines, turns of warps, workers, launches |

mod basics;
mod block;
mod check;
mod count;
mod current;
mod device;
mod host;
mod instructions;
mod launch;
mod memory;
mod runner;
mod state;
pub mod tensor;

pub use basics::{
    AccessKind, Call, Defect, DefectKind, Dim3, MemoryOrder, MemoryScope, Position, Related,
    SourceLocation, Space, Suppression, ViewName,
};
pub use count::{
    Arithmetic, AsynchronousTally, Counts, GlobalTally, LINE_BYTES, LineCounts, Operation,
    SECTOR_BYTES, SharedTally, Tally,
};
pub use current::is_simulated_thread;
pub use device::{
    AddressMode, Datasheet, Profile, Texels, Texture, TextureFilter, TextureOptions,
    UnknownProfile, occupancy,
};
pub use host::MAX_WORKERS;
pub use instructions::{
    LoopRounds, access, active_lanes, async_commit, async_copy, async_wait, atomic_access,
    atomic_update_u32, atomic_update_u64, block_barrier, block_barrier_arrive,
    block_barrier_reduce, block_idx_in_cluster, bulk_commit, bulk_load, bulk_store, bulk_wait,
    bulk_wait_read, cluster_barrier, cluster_barrier_arrive, cluster_barrier_wait, cluster_blocks,
    cluster_dim, cluster_rank, converged_lanes, count_arithmetic, count_prefetch,
    dependent_launch_wait, describe_view, dynamic_shared, fail, fence, fence_acq_rel,
    fence_mbarrier_init, fence_proxy_async, grid_barrier, loop_rounds, map_shared, mbarrier_arrive,
    mbarrier_arrive_expect, mbarrier_expect, mbarrier_init, mbarrier_test, mbarrier_wait, position,
    print, profile, refuse_host_call, set_max_registers, shared_offset, static_memory,
    static_shared, tensor_load, tensor_store, uninterrupted, warp_barrier, warp_collective,
    warp_exchange, wgmma, wgmma_begin, wgmma_collect, wgmma_commit, wgmma_fence, wgmma_wait,
    yield_now,
};
pub use launch::{Body, Launch, MAX_THREADS_PER_BLOCK, Options, Output, Preemption, Report};
pub use memory::{
    Contents, OutOfMemory, StaticMemory, allocation_name, first_unwritten, forget_allocation,
    load_relaxed, mark_copied, mark_freed, mark_written, name_allocation, register_allocation,
    store_relaxed,
};
pub use runner::{MAX_RESIDENT_THREADS, run, run_cooperative, under_seeds};
pub use state::{
    BarrierId, ElementType, LaneValues, MAX_SHARED_BYTES, MAX_STATIC_SHARED_BYTES, Major, Operand,
    Swizzle, TensorMap, TensorMapFields, Wgmma,
};
