//! The table of products of unequal shapes that are one launch.
//!
//! The blocks of all products have one sequence of numbers. The table, which is in the launch's parameters, says
//! with which block each product starts: a block finds its own by bisection.

use super::operand::Operands;
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
    /// The address of B's first element; any where it has none.
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
    /// As `lda`, for B.
    pub ldb: u32,
    /// As `lda`, for C.
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
    /// A and B, each given by the number and the length of its lines.
    ///
    /// # Safety
    /// 1. The addresses are those of matrices of these lines, which start as far apart as the product says, and no
    ///    thread writes their elements. `memory` starts at address 0.
    #[inline(always)]
    pub unsafe fn operands<'launch, T: Pod>(
        &self,
        memory: Global<'launch, T>,
        a: (u32, u32),
        b: (u32, u32),
    ) -> Operands<'launch, T> {
        // SAFETY: (1) is (1).
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
    /// 1. The address is that of an m x n matrix, whose rows start as far apart as the product says. `memory`
    ///    starts at address 0.
    /// 2. The launch touches the elements through such a view alone.
    #[inline(always)]
    pub unsafe fn result<'launch, T: Pod>(
        &self,
        memory: GlobalMut<'launch, T>,
    ) -> GlobalMut<'launch, T> {
        let first = memory.as_mut_ptr().wrapping_byte_add(self.c as usize);
        // SAFETY: (1), (2) are (1) and (2).
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
