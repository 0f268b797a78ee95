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

use crate::global::assert_vector;
use crate::machine::{self, Space};
use bytemuck::Pod;

/// A static array of `LEN` elements in shared memory, 16-byte aligned.
#[derive(Debug)]
pub struct SharedArray<T, const LEN: usize> {
    base: *mut T,
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
pub struct SharedTile<T, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> {
    base: *mut T,
}

/// Shared memory whose length the launch chose.
#[derive(Debug)]
pub struct SharedSlice<T> {
    base: *mut T,
    len: usize,
}

impl<T, const LEN: usize> Clone for SharedArray<T, LEN> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const LEN: usize> Copy for SharedArray<T, LEN> {}

impl<T, const R: usize, const C: usize, const P: usize> Clone for SharedTile<T, R, C, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const R: usize, const C: usize, const P: usize> Copy for SharedTile<T, R, C, P> {}

impl<T> Clone for SharedSlice<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SharedSlice<T> {}

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
                let [value] = machine::load::<T, 1>(Space::Shared, self.base, self.len(), index);
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
            unsafe { machine::load::<T, N>(Space::Shared, self.base, self.len(), index) }
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
            unsafe { machine::store::<T, 1>(Space::Shared, self.base, self.len(), index, [value]) }
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
            unsafe { machine::store::<T, N>(Space::Shared, self.base, self.len(), index, values) }
        }

        /// The address of the first element.
        #[inline(always)]
        #[must_use]
        pub const fn as_mut_ptr(self) -> *mut T {
            self.base
        }
    };
}

impl<T: Pod, const LEN: usize> SharedArray<T, LEN> {
    /// The array at `base`.
    ///
    /// # Safety
    /// 1. `base` is 16-byte aligned and holds `LEN` elements of the block's shared memory.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw(base: *mut T) -> Self {
        Self { base }
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
    pub const fn as_slice(self) -> SharedSlice<T> {
        SharedSlice {
            base: self.base,
            len: LEN,
        }
    }

    accesses!();
}

impl<T: Pod> SharedSlice<T> {
    /// Elements of the slice.
    #[inline(always)]
    #[must_use]
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the launch gave no room for even one element.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    accesses!();
}

impl<T: Pod, const ROWS: usize, const COLUMNS: usize, const PITCH: usize>
    SharedTile<T, ROWS, COLUMNS, PITCH>
{
    /// Elements that the tile takes up, padding included.
    pub const STORAGE: usize = ROWS * PITCH;

    /// The tile at `base`.
    ///
    /// # Safety
    /// 1. `base` is 16-byte aligned and holds `ROWS * PITCH` elements of the block's shared memory.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw(base: *mut T) -> Self {
        const {
            assert!(
                PITCH >= COLUMNS,
                "the rows of a tile overlap: PITCH must be at least COLUMNS"
            )
        };
        Self { base }
    }

    /// The tile's elements as one array, row after row, padding included.
    #[inline(always)]
    #[must_use]
    pub const fn as_slice(self) -> SharedSlice<T> {
        SharedSlice {
            base: self.base,
            len: Self::STORAGE,
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

/// The launch's dynamic shared memory as elements of `T`; its length is the launch's
/// `dynamic_shared_bytes` over the size of `T`. 128-byte aligned.
///
/// There is one such memory for a block: two calls name the same bytes.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn dynamic<T: Pod>() -> SharedSlice<T> {
    const {
        assert!(
            size_of::<T>() > 0 && align_of::<T>() <= 128,
            "dynamic shared memory holds elements of at least one byte, aligned to at most 128"
        );
    }
    let (base, bytes) = machine::dynamic_shared();
    SharedSlice {
        base: base.cast(),
        len: bytes / size_of::<T>(),
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
/// The type must be concrete, since Rust's statics cannot be generic. Each place in the source is
/// one array: two calls of a function that declares one get the same memory. All static arrays of
/// a kernel together have at most 48 KiB.
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {{
        let base = $crate::__shared_storage!($element, { $len });
        // SAFETY: (1) the storage was made for exactly this array.
        unsafe { $crate::shared::SharedArray::<$element, { $len }>::from_raw(base) }
    }};
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
    ($element:ty; $rows:expr, $columns:expr; pitch = $pitch:expr) => {{
        let base = $crate::__shared_storage!($element, { $rows } * { $pitch });
        // SAFETY: (1) the storage was made for exactly this tile.
        unsafe {
            $crate::shared::SharedTile::<$element, { $rows }, { $columns }, { $pitch }>::from_raw(base)
        }
    }};
}

/// The storage behind the two macros above.
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

/// The storage behind the two macros above.
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
#[macro_export]
macro_rules! __shared_storage {
    ($element:ty, $len:expr) => {{
        // Its address stands for this place in the source.
        static __CUDA_STD_KEY: u8 = 0;
        $crate::shared::simulated_storage(
            &__CUDA_STD_KEY,
            { $len } * ::core::mem::size_of::<$element>(),
        )
        .cast::<$element>()
    }};
}
