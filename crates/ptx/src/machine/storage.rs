//! Memory that threads of a launch access: parameters, and variables of a module.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;
use simt::{Contents, OutOfMemory};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

const WORD_BYTES: usize = size_of::<u64>();
const LINE_BYTES: usize = crate::decode::MOST_ALIGNMENT;
const LINE_WORDS: usize = LINE_BYTES / WORD_BYTES;

/// Aligned as much as a variable may ask for.
#[repr(align(1024))]
#[derive(Debug, Zeroable)]
struct Line([AtomicU64; LINE_WORDS]);

/// Local memory of a thread, aligned as [`Line`] is.
#[repr(align(1024))]
#[derive(Debug, Zeroable)]
pub(super) struct LocalLine {
    _words: [Cell<u64>; LINE_WORDS],
}

const _: () = assert!(align_of::<Line>() == LINE_BYTES && align_of::<LocalLine>() == LINE_BYTES);

/// Memory for `bytes` bytes, all zero. Pages that are never touched cost nothing.
fn zeroed<T: Zeroable>(bytes: usize) -> Result<Box<[T]>, OutOfMemory> {
    try_zeroed_slice_box(bytes.div_ceil(size_of::<T>())).map_err(|()| OutOfMemory)
}

/// Local memory of a thread.
pub(super) fn local(bytes: usize) -> Result<Box<[LocalLine]>, OutOfMemory> {
    zeroed(bytes)
}

/// Bytes that several threads access, by words.
#[derive(Debug)]
pub(super) struct Storage {
    lines: Box<[Line]>,
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
            lines: zeroed(bytes)?,
            bytes,
            is_registered: false,
        };
        let words = storage.lines.iter().flat_map(|line| &line.0);
        for (word, bytes) in words.zip(initial.chunks(WORD_BYTES)) {
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

    /// The address of the first byte, a multiple of 1024.
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
