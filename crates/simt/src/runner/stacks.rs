//! The stacks of coroutines.

use crate::state::RESERVE_BYTES;
#[cfg(windows)]
use corosensei::stack::StackTebFields;
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use std::io;

/// The offset between the bases of successive stacks within their pages: a cache line.
const STAGGER_BYTES: usize = 64;

/// The number of stacks after which the offsets of the bases repeat. Beyond 512 bytes, the frames
/// of a waiting thread reach into a second page, which costs more than the stagger gains.
const STAGGERED: usize = 8;

/// A stack whose base is staggered from the end of its page.
///
/// Stacks are pages of their own. With bases at the same place in each, the frames of all threads of a block would
/// compete for the same few sets of the caches. A barrier of 1024 threads took 30.3 million cycles without the
/// stagger and 28.8 with it (best of nine on a busy AMD EPYC; the medians are 3 % apart). The skipped bytes come from
/// the reserve of 64 KiB.
pub(crate) struct StaggeredStack {
    stack: DefaultStack,
    base: StackPointer,
}

impl StaggeredStack {
    /// Stack number `number`, of `bytes` bytes less the stagger.
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

// SAFETY: the range from `limit` to `base` is the lower part of a `DefaultStack`, with its guard page. The base is
// aligned because the whole stack's base is and the offset is a multiple of 64.
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

/// Each launch frees one in `SHRINKS` of the surplus idle stacks, because kernels that need many may alternate with
/// kernels that need few.
const SHRINKS: usize = 8;

/// Idle stacks. The last one returned is taken first, because it is still in the cache.
#[derive(Default)]
pub(crate) struct StackPool {
    stack_bytes: usize,
    idle: Vec<StaggeredStack>,
    /// The number of stacks made so far.
    created: usize,
    /// The fewest idle stacks since the pool was last shrunk.
    fewest_idle: usize,
}

impl StackPool {
    /// Sets the size of the pool's stacks.
    pub fn set_stack_bytes(&mut self, bytes: usize) {
        if self.stack_bytes != bytes {
            *self = Self {
                stack_bytes: bytes,
                ..Self::default()
            };
        }
    }

    /// The bytes of stack that each thread may use.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Frees a part of the stacks that the ended launch has not needed, and keeps at least `least`.
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
