//! The simulated thread that is running on this host thread.

use crate::Dim3;
use crate::block::{Block, Thread, Wait};
use crate::defect::{DefectKind, Finding};
use crate::shared::MAX_SHARED_BYTES;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// Where a simulated thread stands in its launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Position {
    /// The thread's index in its block.
    pub thread_idx: Dim3,
    /// The block's index in the grid.
    pub block_idx: Dim3,
    /// The extent of a block, in threads.
    pub block_dim: Dim3,
    /// The extent of the grid, in blocks.
    pub grid_dim: Dim3,
    /// The thread's index in its warp.
    pub lane: u32,
    /// The warp's index in its block.
    pub warp: u32,
    /// How many lanes a full warp has.
    pub warp_width: u32,
}

/// Both pointers are null outside of a simulated thread.
pub(crate) struct Current {
    thread: Cell<*const Thread>,
    block: Cell<*const Block>,
    /// Where the block's shared memory starts; read at each access of shared memory.
    shared: Cell<usize>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            thread: Cell::new(ptr::null()),
            block: Cell::new(ptr::null()),
            shared: Cell::new(0),
        }
    };
}

/// While it lives, `thread` of `block` is the current thread of this host
/// thread; afterwards, whatever was current before.
pub(crate) struct Entered {
    thread: *const Thread,
    block: *const Block,
    shared: usize,
}

impl Entered {
    pub fn new(block: &Block, thread: &Thread) -> Self {
        CURRENT.with(|current| Self {
            thread: current.thread.replace(thread),
            block: current.block.replace(block),
            shared: current.shared.replace(block.shared.start()),
        })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.thread.set(self.thread);
            current.block.set(self.block);
            current.shared.set(self.shared);
        });
    }
}

/// Calls `action` with the running thread and its block, or returns none
/// outside of a launch.
#[inline]
pub(crate) fn try_with_current<R>(action: impl FnOnce(&Thread, &Block) -> R) -> Option<R> {
    let (thread, block) = CURRENT.with(|current| (current.thread.get(), current.block.get()));
    if thread.is_null() {
        return None;
    }
    // SAFETY:
    // 1. The pointers are not null: both are set and cleared together.
    // 2. `Entered` holds them only while the scheduler, which borrows block and
    //    thread, resumes or unwinds that thread's coroutine, and this code runs
    //    on that coroutine, or in a signal handler that interrupts it.
    // 3. Only shared references to block and thread exist meanwhile.
    Some(unsafe { action(&*thread, &*block) })
}

/// Like [`try_with_current`], for instructions that exist only in a launch.
#[inline]
#[track_caller]
pub(crate) fn with_current<R>(action: impl FnOnce(&Thread, &Block) -> R) -> R {
    match try_with_current(action) {
        Some(result) => result,
        None => outside_of_launch(),
    }
}

#[cold]
#[track_caller]
fn outside_of_launch() -> ! {
    panic!("kernel functions run only inside a simulated launch: call them through `simt::run`")
}

/// Calls `action`, an instruction at line `site`, as the running thread; see [`Block::enter`].
/// Returns none outside of a launch.
#[inline]
pub(crate) fn try_instruction<R>(
    site: Option<&'static Location<'static>>,
    action: impl FnOnce(&Thread, &Block) -> R,
) -> Option<R> {
    try_with_current(|thread, block| {
        let _inside = block.enter(thread, site);
        action(thread, block)
    })
}

/// Like [`try_instruction`], for instructions that exist only in a launch.
#[inline]
#[track_caller]
pub(crate) fn instruction<R>(
    site: &'static Location<'static>,
    action: impl FnOnce(&Thread, &Block) -> R,
) -> R {
    match try_instruction(Some(site), action) {
        Some(result) => result,
        None => outside_of_launch(),
    }
}

/// Whether `bytes` bytes at `address` are shared memory of the running block.
#[inline]
pub(crate) fn is_shared(address: usize, bytes: usize) -> bool {
    let start = CURRENT.with(|current| current.shared.get());
    // Outside of a launch, it is the memory from 0 on, where nothing is.
    address.wrapping_sub(start) <= MAX_SHARED_BYTES.saturating_sub(bytes)
}

