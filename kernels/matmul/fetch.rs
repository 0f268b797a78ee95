//! How a block of the coarsened kernels brings the tiles of its operands to shared memory,
//! whichever way the operands lie in global memory.
//!
//! A tile has a row for each k and, along it, the block's outputs in one direction: rows of C for
//! A's tile, columns of C for B's. An operand comes to it in one of two ways:
//!
//! - [`Straight`], where neighbours in memory are neighbours along the tile's rows: a column-major
//!   A, a row-major B. Copies are as wide as the alignment allows.
//! - [`Turned`], where neighbours in memory follow k: a row-major A, a column-major B. It is the
//!   corner turning of seed 000 (figure 6.4): neighbouring threads read neighbouring elements, and
//!   shared memory takes them apart, element by element.

use super::coarsened::{STAGES, THREADS};
use cuda_std::hint::{recompute, recompute_size};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// Where a tile starts: the first k and the first output, row or column of C.
#[derive(Clone, Copy)]
pub struct Corner {
    pub k: usize,
    pub output: usize,
}

/// How an operand comes to its tile.
pub trait Fetch {
    /// Whether neighbours in memory follow k, instead of the outputs.
    const FOLLOWS_K: bool;

    /// The operand with its extents, in the order in which it lies in memory. Its tiles have
    /// `outside`, a zero of either sign, where it ends.
    #[inline(always)]
    fn source<T: Float>(
        matrix: Global<'_, T>,
        outputs: usize,
        k: usize,
        outside: T,
    ) -> Source<'_, T> {
        let (rows, columns) = if Self::FOLLOWS_K {
            (outputs, k)
        } else {
            (k, outputs)
        };
        Source {
            matrix,
            rows,
            columns,
            outside,
        }
    }

    /// Starts to copy the tile of `DEPTH` k and `WIDTH` outputs that starts at `corner` to the rows
    /// of `tile` from `tile_row` on, which are `PITCH` elements apart, with the source's
    /// `outside` for what lies outside the operand.
    ///
    /// # Safety
    /// 1. The `DEPTH` rows lie within the tile.
    /// 2. `VECTOR` elements are 16 bytes and divide the pitch; the operand starts at a multiple of
    ///    16 bytes, and its rows in memory are multiples of what [`Straight`] is told to copy.
    /// 3. Nobody touches the rows until the copies are waited for and a barrier is passed.
    /// 4. `WHOLE` only where the tile lies within the operand.
    unsafe fn fetch<
        T: Float,
        const VECTOR: usize,
        const DEPTH: usize,
        const WIDTH: usize,
        const PITCH: usize,
        const WHOLE: bool,
    >(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<T>,
        tile_row: usize,
        source: &Source<T>,
        corner: Corner,
    );
}

/// Copies along the tile's rows, `COPY` elements at a time.
pub struct Straight<const COPY: usize>;

/// As [`Straight`], in 16 bytes at a time where the operand's rows in memory are multiples of that,
/// and in single elements elsewhere: the kernel asks, where [`Straight`] knows. `PREPARED` says
/// whether there are registers to prepare the addresses of the former.
pub struct StraightOfAnyLength<const PREPARED: bool>;

/// Copies across the tile's rows, one element at a time; `PREPARED` as in
/// [`StraightOfAnyLength`].
pub struct Turned<const PREPARED: bool>;

/// A matrix in global memory, row after row.
#[derive(Clone, Copy)]
pub struct Source<'launch, T> {
    matrix: Global<'launch, T>,
    rows: usize,
    columns: usize,
    /// What tiles have outside the matrix.
    outside: T,
}

/// A tile of a [`Source`]: what a block copies at once.
#[derive(Clone, Copy)]
struct Window<T> {
    /// The position of the tile's corner in the matrix.
    corner: usize,
    /// Rows and columns of the tile that lie within the matrix.
    rows: u32,
    columns: u32,
    /// That of the [`Source`].
    outside: T,
}

