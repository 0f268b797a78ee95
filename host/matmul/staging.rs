//! Operands on their way to a kernel: read where they lie, or copied, transposed, split or made into residues, as the
//! plan says.
//!
//! `copies.rs` copies operands; `split.rs` splits those of f32, and `lines.rs` makes residues, by `line_kernels.rs`.
//! `prepared.rs` keeps operands that are split, or made into residues, once. `tile_grid.rs` has the grid of the kernels
//! that copy.

mod copies;
mod line_kernels;
mod lines;
mod prepared;
mod split;
mod tile_grid;

pub use line_kernels::LineKernels;
pub(super) use line_kernels::launch_either;
pub use lines::{LinesResidues, LinesView, OperandLines, looping, parts_of};
pub use prepared::{PreparedMatrix, PreparedResidues};
pub use split::{SplitOperand, Whole, matrices_of, split_rows};
pub use tile_grid::tile_grid;

use super::entry::MapWords;
use super::plan::{ROW_ALIGNMENT, Staging};
use crate::backend::TensorMapBatch;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch_args::{no_operand, read_elements};
use crate::matrix::{Matrix, MatrixBatch, MatrixView, Order};
use copies::{align, transpose};
use cuda_std::global::Global;

/// The map of a matrix that no block copies from or to.
pub const NO_MAP: MapWords = MapWords([0; 16]);

/// An operand as the kernel reads it.
pub struct StagedOperand<'a, T: Element> {
    lines: Lines<'a, T>,
    is_batch: bool,
}

/// The contiguous lines: rows of A or columns of B, or columns of A and rows of B.
enum Lines<'a, T: Element> {
    None,
    InPlace(MatrixBatch<'a, T>),
    /// The lines of one matrix below those of another, at the start of the rows of a wider one.
    Copied {
        copy: Matrix<T>,
        columns: usize,
        count: usize,
    },
}

impl<T: Element> Lines<'_, T> {
    fn aligned(rows: MatrixBatch<'_, T>) -> Outcome<Self> {
        Ok(Self::Copied {
            copy: align(rows)?,
            columns: rows.first().cols(),
            count: rows.count().unwrap_or(1),
        })
    }

    fn transposed(rows: MatrixBatch<'_, T>) -> Outcome<Self> {
        Ok(Self::Copied {
            copy: transpose(rows, ROW_ALIGNMENT)?,
            columns: rows.first().rows(),
            count: rows.count().unwrap_or(1),
        })
    }
}

impl<'a, T: Element> StagedOperand<'a, T> {
    /// Brings the operand into the form that the kernel reads. A matrix of order `along_k` is contiguous along K.
    // Inline: most operands are read in place, which takes less time than copying the returned value.
    #[inline(always)]
    pub fn new(batch: MatrixBatch<'a, T>, staging: Staging, along_k: Order) -> Outcome<Self> {
        let is_batch = batch.count().is_some();
        let in_order = match size_of::<T>() {
            // They are read along K.
            1 => batch.in_order_if_possible(along_k),
            _ => batch,
        };
        let lines = match staging {
            Staging::Unread => Lines::None,
            Staging::InPlace => Lines::InPlace(lines_as_rows(in_order)),
            Staging::Copied => Lines::aligned(lines_as_rows(in_order))?,
            Staging::Transposed => Lines::transposed(lines_as_rows(batch))?,
            Staging::Split | Staging::SplitOnce | Staging::Prepared | Staging::SplitWithOther => {
                unreachable!("split operands are staged in pairs")
            }
        };
        Ok(Self { lines, is_batch })
    }

    /// The lines as elements `R`: `T`, or words of several.
    ///
    /// # Safety
    /// 1. The launch reads only the elements of the lines.
    pub unsafe fn read<R: Element>(&self) -> LinesToRead<'_, R> {
        let of_word = const {
            let (word, element) = (size_of::<R>(), size_of::<T>());
            assert!(
                word == element || element == 1,
                "words are of 8-bit elements"
            );
            word / element
        };
        let (batch, stride) = match &self.lines {
            Lines::None => return LinesToRead::none(),
            Lines::InPlace(batch) => (*batch, batch.stride()),
            Lines::Copied { copy, count, .. } => {
                (copy.view().into(), copy.rows() / count * copy.cols())
            }
        };
        // SAFETY: the launch reads only the elements of the lines: the caller's contract.
        let elements = unsafe { read_elements(batch) };
        let first = elements.as_ptr().cast();
        LinesToRead {
            // SAFETY: the words are aligned and live: they are the elements or, of 8-bit ones, their bytes, whose
            // lines start at multiples of 16 bytes by the plan. What is read is not written meanwhile, as for the
            // elements.
            elements: unsafe { Global::from_raw_parts(first, elements.len() / of_word) },
            leading_dimension: batch.first().leading_dimension() / of_word,
            stride: if self.is_batch { stride / of_word } else { 0 },
        }
    }

    /// A map of the lines as rows, with boxes of `box_rows` of them.
    pub fn map(&self, box_rows: usize) -> Outcome<MapWords> {
        match &self.lines {
            Lines::None => Ok(NO_MAP),
            Lines::InPlace(batch) => map_of(*batch, box_rows),
            Lines::Copied {
                copy,
                columns,
                count,
            } => {
                let rows = copy.rows() / count;
                let first = copy.view().part(..rows, ..*columns)?;
                encode(first, box_rows, *count, rows * copy.cols() * size_of::<T>())
            }
        }
    }
}

/// Lines as a kernel reads them.
pub struct LinesToRead<'a, T> {
    pub elements: Global<'a, T>,
    /// The distance from line to line, in elements.
    pub leading_dimension: usize,
    /// The distance from matrix to matrix, in elements; 0 for one that all products share.
    pub stride: usize,
}

impl<T: Element> LinesToRead<'_, T> {
    /// No lines.
    pub fn none() -> Self {
        Self {
            elements: no_operand(),
            leading_dimension: 0,
            stride: 0,
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

/// A map of matrices with aligned rows, with boxes of `box_rows` of them.
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
        // A single matrix does not use the distance, but it must be positive.
        matrix_bytes: if count == 1 { ROW_ALIGNMENT } else { bytes } as u64,
    };
    let words = first.encode_tensor_map_of_batch(box_rows, BOX_BYTES / size_of::<T>(), batch);
    words.map(MapWords)
}
