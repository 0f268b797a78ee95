//! Memory that threads of a launch access: parameters, and variables of a module.

use simt::{Contents, OutOfMemory};
use std::sync::atomic::{AtomicU64, Ordering};

const WORD_BYTES: usize = size_of::<u64>();
const LINE_WORDS: usize = 32;

/// Aligned as much as a variable may ask for.
#[repr(align(256))]
#[derive(Debug)]
struct Line([AtomicU64; LINE_WORDS]);

/// Bytes that several threads access, by words.
#[derive(Debug)]
pub(super) struct Storage {
    lines: Box<[Line]>,
    bytes: usize,
    is_registered: bool,
}

impl Storage {
    pub fn new(initial: &[u8]) -> Self {
        let count = initial.len().div_ceil(size_of::<Line>());
        let line = |_| Line(std::array::from_fn(|_| AtomicU64::new(0)));
        let storage = Self {
            lines: (0..count).map(line).collect(),
            bytes: initial.len(),
            is_registered: false,
        };
        let words = storage.lines.iter().flat_map(|line| &line.0);
        for (word, bytes) in words.zip(initial.chunks(WORD_BYTES)) {
            let mut padded = [0; WORD_BYTES];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
        storage
    }

    /// As [`new`](Self::new), as global memory of the simulator.
    pub fn global(name: &str, initial: &[u8]) -> Result<Self, OutOfMemory> {
        let mut storage = Self::new(initial);
        if storage.bytes > 0 {
            let address = storage.address();
            // SAFETY:
            // 1. The lines live until `drop`, which forgets the allocation first; a launch that accesses them holds them.
            // 2. They are accessed by atomic words alone.
            unsafe { simt::register_allocation(address, storage.bytes, Contents::Initialised)? };
            simt::name_allocation(address, name);
            storage.is_registered = true;
        }
        Ok(storage)
    }

    /// Stores a word at byte `place`, a multiple of eight.
    pub fn set(&self, place: usize, value: u64) {
        let word = place / WORD_BYTES;
        self.lines[word / LINE_WORDS].0[word % LINE_WORDS].store(value, Ordering::Relaxed);
    }

    /// The address of the first byte, a multiple of 256.
    pub fn address(&self) -> usize {
        self.lines.as_ptr().expose_provenance()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.is_registered {
            simt::forget_allocation(self.address(), self.bytes);
        }
    }
}
