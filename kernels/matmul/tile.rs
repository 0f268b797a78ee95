//! Tiles of operands in shared memory.

use super::element::FmaElement;
use cuda_std::shared::{SharedSlice, SharedTile};

/// A tile in shared memory, whose type carries its shape: a [`SharedTile`] in one type parameter
/// instead of four.
pub trait Tile: Copy {
    /// The type of the elements.
    type Element: FmaElement;

    /// Rows of the tile.
    const ROWS: usize;

    /// Elements of a row.
    const COLUMNS: usize;

    /// Elements from one row to the next.
    const PITCH: usize;

    /// The tile's elements as one array, row after row, padding included.
    fn as_slice<'block>(self) -> SharedSlice<'block, Self::Element>
    where
        Self: 'block;

    /// `COUNT` elements of row `row`, as vectors of `VECTOR` that lie `stride` apart.
    ///
    /// # Safety
    /// 1. The vectors lie within the tile and have been written, before a barrier.
    /// 2. `VECTOR` elements are 4, 8 or 16 bytes and divide `column`, `stride` and the pitch.
    unsafe fn fragment<const VECTOR: usize, const COUNT: usize>(
        self,
        row: usize,
        column: usize,
        stride: usize,
    ) -> [Self::Element; COUNT];
}

impl<'b, T: FmaElement, const ROWS: usize, const COLUMNS: usize, const PITCH: usize> Tile
    for SharedTile<'b, T, ROWS, COLUMNS, PITCH>
{
    type Element = T;
    const ROWS: usize = ROWS;
    const COLUMNS: usize = COLUMNS;
    const PITCH: usize = PITCH;

    #[inline(always)]
    fn as_slice<'block>(self) -> SharedSlice<'block, T>
    where
        Self: 'block,
    {
        Self::as_slice(self)
    }

    #[inline(always)]
    unsafe fn fragment<const VECTOR: usize, const COUNT: usize>(
        self,
        row: usize,
        column: usize,
        stride: usize,
    ) -> [T; COUNT] {
        let mut elements = [T::ZERO; COUNT];
        for vector in 0..COUNT / VECTOR {
            // SAFETY: (1), (2) The vector lies within the tile and was written before a barrier, by
            // (1). (3) `VECTOR` divides its place, by (2).
            let loaded: [T; VECTOR] = unsafe { self.load_vector(row, column + vector * stride) };
            for v in 0..VECTOR {
                elements[vector * VECTOR + v] = loaded[v];
            }
        }
        elements
    }
}
