//! The division of a product into panels that fit a given memory: pure functions of the sizes.

use std::ops::Range;

/// The fewest rows or columns of a panel, unless it has all, if K is whole. Panels of fewer are uploaded so often that
/// parts of K take less time.
const LEAST_LINES: usize = 64;

/// The fewest rows or columns to which a panel is cut to overlap its upload with products. For f32 on tensor cores,
/// each product splits its operands anew: with this number of rows that adds a tenth to its time.
const LINES_TO_OVERLAP: usize = 4096;

/// Panels that are enough to overlap uploads and products.
const PANELS_TO_OVERLAP: usize = 4;

/// Panels have a multiple of this many lines or elements, if they have as many at all.
const MULTIPLE_OF_LINES: u128 = 64;
/// See [`MULTIPLE_OF_LINES`].
const MULTIPLE_OF_DEPTH: u128 = 128;

/// Most panels of an operand, and of C, in memory at once: while one is used, the other is copied.
pub const MOST_SLOTS: usize = 2;

/// M, N and K of a product, and the bytes of an element.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// Of A and B.
    pub operand_bytes: usize,
    /// Of C.
    pub result_bytes: usize,
}

/// How a product is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panels {
    m: usize,
    n: usize,
    k: usize,
    /// The rows of A's panels.
    rows: usize,
    /// The columns of B's panels.
    columns: usize,
    /// The columns of A's panels and rows of B's: all of K, or a part.
    depth: usize,
    /// Whether a panel of B stays while those of A are uploaded, one after another. Otherwise a panel of A stays.
    is_by_columns: bool,
}

/// Rows and columns of C that are computed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultBlock {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
}

impl Panels {
    /// The division with the fewest uploads that fits `memory` bytes; `None` if none does.
    ///
    /// K is divided if panels with all of it would have fewer than [`LEAST_LINES`], into parts of at least `least_part`;
    /// never if that is none.
    pub fn of(sizes: Sizes, memory: u64, least_part: Option<usize>) -> Option<Self> {
        let memory = u128::from(memory);
        let whole = |least| {
            let orders = [true, false].into_iter();
            let found = orders.filter_map(|is_by_columns| {
                Self::with_whole_k(sizes, memory, (is_by_columns, least))
            });
            found.min_by_key(|panels| panels.uploads())
        };
        whole(LEAST_LINES).or_else(|| match least_part.filter(|_| sizes.k > 0) {
            Some(least) => Self::with_parts_of_k(sizes, memory, least),
            None => whole(1),
        })
    }

    /// The division in panels of at least `least` lines.
    fn with_whole_k(
        sizes: Sizes,
        memory: u128,
        (is_by_columns, least): (bool, usize),
    ) -> Option<Self> {
        let (streamed, staying) = match is_by_columns {
            true => (sizes.m, sizes.n),
            false => (sizes.n, sizes.m),
        };
        let of = |streamed, staying| Self {
            m: sizes.m,
            n: sizes.n,
            k: sizes.k,
            rows: if is_by_columns { streamed } else { staying },
            columns: if is_by_columns { staying } else { streamed },
            depth: sizes.k,
            is_by_columns,
        };
        let mut parts = (streamed / LINES_TO_OVERLAP).clamp(1, PANELS_TO_OVERLAP);
        let mut best: Option<Self> = None;
        loop {
            let lines = streamed.div_ceil(parts).max(least.min(streamed));
            let panels = longest(staying, least, |staying| {
                of(lines, staying).memory(sizes) <= memory
            });
            let panels = panels.map(|staying| of(lines, staying));
            let is_better = |it: &Self| best.is_none_or(|best| it.uploads() < best.uploads());
            best = panels.filter(is_better).or(best);
            if lines <= least {
                return best;
            }
            parts = parts.saturating_mul(2);
        }
    }

