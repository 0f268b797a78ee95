//! Matrices as bulk copies find them: lines whose starts are multiples of 16 bytes.

use super::kernels::MapWords;
use super::operands::layout_of;
use crate::backend::TensorMapBatch;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::{Matrix, MatrixBatch, MatrixView, Order};

/// What the starts of lines are multiples of, in bytes.
const ALIGNMENT: usize = 16;

/// Matrices whose lines start at multiples of 16 bytes: they, or copies of them.
pub enum AlignedLines<'a, T: Element> {
    InPlace(MatrixBatch<'a, T>),
    /// The lines of one matrix below those of another, at the start of the rows of a wider one.
    Copied {
        room: Matrix<T>,
        columns: usize,
        count: usize,
    },
}

impl<'a, T: Element> AlignedLines<'a, T> {
    /// For reading.
    pub fn of(batch: MatrixBatch<'a, T>) -> Outcome<Self> {
        let batch = lines_as_rows(batch);
        if is_aligned(batch) {
            return Ok(Self::InPlace(batch));
        }
        let (first, count) = (batch.first(), batch.count().unwrap_or(1));
        let (rows, columns) = first.shape();
        let pitch = columns.next_multiple_of(ALIGNMENT / size_of::<T>());
        let mut room = Matrix::uninit(first.device(), (count * rows, pitch).into())?;
        for index in 0..count {
            let lines = index * rows..(index + 1) * rows;
            let mut copy = room.view_mut().into_part(lines, ..columns)?;
            copy.read_view(batch.get(index))?;
        }
        Ok(Self::Copied {
            room,
            columns,
            count,
        })
    }

    /// A map of the lines as rows, with boxes of `box_rows` of them.
    pub fn map(&self, box_rows: usize) -> Outcome<MapWords> {
        match self {
            Self::InPlace(batch) => map_of(*batch, box_rows),
            Self::Copied {
                room,
                columns,
                count,
            } => {
                let rows = room.rows() / count;
                let first = room.view().part(..rows, ..*columns)?;
                let bytes = rows * room.cols() * size_of::<T>();
                encode(first, box_rows, *count, bytes)
            }
        }
    }
}

/// The same elements, with lines as rows.
fn lines_as_rows<T: Element>(batch: MatrixBatch<'_, T>) -> MatrixBatch<'_, T> {
    match batch.first().order() {
        Order::RowMajor => batch,
        Order::ColumnMajor => batch.t(),
    }
}

/// Whether the rows of row-major matrices start at multiples of 16 bytes.
pub fn is_aligned<T: Element>(batch: MatrixBatch<'_, T>) -> bool {
    layout_of(batch).rows_are_multiples_of(ALIGNMENT, size_of::<T>())
}

/// A map of matrices with aligned lines, with boxes of `box_rows` of them.
pub fn map_of<T: Element>(batch: MatrixBatch<'_, T>, box_rows: usize) -> Outcome<MapWords> {
    let bytes = batch.stride() * size_of::<T>();
    encode(batch.first(), box_rows, batch.count().unwrap_or(1), bytes)
}

/// A map of `count` matrices, `bytes` apart, of which `first` is the first.
fn encode<T: Element>(
    first: MatrixView<'_, T>,
    box_rows: usize,
    count: usize,
    bytes: usize,
) -> Outcome<MapWords> {
    const BOX_BYTES: usize = 128;
    let batch = TensorMapBatch {
        count: count as u64,
        // That of one matrix is not used, but has to be positive.
        matrix_bytes: if count == 1 { ALIGNMENT } else { bytes } as u64,
    };
    first.encode_tensor_map_of_batch(box_rows, BOX_BYTES / size_of::<T>(), batch)
}
