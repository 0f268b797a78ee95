//! Stops a simulated thread: by unwinding its stack if possible, otherwise by abandoning it.
//!
//! An abandoned thread never runs again, and its stack is never unmapped. To its frames, the suspension is a call
//! that never returns: what they own is leaked, and what they borrow is not used again. Threads are abandoned after a
//! stack overflow, if they keep catching their unwinding, or if they wait under a function that cannot unwind, such
//! as an `extern "C" fn`.

use super::unwinding::would_be_caught;
use crate::basics::CallStack;
use corosensei::Yielder;
use corosensei::trap::CoroutineTrapHandler;
use std::cell::Cell;
use std::ops::Range;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// Stack beyond [`Options::stack_bytes`](crate::Options::stack_bytes) for the simulator's own
/// calls: a thread that calls an instruction with less than this left is stopped at once, before a
/// lock is taken or a borrow is made. Formatting a finding, unwinding and the lazy binding of
/// symbols take less than half of it.
pub(crate) const RESERVE_BYTES: usize = 64 * 1024;

/// A thread that catches its unwinding more often than this is abandoned.
const MOST_UNWINDINGS: u32 = 64;

/// The size of a host's cache line.
const LINE_BYTES: usize = 64;

/// The number of cache lines of its stack that a thread usually touches when it continues.
const WARM_LINES: usize = 10;

/// The reason why a thread that has not returned will not run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Left {
    /// Its stack was full.
    StackOverflow,
    /// It was interrupted because its block's time was up.
    TimeLimit,
    /// It could not be unwound.
    Stuck,
}

impl Left {
    /// Describes the thread's activity.
    pub fn describe(self) -> &'static str {
        match self {
            Self::StackOverflow => "has overflowed its stack",
            Self::TimeLimit => "was over its time limit",
            Self::Stuck => "could not be unwound",
        }
    }
}

/// The panic payload that unwinds a thread which is cut off.
struct CutOff;

/// The confinement of a simulated thread's coroutine.
pub(crate) struct Confinement {
    /// The running coroutine's return to the scheduler.
    yielder: Cell<*const Yielder<(), ()>>,
    /// A stack address near the frame in which the coroutine waits; 0 before its first wait.
    waits_at: Cell<usize>,
    /// The highest address of the stack, where its frames start.
    base: Cell<usize>,
    /// The lowest stack address at which an instruction may be called.
    soft_limit: Cell<usize>,
    /// The lowest address of the stack's guard page.
    guard: Cell<usize>,
    trap_handler: Cell<Option<CoroutineTrapHandler<()>>>,
    /// Whether the simulator's own code runs on the thread's stack. A signal handler reads it.
    inside: AtomicBool,
    /// Whether the thread is to unwind when it is resumed.
    is_cut_off: Cell<bool>,
    /// Whether it is to keep its call stack then.
    keeps_calls: Cell<bool>,
    calls: Cell<Option<Box<CallStack>>>,
    unwindings: Cell<u32>,
    left: Cell<Option<Left>>,
}

impl Confinement {
    pub fn new() -> Self {
        Self {
            yielder: Cell::new(ptr::null()),
            waits_at: Cell::new(0),
            base: Cell::new(0),
            soft_limit: Cell::new(0),
            guard: Cell::new(0),
            trap_handler: Cell::new(None),
            inside: AtomicBool::new(true),
            is_cut_off: Cell::new(false),
            keeps_calls: Cell::new(false),
            calls: Cell::default(),
            unwindings: Cell::new(0),
            left: Cell::new(None),
        }
    }

    /// Begins with a fresh stack, from the guard page at `guard` to `base`.
    pub fn begin(&self, guard: usize, base: usize, stack_bytes: usize) {
        self.guard.set(guard);
        self.base.set(base);
        self.soft_limit.set(base - stack_bytes);
        self.inside.store(true, Ordering::Relaxed);
        self.is_cut_off.set(false);
        self.keeps_calls.set(false);
        self.unwindings.set(0);
        self.left.set(None);
    }

    pub fn set_trap_handler(&self, handler: CoroutineTrapHandler<()>) {
        self.trap_handler.set(Some(handler));
    }

    pub fn set_yielder(&self, yielder: &Yielder<(), ()>) {
        self.yielder.set(yielder);
    }

    /// Notes, in a signal handler, why the thread will not run again, and the lowest address of its frames.
    pub fn note_left(&self, why: Left, stack: usize) {
        self.inside.store(true, Ordering::Relaxed);
        self.waits_at.set(stack);
        self.left.set(Some(why));
    }

    /// The addresses of the frames of the thread, which waits or was abandoned.
    pub fn frames(&self) -> Range<usize> {
        self.waits_at.get()..self.base.get()
    }

