//! The share of each rank of a group, or each chunk of a reduction: pure functions of the sizes and the number of
//! parts.

use std::ops::Range;
use tilewright_kernels::reduce::MAX_BLOCKS;

/// Part `rank` of `len` items in `ranks` parts, whose sizes differ by at most one.
pub fn part(len: usize, ranks: usize, rank: usize) -> Range<usize> {
    let bound = |rank: usize| (len as u128 * rank as u128 / ranks as u128) as usize;
    bound(rank)..bound(rank + 1)
}

/// How a buffer is divided over ranks: by the blocks of its reduction. A block has some tiles.
///
/// Tile t belongs to block t modulo the number of blocks, and a rank has consecutive blocks. So for up to
/// `MAX_BLOCKS` tiles a rank has one run of elements, and beyond that one run in each round of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    pub len: usize,
    /// Elements of a tile.
    tile: usize,
    ranks: usize,
}

impl Stripes {
    /// The division of elements of `element_bytes` bytes.
    pub fn new(len: usize, element_bytes: usize, ranks: usize) -> Self {
        /// The tile size of reductions, for all types that can be reduced.
        const TILE_BYTES: usize = 16 * 1024;
        // Zero-sized elements are one tile, however many they are.
        let tile = TILE_BYTES
            .checked_div(element_bytes)
            .map_or(usize::MAX, |tile| tile.max(1));
        Self { len, tile, ranks }
    }

    /// The division into the fewest parts of at most `most` elements each, and their number.
    ///
    /// If there are several rounds, a part has at least two blocks, even if these exceed `most`.
    pub fn of_at_most(most: usize, len: usize, element_bytes: usize) -> Self {
        let one = Self::new(len, element_bytes, 1);
        let rounds = one.rounds();
        let least = if rounds > 1 { 2 } else { 1 };
        let blocks = (most / one.tile / rounds.max(1)).max(least);
        // Rounded down where parts would have one block: sizes differ by one.
        let ranks = one.blocks().div_ceil(blocks).min(one.blocks() / least);
        Self {
            ranks: ranks.max(1),
            ..one
        }
    }

