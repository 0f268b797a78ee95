//! The stacks of coroutines.

use crate::state::RESERVE_BYTES;
#[cfg(windows)]
use corosensei::stack::StackTebFields;
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use std::io;

/// By how many bytes the bases of two successive stacks differ within their pages: a line of cache.
const STAGGER_BYTES: usize = 64;

/// Stacks after which the offsets of the bases repeat. With more than 512 bytes, the
/// frames of a thread that waits reach into a second page, which costs more than it brings.
const STAGGERED: usize = 8;

/// A stack whose base is not at the end of a page.
///
/// Stacks are pages of their own. With bases at the same place in each, the frames of all threads of
/// a block would compete for the same few sets of the caches. A barrier of 1024 threads took 30.3
/// million cycles without the stagger and 28.8 with it (best of nine on a busy AMD EPYC; the medians
/// are 3 % apart). What is left out is taken from the reserve, which is 64 KiB.
pub(crate) struct StaggeredStack {
    stack: DefaultStack,
    base: StackPointer,
}

impl StaggeredStack {
    /// Stack number `number`, of `bytes` bytes but for the staggering.
    fn new(bytes: usize, number: usize) -> io::Result<Self> {
        let stack = DefaultStack::new(bytes)?;
        let offset = number % STAGGERED * STAGGER_BYTES;
        let base = StackPointer::new(stack.base().get() - offset);
        Ok(Self {
            base: base.unwrap_or(stack.base()),
            stack,
        })
    }
}

// SAFETY: from `limit` to `base` it is a part of a `DefaultStack`, from its lower end on, guard page
// included. The base is aligned, as that of the whole is, because the offset is a multiple of 64.
unsafe impl Stack for StaggeredStack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.base
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// Each launch frees one in `SHRINKS` of the idle stacks beyond the need: kernels that need many and kernels that
/// need few may take turns.
const SHRINKS: usize = 8;

/// Stacks that no coroutine uses at the moment. The one that was given back
/// last is taken first: it is still in the cache.
#[derive(Default)]
pub(crate) struct StackPool {
    stack_bytes: usize,
    idle: Vec<StaggeredStack>,
    /// How many stacks there have been.
    created: usize,
    /// The fewest that were idle since the pool was last shrunk.
    fewest_idle: usize,
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

    /// The stack that each thread may use.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// A launch has ended: gives back to the system a part of the stacks that it has not needed, but
    /// for `least` ones.
    pub fn shrink(&mut self, least: usize) {
        let stacks = self.idle.len();
        let needed = stacks - self.fewest_idle.min(stacks);
        let kept = stacks - stacks / SHRINKS;
        self.idle.truncate(kept.max(needed).max(least));
        self.fewest_idle = self.idle.len();
    }

    /// An idle stack, or a new one.
    pub fn take(&mut self) -> io::Result<StaggeredStack> {
        if let Some(stack) = self.idle.pop() {
            self.fewest_idle = self.fewest_idle.min(self.idle.len());
            return Ok(stack);
        }
        self.created += 1;
        StaggeredStack::new(self.stack_bytes + RESERVE_BYTES, self.created)
    }

    /// Makes a stack idle.
    pub fn give_back(&mut self, stack: StaggeredStack) {
        self.idle.push(stack);
    }
}
