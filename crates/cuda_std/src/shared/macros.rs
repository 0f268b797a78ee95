//! The macros that declare shared memory, and the storage behind them.

#[cfg(not(target_arch = "nvptx64"))]
use crate::machine;

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
///         // SAFETY: (1) `rank` is below the 256 threads of the bound. (2) Each thread has a place.
///         unsafe { tile.store(size - 1 - rank, x.get()) };
///     }
///     // The last block may have fewer elements than threads: it stays as it is.
///     let is_whole = thread::sync_threads_and(x.is_some());
///     if let Some(x) = x.filter(|_| is_whole) {
///         // SAFETY: (1) every place was written. (2) The barrier is after the writes.
///         x.set(unsafe { tile.load(rank) });
///     }
/// }
/// ```
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
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Transposes a matrix of 32 x 32 elements in one block of as many threads, in place. The threads of
/// /// a warp read a column of the tile: with a pitch of 33 its elements lie in different banks.
/// #[kernel(max_threads = 1024)]
/// pub fn transpose(x: GlobalMut<f32>) {
///     let tile = shared_tile![f32; 32, 32; pitch = 33];
///     let (row, column) = (thread::thread_idx_y() as usize, thread::thread_idx_x() as usize);
///     let x = x.own(thread::unique_index()).filter(|_| row < 32 && column < 32);
///     if let Some(x) = &x {
///         // SAFETY: (1) both are below 32. (2) Each thread has a place.
///         unsafe { tile.store(row, column, x.get()) };
///     }
///     thread::sync_threads();
///     if let Some(x) = x {
///         // SAFETY: (1) the block has a thread for each place. (2) The barrier is after the writes.
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
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Each thread gets its left neighbour's element, the first one of a block the last one's; blocks of
/// /// any size, with 4 bytes of dynamic shared memory for each thread.
/// #[kernel]
/// pub fn rotate(x: GlobalMut<f32>) {
///     let places = dynamic_shared![f32];
///     let (rank, size) = (thread::rank_in_block() as usize, thread::block_size() as usize);
///     let x = x.own(thread::unique_index()).filter(|_| size <= places.len());
///     if let Some(x) = &x {
///         // SAFETY: (1) `rank < size <= places.len()`. (2) Each thread has a place.
///         unsafe { places.store(rank, x.get()) };
///     }
///     // Whether each thread of the block has an element, and so wrote its place.
///     let is_whole = thread::sync_threads_and(x.is_some());
///     if let Some(x) = x.filter(|_| is_whole) {
///         // SAFETY: (1) every place was written. (2) The barrier is after the writes.
///         x.set(unsafe { places.load((rank + size - 1) % size) });
///     }
/// }
/// ```
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
        (&raw mut __CUDA_STD_STORAGE).cast::<[$element; { $len }]>()
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
        $crate::shared::simulated_storage(&__CUDA_STD_KEY, __CUDA_STD_BYTES)
            .cast::<[$element; { $len }]>()
    }};
}
