//! The shared memory of the running block.

use super::shared_error::{ALIGNMENT, MAX_STATIC_SHARED_BYTES, SharedError};
use super::static_layout::StaticLayout;
use crate::basics::{CallSite, SourceLocation, element_at};
use crate::memory::{OutOfMemory, release_reserve};
use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

/// The most shared memory that a block can have, static and dynamic together, in bytes.
///
/// It is 227 KiB, the limit of compute capability 9.0.
pub const MAX_SHARED_BYTES: usize = 227 * 1024;

/// The bytes of fresh shared memory. In every floating-point format, all ones is
/// a NaN: a sum that reads bytes before they are written shows it.
const POISON: u8 = 0xff;

/// A static array that the running block has used.
struct StaticArray {
    key: usize,
    bytes: usize,
    start: *mut u8,
    declared: CallSite,
}

/// One allocation of the largest size that a block can have. Dynamic memory is
/// at its start, static arrays follow in the order of their first use.
pub(crate) struct SharedMemory {
    memory: NonNull<u8>,
    /// The most bytes that a block of the device can have.
    limit: usize,
    dynamic_bytes: usize,
    dynamic_is_poisoned: Cell<bool>,
    /// Whether all of the memory is.
    is_poisoned: Cell<bool>,
    layout: Rc<StaticLayout>,
    arrays: RefCell<Vec<StaticArray>>,
}

impl SharedMemory {
    const LAYOUT: Layout = match Layout::from_size_align(MAX_SHARED_BYTES, ALIGNMENT) {
        Ok(layout) => layout,
        Err(_) => panic!("the alignment is a power of two"),
    };

    /// Shared memory for blocks with `dynamic_bytes`, on a device whose blocks can have `limit`
    /// bytes, at most [`MAX_SHARED_BYTES`].
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the host has none left.
    pub fn new(dynamic_bytes: usize, limit: usize) -> Result<Self, OutOfMemory> {
        // SAFETY: the layout's size is not 0.
        let memory = NonNull::new(unsafe { alloc(Self::LAYOUT) }).ok_or_else(release_reserve)?;
        // Reads outside the arrays, which a tensor core may make, then read initialised bytes.
        // SAFETY: the allocation has this size, and nothing else refers to it yet.
        unsafe { memory.write_bytes(0xff, MAX_SHARED_BYTES) };
        Ok(Self {
            memory,
            limit,
            dynamic_bytes,
            dynamic_is_poisoned: Cell::new(false),
            is_poisoned: Cell::new(false),
            layout: Rc::default(),
            arrays: RefCell::default(),
        })
    }

    /// Forgets the arrays of the previous block.
    pub fn begin_block(&mut self) {
        self.dynamic_is_poisoned.set(false);
        self.is_poisoned.set(false);
        self.layout.begin(self.dynamic_bytes);
        self.arrays.get_mut().clear();
    }

    /// Uses the layout that the blocks of a cluster share.
    pub fn share_layout(&mut self, layout: &Rc<StaticLayout>) {
        self.layout = Rc::clone(layout);
    }

    /// Refills all of the memory, because other blocks may write there before this one uses it.
    pub fn poison(&self) {
        self.dynamic_is_poisoned.set(true);
        self.is_poisoned.set(true);
        // SAFETY: the range is the whole allocation, and no thread of the cluster has started.
        unsafe { self.memory.as_ptr().write_bytes(POISON, MAX_SHARED_BYTES) };
    }

    /// The address of its first byte.
    #[inline]
    pub fn start(&self) -> usize {
        self.memory.as_ptr().addr()
    }

