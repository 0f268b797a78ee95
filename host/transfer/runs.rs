//! Runs of elements in pieces of limited length.

use std::iter;
use std::ops::Range;

/// A slice that can be divided.
pub trait Run: Sized {
    /// The number of elements.
    fn len(&self) -> usize;

    /// The first `mid` elements, and the rest.
    fn divided(self, mid: usize) -> (Self, Self);
}

impl<T> Run for &[T] {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn divided(self, mid: usize) -> (Self, Self) {
        self.split_at(mid)
    }
}

impl<T> Run for &mut [T] {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn divided(self, mid: usize) -> (Self, Self) {
        self.split_at_mut(mid)
    }
}

/// The elements of all runs, in pieces of `most` elements; the last piece has the rest.
pub fn pieces<R: Run>(runs: impl Iterator<Item = R>, most: usize) -> Vec<Vec<R>> {
    let mut pieces = Vec::new();
    let (mut piece, mut room) = (Vec::new(), most);
    for mut run in runs {
        while run.len() >= room {
            let (head, rest) = run.divided(room);
            piece.push(head);
            pieces.push(std::mem::take(&mut piece));
            (run, room) = (rest, most);
        }
        if run.len() > 0 {
            room -= run.len();
            piece.push(run);
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// The number of elements of a piece.
pub fn len_of<R: Run>(piece: &[R]) -> usize {
    piece.iter().map(Run::len).sum()
}

/// Ranges of `most` elements that cover `len` elements; the last one has the rest.
pub fn parts(len: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0_usize;
    iter::from_fn(move || {
        let part = next..len.min(next.saturating_add(most));
        next = part.end;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_all_elements_in_order() {
        let source = Vec::from_iter(0..1000_u32);
        for cuts in [&[3..4, 100..999][..], &[0..10, 5..250, 7..7, 7..27], &[]] {
            for most in [1, 10, 20, 5000] {
                let runs = || cuts.iter().map(|cut| &source[cut.clone()]);
                let pieces = pieces(runs(), most);
                let lens = Vec::from_iter(pieces.iter().map(|piece| len_of(piece)));
                assert!(lens.iter().rev().skip(1).all(|len| *len == most));
                assert!(lens.last().is_none_or(|last| (1..=most).contains(last)));
                let found = pieces.into_iter().flatten().flatten();
                assert!(found.eq(runs().flatten()), "{cuts:?} {most}");
            }
        }
    }

    #[test]
    fn parts_cover_everything() {
        assert_eq!(Vec::from_iter(parts(10, 4)), [0..4, 4..8, 8..10]);
        assert_eq!(Vec::from_iter(parts(8, 4)), [0..4, 4..8]);
        assert_eq!(parts(0, 4).count(), 0);
        assert!(parts(3, usize::MAX).eq(iter::once(0..3)));
    }
}
