//! The pass that reads an operand once. A cluster, or one block for short lines, keeps whole lines in shared memory,
//! finds their extremes, and splits their elements.
//!
//! ```text
//! each block:  copy its part of the lines to shared memory; wait
//!              find the extremes of its parts of the lines
//! the cluster: exchange the extremes of the blocks; compute the scale of each line
//! each block:  read its part again, and store both halves of each element, scaled
//! ```

use super::halves::Halves;
use super::lines::{RangeWords, scale_of};
use super::matrix::SplitMatrix;
use super::part::{Part, QUAD};
use super::scan::Extremes;
use super::shape::{SPLIT_LINES, SplitShape, WARPS};
use super::sharing::{CLUSTER, FEW_LINES, Sharing};
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::warp::LaneMask;
use cuda_std::{cluster, dependent_launch};
use half::f16;

/// The extremes of the calling lane combined with those of the lane `lanes` away.
#[inline(always)]
fn across(extremes: Extremes, lanes: u32) -> Extremes {
    let exchanged = extremes
        .words()
        .map(|word| warp::shuffle_xor(LaneMask::all(), word, lanes));
    extremes.with(Extremes::from_words(exchanged))
}

/// Splits a group of `LINES` lines, number `number`, that `BLOCKS` blocks share: the calling block alone, or a cluster.
///
/// # Safety
/// 1. The launch meets the kernel's requirements. `matrix`, `halves` and `number` are the calling block's.
#[inline(always)]
unsafe fn split_lines<const ALONG: bool, const BLOCKS: usize, const LINES: usize>(
    matrix: &SplitMatrix<'_>,
    halves: Halves<'_>,
    number: usize,
) {
    let SplitMatrix { shape, words, .. } = matrix;
    let elements = dynamic_shared!(f32);
    let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
    let rank = if BLOCKS > 1 {
        cluster::rank() as usize
    } else {
        0
    };
    let depth = shape.block_depth(BLOCKS);
    let first_line = number * LINES;
    let part = Part::<ALONG, LINES> {
        source: matrix.source::<ALONG>(),
        elements,
        first_line,
        first_k: rank * depth,
        depth,
    };
    let mut pipeline = Pipeline::new();
    // SAFETY: the source has its elements, and the launch has dynamic shared memory for the part: the caller's
    // contract. Each thread waits for its copies before `extremes` reads them; barriers follow before `store`.
    let extremes = unsafe {
        part.load(&mut pipeline);
        pipeline.wait_prior::<0>();
        part.extremes()
    };

    // The extremes of each warp, then of the block; and those of the blocks of the cluster.
    let found = shared_array![[u32; 2]; WARPS * SPLIT_LINES];
    let of_blocks = shared_array![[u32; 2]; CLUSTER * SPLIT_LINES];
    let scales = shared_array![i32; SPLIT_LINES];
    const {
        assert!(
            BLOCKS == 1 || BLOCKS == CLUSTER && WARPS == CLUSTER && LINES == SPLIT_LINES,
            "each warp reads the extremes of one block"
        )
    };
    let merged = |of: SharedArray<'_, [u32; 2], { WARPS * SPLIT_LINES }>| {
        let mut all = Extremes::NONE;
        let mut i = 0;
        while i < WARPS && lane < LINES {
            // SAFETY: the index is within the array. The elements were written before a barrier.
            all = all.with(Extremes::from_words(unsafe { of.load(i * LINES + lane) }));
            i += 1;
        }
        all
    };
    // SAFETY: indices are within the shared arrays. Elements are written before they are read; each thread writes its
    // own, and barriers order them before other threads' reads. The first barrier of the cluster shows that other
    // blocks have started and written their extremes; the second keeps them from ending before they are read. The words
    // are those of the lines: the caller's contract, the lines were compared, and one warp of the launch accesses them;
    // all its lanes call `note_groups`. All threads have loaded, waited and passed a barrier before `store`, as have
    // the writers of the scales; no other block has the part, and the halves meet the requirements: the caller's
    // contract.
    unsafe {
        let mut i = 0;
        while ALONG && i < const { LINES / WARPS } {
            let extremes = extremes[i].reduced();
            if lane == 0 {
                found.store(warp + i * WARPS, extremes.words());
            }
            i += 1;
        }
        while !ALONG && i < QUAD {
            let quads = const { LINES / QUAD };
            let (mut extremes, mut lanes) = (extremes[i], quads);
            while lanes < 32 {
                extremes = across(extremes, lanes as u32);
                lanes *= 2;
            }
            if lane < quads {
                found.store(warp * LINES + lane * QUAD + i, extremes.words());
            }
            i += 1;
        }
        thread::sync_threads();
        if !ALONG && warp == 0 && BLOCKS > 1 {
            found.store(lane, merged(found).words());
        }
        if BLOCKS > 1 {
            cluster::sync();
            let other = found.as_slice().in_block(warp as u32);
            of_blocks.store(warp * SPLIT_LINES + lane, other.load(lane));
            cluster::sync();
        }
        if warp == 0 {
            let extremes = match (BLOCKS, ALONG) {
                (1, true) if lane >= LINES => Extremes::NONE,
                (1, true) => Extremes::from_words(found.load(lane)),
                (1, false) => merged(found),
                _ => merged(of_blocks),
            };
            if lane < LINES {
                scales.store(lane, scale_of(extremes.largest));
            }
            if rank == 0 {
                let line = match lane < LINES {
                    true => first_line + lane,
                    false => shape.lines,
                };
                if line < shape.lines {
                    words.store(line, extremes.largest);
                }
                let places = RangeWords { lines: shape.lines };
                places.note_groups(*words, line, extremes.words(), shape.lowest);
            }
        }
        thread::sync_threads();
        part.store(halves, scales);
    }
}

