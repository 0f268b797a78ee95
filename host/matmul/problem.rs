//! What is to be multiplied, as a value: all that the selection of a kernel depends on.

mod parts;

pub use parts::Parts;

use super::kernel::{ElementType, SkinnyTile, VectorLines, WgmmaTile};
use crate::launch::{MAX_GRID_X, MAX_GRID_Y};
use crate::matrix::Order;
use std::fmt::{self, Display, Formatter};
use tilewright_kernels::matmul::BlockTile;
use tilewright_kernels::tensor::{ClusterTile, HALF_SINGLE, SPLIT_DEPTH, lowest_exponent};
use tilewright_kernels::triangle::lower_tiles;

/// How the elements of one matrix lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Whether rows or columns are contiguous.
    pub order: Order,
    /// Elements from the start of one row to that of the next; of one column, if column-major.
    pub leading_dimension: usize,
    /// Bytes of which the address of the first element is a multiple.
    pub alignment: usize,
}

/// A product of the lines of a matrix with a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorProduct {
    /// Whether A is the matrix, whose rows are the lines, and B the vector; otherwise the lines are columns
    /// of B, and A is the vector.
    pub matrix_is_a: bool,
    pub lines: VectorLines,
}

/// Which lines of a result are few, as a skinny product has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FewLines {
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
    pub a: MatrixLayout,
    pub b: MatrixLayout,
    pub c: MatrixLayout,
    /// Products of these shapes that one launch computes.
    pub batch: usize,
    /// Whether sums are written as they are.
    pub is_plain: bool,
    /// Whether A is the transpose of B, so that tiles above the diagonal are left out.
    pub is_gram: bool,
}

impl Problem {
    /// The work of the product.
    pub fn multiply_adds(&self) -> u128 {
        [self.m, self.n, self.k]
            .map(|it| it as u128)
            .iter()
            .product()
    }

    /// Blocks of a kernel with such tiles that compute something, in one product; `None` where a grid cannot
    /// have its blocks.
    pub fn blocks(&self, tile: &BlockTile) -> Option<u32> {
        let all = tile.blocks(self.m, self.n)?;
        Some(match self.is_gram {
            true => lower_tiles(self.n, tile.rows, tile.columns) as u32,
            false => all,
        })
    }

    /// Outputs of those blocks of all products, with those that lie outside.
    pub fn covered(&self, tile: &BlockTile) -> Option<u64> {
        let blocks = u64::from(self.blocks(tile)?);
        let outputs = blocks.saturating_mul((tile.rows * tile.columns) as u64);
        Some(outputs.saturating_mul(self.batch as u64))
    }

    /// How a product of a matrix and a vector is one of lines; `None` of two matrices.
    pub fn vector(&self) -> Option<VectorProduct> {
        let of = |matrix_is_a, line_order: Order, matrix: &MatrixLayout, lines| VectorProduct {
            matrix_is_a,
            lines: match matrix.order == line_order || lines == 1 && matrix.leading_dimension == 1 {
                _ if self.element.bytes() == 1 => VectorLines::Either,
                true => VectorLines::Along,
                false => VectorLines::Across,
            },
        };
        let with_a = of(true, Order::RowMajor, &self.a, self.m);
        let with_b = of(false, Order::ColumnMajor, &self.b, self.n);
        match (self.m, self.n) {
            // Of two vectors one that is contiguous is the matrix.
            (1, 1) if with_a.lines == VectorLines::Across => Some(with_b),
            (_, 1) => Some(with_a),
            (1, _) => Some(with_b),
            _ => None,
        }
    }

    /// Which lines of the result are fewer; rows, where they are as many.
    pub fn few_lines(&self) -> FewLines {
        match self.m <= self.n {
            true => FewLines::Rows,
            false => FewLines::Columns,
        }
    }

