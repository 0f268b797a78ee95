//! Shared memory: arrays and tiles that the threads of one block have in common.
//!
//! A static array is declared where it is used, by [`shared_array!`](crate::shared_array) or
//! [`shared_tile!`](crate::shared_tile), and passed on as a value; its type carries its shape.
//! Its memory holds no meaningful value at the start of a block (the simulator fills it with
//! bytes of 0xFF, which are NaN).
//!
//! The accesses are `unsafe`: what one thread writes another may read only after
//! [`sync_threads`](crate::thread::sync_threads), or [`warp::sync`](crate::warp::sync) within a
//! warp.
//!
//! Shared memory ends with its block, so the views of it are neither `Send` nor `Sync` and live no
//! longer than the block of code that declares them. A helper function takes a view; it cannot
//! return one that it has declared:
//!
//! ```compile_fail,E0515
//! use cuda_std::prelude::*;
//!
//! fn tile() -> SharedArray<'static, f32, 256> {
//!     shared_array![f32; 256]
//! }
//! ```
//!
//! What is made of a view needs a variable for the view first:
//!
//! ```
//! # use cuda_std::prelude::*;
//! #[kernel]
//! pub fn clear() {
//!     let tile = shared_array![f32; 256];
//!     let tile = tile.as_slice();
//!     if let 0..256 = thread::rank_in_block() {
//!         // SAFETY: (1) is the comparison. (2) Each thread writes a different element.
//!         unsafe { tile.store(thread::rank_in_block() as usize, 0.0) };
//!     }
//! }
//! ```

use crate::global::assert_vector;
use crate::machine::{self, Space};
use bytemuck::Pod;
use core::marker::PhantomData;

/// A static array of `LEN` elements in shared memory, 16-byte aligned.
#[derive(Debug)]
pub struct SharedArray<'block, T, const LEN: usize> {
    #[doc(hidden)]
    pub memory: SharedMemory<'block, T, ArrayShape<LEN>>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

/// A static tile of `ROWS` rows of `COLUMNS` elements in shared memory, 16-byte aligned, whose
/// rows lie `PITCH` elements apart. A pitch above `COLUMNS` is padding against bank conflicts.
///
/// Rows that overlap do not compile:
///
/// ```compile_fail,E0080
/// let tile = cuda_std::shared_tile![f32; 4, 4; pitch = 3];
/// ```
#[derive(Debug)]
pub struct SharedTile<'block, T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> {
    #[doc(hidden)]
    pub memory: SharedMemory<'block, T, TileShape<ROWS, COLUMNS, PITCH>>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

/// Shared memory whose length the type does not carry: of an array, of a tile, or what the launch
/// chose ([`dynamic_shared!`](crate::dynamic_shared)).
#[derive(Debug)]
pub struct SharedSlice<'block, T> {
    #[doc(hidden)]
    pub memory: SharedMemory<'block, T, AnyShape>,
    #[doc(hidden)]
    pub scope: &'block Scope,
}

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
    base: *mut T,
    len: usize,
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
    const fn of_any_shape(self) -> SharedMemory<'block, T, AnyShape> {
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
    pub const unsafe fn of_array(base: *mut T) -> Self {
        const { assert_alignment::<T>() };
        Self {
            base,
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
    pub const unsafe fn of_tile(base: *mut T) -> Self {
        const {
            assert!(
                PITCH >= COLUMNS,
                "the rows of a tile overlap: PITCH must be at least COLUMNS"
            );
            assert_alignment::<T>();
        };
        Self {
            base,
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
pub struct Scope(());

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

macro_rules! copied {
    ($(impl [$($generics:tt)*] for $view:ty;)*) => {$(
        impl<T, $($generics)*> Clone for $view {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, $($generics)*> Copy for $view {}
    )*};
}
copied! {
    impl [Shape] for SharedMemory<'_, T, Shape>;
    impl [] for SharedSlice<'_, T>;
    impl [const LEN: usize] for SharedArray<'_, T, LEN>;
    impl [const R: usize, const C: usize, const P: usize] for SharedTile<'_, T, R, C, P>;
}

macro_rules! accesses {
    () => {
        /// Element `index`.
        ///
        /// # Safety
        /// 1. `index` lies within the array, and the element has been written.
        /// 2. No other thread writes it, unless a barrier orders the two.
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn load(self, index: usize) -> T {
            // SAFETY: (1), (2) are the caller's.
            unsafe {
                let [value] =
                    machine::load::<T, 1>(Space::Shared, self.memory.base, self.len(), index);
                value
            }
        }

        /// Elements `index..index + N` in one access of 8 or 16 bytes.
        ///
        /// # Safety
        /// 1. The elements lie within the array and have been written.
        /// 2. No other thread writes them, unless a barrier orders the two.
        /// 3. `index` is a multiple of `N`.
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn load_vector<const N: usize>(self, index: usize) -> [T; N] {
            const { assert_vector::<T, N>() };
            // SAFETY: (1), (2), (3) are the caller's; the array is 16-byte aligned.
            unsafe { machine::load::<T, N>(Space::Shared, self.memory.base, self.len(), index) }
        }

        /// Writes element `index`.
        ///
        /// # Safety
        /// 1. `index` lies within the array.
        /// 2. No other thread touches it, unless a barrier orders the two.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn store(self, index: usize, value: T) {
            // SAFETY: (1), (2) are the caller's.
            unsafe {
                machine::store::<T, 1>(Space::Shared, self.memory.base, self.len(), index, [value])
            }
        }

        /// Writes elements `index..index + N` in one access of 8 or 16 bytes.
        ///
        /// # Safety
        /// 1. The elements lie within the array.
        /// 2. No other thread touches them, unless a barrier orders the two.
        /// 3. `index` is a multiple of `N`.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn store_vector<const N: usize>(self, index: usize, values: [T; N]) {
            const { assert_vector::<T, N>() };
            // SAFETY: (1), (2), (3) are the caller's; the array is 16-byte aligned.
            unsafe {
                machine::store::<T, N>(Space::Shared, self.memory.base, self.len(), index, values)
            }
        }

        /// The address of the first element.
        #[inline(always)]
        #[must_use]
        pub const fn as_mut_ptr(self) -> *mut T {
            self.memory.base
        }
    };
}

impl<'block, T: Pod, const LEN: usize> SharedArray<'block, T, LEN> {
    /// The array of this memory, for as long as its lifetime says.
    #[inline(always)]
    pub(crate) const fn of_memory(memory: SharedMemory<'block, T, ArrayShape<LEN>>) -> Self {
        Self {
            memory,
            scope: &Scope(()),
        }
    }

    /// Elements of the array.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the length is in the type")]
    pub const fn len(self) -> usize {
        LEN
    }

    /// The array as a slice, whose type does not carry the length.
    #[inline(always)]
    #[must_use]
    pub const fn as_slice(self) -> SharedSlice<'block, T> {
        SharedSlice {
            memory: self.memory.of_any_shape(),
            scope: self.scope,
        }
    }

    accesses!();
}

impl<T: Pod> SharedSlice<'_, T> {
    /// Elements of the slice.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.memory.len
    }

    /// Whether the launch gave no room for even one element.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.memory.len == 0
    }

    accesses!();
}

