//! The places of a tensor's elements, from its shape and strides.

use crate::error::TensorError;
use crate::matrix::{MatrixShape, Order};

/// Shape and strides, in elements. The sizes are not negative.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatrixLayout {
    pub(super) shape: MatrixShape,
    pub(super) leading_dimension: usize,
}

/// How matrices of one layout lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchLayout {
    pub(super) matrix: MatrixLayout,
    pub(super) count: usize,
    /// The distance from each matrix to the next, in elements.
    pub(super) stride: usize,
}

impl Layout {
    /// The number of elements, or the largest one that can be counted: strides of 0 repeat elements.
    pub(super) fn len(&self) -> usize {
        let sizes = self.shape.iter().map(|size| *size as usize);
        match self.shape.contains(&0) {
            true => 0,
            false => sizes.fold(1, usize::saturating_mul),
        }
    }

    /// The number of elements from the first to the last, gaps included; `None` if a stride is negative, or if it overflows.
    pub(super) fn span(&self) -> Option<usize> {
        if self.len() == 0 {
            return Some(0);
        }
        let mut sizes = self.shape.iter().zip(&self.strides);
        sizes.try_fold(1_usize, |span, (size, stride)| {
            // The stride of a dimension of one element means nothing.
            let stride = if *size == 1 { 0 } else { *stride };
            let gaps = usize::try_from(size - 1).ok()?;
            span.checked_add(gaps.checked_mul(usize::try_from(stride).ok()?)?)
        })
    }

    /// Fails unless the elements lie without gaps, the last dimension's next to one another.
    pub(super) fn check_contiguous(&self) -> Result<(), TensorError> {
        let mut expected = 1_i128;
        let sizes = self.shape.iter().zip(&self.strides).rev();
        let is_contiguous = sizes.into_iter().all(|(size, stride)| {
            // The stride of a dimension of one element means nothing.
            let fits = *size == 1 || i128::from(*stride) == expected;
            expected = expected.saturating_mul((*size).into());
            fits
        });
        match is_contiguous || self.len() == 0 {
            true => Ok(()),
            false => Err(self.refused("are not one after another in row-major order")),
        }
    }

    /// The layout of two dimensions: rows or columns without gaps between their elements, and with room from one to the
    /// next.
    pub(super) fn as_matrix(&self) -> Result<MatrixLayout, TensorError> {
        let (&[rows, columns], &[row_stride, column_stride]) = (&self.shape[..], &self.strides[..])
        else {
            return Err(TensorError::Dimensions {
                needed: "a matrix has 2 dimensions",
                shape: self.shape.clone(),
            });
        };
        let lines = |order, (count, apart): (i64, i64), (len, stride): (i64, i64)| {
            let is_line = stride == 1 || len == 1;
            let apart = if count == 1 { len } else { apart };
            (is_line && apart >= len).then(|| MatrixLayout {
                shape: (rows as usize, columns as usize, order).into(),
                leading_dimension: apart as usize,
            })
        };
        if rows == 0 || columns == 0 {
            let shape = MatrixShape::from((rows as usize, columns as usize));
            return Ok(MatrixLayout {
                shape,
                leading_dimension: columns as usize,
            });
        }
        let (down, across) = ((rows, row_stride), (columns, column_stride));
        lines(Order::RowMajor, down, across)
            .or_else(|| lines(Order::ColumnMajor, across, down))
            .ok_or_else(|| self.refused("lie neither in rows nor in columns of neighbours"))
    }

    /// The layout of three dimensions: matrices that share no elements, one after another or side by side.
    pub(super) fn as_batch(&self) -> Result<BatchLayout, TensorError> {
        let (&[count, ..], &[stride, ..], 3) =
            (&self.shape[..], &self.strides[..], self.shape.len())
        else {
            return Err(TensorError::Dimensions {
                needed: "a batch of matrices has 3 dimensions",
                shape: self.shape.clone(),
            });
        };
        let of_one = Self {
            shape: self.shape[1..].to_vec(),
            strides: self.strides[1..].to_vec(),
        };
        let matrix = of_one.as_matrix().map_err(|_| {
            self.refused("lie neither in rows nor in columns of neighbours, in each matrix")
        })?;
        let batch = |stride| BatchLayout {
            matrix,
            count: count as usize,
            stride,
        };
        if count == 1 || self.len() == 0 {
            return Ok(batch(0));
        }
        match usize::try_from(stride).map(batch) {
            Ok(batch) if batch.is_disjoint() => Ok(batch),
            _ => Err(self.refused(
                "lie in matrices that share elements; a matrix that all products share is passed once",
            )),
        }
    }

