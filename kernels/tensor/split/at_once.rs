//! The pass that reads an operand once: a cluster, or a block if they are short, keeps whole lines in shared
//! memory, finds their extremes, and takes their elements apart.
//!
//! ```text
//! each block:  copy its part of the lines to shared memory; wait
//!              find the extremes of its parts of the lines
//! the cluster: exchange the extremes of the blocks; make a scale of those of each line
//! each block:  read its part again, and store both halves of each element, scaled
//! ```

use super::halves::Halves;
use super::lines::{LineWords, scale_of};
use super::operand::Operand;
use super::scan::Extremes;
use super::shape::{SPLIT_LINES, SplitShape, WARPS};
use super::source::Source;
use cuda_std::pipeline::Pipeline;
use cuda_std::prelude::*;
use cuda_std::shared::SharedSlice;
use cuda_std::warp::LaneMask;
use cuda_std::{cluster, dependent_launch};
use half::f16;

/// Blocks of a cluster. Each has a part of every line.
const CLUSTER: usize = 8;

/// The longest lines of which a block keeps [`SPLIT_LINES`] alone.
const MOST_OF_ALL: usize = 512;

/// Lines of a block that keeps longer ones alone, and the longest of them.
///
/// On an H200, both operands by such blocks and by clusters, in us: 8.4 and 9.7 at 1024, 12.2 and 16.2 at 1536, 27.1
/// and 27.0 at 2048. Those of clusters do not all start at once, and wait for one another.
const FEW_LINES: usize = 8;
const MOST_OF_FEW: usize = 1536;

/// Elements of a line that a warp stores at a time.
const STEP: usize = 4 * 32;

/// The most steps of a line for which a block has shared memory.
const MOST_STEPS: usize = 13;

/// Elements of a lane in a step.
const OF_STEP: usize = 4;

/// Lines whose elements are loaded together where they are neighbours.
const QUAD: usize = 4;

/// Fours of elements in 128 bytes, which lie in different banks.
const FOURS_OF_BANKS: usize = 8;

impl SplitShape {
    /// The longest lines that a cluster keeps.
    pub const MOST_AT_ONCE: usize = CLUSTER * MOST_STEPS * STEP;

    /// How blocks share the lines, if they are taken apart at once: by [`split_in_block`], [`split_few_in_block`] or
    /// [`split_in_cluster`].
    #[must_use]
    pub const fn sharing(&self) -> Sharing {
        if self.k <= MOST_OF_ALL {
            Sharing::block(SPLIT_LINES)
        } else if self.k <= MOST_OF_FEW {
            Sharing::block(FEW_LINES)
        } else {
            Sharing {
                blocks: CLUSTER,
                lines: SPLIT_LINES,
            }
        }
    }

    /// Elements of a line that each of `blocks` has.
    #[inline(always)]
    const fn block_depth(&self, blocks: usize) -> usize {
        self.k.div_ceil(blocks * STEP) * STEP
    }

    /// Blocks that take a matrix apart at once.
    #[inline(always)]
    #[must_use]
    pub const fn at_once_blocks(&self, sharing: Sharing) -> usize {
        self.lines.div_ceil(sharing.lines) * sharing.blocks
    }

    /// The bytes of dynamic shared memory of each.
    #[must_use]
    pub const fn at_once_bytes(&self, sharing: Sharing) -> usize {
        sharing.lines * self.block_depth(sharing.blocks) * size_of::<f32>()
    }
}

/// How blocks share lines that are taken apart at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Blocks that share each line: a cluster, or one.
    pub blocks: usize,
    /// Lines that they have in common.
    pub lines: usize,
}

impl Sharing {
    /// A block alone has so many lines.
    const fn block(lines: usize) -> Self {
        Self { blocks: 1, lines }
    }
}

/// What a block has of an operand: a part of each of its cluster's lines.
#[derive(Clone, Copy)]
struct Part<'a, const ALONG: bool, const LINES: usize> {
    source: Source<'a, ALONG>,
    elements: SharedSlice<'a, f32>,
    first_line: usize,
    first_k: usize,
    /// Elements of each line.
    depth: usize,
}

