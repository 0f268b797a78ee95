//! Which threads of a block have a row of a column-major X.

use super::plan::{LOAD_BYTES, VECTOR_ACCUMULATORS, VECTOR_THREADS};

/// Threads of a row. Each has an equal share of the row's accumulators.
#[must_use]
pub const fn threads_of_row(bytes: usize) -> usize {
    match bytes {
        2 => VECTOR_ACCUMULATORS,
        4 => VECTOR_ACCUMULATORS / 2,
        _ => VECTOR_ACCUMULATORS / 4,
    }
}

/// Lanes: neighbouring threads, each with the rows in 16 bytes of a column, if a row has `threads` threads.
pub const fn lanes(threads: usize) -> usize {
    VECTOR_THREADS as usize / threads
}

/// Rows of a block, for rows of `k` elements of `bytes` bytes.
#[must_use]
pub const fn rows_of_block(bytes: usize, k: usize) -> usize {
    let vector = LOAD_BYTES / bytes;
    let threads = threads_of_row(bytes);
    threads / shares(k, vector, threads) * lanes(threads) * vector
}

/// Threads that share a row of `k` elements, of the `threads` that a row can have, a power of two: as many as have
/// elements, and one for each row that they share, in vectors of `vector`.
pub const fn shares(k: usize, vector: usize, threads: usize) -> usize {
    let own = VECTOR_ACCUMULATORS / threads;
    let most = threads * own * vector;
    let with_elements = if k < most {
        k.div_ceil(own * vector).next_power_of_two()
    } else {
        threads
    };
    if with_elements < vector {
        vector
    } else {
        with_elements
    }
}
