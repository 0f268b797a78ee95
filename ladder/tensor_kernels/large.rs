//! The fourth step: larger tiles. An element that was brought is used by twice as many products. The
//! accumulators take 128 registers of each thread, which the warpgroup that copies gives back.
//!
//! Prediction: a product of 64 x 128 reads a byte of shared memory for each 43 operations, one of
//! 64 x 256 for each 51, and a block brings a byte for each 64 or 85: both paths have a fifth to a quarter
//! less to do.

use crate::roles::{Role, ring_bytes};
use crate::specialised::{STAGES, product};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use half::bf16;

pub use crate::roles::{ROWS, THREADS};

/// Columns of the outputs of a block.
pub const COLUMNS: usize = 256;

/// Bytes of dynamic shared memory.
pub const SHARED_BYTES: u32 = ring_bytes(STAGES, COLUMNS);

/// Moves registers from the warpgroup that copies to those that multiply.
///
/// # Safety
/// 1. All threads of the warpgroup make the call together, with its role, and only once.
/// 2. The kernel states that a block has 384 threads and is alone on a multiprocessor, so that each thread
///    starts with 168 registers.
#[inline(always)]
pub unsafe fn move_registers(role: Role) {
    // SAFETY: (1) is (1). (2) is (2). (3) is (1).
    unsafe {
        match role {
            Role::Producer => warpgroup::decrease_registers::<40>(),
            Role::Consumer => warpgroup::increase_registers::<232>(),
        }
    }
}

/// One block for each 128 x 256 outputs.
///
/// # Safety
/// 1. `a` has rows of `depth` elements and `b` columns of as many; `c` has a row for each row of A, and a
///    column for each column of B, of which there are a multiple of 8.
/// 2. The grid is (columns / 256, rows / 128), rounded up, with [`THREADS`] and [`SHARED_BYTES`].
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1)]
pub unsafe fn tensor_large_nt(
    a: GridConstant<TensorMap<bf16, 128, 64>>,
    b: GridConstant<TensorMap<bf16, 256, 64>>,
    c: GlobalMut<bf16>,
    columns: u32,
    depth: u32,
) {
    // SAFETY: (1) `divide` has all threads of the warpgroup here, once. (2) It is the attribute's.
    let begin = |role| unsafe { move_registers(role) };
    // SAFETY: (1) is (1). (2) is (2).
    unsafe { product::<COLUMNS, 128>(a, b, c, (columns, depth), begin) };
}
