//! Bank conflicts of shared memory.
//!
//! Shared memory has 32 banks, and word `w` of 4 bytes lies in bank `w % 32`. In one pass
//! (a wavefront) each bank serves one word, to every lane that asks for it: lanes that share a
//! word do not conflict (broadcast, multicast), nor do several parts of one word.
//!
//! A request of more than 4 bytes for each lane takes several passes in any case: half a warp at
//! a time for 8 bytes, a quarter for 16 (CUDA C++ Programming Guide, "Shared Memory" of compute
//! capability 5.x; "Shared Memory and Memory Banks" of the Best Practices Guide). Neighbouring
//! halves or quarters share a pass where lanes share words pairwise: if each lane asks for the
//! same address as the lane whose number differs in bit 0, or each as the one that differs in
//! bit 1. That is not documented; it is what lane orders such as those of the maxas assembler's
//! SGEMM rely on.
//!
//! A warp of 64 lanes goes as two of 32.

use super::recorder::Span;
use super::tally::SharedTally;

/// Banks of shared memory.
const BANKS: usize = 32;

/// Bytes of a bank's word.
const WORD_BYTES: u64 = 4;

/// Lanes that one request is served for at most.
const GROUP_LANES: usize = 32;

/// One lane's place in its group of 32, and what it asks for.
type Lane = (usize, Span);

/// The cost of one request. `lanes` are the lanes' numbers in the warp, rising, and their spans.
pub(super) fn serve(lanes: &[Lane]) -> SharedTally {
    let mut tally = SharedTally {
        requests: 1,
        bytes_asked: lanes.iter().map(|(_, span)| span.bytes()).sum(),
        ..SharedTally::default()
    };
    for group in lanes.chunk_by(|left, right| left.0 / GROUP_LANES == right.0 / GROUP_LANES) {
        let widest = group.iter().map(|(_, span)| span.bytes()).max();
        // Lanes that are served together: all, half or a quarter of the group.
        let phase_lanes = match widest.unwrap_or(0) {
            0..=4 => GROUP_LANES,
            5..=8 => GROUP_LANES / 2,
            _ => GROUP_LANES / 4,
        };
        let pair_lanes = (2 * phase_lanes).min(GROUP_LANES);
        for pair in group.chunk_by(|left, right| left.0 / pair_lanes == right.0 / pair_lanes) {
            serve_pair(&mut tally, pair, phase_lanes);
        }
    }
    tally
}

/// Adds the passes of two neighbouring phases, which are one where the lanes allow it.
fn serve_pair(tally: &mut SharedTally, pair: &[Lane], phase_lanes: usize) {
    let phases = pair.chunk_by(|left, right| left.0 / phase_lanes == right.0 / phase_lanes);
    let (mut ideal, mut wavefronts) = (0, 0);
    for phase in phases {
        ideal += 1;
        wavefronts += passes(phase);
    }
    if ideal == 2 && (shares_words(pair, 1) || shares_words(pair, 2)) {
        ideal = 1;
        wavefronts = wavefronts.min(passes(pair));
    }
    tally.ideal_wavefronts += ideal;
    tally.wavefronts += wavefronts;
}

/// Whether each lane asks for the same address as the lane whose number differs in `bit`, as far
/// as that one is there.
fn shares_words(lanes: &[Lane], bit: usize) -> bool {
    lanes.iter().all(|(lane, span)| {
        lanes
            .iter()
            .find(|(other, _)| *other == lane ^ bit)
            .is_none_or(|(_, other)| other.first() == span.first())
    })
}

/// The most distinct words of one bank.
fn passes(lanes: &[Lane]) -> u64 {
    let words = lanes
        .iter()
        .flat_map(|(_, span)| span.first() / WORD_BYTES..=span.last() / WORD_BYTES);
    let mut distinct: Vec<u64> = words.collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut of_bank = [0_u64; BANKS];
    for word in distinct {
        of_bank[(word % BANKS as u64) as usize] += 1;
    }
    of_bank.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Span, serve};

    /// Actual and ideal passes of a warp whose lanes ask for `bytes` bytes each.
    fn wavefronts(lanes: usize, bytes: usize, address: impl Fn(usize) -> usize) -> (u64, u64) {
        let lanes: Vec<_> = (0..lanes)
            .map(|lane| (lane, Span::new(address(lane), bytes)))
            .collect();
        let tally = serve(&lanes);
        (tally.wavefronts, tally.ideal_wavefronts)
    }

    /// The cases of seed 003: only its second and third figure have conflicts.
    #[test]
    fn cases_of_seed_003() {
        assert_eq!(wavefronts(32, 4, |lane| 4 * lane), (1, 1));
        for odd in [3, 5, 17, 33] {
            assert_eq!(wavefronts(32, 4, |lane| 4 * odd * lane), (1, 1));
        }
        assert_eq!(wavefronts(32, 4, |lane| 4 * (lane * 11 % 32)), (1, 1));
        assert_eq!(wavefronts(32, 4, |lane| 4 * 2 * lane), (2, 1));
        assert_eq!(wavefronts(32, 4, |lane| 4 * 8 * lane), (8, 1));
        assert_eq!(wavefronts(32, 4, |lane| 4 * 32 * lane), (32, 1));
        assert_eq!(wavefronts(32, 4, |_| 4 * 178), (1, 1));
        assert_eq!(wavefronts(32, 4, |lane| 4 * (lane / 4 * 5)), (1, 1));
    }

    #[test]
    fn parts_of_a_word_do_not_conflict() {
        assert_eq!(wavefronts(32, 1, |lane| lane), (1, 1));
        assert_eq!(wavefronts(32, 2, |lane| 2 * lane), (1, 1));
    }

    #[test]
    fn wide_accesses_take_their_phases() {
        assert_eq!(wavefronts(32, 8, |lane| 8 * lane), (2, 2));
        assert_eq!(wavefronts(32, 16, |lane| 16 * lane), (4, 4));
        assert_eq!(wavefronts(32, 8, |lane| 16 * lane), (4, 2));
        assert_eq!(wavefronts(32, 16, |lane| 32 * lane), (8, 4));
        assert_eq!(wavefronts(16, 8, |lane| 8 * lane), (1, 1));
    }

    #[test]
    fn lanes_that_share_words_share_a_pass() {
        assert_eq!(wavefronts(32, 8, |_| 0), (1, 1));
        assert_eq!(wavefronts(32, 16, |_| 0), (2, 2));
        // The coarsened product: each half of the warp reads 8 vectors, each by two neighbours.
        assert_eq!(wavefronts(32, 16, |lane| 16 * (lane / 2 % 8)), (2, 2));
    }

    #[test]
    fn a_warp_of_64_is_two_of_32() {
        assert_eq!(wavefronts(64, 4, |lane| 4 * lane), (2, 2));
        assert_eq!(wavefronts(64, 4, |lane| 8 * lane), (4, 2));
    }
}
