//! The f64 main loop.
//!
//! ```text
//! copy the first tiles of A and of B, to all stages but one
//! wait for the first, and read fragments of its first k
//! for each tile of K:
//!     copy a later tile to the stage that was read last
//!     for each step of k of the tile:
//!         multiply: each warp adds the products of its fragments to its outputs, and
//!         replaces them by the next step's fragments, after the last step by the next tile's
//! ```
//!
//! The loop is peeled: while the later tile lies within K, a separate loop has no branch, so that ptxas puts copies and
//! reads between products. Blocks at the edge of C have another such loop. Products of 8- and 16-bit elements take a
//! fraction of the time, and a peeled loop makes them slower.

use super::super::operand::Operands;
use super::block_operands::BlockOperands;
use super::element::MmaElement;
use super::stage::{StageElement, StageLayout, Stages};
use super::warp_tile::{WarpOutputs, WarpPosition};
use cuda_std::hint::opaque;
use cuda_std::prelude::*;

/// Elements of a 16-byte copy.
const VECTOR: usize = 2;

impl<A: StageLayout<Element = f64>, B: StageLayout<Element = f64>> BlockOperands<'_, A, B> {
    /// Starts to copy tile number `tile`, which lies within K, to the stage that was read last, as a group of copies.
    ///
    /// Copies are of 16 bytes if `VECTORS`, otherwise of an element.
    ///
    /// # Safety
    /// 1. The product has the block and the tile, and the operands have their elements. The tile lies within K. With
    ///    `VECTORS`, the operands' rows are aligned to 16 bytes. All threads of the block make the call.
    /// 2. With `WITHIN_C`, and without `VECTORS`, the block's outputs lie within C.
    /// 3. There are `STAGES` stages of each operand, which only this block accesses. The last readers of this one have
    ///    passed a barrier, and no thread accesses it until its copies have been waited for and another barrier has
    ///    been passed.
    #[inline(always)]
    unsafe fn copy_whole<const STAGES: usize, const VECTORS: bool, const WITHIN_C: bool>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        tile: u32,
    ) {
        let (stage, k) = (pipeline.producer_stage(), tile as usize * f64::DEPTH);
        // SAFETY: the block, the tile, the operands, their alignment, the threads and the stages: the caller's
        // contract. The stage is one of the pipeline's `STAGES`. The tile lies within K, and within both operands if
        // the block lies within C: the caller's contract.
        unsafe {
            if !VECTORS {
                self.load_elements::<STAGES, true>(pipeline, stage, k);
            } else if WITHIN_C {
                self.load::<STAGES, true>(pipeline, stage, k);
            } else {
                self.load_at_edge(pipeline, stage, k);
            }
        }
        pipeline.commit();
    }

    /// [`copy_whole`](Self::copy_whole) for a tile that may lie partly outside the operands. The group of a tile past
    /// the end of K is empty.
    ///
    /// # Safety
    /// 1. The product has the block, and the operands have their elements. If `vectors`, the operands' rows are aligned
    ///    to 16 bytes. All threads of the block make the call.
    /// 2. (3) of [`Self::copy_whole`].
    #[inline(always)]
    unsafe fn copy_in_part<const STAGES: usize>(
        &self,
        pipeline: &mut Pipeline<STAGES>,
        tile: u32,
        vectors: bool,
    ) {
        if tile < self.tiles {
            let (stage, k) = (pipeline.producer_stage(), tile as usize * f64::DEPTH);
            // SAFETY: the product has the tile: compared above. The block, the operands, their alignment, the threads
            // and the stages: the caller's contract. The stage is one of the pipeline's `STAGES`. Nothing is assumed to
            // lie within the operands.
            unsafe {
                if vectors {
                    self.load::<STAGES, false>(pipeline, stage, k);
                } else {
                    self.load_elements::<STAGES, false>(pipeline, stage, k);
                }
            }
        }
        pipeline.commit();
    }
}

/// A warp's progress along K.
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
    /// The fragments of its first k.
    fragments: W::Fragments,
}

