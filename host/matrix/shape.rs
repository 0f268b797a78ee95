//! The order and the shape of a matrix.

use crate::error::{ErrorKind, Outcome};

/// The order of a matrix's elements in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row after row, as in C: the element in row `i` and column `j` is number `i * cols + j`.
    #[default]
    RowMajor,
    /// Column after column, as in Fortran: the element in row `i` and column `j` is number `j * rows + i`.
    ColumnMajor,
}

impl Order {
    /// The other order, in which the same elements are the transposed matrix.
    #[must_use]
    pub const fn transposed(self) -> Self {
        match self {
            Self::RowMajor => Self::ColumnMajor,
            Self::ColumnMajor => Self::RowMajor,
        }
    }
}

/// The shape of a new matrix: `(rows, cols)`, row-major, or `(rows, cols, order)`.
///
/// ```
/// use tilewright::{MatrixShape, Order};
///
/// assert_eq!(MatrixShape::from((2, 3)).order, Order::RowMajor);
/// assert_eq!(MatrixShape::from((2, 3, Order::ColumnMajor)).rows, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MatrixShape {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// The order of the elements in memory.
    pub order: Order,
}

impl MatrixShape {
    /// The elements of a row, or of a column if column-major.
    pub(super) fn row_len(self) -> usize {
        match self.order {
            Order::RowMajor => self.cols,
            Order::ColumnMajor => self.rows,
        }
    }

    /// The number of elements, unless it overflows.
    pub(crate) fn checked_len(self) -> Outcome<usize> {
        let Self { rows, cols, .. } = self;
        rows.checked_mul(cols)
            .ok_or_else(|| ErrorKind::size_overflow(format!("a matrix of {rows}x{cols} elements")))
    }
}

impl From<(usize, usize)> for MatrixShape {
    fn from((rows, cols): (usize, usize)) -> Self {
        Self::from((rows, cols, Order::RowMajor))
    }
}

impl From<(usize, usize, Order)> for MatrixShape {
    fn from((rows, cols, order): (usize, usize, Order)) -> Self {
        Self { rows, cols, order }
    }
}
