//! Element types that tensor cores multiply, in products of 16 x 8 outputs.
//!
//! A product has the largest k whose fragment of A fits the registers: 16 bytes of a row for each of four lanes.

use super::super::copy_rows::copy_rows;
use super::super::element::OperandElement;
use super::super::operand::GlobalOperand;
use super::stage::{StageElement, StageLayout, Stages};
use crate::epilogue::EpilogueElement;
use cuda_std::mma::{A, B, C, Element};
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use half::{bf16, f16};

/// Rows and columns of one product.
pub const ROWS_OF_PRODUCT: usize = 16;
pub const COLUMNS_OF_PRODUCT: usize = 8;

/// A lane's sums of one product.
pub type Sums<T> = C<<T as MmaElement>::Sum, ROWS_OF_PRODUCT, COLUMNS_OF_PRODUCT>;

/// An element type that a warp multiplies on tensor cores.
pub trait MmaElement: StageElement {
    /// The type of sums.
    type Sum: EpilogueElement + Element<ROWS_OF_PRODUCT, COLUMNS_OF_PRODUCT>;

    /// A lane's part of a product's rows of A.
    type A: Copy;

    /// A lane's part of a product's columns of B.
    type B: Copy;

    /// The k of one product.
    const STEP: usize;

    /// Zeros.
    fn zero() -> (Self::A, Self::B);

    /// A lane's part of 16 rows, from `row` on, with [`STEP`](Self::STEP) k, from `k` on.
    ///
    /// # Safety
    /// 1. Stage number `stage` has these elements. They have been written, before a barrier, and no thread writes them
    ///    before the next one.
    /// 2. `row` is a multiple of 16, and `k` of [`STEP`](Self::STEP).
    /// 3. All threads of the warp make the call together, converged.
    unsafe fn read_a<L: StageLayout<Element = Self>>(
        stages: Stages<'_, L>,
        stage: usize,
        row: usize,
        k: usize,
    ) -> Self::A;

    /// A lane's part of two products' columns, from `column` on, with [`STEP`](Self::STEP) k, from `k` on.
    ///
    /// # Safety
    /// 1. As for [`read_a`](Self::read_a), for 16 columns.
    unsafe fn read_b<L: StageLayout<Element = Self>>(
        stages: Stages<'_, L>,
        stage: usize,
        column: usize,
        k: usize,
    ) -> [Self::B; 2];

    /// The sums with the product added.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together, converged.
    #[track_caller]
    unsafe fn add_product(sums: Sums<Self>, a: Self::A, b: Self::B) -> Sums<Self>;
}

/// Rows are a multiple of 16 elements, and 4 of padding, apart. So the 16 elements that half a warp reads at once, 4 k
/// of 4 neighbouring outputs, are in 16 different pairs of banks, whether k or outputs are contiguous.
impl StageElement for f64 {
    const DEPTH: usize = 16;
    const PADDING: usize = 4;

    #[inline(always)]
    unsafe fn copy<L: StageLayout<Element = Self>, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        to: (SharedSlice<Self>, usize),
        operand: &GlobalOperand<Self>,
        origin: (usize, usize),
    ) {
        // SAFETY: the caller's contract, with copies of 2 elements, 16 bytes.
        unsafe {
            copy_rows::<L, STAGES, 2, IN_BOUNDS, IN_BOUNDS>(pipeline, to, operand, origin);
        }
    }
}

/// Fragments are read element by element.
impl MmaElement for f64 {
    type Sum = Self;
    type A = A<Self, ROWS_OF_PRODUCT, 8>;
    type B = B<Self, 8, COLUMNS_OF_PRODUCT>;
    const STEP: usize = 8;

    #[inline(always)]
    fn zero() -> (Self::A, Self::B) {
        (A::zero(), B::zero())
    }

    #[inline(always)]
    unsafe fn read_a<L: StageLayout<Element = Self>>(
        stages: Stages<'_, L>,
        stage: usize,
        row: usize,
        k: usize,
    ) -> Self::A {
        // SAFETY: the stage has the element, which was written before a barrier and is not written before the next one:
        // the caller's contract.
        A::from_fn(|i, j| unsafe { stages.as_slice().load(stages.index(stage, row + i, k + j)) })
    }

