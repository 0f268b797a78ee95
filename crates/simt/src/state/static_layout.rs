//! The layout of a block's static arrays in shared memory, in the order of their first use.
//!
//! The blocks of a cluster share one layout, so that an address in one of them can be mapped to another.

use super::shared_error::SharedError;
use std::cell::{Cell, RefCell};

/// The offsets of the static arrays.
#[derive(Default)]
pub(crate) struct StaticLayout {
    /// Bytes in use, dynamic ones included.
    used: Cell<usize>,
    static_bytes: Cell<usize>,
    /// Key, bytes and offset of each array.
    places: RefCell<Vec<(usize, usize, usize)>>,
}

impl StaticLayout {
    /// Begins with `dynamic_bytes` bytes of dynamic memory and no arrays.
    pub fn begin(&self, dynamic_bytes: usize) {
        self.used.set(dynamic_bytes);
        self.static_bytes.set(0);
        self.places.borrow_mut().clear();
    }

    /// Bytes of the arrays.
    pub fn static_bytes(&self) -> usize {
        self.static_bytes.get()
    }

    /// The offset of the array of `key`, with `bytes` bytes aligned to `align`, in memory that has
    /// `dynamic_bytes` dynamic bytes and at most `limit` bytes, `most_static` of them static.
    pub fn place(
        &self,
        (key, bytes, align): (usize, usize, usize),
        dynamic_bytes: usize,
        (limit, most_static): (usize, usize),
    ) -> Result<usize, SharedError> {
        let mut places = self.places.borrow_mut();
        match places.iter().find(|place| place.0 == key) {
            Some((_, known, offset)) if *known == bytes => return Ok(*offset),
            Some((_, known_bytes, _)) => {
                return Err(SharedError::Changed {
                    known_bytes: *known_bytes,
                });
            }
            None => {}
        }
        let static_bytes = self.static_bytes.get().saturating_add(bytes);
        if static_bytes > most_static {
            return Err(SharedError::TooMuchStatic { static_bytes });
        }
        let offset = self.used.get().next_multiple_of(align);
        let end = offset + bytes;
        if end > limit {
            return Err(SharedError::TooMuch {
                dynamic_bytes,
                static_bytes,
                limit,
            });
        }
        places.push((key, bytes, offset));
        self.used.set(end);
        self.static_bytes.set(static_bytes);
        Ok(offset)
    }
}
