//! f16 and bf16: products of halves in f32, rounded to the halves once.
//!
//! ```text
//! warpgroup 0, one thread                      warpgroups 1 and 2, 64 rows of outputs each
//! for each tile of the cluster:                for each tile of the cluster:
//!     for each stage of K:                         for each stage of K:
//!         wait until it is empty                       wait until it is full
//!         copy A's tile, and half of                   multiply
//!         B's tile to both blocks                      release the stage before
//!                                                  write the outputs
//! ```
//!
//! The ladder of products on tensor cores has the steps that lead here.

use super::operand::{AcrossK, AlongK, TensorOperand};
use super::outputs::{CMap, TileStore, is_first_of_warpgroup};
use super::schedule::{ClusterTile, Schedule};
use super::{DEPTH, WARPGROUP_ROWS};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use ::half::{bf16, f16};
use cuda_std::cluster;
use cuda_std::float::HalfFloat;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::tma::{TensorMap, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::{Element, InFlight, M64N256, Multiply};

/// Rows and columns of a block's outputs.
const ROWS: usize = 128;
const COLUMNS: usize = 256;

/// Blocks of a cluster, one below the other, which share B.
const BLOCKS: usize = 2;

/// All blocks of a cluster.
const ALL: u16 = (1 << BLOCKS) - 1;

/// Columns of a stage of B that each block brings.
const PART: usize = COLUMNS / BLOCKS;

const STAGES: usize = 3;

/// Warpgroups that multiply.
const CONSUMERS: usize = ROWS / WARPGROUP_ROWS;

/// Bytes of a stage.
const STAGE_BYTES: usize = (ROWS + COLUMNS) * DEPTH * size_of::<f16>();

/// What a launch of the kernels has.
pub const HALF: ClusterTile = ClusterTile {
    rows: ROWS,
    columns: COLUMNS,
    blocks: BLOCKS,
    threads: 128 * (1 + CONSUMERS),
    shared_bytes: STAGES * (STAGE_BYTES + 16) + ROWS * COLUMNS * size_of::<f16>(),
};

/// The stages of both operands.
type Tiles<'a, T, A, B> = (
    <A as TensorOperand<T, ROWS, ROWS>>::Tiles<'a, STAGES>,
    <B as TensorOperand<T, COLUMNS, PART>>::Tiles<'a, STAGES>,
);

/// Fills the stages, as one thread of each block.
///
/// # Safety
/// 1. The ring is initialised in each block of the cluster, and its consumers wait for all stages.
/// 2. The launch writes neither operand.
#[inline(always)]
unsafe fn produce<T, A, B>(
    (a, b): (A, B),
    (a_tiles, b_tiles): Tiles<'_, T, A, B>,
    mut ring: Producer<'_, STAGES>,
    schedule: Schedule,
) where
    T: Element,
    A: TensorOperand<T, ROWS, ROWS>,
    B: TensorOperand<T, COLUMNS, PART>,
{
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
                a.load(A::tile(a_tiles, slot.stage()), &slot, (row, k), 0, None);
                b.load(
                    B::tile(b_tiles, slot.stage()),
                    &slot,
                    (column, k),
                    first,
                    Some(ALL),
                );
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
unsafe fn multiply<T, A, B>(
    mut sums: InFlight<128>,
    (a_tiles, b_tiles): Tiles<'_, T, A, B>,
    ring: &mut Consumer<'_, STAGES>,
    first: usize,
    rounds: u32,
) -> M64N256
where
    T: Element,
    A: TensorOperand<T, ROWS, ROWS>,
    B: TensorOperand<T, COLUMNS, PART>,
    [f32; 128]: Multiply<T, T>,
{
    let thread = warpgroup::thread_rank();
    let mut before = None;
    let mut round = 0;
    while round < rounds {
        // SAFETY: (1) is (1). For the products: (1) the stage is full. (2) It is released when they are
        // finished. (3) is (2). (4) The tiles are there. (5) They are waited for below.
        unsafe {
            let stage = ring.wait();
            let mut products = sums.begin();
            products.multiply(
                A::part::<WARPGROUP_ROWS>(A::tile(a_tiles, stage.index()), first),
                B::part::<COLUMNS>(B::tile(b_tiles, stage.index()), 0),
            );
            sums = products.commit();
            // The products of this stage run while the next one is waited for.
            sums.wait_all_but::<1>();
            if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
                ring.release_in(before, thread);
            }
            before = Some(stage);
        }
        round += 1;
    }
    let sums = sums.wait();
    if let (Some(before), true) = (&before, thread < BLOCKS as u32) {
        // SAFETY: (1) is (1). (2) Blocks end behind a barrier of the cluster.
        unsafe { ring.release_in(before, thread) };
    }
    sums
}

