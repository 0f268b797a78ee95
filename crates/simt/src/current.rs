//! The simulated thread that runs on this host thread.

use crate::basics::{CallSite, SourceLine};
use crate::block::{Block, Thread};
use crate::check::{BlockCheck, Line, MAX_CELL_BYTES, NO_STEPS, RecentSteps};
use crate::state::MAX_SHARED_BYTES;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;

/// The running thread and its block. Outside of a launch all pointers are null, and between turns the pointer to the
/// thread is.
pub(crate) struct Current {
    thread: Cell<*const Thread>,
    block: Cell<*const Block>,
    /// The checks of the block, if nothing else observes its accesses; otherwise null.
    checks: Cell<*const BlockCheck>,
    /// The start of the block's shared memory; read at each access of shared memory.
    shared: Cell<usize>,
    /// The recent steps of the block's threads if it is checked, otherwise [`NO_STEPS`]; never
    /// null.
    steps: Cell<*const RecentSteps>,
    /// The line of the running thread's instructions, if another one than that of their call.
    line: Cell<Option<SourceLine>>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            thread: Cell::new(ptr::null()),
            block: Cell::new(ptr::null()),
            checks: Cell::new(ptr::null()),
            shared: Cell::new(0),
            steps: Cell::new(NO_STEPS.get()),
            line: Cell::new(None),
        }
    };
}

/// While it lives, threads of its block can be current on this host thread. Dropping it restores what was current
/// before.
pub(crate) struct Entered<'block> {
    entered: &'block Block,
    thread: *const Thread,
    block: *const Block,
    checks: *const BlockCheck,
    shared: usize,
    steps: *const RecentSteps,
}

impl<'block> Entered<'block> {
    pub fn new(block: &'block Block) -> Self {
        let checks = block.unhindered_checks();
        // A launch that counts observes each access.
        let steps = checks.filter(|_| block.recorder.is_none());
        let steps = steps.map_or(NO_STEPS.get(), BlockCheck::recent);
        CURRENT.with(|current| Self {
            entered: block,
            thread: current.thread.replace(ptr::null()),
            block: current.block.replace(block),
            checks: current
                .checks
                .replace(checks.map_or(ptr::null(), ptr::from_ref)),
            shared: current.shared.replace(block.shared.start()),
            steps: current.steps.replace(steps),
        })
    }

    /// The block.
    pub fn block(&self) -> &'block Block {
        self.entered
    }

    /// While the returned value lives, `thread` of the block is the current one.
    #[inline]
    pub fn thread<'a>(&'a self, thread: &'a Thread) -> EnteredThread<'a> {
        if let Some(check) = &self.entered.check {
            check.begin_turn();
        }
        CURRENT.with(|current| {
            current.thread.set(thread);
            current.line.set(thread.line.get());
        });
        EnteredThread(thread)
    }
}

/// While it lives, a thread is current. Dropping it leaves none.
pub(crate) struct EnteredThread<'a>(&'a Thread);

impl Drop for EnteredThread<'_> {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.thread.set(ptr::null());
            self.0.line.set(current.line.get());
        });
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.thread.set(self.thread);
            current.block.set(self.block);
            current.checks.set(self.checks);
            current.shared.set(self.shared);
            current.steps.set(self.steps);
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
    // 1. The pointers are not null: the thread's was checked, and it is set only while the block's is.
    // 2. `EnteredThread` holds the thread, and `Entered` the block, only while the scheduler, which borrows block and
    //    thread, resumes or unwinds that thread's coroutine, and this code runs
    //    on that coroutine, or in a signal handler that interrupts it.
    // 3. Only shared references to block and thread exist meanwhile.
    Some(unsafe { action(&*thread, &*block) })
}

/// The address of this host thread's [`Current`]. Finding it takes a call, so it is found once for several uses. It
/// never leaves the host thread.
#[derive(Clone, Copy)]
pub(crate) struct Here(*const Current);

impl Here {
    #[inline(always)]
    pub fn get() -> Self {
        Self(CURRENT.with(ptr::from_ref))
    }

    #[inline(always)]
    fn current(&self) -> &Current {
        // SAFETY: the pointer is to a variable of this host thread, because a pointer is not `Send`. The variable has
        // no destructor, so it lives as long as the host thread.
        unsafe { &*self.0 }
    }

