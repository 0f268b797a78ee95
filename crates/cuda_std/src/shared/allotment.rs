//! Allocation from dynamic shared memory.

use super::memory::bytes_of;
use super::swizzled::{self, SwizzledTiles};
use super::{Scope, SharedArray, SharedMemory};
use crate::machine;
use crate::mbarrier::Ring;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Allocates pieces of the launch's dynamic shared memory, in order. Take tiles first: they are
/// aligned to 1024 bytes.
///
/// Every thread of the block makes the same calls in the same order, and so gets the same pieces.
/// If the launch has too little memory, it ends with an error at the first piece that does not fit.
/// Create one with [`dynamic_shared_allotment!`](crate::dynamic_shared_allotment).
#[derive(Debug)]
pub struct Allotment<'block> {
    #[doc(hidden)]
    pub memory: Memory<'block>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

/// A launch's dynamic shared memory, and how much of it is taken.
///
/// An allotment is made of it in the same way as other views of shared memory.
#[doc(hidden)]
#[derive(Debug)]
pub struct Memory<'block> {
    base: *mut u8,
    bytes: usize,
    taken: usize,
    block: PhantomData<&'block mut [u8]>,
}

impl Memory<'_> {
    /// The launch's dynamic shared memory, with nothing taken.
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
    /// A second allotment of the remaining memory. Both hand out the same bytes, so a launch may
    /// use only one of them.
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

    /// Takes `bytes` bytes, the size of a type, at a multiple of `alignment`, a power of two up to 1024.
    #[inline(always)]
    #[track_caller]
    fn take(&mut self, bytes: usize, alignment: usize) -> *mut u8 {
        let first = self.memory.taken.next_multiple_of(alignment);
        // Cannot wrap: `bytes` is the size of a type, and at most `memory.bytes` are taken.
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
        // SAFETY: `take` found aligned memory for the tiles. The lifetime is within the block's: the contract of
        // `new`.
        unsafe { SwizzledTiles::of_memory(base) }
    }

    /// An array of `LEN` elements, 16-byte aligned. Sizes beyond the address space do not compile:
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
        // SAFETY: `take` found aligned memory of this size. The lifetime is within the block's: the
        // contract of `new`.
        SharedArray::of_memory(unsafe { SharedMemory::of_array(base) })
    }

    /// A ring of `STAGES` stages, which one thread must [initialise](Ring::init).
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn ring<const STAGES: usize>(&mut self) -> Ring<'block, STAGES> {
        let bytes = const { bytes_of::<u8>(Ring::<STAGES>::BYTES) };
        let base = self.take(bytes, 8).cast();
        // SAFETY: `take` found aligned memory of this size. The lifetime is within the block's: the
        // contract of `new`.
        unsafe { Ring::of_memory(base) }
    }
}

/// The launch's dynamic shared memory as an [`Allotment`](crate::shared::Allotment):
/// `let mut shared = dynamic_shared_allotment!();`.
///
/// A block has one dynamic shared memory: a second allotment hands out the same bytes, and so does
/// [`dynamic_shared!`](crate::dynamic_shared).
#[macro_export]
macro_rules! dynamic_shared_allotment {
    () => {
        $crate::shared::Allotment::<'_> {
            // SAFETY: the lifetime is that of `scope`, a local variable of a thread of the block.
            memory: unsafe { $crate::shared::Memory::new() },
            scope: &$crate::shared::Scope::new(),
        }
    };
}
