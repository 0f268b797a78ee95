//! Matrices rounded to e4m3, with a scale for each block of 1 x 128 or 128 x 128 elements.
//!
//! ```text
//! amax  = the largest magnitude of the block's finite elements
//! scale = max(amax / 448, the smallest normal f32)
//! q     = x times the rounded reciprocal of the scale, rounded to e4m3
//! ```
//!
//! A thread has four vectors of 16 bytes of as many blocks of a row, or all of its vectors of a square block. It loads
//! them before it reduces the first. Rows that do not consist of aligned vectors are read element by element.

use crate::rows::{RowElement, combine};
use bytemuck::{Pod, Zeroable};
use cuda_std::array;
use cuda_std::block::MAX_WARPS;
use cuda_std::float::Float;
use cuda_std::fp8::F8E4M3;
use cuda_std::hint::opaque_size;
use cuda_std::prelude::*;
use half::{bf16, f16};

/// Elements of a row that share a scale, and rows of a square block.
pub const QUANTIZED_BLOCK: usize = 128;

/// Threads of a block.
pub const QUANTIZE_THREADS: usize = 256;

/// Vectors of 16 bytes of a thread in the kernels of rows, each of another block.
const SLOTS: usize = 4;

/// The bits of infinity, as f32.
const INFINITY: u32 = f32::INFINITY.to_bits();

/// Elements of a vector of 16 bytes.
const fn lanes_of<T>() -> usize {
    16 / size_of::<T>()
}

/// Threads that have a vector each of a block's elements of a row.
const fn group_of<T>() -> usize {
    QUANTIZED_BLOCK / lanes_of::<T>()
}

/// Rows of a square block that are read at once.
const fn groups_of<T>() -> usize {
    QUANTIZE_THREADS / group_of::<T>()
}

