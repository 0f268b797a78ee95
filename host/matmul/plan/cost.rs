//! The estimated time of a product in tiles of each size, and the fastest size on the device.

pub mod blocks;
pub mod model;
pub mod scaled;

use super::problem::{DeviceFacts, Problem, computes};
use super::reason::SelectionReason;
use crate::launch::MAX_GRID_X;
use crate::matmul::kernel::{Method, SkinnyTile, TileSize, WgmmaTile};
use crate::matmul::table::{kernels_of, split_tile};
use crate::matmul::types::ElementType;
use tilewright_kernels::tensor::{ClusterTile, HALF_SINGLE};

/// The time of rounds of tiles of one size, in units of the method.
#[derive(Clone, Copy)]
pub struct RoundTime {
    /// The time of all rounds together, once.
    pub start: u64,
    pub each: u64,
}

impl RoundTime {
    /// Rounds that take `each`.
    const fn each(each: u64) -> Self {
        Self { start: 0, each }
    }

    fn of_rounds(self, rounds: u64) -> u64 {
        rounds.saturating_mul(self.each).saturating_add(self.start)
    }
}

/// The times of rounds of tiles.
pub struct RoundTimes {
    pub small: RoundTime,
    /// `None` if the method has no medium tiles.
    pub medium: Option<RoundTime>,
    pub large: RoundTime,
}

impl RoundTimes {
    /// Times of a method with tiles of two sizes.
    pub const fn of_two(small: u64, large: u64) -> Self {
        Self {
            small: RoundTime::each(small),
            medium: None,
            large: RoundTime::each(large),
        }
    }

    /// The time of the fastest size, in the rounds of `reason`; `None` if a caller chose the size.
    fn fastest(&self, reason: SelectionReason) -> Option<u64> {
        let SelectionReason::Rounds {
            small,
            medium,
            large,
        } = reason
        else {
            return None;
        };
        let medium = (self.medium.zip(medium)).map(|(time, rounds)| time.of_rounds(rounds));
        let others = [self.small.of_rounds(small), self.large.of_rounds(large)];
        others.into_iter().chain(medium).min()
    }

    /// Times of a method with tiles of three sizes.
    const fn of_three(small: u64, medium: u64, large: u64) -> Self {
        Self {
            medium: Some(RoundTime::each(medium)),
            ..Self::of_two(small, large)
        }
    }
}

/// Warpgroup products of f16, bf16 and i8. Medium tiles have three times, and large ones four times as many outputs
/// as small ones. Blocks stay, and compute a tile in each round.
///
/// Measured on an H200, bf16, in TFLOP/s, small, medium and large: 334, 274 and 253 at 1280 (2, 1 and 1 rounds),
/// 325, 429 and 362 at 1536 (3, 1 and 1), 420, 344 and 461 at 1792 (3, 2 and 1), 476, 476 and 561 at 2560 (7, 3 and
/// 2), 498, 587 and 553 at 3072 (9, 3 and 3), 515, 551 and 681 at 4096 (16, 6 and 4).
const ROUNDS_OF_WGMMA: RoundTimes = RoundTimes::of_three(6, 13, 16);

/// Tiles of 144 x 128 of f16 and bf16, in the same units.
///
/// Measured on an H200, bf16, in TFLOP/s, one round and the fastest other tiles: 352 and 335 at 1280, 423 and 408 at
/// 1408, 494 and 412 at 1536.
const ROUND_OF_TURNED: RoundTime = RoundTime::each(11);

/// Split f32, by warpgroups. Large tiles have twice as many outputs as small ones.
///
/// Measured on an H200, in us with the split, small and large: 28.0 and 36.9 at 1024 (1 and 1 rounds), 49.5 and
/// 46.2 at 1280 (2 and 1), 71.9 and 81.3 at 1536 (3 and 2), 93.6 and 93.6 at 1792 (3 and 2), 127 and 121 at 2048 (4
/// and 2).
const ROUNDS_OF_SPLIT: RoundTimes = RoundTimes::of_two(5, 8);

/// 8-bit floats. Medium tiles have twice, and large ones three times as many outputs as small ones.
///
/// Measured on an H200, e4m3, in TFLOP/s, small, medium and large: 499, 521 and 626 at 1536 (3, 2 and 1 rounds),
/// 801, 901 and 775 at 2048 (4, 2 and 2), 900, 945 and 1096 at 3072 (9, 5 and 3), 981, 1045 and 1063 at 4096 (16, 8
/// and 6).
const ROUNDS_OF_F8: RoundTimes = RoundTimes::of_three(10, 16, 21);

