//! The table of products of unequal shapes in one launch.
//!
//! Blocks are numbered through all products. The table, a parameter of the launch, has the first block of each product:
//! a block finds its product by bisection.

use super::operand::Operands;
use crate::epilogue::{Epilogue, EpilogueNumbers};
use bytemuck::{Pod, Zeroable};
use core::ptr;
use cuda_std::prelude::*;

/// The most products of a launch: their table takes 3.5 of the 4 KiB of parameters.
pub const GROUP: usize = 64;

/// A product of a group: C = A B, where C is row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GroupedProduct {
    /// The address of A's first element; any if A is empty.
    pub a: u64,
    /// The address of B's first element; any if B is empty.
    pub b: u64,
    /// The address of C's first element.
    pub c: u64,
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B.
    pub k: u32,
    /// Elements from one row (column, if column-major) of A to the next.
    pub lda: u32,
    /// As `lda`, for B.
    pub ldb: u32,
    /// As `lda`, for C.
    pub ldc: u32,
    /// Blocks of the products before this one.
    pub first_block: u64,
}

/// The products of a launch.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct ProductGroup {
    /// The products, in order of their blocks.
    pub products: [GroupedProduct; GROUP],
    /// The number of products: 1 or more.
    pub count: u64,
}

impl ProductGroup {
    /// The product of the calling block.
    #[inline(always)]
    pub fn of_block(&self) -> &GroupedProduct {
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

impl GroupedProduct {
    /// A and B, with the rows and columns that they have in memory: swapped if the operand is column-major.
    ///
    /// # Safety
    /// 1. The addresses are those of such matrices, with rows as far apart as the product says, and no thread writes
    ///    their elements. `memory` starts at address 0.
    #[inline(always)]
    pub unsafe fn operands<'launch, T: Pod>(
        &self,
        memory: Global<'launch, T>,
        a: (u32, u32),
        b: (u32, u32),
    ) -> Operands<'launch, T> {
        // SAFETY: the matrices, which no thread writes, and `memory`: the caller's contract.
        unsafe {
            Operands {
                a: elements(memory, self.a, a.0, a.1, self.lda),
                b: elements(memory, self.b, b.0, b.1, self.ldb),
                m: self.m as usize,
                n: self.n as usize,
                k: self.k as usize,
                lda: self.lda as usize,
                ldb: self.ldb as usize,
            }
        }
    }

    /// C.
    ///
    /// # Safety
    /// 1. The address is that of an m x n matrix, with rows as far apart as the product says. `memory` starts at
    ///    address 0.
    /// 2. Its elements are accessed only by this launch, and only through such a view.
    #[inline(always)]
    pub unsafe fn result<'launch, T: Pod>(
        &self,
        memory: GlobalMut<'launch, T>,
    ) -> GlobalMut<'launch, T> {
        let first = memory.as_mut_ptr().wrapping_byte_add(self.c as usize);
        // SAFETY: the address is that of the matrix's elements, aligned and allocated, and only such views access them:
        // the caller's contract.
        unsafe { GlobalMut::from_raw_parts(first, span(self.m, self.n, self.ldc)) }
    }
}

/// An epilogue without vectors.
#[inline(always)]
pub fn epilogue_of_numbers<T: Pod>(
    numbers: GridConstant<'_, EpilogueNumbers<T>>,
) -> Epilogue<'_, T> {
    Epilogue {
        numbers,
        row_scale: none(),
        column_scale: none(),
        row_bias: none(),
        column_bias: none(),
    }
}

/// The elements of a matrix of `rows` x `columns`.
///
/// # Safety
/// 1. The matrix starts at `address`, with rows `leading_dimension` elements apart, and no thread writes its elements.
///    `memory` starts at address 0.
#[inline(always)]
unsafe fn elements<'launch, T: Pod>(
    memory: Global<'launch, T>,
    address: u64,
    rows: u32,
    columns: u32,
    leading_dimension: u32,
) -> Global<'launch, T> {
    // SAFETY: the address is that of the matrix's elements, aligned and allocated, and no thread writes them: the
    // caller's contract.
    unsafe {
        Global::from_raw_parts(
            memory.as_ptr().wrapping_byte_add(address as usize),
            span(rows, columns, leading_dimension),
        )
    }
}

/// Elements from a matrix's first to its last.
#[inline(always)]
fn span(rows: u32, columns: u32, leading_dimension: u32) -> usize {
    match rows.min(columns) {
        0 => 0,
        _ => (rows as usize - 1) * leading_dimension as usize + columns as usize,
    }
}

/// No elements.
#[inline(always)]
fn none<'launch, T: Pod>() -> Global<'launch, T> {
    // SAFETY: the address is aligned. There are no elements, so none has to be allocated, and none is read.
    unsafe { Global::from_raw_parts(ptr::without_provenance(align_of::<T>()), 0) }
}
