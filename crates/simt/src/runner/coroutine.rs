//! The coroutine of one simulated thread.

use super::stacks::{StackPool, StaggeredStack};
use crate::basics::{DefectKind, Finding};
use crate::block::{Block, Thread};
use crate::current::Entered;
use crate::host::{check_locks, payload_message};
use crate::launch::Body;
use crate::state::Left;
use corosensei::stack::Stack;
use corosensei::{Coroutine, CoroutineResult};
use std::hint::black_box;
use std::io;
use std::mem::{self, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The part of a stack that belongs to the coroutine's root. A thread that a signal stops leaves
/// through it, and so does not overwrite the kernel's frames, which other threads may borrow.
const ROOT_BYTES: usize = 2048;

/// The state in which a thread returns to the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resumed {
    /// It waits.
    Waits,
    /// It has returned from the kernel.
    Exited,
    /// It will not run again.
    Left(Left),
}

/// The coroutine of one simulated thread. The state it waits in is kept in its
/// [`Thread`], so nothing is passed when it is suspended or resumed.
pub(crate) struct ThreadCoroutine(Coroutine<(), (), (), StaggeredStack>);

impl ThreadCoroutine {
    /// A coroutine that will run `body` as `thread` of `block`.
    ///
    /// # Safety
    ///
    /// 1. `block`, `thread` and `body` outlive the coroutine and do not move.
    pub unsafe fn new(
        stacks: &mut StackPool,
        block: &Block,
        thread: &Thread,
        body: &Body,
    ) -> io::Result<Self> {
        let stack = stacks.take()?;
        let confinement = &thread.confinement;
        confinement.begin(
            stack.limit().get(),
            stack.base().get(),
            stacks.stack_bytes(),
        );
        // SAFETY: what the closure borrows outlives the coroutine and does not move: the caller's
        // contract.
        let coroutine = unsafe {
            Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
                let root = MaybeUninit::<[u8; ROOT_BYTES]>::uninit();
                black_box(&root);
                thread.confinement.set_yielder(yielder);
                run_body(block, thread, body);
                black_box(&root);
            })
        };
        confinement.set_trap_handler(coroutine.trap_handler());
        Ok(Self(coroutine))
    }

    /// Runs the thread until it waits, has exited, or is stopped.
    #[inline]
    pub fn resume(&mut self, entered: &Entered<'_>, thread: &Thread) -> Resumed {
        let _current = entered.thread(thread);
        let result = self.0.resume(());
        match (thread.confinement.left(), result) {
            (Some(why), _) => Resumed::Left(why),
            (None, CoroutineResult::Yield(())) => Resumed::Waits,
            (None, CoroutineResult::Return(())) => Resumed::Exited,
        }
    }

    /// Ends the thread wherever it waits, by unwinding its stack. A thread that cannot be unwound is abandoned,
    /// because a host thread that it has started may use its stack.
    #[cold]
    #[inline(never)]
    pub fn abandon(mut self, stacks: &mut StackPool, block: &Block, thread: &Thread, body: &Body) {
        thread.confinement.cut_off_when_resumed();
        let entered = Entered::new(block);
        // If a thread was abandoned while it unwound, the standard library takes all code on this host thread for
        // unwinding, so nothing can be unwound here any more.
        let can_unwind = cfg!(panic = "unwind") && !std::thread::panicking();
        if !can_unwind || self.resume(&entered, thread) != Resumed::Exited {
            check_locks(thread, block);
            return self.leave(body);
        }
        self.recycle(stacks);
    }

    /// Abandons the thread: the contents of its stack, and what its body owns, are never dropped or overwritten.
    pub fn leave(self, body: &Body) {
        body.keep_for_ever();
        mem::forget(self);
    }

    /// Returns the stack of an ended thread.
    pub fn recycle(self, stacks: &mut StackPool) {
        stacks.give_back(self.0.into_stack());
    }
}

/// Runs the kernel and keeps its panics inside the coroutine. Never inlined: the kernel's frames
/// are below the root's.
#[inline(never)]
fn run_body(block: &Block, thread: &Thread, body: &Body) {
    let outside = || thread.confinement.outside(|| body.call());
    let Err(payload) = catch_unwind(AssertUnwindSafe(outside)) else {
        return;
    };
    // In an abandoned block, this is the unwinding itself, or a panic that the hook has recorded.
    if !block.is_abandoned() {
        let message = payload_message(&*payload);
        block.record(Finding::of(&thread.position, DefectKind::Panic, message));
    }
    let drop_payload = || thread.confinement.outside(|| drop(payload));
    if let Err(second) = catch_unwind(AssertUnwindSafe(drop_payload)) {
        // The destructor of a panic's payload has panicked. The new payload's might, too.
        mem::forget(second);
    }
}
