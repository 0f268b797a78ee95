//! A bulk copy, cut into pieces that are contiguous in global and in shared memory.

use super::tensor_map::{MAX_RANK, TensorMapFields};

/// The size of the chunks that a swizzle moves, in bytes.
const CHUNK: usize = 16;

/// A part of a copy that is contiguous on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// Its offset in the block's shared memory.
    pub shared: usize,
    /// Its bytes in shared memory.
    pub bytes: usize,
    /// Its address in global memory.
    pub global: usize,
    /// The number of leading bytes that are inside the tensor. The others are loaded as zeros and
    /// not stored.
    pub inside: usize,
}

impl Piece {
    /// The pieces of the box at `coordinates` (innermost first), which begins at `shared` in shared
    /// memory. Numbers wrap, because a kernel may have made the map itself: checks come later.
    pub fn of_box(map: &TensorMapFields, shared: usize, coordinates: &[i32]) -> Vec<Self> {
        let element = map.element_bytes as usize;
        let row = map.box_sizes[0] as usize * element;
        let piece_bytes = match map.swizzle.row_bytes() {
            None => row,
            Some(_) => CHUNK.min(row),
        };
        let size = map.sizes[0].saturating_mul(element as u64) as i64;
        let first = i64::from(coordinates[0]) * element as i64;
        let mut pieces = Vec::with_capacity(map.box_bytes() / piece_bytes.max(1));
        for (number, start) in rows(map, coordinates).enumerate() {
            for within in (0..row).step_by(piece_bytes) {
                let bytes = piece_bytes.min(row - within);
                let place = first + within as i64;
                // Pieces that begin before the tensor do so by whole elements.
                let skipped = (-place).clamp(0, bytes as i64);
                let inside = match start {
                    Some(_) => size.saturating_sub(place).clamp(0, bytes as i64) - skipped,
                    None => 0,
                };
                let at = map.swizzle.apply(shared + number * row + within);
                let global = start.unwrap_or(0).wrapping_add_signed(place as isize);
                push(&mut pieces, at, bytes, global, (skipped, inside.max(0)));
            }
        }
        pieces
    }

    /// The parts of global memory of the pieces, each as a start and a length. Adjacent parts are
    /// merged.
    pub fn global_runs(pieces: &[Self]) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.inside != 0) {
            match runs.last_mut() {
                Some((start, bytes)) if start.wrapping_add(*bytes) == piece.global => {
                    *bytes += piece.inside;
                }
                _ => runs.push((piece.global, piece.inside)),
            }
        }
        runs
    }

    /// The single piece of a copy of `bytes` bytes.
    pub fn whole(shared: usize, global: usize, bytes: usize) -> Vec<Self> {
        vec![Self {
            shared,
            bytes,
            global,
            inside: bytes,
        }]
    }
}

/// Adds a piece whose first `skipped` bytes are outside of the tensor.
fn push(
    pieces: &mut Vec<Piece>,
    shared: usize,
    bytes: usize,
    global: usize,
    (skipped, inside): (i64, i64),
) {
    let (skipped, inside) = (skipped as usize, inside as usize);
    if skipped > 0 {
        pieces.push(Piece {
            shared,
            bytes: skipped,
            global,
            inside: 0,
        });
    }
    if skipped < bytes {
        pieces.push(Piece {
            shared: shared + skipped,
            bytes: bytes - skipped,
            global: global.wrapping_add(skipped),
            inside,
        });
    }
}

/// The addresses of the box's rows in global memory, at coordinate 0 of each; none for rows outside
/// the tensor.
fn rows(map: &TensorMapFields, coordinates: &[i32]) -> impl Iterator<Item = Option<usize>> {
    let rank = map.rank as usize;
    let mut index = [0_u32; MAX_RANK];
    let rows: usize = map.box_sizes[1..rank]
        .iter()
        .map(|size| *size as usize)
        .product();
    let coordinates: Vec<i64> = coordinates.iter().map(|place| i64::from(*place)).collect();
    let map = *map;
    (0..rows).map(move |_| {
        let start = (1..rank).try_fold(map.address as usize, |start, dimension| {
            let place = coordinates[dimension] + i64::from(index[dimension]);
            let is_inside = (0..map.sizes[dimension] as i64).contains(&place);
            let distance = (place as usize).wrapping_mul(map.strides[dimension - 1] as usize);
            is_inside.then(|| start.wrapping_add(distance))
        });
        for (place, size) in index.iter_mut().zip(map.box_sizes).take(rank).skip(1) {
            *place += 1;
            if *place < size {
                break;
            }
            *place = 0;
        }
        start
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::bulk::Swizzle;

    fn map(swizzle: Swizzle) -> TensorMapFields {
        TensorMapFields {
            address: 1 << 16,
            element_bytes: 2,
            rank: 2,
            sizes: [40, 3, 0, 0, 0],
            strides: [128, 0, 0, 0],
            box_sizes: [32, 2, 0, 0, 0],
            swizzle,
            view_start: 1 << 16,
            view_bytes: 384,
        }
    }

    #[test]
    fn rows_are_cut_off_at_the_tensor() {
        let pieces = Piece::of_box(&map(Swizzle::None), 1024, &[16, 2]);
        let of = |shared, bytes, global, inside| Piece {
            shared,
            bytes,
            global,
            inside,
        };
        let first = (1 << 16) + 2 * 128 + 32;
        assert_eq!(pieces[0], of(1024, 64, first, 48));
        assert_eq!((pieces[1].bytes, pieces[1].inside), (64, 0));
        let pieces = Piece::of_box(&map(Swizzle::None), 0, &[-8, 0]);
        assert_eq!((pieces[0].bytes, pieces[0].inside), (16, 0));
        assert_eq!(pieces[1], of(16, 48, 1 << 16, 48));
    }

    #[test]
    fn chunks_are_swizzled() {
        let pieces = Piece::of_box(&map(Swizzle::B64), 0, &[0, 0]);
        assert_eq!(pieces.len(), 8);
        for (number, piece) in pieces.iter().enumerate() {
            assert_eq!(piece.shared, Swizzle::B64.apply(16 * number));
            assert_eq!(
                piece.global,
                (1 << 16) + 128 * (number / 4) + 16 * (number % 4)
            );
        }
    }
}
