//! Copies by several threads, on a simulator, which copies slices directly elsewhere.

use super::*;
use crate::buffer::Buffer;
use crate::device::Device;

/// More elements than a thread copies at once, and not a whole number of pieces.
const ELEMENTS: usize = 5_000_003;

fn lanes() -> Lanes<u32> {
    Lanes {
        lanes: iter::repeat_with(Lane::default).take(3).collect(),
    }
}

/// Runs of a slice of [`ELEMENTS`], and the number of their elements.
fn cuts() -> Vec<(Vec<Range<usize>>, usize)> {
    let even = (0..ELEMENTS)
        .step_by(1000)
        .map(|start| start..(start + 999).min(ELEMENTS));
    let cuts = [
        vec![0..1, 1..ELEMENTS],
        vec![3..4, 100..4_999_999],
        vec![5..6, 9..9, 10..20],
        even.collect(),
        vec![],
    ];
    let len = |cuts: &Vec<Range<usize>>| cuts.iter().map(Range::len).sum();
    cuts.map(|it| (it.clone(), len(&it))).into()
}

#[test]
fn runs_arrive_one_after_another() {
    let device = Device::simulator();
    let source = Vec::from_iter(0..ELEMENTS as u32);
    let mut lanes = lanes();
    for (cuts, len) in cuts() {
        let mut found = Buffer::zeroed(&device, len).unwrap();
        let runs = || cuts.iter().map(|cut| &source[cut.clone()]);
        lanes.upload(found.view_mut(), runs()).unwrap();
        let found = found.to_vec().unwrap();
        assert!(found.iter().eq(runs().flatten()), "{len}");
    }
}

#[test]
fn runs_are_filled_one_after_another() {
    let device = Device::simulator();
    let source = device.upload(&Vec::from_iter(1..=ELEMENTS as u32)).unwrap();
    let mut lanes = lanes();
    for (cuts, len) in cuts() {
        let mut found = vec![0; ELEMENTS];
        let mut rest = &mut found[..];
        let mut next = 0;
        let runs = cuts.iter().map(|cut| {
            let (_, from_run) = std::mem::take(&mut rest).split_at_mut(cut.start - next);
            let (run, after) = from_run.split_at_mut(cut.len());
            (rest, next) = (after, cut.end);
            run
        });
        let source = source.view().part(..len).unwrap();
        lanes.download(source, runs).unwrap();
        let filled: usize = found.iter().filter(|it| **it > 0).count();
        assert_eq!(filled, len);
        let written = cuts.iter().flat_map(|cut| &found[cut.clone()]);
        assert!(written.copied().eq(1..=len as u32));
    }
}

/// The page-locked memory of one copy serves the next, which waits for a copy in flight.
#[test]
fn functions_read_and_write_pieces() {
    let device = Device::simulator();
    let mut lanes = lanes();
    for len in [0, 1, ELEMENTS, 70] {
        let mut buffer = Buffer::zeroed(&device, len).unwrap();
        let read = |first: usize, piece: &mut [u32]| {
            piece
                .iter_mut()
                .zip(first..)
                .for_each(|(it, index)| *it = index as u32);
            Ok::<_, Error>(())
        };
        lanes
            .upload_read("upload", buffer.view_mut(), read)
            .unwrap();
        let mut next = 0;
        let write = |first: usize, piece: &[u32]| {
            assert_eq!(first, next);
            next += piece.len();
            assert!(piece.iter().copied().eq(first as u32..next as u32));
            Ok::<_, Error>(())
        };
        lanes
            .download_written("download", buffer.view(), write)
            .unwrap();
        assert_eq!(next, len);
    }
}
