//! Variables that the kernels of a module share.

use super::storage::Storage;
use crate::decode::Global;
use simt::OutOfMemory;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The variables of a module, in memory once the first kernel that uses them is made.
#[derive(Debug, Default)]
pub struct Variables {
    /// By key.
    them: Mutex<HashMap<String, Arc<Storage>>>,
}

impl Variables {
    /// The memory of each of these variables, with its initial values if it is new.
    pub(super) fn of(&self, globals: &[Global]) -> Result<Arc<[Arc<Storage>]>, OutOfMemory> {
        let mut them = self.them.lock().unwrap_or_else(PoisonError::into_inner);
        let mut are_new = Vec::new();
        for global in globals {
            if !them.contains_key(&global.key) {
                let storage = Storage::global(&global.name, global.bytes, &global.initial)?;
                them.insert(global.key.clone(), Arc::new(storage));
                are_new.push(global);
            }
        }
        for global in are_new {
            for it in &global.addresses {
                let start = them.get(&it.variable).map_or(0, |named| named.address());
                let address = (start as u64).wrapping_add_signed(it.offset);
                them[&global.key].set(it.place, address);
            }
        }
        let of_globals = globals.iter().map(|it| Arc::clone(&them[&it.key]));
        Ok(of_globals.collect())
    }

    /// The exposed address of a variable, and its size in bytes. The memory lives as long as this value, and is accessed
    /// by `simt` alone.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<(usize, usize)> {
        let them = self.them.lock().unwrap_or_else(PoisonError::into_inner);
        let storage = them.get(name)?;
        Some((storage.address(), storage.bytes()))
    }
}
