//! Functions of a product's sums that other crates define, and what their kernels share.
//!
//! ```text
//! C[i, j] = f((A B)[i, j], D[i, j], E[i, j], i, j, parameters)
//! ```
//!
//! D and E are up to two other matrices. One of a single row, column or element is repeated. The sums are those of the
//! library's kernels in the same tiles, bit for bit: a chain of f32, or what tensor cores add of f16 and bf16.
//!
//! `mapped_tiles.rs` has the product on CUDA cores, `mma/mapped.rs` that by warps on tensor cores, and
//! `tensor/warpgroup/mapped.rs` that by warpgroups. [`maps!`](crate::maps) makes
//! the kernels.

use super::sink::{OutputSink, Sink, StoreOutput};
use bytemuck::{Pod, Zeroable};
use cuda_std::array;
use cuda_std::prelude::*;

/// Other matrices of a product's map, at most.
pub const MOST_OTHERS: usize = 2;

/// A function of a product's sums, and of the elements `T` at the same place of `OTHERS` other matrices, up to two.
///
/// It waits at no barrier and calls no collective.
pub trait ProductMap<T: Pod, const OTHERS: usize> {
    /// Numbers that each launch chooses, such as a seed or bounds: at least one byte.
    type Parameters: Pod;

    /// The type of the result.
    type Output: Pod;

    /// The result for `sum`, the product of row `row` of A and column `column` of B. A NaN is the canonical one.
    #[must_use]
    fn map(
        sum: f32,
        others: [T; OTHERS],
        place: [usize; 2],
        parameters: &Self::Parameters,
    ) -> Self::Output;
}

/// The kernels' parameter for the sizes of a mapped product, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MappedShape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A and rows of B.
    pub k: usize,
    /// From one row (column, if column-major) of A and of B to the next.
    pub apart: [usize; 2],
    /// 1 if A, and B, is column-major, otherwise 0.
    pub is_column_major: [usize; 2],
    /// From one row of C to the next.
    pub ldc: usize,
    /// From one row of each other matrix to the next, and from one column to the next: 0 where it is repeated.
    pub strides: [[usize; 2]; MOST_OTHERS],
}

/// Maps sums, and writes the results to C.
#[doc(hidden)]
pub struct StoreMapped<'launch, M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize> {
    c: GlobalMut<'launch, M::Output>,
    others: [Global<'launch, T>; MOST_OTHERS],
    shape: GridConstant<'launch, MappedShape>,
    parameters: GridConstant<'launch, M::Parameters>,
}

impl<M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize> Clone
    for StoreMapped<'_, M, T, OTHERS>
{
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize> Copy for StoreMapped<'_, M, T, OTHERS> {}

impl<'launch, M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize>
    StoreMapped<'launch, M, T, OTHERS>
{
    /// A result of `shape` in `c`.
    ///
    /// # Safety
    /// 1. `c` has the elements of the result. The launch accesses them only through such a value.
    /// 2. The first `OTHERS` of `others` have the elements at the result's places, by the strides of `shape`.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn new(
        c: GlobalMut<'launch, M::Output>,
        others: [Global<'launch, T>; MOST_OTHERS],
        shape: GridConstant<'launch, MappedShape>,
        parameters: GridConstant<'launch, M::Parameters>,
    ) -> Self {
        const {
            assert!(
                OTHERS <= MOST_OTHERS,
                "a product's map has up to two other matrices"
            );
            assert!(
                size_of::<M::Parameters>() > 0,
                "the parameters of a product's map have at least one byte"
            );
        }
        Self {
            c,
            others,
            shape,
            parameters,
        }
    }
}

impl<M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize> Sink<f32>
    for StoreMapped<'_, M, T, OTHERS>
{
    #[inline(always)]
    unsafe fn store(&self, row: usize, column: usize, sum: f32) {
        let others = array::from_fn(|number| {
            let [down, along] = self.shape.strides[number];
            // SAFETY: the matrix has the element: the contract of `new`, because the result has the place, the caller's
            // contract.
            unsafe { self.others[number].load(row * down + column * along) }
        });
        let sum = sum.canonical_nan();
        let output = M::map(sum, others, [row, column], &self.parameters);
        // SAFETY: C has the element: it has the result's, the contract of `new`, and the result has this output, the
        // caller's contract. No other thread accesses it: the contracts of both.
        unsafe { self.c.store(row * self.shape.ldc + column, output) };
    }
}

impl<M: ProductMap<T, OTHERS>, T: Pod, const OTHERS: usize> OutputSink<f32>
    for StoreMapped<'_, M, T, OTHERS>
{
    #[inline(always)]
    fn plain(&self) -> Option<StoreOutput<'_, f32>> {
        None
    }
}
