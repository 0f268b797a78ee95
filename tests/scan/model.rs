//! A scan as `docs/reductions.md` describes it, one addition after another.

use crate::samples::Sample;
use tilewright_kernels::scan::FAN;

/// Warps of a tile, and rows of a warp.
pub const WARPS: usize = 4;
pub const ROWS: usize = 16;
const ROW_THREADS: usize = 32;

pub fn scan<T: Sample>(data: &[T], is_exclusive: bool) -> Vec<T> {
    let tile = WARPS * ROWS * ROW_THREADS * (16 / size_of::<T>());
    let mut sums = Vec::with_capacity(data.len());
    let mut before_span = T::ZERO;
    let (mut of_tiles, mut of_groups) = (Vec::<T>::new(), Vec::<T>::new());
    for elements in data.chunks(tile) {
        if of_tiles.len() == FAN {
            let last = of_tiles.pop().unwrap();
            of_groups.push(tree(&of_tiles).plus(last));
            of_tiles.clear();
        }
        if of_groups.len() == FAN {
            let last = of_groups.pop().unwrap();
            before_span = before_span.plus(tree(&of_groups).plus(last));
            of_groups.clear();
        }
        let before_tile = before_span.plus(tree(&of_groups)).plus(tree(&of_tiles));
        let mut whole = elements.to_vec();
        whole.resize(tile, T::ZERO);
        let mut of_tile = T::ZERO;
        let mut in_tile = Vec::with_capacity(tile);
        for part in whole.chunks(tile / WARPS) {
            let (in_warp, of_warp) = scan_warp(part, is_exclusive);
            let before = before_tile.plus(of_tile);
            in_tile.extend(in_warp.iter().map(|&sum| before.plus(sum).finished()));
            of_tile = of_tile.plus(of_warp);
        }
        sums.extend_from_slice(&in_tile[..elements.len()]);
        of_tiles.push(of_tile);
    }
    sums
}

/// Adds neighbours, then neighbouring pairs, and so on, of this many values, followed by zeros.
fn tree<T: Sample>(values: &[T]) -> T {
    let mut values = values.to_vec();
    values.resize(FAN, T::ZERO);
    while values.len() > 1 {
        values = values.chunks(2).map(|pair| pair[0].plus(pair[1])).collect();
    }
    values[0]
}

fn scan_warp<T: Sample>(part: &[T], is_exclusive: bool) -> (Vec<T>, T) {
    let lanes = 16 / size_of::<T>();
    let mut sums = Vec::new();
    let mut before_row = T::ZERO;
    for row in part.chunks(ROW_THREADS * lanes) {
        let in_vectors: Vec<Vec<T>> = row.chunks(lanes).map(scan_vector).collect();
        let mut up_to: Vec<T> = in_vectors.iter().map(|vector| vector[lanes - 1]).collect();
        let mut distance = 1;
        while distance < ROW_THREADS {
            let earlier = up_to.clone();
            for thread in distance..ROW_THREADS {
                up_to[thread] = earlier[thread - distance].plus(earlier[thread]);
            }
            distance *= 2;
        }
        for (thread, vector) in in_vectors.iter().enumerate() {
            let before = match thread {
                0 => before_row,
                _ => before_row.plus(up_to[thread - 1]),
            };
            let with_before = vector.iter().map(|&sum| before.plus(sum));
            if is_exclusive {
                sums.push(before);
                sums.extend(with_before.take(lanes - 1));
            } else {
                sums.extend(with_before);
            }
        }
        before_row = before_row.plus(up_to[ROW_THREADS - 1]);
    }
    (sums, before_row)
}

fn scan_vector<T: Sample>(vector: &[T]) -> Vec<T> {
    let mut sums = vec![vector[0]];
    for &element in &vector[1..] {
        sums.push(sums[sums.len() - 1].plus(element));
    }
    sums
}
