//! Static arrays of kernel crates: constants and named global memory.
//!
//! A GPU has a copy of each array per loaded module and device. Here the static itself holds the
//! initial values and identifies the array; a [`StaticMemory`] holds the copies.

use super::registry::{forget_allocation, register_written};
use crate::basics::lock;
use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const WORD_BYTES: usize = size_of::<u64>();
const LINE_WORDS: usize = 32;

/// Copies are aligned to 256 bytes, like other allocations of the host library.
#[repr(align(256))]
struct Line([AtomicU64; LINE_WORDS]);

impl Line {
    fn zeroed() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// The values of one static array.
struct Copy {
    lines: Box<[Line]>,
    bytes: usize,
}

impl Copy {
    fn new(initial: &[u8]) -> Self {
        let lines = initial.len().div_ceil(size_of::<Line>());
        let copy = Self {
            lines: (0..lines).map(|_| Line::zeroed()).collect(),
            bytes: initial.len(),
        };
        copy.write(initial);
        register_written(copy.start().addr(), copy.bytes);
        copy
    }

    fn start(&self) -> *mut u8 {
        self.lines.as_ptr().cast_mut().cast()
    }

    fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        self.lines.iter().flat_map(|line| &line.0)
    }

    fn write(&self, source: &[u8]) {
        for (word, bytes) in self.words().zip(source.chunks(WORD_BYTES)) {
            let mut padded = [0; WORD_BYTES];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
    }

    fn read(&self, destination: &mut [u8]) {
        for (word, bytes) in self.words().zip(destination.chunks_mut(WORD_BYTES)) {
            let value = word.load(Ordering::Relaxed).to_ne_bytes();
            bytes.copy_from_slice(&value[..bytes.len()]);
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        forget_allocation(self.start().addr(), self.bytes);
    }
}

/// The static arrays of one module on one device, each allocated at its first use.
///
/// The initial values in a `static` identify an array, by their address and length. A part of a static is a separate
/// array.
#[derive(Default)]
pub struct StaticMemory {
    copies: Mutex<Copies>,
}

/// Copies by the address and the length of their initial values.
type Copies = HashMap<(usize, usize), Copy>;

impl StaticMemory {
    /// Overwrites the array with the initial values `initial`.
    ///
    /// # Panics
    ///
    /// If `source` has another length.
    pub fn write(&self, initial: &'static [u8], source: &[u8]) {
        assert_eq!(source.len(), initial.len(), "all of the array is written");
        copy_of(&mut lock(&self.copies), initial).write(source);
    }

    /// Copies the array with the initial values `initial`.
    ///
    /// # Panics
    ///
    /// If `destination` has another length.
    pub fn read(&self, initial: &'static [u8], destination: &mut [u8]) {
        assert_eq!(destination.len(), initial.len(), "all of the array is read");
        copy_of(&mut lock(&self.copies), initial).read(destination);
    }

    /// The start of the array that `initial` identifies, of the same length and aligned to 256 bytes. It is valid as
    /// long as this memory lives.
    pub(crate) fn start_of(&self, initial: &[u8]) -> *mut u8 {
        copy_of(&mut lock(&self.copies), initial).start()
    }
}

fn copy_of<'a>(copies: &'a mut Copies, initial: &[u8]) -> &'a Copy {
    copies
        .entry((initial.as_ptr().addr(), initial.len()))
        .or_insert_with(|| Copy::new(initial))
}

/// Shows the number of arrays.
impl fmt::Debug for StaticMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StaticMemory")
            .field("arrays", &lock(&self.copies).len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::is_inside_one;

    static FIVE: [u8; 5] = [1, 2, 3, 4, 5];
    static MANY: [u8; 1000] = [7; 1000];

    #[test]
    fn each_memory_has_values_of_its_own() {
        let (one, other) = (StaticMemory::default(), StaticMemory::default());
        one.write(&FIVE, &[9; 5]);
        let mut read = [0; 5];
        one.read(&FIVE, &mut read);
        assert_eq!(read, [9; 5]);
        other.read(&FIVE, &mut read);
        assert_eq!(read, FIVE);
    }

    #[test]
    fn arrays_of_one_memory_are_apart_and_aligned() {
        let memory = StaticMemory::default();
        memory.write(&FIVE, &[0; 5]);
        let mut read = [0; 1000];
        memory.read(&MANY, &mut read);
        assert_eq!(read, MANY);
        assert_eq!(memory.start_of(&MANY), memory.start_of(&MANY));
        assert_ne!(memory.start_of(&MANY), memory.start_of(&FIVE));
        assert_eq!(memory.start_of(&MANY).addr() % 256, 0);
    }

    #[test]
    fn an_array_has_all_of_its_bytes_whichever_part_was_used_before() {
        let memory = StaticMemory::default();
        memory.write(&MANY[..5], &[0; 5]);
        let mut read = [0; 1000];
        memory.read(&MANY, &mut read);
        assert_eq!(read, MANY);
        assert_ne!(memory.start_of(&MANY[..5]), memory.start_of(&MANY));
        let (first, last) = (memory.start_of(&MANY).addr(), 999);
        assert!(is_inside_one(first, first + last, 1));
    }
}
