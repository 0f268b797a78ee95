//! The memory behind the views: its address, lifetime and shape.

use crate::machine;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Address and number of elements in shared memory, for a view of one shape.
///
/// Macros make the views, from a `SharedMemory` and a borrow of a [`Scope`]. The scope lives as
/// long as the block of code with the macro: in the initialiser of a `let`, the operand of a borrow
/// in a struct expression lives as long as the variable. So the views' fields must be public. This
/// is sound: only `unsafe` functions make a `SharedMemory`, its lifetime is that of the borrow, and
/// it fits only a view of its shape.
#[doc(hidden)]
#[derive(Debug)]
pub struct SharedMemory<'block, T, Shape> {
    /// A raw pointer is neither `Send` nor `Sync`: the views stay with their thread.
    pub(super) base: *mut T,
    pub(super) len: usize,
    block: PhantomData<(&'block mut [T], Shape)>,
}

/// The shape of a [`SharedArray`].
#[doc(hidden)]
#[derive(Debug)]
pub struct ArrayShape<const LEN: usize>(());

/// The shape of a [`SharedTile`].
#[doc(hidden)]
#[derive(Debug)]
pub struct TileShape<const ROWS: usize, const COLUMNS: usize, const PITCH: usize>(());

/// The shape of a [`SharedSlice`].
#[doc(hidden)]
#[derive(Debug)]
pub struct AnyShape(());

impl<'block, T, Shape> SharedMemory<'block, T, Shape> {
    /// Converts to the memory of a [`SharedSlice`].
    #[inline(always)]
    pub(super) const fn of_any_shape(self) -> SharedMemory<'block, T, AnyShape> {
        SharedMemory {
            base: self.base,
            len: self.len,
            block: PhantomData,
        }
    }
}

impl<T: Pod, const LEN: usize> SharedMemory<'_, T, ArrayShape<LEN>> {
    /// The elements of a static array.
    ///
    /// # Safety
    /// 1. `base` is 16-byte aligned and holds `LEN` elements of the block's shared memory.
    /// 2. The block does not end within the result's lifetime.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn of_array(base: *mut [T; LEN]) -> Self {
        const { assert_alignment::<T>() };
        Self {
            base: base.cast(),
            len: LEN,
            block: PhantomData,
        }
    }
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const PITCH: usize>
    SharedMemory<'_, T, TileShape<ROWS, COLUMNS, PITCH>>
{
    /// The elements of a static tile.
    ///
    /// # Safety
    /// 1. `base` is 16-byte aligned and holds `ROWS * PITCH` elements of the block's shared memory.
    /// 2. The block does not end within the result's lifetime.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn of_tile<const STORED: usize>(base: *mut [T; STORED]) -> Self {
        const {
            assert!(
                STORED == ROWS * PITCH,
                "the storage is that of another tile"
            );
            assert!(
                PITCH >= COLUMNS,
                "the rows of a tile overlap: PITCH must be at least COLUMNS"
            );
            assert_alignment::<T>();
        };
        Self {
            base: base.cast(),
            len: ROWS * PITCH,
            block: PhantomData,
        }
    }
}

impl<T: Pod> SharedMemory<'_, T, AnyShape> {
    /// The launch's dynamic shared memory.
    ///
    /// # Safety
    /// 1. The block does not end within the result's lifetime.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn dynamic() -> Self {
        const {
            assert!(
                size_of::<T>() > 0 && align_of::<T>() <= 128,
                "dynamic shared memory holds elements of at least one byte, aligned to at most 128"
            );
        }
        let (base, bytes) = machine::dynamic_shared();
        Self {
            base: base.cast(),
            len: bytes / size_of::<T>(),
            block: PhantomData,
        }
    }
}

/// Size of `count` elements in bytes. Sizes beyond the address space do not compile.
pub(super) const fn bytes_of<T>(count: usize) -> usize {
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if bytes <= isize::MAX as usize => bytes,
        _ => panic!("more elements than memory can have"),
    }
}

/// Rejects elements that need more alignment than the storage has, at compile time.
const fn assert_alignment<T>() {
    assert!(
        align_of::<T>() <= 16,
        "static shared memory is 16-byte aligned: use `dynamic_shared!` for elements that need more"
    );
}

/// Bounds the lifetime of a view of shared memory.
///
/// In a future, it lives as long as the future. Only a thread-local variable could keep a future
/// for a later launch, and kernels must not use those.
#[doc(hidden)]
#[derive(Debug)]
pub struct Scope(pub(super) ());

impl Scope {
    /// Not `const`, so that a borrow of the result is never promoted to a static.
    #[allow(
        clippy::new_without_default,
        reason = "called by macros alone, which need no trait"
    )]
    #[inline(always)]
    #[must_use]
    pub fn new() -> Self {
        Self(())
    }
}

impl<T, Shape> Clone for SharedMemory<'_, T, Shape> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, Shape> Copy for SharedMemory<'_, T, Shape> {}