    /// The tile of skinny products that takes least time on a device of so many multiprocessors, in one tile of the
    /// few lines or in two, if they are few enough; `None` if tiles of 64 x 128 take less.
    ///
    /// On an H200, 16 rows take in small tiles of their own 0.55 to 0.77 of the time that they take in tiles of 64 x
    /// 128, and 64 rows by 2112 to 129280 columns, with K of 1024 to 16384, in large ones 0.75 to 0.95. A thousand
    /// products of 64 x 64 with K = 64 take 2.3 times as long. 128 rows by 1024 to 4096 columns take in two large
    /// tiles 0.78 to 0.89 of the time that they take in tiles of 64 x 128.
    pub fn skinny(&self, multiprocessors: u32) -> Option<SkinnyTile> {
        const LEAST_OF_LARGER: usize = 512;
        const MOST_OF_LARGER: usize = 128;
        let (few, many) = (self.m.min(self.n), self.m.max(self.n));
        let is_long = many >= LEAST_OF_LARGER && self.k >= LEAST_OF_LARGER && few <= MOST_OF_LARGER;
        let times = SkinnyTile::ALL.into_iter().filter_map(|size| {
            let tile = self.element.skinny_tile(size);
            let of_few = few.div_ceil(tile.columns).max(1);
            let is_eligible = match size {
                SkinnyTile::Small => of_few == 1 || is_long && of_few == 2,
                SkinnyTile::Square => is_long && of_few == 1,
                _ => is_long && of_few <= 2,
            };
            is_eligible.then(|| (size, self.skinny_time(tile, multiprocessors, false)))
        });
        let (tile, time) = times.min_by_key(|&(_, time)| time)?;
        let others = self.element.wgmma_tile(WgmmaTile::Small);
        (time <= self.skinny_time(others, multiprocessors, true)).then_some(tile)
    }

    /// The time that a product with few lines takes in such a tile, in a unit of its own. Tiles are computed in rounds
    /// of a pair of blocks on each pair of multiprocessors. A slice of a stage takes as long as its lines, which come
    /// from the second-level cache, and half of that where few pairs read: the last round has what is left, unless
    /// `is_last_round_whole`. Outputs are written while nothing is multiplied.
    ///
    /// The numbers are of an H200, of kernels alone, where a unit is 0.55 ns. Of 1024 to 7168 rows and 64 columns, a
    /// slice of a medium tile takes 107 ns with 17 pairs, 150 with 34 and 194 with 64, of a large one 130 with 17, 167
    /// with 32 and 201 with 64, of a tall one 200 with 9 and 220 with 32. 128 columns of 129280 rows take in square
    /// tiles 0.90 of the time of 64 x 128, those of 24576 rows the same, or 1.15 with elements of 8 bits.
    fn skinny_time(
        &self,
        tile: &ClusterTile,
        multiprocessors: u32,
        is_last_round_whole: bool,
    ) -> u128 {
        // Of an output, in hundredths.
        const WRITING: u128 = 36;
        let (few, many) = (self.m.min(self.n), self.m.max(self.n));
        let pairs = (multiprocessors as usize / tile.blocks).max(1);
        let of_few = few.div_ceil(tile.columns).max(1);
        let clusters = many.div_ceil(tile.rows * tile.blocks);
        let tiles = clusters.saturating_mul(of_few).saturating_mul(self.batch);
        let (rounds, left) = (tiles.div_ceil(pairs) as u128, (tiles % pairs) as u128);
        let pairs = pairs as u128;
        // Where all pairs read, twice as much as without others.
        let shares = match left == 0 || is_last_round_whole {
            true => 2 * pairs * rounds,
            false => 2 * pairs * (rounds - 1) + pairs + left,
        };
        let lines = tile.rows * tile.blocks + tile.columns;
        let slices = self.k.div_ceil(tile.depth);
        let outputs = rounds * pairs * (tile.rows * tile.columns) as u128;
        let reading = shares.saturating_mul(lines as u128 * slices as u128);
        reading.saturating_add(outputs * WRITING / 100)
    }

