//! Matrices rounded to e4m3, with a scale for each block of 1 x 128 or 128 x 128 elements.
//!
//! ```text
//! amax  = the largest magnitude of the block's finite elements
//! scale = max(amax / 448, the smallest normal f32)
//! q     = x times the rounded reciprocal of the scale, rounded to e4m3
//! ```
//!
//! A warp reads 128 elements of a row, four in each lane.

use bytemuck::{Pod, Zeroable};
use cuda_std::fp8::F8E4M3;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Elements of a row that share a scale, and rows of a square block.
pub const QUANTIZED_BLOCK: usize = 128;

/// Threads of a block.
pub const QUANTIZE_THREADS: usize = 256;

/// Warps of a block.
pub const QUANTIZE_WARPS: usize = QUANTIZE_THREADS / 32;

/// Rows of a square block that a warp reads.
const ROWS_OF_WARP: usize = QUANTIZED_BLOCK / QUANTIZE_WARPS;

/// Neighbouring elements of a lane.
const QUAD: usize = 4;

/// The bits of infinity, as f32.
const INFINITY: u32 = f32::INFINITY.to_bits();

/// The sizes of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct QuantizeShape {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub columns: usize,
    /// Elements from one row of the matrix to the next. Rows of the results have no gaps.
    pub leading_dimension: usize,
}

impl QuantizeShape {
    /// Blocks along a row.
    #[inline(always)]
    #[must_use]
    pub const fn blocks_of_row(&self) -> usize {
        self.columns.div_ceil(QUANTIZED_BLOCK)
    }
}

/// A matrix to quantise.
#[derive(Clone, Copy)]
struct Source<'launch, T> {
    elements: Global<'launch, T>,
    results: GlobalMut<'launch, F8E4M3>,
    shape: GridConstant<'launch, QuantizeShape>,
}

/// The bits of the largest magnitude of finite elements.
#[inline(always)]
fn largest(values: [f32; QUAD]) -> u32 {
    let mut largest = 0;
    let mut i = 0;
    while i < QUAD {
        let magnitude = values[i].abs().to_bits();
        if magnitude < INFINITY && magnitude > largest {
            largest = magnitude;
        }
        i += 1;
    }
    largest
}

/// The scale of a block whose finite elements have magnitudes up to that with the bits `largest`.
#[inline(always)]
fn scale_of(largest: u32) -> f32 {
    let scale = f32::from_bits(largest) / F8E4M3::MAX.to_f32();
    match scale > f32::MIN_POSITIVE {
        true => scale,
        false => f32::MIN_POSITIVE,
    }
}

/// The number nearest to `value` times `inverse`; NaN for an infinity, which e4m3 does not have.
#[inline(always)]
fn rounded(value: f32, inverse: f32) -> F8E4M3 {
    let is_finite = value.abs().to_bits() < INFINITY;
    F8E4M3::from_f32(match is_finite {
        true => value * inverse,
        false => f32::NAN,
    })
}

impl<T: Pod + Into<f32>> Source<'_, T> {
    /// The calling lane's elements of a block that begins at (`row`, `column`); zeros outside the matrix.
    ///
    /// # Safety
    /// 1. `elements` has the matrix.
    #[inline(always)]
    unsafe fn load(self, row: usize, column: usize) -> [f32; QUAD] {
        let QuantizeShape {
            rows,
            columns,
            leading_dimension,
        } = *self.shape;
        let column = column + QUAD * warp::lane() as usize;
        let mut values = [0.0; QUAD];
        if row >= rows {
            return values;
        }
        let at = row * leading_dimension + column;
        let is_aligned = leading_dimension.is_multiple_of(QUAD)
            && (self.elements.as_ptr().addr()).is_multiple_of(QUAD * size_of::<T>());
        if is_aligned && column + QUAD <= columns {
            // SAFETY: row and column were compared with the shape, which the matrix has: the caller's contract. The
            // first element is aligned to four, and so are rows and columns.
            return unsafe { self.elements.load_vector::<QUAD>(at) }.map(Into::into);
        }
        let mut i = 0;
        while i < QUAD {
            if column + i < columns {
                // SAFETY: row and column were compared with the shape, which the matrix has: the caller's contract.
                values[i] = unsafe { self.elements.load(at + i) }.into();
            }
            i += 1;
        }
        values
    }

    /// Writes the calling lane's elements of a block that begins at (`row`, `column`).
    ///
    /// # Safety
    /// 1. `results` has a matrix of the shape without gaps. No other lane writes these elements.
    #[inline(always)]
    unsafe fn store(self, row: usize, column: usize, values: [f32; QUAD], inverse: f32) {
        let QuantizeShape { rows, columns, .. } = *self.shape;
        let column = column + QUAD * warp::lane() as usize;
        if row >= rows {
            return;
        }
        let at = row * columns + column;
        let rounded = values.map(|value| rounded(value, inverse));
        let is_aligned =
            columns.is_multiple_of(QUAD) && (self.results.as_mut_ptr().addr()).is_multiple_of(QUAD);
        // SAFETY: row and column were compared with the shape, which the results have, and only this lane writes the
        // elements: the caller's contract. A vector is aligned: the first element, rows and columns are.
        unsafe {
            if is_aligned && column + QUAD <= columns {
                self.results.store_vector(at, rounded);
                return;
            }
            let mut i = 0;
            while i < QUAD {
                if column + i < columns {
                    self.results.store(at + i, rounded[i]);
                }
                i += 1;
            }
        }
    }
}

