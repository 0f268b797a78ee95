//! The static arrays that a running block has used.

use crate::memory::StaticMemory;
use std::cell::RefCell;
use std::sync::Arc;

/// The static arrays of the launch that a running block has used.
#[derive(Default)]
pub(crate) struct ResolvedStatics {
    memory: Arc<StaticMemory>,
    /// The address and the length that identify an array, and the start of its copy. A list will do, because kernels
    /// use few arrays.
    found: RefCell<Vec<((usize, usize), *mut u8)>>,
}

impl ResolvedStatics {
    /// Uses the arrays in `memory` from now on.
    pub fn look_into(&mut self, memory: &Arc<StaticMemory>) {
        if !Arc::ptr_eq(&self.memory, memory) {
            self.memory = Arc::clone(memory);
            self.found.get_mut().clear();
        }
    }

    /// The start of the array that `initial` identifies.
    pub fn start_of(&self, initial: &[u8]) -> *mut u8 {
        let key = (initial.as_ptr().addr(), initial.len());
        let mut found = self.found.borrow_mut();
        if let Some((_, start)) = found.iter().find(|(found, _)| *found == key) {
            return *start;
        }
        let start = self.memory.start_of(initial);
        found.push((key, start));
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_array_at_the_same_address_is_another_one() {
        static BYTES: [u8; 4096] = [7; 4096];
        let statics = ResolvedStatics::default();
        let part = statics.start_of(&BYTES[..4]);
        let whole = statics.start_of(&BYTES);
        assert_ne!(part, whole);
        assert_eq!(whole, statics.memory.start_of(&BYTES));
        assert_eq!(part, statics.start_of(&BYTES[..4]));
    }
}
