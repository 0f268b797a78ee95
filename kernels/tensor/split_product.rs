//! f32 products on tensor cores: each operand in two halves, three products of halves for each.
//!
//! ```text
//! for each stage of K, 64 elements:
//!     high  = A.hi B.hi                    exact products, added in the tensor core
//!     low  += A.lo B.hi + A.hi B.lo        2^11 times too large
//!     total += high                        on the ordinary units, rounded to nearest, while low runs
//! every 4096 elements, and at the end: total += 2^-11 low
//! ```
//!
//! A tensor core rounds each sum toward zero, which shows after many additions: totals on the ordinary
//! units make of it an f32 product. The error bound is that of [`lowest_exponent`](super::lowest_exponent).

use super::operand::{AlongK, TensorOperand};
use super::outputs::is_first_of_warpgroup;
use super::schedule::{ClusterTile, Schedule};
use super::split::{LOW_SCALE, LineWords, PANEL, scale_of};
use super::{DEPTH, WARPGROUP_ROWS};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::tma::TensorMap;
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, KMajor, M64N128, Operand};
use half::f16;

/// Rows and columns of a block's outputs.
const ROWS: usize = PANEL;
const COLUMNS: usize = PANEL;

/// Outputs of a thread.
const COUNT: usize = COLUMNS / 2;

/// Blocks of a cluster, one below the other, which share B.
const BLOCKS: usize = 2;

/// All blocks of a cluster.
const ALL: u16 = (1 << BLOCKS) - 1;

/// Columns of a stage of B that each block brings.
const PART: usize = COLUMNS / BLOCKS;

const STAGES: usize = 3;

/// Warpgroups that multiply.
const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Bytes of a stage: both halves of both operands.
const STAGE_BYTES: usize = 2 * (ROWS + COLUMNS) * DEPTH * size_of::<f16>();

/// Stages after which `low` is added to the totals: its own truncations stay below one unit of theirs.
const LOW_ROUNDS: u32 = 64;

/// What a launch of the kernel has.
pub const SPLIT: ClusterTile = ClusterTile {
    rows: ROWS,
    columns: COLUMNS,
    blocks: BLOCKS,
    threads: 128 * (1 + CONSUMERS),
    shared_bytes: STAGES * (STAGE_BYTES + 16),
};

type AMap<'a> = AlongK<'a, f16, ROWS>;
type BMap<'a> = AlongK<'a, f16, PART>;
type ATiles<'a> = <AMap<'a> as TensorOperand<f16, ROWS, ROWS>>::Tiles<'a, STAGES>;
type BTiles<'a> = <BMap<'a> as TensorOperand<f16, COLUMNS, PART>>::Tiles<'a, STAGES>;

/// Both halves of something.
#[derive(Clone, Copy)]
struct Halves<T> {
    high: T,
    low: T,
}

/// The stages of both operands.
#[derive(Clone, Copy)]
struct Tiles<'a> {
    a: Halves<ATiles<'a>>,
    b: Halves<BTiles<'a>>,
}

impl<'a> Tiles<'a> {
    /// 64 rows of A in a stage.
    #[inline(always)]
    fn a_part(
        tiles: ATiles<'a>,
        stage: usize,
        first: usize,
    ) -> Operand<'a, f16, KMajor, WARPGROUP_ROWS, DEPTH> {
        <AMap<'a> as TensorOperand<f16, ROWS, ROWS>>::part(tiles.get(stage), first)
    }

    /// All columns of B in a stage.
    #[inline(always)]
    fn b_part(tiles: BTiles<'a>, stage: usize) -> Operand<'a, f16, KMajor, COLUMNS, DEPTH> {
        <BMap<'a> as TensorOperand<f16, COLUMNS, PART>>::part(tiles.get(stage), 0)
    }
}

/// The lines of both operands, and the result.
#[derive(Clone, Copy)]
struct Problem<'a> {
    a_words: Global<'a, u32>,
    b_words: Global<'a, u32>,
    c: GlobalMut<'a, f32>,
    m: usize,
    n: usize,
    ldc: usize,
}