impl<'block, T: Pod, const ROWS: usize, const COLUMNS: usize, const PITCH: usize>
    SharedTile<'block, T, ROWS, COLUMNS, PITCH>
{
    /// Elements that the tile takes up, padding included.
    pub const STORAGE: usize = ROWS * PITCH;

    /// The tile's elements as one array, row after row, padding included.
    #[inline(always)]
    #[must_use]
    pub const fn as_slice(self) -> SharedSlice<'block, T> {
        SharedSlice {
            memory: self.memory.of_any_shape(),
            scope: self.scope,
        }
    }

    /// The position of (`row`, `column`) in [`Self::as_slice`].
    #[inline(always)]
    #[must_use]
    pub const fn position(row: usize, column: usize) -> usize {
        row * PITCH + column
    }

    /// In the simulator, reports an access of `count` elements that leaves the tile's row, also
    /// where the storage does not end there.
    #[inline(always)]
    #[track_caller]
    fn check(row: usize, column: usize, count: usize) {
        machine::check_in_tile((row, column), count, (ROWS, COLUMNS));
    }

    /// The element at (`row`, `column`).
    ///
    /// # Safety
    /// 1. `row < ROWS`, `column < COLUMNS`, and the element has been written.
    /// 2. No other thread writes it, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load(self, row: usize, column: usize) -> T {
        Self::check(row, column, 1);
        // SAFETY: (1), (2) are the caller's.
        unsafe { self.as_slice().load(Self::position(row, column)) }
    }

    /// The elements from (`row`, `column`) on, in one access of 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `row < ROWS`, `column + N <= COLUMNS`, and the elements have been written.
    /// 2. No other thread writes them, unless a barrier orders the two.
    /// 3. `PITCH` and `column` are multiples of `N`.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn load_vector<const N: usize>(self, row: usize, column: usize) -> [T; N] {
        const {
            assert!(
                PITCH.is_multiple_of(N),
                "rows read as vectors need a PITCH that is a multiple of N"
            )
        };
        Self::check(row, column, N);
        // SAFETY: (1), (2), (3) are the caller's.
        unsafe { self.as_slice().load_vector(Self::position(row, column)) }
    }

    /// Writes the element at (`row`, `column`).
    ///
    /// # Safety
    /// 1. `row < ROWS` and `column < COLUMNS`.
    /// 2. No other thread touches it, unless a barrier orders the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store(self, row: usize, column: usize, value: T) {
        Self::check(row, column, 1);
        // SAFETY: (1), (2) are the caller's.
        unsafe { self.as_slice().store(Self::position(row, column), value) }
    }

    /// Writes the elements from (`row`, `column`) on, in one access of 8 or 16 bytes.
    ///
    /// # Safety
    /// 1. `row < ROWS` and `column + N <= COLUMNS`.
    /// 2. No other thread touches them, unless a barrier orders the two.
    /// 3. `PITCH` and `column` are multiples of `N`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store_vector<const N: usize>(self, row: usize, column: usize, values: [T; N]) {
        const {
            assert!(
                PITCH.is_multiple_of(N),
                "rows written as vectors need a PITCH that is a multiple of N"
            )
        };
        Self::check(row, column, N);
        // SAFETY: (1), (2), (3) are the caller's.
        unsafe {
            self.as_slice()
                .store_vector(Self::position(row, column), values)
        }
    }
}