    /// Calls `action` with the running thread and the checks of its block. Returns none outside of a launch, and if
    /// something else observes the block's accesses.
    #[inline(always)]
    pub fn try_with_checks<R>(self, action: impl FnOnce(&Thread, &BlockCheck) -> R) -> Option<R> {
        let (thread, checks) = (self.current().thread.get(), self.current().checks.get());
        if checks.is_null() || thread.is_null() {
            return None;
        }
        // SAFETY: as in `try_with_current`; the checks are part of the block.
        Some(unsafe { action(&*thread, &*checks) })
    }

    /// Records a load of shared memory at the line `site` if the running thread has recently made such a load there;
    /// returns whether it did.
    #[inline(always)]
    pub fn load_shared_again(self, address: usize, bytes: usize, site: CallSite) -> bool {
        // A `Line` has no place for widths other than a cell's.
        if !bytes.is_power_of_two() || bytes > MAX_CELL_BYTES {
            return false;
        }
        let (offset, shift) = (self.shared_offset_of(address), bytes.trailing_zeros());
        // The rotation makes an offset that is no multiple of the width a large number, too.
        let cell = offset.rotate_right(shift);
        if cell >= MAX_SHARED_BYTES >> shift {
            return false;
        }
        // SAFETY: the comparison above bounds `cell`, as `load_again` requires. The steps are those of no thread, or part
        // of the block, as in `try_with_current`.
        unsafe { (*self.current().steps.get()).load_again(Line::of(site, shift), cell) }
    }

    /// The offset of `address` in the running block's shared memory; at least [`MAX_SHARED_BYTES`] outside of it.
    #[inline(always)]
    pub fn shared_offset_of(self, address: usize) -> usize {
        // Outside of a launch, shared memory counts as starting at address 0, where there is no
        // memory.
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
    site: Option<CallSite>,
    action: impl FnOnce(&Thread, &Block) -> R,
) -> Option<R> {
    try_with_current(|thread, block| {
        let _inside = block.enter(thread, site);
        action(thread, block)
    })
}

/// Like [`try_instruction`], for instructions that exist only in a launch. The line is the caller's.
#[inline]
#[track_caller]
pub(crate) fn instruction<R>(action: impl FnOnce(&Thread, &Block, CallSite) -> R) -> R {
    let site = line_or(Location::caller());
    match try_instruction(Some(site), |thread, block| action(thread, block, site)) {
        Some(result) => result,
        None => outside_of_launch(),
    }
}

/// [`instruction`] that a thread skips while it unwinds.
#[inline]
#[track_caller]
pub(crate) fn live_instruction(action: impl FnOnce(&Thread, &Block, CallSite)) {
    instruction(|thread, block, site| {
        if !block.is_unwinding(thread) {
            action(thread, block, site);
        }
    });
}

/// Whether `bytes` bytes at `address` are shared memory of the running block.
#[inline]
pub(crate) fn is_shared(address: usize, bytes: usize) -> bool {
    is_within(Here::get().shared_offset_of(address), bytes)
}

/// Whether `bytes` bytes from `offset` on are in the shared memory of a block.
#[inline]
fn is_within(offset: usize, bytes: usize) -> bool {
    bytes <= MAX_SHARED_BYTES && offset <= MAX_SHARED_BYTES - bytes
}

/// Whether the bytes are shared memory of another block of the running block's cluster.
#[cold]
pub(crate) fn is_shared_in_cluster(address: usize, bytes: usize) -> bool {
    let is_there = |_: &Thread, block: &Block| {
        let owner = block.owner_of(address);
        owner.is_some_and(|(_, offset)| is_within(offset, bytes))
    };
    try_with_current(is_there).unwrap_or(false)
}

/// Makes `line` that of the running thread's instructions from here on, instead of that of their call.
///
/// For threads that interpret code of another language: they call it before each instruction. An [`access`] has its
/// line from [`access_at`].
///
/// [`access`]: crate::access
/// [`access_at`]: crate::access_at
#[inline]
pub fn execute_at(line: SourceLine) {
    CURRENT.with(|current| current.line.set(Some(line)));
}

/// The line of an instruction that is called at `caller`.
#[inline]
pub(crate) fn line_or(caller: CallSite) -> CallSite {
    match CURRENT.with(|current| current.line.get()) {
        Some(line) => line.0,
        None => caller,
    }
}

/// Whether the caller runs as a thread of a simulated launch.
#[inline]
pub fn is_simulated_thread() -> bool {
    CURRENT.with(|current| !current.thread.get().is_null())
}
