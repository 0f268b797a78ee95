//! The memory behind the views: where it lies, how long it lives, and for which view it is.

use crate::machine;
use bytemuck::Pod;
use core::marker::PhantomData;

/// Where elements in shared memory are, how many, and for a view of which shape.
///
/// The views are made by macros, of this and of a borrow of a [`Scope`] that lives as long as the
/// block of code with the macro: in the initialiser of a `let`, the operand of a borrow in a
/// struct expression lives as long as the variable. So the fields of the views are public; but only
/// `unsafe` functions make a `SharedMemory`, its lifetime is that of the borrow, and it fits a view
/// of its shape alone.
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
    /// The same elements for a [`SharedSlice`].
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
    /// 2. The result is used with a lifetime within which the block does not end.
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
    /// 2. The result is used with a lifetime within which the block does not end.
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
    /// 1. The result is used with a lifetime within which the block does not end.
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

/// Bytes of `count` elements; more than memory can have do not compile.
pub(super) const fn bytes_of<T>(count: usize) -> usize {
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if bytes <= isize::MAX as usize => bytes,
        _ => panic!("more elements than memory can have"),
    }
}

/// Rejects, when compiled, elements that the storage is not aligned for.
const fn assert_alignment<T>() {
    assert!(
        align_of::<T>() <= 16,
        "static shared memory is 16-byte aligned: use `dynamic_shared!` for elements that need more"
    );
}

/// Lives as long as a view of shared memory may.
///
/// Where the code is that of a future, it lives as long as the future does. Only a thread-local
/// variable could keep one for a later launch, and kernels must not use these.
#[doc(hidden)]
#[derive(Debug)]
pub struct Scope(pub(super) ());

impl Scope {
    /// Not a constant, so that no borrow of the result is a borrow of a static.
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
