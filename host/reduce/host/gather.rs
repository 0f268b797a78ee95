//! Copies of runs of a slice to page-locked memory, by several host threads.

use crate::transfer::{LEAST_BYTES, piece_len, threads};
use std::thread;

/// Writes `runs` one after another to `destination`, which has as many elements.
pub fn gather<'x, T: Copy + Send + Sync + 'x>(
    mut destination: &mut [T],
    runs: impl Iterator<Item = &'x [T]>,
) {
    let bytes = size_of_val(destination);
    let piece = piece_len::<T>();
    let mut pieces: Vec<(&mut [T], &[T])> = Vec::new();
    for run in runs {
        let (of_run, rest) = destination.split_at_mut(run.len());
        destination = rest;
        pieces.extend(of_run.chunks_mut(piece).zip(run.chunks(piece)));
    }
    let threads = match bytes < LEAST_BYTES {
        true => 1,
        false => threads(),
    };
    let share = pieces.len().div_ceil(threads).max(1);
    let mut shares = pieces.chunks_mut(share);
    let own = shares.next();
    thread::scope(|scope| {
        for share in shares {
            scope.spawn(|| copy(share));
        }
        own.map(copy);
    });
}

fn copy<T: Copy>(pieces: &mut [(&mut [T], &[T])]) {
    for (destination, source) in pieces {
        destination.copy_from_slice(source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_lie_one_after_another() {
        let source = Vec::from_iter(0..5_000_000_u32);
        for cuts in [
            &[3..4, 100..4_999_999][..],
            &[0..10, 5..2_500_000, 7..7],
            &[],
        ] {
            let runs = || cuts.iter().map(|cut| &source[cut.clone()]);
            let mut found = vec![0; runs().map(<[u32]>::len).sum()];
            gather(&mut found, runs());
            assert!(found == Vec::from_iter(runs().flatten().copied()));
        }
    }
}