/// Whether the caller runs as a thread of a simulated launch.
#[inline]
pub fn is_simulated_thread() -> bool {
    CURRENT.with(|current| !current.thread.get().is_null())
}

/// Calls `action`, in which the running thread, if there is one, has enough stack and is not
/// interrupted: for code that may run in a kernel and takes a lock which must not stay locked, such
/// as that of a destructor.
pub fn uninterrupted<R>(action: impl FnOnce() -> R) -> R {
    let mut action = Some(action);
    let mut call = || action.take().map(|action| action());
    let result = match try_instruction(None, |_, _| call()) {
        Some(result) => result,
        None => call(),
    };
    match result {
        Some(result) => result,
        None => unreachable!("the action is called once"),
    }
}

/// Where the running thread stands in its launch.
///
/// # Panics
///
/// Outside of a launch.
#[inline]
#[track_caller]
pub fn position() -> Position {
    with_current(|thread, _| thread.position)
}

/// Lets other warps of the block run: for loops that wait for another thread.
///
/// A block whose threads do nothing but yield, [`Options::yield_limit`] times
/// in a row, is reported as a deadlock.
///
/// [`Options::yield_limit`]: crate::Options::yield_limit
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn yield_now() {
    let site = Location::caller();
    instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return;
        }
        if !block.may_yield_again() {
            let message = format!(
                "the threads of the block have only yielded, {} times in a row",
                block.yield_limit()
            );
            block.fail_among_others(thread, DefectKind::Deadlock, message, site);
        }
        let warp = block.warp_of(thread);
        warp.yielded.set(warp.yielded.get() | thread.lane_bit());
        thread.wait_for(Wait::Yield, site);
    });
}

/// Ends the launch with this defect, at the caller's line.
///
/// # Panics
///
/// Outside of a launch, with the message.
#[cold]
#[track_caller]
pub fn fail(kind: DefectKind, message: String) -> ! {
    let site = Location::caller();
    if !is_simulated_thread() {
        panic!("{kind}: {message}");
    }
    instruction(site, |thread, block| {
        block.fail(thread, kind, message, site)
    })
}

/// Ends the launch if a simulated thread calls it: `operation` is for the host alone, where it may
/// wait for the launch that the thread belongs to.
#[inline]
pub fn refuse_host_call(operation: &str) {
    if is_simulated_thread() {
        host_call(operation);
    }
}

#[cold]
fn host_call(operation: &str) {
    try_instruction(None, |thread, block| {
        block.fail_with(
            thread,
            Finding {
                kind: DefectKind::HostCall,
                message: format!(
                    "a thread of the kernel calls `{operation}`: do it before or after the launch"
                ),
                location: None,
                thread: Some(thread.position.thread_idx),
                related: Vec::new(),
            },
        )
    });
}

impl Block {
    /// Ends the block with a finding of `thread`, which is the running one.
    #[cold]
    pub fn fail(
        &self,
        thread: &Thread,
        kind: DefectKind,
        message: String,
        site: &'static Location<'static>,
    ) -> ! {
        self.fail_with(
            thread,
            Finding {
                kind,
                message,
                location: Some(site.into()),
                thread: Some(thread.position.thread_idx),
                related: Vec::new(),
            },
        )
    }

    /// Like [`Block::fail`], with what the other threads are doing.
    #[cold]
    pub fn fail_among_others(
        &self,
        thread: &Thread,
        kind: DefectKind,
        message: String,
        site: &'static Location<'static>,
    ) -> ! {
        self.fail_with(
            thread,
            Finding {
                kind,
                message,
                location: Some(site.into()),
                thread: Some(thread.position.thread_idx),
                related: self.describe_others(thread),
            },
        )
    }

    /// Ends the block with `finding`; `thread` is the running one.
    #[cold]
    pub fn fail_with(&self, thread: &Thread, finding: Finding) -> ! {
        self.record(finding);
        thread.confinement.cut_off();
    }
}