macro_rules! at_once_kernels {
    ($($(#[doc = $doc:literal])* $name:ident: $blocks:expr, $lines:expr, [$($bound:tt)*];)*) => {$(
        $(#[doc = $doc])*
        ///
        /// The halves are those of [`split_halves`](super::split_halves).
        ///
        /// # Safety
        /// 1. The launch meets the [requirements of the kernels](SplitShape#requirements-of-the-kernels), with
        ///    [`at_once_blocks`](SplitShape::at_once_blocks) blocks per matrix.
        /// 2. Both operands have the same k. Blocks have [`at_once_bytes`](SplitShape::at_once_bytes) of dynamic shared
        ///    memory.
        #[allow(clippy::too_many_arguments)]
        #[kernel($($bound)*)]
        pub unsafe fn $name(
            a: Global<f32>,
            b: Global<f32>,
            a_shape: GridConstant<SplitShape>,
            b_shape: GridConstant<SplitShape>,
            a_words: GlobalMut<u32>,
            b_words: GlobalMut<u32>,
            a_halves: GlobalMut<f16>,
            b_halves: GlobalMut<f16>,
        ) {
            dependent_launch::wait();
            dependent_launch::trigger();
            let sharing = Sharing { blocks: $blocks, lines: $lines };
            let blocks = |shape: &SplitShape| shape.at_once_blocks(sharing);
            let matrix = SplitMatrix::of_block(
                thread::block_idx_x(), blocks, (a, b), (a_shape, b_shape), (a_words, b_words));
            let halves = matrix.halves((a_halves, b_halves));
            let number = matrix.block as usize / $blocks;
            // SAFETY: the launch meets the kernel's requirements: the caller's contract. The matrix, the halves and
            // the number are the calling block's.
            unsafe {
                match matrix.shape.is_along {
                    1 => split_lines::<true, { $blocks }, { $lines }>(&matrix, halves, number),
                    _ => split_lines::<false, { $blocks }, { $lines }>(&matrix, halves, number),
                }
            }
        }
    )*};
}
at_once_kernels! {
    /// Splits one or two operands. A cluster of 8 blocks splits [`SPLIT_LINES`] lines of at most
    /// [`SplitShape::MOST_AT_ONCE`] elements.
    split_in_cluster: CLUSTER, SPLIT_LINES,
        [arch = "sm_90a", max_threads = 256, min_blocks = 4, cluster = (8, 1, 1), dependent_launch];
    /// Splits one or two operands. A block splits [`SPLIT_LINES`] lines.
    split_in_block: 1, SPLIT_LINES, [arch = "sm_90a", max_threads = 256, min_blocks = 4, dependent_launch];
    /// Splits one or two operands. A block splits 8 lines.
    split_few_in_block: 1, FEW_LINES, [arch = "sm_90a", max_threads = 256, min_blocks = 3, dependent_launch];
}