impl<const ALONG: bool, const LINES: usize> Part<'_, ALONG, LINES> {
    /// Lines of each warp, if they are contiguous; and fours that a thread brings in each step.
    const ROWS: usize = LINES / WARPS;

    /// Quads of lines.
    const QUADS: usize = LINES / QUAD;

    /// Where four neighbours lie: elements of a line from `k` on, or of a quad of lines at `k`. Quads are
    /// permuted within 128 bytes, so that lanes with neighbouring fours of elements reach different banks.
    #[inline(always)]
    fn place(self, line: usize, k: usize) -> usize {
        match ALONG {
            true => line * self.depth + k,
            false => {
                let four = k * Self::QUADS + line / QUAD;
                (four ^ (k / OF_STEP % FOURS_OF_BANKS)) * QUAD
            }
        }
    }

    /// Line and element, from the block's first ones on, of the four number `i` that a thread brings in each
    /// step.
    #[inline(always)]
    fn four(i: usize) -> (usize, usize) {
        let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
        match ALONG {
            true => (warp + i * WARPS, OF_STEP * lane),
            false => {
                let (thread, threads) = (warp * 32 + lane, WARPS * 32);
                let (line, k) = (thread % Self::QUADS * QUAD, thread / Self::QUADS);
                (line, k + i * (threads / Self::QUADS))
            }
        }
    }

    /// Starts to bring what the block has.
    ///
    /// # Safety
    /// 1. As for the kernel.
    #[inline(always)]
    unsafe fn load(self, pipeline: &mut Pipeline<1>) {
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                let to = self.place(line, first + k);
                let (line, k) = (self.first_line + line, self.first_k + first + k);
                // SAFETY: (1) is (1). (2) The block has so many elements, of which each thread has its own,
                // and all places are multiples of 4.
                unsafe { (self.source).bring_four(line, k, pipeline, self.elements, to) };
                i += 1;
            }
            first += STEP;
        }
        pipeline.commit();
    }

    /// The extremes of what the calling thread has brought: of its warp's lines if they are contiguous, else of
    /// its quad of lines.
    ///
    /// # Safety
    /// 1. The copies have been waited for.
    #[inline(always)]
    unsafe fn extremes(self) -> [Extremes; QUAD] {
        const { assert!(Self::ROWS <= QUAD && LINES.is_multiple_of(WARPS) && LINES <= 32) };
        let mut extremes = [Extremes::NONE; QUAD];
        let mut first = 0;
        while first < self.depth {
            let mut i = 0;
            while i < Self::ROWS {
                let (line, k) = Self::four(i);
                // SAFETY: (1) as in `load`, by (1). (2) Each thread has its own. (3) As there.
                let four: [f32; 4] =
                    unsafe { self.elements.load_vector(self.place(line, first + k)) };
                let mut j = 0;
                while j < 4 {
                    let of = if ALONG { i } else { j };
                    extremes[of] = extremes[of].with(Extremes::of(four[j]));
                    j += 1;
                }
                i += 1;
            }
            first += STEP;
        }
        extremes
    }

    /// Takes apart what the block has loaded; `scales` are those of its lines.
    ///
    /// # Safety
    /// 1. As for the kernel.
    /// 2. A barrier stands behind what was loaded, and behind the scales.
    #[inline(always)]
    unsafe fn store(self, halves: Halves<'_>, scales: SharedArray<'_, i32, SPLIT_LINES>) {
        let (warp, lane) = (warp::warp_in_block() as usize, warp::lane() as usize);
        // Lines that lie across: a warp has a quad, and other warps other elements of it.
        let sharing = const { WARPS / Self::QUADS };
        let (rows, first_k, step) = match ALONG {
            true => (Self::ROWS, OF_STEP * lane, STEP),
            false => (
                QUAD,
                OF_STEP * lane + STEP * (warp / Self::QUADS),
                STEP * sharing,
            ),
        };
        let line = |i: usize| match ALONG {
            true => warp + i % Self::ROWS * WARPS,
            false => warp % Self::QUADS * QUAD + i,
        };
        // SAFETY: (1) the lines are those of the block. (2) is (2).
        let scales = [0, 1, 2, 3].map(|i| unsafe { scales.load(line(i)) });
        let mut k = first_k;
        while k < self.depth {
            // SAFETY: (1) the block has so many elements, all of which were loaded. (2) is (2). (3) All
            // places are multiples of 4.
            let fours = [0, 1, 2, 3].map(|i| unsafe {
                let (line, k) = if ALONG {
                    (line(i), k)
                } else {
                    (line(0), k + i)
                };
                self.elements.load_vector::<4>(self.place(line, k))
            });
            let mut i = 0;
            while i < rows {
                let elements = match ALONG {
                    true => fours[i],
                    false => [fours[0][i], fours[1][i], fours[2][i], fours[3][i]],
                };
                // SAFETY: (1) `k` is a multiple of 4. (2) Each thread has its elements.
                unsafe {
                    halves.store(
                        self.first_line + line(i),
                        self.first_k + k,
                        elements,
                        scales[i],
                    );
                }
                i += 1;
            }
            k += step;
        }
    }
}

