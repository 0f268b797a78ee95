//! What tensor cores multiply, type by type: products of 16 x 8 outputs, along k as long as the fragments of
//! A have registers for, 16 bytes of each row for each lane of four.

use super::super::copy_rows::copy_rows;
use super::super::element::OperandElement;
use super::super::operand::Operand;
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

/// A type of operands' elements that a warp multiplies on tensor cores.
pub trait MmaElement: StageElement {
    /// The type of sums.
    type Sum: EpilogueElement + Element<ROWS_OF_PRODUCT, COLUMNS_OF_PRODUCT>;

    /// A lane's part of the rows of A that a product takes.
    type A: Copy;

    /// A lane's part of the columns of B that a product takes.
    type B: Copy;

    /// The k of one product.
    const STEP: usize;

    /// Zeros.
    fn zero() -> (Self::A, Self::B);

    /// A lane's part of the rows from `row` on and of [`STEP`](Self::STEP) k from `k` on.
    ///
    /// # Safety
    /// 1. Stage number `stage` has these elements, which have been written, before a barrier.
    /// 2. `row` is a multiple of 16, and `k` of [`STEP`](Self::STEP).
    /// 3. All threads of the warp make the call together: none has branched away.
    unsafe fn read_a<L: StageLayout<Element = Self>>(
        stages: Stages<'_, L>,
        stage: usize,
        row: usize,
        k: usize,
    ) -> Self::A;

    /// A lane's part of two products' columns from `column` on and of [`STEP`](Self::STEP) k from `k` on.
    ///
    /// # Safety
    /// As for `read_a`, of columns.
    unsafe fn read_b<L: StageLayout<Element = Self>>(
        stages: Stages<'_, L>,
        stage: usize,
        column: usize,
        k: usize,
    ) -> [Self::B; 2];

    /// The sums with the product added.
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together: none has branched away.
    #[track_caller]
    unsafe fn add_product(sums: Sums<Self>, a: Self::A, b: Self::B) -> Sums<Self>;
}

/// Rows are 4 elements longer than a multiple of 16: the 16 elements that half a warp reads at once, 4 k of 4
/// neighbouring outputs, are then in 16 different pairs of banks, whichever of the two follow one another.
impl StageElement for f64 {
    const DEPTH: usize = 16;
    const PADDING: usize = 4;

    #[inline(always)]
    unsafe fn copy<L: StageLayout<Element = Self>, const STAGES: usize, const IN_BOUNDS: bool>(
        pipeline: &mut Pipeline<STAGES>,
        to: (SharedSlice<Self>, usize),
        operand: &Operand<Self>,
        origin: (usize, usize),
    ) {
        // SAFETY: (1) to (4) are the caller's.
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
        // SAFETY: (1) the element is there and has been written, by (1). (2) No thread writes it until the
        // next barrier.
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
            // SAFETY: as for A.
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
        // SAFETY: (1) is the caller's.
        unsafe { sums.add_product(a, b) }
    }
}

/// Elements of which 16 bytes are read at once, by `ldmatrix`. Rows are 16 bytes longer than a multiple of 32:
/// 8 neighbouring ones are then in different banks. Elements of 8 bits are `along_k` alone, for which there is
/// no other `ldmatrix`.
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
                operand: &Operand<Self>,
                origin: (usize, usize),
            ) {
                // SAFETY: (1) to (4) are the caller's.
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
                // SAFETY: (1) is (1). (2) No thread writes them until the next barrier. (3) Rows in memory
                // start at multiples of 16 bytes, and so do the fragments in them, by (2). (4) is (3).
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
                // SAFETY: as for A.
                unsafe {
                    $(if !L::K_IS_CONTIGUOUS {
                        return B::$read_b(stages.as_slice(), index);
                    })?
                    B::load_pair(stages.as_slice(), index)
                }
            }

            #[inline(always)]
            unsafe fn add_product(sums: Sums<Self>, a: Self::A, b: Self::B) -> Sums<Self> {
                // SAFETY: (1) is the caller's.
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