impl<A, B, W, const STAGES: usize> Progress<'_, A, B, W, STAGES>
where
    A: StageLayout<Element = f64>,
    B: StageLayout<Element = f64>,
    W: WarpOutputs<Element = f64>,
{
    /// Adds the products of the fragments, and replaces them by those of the stage from `k` on.
    ///
    /// # Safety
    /// 1. All threads of the block have waited for their copies of the stage, and then passed a barrier. No thread
    ///    writes the stage before the next one.
    /// 2. `k` is a multiple of [`MmaElement::STEP`], below [`StageElement::DEPTH`].
    /// 3. All threads of the block make the call together, converged.
    #[inline(always)]
    unsafe fn multiply_and_read(&mut self, k: usize) {
        // SAFETY: the stage has been written, before a barrier, and is not written before the next one; `k`; the warp
        // is converged: the caller's contract. The stages have the block's rows and columns: asserted in `of_block`.
        // `position` is this warp's: `multiply`.
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

    /// Waits for the next tile, then for all threads.
    #[inline(always)]
    fn wait(&mut self) -> usize {
        let stage = self.pipeline.consumer_wait();
        thread::sync_threads();
        stage
    }

    /// Multiplies the tile, and reads the next tile's first fragments.
    ///
    /// If the tile `is_last`, it reads the tile's own fragments, which are not used: a branch would wait for them.
    ///
    /// # Safety
    /// 1. All threads of the block make the call together, converged. They have waited for the tile's copies, and then
    ///    passed a barrier. No thread writes the tile's stage before the next one.
    #[inline(always)]
    unsafe fn multiply_tile(&mut self, is_last: bool) {
        let (depth, step) = (f64::DEPTH, f64::STEP);
        let mut k = step;
        while k < depth {
            // SAFETY: the threads have waited, and no thread writes the stage: the caller's contract. `k` counts steps
            // below the depth. The warp is converged: the loop's bounds are constants.
            unsafe { self.multiply_and_read(k) };
            k += step;
        }
        let following = self.wait();
        self.stage = if is_last { self.stage } else { following };
        // SAFETY: the threads have waited for the stage: above for the next tile, before the call for the last one. It
        // is not written before the next barrier: later copies go to the stage that was read last. `k` is 0. The warp
        // is converged: `is_last` selects a number, without a branch around the call.
        unsafe { self.multiply_and_read(0) };
    }

    /// Multiplies tiles while the one that is copied meanwhile lies within K, and returns the number of the next.
    ///
    /// # Safety
    /// 1. As for `multiply_tile`, for the first tile.
    /// 2. As for [`BlockOperands::copy_whole`], for every tile within K.
    #[inline(always)]
    unsafe fn multiply_whole<const VECTORS: bool, const WITHIN_C: bool>(&mut self) -> u32 {
        let ahead = STAGES as u32 - 1;
        let mut tile = 0;
        while tile + ahead < self.operands.whole_tiles {
            // SAFETY: the copied tile lies within K: compared above. The rest of the copy: the caller's contract, and
            // the stage's last readers have passed the barrier in `wait`. All threads are here: the bound is the
            // block's. They have waited for the tile: the caller's contract for the first one, `multiply_tile` for the
            // others.
            unsafe {
                self.operands
                    .copy_whole::<STAGES, VECTORS, WITHIN_C>(&mut self.pipeline, tile + ahead);
                self.multiply_tile(false);
            }
            tile += 1;
        }
        tile
    }
}

/// The main loop of the product's block number `block`.
///
/// Hands `store` the warp's sums, the warp's place in the block, and the row and column of the block's first output.
/// `BY_ELEMENTS` adds a loop without a branch for operands whose rows have any alignment.
///
/// # Safety
/// 1. The launch has blocks of `W`'s threads, one of each number for the `W::BLOCK` tiles of the result, and all
///    threads of a block make the call together.
/// 2. A and B have the elements of m x k and k x n matrices in the orders of the layouts, with rows `lda` and `ldb`
///    elements apart in memory.
/// 3. There are `STAGES` stages of each operand. Only this block accesses their memory, and only in this call.
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
    let has_vectors = operands.rows_start_at_multiples_of(VECTOR);
    // Keeps the number in one register, rather than K and its remainder.
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
    // SAFETY: the product has the block, the operands have their elements, all threads of the block are here, and the
    // stages are the block's: the caller's contract. Copies are of 16 bytes only if `has_vectors`: compared. Those of
    // whole tiles rely on C's edges only if `is_within_c`. A stage's last readers pass a barrier before it is filled
    // again. Before the first reads all threads have waited; `k` is 0, the stages have the block's rows and columns
    // (asserted in `of_block`), and `position` is this warp's. All threads multiply each tile, converged, after a wait:
    // the bounds of the loops and the conditions are the block's.
    unsafe {
        for tile in 0..ahead {
            warp.operands
                .copy_in_part(&mut warp.pipeline, tile, has_vectors);
        }
        if warp.operands.tiles > 0 {
            warp.stage = warp.wait();
            warp.fragments = W::read(&warp.position, stages, warp.stage, 0);
        }
        let first = match (has_vectors, warp.operands.is_within_c) {
            (true, true) => warp.multiply_whole::<true, true>(),
            (true, false) => warp.multiply_whole::<true, false>(),
            (false, true) if BY_ELEMENTS => warp.multiply_whole::<false, true>(),
            (false, _) => 0,
        };
        for tile in first..warp.operands.tiles {
            warp.operands
                .copy_in_part(&mut warp.pipeline, tile + ahead, has_vectors);
            warp.multiply_tile(tile + 1 == warp.operands.tiles);
        }
    }
    // Computed again, so that it holds no registers while the warp multiplies.
    let position = W::position(opaque(thread::thread_idx_x()));
    store(&warp.sums, &position, warp.operands.origin());
}
