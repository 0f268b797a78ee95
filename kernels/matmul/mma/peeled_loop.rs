//! The main loop of a warp of f64.
//!
//! ```text
//! copy the first tiles of A and of B, to all stages but one
//! wait for the first, and read fragments of its first k
//! for each tile of K:
//!     copy a later one to the stage that was read last
//!     for each step of k of the tile:
//!         multiply: each warp adds the products of its fragments to its outputs, and
//!         reads those of the next step in their place, after the last step from the next tile
//! ```
//!
//! The loop is peeled: as long as the later tile ends within K, a loop of its own has no branch, so that the assembler
//! puts copies and reads between products. A block at the edge of C has another such loop. Products of narrow elements
//! take a fraction of the time, and are slower by it.

use super::super::operand::Operands;
use super::block_operands::BlockOperands;
use super::element::MmaElement;
use super::stage::{StageElement, StageLayout, Stages};
use super::warp_tile::{WarpOutputs, WarpPosition};
use cuda_std::hint::opaque;
use cuda_std::prelude::*;

/// Elements of a wide copy, of 16 bytes.
const VECTOR: usize = 2;

impl<A: StageLayout<Element = f64>, B: StageLayout<Element = f64>> BlockOperands<'_, A, B> {
    /// Starts to copy tile number `tile`, a group of copies, to the stage of the pipeline that was read last.
    ///
    /// # Safety
    /// 1. There is such a tile, it ends within K, and the operands' rows start at multiples of 16 bytes if copies are
    ///    `WIDE`: others bring an element.
    /// 2. `WITHIN_C` as the block's outputs are. Copies of elements are those of blocks within.
    /// 3. The stages are the block's own, and have `STAGES` of each operand. The last readers of this one have passed
    ///    a barrier, and no thread touches it until its copies have been waited for and another one has been passed.
    #[inline(always)]
    unsafe fn copy_whole<const STAGES: usize, const WIDE: bool, const WITHIN_C: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        tile: u32,
    ) {
        let (stage, k) = (pipeline.producer_stage(), tile as usize * f64::DEPTH);
        // SAFETY: (1) is (1), and the stage is the pipeline's. (2) is (2), with (1). (3) is (3).
        unsafe {
            if !WIDE {
                self.load_elements::<STAGES, true>(pipeline, stage, k);
            } else if WITHIN_C {
                self.load::<STAGES, true>(pipeline, stage, k);
            } else {
                self.load_at_edge(pipeline, stage, k);
            }
        }
        pipeline.commit();
    }

    /// As [`copy_whole`](Self::copy_whole), for a tile that may lie outside the operands in part, or past the end of K,
    /// where its group of copies is empty. Copies that are not `WIDE` bring one element each.
    ///
    /// # Safety
    /// 1. The operands' rows start at multiples of 16 bytes if copies are `wide`.
    /// 2. As (3) of [`Self::copy_whole`].
    #[inline(always)]
    unsafe fn copy_in_part<const STAGES: usize>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        tile: u32,
        wide: bool,
    ) {
        if tile < self.tiles {
            let (stage, k) = (pipeline.producer_stage(), tile as usize * f64::DEPTH);
            // SAFETY: (1) The comparison, and (1); the stage is the pipeline's. (2) Without `IN_BOUNDS`. (3) is (2).
            unsafe {
                if wide {
                    self.load::<STAGES, false>(pipeline, stage, k);
                } else {
                    self.load_elements::<STAGES, false>(pipeline, stage, k);
                }
            }
        }
        pipeline.commit();
    }
}

/// A warp on its way along K.
struct Progress<'a, A, B, W, const STAGES: usize>
where
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    W: WarpOutputs<Element = f64>,
{
    operands: BlockOperands<'a, A, B>,
    pipeline: Pipeline<STAGES>,
    position: WarpPosition,
    sums: W,
    /// The stage of the tile that is multiplied next.
    stage: usize,
    /// Fragments of its first k.
    fragments: W::Fragments,
}