    /// The number of parts.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    fn tiles(&self) -> usize {
        self.len.div_ceil(self.tile)
    }

    /// The blocks of all ranks.
    pub fn blocks(&self) -> usize {
        self.tiles().min(MAX_BLOCKS as usize)
    }

    /// The blocks of a rank.
    pub fn blocks_of(&self, rank: usize) -> Range<usize> {
        part(self.blocks(), self.ranks, rank)
    }

    /// The rounds of tiles.
    fn rounds(&self) -> usize {
        self.tiles().div_ceil(self.blocks().max(1))
    }

    /// The elements of the blocks `own` in a round.
    fn run(&self, own: &Range<usize>, round: usize) -> Range<usize> {
        let element = |tile: usize| tile.saturating_mul(self.tile).min(self.len);
        let first = round * self.blocks();
        element(first + own.start)..element(first + own.end)
    }

    /// The elements of a rank, in runs that lie one after another in its memory.
    pub fn runs(self, rank: usize) -> impl Iterator<Item = Range<usize>> {
        let own = self.blocks_of(rank);
        (0..self.rounds())
            .map(move |round| self.run(&own, round))
            .filter(|run| !run.is_empty())
    }

    /// The number of elements of a rank. It does not loop over rounds: an impossible length can have 2^39 of them.
    pub fn len_of(&self, rank: usize) -> usize {
        let own = self.blocks_of(rank);
        // Each round but the last has all tiles.
        let whole = self.rounds().saturating_sub(1);
        whole * own.len() * self.tile + self.run(&own, whole).len()
    }

    /// The index in the buffer of a rank's element `index`.
    pub fn index_in_buffer(&self, rank: usize, index: usize) -> usize {
        let own = self.blocks_of(rank);
        let (round, block) = (index / self.tile / own.len(), index / self.tile % own.len());
        (round * self.blocks() + own.start + block) * self.tile + index % self.tile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_no_memory_has_are_divided_at_once() {
        for (len, bytes) in [(usize::MAX, 1), (usize::MAX / 4, 4), (usize::MAX - 5, 16)] {
            let stripes = Stripes::new(len, bytes, 3);
            assert_eq!((0..3).map(|rank| stripes.len_of(rank)).sum::<usize>(), len);
        }
    }

    #[test]
    fn parts_of_a_size_are_few_and_have_two_blocks_in_rounds() {
        let round = MAX_BLOCKS as usize * 2048;
        for (len, most, ranks) in [
            (0, 1, 1),
            (1, 1, 1),
            (5 * 2048, 1, 5),
            (5 * 2048 + 1, 4096, 3),
            (round, 2048, 2048),
            (round + 1, 2048, 1024),
            (4 * round, 4 * 3 * 2048, 683),
            (4 * round, usize::MAX, 1),
        ] {
            let stripes = Stripes::of_at_most(most, len, 8);
            assert_eq!(stripes.ranks(), ranks, "{len} {most}");
            let least = if len > round { 2 } else { 1 };
            for rank in 0..if len == 0 { 0 } else { ranks } {
                assert!(stripes.blocks_of(rank).len() >= least, "{len} {most}");
                let longest = most.max(least * 2048 * len.div_ceil(round));
                assert!((1..=longest).contains(&stripes.len_of(rank)));
            }
        }
    }

    #[test]
    fn a_rank_has_the_elements_of_its_runs() {
        for tiles in [0, 1, 2, 2047, 2048, 2049, 4095, 4096, 10_000] {
            for len in [4096 * tiles, 4096 * tiles + 1, 4096 * tiles + 4095] {
                let stripes = Stripes::new(len, 4, 3);
                for rank in 0..3 {
                    let of_runs: usize = stripes.runs(rank).map(|run| run.len()).sum();
                    assert_eq!(stripes.len_of(rank), of_runs, "{len} {rank}");
                }
            }
        }
    }

    #[test]
    fn parts_cover_everything_once_and_differ_by_one_at_most() {
        for (len, ranks) in [(0, 3), (1, 4), (7, 7), (10, 4), (usize::MAX, 7)] {
            let parts: Vec<_> = (0..ranks).map(|rank| part(len, ranks, rank)).collect();
            assert_eq!((parts[0].start, parts[ranks - 1].end), (0, len));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            let sizes = parts.iter().map(ExactSizeIterator::len);
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        }
    }

    #[test]
    fn runs_have_each_element_once_in_order_and_are_found_again() {
        const ROUND: usize = MAX_BLOCKS as usize * 2048;
        for (len, ranks) in [
            (0, 2),
            (1, 3),
            (5000, 4),
            (ROUND + 1, 1),
            (2 * ROUND + 9000, 7),
        ] {
            let stripes = Stripes::new(len, 8, ranks);
            let mut all = Vec::new();
            for rank in 0..ranks {
                let mut index = 0;
                for run in stripes.runs(rank) {
                    for (at, element) in [(0, run.start), (run.len() - 1, run.end - 1)] {
                        assert_eq!(stripes.index_in_buffer(rank, index + at), element);
                    }
                    index += run.len();
                    all.push(run);
                }
                assert_eq!(index, stripes.len_of(rank));
            }
            all.sort_by_key(|run| run.start);
            assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(all.first().map_or(0, |run| run.start), 0);
            assert_eq!(all.last().map_or(0, |run| run.end), len);
        }
    }

    #[test]
    fn elements_of_no_size_are_one_run() {
        let stripes = Stripes::new(usize::MAX, 0, 3);
        let runs = (0..3).flat_map(|rank| stripes.runs(rank));
        assert!(runs.eq(std::iter::once(0..usize::MAX)));
    }

    #[test]
    fn a_rank_has_one_run_of_a_buffer_of_few_tiles() {
        let mut runs = Stripes::new(5 * 4096 + 3, 4, 4).runs(3);
        assert_eq!(runs.next(), Some(4 * 4096..5 * 4096 + 3));
        assert_eq!(runs.next(), None);
    }
}
