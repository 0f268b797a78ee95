//! The simulated thread that is running on this host thread.

use crate::block::{Block, Thread};
use crate::check::BlockCheck;
use crate::state::MAX_SHARED_BYTES;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// All pointers are null outside of a simulated thread.
pub(crate) struct Current {
    thread: Cell<*const Thread>,
    block: Cell<*const Block>,
    /// The checks of the block, if nothing hinders its accesses; or null.
    checks: Cell<*const BlockCheck>,
    /// Where the block's shared memory starts; read at each access of shared memory.
    shared: Cell<usize>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            thread: Cell::new(ptr::null()),
            block: Cell::new(ptr::null()),
            checks: Cell::new(ptr::null()),
            shared: Cell::new(0),
        }
    };
}

/// While it lives, `thread` of `block` is the current thread of this host
/// thread; afterwards, whatever was current before.
pub(crate) struct Entered {
    thread: *const Thread,
    block: *const Block,
    checks: *const BlockCheck,
    shared: usize,
}

impl Entered {
    pub fn new(block: &Block, thread: &Thread) -> Self {
        if let Some(check) = &block.check {
            check.begin_turn();
        }
        CURRENT.with(|current| Self {
            thread: current.thread.replace(thread),
            block: current.block.replace(block),
            checks: current
                .checks
                .replace(block.unhindered_checks().map_or(ptr::null(), ptr::from_ref)),
            shared: current.shared.replace(block.shared.start()),
        })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.thread.set(self.thread);
            current.block.set(self.block);
            current.checks.set(self.checks);
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

/// The place of what is current on this host thread: it is found once, where several ask for it, because that is a call
/// of its own. No other host thread can have it.
#[derive(Clone, Copy)]
pub(crate) struct Here(*const Current);

impl Here {
    #[inline(always)]
    pub fn get() -> Self {
        Self(CURRENT.with(ptr::from_ref))
    }

    #[inline(always)]
    fn current(&self) -> &Current {
        // SAFETY: it is a variable of this host thread, because a pointer is not sent to another one. It needs no
        // destructor, and is there as long as the host thread runs.
        unsafe { &*self.0 }
    }

    /// Calls `action` with the running thread and the checks of its block, if nothing hinders the block's
    /// accesses; otherwise, and outside of a launch, returns none.
    #[inline(always)]
    pub fn try_with_checks<R>(self, action: impl FnOnce(&Thread, &BlockCheck) -> R) -> Option<R> {
        let (thread, checks) = (self.current().thread.get(), self.current().checks.get());
        if checks.is_null() {
            return None;
        }
        // SAFETY: as in `try_with_current`; the checks are part of the block, and where they are not null,
        // neither is the thread.
        Some(unsafe { action(&*thread, &*checks) })
    }

    /// Where `address` is in the shared memory of the running block, or at or beyond [`MAX_SHARED_BYTES`].
    #[inline(always)]
    pub fn shared_offset_of(self, address: usize) -> usize {
        // Outside of a launch, it is the memory from 0 on, where nothing is.
        address.wrapping_sub(self.current().shared.get())
    }
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
    let offset = Here::get().shared_offset_of(address);
    offset <= MAX_SHARED_BYTES.saturating_sub(bytes)
}

/// Whether they are shared memory of another block of the running block's cluster.
#[cold]
pub(crate) fn is_shared_in_cluster(address: usize, bytes: usize) -> bool {
    let is_there = |_: &Thread, block: &Block| {
        let owner = block.owner_of(address);
        owner.is_some_and(|(_, offset)| offset <= MAX_SHARED_BYTES.saturating_sub(bytes))
    };
    try_with_current(is_there).unwrap_or(false)
}

/// Whether the caller runs as a thread of a simulated launch.
#[inline]
pub fn is_simulated_thread() -> bool {
    CURRENT.with(|current| !current.thread.get().is_null())
}