    fn refused(&self, rule: &'static str) -> TensorError {
        TensorError::Strides {
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            rule,
        }
    }
}

impl BatchLayout {
    /// Whether no two matrices share an element: each begins after the end of the one before, or all of them have
    /// room between the lines of the first.
    fn is_disjoint(&self) -> bool {
        let (_, len) = self.matrix.lines();
        let of_one = self.matrix.span().is_some_and(|span| self.stride >= span);
        let of_all = (self.count - 1)
            .checked_mul(self.stride)
            .and_then(|it| it.checked_add(len));
        of_one || self.stride >= len && of_all.is_some_and(|it| it <= self.matrix.leading_dimension)
    }
}

impl MatrixLayout {
    /// The number of lines, and the elements of each.
    fn lines(&self) -> (usize, usize) {
        let MatrixShape { rows, cols, order } = self.shape;
        match order {
            Order::RowMajor => (rows, cols),
            Order::ColumnMajor => (cols, rows),
        }
    }

    /// The number of elements from the first to the last, gaps included; `None` if it overflows.
    pub(super) fn span(&self) -> Option<usize> {
        let (count, len) = self.lines();
        match count.checked_sub(1) {
            Some(gaps) if len > 0 => gaps.checked_mul(self.leading_dimension)?.checked_add(len),
            _ => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[i64], strides: &[i64]) -> Layout {
        Layout {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }
    }

    #[test]
    fn matrices_have_a_leading_dimension() {
        let found = |shape: [i64; 2], strides: [i64; 2]| {
            let matrix = layout(&shape, &strides).as_matrix().unwrap();
            let span = matrix.span().unwrap();
            (matrix.shape.order, matrix.leading_dimension, span)
        };
        use Order::{ColumnMajor, RowMajor};
        assert_eq!(found([2, 3], [3, 1]), (RowMajor, 3, 6));
        assert_eq!(found([2, 3], [8, 1]), (RowMajor, 8, 11));
        assert_eq!(found([2, 3], [1, 2]), (ColumnMajor, 2, 6));
        assert_eq!(found([2, 3], [1, 5]), (ColumnMajor, 5, 12));
        // The stride of a dimension of one element means nothing.
        assert_eq!(found([1, 3], [-7, 1]), (RowMajor, 3, 3));
        assert_eq!(found([3, 1], [1, 0]), (RowMajor, 1, 3));
        assert_eq!(found([3, 1], [4, 0]), (RowMajor, 4, 9));
        assert_eq!(found([1, 3], [9, 4]), (ColumnMajor, 4, 9));
        assert_eq!(found([1, 1], [0, 0]), (RowMajor, 1, 1));
        assert_eq!(found([0, 3], [-1, 7]), (RowMajor, 3, 0));
        assert_eq!(found([3, 0], [-1, 7]), (RowMajor, 0, 0));
    }

    #[test]
    fn other_strides_are_refused() {
        let wrong = [
            ([2, 3], [6, 2]),
            ([2, 3], [-3, 1]),
            ([2, 3], [3, -1]),
            ([2, 3], [0, 1]),
            ([2, 3], [2, 1]),
            ([2, 3], [1, 1]),
            ([2, 3], [1, 0]),
            ([1, 3], [3, -1]),
            ([3, 1], [0, 1]),
        ];
        for (shape, strides) in wrong {
            let error = layout(&shape, &strides).as_matrix().unwrap_err();
            assert!(matches!(error, TensorError::Strides { .. }), "{strides:?}");
        }
        for shape in [&[][..], &[4], &[2, 2, 2]] {
            let error = layout(shape, &vec![1; shape.len()])
                .as_matrix()
                .unwrap_err();
            assert!(matches!(error, TensorError::Dimensions { .. }), "{shape:?}");
        }
        let far = layout(&[i64::MAX, 2], &[i64::MAX, 1]).as_matrix().unwrap();
        assert_eq!(far.span(), None);
    }

    #[test]
    fn batches_have_matrices_apart() {
        let found = |shape: [i64; 3], strides: [i64; 3]| {
            let batch = layout(&shape, &strides).as_batch().unwrap();
            let matrix = batch.matrix;
            assert_eq!(batch.count, shape[0] as usize);
            (matrix.shape.order, matrix.leading_dimension, batch.stride)
        };
        use Order::{ColumnMajor, RowMajor};
        assert_eq!(found([4, 2, 3], [6, 3, 1]), (RowMajor, 3, 6));
        assert_eq!(found([4, 2, 3], [10, 4, 1]), (RowMajor, 4, 10));
        assert_eq!(found([4, 2, 3], [7, 4, 1]), (RowMajor, 4, 7));
        assert_eq!(found([4, 2, 3], [6, 1, 2]), (ColumnMajor, 2, 6));
        // Side by side.
        assert_eq!(found([4, 2, 3], [3, 12, 1]), (RowMajor, 12, 3));
        assert_eq!(found([4, 2, 3], [2, 1, 8]), (ColumnMajor, 8, 2));
        // A distance that means nothing.
        assert_eq!(found([1, 2, 3], [-9, 3, 1]), (RowMajor, 3, 0));
        assert_eq!(found([2, 0, 3], [-9, 3, 1]).2, 0);
        assert_eq!(found([0, 2, 3], [-9, 3, 1]).2, 0);
    }

    #[test]
    fn batches_of_shared_elements_are_refused() {
        for strides in [
            [0, 3, 1],
            [5, 3, 1],
            [-6, 3, 1],
            [3, 11, 1],
            [2, 12, 1],
            [1, 2, 8],
            [6, 6, 2],
        ] {
            let error = layout(&[4, 2, 3], &strides).as_batch().unwrap_err();
            assert!(matches!(error, TensorError::Strides { .. }), "{strides:?}");
        }
        for shape in [&[][..], &[4, 4], &[2, 2, 2, 2]] {
            let error = layout(shape, &vec![1; shape.len()]).as_batch();
            let error = error.unwrap_err();
            assert!(matches!(error, TensorError::Dimensions { .. }), "{shape:?}");
        }
        let far = layout(&[2, 2, 2], &[i64::MAX, i64::MAX, 1]);
        assert_eq!(far.span(), None);
    }

    #[test]
    fn spans_have_gaps() {
        let span = |shape: &[i64], strides: &[i64]| layout(shape, strides).span();
        assert_eq!(span(&[], &[]), Some(1));
        assert_eq!(span(&[2, 3], &[8, 1]), Some(11));
        assert_eq!(span(&[1, 3], &[-8, 2]), Some(5));
        assert_eq!(span(&[0, 3], &[-8, 2]), Some(0));
        assert_eq!(span(&[2], &[-1]), None);
        assert_eq!(span(&[i64::MAX, 2], &[i64::MAX, 1]), None);
    }

    #[test]
    fn contiguous_elements_are_in_row_major_order() {
        for (shape, strides) in [
            (&[][..], &[][..]),
            (&[5], &[1]),
            (&[1], &[9]),
            (&[2, 3, 4], &[12, 4, 1]),
            (&[2, 1, 4], &[4, -1, 1]),
            (&[2, 0, 4], &[7, 7, 7]),
        ] {
            layout(shape, strides).check_contiguous().unwrap();
        }
        for (shape, strides) in [
            (&[5][..], &[2][..]),
            (&[5], &[-1]),
            (&[2, 3], &[1, 2]),
            (&[2, 3], &[4, 1]),
            // 2^64 times one element, which are not none.
            (&[1 << 40, 1 << 24], &[0, 0]),
            (&[3, 1 << 62, 2], &[1, 2, 1]),
        ] {
            layout(shape, strides).check_contiguous().unwrap_err();
        }
    }
}
