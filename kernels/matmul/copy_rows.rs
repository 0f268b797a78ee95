//! Copies of rows: neighbours in global memory are neighbours in shared memory.

use super::element::OperandElement;
use super::operand::Operand;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The shape in shared memory of what a block copies at once.
pub trait CopyShape {
    /// The type of the elements.
    type Element: OperandElement;

    /// Rows of it.
    const ROWS: usize;

    /// Elements of a row.
    const COLUMNS: usize;

    /// Elements from one row to the next, a multiple of 16 bytes.
    const PITCH: usize;

    /// Threads that copy, along x.
    const THREADS: usize;
}

/// Starts to copy the rows of `operand` from the element at `origin` (row, column) on to the rows of
/// `storage` from `first_row` on, `COPY` elements at a time, with the operand's `outside` for what lies
/// outside it. Addresses are `HOISTED` or not ([`Operand::addressed`]).
///
/// # Safety
/// 1. The rows lie within the storage, which starts at a multiple of 16 bytes.
/// 2. The operand's rows start at multiples of `COPY` elements, and so does the column of `origin`. `COPY`
///    elements are 16 bytes, or `COPY` is 1.
/// 3. No thread touches the rows until the copies have been waited for and a barrier has been passed.
/// 4. With `IN_BOUNDS` all that is copied lies within the operand.
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
    operand: &Operand<S::Element>,
    origin: (usize, usize),
) {
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
            // SAFETY: (1) `down` < ROWS and `along + v` < COLUMNS: the place is in the storage, by (1).
            // (2) Rows start at multiples of `COPY`, and so does `along + v` in the row: it divides 16
            // bytes, at whose multiples rows in shared memory start.
            // (3), (4) are the caller's.
            unsafe {
                bounds.copy::<STAGES, COPY, IN_BOUNDS>(pipeline, to, from, (down, along + v))
            };
        }
    }
}