    /// Whether a block for each tile of 64 x 64 takes less time than clusters, whose tiles have four times as many
    /// outputs: where less than half as many lie in its tiles, and K is short, or there are tiles for half of the
    /// multiprocessors: few stages are on their way to one block.
    ///
    /// On an H200, a block for each tile and clusters, kernels alone in us, bf16: 8.0 and 15.1 for a thousand products of
    /// 64, 5.9 and 13.9 of 32, 14.1 and 14.4 of 64 x 128 with K = 64, 33 and 31 with K = 256, 25.7 and 18.0 of 96, 19.5
    /// and 26.2 of 192 x 64 with K = 64. A single product of 64 takes 1.9 and 2.4, with K = 256 2.9 and 2.9, with K =
    /// 1024 7.1 and 5.3; 33 of K = 512 5.3 and 4.9, 66 of K = 1024 10.9 and 13.0, 132 of them 13.4 and 22. Against skinny
    /// tiles, 64 x 16: 2.0 and 2.1 with K = 128, 2.7 and 2.3 with K = 256; a thousand of K = 256 14.1 and 19.6.
    pub fn is_small_result(&self, multiprocessors: u32) -> bool {
        const MOST: usize = 192;
        const SHORT_K: usize = 128;
        let tiles = |tile: &ClusterTile| {
            let of_each = tile.tiles((self.m, self.n), self.is_gram);
            of_each.saturating_mul(self.batch)
        };
        let outputs = |tile: &ClusterTile| {
            let of_tile = tile.rows * tile.blocks * tile.columns;
            tiles(tile).saturating_mul(of_tile)
        };
        let (single, others) = (&HALF_SINGLE, self.element.wgmma_tile(WgmmaTile::Small));
        let fills_half = tiles(single) >= multiprocessors as usize / 2;
        self.m.max(self.n) <= MOST
            && self.fits_tensor_maps()
            && outputs(single) < outputs(others) / 2
            && (self.k <= SHORT_K || fills_half)
            && tiles(single) <= MAX_GRID_X
    }

    /// The orders in which the kernel of a skinny product finds the operand of many lines and that of few.
    pub fn skinny_orders(&self) -> (Order, Order) {
        match self.few_lines() {
            FewLines::Columns => (self.a.order, self.b.order),
            // Of the transposes.
            FewLines::Rows => (self.b.order.transposed(), self.a.order.transposed()),
        }
    }

    /// Whether the lines of both operands start at multiples of 16 bytes.
    pub fn has_aligned_lines(&self) -> bool {
        const ALIGNMENT: usize = 16;
        let bytes = self.element.bytes();
        [self.a, self.b]
            .iter()
            .all(|it| it.rows_are_multiples_of(ALIGNMENT, bytes))
    }

    /// Whether a product of f64 takes less time with copies of operands whose lines do not start at multiples of 16
    /// bytes, which it reads an element at a time: each is copied once, and read for each tile along the result.
    ///
    /// On an H200, with copies and without in TFLOP/s: 8.8 and 9.9 at 513, 16.5 and 15.0 at 769, 18.5 and 24.9 for 8191 x
    /// 127 with K = 509.
    pub fn aligned_copies_pay(&self) -> bool {
        const FROM: u128 = 320;
        let (m, n) = (self.m as u128, self.n as u128);
        !self.has_aligned_lines() && m * n >= FROM * (m + n)
    }

    /// Whether bulk copies can count its rows and columns, those past the end of a tile included.
    pub fn fits_tensor_maps(&self) -> bool {
        const MOST: usize = i32::MAX as usize - 1024;
        self.m <= MOST && self.n <= MOST && self.k <= MOST
    }

    /// Whether halves of f32 elements give products as accurate as f32's.
    pub fn can_be_split(&self) -> bool {
        // Blocks along y, for so many elements of k each.
        self.fits_tensor_maps()
            && self.k <= MAX_GRID_Y as usize * SPLIT_DEPTH
            && lowest_exponent(self.k).is_some()
    }
}

impl MatrixLayout {
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

    /// Whether each row (column, if column-major) starts at a multiple of `bytes`, which is one or
    /// more elements of `element_bytes`.
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
