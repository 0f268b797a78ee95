//! Memory that threads of a launch access: parameters, and variables of a module.

use crate::decode::MOST_ALIGNMENT;
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;
use simt::{Contents, OutOfMemory};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

const WORD_BYTES: usize = size_of::<u64>();

/// Zeros, with the largest alignment of a variable.
///
/// Pages that are never touched cost nothing. An allocator would itself write the zeros for this alignment, so memory
/// is allocated with the alignment of a word, and the first words are skipped.
#[derive(Debug)]
struct Words<T> {
    words: Box<[T]>,
    left_out: usize,
}

impl<T: Zeroable> Words<T> {
    /// Words for `bytes` bytes.
    fn zeroed(bytes: usize) -> Result<Self, OutOfMemory> {
        const { assert!(size_of::<T>() == WORD_BYTES) };
        let most_left_out = match bytes {
            0 => 0,
            _ => MOST_ALIGNMENT / WORD_BYTES - 1,
        };
        let words = bytes.div_ceil(WORD_BYTES) + most_left_out;
        let words: Box<[T]> = try_zeroed_slice_box(words).map_err(|()| OutOfMemory)?;
        let address = words.as_ptr().addr();
        let distance = address.next_multiple_of(MOST_ALIGNMENT) - address;
        Ok(Self {
            words,
            left_out: (distance / WORD_BYTES).min(most_left_out),
        })
    }

    fn all(&self) -> &[T] {
        &self.words[self.left_out..]
    }
}

/// Local memory of a thread. Reads of what it has not written are not reported: compilers copy structures with padding.
#[derive(Debug)]
pub(super) struct Local(Words<Cell<u64>>);

impl Local {
    /// `bytes` bytes, all zero.
    pub fn new(bytes: usize) -> Result<Self, OutOfMemory> {
        Words::zeroed(bytes).map(Self)
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *const Cell<u64> {
        self.0.all().as_ptr()
    }
}

/// Bytes that several threads access, by words.
#[derive(Debug)]
pub(super) struct Storage {
    words: Words<AtomicU64>,
    bytes: usize,
    is_registered: bool,
}

impl Storage {
    /// `bytes` bytes that begin with `initial`; zeros follow.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has none left.
    pub fn new(bytes: usize, initial: &[u8]) -> Result<Self, OutOfMemory> {
        let storage = Self {
            words: Words::zeroed(bytes)?,
            bytes,
            is_registered: false,
        };
        for (word, bytes) in storage.words.all().iter().zip(initial.chunks(WORD_BYTES)) {
            let mut padded = [0; WORD_BYTES];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
        Ok(storage)
    }

    /// As [`new`](Self::new), as global memory of the simulator.
    pub fn global(name: &str, bytes: usize, initial: &[u8]) -> Result<Self, OutOfMemory> {
        let mut storage = Self::new(bytes, initial)?;
        if storage.bytes > 0 {
            let address = storage.address();
            // SAFETY:
            // 1. The words live until `drop`, which forgets the allocation first; a launch that accesses them holds them.
            // 2. They are accessed by atomic words alone.
            unsafe { simt::register_allocation(address, storage.bytes, Contents::Initialised)? };
            simt::name_allocation(address, name);
            storage.is_registered = true;
        }
        Ok(storage)
    }

    /// Stores a word at byte `place`, a multiple of eight.
    pub fn set(&self, place: usize, value: u64) {
        self.words.all()[place / WORD_BYTES].store(value, Ordering::Relaxed);
    }

    /// The address of the first byte, a multiple of 1024.
    pub fn address(&self) -> usize {
        self.words.all().as_ptr().expose_provenance()
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