/// The block's memory for the static array that `key` stands for. Called by the macros.
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
#[track_caller]
#[must_use]
pub fn simulated_storage(key: &'static u8, bytes: usize) -> *mut u8 {
    machine::static_shared(key, bytes, 16)
}

/// Declares a static array in shared memory and returns its
/// [`SharedArray`](crate::shared::SharedArray): `shared_array![f32; 256]`.
///
/// The type must be concrete, since Rust's statics cannot be generic: in a function with a parameter
/// `N`, the array `shared_array![f32; N]` does not compile. A generic function takes the array as a
/// parameter, of type `&SharedArray<f32, N>`, and each kernel declares its own. Each place in the
/// source is one array: two calls of a function that declares one get the same memory. All static
/// arrays of a kernel together have at most 48 KiB.
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {
        $crate::shared::SharedArray::<'_, $element, { $len }> {
            memory: {
                let base = $crate::__shared_storage!($element, { $len });
                // SAFETY: (1) the storage was made for exactly this array. (2) The lifetime is
                // that of `scope`, a variable of this thread of the block.
                unsafe { $crate::shared::SharedMemory::of_array(base) }
            },
            scope: &$crate::shared::Scope::new(),
        }
    };
}

/// Declares a static tile in shared memory and returns its
/// [`SharedTile`](crate::shared::SharedTile): `shared_tile![f32; 16, 128]`, or with rows that lie
/// further apart, `shared_tile![f32; 32, 32; pitch = 33]`.
///
/// As for [`shared_array!`](crate::shared_array), each place in the source is one tile.
#[macro_export]
macro_rules! shared_tile {
    ($element:ty; $rows:expr, $columns:expr) => {
        $crate::shared_tile![$element; $rows, $columns; pitch = $columns]
    };
    ($element:ty; $rows:expr, $columns:expr; pitch = $pitch:expr) => {
        $crate::shared::SharedTile::<'_, $element, { $rows }, { $columns }, { $pitch }> {
            memory: {
                let base = $crate::__shared_storage!($element, { $rows } * { $pitch });
                // SAFETY: (1) the storage was made for exactly this tile. (2) The lifetime is that
                // of `scope`, a variable of this thread of the block.
                unsafe { $crate::shared::SharedMemory::of_tile(base) }
            },
            scope: &$crate::shared::Scope::new(),
        }
    };
}

/// The launch's dynamic shared memory as elements of a type, a
/// [`SharedSlice`](crate::shared::SharedSlice): `dynamic_shared![f32]`. Its length is the launch's
/// `dynamic_shared_bytes` over the size of the type. 128-byte aligned.
///
/// There is one such memory for a block: two places in the source name the same bytes.
#[macro_export]
macro_rules! dynamic_shared {
    ($element:ty) => {
        $crate::shared::SharedSlice::<'_, $element> {
            // SAFETY: (1) the lifetime is that of `scope`, a variable of this thread of the block.
            memory: unsafe { $crate::shared::SharedMemory::dynamic() },
            scope: &$crate::shared::Scope::new(),
        }
    };
}

/// The storage behind the macros of static shared memory.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[macro_export]
macro_rules! __shared_storage {
    ($element:ty, $len:expr) => {{
        // The builder moves this section into the shared address space. The name is one that no
        // expression of the caller's uses: names of statics are not hygienic.
        #[unsafe(link_section = ".shared")]
        static mut __CUDA_STD_STORAGE: $crate::internal::SharedStorage<$element, { $len }> =
            $crate::internal::SharedStorage(::core::mem::MaybeUninit::uninit());
        (&raw mut __CUDA_STD_STORAGE).cast::<$element>()
    }};
}

/// The storage behind the macros of static shared memory.
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
#[macro_export]
macro_rules! __shared_storage {
    ($element:ty, $len:expr) => {{
        // Its address stands for this place in the source.
        static __CUDA_STD_KEY: u8 = 0;
        // An item, as the array itself is on a GPU: it cannot be generic here either.
        const __CUDA_STD_BYTES: usize = ::core::mem::size_of::<[$element; { $len }]>();
        $crate::shared::simulated_storage(&__CUDA_STD_KEY, __CUDA_STD_BYTES).cast::<$element>()
    }};
}