impl Problem<'_> {
    /// Whether the outputs of the calling block's tile at (`row`, `column`) are left to the ordinary
    /// units.
    #[inline(always)]
    fn is_wide(self, row: u32, column: u32) -> bool {
        let (row, column) = (row as usize, column as usize);
        if row >= self.m {
            return true;
        }
        let (a, b) = (LineWords { lines: self.m }, LineWords { lines: self.n });
        // SAFETY: (1) the panels are those of lines that are there.
        unsafe { self.a_words.load(a.panel(row)) + self.b_words.load(b.panel(column)) != 0 }
    }

    /// Writes the calling thread's outputs of the warpgroup's tile at `origin`, scaled back.
    ///
    /// # Safety
    /// 1. No other thread of the launch accesses the outputs.
    #[inline(always)]
    unsafe fn store(self, totals: &[f32; COUNT], origin: (u32, u32)) {
        let address = self.c.as_mut_ptr().addr();
        // SAFETY: (1) is (1). (2) Compared.
        unsafe {
            if address.is_multiple_of(8) && self.ldc.is_multiple_of(2) {
                self.store_rows::<2>(totals, origin);
            } else {
                self.store_rows::<1>(totals, origin);
            }
        }
    }

    /// [`Self::store`], `WIDTH` neighbours at a time, one or two.
    ///
    /// # Safety
    /// 1. As for `store`.
    /// 2. Each row of C starts at a multiple of `WIDTH` elements.
    #[inline(always)]
    unsafe fn store_rows<const WIDTH: usize>(
        self,
        totals: &[f32; COUNT],
        (row, column): (u32, u32),
    ) {
        let mut half = 0;
        while half < 2 {
            let (r, c) = Accumulator::<COUNT>::place(2 * half);
            let (r, c) = ((row + r) as usize, (column + c) as usize);
            if r < self.m {
                // SAFETY: (1) the row is there.
                let down = scale_of(unsafe { self.a_words.load(r) });
                let mut j = 0;
                while j < COUNT / 4 {
                    let first = 4 * j + 2 * half;
                    let pair = [totals[first], totals[first + 1]];
                    // SAFETY: (1), (2) are the caller's, and the row is there.
                    unsafe { self.store_pair::<WIDTH>(pair, (r, c + 8 * j), down) };
                    j += 1;
                }
            }
            half += 1;
        }
    }

    /// Writes two neighbours of row `r`, scaled by 2^-`down` and the scales of their columns.
    ///
    /// # Safety
    /// 1. As for `store_rows`.
    /// 2. The row is there, and the column is even.
    #[inline(always)]
    unsafe fn store_pair<const WIDTH: usize>(
        self,
        pair: [f32; 2],
        (r, c): (usize, usize),
        down: i32,
    ) {
        let at = r * self.ldc + c;
        // SAFETY: (1) columns are compared, and the row is there, by (2). (2) A pair begins at an even
        // column, by (2) of `store_rows`. (3) is (1).
        unsafe {
            let scaled = |i: usize| scaled_back(pair[i], down + scale_of(self.b_words.load(c + i)));
            if WIDTH == 2 && c + 1 < self.n {
                self.c.store_vector(at, [scaled(0), scaled(1)]);
            } else {
                if c < self.n {
                    self.c.store(at, scaled(0));
                }
                if c + 1 < self.n {
                    self.c.store(at + 1, scaled(1));
                }
            }
        }
    }
}

/// `total` times 2^-`scale`, rounded once: in f64, which has the exponents.
#[inline(always)]
fn scaled_back(total: f32, scale: i32) -> f32 {
    let power = f64::from_bits(((1023 - scale) as u64) << 52);
    (f64::from(total) * power) as f32
}

