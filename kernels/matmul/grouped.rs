//! Products of unequal shapes in one launch, on the ordinary units.
//!
//! ```text
//! find the product of the block: the last one whose first block is not behind it, by bisection
//! load, wait, multiply, store: the main loop of the coarsened products, on that product's matrices
//! ```
//!
//! The blocks of all products have one sequence of numbers. A table in the launch's parameters says with which
//! block each product starts. Each product has the bits of the coarsened kernels.

use super::block::STAGES;
use super::coarsened::multiply;
use super::config::{LargeF32, SmallF32, SmallF64, TileConfig, pitch};
#[cfg(not(target_arch = "nvptx64"))]
use super::descriptor::{OperandLayout, ProductDescriptor, ProductKernel};
use super::direct_load::DirectLoadOfAnyAlignment;
use super::operand::Operands;
use super::sink::{StoreFinished, StoreOutput};
use super::transposed_load::TransposedLoad;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use bytemuck::{Pod, Zeroable};
use core::ptr;
use cuda_std::prelude::*;

/// Products of a launch, at most: their table has 3.5 of the 4 KiB that parameters may have.
pub const GROUP: usize = 64;

/// A product of a group: C = A B, where C is row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GroupedProduct {
    /// The address of A's first element; any where it has none.
    pub a: u64,
    /// The same of B.
    pub b: u64,
    /// The address of C's first element.
    pub c: u64,
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B.
    pub k: u32,
    /// Elements from the start of one row (column, if column-major) of A to that of the next.
    pub lda: u32,
    /// The same of B.
    pub ldb: u32,
    /// The same of C.
    pub ldc: u32,
    /// Blocks of the products before this one.
    pub first_block: u64,
}

/// Products that are computed together.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct ProductGroup {
    /// The products, in order of their blocks.
    pub products: [GroupedProduct; GROUP],
    /// How many there are: 1 or more.
    pub count: u64,
}

impl ProductGroup {
    /// The product of the calling block.
    #[inline(always)]
    fn of_block(&self) -> &GroupedProduct {
        let block = u64::from(thread::block_idx_x());
        let (mut first, mut count) = (0, self.count as usize);
        while count > 1 {
            let half = count / 2;
            let is_later = self.products[first + half].first_block <= block;
            first += if is_later { half } else { 0 };
            count = if is_later { count - half } else { half };
        }
        &self.products[first]
    }
}

/// The elements of a matrix of `lines` lines of `len` elements.
///
/// # Safety
/// 1. The matrix starts at `address`, with lines `apart` elements apart, and no thread writes its elements.
///    `memory` starts at address 0.
#[inline(always)]
unsafe fn elements<'launch, T: Pod>(
    memory: Global<'launch, T>,
    address: u64,
    lines: u32,
    len: u32,
    apart: u32,
) -> Global<'launch, T> {
    // SAFETY: (1), (2) are (1).
    unsafe {
        Global::from_raw_parts(
            memory.as_ptr().wrapping_byte_add(address as usize),
            span(lines, len, apart),
        )
    }
}

/// Elements from the first of a matrix to its last.
#[inline(always)]
fn span(lines: u32, len: u32, apart: u32) -> usize {
    match lines.min(len) {
        0 => 0,
        _ => (lines as usize - 1) * apart as usize + len as usize,
    }
}

/// No elements.
#[inline(always)]
fn none<'launch, T: Pod>() -> Global<'launch, T> {
    // SAFETY: (1) no element. (2) None is read.
    unsafe { Global::from_raw_parts(ptr::without_provenance(align_of::<T>()), 0) }
}