macro_rules! quantize_kernels {
    ($($element:ident: $rows:ident, $blocks:ident;)*) => {$(
        #[doc = concat!("Rounds ", stringify!($element), " to e4m3, with a scale for each 128 elements of a row.")]
        ///
        /// # Safety
        /// 1. `elements` has a matrix of `shape`, and `results` one without gaps.
        /// 2. `scales` has [`QuantizeShape::blocks_of_row`] elements for each row.
        /// 3. The launch has blocks of [`QUANTIZE_THREADS`] threads along x.
        #[kernel(max_threads = 256)]
        pub unsafe fn $rows(
            elements: Global<$element>,
            results: GlobalMut<F8E4M3>,
            scales: GlobalMut<f32>,
            shape: GridConstant<QuantizeShape>,
        ) {
            let source = Source { elements, results, shape };
            let of_row = shape.blocks_of_row();
            let blocks = shape.rows * of_row;
            let warps = thread::grid_dim_x() as usize * QUANTIZE_WARPS;
            let mut number = thread::block_idx_x() as usize * QUANTIZE_WARPS
                + warp::warp_in_block() as usize;
            while number < blocks {
                let (row, column) = (number / of_row, number % of_row * QUANTIZED_BLOCK);
                // SAFETY: the matrices have the shape, and `scales` has the block: the caller's contract. Each warp
                // has its own blocks, and lanes their own elements of them. One lane writes the scale.
                unsafe {
                    let values = source.load(row, column);
                    let scale = scale_of(warp::reduce(largest(values), u32::max));
                    source.store(row, column, values, 1.0 / scale);
                    if warp::lane() == 0 {
                        scales.store(number, scale);
                    }
                }
                number += warps;
            }
        }

        #[doc = concat!("Rounds ", stringify!($element), " to e4m3, with a scale for each block of 128 x 128 elements.")]
        ///
        /// # Safety
        /// 1. `elements` has a matrix of `shape`, and `results` one without gaps.
        /// 2. `scales` has [`QuantizeShape::blocks_of_row`] elements for each 128 rows.
        /// 3. The launch has a block of [`QUANTIZE_THREADS`] threads along x for each scale.
        #[kernel(max_threads = 256)]
        pub unsafe fn $blocks(
            elements: Global<$element>,
            results: GlobalMut<F8E4M3>,
            scales: GlobalMut<f32>,
            shape: GridConstant<QuantizeShape>,
        ) {
            let source = Source { elements, results, shape };
            let (of_row, number) = (shape.blocks_of_row(), thread::block_idx_x() as usize);
            let column = number % of_row * QUANTIZED_BLOCK;
            let warp = warp::warp_in_block() as usize;
            let first = number / of_row * QUANTIZED_BLOCK + warp * ROWS_OF_WARP;
            let of_warps = shared_array![u32; QUANTIZE_WARPS];
            // Not unrolled: the rows are read twice anyway, the second time from a cache.
            let end = first + opaque_size(ROWS_OF_WARP);
            let mut of_warp = 0;
            let mut row = first;
            while row < end {
                // SAFETY: `elements` has the matrix: the caller's contract.
                of_warp = u32::max(of_warp, largest(unsafe { source.load(row, column) }));
                row += 1;
            }
            let of_warp = warp::reduce(of_warp, u32::max);
            if warp::lane() == 0 {
                // SAFETY: the warp is one of the block's. Each writes its own element, before the barrier.
                unsafe { of_warps.store(warp, of_warp) };
            }
            thread::sync_threads();
            let mut of_block = 0;
            let mut i = 0;
            while i < QUANTIZE_WARPS {
                // SAFETY: the element was written before the barrier, by one of the block's warps.
                of_block = u32::max(of_block, unsafe { of_warps.load(i) });
                i += 1;
            }
            let scale = scale_of(of_block);
            let inverse = 1.0 / scale;
            let mut row = first;
            while row < end {
                // SAFETY: both have the matrix: the caller's contract. Blocks, warps and lanes have their own elements.
                unsafe { source.store(row, column, source.load(row, column), inverse) };
                row += 1;
            }
            if thread::rank_in_block() == 0 {
                // SAFETY: `scales` has the block: the caller's contract. One thread of it writes.
                unsafe { scales.store(number, scale) };
            }
        }
    )*};
}

/// Calls the macro `$with` with the element types that are quantised, and the kernels of each: for rows, and for square
/// blocks.
#[macro_export]
macro_rules! for_each_quantized_type {
    ($with:ident) => {
        $with! {
            f32: quantize_rows_f32, quantize_blocks_f32;
            f16: quantize_rows_f16, quantize_blocks_f16;
            bf16: quantize_rows_bf16, quantize_blocks_bf16;
        }
    };
}
for_each_quantized_type!(quantize_kernels);
