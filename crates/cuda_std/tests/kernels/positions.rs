//! Positions of threads.

use crate::put;
use cuda_std::prelude::*;

/// Numbers that [`coordinates`] writes for each thread.
pub const COORDINATES: usize = 16;

/// Writes 16 numbers for each thread, in the order of the threads in the launch: the indices of
/// thread and block, the extents of block and grid, then lane, warp, rank and block size.
///
/// # Safety
/// 1. `out` has [`COORDINATES`] elements for each thread.
#[kernel]
pub unsafe fn coordinates(out: GlobalMut<u32>) {
    let numbers: [u32; COORDINATES] = [
        thread::thread_idx_x(),
        thread::thread_idx_y(),
        thread::thread_idx_z(),
        thread::block_idx_x(),
        thread::block_idx_y(),
        thread::block_idx_z(),
        thread::block_dim_x(),
        thread::block_dim_y(),
        thread::block_dim_z(),
        thread::grid_dim_x(),
        thread::grid_dim_y(),
        thread::grid_dim_z(),
        warp::lane(),
        warp::warp_in_block(),
        thread::rank_in_block(),
        thread::block_size(),
    ];
    let first = thread::unique_index().get() * COORDINATES;
    for (i, number) in numbers.into_iter().enumerate() {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, first + i, number) };
    }
}

/// Numbers that [`indices`] writes for each thread.
pub const INDICES: usize = 7;

/// Writes for each thread, in the order of the threads in the launch, its index in one dimension,
/// in two, and in three, and the block's rank.
///
/// # Safety
/// 1. `out` has [`INDICES`] elements for each thread.
#[kernel]
pub unsafe fn indices(out: GlobalMut<u64>) {
    let (x2, y2) = thread::index_2d();
    let (x3, y3, z3) = thread::index_3d();
    let numbers = [thread::index_1d(), x2, y2, x3, y3, z3].map(u64::from);
    let first = thread::unique_index().get() * INDICES;
    for (i, number) in numbers
        .into_iter()
        .chain([thread::block_rank()])
        .enumerate()
    {
        // SAFETY: the elements belong to this thread's unique index.
        unsafe { put(out, first + i, number) };
    }
}

/// `y[i] = a * x[i] + y[i]`, through each thread's own element. If `x` is empty, the length of `y`
/// replaces its elements.
#[kernel(max_threads = 1024)]
pub fn own_elements(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let index = thread::unique_index();
    let x_at = if x.is_empty() {
        Some(y.len() as f32)
    } else {
        x.get(index.get())
    };
    if let (Some(x), Some(y)) = (x_at, y.own(index)) {
        y.set(a * x + y.get());
    }
}

/// Adds up parameters of every scalar type. Other parameters have names that the lengths of the
/// views could have.
#[kernel]
#[allow(clippy::too_many_arguments, reason = "one parameter for each type")]
pub fn scalars(
    a: u8,
    b: i16,
    x: Global<f64>,
    x_len: u32,
    c: i64,
    d: f32,
    e: half::f16,
    out: GlobalMut<f64>,
    out_len: usize,
) {
    let index = thread::unique_index();
    let sum = f64::from(a) + f64::from(b) + c as f64 + f64::from(d) + f64::from(e.to_f32());
    let x = x.get(index.get() + x_len as usize).unwrap_or(0.0);
    if index.get() < out_len
        && let Some(out) = out.own(index)
    {
        out.set(sum + x);
    }
}
