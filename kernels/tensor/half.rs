//! f16 and bf16: products of halves in f32, rounded once, to halves or not at all.
//!
//! ```text
//! warpgroup 0, one thread                      warpgroups 1 and on, 64 rows of outputs each
//! for each tile of the cluster:                for each tile of the cluster:
//!     for each stage of K:                         for each stage of K:
//!         wait until it is empty                       wait until it is full
//!         copy A's tile, and half of                   multiply
//!         B's tile to both blocks                      release the stage before
//!                                                  write the outputs
//! ```
//!
//! The ladder of products on tensor cores has the steps that lead here.

use super::finish::{CMatrices, staging_len};
use super::operand::{AcrossK, AlongK, OperandPlace, TensorOperand};
use super::outputs::{BulkOutputs, DirectOutputs, Outputs, Writer, is_first_of_warpgroup};
use super::schedule::{ClusterTile, Schedule};
use super::shape::TensorShape;
use super::{DEPTH, WARPGROUP_ROWS};
use crate::epilogue::{Epilogue, EpilogueNumbers};
#[cfg(not(target_arch = "nvptx64"))]
use crate::matmul::{OperandLayout, ProductDescriptor, ProductKernel};
use ::half::{bf16, f16};
use cuda_std::cluster;
use cuda_std::mbarrier::{Consumer, Producer};
use cuda_std::prelude::*;
use cuda_std::tma::{TensorMap, TensorMapMut};
use cuda_std::warpgroup;
use cuda_std::wgmma::{Accumulator, Element, Multiply, Registers};

/// Blocks of a cluster, one below the other, which share B.
const BLOCKS: usize = 2;

/// All blocks of a cluster.
const ALL: u16 = (1 << BLOCKS) - 1;

/// Bytes of a stage of a tile of `rows` x `columns` outputs.
const fn stage_bytes(rows: usize, columns: usize) -> usize {
    (rows + columns) * DEPTH * size_of::<f16>()
}

/// What a launch has that computes `rows` x `columns` outputs for each block in `stages` stages, where
/// `resident` blocks are on a multiprocessor together.
const fn cluster_tile(rows: usize, columns: usize, stages: usize, resident: usize) -> ClusterTile {
    let warpgroups = rows / WARPGROUP_ROWS;
    ClusterTile {
        rows,
        columns,
        blocks: BLOCKS,
        resident,
        threads: 128 * (1 + warpgroups),
        shared_bytes: stages * stage_bytes(rows, columns)
            + rows * columns * size_of::<f16>()
            + 16 * stages,
    }
}

/// The tile of large products.
pub const HALF_LARGE: ClusterTile = cluster_tile(128, 256, 3, 1);

/// The tile of products that have too few large ones for the device.
pub const HALF_SMALL: ClusterTile = cluster_tile(64, 128, 4, 2);

/// What the blocks of a launch share out.
#[derive(Clone, Copy)]
struct Work<'launch> {
    shape: GridConstant<'launch, TensorShape>,
    schedule: Schedule,
}

impl<'launch> Work<'launch> {
    #[inline(always)]
    fn new(shape: GridConstant<'launch, TensorShape>, tile: ClusterTile) -> Self {
        let extents = (shape.m, shape.n, shape.k);
        Self {
            shape,
            schedule: Schedule::new(tile, extents, shape.matrices),
        }
    }
}

/// The stages of both operands.
type Tiles<'a, T, A, B, const ROWS: usize, const COLUMNS: usize, const PART: usize, const STAGES: usize> = (
    <A as TensorOperand<T, ROWS, ROWS>>::Tiles<'a, STAGES>,
    <B as TensorOperand<T, COLUMNS, PART>>::Tiles<'a, STAGES>,
);

/// Fills the stages, as one thread of each block.
///
/// # Safety
/// 1. The ring is initialised in each block of the cluster, and its consumers wait for all stages.
/// 2. The launch writes neither operand.
#[inline(always)]
unsafe fn produce<
    T,
    A,
    B,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const STAGES: usize,
