//! Unique indices: proofs that an element belongs to the calling thread alone.
//!
//! | a thread owns | function | in |
//! |---|---|---|
//! | one element | [`unique_index`] | [`GlobalMut::own`](crate::global::GlobalMut::own) |
//! | every n-th element, in a launch of n threads | [`unique_indices`] | [`GlobalMut::own`](crate::global::GlobalMut::own) |
//! | one element of a matrix | [`unique_index_2d`] | [`GlobalMatrixMut::own`](crate::global::GlobalMatrixMut::own) |
//!
//! In a launch of n threads, element `i` of a [`GlobalMut`](crate::global::GlobalMut) belongs to
//! the thread of rank `i % n`, and element (row, column) of a
//! [`GlobalMatrixMut`](crate::global::GlobalMatrixMut) to the thread with that y and x.

use super::{
    block_dim_x, block_dim_y, block_dim_z, block_idx_x, block_idx_y, block_idx_z, block_rank,
    block_size, grid_dim_x, grid_dim_y, grid_dim_z, rank_in_block, thread_idx_x, thread_idx_y,
    thread_idx_z,
};
use core::marker::PhantomData;

/// Neither `Send` nor `Sync`, and tied to one launch: a unique index stays with its thread.
///
/// The lifetime is invariant, so an index works only with views of its own launch. A thread-local could keep only a
/// `'static` one, which no view of a kernel accepts.
type OfThread<'launch> = PhantomData<*mut &'launch ()>;

/// The proof that an index belongs to the calling thread alone.
///
/// Only [`unique_index`] and [`unique_indices`] make one, and it cannot leave its thread. So no other thread of the
/// launch reaches the same element through [`GlobalMut::own`](crate::global::GlobalMut::own).
#[derive(Debug)]
pub struct UniqueIndex<'launch> {
    index: usize,
    of_thread: OfThread<'launch>,
}

impl UniqueIndex<'_> {
    /// The index.
    #[inline(always)]
    #[must_use]
    pub fn get(&self) -> usize {
        self.index
    }
}

/// The thread's rank in the launch, unique in one, two and three dimensions. In one dimension it is
/// [`index_1d`](super::index_1d).
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Halves each element. Launch at least as many threads.
/// #[kernel]
/// pub fn halve(x: GlobalMut<f32>) {
///     if let Some(x) = x.own(thread::unique_index()) {
///         x.set(0.5 * x.get());
///     }
/// }
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn unique_index<'launch>() -> UniqueIndex<'launch> {
    let index = block_rank() * u64::from(block_size()) + u64::from(rank_in_block());
    UniqueIndex {
        index: index as usize,
        of_thread: PhantomData,
    }
}

/// The calling thread's indices below `len` in a grid-stride loop: its rank in the launch, then steps of the launch's
/// size.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// `y[i] += a * x[i]` for each `i` within both, with any number of threads.
/// #[kernel]
/// pub fn axpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
///     for i in thread::unique_indices(y.len()) {
///         if let (Some(x), Some(y)) = (x.get(i.get()), y.own(i)) {
///             y.set(a.mul_add(x, y.get()));
///         }
///     }
/// }
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn unique_indices<'launch>(len: usize) -> UniqueIndices<'launch> {
    let blocks = u64::from(grid_dim_x()) * u64::from(grid_dim_y()) * u64::from(grid_dim_z());
    UniqueIndices {
        next: unique_index().index,
        end: len,
        threads: launch_size(blocks, block_size()),
        of_thread: PhantomData,
    }
}

/// The number of threads in a launch. It saturates, so that no further index is valid; with a wrapped number, two
/// threads could have the same index.
#[inline(always)]
const fn launch_size(blocks: u64, block_size: u32) -> usize {
    blocks.saturating_mul(block_size as u64) as usize
}

/// The iterator that [`unique_indices`] returns.
#[derive(Debug)]
pub struct UniqueIndices<'launch> {
    next: usize,
    end: usize,
    /// The number of threads in the launch.
    threads: usize,
    of_thread: OfThread<'launch>,
}

impl<'launch> Iterator for UniqueIndices<'launch> {
    type Item = UniqueIndex<'launch>;

    #[inline(always)]
    fn next(&mut self) -> Option<UniqueIndex<'launch>> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        // Saturates to an invalid index; a wrapped sum could be another thread's.
        self.next = index.saturating_add(self.threads);
        Some(UniqueIndex {
            index,
            of_thread: PhantomData,
        })
    }
}

/// The proof that an element of a matrix belongs to the calling thread alone.
///
/// Only [`unique_index_2d`] makes one, and it cannot leave its thread. So no other thread of the launch reaches the
/// same element through [`GlobalMatrixMut::own`](crate::global::GlobalMatrixMut::own).
#[derive(Debug)]
pub struct UniqueIndex2d<'launch> {
    row: usize,
    column: usize,
    of_thread: OfThread<'launch>,
}

impl UniqueIndex2d<'_> {
    /// The row: the thread's index in the launch along y.
    #[inline(always)]
    #[must_use]
    pub fn row(&self) -> usize {
        self.row
    }

    /// The column: the thread's index in the launch along x. If blocks are as wide as a warp, each
    /// warp has elements of one row.
    #[inline(always)]
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

/// The thread's row, along y, and column, along x. In three dimensions each layer along z continues with the next
/// rows, so the element is unique there, too.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Transposes `x`, with one thread for each element of `y`.
/// #[kernel]
/// pub fn transpose(x: GlobalMatrix<f32>, y: GlobalMatrixMut<f32>) {
///     let i = thread::unique_index_2d();
///     if let (Some(x), Some(y)) = (x.get(i.column(), i.row()), y.own(i)) {
///         y.set(x);
///     }
/// }
/// ```
#[inline(always)]
#[track_caller]
#[must_use]
pub fn unique_index_2d<'launch>() -> UniqueIndex2d<'launch> {
    let along =
        |block: u32, size: u32, thread: u32| u64::from(block) * u64::from(size) + u64::from(thread);
    let column = along(block_idx_x(), block_dim_x(), thread_idx_x());
    let row = along(block_idx_y(), block_dim_y(), thread_idx_y());
    let layer = along(block_idx_z(), block_dim_z(), thread_idx_z());
    let rows_of_layer = u64::from(grid_dim_y()) * u64::from(block_dim_y());
    UniqueIndex2d {
        row: (layer * rows_of_layer + row) as usize,
        column: column as usize,
        of_thread: PhantomData,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The indices of a thread from `next`.
    fn indices(next: usize, end: usize, threads: usize) -> Vec<usize> {
        let indices = UniqueIndices {
            next,
            end,
            threads,
            of_thread: PhantomData,
        };
        indices.map(|index| index.get()).collect()
    }

    #[test]
    fn a_launch_has_no_fewer_threads_than_64_bits_count() {
        assert_eq!(launch_size(3, 5), 15);
        // 2^64 + 8192 threads would wrap to 8192.
        let blocks = (1 << 54) + 8;
        assert_eq!(launch_size(blocks, 1024), usize::MAX);
        assert_eq!(indices(5, 100_000, launch_size(blocks, 1024)), [5]);
    }

    #[test]
    fn indices_end_before_a_sum_wraps() {
        assert_eq!(indices(2, 13, 5), [2, 7, 12]);
        assert_eq!(indices(5, 5, 5), []);
        let last = usize::MAX - 1;
        assert_eq!(indices(last - 3, usize::MAX, 3), [last - 3, last]);
        assert_eq!(indices(last, usize::MAX, 7), [last]);
    }
}
