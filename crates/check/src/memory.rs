//! Buffers in the simulator's global memory.

use crate::error::CheckError;
use simt::Contents;
use std::sync::atomic::{AtomicU64, Ordering};

const WORD: usize = size_of::<AtomicU64>();

/// Words after each buffer that nothing may access.
const GUARD_WORDS: usize = 512;

/// The contents of words that were never written.
const POISON: u64 = 0xdead_beef_dead_beef;

/// Aligned as `cudaMalloc` aligns.
#[repr(align(256))]
struct Line([AtomicU64; 32]);

/// Bytes in global memory, which are accessed by words.
pub struct Memory {
    lines: Box<[Line]>,
    bytes: usize,
}

impl Memory {
    /// `bytes` bytes with these contents, or uninitialised ones.
    pub fn new(name: &str, bytes: usize, contents: Option<&[u8]>) -> Result<Self, CheckError> {
        let words = bytes.div_ceil(WORD) + GUARD_WORDS;
        let mut lines = Vec::new();
        let reserved = lines.try_reserve_exact(words.div_ceil(32));
        reserved.map_err(|_| CheckError::OutOfMemory)?;
        lines.resize_with(words.div_ceil(32), || {
            Line(std::array::from_fn(|_| AtomicU64::new(POISON)))
        });
        let memory = Self {
            lines: lines.into(),
            bytes,
        };
        let words = memory.lines.iter().flat_map(|line| &line.0);
        for (word, bytes) in words.zip(contents.unwrap_or_default().chunks(WORD)) {
            let mut padded = [0; WORD];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
        let contents = match contents {
            Some(_) => Contents::Initialised,
            None => Contents::Uninitialised,
        };
        // SAFETY:
        // 1. The lines live until `drop`, which forgets the allocation first.
        // 2. They are accessed by atomic words alone.
        let registered = unsafe { simt::register_allocation(memory.address(), bytes, contents) };
        registered.map_err(|_| CheckError::OutOfMemory)?;
        simt::name_allocation(memory.address(), name);
        Ok(memory)
    }

    /// The address of the first byte, a multiple of 256.
    pub fn address(&self) -> usize {
        self.lines.as_ptr().expose_provenance()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its contents now.
    pub fn contents(&self) -> Vec<u8> {
        let words = self.lines.iter().flat_map(|line| &line.0);
        let bytes = words.flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes());
        bytes.take(self.bytes).collect()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        simt::forget_allocation(self.address(), self.bytes);
    }
}