impl<T: Float> Source<'_, T> {
    /// The tile of `rows` x `columns` whose corner is element (`row`, `column`), which lies within
    /// the matrix.
    #[inline(always)]
    fn window(&self, (row, column): (usize, usize), rows: usize, columns: usize) -> Window<T> {
        Window {
            corner: row * self.columns + column,
            rows: (self.rows - row).min(rows) as u32,
            columns: (self.columns - column).min(columns) as u32,
            outside: self.outside,
        }
    }
}

impl<T: Float> Window<T> {
    /// How many elements of the window stand from (`down`, `along`) to the end of the row.
    #[inline(always)]
    fn present(&self, down: usize, along: usize) -> usize {
        let in_row = self.columns.saturating_sub(along as u32);
        (if (down as u32) < self.rows { in_row } else { 0 }) as usize
    }

    /// Starts to copy `COPY` elements that stand at `from` in `matrix` and at `place` (down, along)
    /// in the window to `to` in `tile`, with `outside` for what lies outside the window. `WHOLE`
    /// promises that nothing does.
    ///
    /// # Safety
    /// 1. The destination lies within the tile, and the source, as far as it lies within the
    ///    window, within the matrix.
    /// 2. `COPY` elements are 4, 8 or 16 bytes and divide both addresses.
    /// 3. Nobody touches the destination until the copy is waited for and a barrier is passed.
    #[inline(always)]
    unsafe fn copy<const COPY: usize, const WHOLE: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        (tile, to): (SharedSlice<'_, T>, usize),
        (matrix, from): (Global<'_, T>, usize),
        place: (usize, usize),
    ) {
        // SAFETY: (1), (2), (3) are the caller's; (1) and (2) of a store are (1) and (3).
        unsafe {
            if WHOLE {
                pipeline.copy::<T, COPY>(tile, to, matrix, from);
            } else {
                let present = self.present(place.0, place.1);
                if present == 0 {
                    // Not by a copy of nothing, which writes +0 alone.
                    for v in 0..COPY {
                        tile.store(to + v, self.outside);
                    }
                } else {
                    pipeline.copy_or_zero::<T, COPY>(tile, to, matrix, from, present);
                }
            }
        }
    }
}

/// The thread's index and the matrix from which the addresses of copies are computed. Those of
/// whole tiles may be `prepared` before the loop over K; others, such as those at the edges, which
/// are longer and rare, are computed anew for each tile, so that they hold no registers while the
/// block multiplies. `prepared` is a constant of the caller's.
#[inline(always)]
fn addresses_from<'launch, T: Float>(
    source: &Source<'launch, T>,
    prepared: bool,
) -> (usize, Source<'launch, T>) {
    let thread = thread::thread_idx_x();
    if prepared {
        return (thread as usize, *source);
    }
    let source = Source {
        rows: recompute_size(source.rows),
        columns: recompute_size(source.columns),
        ..*source
    };
    (recompute(thread) as usize, source)
}

/// Neighbouring elements in memory that neighbouring threads copy across the tile's rows. A warp
/// copies 4 outputs of 8 k: in tiles whose rows are a multiple of 32, and 4, words apart, these
/// are 32 different banks.
const TURNED_ALONG: usize = 8;

impl<const PREPARED: bool> Fetch for Turned<PREPARED> {
    const FOLLOWS_K: bool = true;

    #[inline(always)]
    unsafe fn fetch<
        T: Float,
        const VECTOR: usize,
        const DEPTH: usize,
        const WIDTH: usize,
        const PITCH: usize,
        const WHOLE: bool,
    >(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<T>,
        tile_row: usize,
        source: &Source<T>,
        corner: Corner,
    ) {
        const OUTPUTS_APART: usize = THREADS / TURNED_ALONG;
        let (thread, source) = addresses_from(source, WHOLE && PREPARED);
        let (first_down, first_along) = (thread / TURNED_ALONG, thread % TURNED_ALONG);
        let window = source.window((corner.output, corner.k), WIDTH, DEPTH);
        let first = first_down * source.columns + first_along;
        for i in 0..WIDTH / OUTPUTS_APART {
            let down = first_down + i * OUTPUTS_APART;
            let row = window.corner + i * OUTPUTS_APART * source.columns;
            for j in 0..DEPTH / TURNED_ALONG {
                let along = first_along + j * TURNED_ALONG;
                let to = (tile, (tile_row + along) * PITCH + down);
                let from = (source.matrix, first + (row + j * TURNED_ALONG));
                // SAFETY: (1) is (1) and (4). (2) One element is aligned to itself. (3) is (3).
                unsafe { window.copy::<1, WHOLE>(pipeline, to, from, (down, along)) };
            }
        }
    }
}

