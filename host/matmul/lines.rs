//! Matrices as bulk copies find them: lines whose starts are multiples of 16 bytes.

use super::kernels::MapWords;
use super::operands::layout_of;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::{Matrix, MatrixView, MatrixViewMut, Order};
use tilewright_kernels::tensor::DEPTH;

/// What the starts of lines are multiples of, in bytes.
const ALIGNMENT: usize = 16;

/// A matrix whose lines start at multiples of 16 bytes: it, or a copy of it.
pub enum AlignedLines<'a, T: Element> {
    InPlace(MatrixView<'a, T>),
    /// The lines, at the start of the rows of a wider matrix.
    Copied(Matrix<T>, usize),
}

impl<'a, T: Element> AlignedLines<'a, T> {
    /// For reading.
    pub fn of(view: MatrixView<'a, T>) -> Outcome<Self> {
        let view = rows_of_lines(view);
        if is_aligned(view) {
            return Ok(Self::InPlace(view));
        }
        let mut copy = room_for(view)?;
        first_columns(&mut copy, view.cols()).read_view(view)?;
        Ok(Self::Copied(copy, view.cols()))
    }

    /// The lines as rows.
    fn view(&self) -> Outcome<MatrixView<'_, T>> {
        match self {
            Self::InPlace(view) => Ok(*view),
            Self::Copied(copy, columns) => copy.view().part(.., ..*columns),
        }
    }

    /// A map of the lines, with boxes of `box_rows` of them.
    pub fn map(&self, box_rows: usize) -> Outcome<MapWords> {
        map_of(self.view()?, box_rows)
    }
}

/// A new matrix with the shape of `view` and aligned rows, which has more columns.
pub fn room_for<T: Element>(view: MatrixView<'_, T>) -> Outcome<Matrix<T>> {
    let columns = view.cols().next_multiple_of(ALIGNMENT / size_of::<T>());
    Matrix::uninit(view.device(), (view.rows(), columns).into())
}

/// The columns of a matrix with more, to write.
pub fn first_columns<T: Element>(room: &mut Matrix<T>, columns: usize) -> MatrixViewMut<'_, T> {
    let part = room.slice_mut(.., ..columns);
    part.expect("the matrix has more columns")
}

/// The same elements, with lines as rows.
fn rows_of_lines<T: Element>(view: MatrixView<'_, T>) -> MatrixView<'_, T> {
    match view.order() {
        Order::RowMajor => view,
        Order::ColumnMajor => view.t(),
    }
}

/// Whether the rows of a row-major matrix start at multiples of 16 bytes.
pub fn is_aligned<T: Element>(view: MatrixView<'_, T>) -> bool {
    layout_of(view).rows_are_multiples_of(ALIGNMENT, size_of::<T>())
}

/// A map of a matrix with aligned lines, with boxes of `box_rows` of them.
pub fn map_of<T: Element>(view: MatrixView<'_, T>, box_rows: usize) -> Outcome<MapWords> {
    view.encode_tensor_map(box_rows, DEPTH)
}
