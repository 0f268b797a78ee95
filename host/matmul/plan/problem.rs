//! A product and a device as values: all that a plan depends on.

pub use super::device::DeviceFacts;

use super::prepared::PreparedAs;
use super::vector::{are_short, columns_of};
use crate::launch::MAX_GRID_Y;
use crate::matmul::kernel::{GemmKernel, Method, VectorRows, WgmmaTile};
use crate::matmul::types::ElementType;
use crate::matrix::Order;
use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use tilewright_kernels::matmul::{BlockTile, OperandLayout};
use tilewright_kernels::tensor::{SPLIT_DEPTH, lowest_exponent};
use tilewright_kernels::triangle::lower_tiles;

/// The layout of a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Whether rows or columns are contiguous.
    pub order: Order,
    /// The distance from the start of one row (one column, if column-major) to the next, in elements.
    pub leading_dimension: usize,
    /// The address of the first element is a multiple of this number of bytes.
    pub alignment: usize,
}

/// A product with a vector, y = X v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorProduct {
    /// Whether A is the matrix X and B the vector. Otherwise X is the transpose of B.
    pub matrix_is_a: bool,
    pub rows: VectorRows,
}

/// The short side of a skinny result: its rows or its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SkinnySide {
    Rows,
    Columns,
}

/// A product C = A B: A is M x K, B is K x N, C is M x N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The type of the elements of A and B.
    pub element: ElementType,
    /// The type of the elements of C.
    pub output: ElementType,
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// The columns of A and rows of B in memory: more than K if it is a part of a divided one.
    pub whole_k: usize,
    pub a: MatrixLayout,
    pub b: MatrixLayout,
    pub c: MatrixLayout,
    /// The number of products of these shapes in one launch.
    pub batch: usize,
    /// Whether sums are written unchanged.
    pub is_plain: bool,
    /// Whether A is the transpose of B, so that tiles above the diagonal are left out.
    pub is_gram: bool,
    /// Whether all products share A, and B.
    pub is_shared: [bool; 2],
    /// The prepared forms of A and of B, if any.
    pub prepared: [Option<PreparedAs>; 2],
    /// Whether this is the transpose of the product that was requested.
    pub is_transposed: bool,
    /// Whether blocks of the operands have scales.
    pub is_scaled: bool,
    /// Whether the rows of each product are counted on the device.
    pub is_counted: bool,
}

impl Problem {
    /// The product of the transposes of B and A, which is the transpose of C.
    pub fn transposed(&self) -> Self {
        Self {
            m: self.n,
            n: self.m,
            a: self.b.transposed(),
            b: self.a.transposed(),
            c: self.c.transposed(),
            is_shared: [self.is_shared[1], self.is_shared[0]],
            prepared: [self.prepared[1], self.prepared[0]],
            is_transposed: !self.is_transposed,
            ..*self
        }
    }

    /// The product of the same matrices with rows of A and columns of B contiguous.
    pub fn along_k(&self) -> Self {
        let in_order = |order, layout: MatrixLayout| MatrixLayout { order, ..layout };
        Self {
            a: in_order(Order::RowMajor, self.a),
            b: in_order(Order::ColumnMajor, self.b),
            ..*self
        }
    }

    /// Whether this is the product of a part of K.
    pub fn is_part(&self) -> bool {
        // K counts as 0 if the epilogue leaves out the operands.
        (1..self.whole_k).contains(&self.k)
    }

    /// The work of the product, in multiply-adds.
    pub fn multiply_adds(&self) -> u128 {
        [self.m, self.n, self.k]
            .map(|it| it as u128)
            .iter()
            .product()
    }

    /// The blocks of a kernel with this tile that compute something, in one product; `None` if they are
    /// more than a grid can have.
    pub fn blocks(&self, tile: &BlockTile) -> Option<u32> {
        let all = tile.blocks(self.m, self.n)?;
        Some(match self.is_gram {
            true => lower_tiles(self.n, tile.rows, tile.columns) as u32,
            false => all,
        })
    }

    /// The outputs of those blocks in all products, including those outside the results.
    pub fn covered(&self, tile: &BlockTile) -> Option<u64> {
        let blocks = u64::from(self.blocks(tile)?);
        let outputs = blocks.saturating_mul((tile.rows * tile.columns) as u64);
        Some(outputs.saturating_mul(self.batch as u64))
    }