    /// Its first byte.
    pub fn start_pointer(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// Bytes of the static arrays that the block has used.
    pub fn static_bytes(&self) -> usize {
        self.layout.static_bytes()
    }

    /// The start and the length of the dynamic memory.
    pub fn dynamic(&self) -> (*mut u8, usize) {
        let start = self.memory.as_ptr();
        if !self.dynamic_is_poisoned.replace(true) {
            // SAFETY: the first `dynamic_bytes` bytes belong to the allocation,
            // and no thread of this block has seen them yet.
            unsafe { start.write_bytes(POISON, self.dynamic_bytes) };
        }
        (start, self.dynamic_bytes)
    }

    /// The start of the array of `key`, which is allocated at its first use.
    pub fn array(
        &self,
        key: usize,
        bytes: usize,
        align: usize,
        declared: CallSite,
    ) -> Result<*mut u8, SharedError> {
        if !align.is_power_of_two() || align > ALIGNMENT {
            return Err(SharedError::Alignment);
        }
        let known = self
            .arrays
            .borrow()
            .iter()
            .find_map(|array| (array.key == key).then_some((array.start, array.bytes)));
        let start = match known {
            Some((start, known_bytes)) if known_bytes == bytes => start,
            Some((_, known_bytes)) => return Err(SharedError::Changed { known_bytes }),
            None => {
                let start = self.add_array(key, bytes, align)?;
                self.arrays.borrow_mut().push(StaticArray {
                    key,
                    bytes,
                    start,
                    declared,
                });
                start
            }
        };
        // The array may have been allocated, by this block or another one of the cluster, with a
        // smaller alignment.
        match start.addr().is_multiple_of(align) {
            true => Ok(start),
            false => Err(SharedError::OtherAlignment { align }),
        }
    }

    fn add_array(&self, key: usize, bytes: usize, align: usize) -> Result<*mut u8, SharedError> {
        let limits = (self.limit, MAX_STATIC_SHARED_BYTES);
        let array = (key, bytes, align);
        let offset = self.layout.place(array, self.dynamic_bytes, limits)?;
        // SAFETY: `offset + bytes` is within the limit, and so within the allocation. No other
        // array of this block overlaps the range: the layout keeps them apart.
        let start = unsafe { self.memory.as_ptr().add(offset) };
        if !self.is_poisoned.get() {
            // SAFETY: the range is within the allocation, as above, and no thread has seen the
            // array yet.
            unsafe { start.write_bytes(POISON, bytes) };
        }
        Ok(start)
    }

    /// The offset of `address` in this memory; none outside of it.
    #[inline]
    pub fn offset_of(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.memory.as_ptr().addr());
        (offset < MAX_SHARED_BYTES).then_some(offset)
    }

    /// The offset of the array that holds `address`: 0 for the dynamic bytes.
    #[cold]
    pub fn array_of(&self, address: usize) -> usize {
        let start = self.declaration(address).map(|(start, ..)| start);
        start.and_then(|it| self.offset_of(it)).unwrap_or(0)
    }

    /// Describes the array that holds `address`, and the byte in it.
    #[cold]
    pub fn describe(&self, address: usize, bytes_of_access: usize) -> Option<String> {
        let array = self.describe_array(address)?;
        let start = self.declaration(address).map(|(start, ..)| start);
        let offset = address - start.unwrap_or_else(|| self.start());
        let element = element_at(offset, bytes_of_access);
        Some(format!("{element} of {array}"))
    }

    /// Describes the array that holds `address`: "the 1024 dynamic bytes", or a static one.
    #[cold]
    pub fn describe_array(&self, address: usize) -> Option<String> {
        if self.offset_of(address)? < self.dynamic_bytes {
            return Some(format!("the {} dynamic bytes", self.dynamic_bytes));
        }
        let (_, bytes, declared) = self.declaration(address)?;
        let declared = SourceLocation::from(declared);
        Some(format!("the array of {bytes} bytes declared at {declared}"))
    }

    /// The start, the bytes and the declaration of the array that holds `address`.
    fn declaration(&self, address: usize) -> Option<(usize, usize, CallSite)> {
        let arrays = self.arrays.borrow();
        let mut arrays = arrays
            .iter()
            .map(|it| (it.start.addr(), it.bytes, it.declared));
        arrays.find(|(start, bytes, _)| address.wrapping_sub(*start) < *bytes)
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: `new` has allocated the memory with the same layout.
        unsafe { dealloc(self.memory.as_ptr(), Self::LAYOUT) };
    }
}