/// Blocks of a row that a block of threads has, of elements `T`.
#[must_use]
pub const fn quantized_by_block<T>() -> usize {
    groups_of::<T>() * SLOTS
}

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
fn largest<const LANES: usize>(values: [f32; LANES]) -> u32 {
    let magnitudes = values.map(|value| value.abs().to_bits());
    let all = magnitudes
        .iter()
        .fold(0, |largest, &it| u32::max(largest, it));
    if all < INFINITY {
        return all;
    }
    let finite = magnitudes.iter().filter(|&&it| it < INFINITY);
    finite.fold(0, |largest, &it| u32::max(largest, it))
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

/// The numbers nearest to `values` times `inverse`; NaN for infinities, which e4m3 does not have.
#[inline(always)]
fn rounded<const LANES: usize>(values: [f32; LANES], inverse: f32) -> [F8E4M3; LANES] {
    let mut rounded = [F8E4M3::ZERO; LANES];
    // 0 times an infinity is NaN. It adds a zero of the same sign to other products.
    let scaled = values.map(|value| Float::mul_add(value, 0.0, value * inverse));
    let mut lane = 0;
    while lane < LANES {
        let pair = F8E4M3::from_f32_pair([scaled[lane], scaled[lane + 1]]);
        [rounded[lane], rounded[lane + 1]] = pair;
        lane += 2;
    }
    rounded
}

impl<T: RowElement> Source<'_, T> {
    /// Row and column of the calling thread's vector in block `number` along rows; past the last one, of no element.
    #[inline(always)]
    fn place_in(self, number: usize) -> (usize, usize) {
        let of_row = self.shape.blocks_of_row();
        let (row, block) = if self.shape.rows == 1 {
            (0, number)
        } else if (number | of_row) >> 32 == 0 {
            let (number, of_row) = (number as u32, of_row as u32);
            ((number / of_row) as usize, (number % of_row) as usize)
        } else {
            (number / of_row, number % of_row)
        };
        let thread = thread::thread_idx_x() as usize % group_of::<T>();
        (row, block * QUANTIZED_BLOCK + thread * lanes_of::<T>())
    }

    /// Whether rows of the matrix and of the results consist of whole aligned vectors.
    #[inline(always)]
    fn has_vectors(self) -> bool {
        let lanes = lanes_of::<T>();
        let (x, y) = (self.elements.as_ptr(), self.results.as_mut_ptr());
        (self.shape.columns | self.shape.leading_dimension).is_multiple_of(lanes)
            && x.addr().is_multiple_of(lanes * size_of::<T>())
            && y.addr().is_multiple_of(lanes)
    }

    /// The vector at a row and a column; zeros outside the matrix.
    ///
    /// # Safety
    /// 1. `elements` has the matrix. With `IS_VECTOR`, it [has vectors](Self::has_vectors).
    #[inline(always)]
    unsafe fn load<const IS_VECTOR: bool, const LANES: usize>(
        self,
        (row, column): (usize, usize),
    ) -> [T; LANES] {
        let QuantizeShape {
            rows,
            columns,
            leading_dimension,
        } = *self.shape;
        if row >= rows || column >= columns {
            return [T::zeroed(); LANES];
        }
        let at = row * leading_dimension + column;
        if IS_VECTOR {
            // SAFETY: row and column were compared with the shape, which the matrix has, in vectors: the caller's
            // contract.
            return unsafe { self.elements.load_vector(at) };
        }
        array::from_fn(|lane| match column + lane < columns {
            // SAFETY: row and column were compared with the shape, which the matrix has: the caller's contract.
            true => unsafe { self.elements.load(at + lane) },
            false => T::zeroed(),
        })
    }

    /// Writes the rounded elements of the vector at a row and a column.
    ///
    /// # Safety
    /// 1. `results` has a matrix of the shape without gaps. With `IS_VECTOR`, it [has vectors](Self::has_vectors).
    /// 2. No other thread writes these elements.
    #[inline(always)]
    unsafe fn store<const IS_VECTOR: bool, const LANES: usize>(
        self,
        (row, column): (usize, usize),
        values: [T; LANES],
        inverse: f32,
    ) {
        let QuantizeShape { rows, columns, .. } = *self.shape;
        if row >= rows || column >= columns {
            return;
        }
        let rounded = rounded(values.map(RowElement::widen), inverse);
        let at = row * columns + column;
        // SAFETY: the results have the elements: compared, and only this thread writes them: the caller's contract.
        unsafe {
            if IS_VECTOR {
                self.results.store_vector(at, rounded);
                return;
            }
            let mut lane = 0;
            while lane < LANES {
                if column + lane < columns {
                    self.results.store(at + lane, rounded[lane]);
                }
                lane += 1;
            }
        }
    }

    /// Rounds [`quantized_by_block`] blocks of rows.
    ///
    /// # Safety
    /// 1. The requirements of the kernels of rows hold.
    #[inline(always)]
    unsafe fn rows<const LANES: usize>(self, scales: GlobalMut<f32>) {
        let group = thread::thread_idx_x() as usize / group_of::<T>();
        let first = thread::block_idx_x() as usize * quantized_by_block::<T>() + group;
        // SAFETY: the caller's contract. Groups take blocks that are as many apart as there are groups.
        unsafe {
            if self.has_vectors() {
                self.blocks_of_rows::<true, SLOTS, LANES>(first, scales);
                return;
            }
            let mut slot = 0;
            while slot < opaque_size(SLOTS) {
                self.blocks_of_rows::<false, 1, LANES>(first + slot * groups_of::<T>(), scales);
                slot += 1;
            }
        }
    }

    /// Rounds `COUNT` blocks of rows for each group, from number `first` on.
    ///
    /// # Safety
    /// 1. The requirements of the kernels of rows hold. With `IS_VECTOR`, the matrix [has vectors](Self::has_vectors).
    /// 2. All threads call it, and no other group has these blocks.
    #[inline(always)]
    unsafe fn blocks_of_rows<const IS_VECTOR: bool, const COUNT: usize, const LANES: usize>(
        self,
        first: usize,
        scales: GlobalMut<f32>,
    ) {
        let places: [(usize, usize); COUNT] =
            array::from_fn(|slot| self.place_in(first + slot * groups_of::<T>()));
        // SAFETY: the matrix has the shape: the caller's contract.
        let vectors: [[T; LANES]; COUNT] =
            array::from_fn(|slot| unsafe { self.load::<IS_VECTOR, LANES>(places[slot]) });
        let largest = vectors.map(|vector| largest(vector.map(RowElement::widen)));
        let largest = combine::lanes_of_rows(largest, group_of::<T>() as u32, u32::max);
        let blocks = self.shape.rows * self.shape.blocks_of_row();
        let is_first = (thread::thread_idx_x() as usize).is_multiple_of(group_of::<T>());
        let mut slot = 0;
        while slot < COUNT {
            let (scale, number) = (scale_of(largest[slot]), first + slot * groups_of::<T>());
            // SAFETY: the results have the shape, and `scales` has the block: the caller's contract, and compared.
            // Threads have their own elements. One thread of a group writes the scale.
            unsafe {
                self.store::<IS_VECTOR, LANES>(places[slot], vectors[slot], 1.0 / scale);
                if is_first && number < blocks {
                    scales.store(number, scale);
                }
            }
            slot += 1;
        }
    }

    /// Rounds a block of 128 x 128 elements, of which each thread has `VECTORS` vectors.
    ///
    /// # Safety
    /// 1. The requirements of the kernels of square blocks hold.
    /// 2. Only this block of threads uses `scratch`, and for nothing else.
    #[inline(always)]
    unsafe fn block<const LANES: usize, const VECTORS: usize>(
        self,
        scales: GlobalMut<f32>,
        scratch: combine::Scratch<u32>,
    ) {
        let of_row = self.shape.blocks_of_row();
        let (thread, number) = (
            thread::thread_idx_x() as usize,
            thread::block_idx_x() as usize,
        );
        let (_, column) = self.place_in(0);
        let column = number % of_row * QUANTIZED_BLOCK + column;
        let first = number / of_row * QUANTIZED_BLOCK + thread / group_of::<T>();
        let place_of = |vector| (first + vector * groups_of::<T>(), column);
        // SAFETY: the matrices have the shape, and `scales` has the block: the caller's contract. All threads call it, and
        // have their own elements. The scratch is used once.
        unsafe {
            let has_vectors = self.has_vectors();
            let mut of_thread = 0;
            let mut vectors = [[T::zeroed(); LANES]; VECTORS];
            if has_vectors {
                vectors = array::from_fn(|vector| self.load::<true, LANES>(place_of(vector)));
                let mut vector = 0;
                while vector < VECTORS {
                    let values = vectors[vector].map(RowElement::widen);
                    of_thread = u32::max(of_thread, largest(values));
                    vector += 1;
                }
            } else {
                let mut vector = 0;
                while vector < opaque_size(VECTORS) {
                    let values: [T; LANES] = self.load::<false, LANES>(place_of(vector));
                    of_thread = u32::max(of_thread, largest(values.map(RowElement::widen)));
                    vector += 1;
                }
            }
            let scale = scale_of(combine::block(of_thread, 0, scratch, u32::max));
            let inverse = 1.0 / scale;
            if has_vectors {
                let mut vector = 0;
                while vector < VECTORS {
                    self.store::<true, LANES>(place_of(vector), vectors[vector], inverse);
                    vector += 1;
                }
            } else {
                let mut vector = 0;
                while vector < opaque_size(VECTORS) {
                    let values: [T; LANES] = self.load::<false, LANES>(place_of(vector));
                    self.store::<false, LANES>(place_of(vector), values, inverse);
                    vector += 1;
                }
            }
            if thread == 0 {
                scales.store(number, scale);
            }
        }
    }
}

