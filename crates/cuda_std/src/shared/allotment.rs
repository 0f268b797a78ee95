//! Dynamic shared memory, dealt out piece by piece.

use super::memory::bytes_of;
use super::swizzled::{self, SwizzledTiles};
use super::{Scope, SharedArray, SharedMemory};
use crate::machine;
use crate::mbarrier::Ring;
use bytemuck::Pod;
use core::marker::PhantomData;

/// The launch's dynamic shared memory, of which each call takes the next piece: tiles first, whose
/// alignment is 1024 bytes, then the smaller things.
///
/// Every thread of the block makes the same calls in the same order, and so has the same pieces.
/// A launch with too little memory ends with an error at the first piece that does not fit.
/// [`dynamic_shared_allotment!`](crate::dynamic_shared_allotment) makes it.
#[derive(Debug)]
pub struct Allotment<'block> {
    #[doc(hidden)]
    pub memory: Memory<'block>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

/// All of a launch's dynamic shared memory, and how much of it is taken.
///
/// An allotment is made of it as the other views of shared memory are made of theirs.
#[doc(hidden)]
#[derive(Debug)]
pub struct Memory<'block> {
    base: *mut u8,
    bytes: usize,
    taken: usize,
    block: PhantomData<&'block mut [u8]>,
}

impl Memory<'_> {
    /// All of the launch's dynamic shared memory.
    ///
    /// # Safety
    /// 1. The result is used with a lifetime within which the block does not end.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn new() -> Self {
        let (base, bytes) = machine::dynamic_shared_of_tiles();
        Self {
            base,
            bytes,
            taken: 0,
            block: PhantomData,
        }
    }
}

impl<'block> Allotment<'block> {
    /// An allotment of what is left, beside this one: both deal out the same bytes, for pieces of which
    /// a launch uses one or the other.
    #[inline(always)]
    #[must_use]
    pub const fn alternative(&self) -> Self {
        Self {
            memory: Memory {
                base: self.memory.base,
                bytes: self.memory.bytes,
                taken: self.memory.taken,
                block: PhantomData,
            },
            scope: self.scope,
        }
    }

    /// The next `bytes` bytes, which a type may have, at a multiple of `alignment`, a power of two up to 1024.
    #[inline(always)]
    #[track_caller]
    fn take(&mut self, bytes: usize, alignment: usize) -> *mut u8 {
        let first = self.memory.taken.next_multiple_of(alignment);
        // The sum does not wrap: `bytes` is the size of a type, and at most `memory.bytes` are taken.
        let end = first + bytes;
        assert!(
            end <= self.memory.bytes,
            "the launch has less dynamic shared memory than its kernel uses"
        );
        self.memory.taken = end;
        self.memory.base.wrapping_add(first)
    }

    /// `COUNT` swizzled tiles.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn tiles<T: Pod, const ROWS: usize, const COLUMNS: usize, const COUNT: usize>(
        &mut self,
    ) -> SwizzledTiles<'block, T, ROWS, COLUMNS, COUNT> {
        let bytes = const { SwizzledTiles::<T, ROWS, COLUMNS, COUNT>::BYTES };
        let base = self.take(bytes, swizzled::ALIGNMENT).cast();
        // SAFETY: (1) `take` has found the memory, and its memory begins at a multiple of 1024. (2) is
        // that of `new`.
        unsafe { SwizzledTiles::of_memory(base) }
    }

    /// An array of `LEN` elements, 16-byte aligned. More than memory can have do not compile:
    ///
    /// ```compile_fail,E0080
    /// fn array(shared: &mut cuda_std::shared::Allotment<'_>) {
    ///     let _ = shared.array::<u64, { (1 << 61) + 1 }>();
    /// }
    /// # let _: fn(&mut cuda_std::shared::Allotment<'_>) = array;
    /// ```
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn array<T: Pod, const LEN: usize>(&mut self) -> SharedArray<'block, T, LEN> {
        let bytes = const { bytes_of::<T>(LEN) };
        let base = self.take(bytes, 16).cast();
        // SAFETY: (1) `take` has found the memory. (2) is that of `new`.
        SharedArray::of_memory(unsafe { SharedMemory::of_array(base) })
    }

    /// A ring of `STAGES` stages, which one thread still has to [initialise](Ring::init).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn ring<const STAGES: usize>(&mut self) -> Ring<'block, STAGES> {
        let bytes = const { bytes_of::<u8>(Ring::<STAGES>::BYTES) };
        let base = self.take(bytes, 8).cast();
        // SAFETY: (1) `take` has found the memory. (2) is that of `new`.
        unsafe { Ring::of_memory(base) }
    }
}

/// The launch's dynamic shared memory as an [`Allotment`](crate::shared::Allotment):
/// `let mut shared = dynamic_shared_allotment!();`.
///
/// There is one such memory for a block: a second allotment deals out the same bytes, and so does
/// [`dynamic_shared!`](crate::dynamic_shared).
#[macro_export]
macro_rules! dynamic_shared_allotment {
    () => {
        $crate::shared::Allotment::<'_> {
            // SAFETY: (1) the lifetime is that of `scope`, a variable of this thread of the block.
            memory: unsafe { $crate::shared::Memory::new() },
            scope: &$crate::shared::Scope::new(),
        }
    };
}