    /// Why the thread will not run again; none if it may.
    pub fn left(&self) -> Option<Left> {
        self.left.get()
    }

    /// Makes the thread keep its call stack when it is cut off.
    pub fn ask_for_calls(&self) {
        self.keeps_calls.set(true);
    }

    /// The thread's call stack at the time it was cut off, if it was told to keep it.
    pub fn take_calls(&self) -> Option<Box<CallStack>> {
        self.keeps_calls.set(false);
        self.calls.take()
    }

    /// Makes the thread unwind when it is resumed.
    pub fn cut_off_when_resumed(&self) {
        self.is_cut_off.set(true);
    }

    /// Calls `action`, which is kernel code.
    pub fn outside<R>(&self, action: impl FnOnce() -> R) -> R {
        let _back = Inside {
            confinement: self,
            before: self.inside.load(Ordering::Relaxed),
        };
        compiler_fence(Ordering::SeqCst);
        self.inside.store(false, Ordering::Relaxed);
        action()
    }

    /// Begins the simulator's own code, until the returned value is dropped.
    #[inline]
    pub fn inside(&self) -> Inside<'_> {
        let inside = Inside {
            confinement: self,
            before: self.inside.load(Ordering::Relaxed),
        };
        self.inside.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        inside
    }

    /// The number of bytes by which the caller's frame reaches into the reserve; none if the stack
    /// has room for an instruction.
    #[inline(always)]
    pub fn excess(&self) -> Option<usize> {
        let here = stack_address();
        let limit = self.soft_limit.get();
        (here < limit).then(|| limit - here)
    }

    /// Returns to the scheduler.
    #[inline]
    pub fn suspend(&self) {
        self.waits_at.set(stack_address());
        // SAFETY: the yielder was set when this thread's coroutine started and
        // lives as long as the coroutine; the caller runs on that coroutine.
        unsafe { (*self.yielder.get()).suspend(()) };
        if self.is_cut_off.get() {
            if self.keeps_calls.replace(false) {
                self.calls.set(Some(Box::new(CallStack::capture())));
            }
            self.cut_off();
        }
    }

    /// Prefetches the stack of a waiting thread, which will run soon.
    #[inline]
    pub fn prepare(&self) {
        let waits_at = self.waits_at.get();
        for line in 0..WARM_LINES {
            prefetch(
                waits_at
                    .wrapping_add(line * LINE_BYTES)
                    .wrapping_sub(LINE_BYTES),
            );
        }
        prefetch(self.yielder.get().addr());
    }

    /// Unwinds the running thread, whose block is abandoned.
    #[cold]
    pub fn cut_off(&self) -> ! {
        let unwindings = self.unwindings.get() + 1;
        self.unwindings.set(unwindings);
        // A second panic would end the process; so would a panic under a function that cannot unwind.
        let may_unwind = cfg!(panic = "unwind")
            && !std::thread::panicking()
            && unwindings <= MOST_UNWINDINGS
            && would_be_caught();
        if may_unwind {
            resume_unwind(Box::new(CutOff));
        }
        self.leave(Left::Stuck)
    }

    /// Abandons the running thread.
    #[cold]
    pub fn leave(&self, why: Left) -> ! {
        self.note_left(why, stack_address());
        loop {
            // SAFETY: the yielder lives as long as the coroutine, on which the caller runs, as in
            // `suspend`. The scheduler never resumes an abandoned thread.
            unsafe { (*self.yielder.get()).suspend(()) };
        }
    }
}

/// Data that the signal handlers read.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
impl Confinement {
    /// The lowest address of the guard page.
    pub fn guard(&self) -> usize {
        self.guard.get()
    }

    pub fn trap_handler(&self) -> Option<CoroutineTrapHandler<()>> {
        self.trap_handler.get()
    }

    /// Whether the thread can be stopped where it is: it runs kernel code, not the simulator's, or
    /// is about to be abandoned anyway.
    pub fn can_be_stopped(&self) -> bool {
        !self.inside.load(Ordering::Relaxed) || self.left.get().is_some()
    }
}

/// While it lives, the running thread is in the simulator's own code.
pub(crate) struct Inside<'a> {
    confinement: &'a Confinement,
    before: bool,
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        // Locks and borrows must end before a signal handler sees the flag.
        compiler_fence(Ordering::SeqCst);
        self.confinement
            .inside
            .store(self.before, Ordering::Relaxed);
    }
}

/// Prefetches the cache line at `address`, which may be any address.
#[inline(always)]
fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no visible effect, and does not fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::without_provenance(address)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// An address in the caller's stack frame.
#[inline(always)]
fn stack_address() -> usize {
    let local = 0_u8;
    (&raw const local).addr()
}