impl<A, B, W, const STAGES: usize> Progress<'_, A, B, W, STAGES>
where
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    W: WarpOutputs<Element = f64>,
{
    /// Adds the products of the fragments, and reads others, from `k` of the stage on.
    ///
    /// # Safety
    /// 1. All threads of the block have waited for their copies of the stage, and for one another.
    /// 2. `k` is a multiple of [`MmaElement::STEP`], below [`StageElement::DEPTH`].
    /// 3. All threads of the block make the call together: none has branched away.
    #[inline(always)]
    unsafe fn multiply_and_read(&mut self, k: usize) {
        // SAFETY: (1) is (1). (2) Of the sizes, the assertion of `of_block`; (2). (3) is (3).
        unsafe {
            self.sums.add_products_and_read(
                &mut self.fragments,
                &self.position,
                self.operands.stages,
                self.stage,
                k,
            );
        }
    }

    /// Waits for the next tile, and for all threads.
    #[inline(always)]
    fn wait(&mut self) -> usize {
        let stage = self.pipeline.consumer_wait();
        thread::sync_threads();
        stage
    }

    /// Multiplies the tile, and reads the first fragments of the one that follows: of itself, for nothing, if it
    /// `is_last`. A branch would wait for the fragments.
    ///
    /// # Safety
    /// 1. All threads of the block make the call together, with the tile for which they have waited.
    #[inline(always)]
    unsafe fn multiply_tile(&mut self, is_last: bool) {
        let (depth, step) = (f64::DEPTH, f64::STEP);
        let mut k = step;
        while k < depth {
            // SAFETY: (1) is (1). (2) `k` counts steps. (3) is (1): the loop has as many rounds for all.
            unsafe { self.multiply_and_read(k) };
            k += step;
        }
        let following = self.wait();
        self.stage = if is_last { self.stage } else { following };
        // SAFETY: (1) the wait; of the last tile, (1). (2) 0. (3) is (1).
        unsafe { self.multiply_and_read(0) };
    }

    /// Multiplies the first tiles, as long as the one that is copied meanwhile ends within K, and returns the number of
    /// the next.
    ///
    /// # Safety
    /// 1. As for `multiply_tile`.
    /// 2. As (2) and (3) of [`BlockOperands::copy_whole`], and rows start at multiples of 16 bytes if copies are `WIDE`.
    #[inline(always)]
    unsafe fn multiply_whole<const WIDE: bool, const WITHIN_C: bool>(&mut self) -> u32 {
        let ahead = STAGES as u32 - 1;
        let mut tile = 0;
        while tile + ahead < self.operands.whole_tiles {
            // SAFETY: of the copy, (1) the comparison; (2). (2), (3) are (2). Of the product, (1): the bound is the
            // block's.
            unsafe {
                self.operands
                    .copy_whole::<STAGES, WIDE, WITHIN_C>(&mut self.pipeline, tile + ahead);
                self.multiply_tile(false);
            }
            tile += 1;
        }
        tile
    }
}

/// The main loop of block number `block` of the product's, which hands the warp's sums to `store` with the
/// warp's place in the block, and the row and the column where the block's outputs begin. `BY_ELEMENTS` there is a loop
/// without a branch for operands whose rows start anywhere, too.
///
/// # Safety
/// 1. The launch has blocks of the warps' threads, one `block` for each of their `BLOCK`s of the result, and all
///    threads of a block make the call together.
/// 2. A and B have the elements of m x k and k x n matrices, `lda` and `ldb` elements from row to row
///    in memory.
/// 3. The memory of the stages is the block's own, and has `STAGES` of each operand.
#[inline(always)]
pub unsafe fn multiply<A, B, W, const STAGES: usize, const BY_ELEMENTS: bool>(
    block: u32,
    operands: Operands<'_, f64>,
    stages: (Stages<'_, A>, Stages<'_, B>),
    store: impl FnOnce(&W, &WarpPosition, (usize, usize)),
) where
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    W: WarpOutputs<Element = f64>,
{
    let mut operands = BlockOperands::of_block::<W>(block, operands, stages);
    let is_wide = operands.rows_start_at_multiples_of(VECTOR);
    // One number in one register, not K and its remainder.
    operands.tiles = opaque(operands.tiles);
    let mut warp = Progress {
        operands,
        pipeline: Pipeline::<STAGES>::new(),
        position: W::position(thread::thread_idx_x()),
        sums: W::zero(),
        stage: 0,
        fragments: W::no_fragments(),
    };
    let ahead = STAGES as u32 - 1;
    // SAFETY: of the copies, (1) and (2) `is_wide` and `is_within_c`; (3) the stages are the block's, by (3), and the
    // last readers of a stage pass a barrier before the next tile is copied to it. Of the reads, (1) the wait before,
    // (2) 0, (3) is (1). Of the products, all threads are here, by (1), and have waited: the bounds of the loops and the
    // conditions are the block's.
    unsafe {
        for tile in 0..ahead {
            warp.operands
                .copy_in_part(&mut warp.pipeline, tile, is_wide);
        }
        if warp.operands.tiles > 0 {
            warp.stage = warp.wait();
            warp.fragments = W::read(&warp.position, stages, warp.stage, 0);
        }
        let first = match (is_wide, warp.operands.is_within_c) {
            (true, true) => warp.multiply_whole::<true, true>(),
            (true, false) => warp.multiply_whole::<true, false>(),
            (false, true) if BY_ELEMENTS => warp.multiply_whole::<false, true>(),
            (false, _) => 0,
        };
        for tile in first..warp.operands.tiles {
            warp.operands
                .copy_in_part(&mut warp.pipeline, tile + ahead, is_wide);
            warp.multiply_tile(tile + 1 == warp.operands.tiles);
        }
    }
    // Computed anew, so that it holds no registers while the warp multiplies.
    let position = W::position(opaque(thread::thread_idx_x()));
    store(&warp.sums, &position, warp.operands.origin());
}