>(
    (a, b): (A, B),
    (a_tiles, b_tiles): Tiles<'_, T, A, B, ROWS, COLUMNS, PART, STAGES>,
    mut ring: Producer<'_, STAGES>,
    work: Work<'_>,
) where
    T: Element,
    A: TensorOperand<T, ROWS, ROWS>,
    B: TensorOperand<T, COLUMNS, PART>,
{
    let first = PART * cluster::rank() as usize;
    let mut places = work.schedule.tiles();
    while let Some(place) = places.next() {
        let mut round = 0;
        while round < work.schedule.rounds {
            let k = round * DEPTH as u32;
            let of_a = OperandPlace {
                matrix: place.matrix * work.shape.a_step,
                output: place.row,
                k,
            };
            let of_b = OperandPlace {
                matrix: place.matrix * work.shape.b_step,
                output: place.column,
                k,
            };
            // SAFETY: (1) is (1). For the copies: (1) is (2), and the tiles are there. (2), (3) The slot
            // is empty in both blocks, until consumers have waited for it. (4) They wait for all.
            unsafe {
                let slot = ring.acquire();
                slot.expect(const { stage_bytes(ROWS, COLUMNS) as u32 });
                a.load(A::tile(a_tiles, slot.stage()), &slot, of_a, 0, None);
                let b_tile = B::tile(b_tiles, slot.stage());
                b.load(b_tile, &slot, of_b, first, Some(ALL));
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
unsafe fn multiply<
    T,
    A,
    B,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const COUNT: usize,
    const STAGES: usize,
>(
    (a_tiles, b_tiles): Tiles<'_, T, A, B, ROWS, COLUMNS, PART, STAGES>,
    ring: &mut Consumer<'_, STAGES>,
    first: usize,
    rounds: u32,
) -> Accumulator<COUNT>
where
    T: Element,
    A: TensorOperand<T, ROWS, ROWS>,
    B: TensorOperand<T, COLUMNS, PART>,
    [f32; COUNT]: Multiply<T, T> + Registers,
{
    let thread = warpgroup::thread_rank();
    let mut sums = Accumulator::zero().overwrite();
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
/// 1. The operands are those of the kernels, and `outputs` takes what `work` computes.
#[inline(always)]
unsafe fn product<
    T,
    A,
    B,
    O,
    const ROWS: usize,
    const COLUMNS: usize,
    const PART: usize,
    const COUNT: usize,
    const STAGES: usize,
>(
    a: A,
    b: B,
    outputs: O,
    work: Work<'_>,
) where
    T: Element,
    A: TensorOperand<T, ROWS, ROWS>,
    B: TensorOperand<T, COLUMNS, PART>,
    O: Outputs<COUNT>,
    [f32; COUNT]: Multiply<T, T> + Registers,
{
    let mut shared = dynamic_shared_allotment!();
    let tiles = (
        A::tiles::<STAGES>(&mut shared),
        B::tiles::<STAGES>(&mut shared),
    );
    let memory = O::memory(&mut shared);
    let ring = shared.ring::<STAGES>();
    if thread::rank_in_block() == 0 {
        // SAFETY: (1) one thread, and the cluster's barrier follows.
        unsafe { ring.init(1, (ROWS / WARPGROUP_ROWS * BLOCKS) as u32) };
    }
    cluster::sync();

    if warpgroup::index() == 0 {
        warpgroup::decrease_registers::<40>();
        if is_first_of_warpgroup() {
            // SAFETY: (1) the ring is initialised. (2) (1) of the kernel.
            unsafe {
                produce::<T, A, B, ROWS, COLUMNS, PART, STAGES>(
                    (a, b),
                    tiles,
                    ring.producer(),
                    work,
                );
            }
        }
    } else {
        // What the warpgroup that copies has left, of the registers of all that are resident.
        match COUNT {
            128 => warpgroup::increase_registers::<232>(),
            _ => warpgroup::increase_registers::<208>(),
        }
        let number = warpgroup::index() - 1;
        let first = WARPGROUP_ROWS as u32 * number;
        let writer = outputs.writer(memory, number);
        let mut ring = ring.consumer();
        let mut places = work.schedule.tiles();
        while let Some(mut place) = places.next() {
            // SAFETY: (1) the ring is initialised. (2) The whole warpgroup is here. For the outputs: (1) so
            // it is. (2) Each warpgroup has its own.
            unsafe {
                let sums = multiply::<T, A, B, ROWS, COLUMNS, PART, COUNT, STAGES>(
                    tiles,
                    &mut ring,
                    first as usize,
                    work.schedule.rounds,
                );
                place.row += first;
                writer.store(&sums, place);
            }
        }
        writer.finish();
    }
    // No block ends while the other one may still copy to it, or arrive at its barriers.
    cluster::sync();
}

macro_rules! half_kernels {
    ($tile:ident: $rows:literal x $columns:literal, part = $part:literal, count = $count:literal,
        stages = $stages:literal, threads = $threads:literal, resident = $resident:literal,
        consumers = $consumers:literal;
        $($element:ident: [$nn:ident, $nt:ident, $tn:ident, $tt:ident],
            f32: [$nn_f32:ident, $nt_f32:ident, $tn_f32:ident, $tt_f32:ident];)*) => {$(
        half_kernels!(@layouts [$tile $rows $columns $part $count $stages $threads $resident $consumers] $element,
            halves [$nn, $nt, $tn, $tt]);
        half_kernels!(@layouts [$tile $rows $columns $part $count $stages $threads $resident $consumers] $element,
            singles [$nn_f32, $nt_f32, $tn_f32, $tt_f32]);
    )*};
    (@layouts [$tile:ident $rows:literal $columns:literal $part:literal $($rest:tt)*] $element:ident,
        $output:ident [$nn:ident, $nt:ident, $tn:ident, $tt:ident]) => {
        half_kernels!(@$output $nn [$tile $rows $columns $part $($rest)*] $element,
            AlongK $rows, AcrossK 64, RowMajor RowMajor, "A and B are row-major.");
        half_kernels!(@$output $nt [$tile $rows $columns $part $($rest)*] $element,
            AlongK $rows, AlongK $part, RowMajor ColumnMajor, "A is row-major, B is column-major.");
        half_kernels!(@$output $tn [$tile $rows $columns $part $($rest)*] $element,
            AcrossK 64, AcrossK 64, ColumnMajor RowMajor, "A is column-major, B is row-major.");
        half_kernels!(@$output $tt [$tile $rows $columns $part $($rest)*] $element,
            AcrossK 64, AlongK $part, ColumnMajor ColumnMajor, "A and B are column-major.");
    };
    (@halves $name:ident [$tile:ident $rows:literal $columns:literal $part:literal $count:literal
        $stages:literal $threads:literal $resident:literal $consumers:literal] $element:ident,
        $a:ident $a_rows:tt, $b:ident $b_rows:tt, $a_layout:ident $b_layout:ident, $layout:literal) => {
        #[doc = concat!("C = A B in ", stringify!($element), ". ", $layout)]
        ///
        /// # Safety
        /// 1. `a`, `b` and `c` are maps of the m x k, k x n and m x n matrices of `shape`, or of the
        ///    transposes of those that are column-major. C is written through `c` where the epilogue is plain,
        ///    and accessed through `c_elements`, which has the matrices, otherwise; the launch accesses no
        ///    other elements of it.
        #[doc = concat!("2. The grid has whole clusters along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1))]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$element, $a_rows, 64, 3>>,
            b: GridConstant<TensorMap<$element, $b_rows, 64, 3>>,
            c: GridConstant<TensorMapMut<$element, 64, 64, 3>>,
            c_elements: GlobalMut<$element>,
            shape: GridConstant<TensorShape>,
            numbers: GridConstant<EpilogueNumbers<f32>>,
            row_scale: Global<f32>,
            column_scale: Global<f32>,
            row_bias: Global<f32>,
            column_bias: Global<f32>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = BulkOutputs::<_, $columns, $consumers, { staging_len($consumers) }> {
                map: c,
                c: CMatrices::of_shape(c_elements, &shape),
                epilogue,
            };
            // SAFETY: (1) is (1) and (2).
            unsafe {
                product::<$element, _, _, _, $rows, $columns, $part, $count, $stages>(
                    $a(a), $b(b), outputs, Work::new(shape, $tile));
            }
        }

        half_kernels!(@descriptor $name $tile $element $a_layout $b_layout);
    };
    (@singles $name:ident [$tile:ident $rows:literal $columns:literal $part:literal $count:literal
        $stages:literal $threads:literal $resident:literal $consumers:literal] $element:ident,
        $a:ident $a_rows:tt, $b:ident $b_rows:tt, $a_layout:ident $b_layout:ident, $layout:literal) => {
        #[doc = concat!("C = A B, A and B in ", stringify!($element), ", C in f32. ", $layout)]
        ///
        /// # Safety
        /// 1. `a` and `b` are maps of the m x k and k x n matrices of `shape`, or of the transposes of those
        ///    that are column-major. `c` has the m x n matrices, and the launch accesses no other elements
        ///    of it.
        #[doc = concat!("2. The grid has whole clusters along x, and blocks as [`", stringify!($tile), "`] says.")]
        #[allow(clippy::too_many_arguments)]
        #[kernel(arch = "sm_90a", max_threads = $threads, min_blocks = $resident, cluster = (2, 1, 1))]
        pub unsafe fn $name(
            a: GridConstant<TensorMap<$element, $a_rows, 64, 3>>,
            b: GridConstant<TensorMap<$element, $b_rows, 64, 3>>,
            c: GlobalMut<f32>,
            shape: GridConstant<TensorShape>,
            numbers: GridConstant<EpilogueNumbers<f32>>,
            row_scale: Global<f32>,
            column_scale: Global<f32>,
            row_bias: Global<f32>,
            column_bias: Global<f32>,
        ) {
            let epilogue = Epilogue { numbers, row_scale, column_scale, row_bias, column_bias };
            let outputs = DirectOutputs::<{ staging_len($consumers) }> { c: CMatrices::of_shape(c, &shape), epilogue };
            // SAFETY: (1) is (1) and (2).
            unsafe {
                product::<$element, _, _, _, $rows, $columns, $part, $count, $stages>(
                    $a(a), $b(b), outputs, Work::new(shape, $tile));
            }
        }

        half_kernels!(@descriptor $name $tile $element $a_layout $b_layout);
    };
    (@descriptor $name:ident $tile:ident $element:ident $a_layout:ident $b_layout:ident) => {
        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: $tile.block_tile(),
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: $tile.shared_bytes,
            };
        }
    };
}
half_kernels! {
    HALF_LARGE: 128 x 256, part = 128, count = 128, stages = 3, threads = 384,
        resident = 1, consumers = 2;
    f16: [matmul_wgmma_f16_nn, matmul_wgmma_f16_nt, matmul_wgmma_f16_tn, matmul_wgmma_f16_tt],
        f32: [matmul_wgmma_f16_f32_nn, matmul_wgmma_f16_f32_nt, matmul_wgmma_f16_f32_tn,
            matmul_wgmma_f16_f32_tt];
    bf16: [matmul_wgmma_bf16_nn, matmul_wgmma_bf16_nt, matmul_wgmma_bf16_tn, matmul_wgmma_bf16_tt],
        f32: [matmul_wgmma_bf16_f32_nn, matmul_wgmma_bf16_f32_nt, matmul_wgmma_bf16_f32_tn,
            matmul_wgmma_bf16_f32_tt];
}
half_kernels! {
    HALF_SMALL: 64 x 128, part = 64, count = 64, stages = 4, threads = 256,
        resident = 2, consumers = 1;
    f16: [matmul_wgmma_small_f16_nn, matmul_wgmma_small_f16_nt, matmul_wgmma_small_f16_tn,
            matmul_wgmma_small_f16_tt],
        f32: [matmul_wgmma_small_f16_f32_nn, matmul_wgmma_small_f16_f32_nt,
            matmul_wgmma_small_f16_f32_tn, matmul_wgmma_small_f16_f32_tt];
    bf16: [matmul_wgmma_small_bf16_nn, matmul_wgmma_small_bf16_nt, matmul_wgmma_small_bf16_tn,
            matmul_wgmma_small_bf16_tt],
        f32: [matmul_wgmma_small_bf16_f32_nn, matmul_wgmma_small_bf16_f32_nt,
            matmul_wgmma_small_bf16_f32_tn, matmul_wgmma_small_bf16_f32_tt];
}