/// The kernels of one architecture, or of all: of rows and of square blocks.
macro_rules! kernels_of {
    ($element:ident: $rows:ident, $blocks:ident [$($bounds:tt)*]) => {
        #[doc = concat!("Rounds ", stringify!($element), " to e4m3, with a scale for each 128 elements of a row.")]
        ///
        /// # Safety
        /// 1. `elements` has a matrix of `shape`, and `results` one without gaps.
        /// 2. `scales` has [`QuantizeShape::blocks_of_row`] elements for each row.
        /// 3. The launch has a block of [`QUANTIZE_THREADS`] threads along x for each [`quantized_by_block`] scales.
        #[kernel($($bounds)*)]
        pub unsafe fn $rows(
            elements: Global<$element>,
            results: GlobalMut<F8E4M3>,
            scales: GlobalMut<f32>,
            shape: GridConstant<QuantizeShape>,
        ) {
            const LANES: usize = lanes_of::<$element>();
            let source = Source { elements, results, shape };
            // SAFETY: the caller's contract.
            unsafe { source.rows::<LANES>(scales) }
        }

        #[doc = concat!("Rounds ", stringify!($element), " to e4m3, with a scale for each block of 128 x 128 elements.")]
        ///
        /// # Safety
        /// 1. `elements` has a matrix of `shape`, and `results` one without gaps.
        /// 2. `scales` has [`QuantizeShape::blocks_of_row`] elements for each 128 rows.
        /// 3. The launch has a block of [`QUANTIZE_THREADS`] threads along x for each scale.
        #[kernel($($bounds)*)]
        pub unsafe fn $blocks(
            elements: Global<$element>,
            results: GlobalMut<F8E4M3>,
            scales: GlobalMut<f32>,
            shape: GridConstant<QuantizeShape>,
        ) {
            const LANES: usize = lanes_of::<$element>();
            const VECTORS: usize = QUANTIZED_BLOCK / groups_of::<$element>();
            let scratch = shared_array![u32; MAX_WARPS];
            let source = Source { elements, results, shape };
            // SAFETY: the caller's contract. Shared memory is declared here.
            unsafe { source.block::<LANES, VECTORS>(scales, scratch) }
        }
    };
}

macro_rules! quantize_kernels {
    ($($element:ident: $rows:ident, $blocks:ident, $rows_cvt:ident, $blocks_cvt:ident;)*) => {$(
        kernels_of!($element: $rows, $blocks [max_threads = 256]);
        kernels_of!($element: $rows_cvt, $blocks_cvt [arch = "sm_90a", max_threads = 256]);
    )*};
}

/// Calls the macro `$with` with the element types that are quantised, and the kernels of each: for rows, for square
/// blocks, and the same with the instruction that converts.
#[macro_export]
macro_rules! for_each_quantized_type {
    ($with:ident) => {
        $with! {
            f32: quantize_rows_f32, quantize_blocks_f32, quantize_rows_cvt_f32, quantize_blocks_cvt_f32;
            f16: quantize_rows_f16, quantize_blocks_f16, quantize_rows_cvt_f16, quantize_blocks_cvt_f16;
            bf16: quantize_rows_bf16, quantize_blocks_bf16, quantize_rows_cvt_bf16, quantize_blocks_cvt_bf16;
        }
    };
}
for_each_quantized_type!(quantize_kernels);