    #[inline(always)]
    unsafe fn read_b<L: StageLayout<Element = Self>>(
        stages: Stages<'_, L>,
        stage: usize,
        column: usize,
        k: usize,
    ) -> [Self::B; 2] {
        let product = |first: usize| {
            // SAFETY: as for A, for the columns of either product.
            B::from_fn(|i, j| unsafe {
                stages
                    .as_slice()
                    .load(stages.index(stage, first + j, k + i))
            })
        };
        [product(column), product(column + COLUMNS_OF_PRODUCT)]
    }

    #[inline(always)]
    unsafe fn add_product(sums: Sums<Self>, a: Self::A, b: Self::B) -> Sums<Self> {
        // SAFETY: the warp is converged: the caller's contract.
        unsafe { sums.add_product(a, b) }
    }
}

/// Elements of 8 or 16 bits, which `ldmatrix` reads 16 bytes at a time. Rows are a multiple of 32 bytes, and 16 bytes
/// of padding, apart, so that 8 neighbouring rows are in different banks. 8-bit elements are contiguous along k only:
/// `ldmatrix` cannot transpose them.
macro_rules! narrow_elements {
    ($($element:ident in $sum:ident: vector = $vector:literal, step = $step:literal, depth = $depth:literal,
        $(transposed = [$read_a:ident $read_b:ident],)?;)*) => {$(
        impl OperandElement for $element {
            const OUTSIDE: (Self, Self) = (narrow_elements!(@zero $element), narrow_elements!(@zero $element));
            const OUTSIDE_IS_ZERO: bool = true;
        }

        impl StageElement for $element {
            const DEPTH: usize = $depth;
            const PADDING: usize = $vector;

            #[inline(always)]
            unsafe fn copy<L: StageLayout<Element = Self>, const STAGES: usize, const IN_BOUNDS: bool>(
                pipeline: &mut Pipeline<STAGES>,
                to: (SharedSlice<Self>, usize),
                operand: &GlobalOperand<Self>,
                origin: (usize, usize),
            ) {
                // SAFETY: the caller's contract, with copies of 16 bytes.
                unsafe {
                    copy_rows::<L, STAGES, $vector, IN_BOUNDS, false>(pipeline, to, operand, origin);
                }
            }
        }

        impl MmaElement for $element {
            type Sum = $sum;
            type A = A<Self, ROWS_OF_PRODUCT, $step>;
            type B = B<Self, $step, COLUMNS_OF_PRODUCT>;
            const STEP: usize = $step;

            #[inline(always)]
            fn zero() -> (Self::A, Self::B) {
                (A::zero(), B::zero())
            }

            #[inline(always)]
            unsafe fn read_a<L: StageLayout<Element = Self>>(
                stages: Stages<'_, L>,
                stage: usize,
                row: usize,
                k: usize,
            ) -> Self::A {
                let index = |i, j| stages.index(stage, row + i, k + j);
                // SAFETY: the stage has the elements, which were written before a barrier and are not written before
                // the next one, and the warp is converged: the caller's contract. Indices are multiples of 16 bytes:
                // rows in shared memory start there, and `row` and `k` are multiples of 16 bytes, the caller's
                // contract.
                unsafe {
                    $(if !L::K_IS_CONTIGUOUS {
                        return A::$read_a(stages.as_slice(), index);
                    })?
                    A::load(stages.as_slice(), index)
                }
            }

            #[inline(always)]
            unsafe fn read_b<L: StageLayout<Element = Self>>(
                stages: Stages<'_, L>,
                stage: usize,
                column: usize,
                k: usize,
            ) -> [Self::B; 2] {
                let index = |i, j| stages.index(stage, column + j, k + i);
                // SAFETY: as for A, for 16 columns.
                unsafe {
                    $(if !L::K_IS_CONTIGUOUS {
                        return B::$read_b(stages.as_slice(), index);
                    })?
                    B::load_pair(stages.as_slice(), index)
                }
            }

            #[inline(always)]
            unsafe fn add_product(sums: Sums<Self>, a: Self::A, b: Self::B) -> Sums<Self> {
                // SAFETY: the warp is converged: the caller's contract.
                unsafe { sums.add_product(a, b) }
            }
        }
    )*};
    (@zero i8) => { 0 };
    (@zero $half:ident) => { $half::ZERO };
}
narrow_elements! {
    f16 in f32: vector = 8, step = 16, depth = 32, transposed = [load_transposed load_pair_transposed],;
    bf16 in f32: vector = 8, step = 16, depth = 32, transposed = [load_transposed load_pair_transposed],;
    i8 in i32: vector = 16, step = 32, depth = 64,;
}
