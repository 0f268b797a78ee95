//! Copies rows: neighbours in global memory stay neighbours in shared memory.

use super::element::OperandElement;
use super::operand::GlobalOperand;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The shape in shared memory of a tile that a block copies.
pub trait CopyShape {
    /// The type of the elements.
    type Element: OperandElement;

    /// Rows of the tile.
    const ROWS: usize;

    /// Elements of a row.
    const COLUMNS: usize;

    /// Elements from one row to the next, a multiple of 16 bytes.
    const PITCH: usize;

    /// Threads that copy, along x.
    const THREADS: usize;
}

/// Starts to copy a tile of `operand` to `storage`, `COPY` elements at a time.
///
/// The tile starts at `origin` (row, column) of the operand and goes to the rows from `first_row`. Elements outside
/// the operand become its `outside`. `HOISTED` is the parameter of [`GlobalOperand::addressed`].
///
/// # Safety
/// 1. The storage has the rows. All `S::THREADS` threads along x of the block make the call.
/// 2. The operand's rows start at multiples of `COPY` elements, and so does the column of `origin`. `COPY`
///    elements are 16 bytes, or `COPY` is 1.
/// 3. No thread accesses the rows until the copies have been waited for and a barrier has been passed.
/// 4. The operand's memory has its rows, and `origin` lies within it; with `IN_BOUNDS`, all of the tile does.
#[inline(always)]
pub unsafe fn copy_rows<
    S: CopyShape,
    const STAGES: usize,
    const COPY: usize,
    const IN_BOUNDS: bool,
    const HOISTED: bool,
>(
    pipeline: &mut Pipeline<STAGES>,
    (storage, first_row): (SharedSlice<S::Element>, usize),
    operand: &GlobalOperand<S::Element>,
    origin: (usize, usize),
) {
    const { assert_even::<S>() }
    let vector = 16 / size_of::<S::Element>();
    let vectors_along = S::COLUMNS / vector;
    let rows_apart = S::THREADS / vectors_along;
    let (thread, operand) = operand.addressed(HOISTED);
    let (first_down, along) = (thread / vectors_along, thread % vectors_along * vector);
    let bounds = operand.bounds(origin, S::ROWS, S::COLUMNS);
    let first = first_down * operand.leading_dimension + along;
    for i in 0..S::ROWS / rows_apart {
        let down = first_down + i * rows_apart;
        let row = bounds.first + i * rows_apart * operand.leading_dimension;
        for v in (0..vector).step_by(COPY) {
            let to = (storage, (first_row + down) * S::PITCH + along + v);
            let from = (operand.matrix, first + (row + v));
            // SAFETY: the storage has the destination: `down` < ROWS and `along + v` < COLUMNS, and it has the
            // rows: the caller's contract. The matrix has the source, as far as it lies within the bounds: the
            // operand has its rows, the caller's contract. `COPY` elements divide both addresses: rows start at
            // multiples of them, in shared memory by the pitch, in global memory by the caller's contract, and
            // `along + v` is a multiple of `COPY`. No thread accesses the destination too early, and with
            // `IN_BOUNDS` the elements lie within the bounds: the caller's contract.
            unsafe {
                bounds.copy::<STAGES, COPY, IN_BOUNDS>(pipeline, to, from, (down, along + v))
            };
        }
    }
}

/// Rejects, at compile time, tiles that the threads do not share evenly: rows would be left out.
pub const fn assert_even<S: CopyShape>() {
    let vectors_along = S::COLUMNS * size_of::<S::Element>() / 16;
    assert!(
        S::THREADS.is_multiple_of(vectors_along)
            && S::ROWS.is_multiple_of(S::THREADS / vectors_along)
            && (S::PITCH * size_of::<S::Element>()).is_multiple_of(16),
        "the threads copy whole rows, each the same number"
    );
}
