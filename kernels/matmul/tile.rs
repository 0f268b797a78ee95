//! Tiles of operands in shared memory.

use super::element::FmaElement;
use cuda_std::shared::{SharedSlice, SharedTile};

/// A tile in shared memory whose type carries its shape: a [`SharedTile`] as one type parameter instead of four.
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

    /// `COUNT` elements of row `row`: vectors of `VECTOR` elements from `column` on, `stride` apart.
    ///
    /// # Safety
    /// 1. The tile has the vectors. They have been written, before a barrier, and no thread writes them before the next
    ///    one.
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
            // SAFETY: the tile has the vector, which was written before a barrier, and no thread writes it before the
            // next one. `VECTOR` divides the pitch and the column. All are the caller's contract.
            let loaded: [T; VECTOR] = unsafe { self.load_vector(row, column + vector * stride) };
            for v in 0..VECTOR {
                elements[vector * VECTOR + v] = loaded[v];
            }
        }
        elements
    }
}
