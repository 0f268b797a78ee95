//! Products of f16 and bf16 on tensor cores, with a function of their sums that another crate defines.

use super::super::mapped::{MappedShape, ProductMap, StoreMapped};
use super::super::operand::Operands;
use super::element::MmaElement;
use super::product::{multiply, store_to_sink};
use super::stage::{AcrossK, AlongK, StageElement, StageLayout, Stages};
use super::tile::MmaTile;
use super::warp_tile::WarpOutputs;
use crate::finish::{STAGING_LEN, Staging};
use bytemuck::Pod;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;

/// The larger of both layouts' stages, in elements, for `outputs` rows or columns.
const fn stage_elements<T: StageElement>(outputs: usize) -> usize {
    let along = outputs * (T::DEPTH + T::PADDING);
    let across = T::DEPTH * (outputs + T::PADDING);
    if along > across { along } else { across }
}

impl MmaTile {
    /// Elements of the stages of an operand with `outputs` rows or columns, in either order.
    #[doc(hidden)]
    #[must_use]
    pub const fn mapped_elements<T: StageElement>(&self, outputs: usize) -> usize {
        self.stages * stage_elements::<T>(outputs)
    }

    /// The dynamic shared memory of a block that maps a product, in bytes. Staging buffers lie in the stages' memory.
    #[doc(hidden)]
    #[must_use]
    pub const fn mapped_bytes<T: StageElement>(&self) -> usize {
        let a = self.mapped_elements::<T>(self.rows());
        let b = self.mapped_elements::<T>(self.columns());
        let (stages, staging) = (
            (a + b) * size_of::<T>(),
            self.mapped_staging() * size_of::<f32>(),
        );
        if stages > staging { stages } else { staging }
    }

    /// Elements of the staging buffers of all warps.
    #[doc(hidden)]
    #[must_use]
    pub const fn mapped_staging(&self) -> usize {
        self.warps * STAGING_LEN
    }
}

/// The calling block's part of a product, whose sums `store` takes.
///
/// # Safety
/// 1. The launch has blocks of `THREADS` threads along x, those of `W`, one for each of its tiles of `ROWS` x `COLUMNS`
///    in the m x n outputs.
/// 2. `a` and `b` have the elements of m x k and k x n matrices, as `shape` says, with rows (columns, if column-major)
///    that start at multiples of 16 bytes, and `store` takes its result.
/// 3. `memory` has `STAGES` stages of each operand, in either order. `staging` lies there, too, or is unused otherwise.
///    Only this block accesses them, and only in this call.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn map_product_by_warps<
    M: ProductMap<T, OTHERS>,
    T: Pod,
    W: WarpOutputs<Element: MmaElement<Sum = f32>>,
    const OTHERS: usize,
    const ROWS: usize,
    const COLUMNS: usize,
    const THREADS: usize,
    const STAGES: usize,
    const LEN: usize,
>(
    [a, b]: [Global<'_, W::Element>; 2],
    shape: &MappedShape,
    memory: [SharedSlice<'_, W::Element>; 2],
    staging: Staging<'_, f32, LEN>,
    store: StoreMapped<'_, M, T, OTHERS>,
) {
    let &MappedShape { m, n, k, .. } = shape;
    let [lda, ldb] = shape.apart;
    let operands = Operands {
        a,
        b,
        m,
        n,
        k,
        lda,
        ldb,
    };
    /// A product with operands in these layouts.
    macro_rules! product {
        ($a:ident $b:ident) => {
            with_layouts::<
                $a<W::Element, ROWS, THREADS>,
                $b<W::Element, COLUMNS, THREADS>,
                M,
                T,
                W,
                OTHERS,
                STAGES,
                LEN,
            >(operands, memory, staging, store)
        };
    }
    // SAFETY: the caller's contract. A column-major A and a row-major B lie across K, the others along it. All threads
    // of a block take one branch: the condition is the launch's.
    unsafe {
        match shape.is_column_major {
            [0, 0] => product!(AlongK AcrossK),
            [0, _] => product!(AlongK AlongK),
            [_, 0] => product!(AcrossK AcrossK),
            _ => product!(AcrossK AlongK),
        }
    }
}

/// [`map_product_by_warps`] with operands in these layouts.
///
/// # Safety
/// As for `map_product_by_warps`; the operands lie in the layouts.
#[inline(always)]
unsafe fn with_layouts<
    A: StageLayout<Element = W::Element>,
    B: StageLayout<Element = W::Element>,
    M: ProductMap<T, OTHERS>,
    T: Pod,
    W: WarpOutputs<Element: MmaElement<Sum = f32>>,
    const OTHERS: usize,
    const STAGES: usize,
    const LEN: usize,
>(
    operands: Operands<'_, W::Element>,
    [of_a, of_b]: [SharedSlice<'_, W::Element>; 2],
    staging: Staging<'_, f32, LEN>,
    store: StoreMapped<'_, M, T, OTHERS>,
) {
    let stages = (Stages::<A>::new(of_a), Stages::<B>::new(of_b));
    let extents = (operands.m, operands.n);
    // SAFETY: the launch, the operands, their alignment and the stages: the caller's contract. All threads of the block
    // make the stores, with `W`'s warps. The staging buffers are the block's, and no copy to their memory is under way.
    // The sink takes an m x n result: the caller's contract. `block_position` gives each block its own outputs.
    unsafe {
        multiply::<A, B, W, STAGES>(
            thread::block_idx_x(),
            operands,
            stages,
            |sums: &W, _, origin| store_to_sink(sums, origin, extents, staging, &store),
        );
    }
}