macro_rules! grouped_kernels {
    ($($config:ty: $element:ty, vector = $vector:literal, min_blocks = $bound:literal,
        kernels = $nn:ident $tn:ident $nt:ident $($tt:ident)?;)*) => {$(
        grouped_kernels!(@kernel $nn: $config, $element, $bound, RowMajor (m, k) RowMajor (k, n),
            TransposedLoad<true>, DirectLoadOfAnyAlignment<$vector, false>,
            "A and B are row-major.");
        grouped_kernels!(@kernel $tn: $config, $element, $bound, ColumnMajor (k, m) RowMajor (k, n),
            DirectLoadOfAnyAlignment<$vector, false>, DirectLoadOfAnyAlignment<$vector, false>,
            "A is column-major, B is row-major.");
        grouped_kernels!(@kernel $nt: $config, $element, $bound, RowMajor (m, k) ColumnMajor (n, k),
            TransposedLoad<true>, TransposedLoad<false>,
            "A is row-major, B is column-major.");
        $(grouped_kernels!(@kernel $tt: $config, $element, $bound, ColumnMajor (k, m) ColumnMajor (n, k),
            DirectLoadOfAnyAlignment<$vector, false>, TransposedLoad<false>,
            "A and B are column-major.");)?
    )*};
    (@kernel $name:ident: $config:ty, $element:ty, $bound:literal,
        $a_layout:ident ($a_lines:ident, $a_len:ident) $b_layout:ident ($b_lines:ident, $b_len:ident),
        $a_loader:ty, $b_loader:ty, $layout:literal) => {
        #[doc = concat!("C = A B of each product of a group, in ", stringify!($element), ", with the tiles of `",
            stringify!($config), "`. ", $layout)]
        ///
        /// # Safety
        /// 1. The launch has the block of the kernel's [`ProductDescriptor`] along x, and the blocks of all
        ///    products of the group, one after the other: each has those for its m x n.
        /// 2. The addresses of a product are those of m x k, k x n and m x n matrices, whose rows (columns, if
        ///    column-major) start as far apart as it says. No matrix C has a common element with another
        ///    matrix of the group, and nothing else touches its elements; nothing writes those of A and B.
        #[doc = concat!("3. ", $layout)]
        /// 4. `operands` and `results` start at address 0 and have no elements: by way of them an address
        ///    is known to be one of global memory.
        #[kernel(max_threads = 256, min_blocks = $bound)]
        pub unsafe fn $name(
            operands: Global<$element>,
            results: GlobalMut<$element>,
            group: GridConstant<ProductGroup>,
            numbers: GridConstant<EpilogueNumbers<$element>>,
        ) {
            let product = group.of_block();
            let GroupedProduct { m, n, k, lda, ldb, ldc, .. } = *product;
            let block = thread::block_idx_x() - product.first_block as u32;
            let a_tile = shared_tile![$element; STAGES * <$config>::DEPTH, <$config>::ROWS;
                pitch = pitch::<$config, $a_loader>(<$config>::ROWS)];
            let b_tile = shared_tile![$element; STAGES * <$config>::DEPTH, <$config>::COLUMNS;
                pitch = pitch::<$config, $b_loader>(<$config>::COLUMNS)];
            let epilogue = Epilogue {
                numbers,
                row_scale: none(),
                column_scale: none(),
                row_bias: none(),
                column_bias: none(),
            };
            // SAFETY: of the views, (1) and (2) are (2) and (4). Of `StoreOutput::new`, (1) is (2). Of `multiply`, (1)
            // is (1), (2) is (2) and (3), and (3) the tiles are declared here.
            unsafe {
                let c = results.as_mut_ptr().wrapping_byte_add(product.c as usize);
                let c = GlobalMut::from_raw_parts(c, span(m, n, ldc));
                let factors = Operands {
                    a: elements(operands, product.a, product.$a_lines, product.$a_len, lda),
                    b: elements(operands, product.b, product.$b_lines, product.$b_len, ldb),
                    m: m as usize,
                    n: n as usize,
                    k: k as usize,
                    lda: lda as usize,
                    ldb: ldb as usize,
                };
                let to = StoreOutput::new(c, ldc as usize);
                multiply::<$config, $a_loader, $b_loader, _, _>(
                    block, factors, a_tile, b_tile, StoreFinished { to, epilogue });
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ProductKernel for $name {
            type Element = $element;
            const DESCRIPTOR: ProductDescriptor = ProductDescriptor {
                tile: <$config>::BLOCK_TILE,
                a: OperandLayout::$a_layout,
                b: OperandLayout::$b_layout,
                b_row_alignment: size_of::<$element>(),
                dynamic_shared_bytes: 0,
            };
        }
    };
}
// With large tiles and the sizes of a product in registers kernels of f64 spill, and that of f32 for two
// column-major operands: there are small tiles for them.
grouped_kernels! {
    LargeF32: f32, vector = 4, min_blocks = 2, kernels = matmul_grouped_f32_nn matmul_grouped_f32_tn
        matmul_grouped_f32_nt;
    SmallF32: f32, vector = 4, min_blocks = 3, kernels = matmul_grouped_small_f32_nn
        matmul_grouped_small_f32_tn matmul_grouped_small_f32_nt matmul_grouped_small_f32_tt;
    SmallF64: f64, vector = 2, min_blocks = 2, kernels = matmul_grouped_small_f64_nn
        matmul_grouped_small_f64_tn matmul_grouped_small_f64_nt matmul_grouped_small_f64_tt;
}
