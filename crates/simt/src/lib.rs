//! Runs one GPU kernel launch on the CPU, with checks and counters.
//!
//! A kernel is a Rust closure that is called once per GPU thread. Inside it, the functions of this crate are the
//! instructions of the simulated machine, executed by the calling simulated thread.
//!
//! ```
//! use simt::{Body, Launch, Options};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static SUM: AtomicU32 = AtomicU32::new(0);
//! let options = Options::default();
//! let launch = Launch::new("sum_of_lanes", 4, 64, &options);
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
//! - Each GPU thread is a coroutine with its own small stack. It runs until it waits (for a barrier, for
//!   the lanes of its warp), is switched, or exits.
//! - One host thread runs all of a block, so a coroutine never moves between host threads. Blocks run in
//!   parallel on at most [`MAX_WORKERS`] host threads, which are the simulator's own; those of a cooperative
//!   launch take turns on one.
//! - A generator, seeded by [`Options::seed`] and the block's index, chooses the warp that runs next. The
//!   same seed gives the same order in every run, on every machine.
//! - Under every seed but 0, the schedule is preemptive ([`Preemption`]): a thread may be switched before
//!   each access that others can see, and as many blocks as the device holds are resident and take turns.
//!   This exposes mistakes that need another thread between two atomic operations, each under some of the
//!   seeds: lost updates, locks taken in two orders, ABA, a look-back that finds a prefix instead of an
//!   aggregate. [`under_seeds`] runs a kernel under many seeds.
//! - With [`Options::parallel_blocks`], the seed fixes the order within a block and the order of blocks on
//!   one host thread; the host decides how host threads interleave. Without it, the seed fixes everything.
//! - Blocks start in the order of their index ([`Options::blocks_in_order`]). A waiting thread lets others
//!   run: at a [`yield_now`], and in a loop of atomic updates that change nothing.
//!
//! # What is checked
//!
//! - Data races in shared and global memory, also between blocks.
//! - Reads of bytes that have not been written, and uses of freed memory.
//! - Asynchronous copies that are used in flight, or that no thread waits for.
//! - Accesses out of bounds or misaligned.
//! - Barriers and warp-wide operations that some threads never reach.
//! - Launches above the device's limits.
//! - Hopper's asynchronous operations: clusters with [`map_shared`] and multicast, mbarriers, bulk copies,
//!   products of warpgroups, proxy fences and `setmaxnreg`.
//!
//! [`Options::checks`] turns off the checks of memory, which makes a launch several times faster. The other
//! rules always hold.
//!
//! Asynchronous operations complete at moments that the seed chooses, and as late as possible under seed 0.
//! The blocks of a cluster are resident together on one host thread. `docs/synchronisation.md` has the rules.
//!
//! These order accesses: barriers of the block and of the grid; [`warp_barrier`], for the lanes of its mask; a
//! [`fence`] and an atomic update on each side; an [`atomic_access`] that releases and one that acquires;
//! the end of a launch. Shuffles and votes order nothing. Two threads that store the same value race all the
//! same. The checks see only accesses that go through [`access`].
//!
//! A violation ends the launch with a [`Defect`] that names the kernel, the source line, the block and the
//! thread. Threads that can never be released are a defect, not a hang. Where hardware is lenient, the
//! simulator is strict: shared memory starts poisoned, an asynchronous copy takes effect only at its wait,
//! and a barrier that an exited thread has missed is a defect.
//!
//! # Rules for kernels
//!
//! - A kernel does not block its host thread: it holds no lock and waits for no channel across an
//!   instruction or an access.
//! - A loop that waits for another thread polls with atomic updates or calls [`yield_now`]. A loop of plain
//!   accesses keeps its host thread for ever.
//! - A kernel fits into its stack, [`Options::stack_bytes`], and ends in time, [`Options::time_limit`]: see
//!   below.
//! - Simulated threads share host threads. Other simulated threads see a thread-local value that one of them
//!   sets, between any two instructions. So a scope kept in a thread-local, as in the crate `scoped-tls`, may
//!   be visible to a thread that did not open it, and after its end. Kernels must not use such scopes.
//!   Nothing can enforce that.
//! - The initialiser of a thread-local executes no instruction. Otherwise another simulated thread of the same
//!   host thread may initialise the value and borrow it meanwhile; the standard library takes that value for
//!   an earlier one of its own and drops it. Nothing can enforce that, either; `#[kernel]` refuses a library
//!   that names `thread_local!`.
//! - Nothing panics in a destructor while it unwinds: that ends the process, as in any Rust program. So does a
//!   panic under an `extern "C" fn`. A thread of a block with a defect unwinds from wherever it waits, so an
//!   assertion in a destructor must hold then, too, or check [`std::thread::panicking`].
//! - Blocks may run one after the other. As on a GPU without a cooperative launch, a block may wait for another
//!   one only if it knows that the other has started. Blocks of a lower index have. In a cooperative launch,
//!   [`run_cooperative`], all blocks run at the same time.
//!
//! # What happens to a kernel that misbehaves
//!
//! - **A block with a defect** is cut off: each of its threads unwinds from the instruction at which it waits.
//!   In destructors that run meanwhile, instructions do not wait and return made-up results. A thread that
//!   catches its unwinding is unwound again at its next instruction; one that keeps doing so is abandoned. So
//!   is one that waits under a function that cannot unwind, such as an `extern "C" fn`, where the exception
//!   tables can be read (Linux on x86-64 and aarch64). A destructor that panics meanwhile ends the process,
//!   with a message that has the finding for which the thread unwinds. With `panic = "abort"` nothing is
//!   unwound, and all threads of the block are abandoned, each with its stack.
//! - **An abandoned thread** may have lent a part of its data to a host thread that it has started. So its
//!   stack, the [`Body`] and the parameters of the launch are never freed.
//! - **A stack overflow** is [`DefectKind::StackOverflow`], and the process goes on. rustc makes large frames
//!   touch each of their pages, so that none jumps over the guard page. The thread is abandoned: its destructors
//!   do not run, its stack is never freed, and locks that it holds stay locked. Some overflows end the process
//!   with a message instead: one within the C library, whose locks would stay locked too; and, within seconds,
//!   one that leaves the lock of a standard stream locked (in a `Display` under a `println!`), that of the panic
//!   hook (in a `Display` under a `panic!`), or that of a custom allocator. Linux on x86-64 and aarch64 has all of this. Elsewhere the simulator finds only an
//!   instruction that is called near the end of the stack, and other overflows end the process.
//! - **A block over its time limit** is [`DefectKind::TimeLimit`]: it is cut off at the next instruction other
//!   than an unchecked access. On the same systems, a signal (`SIGURG`) interrupts a loop without such an
//!   instruction. It stops the looping function in its own code, not in a function that it calls, and the
//!   thread is abandoned. Only the loop's own work is left half done. A lock that it holds stays locked, which
//!   ends the process as above if it is a standard stream's. A thread cannot be stopped if it waits for the
//!   host, such as for a lock that another one holds over a barrier, or if it loops while it unwinds or in a
//!   foreign library. Then the process aborts after two more seconds, with a message that names the kernel, the
//!   block, the thread and what it waits for. With a [`Options::time_limit`] of `None` it goes on.
//! - **After a fork** the child may launch kernels: it starts new host threads. A launch that is under way in
//!   the parent does not continue in the child.
//!
//! # Layers
//!
//! Each folder uses only those above it in this table.
//!
//! | folder | content |
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
//! | `current` | the simulated thread that runs on this host thread |
//! | `instructions` | the functions that kernels call |
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
    SourceLine, SourceLines, SourceLocation, Space, Suppression, ViewName,
};
pub use count::{
    Arithmetic, AsynchronousTally, Counts, GlobalTally, LINE_BYTES, LineCounts, Operation,
    SECTOR_BYTES, SharedTally, Tally,
};
pub use current::{execute_at, is_simulated_thread};
pub use device::{
    AddressMode, Datasheet, Profile, Texels, Texture, TextureFilter, TextureOptions,
    UnknownProfile, occupancy,
};
pub use host::MAX_WORKERS;
pub use instructions::{
    LoopRounds, access, access_at, active_lanes, async_commit, async_copy, async_wait,
    atomic_access, atomic_update_u8, atomic_update_u16, atomic_update_u32, atomic_update_u64,
    block_barrier, block_barrier_arrive, block_barrier_reduce, block_idx_in_cluster, bulk_commit,
    bulk_load, bulk_store, bulk_wait, bulk_wait_read, check_aligned, cluster_barrier,
    cluster_barrier_arrive, cluster_barrier_arrive_relaxed, cluster_barrier_wait, cluster_blocks,
    cluster_dim, cluster_rank, converged_lanes, count_arithmetic, count_prefetch,
    dependent_launch_wait, describe_view, dynamic_shared, fail, fence, fence_acq_rel,
    fence_acquire, fence_mbarrier_init, fence_proxy_async, fence_release, grid_barrier,
    loop_rounds, map_shared, mbarrier_arrive, mbarrier_arrive_counted, mbarrier_arrive_expect,
    mbarrier_arrive_relaxed, mbarrier_expect, mbarrier_init, mbarrier_invalidate, mbarrier_parity,
    mbarrier_test, mbarrier_wait, position, print, profile, refuse_host_call, set_max_registers,
    shared_offset, shared_owner, static_memory, static_shared, tensor_load, tensor_store,
    uninterrupted, warp_barrier, warp_collective, warp_exchange, wgmma, wgmma_begin, wgmma_collect,
    wgmma_commit, wgmma_fence, wgmma_of_registers, wgmma_wait, write_at, yield_now,
};
pub use launch::{Body, Launch, MAX_THREADS_PER_BLOCK, Options, Output, Preemption, Report};
pub use memory::{
    Contents, OutOfMemory, StaticMemory, allocation_name, first_unwritten, forget_allocation,
    is_allocated, load_relaxed, mark_copied, mark_freed, mark_written, name_allocation,
    register_allocation, store_relaxed,
};
pub use runner::{MAX_RESIDENT_THREADS, run, run_cooperative, under_seeds};
pub use state::{
    BarrierId, ElementType, LaneValues, MAX_SHARED_BYTES, MAX_STATIC_SHARED_BYTES, Major, Operand,
    Swizzle, TensorMap, TensorMapFields, Wgmma,
};
