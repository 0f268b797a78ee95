//! The stacks of coroutines.

use crate::state::RESERVE_BYTES;
use corosensei::stack::DefaultStack;
use std::io;

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

    /// The stack that each thread may use.
    pub fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Gives back to the system what is idle beyond `stacks`.
    pub fn keep_idle(&mut self, stacks: usize) {
        self.idle.truncate(stacks);
    }

    /// An idle stack, or a new one.
    pub fn take(&mut self) -> io::Result<DefaultStack> {
        match self.idle.pop() {
            Some(stack) => Ok(stack),
            None => DefaultStack::new(self.stack_bytes + RESERVE_BYTES),
        }
    }

    /// Makes a stack idle.
    pub fn give_back(&mut self, stack: DefaultStack) {
        self.idle.push(stack);
    }
}