    /// The product as y = X v; `None` if neither operand is a vector.
    pub fn vector(&self) -> Option<VectorProduct> {
        let bytes = self.element.bytes();
        let of = |matrix_is_a, row_order: Order, matrix: &MatrixLayout, rows| VectorProduct {
            matrix_is_a,
            rows: match matrix.order == row_order || rows == 1 && matrix.leading_dimension == 1 {
                _ if bytes == 1 => VectorRows::Either,
                true if are_short(self.k.saturating_mul(bytes)) => VectorRows::Short,
                true => VectorRows::Along,
                false => columns_of(rows, bytes, matrix.is_aligned(bytes)),
            },
        };
        let with_a = of(true, Order::RowMajor, &self.a, self.m);
        let with_b = of(false, Order::ColumnMajor, &self.b, self.n);
        match (self.m, self.n) {
            // If both are vectors, a contiguous one is the matrix.
            (1, 1) if matches!(with_a.rows, VectorRows::Across | VectorRows::Unaligned) => {
                Some(with_b)
            }
            (_, 1) => Some(with_a),
            (1, _) => Some(with_b),
            _ => None,
        }
    }

    /// The short side of the result; rows, if it is square.
    fn skinny_side(&self) -> SkinnySide {
        match self.m <= self.n {
            true => SkinnySide::Rows,
            false => SkinnySide::Columns,
        }
    }

    /// Whether the rows (columns, if column-major) of both operands start at multiples of 16 bytes.
    pub fn has_aligned_lines(&self) -> bool {
        let bytes = self.element.bytes();
        [self.a, self.b].iter().all(|it| it.is_aligned(bytes))
    }

    /// Whether tensor maps can count its rows, columns and products, those past the end of a tile included.
    pub fn fits_tensor_maps(&self) -> bool {
        const MOST: usize = i32::MAX as usize - 1024;
        [self.m, self.n, self.k, self.batch]
            .iter()
            .all(|it| *it <= MOST)
    }

    /// Whether products of residues are faster than those of f64, for one product, and their lines can be in range.
    ///
    /// The bits depend on it, so the device and its memory do not matter. With a longer K, the residues of the smallest
    /// panel would take more than the memory for panels.
    pub fn is_worth_residues(&self) -> bool {
        const FROM: u128 = 3072 * 3072 * 3072;
        const LEAST_SIDE: usize = 1024;
        const K: RangeInclusive<usize> = 2048..=1 << 18;
        self.batch == 1
            && self.multiply_adds() >= FROM
            && self.m.min(self.n) >= LEAST_SIDE
            && K.contains(&self.k)
    }

    /// Whether split operands give products as accurate as those of f32.
    pub fn can_be_split(&self) -> bool {
        // The split's blocks along y have `SPLIT_DEPTH` elements of k each.
        self.fits_tensor_maps()
            && self.k <= MAX_GRID_Y as usize * SPLIT_DEPTH
            && lowest_exponent(self.k).is_some()
    }
}

/// Bulk copies and 16-byte loads need rows that start at multiples of this number of bytes.
pub const ROW_ALIGNMENT: usize = 16;

impl MatrixLayout {
    /// The layout of the transpose.
    pub fn transposed(self) -> Self {
        Self {
            order: self.order.transposed(),
            ..self
        }
    }

    /// The layout of a matrix of `shape` in `order`, if its elements already lie in it (one row or column lies in
    /// both orders); otherwise unchanged.
    pub fn in_order_if_possible(self, order: Order, (rows, columns): (usize, usize)) -> Self {
        let (count, len) = match self.order {
            Order::RowMajor => (rows, columns),
            Order::ColumnMajor => (columns, rows),
        };
        let leading_dimension = match (count, len) {
            _ if self.order == order => return self,
            (_, 1) if self.leading_dimension == 1 => count,
            (1, _) => 1,
            _ => return self,
        };
        Self {
            order,
            leading_dimension,
            ..self
        }
    }

    /// Whether each row (column, if column-major) of elements of `element_bytes` bytes starts at a multiple of 16
    /// bytes.
    pub fn is_aligned(&self, element_bytes: usize) -> bool {
        self.rows_are_multiples_of(ROW_ALIGNMENT, element_bytes)
    }

