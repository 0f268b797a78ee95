//! A product as a value: all that the selection of a kernel depends on.

mod parts;

pub use parts::Parts;

use super::kernel::{ElementType, SkinnyTile, VectorLines, WgmmaTile};
use crate::launch::{MAX_GRID_X, MAX_GRID_Y};
use crate::matrix::Order;
use std::fmt::{self, Display, Formatter};
use tilewright_kernels::matmul::BlockTile;
use tilewright_kernels::tensor::{ClusterTile, HALF_SINGLE, SPLIT_DEPTH, lowest_exponent};
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

/// A product of the rows or columns of a matrix with a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VectorProduct {
    /// Whether A is the matrix and B the vector, so that the lines are rows of A. Otherwise the lines are columns
    /// of B.
    pub matrix_is_a: bool,
    pub lines: VectorLines,
}

/// The short side of a skinny result: its rows or its columns.
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
    /// The number of products of these shapes in one launch.
    pub batch: usize,
    /// Whether sums are written unchanged.
    pub is_plain: bool,
    /// Whether A is the transpose of B, so that tiles above the diagonal are left out.
    pub is_gram: bool,
}

impl Problem {
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

    /// The product as one of lines and a vector; `None` if neither operand is a vector.
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
            // If both are vectors, a contiguous one is the matrix.
            (1, 1) if with_a.lines == VectorLines::Across => Some(with_b),
            (_, 1) => Some(with_a),
            (1, _) => Some(with_b),
            _ => None,
        }
    }

    /// The short side of the result; rows, if it is square.
    pub fn few_lines(&self) -> FewLines {
        match self.m <= self.n {
            true => FewLines::Rows,
            false => FewLines::Columns,
        }
    }

    /// The fastest skinny tile on a device with `multiprocessors`, with the short side in one tile or in two;
    /// `None` if the short side is too long or tiles of 64 x 128 are faster.
    ///
    /// Measured on an H200, time over that of 64 x 128 tiles: 16 rows in small tiles 0.55 to 0.77; 64 rows by 2112
    /// to 129280 columns, K from 1024 to 16384, in large ones 0.75 to 0.95; 128 rows by 1024 to 4096 columns in two
    /// large ones 0.78 to 0.89. A thousand products of 64 x 64 with K = 64 take 2.3 times as long in large ones.
    pub fn skinny(&self, multiprocessors: u32) -> Option<SkinnyTile> {
        const LEAST_OF_LARGER: usize = 512;
        const MOST_OF_LARGER: usize = 128;
        let (few, many) = (self.m.min(self.n), self.m.max(self.n));
        let is_long = many >= LEAST_OF_LARGER && self.k >= LEAST_OF_LARGER && few <= MOST_OF_LARGER;
        let times = SkinnyTile::ALL.into_iter().filter_map(|size| {
            let tile = self.element.skinny_tile(size)?;
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

    /// A model of the time that a skinny product takes in this tile, in units of 0.55 ns on an H200.
    ///
    /// A pair of blocks on each pair of multiprocessors computes a tile in each round. The time to load a slice of
    /// a stage is proportional to its lines, which come from the second-level cache, and half as long if few pairs
    /// read. The last round has the rest of the tiles, unless `is_last_round_whole`. Nothing is multiplied while
    /// outputs are written.
    ///
    /// Measured on an H200, kernels alone, 1024 to 7168 rows and 64 columns, in ns for a slice: medium tiles 107
    /// with 17 pairs, 150 with 34, 194 with 64; large ones 130 with 17, 167 with 32, 201 with 64; tall ones 200
    /// with 9, 220 with 32. In square tiles, 128 columns of 129280 rows take 0.90 of the time of 64 x 128; 24576
    /// rows take the same time, or 1.15 times as long with 8-bit elements.
    fn skinny_time(
        &self,
        tile: &ClusterTile,
        multiprocessors: u32,
        is_last_round_whole: bool,
    ) -> u128 {
        // The time to write an output, in hundredths of a unit.
        const WRITING: u128 = 36;
        let (few, many) = (self.m.min(self.n), self.m.max(self.n));
        let pairs = (multiprocessors as usize / tile.blocks).max(1);
        let of_few = few.div_ceil(tile.columns).max(1);
        let clusters = many.div_ceil(tile.rows * tile.blocks);
        let tiles = clusters.saturating_mul(of_few).saturating_mul(self.batch);
        let (rounds, left) = (tiles.div_ceil(pairs) as u128, (tiles % pairs) as u128);
        let pairs = pairs as u128;
        // Reading takes twice as long if all pairs read.
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

    /// Whether one block for each tile of 64 x 64 is faster than clusters, whose tiles have four times as many
    /// outputs.
    ///
    /// It is if fewer than half as many outputs lie in its tiles, and either K is short or there are tiles for half
    /// of the multiprocessors: a single block has few stages in flight.
    ///
    /// Measured on an H200, kernels alone, bf16, in us:
    ///
    /// | products | block for each tile | clusters |
    /// |---|---|---|
    /// | 1000 of 32 | 5.9 | 13.9 |
    /// | 1000 of 64 | 8.0 | 15.1 |
    /// | 1000 of 64 x 128, K = 64 | 14.1 | 14.4 |
    /// | 1000 of 64 x 128, K = 256 | 33 | 31 |
    /// | 1000 of 96 | 25.7 | 18.0 |
    /// | 1000 of 192 x 64, K = 64 | 19.5 | 26.2 |
    /// | 1 of 64, K = 64, 256, 1024 | 1.9, 2.9, 7.1 | 2.4, 2.9, 5.3 |
    /// | 33 of 64, K = 512 | 5.3 | 4.9 |
    /// | 66 of 64, K = 1024 | 10.9 | 13.0 |
    /// | 132 of 64, K = 1024 | 13.4 | 22 |
    ///
    /// Against skinny tiles, 64 x 16: 2.0 and 2.1 with K = 128, 2.7 and 2.3 with K = 256; for a thousand with K =
    /// 256 14.1 and 19.6.
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

    /// The orders of the operand with the long side and of that with the short side, as the skinny kernel sees
    /// them.
    pub fn skinny_orders(&self) -> (Order, Order) {
        match self.few_lines() {
            FewLines::Columns => (self.a.order, self.b.order),
            // The kernel computes the transpose.
            FewLines::Rows => (self.b.order.transposed(), self.a.order.transposed()),
        }
    }

    /// Whether the rows (columns, if column-major) of both operands start at multiples of 16 bytes.
    pub fn has_aligned_lines(&self) -> bool {
        const ALIGNMENT: usize = 16;
        let bytes = self.element.bytes();
        [self.a, self.b]
            .iter()
            .all(|it| it.rows_are_multiples_of(ALIGNMENT, bytes))
    }

    /// Whether an f64 product is faster with aligned copies of operands whose rows do not start at multiples of 16
    /// bytes.
    ///
    /// The kernel would read these an element at a time. Each is copied once, and read once for each tile along the
    /// result.
    ///
    /// Measured on an H200, in TFLOP/s with copies and without: 8.8 and 9.9 at 513, 16.5 and 15.0 at 769, 18.5 and
    /// 24.9 for 8191 x 127 with K = 509.
    pub fn aligned_copies_pay(&self) -> bool {
        const FROM: u128 = 320;
        let (m, n) = (self.m as u128, self.n as u128);
        !self.has_aligned_lines() && m * n >= FROM * (m + n)
    }

    /// Whether tensor maps can count its rows, columns and products, those past the end of a tile included.
    pub fn fits_tensor_maps(&self) -> bool {
        const MOST: usize = i32::MAX as usize - 1024;
        [self.m, self.n, self.k, self.batch]
            .iter()
            .all(|it| *it <= MOST)
    }

    /// Whether split operands give products as accurate as those of f32.
    pub fn can_be_split(&self) -> bool {
        // The split's blocks along y have `SPLIT_DEPTH` elements of k each.
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
