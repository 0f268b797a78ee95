//! A block of a matrix in host memory, and where its elements lie.

use crate::matrix::{MatrixShape, Order};
use std::ops::Range;

/// A block of a matrix, of which lines or parts of lines are contiguous. A line is a row, or a column if column-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The index in the matrix of the block's first element.
    pub first: usize,
    /// The number of contiguous runs.
    pub runs: usize,
    /// The elements of a run.
    pub run_len: usize,
    /// The distance from the start of one run to the next, in elements.
    pub apart: usize,
}

impl Block {
    /// The rows and columns of a matrix of `shape`.
    pub fn of(shape: MatrixShape, rows: &Range<usize>, columns: &Range<usize>) -> Self {
        let (lines, part, apart) = match shape.order {
            Order::RowMajor => (rows, columns, shape.cols),
            Order::ColumnMajor => (columns, rows, shape.rows),
        };
        let len = lines.len() * part.len();
        // A block without elements is at the start, also of a matrix without any.
        let first = match len {
            0 => 0,
            _ => lines.start * apart + part.start,
        };
        // Whole lines lie one after another.
        match part.len() == apart {
            true => Self {
                first,
                runs: 1,
                run_len: len,
                apart: len,
            },
            false => Self {
                first,
                runs: lines.len(),
                run_len: part.len(),
                apart,
            },
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.runs * self.run_len
    }

    /// The indices in the matrix of the block's elements `part`, in order.
    pub fn places(self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let len = self.run_len.max(1);
        (part.start / len..part.end.div_ceil(len)).map(move |run| {
            let of_run = run * len..(run + 1) * len;
            let start = part.start.max(of_run.start) - of_run.start;
            let end = part.end.min(of_run.end) - of_run.start;
            let first = self.first + run * self.apart;
            first + start..first + end
        })
    }

    /// The block's elements in `matrix`, run by run.
    pub fn slices<T>(self, matrix: &[T]) -> impl Iterator<Item = &[T]> {
        self.places(0..self.len()).map(|place| &matrix[place])
    }

    /// The block's elements in `matrix`, run by run.
    pub fn slices_mut<T>(self, matrix: &mut [T]) -> impl Iterator<Item = &mut [T]> {
        let (mut rest, mut next) = (matrix, 0);
        self.places(0..self.len()).map(move |place| {
            let (_, from_place) = std::mem::take(&mut rest).split_at_mut(place.start - next);
            let (run, after) = from_place.split_at_mut(place.len());
            (rest, next) = (after, place.end);
            run
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements by their definition.
    fn expected(shape: MatrixShape, rows: &Range<usize>, columns: &Range<usize>) -> Vec<usize> {
        let mut elements = Vec::new();
        match shape.order {
            Order::RowMajor => {
                for row in rows.clone() {
                    elements.extend(columns.clone().map(|column| row * shape.cols + column));
                }
            }
            Order::ColumnMajor => {
                for column in columns.clone() {
                    elements.extend(rows.clone().map(|row| column * shape.rows + row));
                }
            }
        }
        elements
    }

    #[test]
    fn a_block_has_its_elements_in_order() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let shape = MatrixShape::from((7, 5, order));
            let mut matrix = Vec::from_iter(0..35);
            for (rows, columns) in [
                (0..7, 0..5),
                (2..4, 0..5),
                (0..7, 1..3),
                (6..7, 4..5),
                (1..6, 2..5),
                (6..6, 2..5),
                (1..6, 4..4),
            ] {
                let block = Block::of(shape, &rows, &columns);
                let expected = expected(shape, &rows, &columns);
                assert!(block.slices(&matrix.clone()).flatten().eq(&expected));
                assert!(block.slices_mut(&mut matrix).flatten().eq(&expected));
                for start in 0..block.len() {
                    for end in start..=block.len() {
                        let places = block.places(start..end).flatten();
                        assert!(
                            places.eq(expected[start..end].iter().copied()),
                            "{start} {end}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn whole_lines_are_one_run() {
        let block = Block::of((7, 5).into(), &(2..4), &(0..5));
        assert_eq!((block.first, block.runs, block.run_len), (10, 1, 10));
    }
}
