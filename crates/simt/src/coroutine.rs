//! The coroutine of one simulated thread, and the pool of stacks.

use crate::block::{Block, Thread};
use crate::current::Entered;
use crate::defect::{DefectKind, Finding};
use crate::panic_hook::payload_message;
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A stack whose first byte is moved down by some cache lines.
///
/// Mapped stacks start at multiples of the page size, so that the busy end of
/// each of a thousand stacks would fall into the same few sets of the cache.
struct StaggeredStack {
    stack: DefaultStack,
    base: StackPointer,
}

/// Distance between the starts of neighbouring stacks, modulo a page.
const STAGGER_BYTES: usize = 320;
/// The stagger stays within one page.
const STAGGER_SPAN_BYTES: usize = 4096;

impl StaggeredStack {
    fn new(bytes: usize, serial: usize) -> io::Result<Self> {
        let stack = DefaultStack::new(bytes + STAGGER_SPAN_BYTES)?;
        let stagger = serial * STAGGER_BYTES % STAGGER_SPAN_BYTES;
        let base = StackPointer::new(stack.base().get() - stagger)
            .expect("a mapped stack does not start at address 0");
        Ok(Self { stack, base })
    }
}

// SAFETY: `DefaultStack` has a guard page and at least `bytes +
// STAGGER_SPAN_BYTES` usable bytes. The base is moved down by less than the
// span, so that at least `bytes` are left, and by a multiple of 64, so that it
// stays aligned for a call.
unsafe impl Stack for StaggeredStack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// Stacks that no coroutine uses at the moment. The one that was given back
/// last is taken first: it is still in the cache.
#[derive(Default)]
pub(crate) struct StackPool {
    stack_bytes: usize,
    created: usize,
    idle: Vec<StaggeredStack>,
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

    fn take(&mut self) -> io::Result<StaggeredStack> {
        if let Some(stack) = self.idle.pop() {
            return Ok(stack);
        }
        let stack = StaggeredStack::new(self.stack_bytes, self.created)?;
        self.created += 1;
        Ok(stack)
    }

    fn give_back(&mut self, stack: StaggeredStack) {
        self.idle.push(stack);
    }
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
