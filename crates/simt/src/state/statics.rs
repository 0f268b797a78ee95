//! The static arrays that a running block has used.

use crate::memory::StaticMemory;
use std::cell::RefCell;
use std::sync::Arc;

/// Where a running block's launch has its static arrays, as far as the block has used them.
#[derive(Default)]
pub(crate) struct ResolvedStatics {
    memory: Arc<StaticMemory>,
    /// The address that stands for an array, and where its copy starts. Kernels use few of them.
    found: RefCell<Vec<(usize, *mut u8)>>,
}

impl ResolvedStatics {
    /// Looks into `memory` from now on.
    pub fn look_into(&mut self, memory: &Arc<StaticMemory>) {
        if !Arc::ptr_eq(&self.memory, memory) {
            self.memory = Arc::clone(memory);
            self.found.get_mut().clear();
        }
    }

    /// The start of the array that `initial` stands for.
    pub fn start_of(&self, initial: &[u8]) -> *mut u8 {
        let key = initial.as_ptr().addr();
        let mut found = self.found.borrow_mut();
        if let Some((_, start)) = found.iter().find(|(found, _)| *found == key) {
            return *start;
        }
        let start = self.memory.start_of(initial);
        found.push((key, start));
        start
    }
}