/// Products by warpgroups. Uses `tiles` if given, otherwise the fastest size.
pub fn wgmma_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> (Method, SelectionReason) {
    let times = match problem.element {
        ElementType::F8E4M3 | ElementType::F8E5M2 => &ROUNDS_OF_F8,
        _ => &ROUNDS_OF_WGMMA,
    };
    let rounds = |tiles: TileSize| {
        rounds_of_clusters(problem, device, problem.element.wgmma_tile(tiles.into()))
    };
    let (method, reason) =
        in_fewest_rounds(|tiles| Method::Wgmma(tiles.into()), rounds, times, tiles);
    if let Some(time) = times.fastest(reason)
        && let Some(rounds) = turned_rounds(problem, device)
        && ROUND_OF_TURNED.of_rounds(rounds) < time
    {
        let turned = Method::Wgmma(WgmmaTile::Turned);
        return (turned, SelectionReason::Turned { rounds });
    }
    match (method, reason) {
        (Method::Wgmma(WgmmaTile::Small), SelectionReason::Rounds { small: 0..=1, .. }) => {
            (Method::Wgmma(WgmmaTile::Deep), reason)
        }
        selected => selected,
    }
}

/// The rounds of turned tiles, if there are some for the problem.
fn turned_rounds(problem: &Problem, device: DeviceFacts) -> Option<u64> {
    const METHOD: Method = Method::Wgmma(WgmmaTile::Turned);
    let mut kernels = kernels_of(METHOD, problem.element, problem.output).iter();
    let kernel = kernels.find(|it| computes(it, problem, device))?;
    let (transposed, tile) = (problem.transposed(), kernel.cluster_tile());
    Some(rounds_of_clusters(&transposed, device, tile))
}

/// Products of split operands. Uses `tiles` if given, otherwise the fastest size.
pub fn split_in(
    problem: &Problem,
    device: DeviceFacts,
    tiles: Option<TileSize>,
) -> (Method, SelectionReason) {
    let rounds = |tiles| rounds_of_clusters(problem, device, split_tile(tiles));
    in_fewest_rounds(Method::Split, rounds, &ROUNDS_OF_SPLIT, tiles)
}

/// The rounds of tiles of all products. Each cluster computes one at a time, and the device holds one block on each
/// multiprocessor.
fn rounds_of_clusters(problem: &Problem, device: DeviceFacts, tile: &ClusterTile) -> u64 {
    let resident = (device.multiprocessors as usize / tile.blocks).max(1);
    let tiles = tile.tiles((problem.m, problem.n), problem.is_gram);
    tiles.saturating_mul(problem.batch).div_ceil(resident) as u64
}

/// Uses `tiles` if given, otherwise the fastest size; ties go to the largest.
pub fn in_fewest_rounds(
    method: fn(TileSize) -> Method,
    rounds: impl Fn(TileSize) -> u64,
    times: &RoundTimes,
    tiles: Option<TileSize>,
) -> (Method, SelectionReason) {
    if let Some(tiles) = tiles {
        let tiles = match times.medium {
            Some(_) => tiles,
            None => tiles.of_two(),
        };
        return (method(tiles), SelectionReason::Requested);
    }
    let [small, large] = [TileSize::Small, TileSize::Large].map(&rounds);
    let medium = times.medium.map(|_| rounds(TileSize::Medium));
    let mut fastest = (TileSize::Large, times.large.of_rounds(large));
    if let Some((rounds, time)) = medium.zip(times.medium)
        && time.of_rounds(rounds) < fastest.1
    {
        fastest = (TileSize::Medium, time.of_rounds(rounds));
    }
    if times.small.of_rounds(small) < fastest.1 {
        fastest.0 = TileSize::Small;
    }
    let reason = SelectionReason::Rounds {
        small,
        medium,
        large,
    };
    (method(fastest.0), reason)
}

impl Problem {
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
}

/// Whether an f64 product is faster with aligned copies of operands whose rows do not start at multiples of 16
/// bytes.
///
/// The kernel would read these an element at a time. Each is copied once, and read once for each tile along the
/// result.
///
/// Measured on an H200, in TFLOP/s with copies and without: 8.8 and 9.9 at 513, 16.5 and 15.0 at 769, 18.5 and
/// 24.9 for 8191 x 127 with K = 509.
pub fn aligned_copies_pay(problem: &Problem) -> bool {
    const FROM: u128 = 320;
    let (m, n) = (problem.m as u128, problem.n as u128);
    !problem.has_aligned_lines() && m * n >= FROM * (m + n)
}
