//! Methods that matrices and their views share.

/// The getters of `$matrix`, a view of `$self`, whose device has the lifetime of `$device`.
macro_rules! getters {
    ($self:ident => $matrix:expr, $device:ty) => {
        /// The number of rows.
        #[must_use]
        pub fn rows(&$self) -> usize {
            $matrix.rows
        }

        /// The number of columns.
        #[doc(alias = "columns")]
        #[must_use]
        pub fn cols(&$self) -> usize {
            $matrix.cols
        }

        /// The number of rows and the number of columns.
        #[must_use]
        pub fn shape(&$self) -> (usize, usize) {
            ($matrix.rows, $matrix.cols)
        }

        /// Whether there are no elements.
        #[must_use]
        pub fn is_empty(&$self) -> bool {
            $matrix.rows == 0 || $matrix.cols == 0
        }

        /// The order in which the elements lie in memory.
        #[must_use]
        pub fn order(&$self) -> $crate::matrix::Order {
            $matrix.order
        }

        /// The distance from one row (one column, if column-major) to the next in memory, in elements.
        #[must_use]
        pub fn leading_dimension(&$self) -> usize {
            $matrix.leading_dimension
        }

        /// The device that holds the matrix.
        #[must_use]
        pub fn device(&$self) -> $device {
            $matrix.holder.device
        }
    };
}
pub(super) use getters;

/// Parts of the matrix that `view_mut` borrows.
macro_rules! parts_mut {
    () => {
        /// Borrows some rows and columns mutably, for a product to write.
        ///
        /// # Errors
        /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if a range goes past the last row or column.
        pub fn slice_mut(
            &mut self,
            rows: impl RangeBounds<usize>,
            columns: impl RangeBounds<usize>,
        ) -> Result<MatrixViewMut<'_, T>> {
            self.view_mut().into_slice(rows, columns)
        }

        /// Borrows the first `mid` rows and the rest mutably.
        ///
        /// # Errors
        /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid`.
        pub fn split_rows_at_mut(
            &mut self,
            mid: usize,
        ) -> Result<(MatrixViewMut<'_, T>, MatrixViewMut<'_, T>)> {
            self.view_mut().into_row_parts(mid)
        }

        /// Borrows the first `mid` columns and the rest mutably.
        ///
        /// An operand and the result of a product can thus be parts of one matrix: see [`MatrixViewMut`].
        ///
        /// # Errors
        /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid`.
        pub fn split_columns_at_mut(
            &mut self,
            mid: usize,
        ) -> Result<(MatrixViewMut<'_, T>, MatrixViewMut<'_, T>)> {
            self.view_mut().into_column_parts(mid)
        }
    };
}
pub(super) use parts_mut;