    /// The layout of `rows` x `columns` elements without gaps.
    pub fn packed(order: Order, (rows, columns): (usize, usize), alignment: usize) -> Self {
        Self {
            order,
            leading_dimension: match order {
                Order::RowMajor => columns,
                Order::ColumnMajor => rows,
            },
            alignment,
        }
    }

    /// The layout of each of several matrices, `bytes` apart.
    pub fn one_of_many(self, bytes: usize) -> Self {
        Self {
            // A distance of 0 is a multiple of everything.
            alignment: 1 << (self.alignment | bytes).trailing_zeros(),
            ..self
        }
    }

    /// Whether each row (column, if column-major) starts at a multiple of `bytes`, which is one or more elements of
    /// `element_bytes`.
    pub fn rows_are_multiples_of(&self, bytes: usize, element_bytes: usize) -> bool {
        self.leading_dimension.is_multiple_of(bytes / element_bytes)
            && self.alignment.is_multiple_of(bytes)
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            element,
            output,
            m,
            n,
            k,
            batch,
            ..
        } = self;
        match batch {
            1 => write!(f, "the product")?,
            _ => write!(f, "{batch} products")?,
        }
        write!(f, " of {m}x{k} and {k}x{n} matrices of {element}")?;
        match output == element {
            true => Ok(()),
            false => write!(f, " with results of {output}"),
        }
    }
}

/// Whether the kernel computes the problem on the device.
pub fn computes(kernel: &GemmKernel, problem: &Problem, device: DeviceFacts) -> bool {
    let element_bytes = problem.element.bytes();
    let (a, b) = match is_transposed(kernel.method, problem) {
        true => (problem.b.order.transposed(), problem.a.order.transposed()),
        false => (problem.a.order, problem.b.order),
    };
    let has_rows = match kernel.method {
        Method::Scaled(_) => problem.is_scaled,
        Method::ScaledSkinny => problem.is_scaled && !problem.is_counted,
        Method::Counted => problem.is_counted && !problem.is_scaled,
        _ => !problem.is_scaled && !problem.is_counted,
    };
    has_rows
        && kernel.element == problem.element
        && kernel.output == problem.output
        && problem.c.order == Order::RowMajor
        && reads(kernel.descriptor.a, a)
        && reads(kernel.descriptor.b, b)
        && (kernel.descriptor.b == OperandLayout::Either
            || (problem.b).rows_are_multiples_of(kernel.descriptor.b_row_alignment, element_bytes))
        && match kernel.method {
            Method::Tiled => problem.is_plain && problem.batch == 1,
            Method::Coarsened(_) | Method::Mma(_) | Method::Exact => true,
            Method::Left | Method::LeftMma => problem.batch == 1 && !problem.is_gram,
            Method::Grouped(_) => problem.batch == 1 && !problem.is_gram,
            Method::GroupedMma => {
                problem.batch == 1 && !problem.is_gram && problem.has_aligned_lines()
            }
            Method::Vector(rows) => problem.vector().is_some_and(|it| it.rows == rows),
            Method::Wgmma(WgmmaTile::Turned) if problem.is_gram => false,
            Method::Wgmma(_)
            | Method::Single
            | Method::Skinny(_)
            | Method::Scaled(_)
            | Method::ScaledSkinny
            | Method::Counted => problem.fits_tensor_maps(),
            Method::Split(_) | Method::SplitMma(_) | Method::OutOfRange | Method::OutOfRangeMma => {
                problem.can_be_split()
            }
        }
        && device.has(kernel)
}

/// Whether the kernels of a method compute the transposed product: with the long side along the rows, with the
/// vector on the right, or in tiles of its own.
pub fn is_transposed(method: Method, problem: &Problem) -> bool {
    match method {
        Method::Wgmma(WgmmaTile::Turned) | Method::ScaledSkinny => true,
        Method::Skinny(_) => problem.skinny_side() == SkinnySide::Rows,
        Method::Vector(_) => problem.vector().is_some_and(|it| !it.matrix_is_a),
        _ => false,
    }
}

/// Whether a kernel for operands of `layout` accepts one in this order.
fn reads(layout: OperandLayout, order: Order) -> bool {
    match layout {
        OperandLayout::RowMajor => order == Order::RowMajor,
        OperandLayout::ColumnMajor => order == Order::ColumnMajor,
        OperandLayout::Either => true,
    }
}
