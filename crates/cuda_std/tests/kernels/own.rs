//! Kernels without `unsafe`, through unique indices, matrices and atomic views.

use cuda_std::prelude::*;

/// Counts the threads to which each element belongs, for any launch.
#[kernel]
pub fn count_owners(out: GlobalMut<u32>) {
    for index in thread::unique_indices(out.len()) {
        if let Some(out) = out.own(index) {
            out.set(out.get() + 1);
        }
    }
}

/// Counts the threads to which each element of a matrix belongs.
#[kernel]
pub fn count_owners_2d(out: GlobalMatrixMut<u32>) {
    if let Some(out) = out.own(thread::unique_index_2d()) {
        out.set(out.get() + 1);
    }
}

/// `y` becomes the transpose of `x`.
#[kernel]
pub fn transpose_rows(x: GlobalMatrix<f32>, y: GlobalMatrixMut<f32>) {
    let index = thread::unique_index_2d();
    if let (Some(x), Some(y)) = (x.get(index.column(), index.row()), y.own(index)) {
        y.set(x);
    }
}

/// Each element of `y` becomes the sum of the same element of `x` and its neighbours.
#[kernel]
pub fn add_neighbours(x: GlobalMatrix<f32>, y: GlobalMatrixMut<f32>) {
    let index = thread::unique_index_2d();
    let (row, column) = (index.row(), index.column());
    let at = |row, column| x.get(row, column).unwrap_or(0.0);
    let vertical = at(row.wrapping_sub(1), column) + at(row + 1, column);
    let horizontal = at(row, column.wrapping_sub(1)) + at(row, column + 1);
    if let Some(y) = y.own(index) {
        y.set(at(row, column) + vertical + horizontal);
    }
}

/// `out[row]` is the last element of the row, or 7 for an empty row.
#[kernel]
pub fn last_of_rows(x: GlobalMatrix<u32>, out: GlobalMut<u32>) {
    let index = thread::unique_index();
    let last = x
        .row(index.get())
        .and_then(|row| row.get(row.len().wrapping_sub(1)));
    if let Some(out) = out.own(index) {
        out.set(last.unwrap_or(7));
    }
}

/// `bins[v]` grows by the number of `v` among `values`.
#[kernel]
pub fn histogram(values: Global<u32>, bins: GlobalAtomic<u32>) {
    for index in thread::unique_indices(values.len()) {
        if let Some(value) = values.get(index.get()) {
            bins.fetch_add(value as usize, 1);
        }
    }
}

/// Applies every operation with the thread's rank, each to a word of its own, the last by
/// compare-and-exchange. `missing` counts the operations past the end, which find no word.
#[kernel]
pub fn apply_all_operations(words: GlobalAtomic<u32>, missing: GlobalAtomic<u32>) {
    let rank = thread::unique_index().get() as u32;
    words.fetch_add(0, rank);
    words.fetch_min(1, rank);
    words.fetch_max(2, rank);
    words.fetch_and(3, !rank);
    words.fetch_or(4, rank);
    words.fetch_xor(5, rank);
    words.swap(6, 9);
    words.store(7, 5);
    let mut current = words.load(8);
    while let Some(expected) = current {
        let found = words.compare_exchange(8, expected, expected + 1);
        if found == current {
            break;
        }
        current = found;
        thread::yield_now();
    }
    let outside = words.len();
    let touched = [
        words.fetch_add(outside, 1).is_some(),
        words.load(outside).is_some(),
        words.store(outside, 1),
        words.compare_exchange(outside, 0, 1).is_some(),
    ];
    for it in &touched {
        missing.fetch_add(0, u32::from(!*it));
    }
}
