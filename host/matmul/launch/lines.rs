//! Matrices as bulk copies and 16-byte loads need them: with lines that start at multiples of 16 bytes.

use super::align::{ALIGNMENT, align};
use super::transpose::transpose;
use crate::backend::TensorMapBatch;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch_args::read_elements;
use crate::launch_args::view_address;
use crate::matmul::entry::MapWords;
use crate::matmul::layout::layout_of;
use crate::matrix::{Matrix, MatrixBatch, MatrixView, Order};
use cuda_std::global::Global;

/// Matrices whose lines start at multiples of 16 bytes: the originals, or copies.
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
    /// Lines for reading.
    pub fn of(batch: MatrixBatch<'a, T>) -> Outcome<Self> {
        let batch = lines_as_rows(batch);
        match is_aligned(batch) {
            true => Ok(Self::InPlace(batch)),
            false => Self::copied(batch),
        }
    }

    /// Lines of 8-bit elements for reading, in the order `along_k`. Their length is a multiple of `multiple`, 1 to
    /// 16, padded with zeros.
    pub fn along(batch: MatrixBatch<'a, T>, along_k: Order, multiple: usize) -> Outcome<Self> {
        let is_along = batch.first().order() == along_k;
        let batch = lines_as_rows(batch);
        if !is_along {
            let (count, columns) = (batch.count().unwrap_or(1), batch.first().rows());
            return Ok(Self::Copied {
                room: transpose(batch, ALIGNMENT)?,
                columns,
                count,
            });
        }
        let is_whole = batch.first().cols().is_multiple_of(multiple);
        match is_whole && is_aligned(batch) {
            true => Ok(Self::InPlace(batch)),
            false => Self::copied(batch),
        }
    }

    /// Copies of row-major matrices.
    fn copied(batch: MatrixBatch<'a, T>) -> Outcome<Self> {
        Ok(Self::Copied {
            room: align(batch)?,
            columns: batch.first().cols(),
            count: batch.count().unwrap_or(1),
        })
    }

    /// The elements of the lines.
    ///
    /// # Safety
    /// 1. The launch reads only the elements of the lines.
    pub unsafe fn elements(&self, is_batch: bool) -> Lines<'_, T> {
        let (batch, stride) = match self {
            Self::InPlace(batch) => (*batch, batch.stride()),
            Self::Copied { room, count, .. } => {
                (room.view().into(), room.rows() / count * room.cols())
            }
        };
        Lines {
            // SAFETY: the launch reads only the elements of the lines: the caller's contract.
            elements: unsafe { read_elements(batch) },
            leading_dimension: batch.first().leading_dimension(),
            stride: if is_batch { stride } else { 0 },
        }
    }

    /// The lines of the first matrix, as rows.
    fn first(&self) -> Outcome<MatrixView<'_, T>> {
        match self {
            Self::InPlace(batch) => Ok(batch.first()),
            Self::Copied {
                room,
                columns,
                count,
            } => room.view().part(..room.rows() / count, ..*columns),
        }
    }

    /// A map of the lines as rows, with boxes of `box_rows` of them.
    pub fn map(&self, box_rows: usize) -> Outcome<MapWords> {
        match self {
            Self::InPlace(batch) => map_of(*batch, box_rows),
            Self::Copied { room, count, .. } => {
                let bytes = room.rows() / count * room.cols() * size_of::<T>();
                encode(self.first()?, box_rows, *count, bytes)
            }
        }
    }
}

/// Bytes of a word.
pub const WORD: usize = size_of::<i32>();

impl<T: Element> AlignedLines<'_, T> {
    /// The lines as words of four 8-bit elements. [`Self::along`] must have made them with a multiple of 4.
    ///
    /// # Safety
    /// 1. The launch reads only the words of the lines.
    pub unsafe fn words(&self, is_batch: bool) -> Lines<'_, i32> {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: the launch reads only the words of the lines, and so only their elements: the caller's contract.
        let bytes = unsafe { self.elements(is_batch) };
        let first = bytes.elements.as_ptr().cast();
        Lines {
            // SAFETY: the words are aligned and live: they are the bytes of the elements, whose lines start at
            // multiples of 16 bytes. What is read is not written meanwhile, as for the elements.
            elements: unsafe { Global::from_raw_parts(first, bytes.elements.len() / WORD) },
            leading_dimension: bytes.leading_dimension / WORD,
            stride: bytes.stride / WORD,
        }
    }
}

/// Lines as a kernel reads them.
pub struct Lines<'a, T> {
    pub elements: Global<'a, T>,
    /// The distance from line to line, in elements.
    pub leading_dimension: usize,
    /// The distance from matrix to matrix, in elements; 0 for one that all products share.
    pub stride: usize,
}

impl<T: Element> Lines<'_, T> {
    /// No lines.
    pub fn none() -> Self {
        Self {
            // SAFETY: the view has no elements, so there is nothing that must be live, and nothing is read.
            elements: unsafe { Global::from_raw_parts(view_address::<T>(0), 0) },
            leading_dimension: 0,
            stride: 0,
        }
    }
}

/// An operand of products of length k.
pub struct Operand<'a, T: Element> {
    /// `None` if nothing is read.
    lines: Option<AlignedLines<'a, T>>,
    is_batch: bool,
}

impl<'a, T: Element> Operand<'a, T> {
    /// The lines that `lines` makes, unless k is 0.
    pub fn new(
        batch: MatrixBatch<'a, T>,
        k: usize,
        lines: impl FnOnce(MatrixBatch<'a, T>) -> Outcome<AlignedLines<'a, T>>,
    ) -> Outcome<Self> {
        Ok(Self {
            lines: (k != 0).then(|| lines(batch)).transpose()?,
            is_batch: batch.count().is_some(),
        })
    }

    /// The elements of the lines.
    ///
    /// # Safety
    /// As for [`AlignedLines::elements`].
    pub unsafe fn elements(&self) -> Lines<'_, T> {
        match &self.lines {
            // SAFETY: the launch reads only the elements of the lines: the caller's contract.
            Some(lines) => unsafe { lines.elements(self.is_batch) },
            None => Lines::none(),
        }
    }
}

impl<T: Element> Operand<'_, T> {
    /// The lines as words of four 8-bit elements.
    ///
    /// # Safety
    /// As for [`AlignedLines::words`].
    pub unsafe fn words(&self) -> Lines<'_, i32> {
        match &self.lines {
            // SAFETY: the launch reads only the words of the lines: the caller's contract.
            Some(lines) => unsafe { lines.words(self.is_batch) },
            None => Lines::none(),
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

/// A map of `count` matrices, `bytes` apart, starting with `first`.
fn encode<T: Element>(
    first: MatrixView<'_, T>,
    box_rows: usize,
    count: usize,
    bytes: usize,
) -> Outcome<MapWords> {
    const BOX_BYTES: usize = 128;
    let batch = TensorMapBatch {
        count: count as u64,
        // The distance is not used for one matrix, but has to be positive.
        matrix_bytes: if count == 1 { ALIGNMENT } else { bytes } as u64,
    };
    first.encode_tensor_map_of_batch(box_rows, BOX_BYTES / size_of::<T>(), batch)
}
