//! Problems of matrices without gaps.

use super::problem::{MatrixLayout, Problem};
use crate::matmul::types::ElementType;
use crate::matrix::Order;

impl Problem {
    /// One product of matrices without gaps, which start at multiples of `alignment` bytes. C is row-major, and its sums
    /// are written unchanged.
    pub fn packed(
        (element, output): (ElementType, ElementType),
        (m, n, k): (usize, usize, usize),
        [of_a, of_b]: [Order; 2],
        alignment: usize,
    ) -> Self {
        let packed = |order, shape| MatrixLayout::packed(order, shape, alignment);
        Self {
            element,
            output,
            m,
            n,
            k,
            whole_k: k,
            a: packed(of_a, (m, k)),
            b: packed(of_b, (k, n)),
            c: packed(Order::RowMajor, (m, n)),
            batch: 1,
            is_plain: true,
            is_gram: false,
            is_shared: [true; 2],
            prepared: [None; 2],
            is_transposed: false,
            is_scaled: false,
            is_counted: false,
        }
    }
}
