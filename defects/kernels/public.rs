//! Defects from public bug histories, each as a minimal kernel that shows it, with a twin without it.

pub mod block_races;
pub mod bounds;
pub mod divergence;
pub mod grid_races;
pub mod orders;
pub mod tiles;
pub mod unwritten;
pub mod warp_races;

use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Elements of each view, and words of dynamic shared memory.
pub const ELEMENTS: usize = 256;

/// The parameters of each kernel.
#[derive(Clone, Copy)]
struct Memory<'a> {
    /// Ones.
    input: Global<'a, u32>,
    /// Zeros.
    data: GlobalMut<'a, u32>,
    /// Uninitialised.
    out: GlobalMut<'a, u32>,
    shared: SharedSlice<'a, u32>,
}

/// The block's number.
#[inline(always)]
fn block() -> usize {
    thread::block_idx_x() as usize
}

/// The thread's number in the grid.
#[inline(always)]
fn global_index() -> usize {
    thread::index_1d() as usize
}

/// Defines two kernels with one body: `NAME NAME_OF_TWIN(memory) { body }`.
macro_rules! defects {
    ($($(#[$meta:meta])* $name:ident $twin:ident($memory:ident) { $($text:tt)* })*) => {$(
        $crate::public::defects! { @kernel [$(#[$meta])*] $name false ($memory) { $($text)* } }
        $crate::public::defects! { @kernel [#[doc = concat!("[`", stringify!($name), "`] without the mistake.")]]
            $twin true ($memory) { $($text)* } }
    )*};
    (@kernel [$(#[$meta:meta])*] $name:ident $right:literal ($memory:ident) { $($text:tt)* }) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// 1. The views have [`ELEMENTS`](crate::public::ELEMENTS) elements, and the launch has this many words of
        ///    dynamic shared memory.
        /// 2. A kernel with a mistake runs in the simulator or in a separate process.
        #[kernel(max_threads = 128)]
        #[allow(unused, reason = "what one twin uses, the other one may not")]
        pub unsafe fn $name(input: Global<u32>, data: GlobalMut<u32>, out: GlobalMut<u32>) {
            const RIGHT: bool = $right;
            let shared = dynamic_shared!(u32);
            let $memory = $crate::public::Memory { input, data, out, shared };
            // SAFETY: the twin's calls meet the requirements of each function, given the views and the shared memory:
            // the caller's contract. The other kernel breaks one on purpose, and runs in the simulator or in a
            // separate process.
            unsafe { $($text)* }
        }
    };
}
use defects;
