//! Bank conflicts of shared memory.
//!
//! Shared memory has 32 banks, and word `w` of 4 bytes lies in bank `w % 32`. In one pass (a
//! wavefront) each bank serves one word, to every lane that requests it: lanes that share a word do
//! not conflict (broadcast, multicast), nor do several parts of one word. Only atomic updates of a
//! shared word are serialised.
//!
//! A request of more than 4 bytes for each lane takes several passes in any case: half a warp at a
//! time for 8 bytes, a quarter for 16 (CUDA C++ Programming Guide, "Shared Memory" of compute
//! capability 5.x; "Shared Memory and Memory Banks" of the Best Practices Guide). In a load,
//! neighbouring halves or quarters share a pass if the lanes of the whole warp share addresses in
//! pairs: each lane with the lane whose number differs in bit 0, or each with the one that differs
//! in bit 1. Lane orders such as those of the maxas assembler's SGEMM rely on that. Stores never
//! share passes.
//!
//! None of the last paragraph is documented. It agrees with all address patterns that were measured
//! on an H200, `tests/measured/shared_wavefronts_h200.txt`.
//!
//! A warp of 64 lanes counts as two of 32.

use super::operation::Operation;
use super::span::Span;
use super::tally::SharedTally;

/// Banks of shared memory.
const BANKS: usize = 32;

/// Bytes of a bank's word.
const WORD_BYTES: u64 = 4;

/// The most lanes that one request serves.
const GROUP_LANES: usize = 32;

/// One lane's place in its group of 32, and the bytes that it requests.
type Lane = (usize, Span);

/// The cost of one request. `lanes` are the lanes' numbers in the warp, rising, and their spans.
pub(super) fn serve(operation: Operation, lanes: &[Lane]) -> SharedTally {
    let mut tally = SharedTally {
        requests: 1,
        bytes_asked: lanes.iter().map(|(_, span)| span.bytes()).sum(),
        ..SharedTally::default()
    };
    for group in lanes.chunk_by(|left, right| left.0 / GROUP_LANES == right.0 / GROUP_LANES) {
        serve_group(&mut tally, operation, group);
    }
    tally
}

/// Adds the passes of up to 32 lanes.
fn serve_group(tally: &mut SharedTally, operation: Operation, group: &[Lane]) {
    let widest = group.iter().map(|(_, span)| span.bytes()).max();
    // Lanes that are served together: all, half or a quarter of the group.
    let mut phase_lanes = match widest.unwrap_or(0) {
        0..=4 => GROUP_LANES,
        5..=8 => GROUP_LANES / 2,
        _ => GROUP_LANES / 4,
    };
    let is_load = operation == Operation::SharedLoad;
    if is_load && phase_lanes < GROUP_LANES && (shares_words(group, 1) || shares_words(group, 2)) {
        phase_lanes *= 2;
    }
    let shares_word = operation != Operation::SharedAtomic;
    for phase in group.chunk_by(|left, right| left.0 / phase_lanes == right.0 / phase_lanes) {
        tally.ideal_wavefronts += 1;
        tally.wavefronts += passes(phase, shares_word);
    }
}

/// Whether each lane requests the same address as the lane whose number differs in `bit`, where
/// that lane takes part.
fn shares_words(lanes: &[Lane], bit: usize) -> bool {
    lanes.iter().all(|(lane, span)| {
        lanes
            .iter()
            .find(|(other, _)| *other == lane ^ bit)
            .is_none_or(|(_, other)| other.first() == span.first())
    })
}

/// The most words of one bank. A word that several lanes request counts once if they can share it.
fn passes(lanes: &[Lane], shares_word: bool) -> u64 {
    let words = lanes
        .iter()
        .flat_map(|(_, span)| span.first() / WORD_BYTES..=span.last() / WORD_BYTES);
    let mut words: Vec<u64> = words.collect();
    if shares_word {
        words.sort_unstable();
        words.dedup();
    }
    let mut of_bank = [0_u64; BANKS];
    for word in words {
        of_bank[(word % BANKS as u64) as usize] += 1;
    }
    of_bank.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Operation, Span, serve};

    /// Actual and ideal passes of a warp's load of `bytes` bytes per lane.
    fn wavefronts(lanes: usize, bytes: usize, address: impl Fn(usize) -> usize) -> (u64, u64) {
        let lanes: Vec<_> = (0..lanes)
            .map(|lane| (lane, Span::new(address(lane), bytes)))
            .collect();
        let tally = serve(Operation::SharedLoad, &lanes);
        (tally.wavefronts, tally.ideal_wavefronts)
    }

    /// Usual patterns; only the second and the third have conflicts.
    #[test]
    fn usual_patterns() {
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