/// Fills the stages, as one thread of each block.
///
/// # Safety
/// 1. The ring is initialised in each block of the cluster, and its consumers wait for all stages.
/// 2. The launch writes neither operand.
#[inline(always)]
unsafe fn produce<'a>(
    a: Halves<AMap<'a>>,
    b: Halves<BMap<'a>>,
    tiles: Tiles<'a>,
    mut ring: Producer<'a, STAGES>,
    schedule: Schedule,
) {
    let first = PART * cluster::rank() as usize;
    let mut work = schedule.tiles();
    while let Some((row, column)) = work.next() {
        let mut round = 0;
        while round < schedule.rounds {
            let k = round * DEPTH as u32;
            // SAFETY: (1) is (1). For the copies: (1) is (2), and the tiles are there. (2), (3) The slot
            // is empty in both blocks, until consumers have waited for it. (4) They wait for all.
            unsafe {
                let slot = ring.acquire();
                slot.expect(STAGE_BYTES as u32);
                let load_a = |map: AMap<'a>, tiles: ATiles<'a>| {
                    TensorOperand::<f16, ROWS, ROWS>::load(
                        map,
                        tiles.get(slot.stage()),
                        &slot,
                        (row, k),
                        0,
                        None,
                    );
                };
                let load_b = |map: BMap<'a>, tiles: BTiles<'a>| {
                    TensorOperand::<f16, COLUMNS, PART>::load(
                        map,
                        tiles.get(slot.stage()),
                        &slot,
                        (column, k),
                        first,
                        Some(ALL),
                    );
                };
                load_a(a.high, tiles.a.high);
                load_b(b.high, tiles.b.high);
                load_a(a.low, tiles.a.low);
                load_b(b.low, tiles.b.low);
            }
            round += 1;
        }
    }
}

/// Multiplies the stages of one tile of outputs, and releases each of them in all blocks of the
/// cluster.
///
/// # Safety
/// 1. The ring is initialised in each block of the cluster, and its producer fills all stages.
/// 2. All threads of the warpgroup make the call.
#[inline(always)]
unsafe fn multiply(
    tiles: Tiles<'_>,
    is_transposed: bool,
    ring: &mut Consumer<'_, STAGES>,
    first: usize,
    rounds: u32,
) -> [f32; COUNT] {
    // The order in which both products of `low` are added is that of C's transpose, so that its bits are.
    let (a_first, b_first, a_last, b_last) = match is_transposed {
        false => (tiles.a.low, tiles.b.high, tiles.a.high, tiles.b.low),
        true => (tiles.a.high, tiles.b.low, tiles.a.low, tiles.b.high),
    };
    let thread = warpgroup::thread_rank();
    let (mut high, mut low) = (M64N128::zero(), M64N128::zero());
    let mut totals = [0.0; COUNT];
    let mut round = 0;
    while round < rounds {
        let end = (round + LOW_ROUNDS).min(rounds);
        let mut low_products = low.overwrite();
        let mut before = None;
        while round < end {
            // SAFETY: (1) is (1), and (2) blocks end behind a barrier of the cluster. For the products:
            // (1) the stage is full. (2) It is released when they are finished. (3) is (2). (4) The tiles
            // are there. (5) All are waited for. Of `wait_before`, (1) the last group is that of `low`.
            unsafe {
                let stage = ring.wait();
                let at = stage.index();
                let a_part = |tiles| Tiles::a_part(tiles, at, first);
                let b_part = |tiles| Tiles::b_part(tiles, at);
                let mut products = high.overwrite().begin();
                products.multiply(a_part(tiles.a.high), b_part(tiles.b.high));
                let high_products = products.commit();
                // The stage before is released as early as can be, while the tensor cores have work.
                low_products.wait_all_but::<1>();
                if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                    ring.release_in(before, thread);
                }
                before = Some(stage);
                let mut products = low_products.begin();
                products.multiply(a_part(a_first), b_part(b_first));
                products.multiply(a_part(a_last), b_part(b_last));
                low_products = products.commit();
                high = high_products.wait_before::<1>();
            }
            let mut i = 0;
            while i < COUNT {
                totals[i] += high.get(i);
                i += 1;
            }
            round += 1;
        }
        low = low_products.wait();
        if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
            // SAFETY: (1) is (1). (2) Blocks end behind a barrier of the cluster.
            unsafe { ring.release_in(before, thread) };
        }
        let mut i = 0;
        while i < COUNT {
            totals[i] = low.get(i).mul_add(1.0 / LOW_SCALE, totals[i]);
            i += 1;
        }
    }
    totals
}

