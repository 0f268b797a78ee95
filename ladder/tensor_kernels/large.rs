//! The fourth step: larger tiles. Each loaded element is used by twice as many products. The accumulators take 128
//! registers per thread, which the copying warpgroup releases.
//!
//! Prediction: a 64 x 128 product reads a byte of shared memory for each 43 operations, a 64 x 256 product for each
//! 51, and a block loads a byte for each 64 or 85. Both paths have a fifth to a quarter less work.

use crate::roles::{Role, ring_bytes};
use crate::specialised::{STAGES, product};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use half::bf16;

pub use crate::roles::{ROWS, THREADS};

/// Columns of the outputs of a block.
pub const COLUMNS: usize = 256;

/// Dynamic shared memory in bytes.
pub const SHARED_BYTES: u32 = ring_bytes(STAGES, COLUMNS);

/// Moves registers from the copying warpgroup to the multiplying ones.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, with its role, and only once.
/// 2. The kernel's bounds state 384 threads per block and one block per multiprocessor, so each thread starts with
///    168 registers.
#[inline(always)]
pub unsafe fn move_registers(role: Role) {
    // SAFETY: all threads call it together, once, and start with 168 registers: the caller's
    // contract.
    unsafe {
        match role {
            Role::Producer => warpgroup::decrease_registers::<40>(),
            Role::Consumer => warpgroup::increase_registers::<232>(),
        }
    }
}

/// The kernel: one block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements, and `b` columns of `depth` elements. `c` has A's rows and B's columns, a
///    multiple of 8, and starts at a multiple of 16 bytes.
/// 2. The grid is (columns / 256, rows / 128), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1)]
pub unsafe fn tensor_large_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 256, 64>>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    // SAFETY: `divide` calls it once, with all threads of the warpgroup. The attribute states the
    // threads and the single block.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: the caller's contract.
    unsafe { product::<COLUMNS, 128>(a, b, c, (columns, depth), begin) };
}
