//! The macros that declare shared memory, and the storage behind them.

#[cfg(not(target_arch = "nvptx64"))]
use crate::machine;

/// The block's memory for the static array identified by `key`. Called by the macros.
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
/// The type must be concrete, since Rust's statics cannot be generic: `shared_array![f32; N]` does not compile with a
/// generic `N`. A generic function takes the array as a parameter, and each kernel declares its own. Each macro call
/// in the source is one array: two calls of a function that declares one get the same memory. All static arrays of a
/// kernel together have at most 48 KiB.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Reverses the elements of each block of 256.
/// #[kernel(max_threads = 256)]
/// pub fn reverse_blocks(x: GlobalMut<f32>) {
///     let tile = shared_array![f32; 256];
///     let (rank, size) = (thread::rank_in_block() as usize, thread::block_size() as usize);
///     let x = x.own(thread::unique_index());
///     if let Some(x) = &x {
///         // SAFETY: `rank` is below 256, the bound on threads. Each thread writes its own element.
///         unsafe { tile.store(size - 1 - rank, x.get()) };
///     }
///     // A last block with fewer elements than threads stays unchanged.
///     let is_whole = thread::sync_threads_and(x.is_some());
///     if let Some(x) = x.filter(|_| is_whole) {
///         // SAFETY: every element was written, before the barrier.
///         x.set(unsafe { tile.load(rank) });
///     }
/// }
/// ```
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $len:expr) => {
        $crate::shared::SharedArray::<'_, $element, { $len }> {
            memory: {
                let __base = $crate::__shared_storage!($element, { $len });
                // SAFETY: the storage was declared for this array. The lifetime is that of `scope`,
                // a local variable of a thread of the block.
                unsafe { $crate::shared::SharedMemory::of_array(__base) }
            },
            scope: &$crate::shared::Scope::new(),
        }
    };
}

/// Declares a static tile in shared memory and returns its [`SharedTile`](crate::shared::SharedTile):
/// `shared_tile![f32; 16, 128]`, or, with padded rows, `shared_tile![f32; 32, 32; pitch = 33]`.
///
/// As for [`shared_array!`](crate::shared_array), each macro call in the source is one tile.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Transposes a matrix of 32 x 32 elements in place, with one thread for each. The threads of a warp read a
/// /// column of the tile: with a pitch of 33 its elements lie in different banks.
/// #[kernel(max_threads = 1024)]
/// pub fn transpose(x: GlobalMut<f32>) {
///     let tile = shared_tile![f32; 32, 32; pitch = 33];
///     let (row, column) = (thread::thread_idx_y() as usize, thread::thread_idx_x() as usize);
///     let x = x.own(thread::unique_index()).filter(|_| row < 32 && column < 32);
///     if let Some(x) = &x {
///         // SAFETY: both indices are below 32. Each thread writes its own element.
///         unsafe { tile.store(row, column, x.get()) };
///     }
///     thread::sync_threads();
///     if let Some(x) = x {
///         // SAFETY: the block has a thread for each element. All were written before the barrier.
///         x.set(unsafe { tile.load(column, row) });
///     }
/// }
/// ```
#[macro_export]
macro_rules! shared_tile {
    ($element:ty; $rows:expr, $columns:expr) => {
        $crate::shared_tile![$element; $rows, $columns; pitch = $columns]
    };
    ($element:ty; $rows:expr, $columns:expr; pitch = $pitch:expr) => {
        $crate::shared::SharedTile::<'_, $element, { $rows }, { $columns }, { $pitch }> {
            memory: {
                let __base = $crate::__shared_storage!($element, { $rows } * { $pitch });
                // SAFETY: the storage was declared for this tile. The lifetime is that of `scope`,
                // a local variable of a thread of the block.
                unsafe { $crate::shared::SharedMemory::of_tile(__base) }
            },
            scope: &$crate::shared::Scope::new(),
        }
    };
}

/// The launch's dynamic shared memory as a [`SharedSlice`](crate::shared::SharedSlice): `dynamic_shared![f32]`.
///
/// Its length is the launch's `dynamic_shared_bytes` divided by the element's size. It is 128-byte aligned.
///
/// A block has one dynamic shared memory: two macro calls return the same bytes.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Rotates the elements of each block by one. Needs 4 bytes of dynamic shared memory for each thread.
/// #[kernel]
/// pub fn rotate(x: GlobalMut<f32>) {
///     let places = dynamic_shared![f32];
///     let (rank, size) = (thread::rank_in_block() as usize, thread::block_size() as usize);
///     let x = x.own(thread::unique_index()).filter(|_| size <= places.len());
///     if let Some(x) = &x {
///         // SAFETY: `rank < size <= places.len()`. Each thread writes its own element.
///         unsafe { places.store(rank, x.get()) };
///     }
///     // Whether every thread of the block has an element, and so wrote its value.
///     let is_whole = thread::sync_threads_and(x.is_some());
///     if let Some(x) = x.filter(|_| is_whole) {
///         // SAFETY: every element was written, before the barrier.
///         x.set(unsafe { places.load((rank + size - 1) % size) });
///     }
/// }
/// ```
#[macro_export]
macro_rules! dynamic_shared {
    ($element:ty) => {
        $crate::shared::SharedSlice::<'_, $element> {
            // SAFETY: the lifetime is that of `scope`, a local variable of a thread of the block.
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
        // The builder moves this section into the shared address space. Names of statics are not
        // hygienic, so this one must not occur in the caller's expressions.
        #[unsafe(link_section = ".shared")]
        static mut __CUDA_STD_STORAGE: $crate::internal::SharedStorage<$element, { $len }> =
            $crate::internal::SharedStorage(::core::mem::MaybeUninit::uninit());
        (&raw mut __CUDA_STD_STORAGE).cast::<[$element; { $len }]>()
    }};
}

/// The storage behind the macros of static shared memory.
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
#[macro_export]
macro_rules! __shared_storage {
    ($element:ty, $len:expr) => {{
        // Its address identifies this macro call.
        static __CUDA_STD_KEY: u8 = 0;
        // An item, like the array on a GPU, so it cannot be generic here either.
        const __CUDA_STD_BYTES: usize = ::core::mem::size_of::<[$element; { $len }]>();
        $crate::shared::simulated_storage(&__CUDA_STD_KEY, __CUDA_STD_BYTES)
            .cast::<[$element; { $len }]>()
    }};
}