#[cfg(not(target_arch = "nvptx64"))]
impl ProductKernel for matmul_split_f32 {
    type Element = f32;
    const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
        tile: SPLIT.block_tile(),
        a: OperandLayout::Either,
        b: OperandLayout::Either,
        b_row_alignment: size_of::<f32>(),
    };
}

/// C = A B in f32, of operands that were taken apart. Where C stands for the transpose of a result,
/// `is_transposed` is 1: its bits are those of the result.
///
/// # Safety
/// 1. The four maps are of the halves of A's rows and B's columns, `k` elements each; `a_words` and
///    `b_words` have the [`LineWords`] of `m` and `n` lines, as the splits left them.
/// 2. `c` starts with the first element of an m x n matrix whose rows start `ldc` elements apart, and
///    reaches to its last. The launch accesses no other elements of it.
/// 3. The grid has whole clusters along x, and blocks as [`SPLIT`] says.
#[allow(clippy::too_many_arguments)]
#[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
pub unsafe fn matmul_split_f32(
    a_high: GridConstant<TensorMap<f16, 128, 64>>,
    a_low: GridConstant<TensorMap<f16, 128, 64>>,
    b_high: GridConstant<TensorMap<f16, 64, 64>>,
    b_low: GridConstant<TensorMap<f16, 64, 64>>,
    a_words: Global<u32>,
    b_words: Global<u32>,
    c: GlobalMut<f32>,
    m: usize,
    n: usize,
    k: usize,
    ldc: usize,
    is_transposed: u32,
) {
    let mut shared = dynamic_shared_allotment!();
    let tiles = Tiles {
        a: Halves {
            high: shared.tiles(),
            low: shared.tiles(),
        },
        b: Halves {
            high: shared.tiles(),
            low: shared.tiles(),
        },
    };
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: (1) one thread, and the cluster's barrier follows.
        unsafe { ring.init(1, (CONSUMERS * BLOCKS) as u32) };
    }
    cluster::sync();

    let schedule = Schedule::new(SPLIT, m as u32, n as u32, k as u32);
    if warpgroup::index() == 0 {
        warpgroup::decrease_registers::<40>();
        if is_first_of_warpgroup() {
            let a = Halves {
                high: AlongK(a_high),
                low: AlongK(a_low),
            };
            let b = Halves {
                high: AlongK(b_high),
                low: AlongK(b_low),
            };
            // SAFETY: (1) the ring is initialised. (2) The operands are read alone, by (1).
            unsafe { produce(a, b, tiles, ring.producer(), schedule) };
        }
    } else {
        warpgroup::increase_registers::<232>();
        let first = WARPGROUP_ROWS * (warpgroup::index() as usize - 1);
        let problem = Problem {
            a_words,
            b_words,
            c,
            m,
            n,
            ldc,
        };
        let mut ring = ring.consumer();
        let mut work = schedule.tiles();
    while let Some((row, column)) = work.next() {
            // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here. For the outputs, (1)
            // each warpgroup has its own.
            unsafe {
                let totals = multiply(tiles, is_transposed != 0, &mut ring, first, schedule.rounds);
                if !problem.is_wide(row, column) {
                    problem.store(&totals, (row + first as u32, column));
                }
            }
        }
    }
    // No block ends while the other one may still copy to it, or arrive at its barriers.
    cluster::sync();
}
