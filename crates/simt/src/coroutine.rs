//! The coroutine of one simulated thread, and the pool of stacks.

use crate::block::{Block, Thread};
use crate::current::Entered;
use crate::defect::{DefectKind, Finding};
use crate::panic_hook::payload_message;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Stacks that no coroutine uses at the moment. The one that was given back
/// last is taken first: it is still in the cache.
#[derive(Default)]
pub(crate) struct StackPool {
    stack_bytes: usize,
    idle: Vec<DefaultStack>,
}

impl StackPool {
    /// Makes the pool hand out stacks of `bytes`.
    pub fn set_stack_bytes(&mut self, bytes: usize) {
        if self.stack_bytes != bytes {
            *self = Self {
                stack_bytes: bytes,
                ..Self::default()
            };
        }
    }

    /// Gives back to the system what is idle beyond `stacks`.
    pub fn keep_idle(&mut self, stacks: usize) {
        self.idle.truncate(stacks);
    }

    fn take(&mut self) -> io::Result<DefaultStack> {
        match self.idle.pop() {
            Some(stack) => Ok(stack),
            None => DefaultStack::new(self.stack_bytes),
        }
    }

    fn give_back(&mut self, stack: DefaultStack) {
        self.idle.push(stack);
    }
}

/// The coroutine of one simulated thread. The state it waits in is kept in its
/// [`Thread`], so nothing is passed when it is suspended or resumed.
pub(crate) struct ThreadCoroutine(Coroutine<(), (), (), DefaultStack>);

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
        body: &(dyn Fn() + Sync),
    ) -> io::Result<Self> {
        let stack = stacks.take()?;
        // SAFETY: what the closure borrows outlives the coroutine (1).
        let coroutine = unsafe {
            Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
                thread.set_yielder(yielder);
                run_body(block, thread, body);
            })
        };
        Ok(Self(coroutine))
    }

    /// Runs the thread until it waits (false) or has exited (true).
    pub fn resume(&mut self, block: &Block, thread: &Thread) -> bool {
        let _entered = Entered::new(block, thread);
        matches!(self.0.resume(()), CoroutineResult::Return(()))
    }

    /// Ends the thread wherever it is, dropping what lives on its stack.
    pub fn abandon(&mut self, block: &Block, thread: &Thread) {
        // Destructors may ask for their position.
        let _entered = Entered::new(block, thread);
        if cfg!(panic = "unwind") {
            self.0.force_unwind();
        } else {
            // SAFETY: without unwinding, no destructor of a thread that is cut
            // off can be expected to run, as in any abort. What its stack frames
            // borrow stays valid until after the launch.
            unsafe { self.0.force_reset() };
        }
    }

    /// Gives the stack of an ended thread back.
    pub fn recycle(self, stacks: &mut StackPool) {
        stacks.give_back(self.0.into_stack());
    }
}

/// Runs the kernel and keeps its panics inside the coroutine.
fn run_body(block: &Block, thread: &Thread, body: &(dyn Fn() + Sync)) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(body)) else {
        return;
    };
    // Of an abandoned block this is the unwinding itself, or a panic that the
    // hook has recorded.
    if !block.is_abandoned() {
        block.record(Finding {
            kind: DefectKind::Panic,
            message: payload_message(&*payload),
            location: None,
            thread: Some(thread.position.thread_idx),
            related: Vec::new(),
        });
    }
}