/// The extremes of what both the calling lane and the one `lanes` away have seen.
#[inline(always)]
fn across(extremes: Extremes, lanes: u32) -> Extremes {
    let exchanged = extremes
        .words()
        .map(|word| warp::shuffle_xor(LaneMask::all(), word, lanes));
    extremes.with(Extremes::from_words(exchanged))
}

/// Takes apart the `LINES` lines number `number` that `BLOCKS` blocks share: the calling one, or a cluster.
///
/// # Safety
/// 1. As for the kernel.
#[inline(always)]
unsafe fn split_lines<const ALONG: bool, const BLOCKS: usize, const LINES: usize>(
    operand: &Operand<'_>,
    halves: Halves<'_>,
    number: usize,
) {
    let Operand { shape, words, .. } = operand;
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
        source: operand.source::<ALONG>(),
        elements,
        first_line,
        first_k: rank * depth,
        depth,
    };
    let mut pipeline = Pipeline::new();
    // SAFETY: (1) is (1), and the copies are waited for.
    let extremes = unsafe {
        part.load(&mut pipeline);
        pipeline.wait_prior::<0>();
        part.extremes()
    };

    // Those of each warp's lines, then of the block's; and those of the cluster's blocks.
    let found = shared_array![[u32; 2]; WARPS * SPLIT_LINES];
    let of_blocks = shared_array![[u32; 2]; CLUSTER * SPLIT_LINES];
    let scales = shared_array![i32; SPLIT_LINES];
    const {
        assert!(
            BLOCKS == 1 || BLOCKS == CLUSTER && WARPS == CLUSTER && LINES == SPLIT_LINES,
            "each warp asks one block"
        )
    };
    let merged = |of: SharedArray<'_, [u32; 2], { WARPS * SPLIT_LINES }>| {
        let mut all = Extremes::NONE;
        let mut i = 0;
        while i < WARPS && lane < LINES {
            // SAFETY: (1) within the array, which was written. (2) A barrier stands behind the stores.
            all = all.with(Extremes::from_words(unsafe { of.load(i * LINES + lane) }));
            i += 1;
        }
        all
    };
    // SAFETY: in all shared memory (1) each place lies within the array, and is written before it is read.
    // (2) Each thread writes its own places, and barriers stand between them and what others read. Of the
    // other blocks' memory, (3) a barrier of the cluster follows the accesses.
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
                let places = LineWords { lines: shape.lines };
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
        /// 1. The grid has the [blocks](SplitShape::at_once_blocks) of each matrix of A and then of B along x, of
        ///    [`SPLIT_THREADS`](super::SPLIT_THREADS) threads, with the [bytes](SplitShape::at_once_bytes) of
        ///    dynamic shared memory of both operands. Their k is the same.
        /// 2. `a` and `b` start with the first elements of the operands of their shapes and reach to the
        ///    last. The launch reads their elements alone.
        /// 3. `a_words` and `b_words` have the words of [`LineWords`] of each matrix.
        /// 4. `a_halves` and `b_halves` have twice as many lines as the matrices, each of the shape's pitch.
        ///    The launch has them and the words for itself.
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
            let operand = Operand::of_block(
                thread::block_idx_x(), blocks, (a, b), (a_shape, b_shape), (a_words, b_words));
            let halves = operand.halves((a_halves, b_halves));
            let number = operand.block as usize / $blocks;
            // SAFETY: (1) is (1) to (4).
            unsafe {
                match operand.shape.is_along {
                    1 => split_lines::<true, { $blocks }, { $lines }>(&operand, halves, number),
                    _ => split_lines::<false, { $blocks }, { $lines }>(&operand, halves, number),
                }
            }
        }
    )*};
}
at_once_kernels! {
    /// Takes one or two operands apart, each [`SPLIT_LINES`] lines of at most [`SplitShape::MOST_AT_ONCE`]
    /// elements by a cluster of 8 blocks.
    split_in_cluster: CLUSTER, SPLIT_LINES,
        [arch = "sm_90a", max_threads = 256, min_blocks = 4, cluster = (8, 1, 1), dependent_launch];
    /// Takes one or two operands apart, each [`SPLIT_LINES`] lines by a block.
    split_in_block: 1, SPLIT_LINES, [arch = "sm_90a", max_threads = 256, min_blocks = 4, dependent_launch];
    /// Takes one or two operands apart, each 8 lines by a block.
    split_few_in_block: 1, FEW_LINES, [arch = "sm_90a", max_threads = 256, min_blocks = 3, dependent_launch];
}
