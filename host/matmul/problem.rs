//! What is to be multiplied, as a value: all that the selection of a kernel depends on.

use super::kernels::ElementType;
use crate::matrix::Order;
use std::fmt::{self, Display, Formatter};
use tilewright_kernels::tensor::{SPLIT_DEPTH, lowest_exponent};

/// How the elements of one matrix lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Whether rows or columns are contiguous.
    pub order: Order,
    /// Elements from the start of one row to that of the next; of one column, if column-major.
    pub leading_dimension: usize,
    /// Bytes of which the address of the first element is a multiple.
    pub alignment: usize,
}

/// A product C = A B: A is M x K, B is K x N, C is M x N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The type of the elements of A and B.
    pub element: ElementType,
    /// The type of the elements of C.
    pub output: ElementType,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: MatrixLayout,
    pub b: MatrixLayout,
    pub c: MatrixLayout,
    /// Products of these shapes that one launch computes.
    pub batch: usize,
    /// Whether sums are written as they are.
    pub is_plain: bool,
}

impl Problem {
    /// The work of the product.
    pub fn multiply_adds(&self) -> u128 {
        [self.m, self.n, self.k]
            .map(|it| it as u128)
            .iter()
            .product()
    }

    /// Whether bulk copies can count its rows and columns, those past the end of a tile included.
    pub fn fits_tensor_maps(&self) -> bool {
        const MOST: usize = i32::MAX as usize - 1024;
        self.m <= MOST && self.n <= MOST && self.k <= MOST
    }

    /// Whether halves of f32 elements give products as accurate as f32's.
    pub fn can_be_split(&self) -> bool {
        /// What a grid can have of blocks along y, for [`SPLIT_DEPTH`] elements of k each.
        const MOST_BLOCKS: usize = 65_535;
        self.fits_tensor_maps()
            && self.k <= MOST_BLOCKS * SPLIT_DEPTH
            && lowest_exponent(self.k).is_some()
    }
}

impl MatrixLayout {
    /// The layout of `rows` x `columns` elements without gaps.
    pub fn packed(order: Order, (rows, columns): (usize, usize), alignment: usize) -> Self {
        Self {
            order,
            leading_dimension: match order {
                Order::RowMajor => columns,
                Order::ColumnMajor => rows,
            },
            alignment,
        }
    }

    /// Whether each row (column, if column-major) starts at a multiple of `bytes`, which is one or
    /// more elements of `element_bytes`.
    pub fn rows_are_multiples_of(&self, bytes: usize, element_bytes: usize) -> bool {
        self.leading_dimension.is_multiple_of(bytes / element_bytes)
            && self.alignment.is_multiple_of(bytes)
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            element,
            output,
            m,
            n,
            k,
            batch,
            ..
        } = self;
        write!(
            f,
            "{batch} product(s) of {m}x{k} and {k}x{n} {element:?} in {output:?}"
        )
    }
}