/// [`Fetch::fetch`] along the tile's rows, `COPY` elements at a time, with addresses that are
/// `PREPARED` or not.
///
/// # Safety
/// Those of [`Fetch::fetch`]; in (2), `COPY` elements divide the operand's rows in memory.
#[inline(always)]
unsafe fn fetch_straight<
    T: Float,
    const VECTOR: usize,
    const COPY: usize,
    const DEPTH: usize,
    const WIDTH: usize,
    const PITCH: usize,
    const WHOLE: bool,
    const PREPARED: bool,
>(
    pipeline: &mut Pipeline<STAGES>,
    tile: SharedSlice<T>,
    tile_row: usize,
    source: &Source<T>,
    corner: Corner,
) {
    let vectors_along = WIDTH / VECTOR;
    let rows_apart = THREADS / vectors_along;
    let (thread, source) = addresses_from(source, PREPARED);
    let (first_down, along) = (thread / vectors_along, thread % vectors_along * VECTOR);
    let window = source.window((corner.k, corner.output), DEPTH, WIDTH);
    let first = first_down * source.columns + along;
    for i in 0..DEPTH / rows_apart {
        let down = first_down + i * rows_apart;
        let row = window.corner + i * rows_apart * source.columns;
        for v in (0..VECTOR).step_by(COPY) {
            let to = (tile, (tile_row + down) * PITCH + along + v);
            let from = (source.matrix, first + (row + v));
            // SAFETY: (1) is (1) and (4). (2) is (2): blocks start at multiples of the vectors.
            // (3) is (3).
            unsafe { window.copy::<COPY, WHOLE>(pipeline, to, from, (down, along + v)) };
        }
    }
}

impl<const COPY: usize> Fetch for Straight<COPY> {
    const FOLLOWS_K: bool = false;

    #[inline(always)]
    unsafe fn fetch<
        T: Float,
        const VECTOR: usize,
        const DEPTH: usize,
        const WIDTH: usize,
        const PITCH: usize,
        const WHOLE: bool,
    >(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<T>,
        tile_row: usize,
        source: &Source<T>,
        corner: Corner,
    ) {
        // SAFETY: the caller's.
        unsafe {
            fetch_straight::<T, VECTOR, COPY, DEPTH, WIDTH, PITCH, WHOLE, WHOLE>(
                pipeline, tile, tile_row, source, corner,
            );
        }
    }
}

impl<const PREPARED: bool> Fetch for StraightOfAnyLength<PREPARED> {
    const FOLLOWS_K: bool = false;

    /// Tiles at the edges, which are rare, have the short code of single elements alone. Only the
    /// addresses of vectors are prepared, if any: there are no registers for both.
    #[inline(always)]
    unsafe fn fetch<
        T: Float,
        const VECTOR: usize,
        const DEPTH: usize,
        const WIDTH: usize,
        const PITCH: usize,
        const WHOLE: bool,
    >(
        pipeline: &mut Pipeline<STAGES>,
        tile: SharedSlice<T>,
        tile_row: usize,
        source: &Source<T>,
        corner: Corner,
    ) {
        // SAFETY: (1), (3), (4) are the caller's. (2) Vectors are copied only where they divide the
        // rows.
        unsafe {
            if WHOLE && source.columns.is_multiple_of(VECTOR) {
                fetch_straight::<T, VECTOR, VECTOR, DEPTH, WIDTH, PITCH, WHOLE, PREPARED>(
                    pipeline, tile, tile_row, source, corner,
                );
            } else {
                fetch_straight::<T, VECTOR, 1, DEPTH, WIDTH, PITCH, WHOLE, false>(
                    pipeline, tile, tile_row, source, corner,
                );
            }
        }
    }
}