    /// The division into parts of K. Half of the memory is for outputs, unless all outputs need less.
    fn with_parts_of_k(sizes: Sizes, memory: u128, least: usize) -> Option<Self> {
        let [m, n, k] = [sizes.m, sizes.n, sizes.k].map(|it| it as u128);
        let outputs = memory / 2 / sizes.result_bytes as u128;
        let (mut rows, mut columns) = match m * n <= outputs {
            true => (m, n),
            false => {
                let outputs = (outputs / MOST_SLOTS as u128).max(1);
                let rows = m.min(outputs.isqrt());
                let columns = n.min(outputs / rows);
                (m.min(outputs / columns), columns)
            }
        };
        loop {
            let of = |depth| Self {
                m: sizes.m,
                n: sizes.n,
                k: sizes.k,
                rows: rows as usize,
                columns: columns as usize,
                depth,
                is_by_columns: true,
            };
            let rest = memory.saturating_sub(of(0).memory(sizes));
            let of_one = MOST_SLOTS as u128 * (rows + columns) * sizes.operand_bytes as u128;
            let depth = down_to_multiple(rest / of_one, MULTIPLE_OF_DEPTH).min(k);
            // A last part that is too short gets elements of the others.
            let has_last = |depth: &usize| !(1..least).contains(&(sizes.k % depth));
            if let Some(depth) = (least..=depth as usize).rev().find(has_last) {
                return Some(of(depth));
            }
            match rows.max(columns) {
                1 => return None,
                _ if rows > columns => rows = rows.div_ceil(2),
                _ => columns = columns.div_ceil(2),
            }
        }
    }

    /// The panels of A, of B, and of C.
    fn counts(&self) -> [usize; 3] {
        let parts = self.parts_of_k();
        let [a, b] = [self.m.div_ceil(self.rows), self.n.div_ceil(self.columns)];
        [a * parts, b * parts, a * b]
    }

    /// The panels of A, of B, and of C that are in memory at once.
    pub fn slots(&self) -> [usize; 3] {
        self.counts().map(|count| count.min(MOST_SLOTS))
    }

    /// The elements of a panel of A, of B, and of C.
    pub fn lens(&self) -> [usize; 3] {
        [
            self.rows * self.depth,
            self.columns * self.depth,
            self.rows * self.columns,
        ]
    }

    /// The bytes of all panels in memory.
    fn memory(&self, sizes: Sizes) -> u128 {
        let [rows, columns, depth] = [self.rows, self.columns, self.depth].map(|it| it as u128);
        let lens = [rows * depth, columns * depth, rows * columns];
        let bytes = [sizes.operand_bytes, sizes.operand_bytes, sizes.result_bytes];
        let slots = self.slots();
        let of = |index: usize| lens[index] * slots[index] as u128 * bytes[index] as u128;
        of(0) + of(1) + of(2)
    }

    /// The elements that are uploaded, if K is whole.
    fn uploads(&self) -> u128 {
        let [a, b, _] = self.counts();
        let [of_a, of_b] = [self.m, self.n].map(|it| it as u128 * self.k as u128);
        let times = |panels: usize, turns: usize| match panels <= MOST_SLOTS {
            true => 1,
            false => turns as u128,
        };
        match self.is_by_columns {
            true => of_a * times(a, b) + of_b,
            false => of_a + of_b * times(b, a),
        }
    }

    /// The number of parts of K: one if it is whole.
    pub fn parts_of_k(&self) -> usize {
        self.k.div_ceil(self.depth.max(1)).max(1)
    }

    /// The parts of K: one, which may be empty, if it is whole.
    pub fn depths(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.parts_of_k()).map(move |number| piece(self.k, self.depth, number))
    }

    /// The blocks of C, in the order in which they are computed.
    pub fn blocks(self) -> impl Iterator<Item = ResultBlock> {
        let (rows, columns) = (self.m.div_ceil(self.rows), self.n.div_ceil(self.columns));
        (0..rows * columns).map(move |number| {
            let (row, column) = match self.is_by_columns {
                true => (number % rows, number / rows),
                false => (number / columns, number % columns),
            };
            ResultBlock {
                rows: piece(self.m, self.rows, row),
                columns: piece(self.n, self.columns, column),
            }
        })
    }
}

/// Piece `number` of `len` items, in pieces of `most`.
fn piece(len: usize, most: usize, number: usize) -> Range<usize> {
    let start = number * most;
    start..len.min(start + most)
}

/// The greatest number of lines, from `least` to `all`, that fits; a smaller one if it makes the panels equal.
fn longest(all: usize, least: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if fits(all) {
        return Some(all);
    }
    let least = least.min(all);
    let (mut low, mut high) = (least, all);
    if !fits(low) {
        return None;
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        match fits(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    let equal = all.div_ceil(all.div_ceil(low));
    let rounded = (equal as u128).next_multiple_of(MULTIPLE_OF_LINES) as usize;
    Some(if rounded <= low { rounded } else { equal })
}

/// The greatest multiple of `multiple` up to `value`, or `value` if it is less than one.
fn down_to_multiple(value: u128, multiple: u128) -> u128 {
    match value / multiple {
        0 => value,
        count => count * multiple,
    }
}

#[cfg(test)]
mod tests;