/// The kernel for operands of either layout.
///
/// # Safety
/// 1. As for the kernels.
#[inline(always)]
unsafe fn product<T, A, B>(a: A, b: B, c: CMap<'_, T>, schedule: Schedule)
where
    T: Element + HalfFloat,
    A: TensorOperand<T, ROWS, ROWS>,
    B: TensorOperand<T, COLUMNS, PART>,
    [f32; 128]: Multiply<T, T>,
{
    let mut shared = dynamic_shared_allotment!();
    let tiles = (
        A::tiles::<STAGES>(&mut shared),
        B::tiles::<STAGES>(&mut shared),
    );
    let c_tiles = shared.tiles::<T, WARPGROUP_ROWS, COLUMNS, CONSUMERS>();
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: (1) one thread, and the cluster's barrier follows.
        unsafe { ring.init(1, (CONSUMERS * BLOCKS) as u32) };
    }
    cluster::sync();

    if warpgroup::index() == 0 {
        warpgroup::decrease_registers::<40>();
        if is_first_of_warpgroup() {
            // SAFETY: (1) the ring is initialised. (2) (1) of the kernel.
            unsafe { produce((a, b), tiles, ring.producer(), schedule) };
        }
    } else {
        warpgroup::increase_registers::<232>();
        let number = warpgroup::index() - 1;
        let first = WARPGROUP_ROWS * number as usize;
        let outputs = TileStore {
            tile: c_tiles.get(number as usize),
            c,
            barrier: 1 + number,
        };
        let mut ring = ring.consumer();
        let mut work = schedule.tiles();
    while let Some((row, column)) = work.next() {
            let sums = M64N256::zero().overwrite();
            // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here. For the outputs: (1) so
            // it is. (2) Each warpgroup has its own.
            unsafe {
                let sums = multiply::<T, A, B>(sums, tiles, &mut ring, first, schedule.rounds);
                outputs.store(&sums, (row + first as u32, column));
            }
        }
        outputs.finish();
    }
    // No block ends while the other one may still copy to it, or arrive at its barriers.
    cluster::sync();
}

macro_rules! half_kernels {
    ($($element:ident: $nn:ident, $nt:ident, $tn:ident, $tt:ident;)*) => {$(
        half_kernels!(@kernel $nn: $element, AlongK 128, AcrossK 64, RowMajor RowMajor,
            "A and B are row-major.");
        half_kernels!(@kernel $nt: $element, AlongK 128, AlongK 128, RowMajor ColumnMajor,
            "A is row-major, B is column-major.");
        half_kernels!(@kernel $tn: $element, AcrossK 64, AcrossK 64, ColumnMajor RowMajor,
            "A is column-major, B is row-major.");
        half_kernels!(@kernel $tt: $element, AcrossK 64, AlongK 128, ColumnMajor ColumnMajor,
            "A and B are column-major.");
    )*};
    (@kernel $name:ident: $element:ident, $a:ident $a_rows:literal, $b:ident $b_rows:literal,
        $a_layout:ident $b_layout:ident, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ". ", $layout)]
        ///
        /// # Safety
        /// 1. `a`, `b` and `c` are maps of an m x k, a k x n and an m x n matrix, or of the transposes of
        ///    those that are column-major. The launch accesses C through `c` alone.
        /// 2. The grid has whole clusters along x, and blocks as [`HALF`] says.
        #[kernel(arch = "sm_90a", max_threads = 384, min_blocks = 1, cluster = (2, 1, 1))]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$element, $a_rows, 64>>,
            b: GridConstant<TensorMap<$element, $b_rows, 64>>,
            c: GridConstant<TensorMapMut<$element, 64, 64>>,
            m: u32,
            n: u32,
            k: u32,
        ) {
            // SAFETY: (1) is (1) and (2).
            unsafe { product($a(a), $b(b), c, Schedule::new(HALF, m, n, k)) };
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: HALF.block_tile(),
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
            };
        }
    };
}
half_kernels! {
    f16: matmul_wgmma_f16_nn, matmul_wgmma_f16_nt, matmul_wgmma_f16_tn, matmul_wgmma_f16_tt;
    bf16: matmul_wgmma_bf16_nn, matmul_wgmma_bf16_nt, matmul_wgmma_bf16_tn, matmul_wgmma_bf16_tt;
}
