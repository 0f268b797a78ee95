//! The costs of one request to global or shared memory.

use super::Lanes;
use simt::{GlobalTally, Operation, SharedTally};
use std::collections::BTreeSet;

pub fn reads_global(operation: Operation) -> bool {
    let reads = [
        Operation::GlobalLoad,
        Operation::GlobalAtomic,
        Operation::AsyncCopyRead,
    ];
    reads.contains(&operation)
}

pub fn writes_global(operation: Operation) -> bool {
    [Operation::GlobalStore, Operation::GlobalAtomic].contains(&operation)
}

/// The distinct pieces of this many bytes that the lanes' requests touch.
pub fn pieces(lanes: &Lanes, bytes: usize) -> BTreeSet<usize> {
    lanes
        .values()
        .flat_map(|requested| requested.clone())
        .map(|byte| byte / bytes)
        .collect()
}

fn requested(lanes: &Lanes) -> u64 {
    lanes.values().map(|bytes| bytes.len() as u64).sum()
}

pub fn add_global(tally: &mut GlobalTally, operation: Operation, lanes: &Lanes) {
    if reads_global(operation) || writes_global(operation) {
        tally.requests += 1;
        tally.sectors += pieces(lanes, 32).len() as u64;
        tally.lines += pieces(lanes, 128).len() as u64;
        tally.bytes_asked += requested(lanes);
        tally.bytes_distinct += pieces(lanes, 1).len() as u64;
    }
}

pub fn add_shared(tally: &mut SharedTally, operation: Operation, lanes: &Lanes) {
    let is_shared = [
        Operation::SharedLoad,
        Operation::SharedStore,
        Operation::SharedAtomic,
        Operation::AsyncCopyWrite,
    ];
    if !is_shared.contains(&operation) {
        return;
    }
    tally.requests += 1;
    tally.bytes_asked += requested(lanes);
    // A warp of 64 lanes is served as two halves.
    for first in [0, 32] {
        let half = (0..32).filter_map(|lane| Some((lane, lanes.get(&(first + lane))?.clone())));
        add_warp_of_32(tally, operation, &half.collect());
    }
}

fn add_warp_of_32(tally: &mut SharedTally, operation: Operation, lanes: &Lanes) {
    let Some(bytes) = lanes.values().next().map(|bytes| bytes.len()) else {
        return;
    };
    // All lanes, half a warp or a quarter.
    let parts: Vec<Vec<usize>> = match bytes {
        1 | 2 | 4 => vec![(0..32).collect()],
        8 => vec![(0..16).collect(), (16..32).collect()],
        16 => (0..4)
            .map(|part| (8 * part..8 * part + 8).collect())
            .collect(),
        other => panic!("no lane requests {other} bytes"),
    };
    let is_pairwise = |bit: usize| {
        lanes.iter().all(|(lane, bytes)| {
            let other = lanes.get(&(lane ^ bit));
            other.is_none_or(|other| other.start == bytes.start)
        })
    };
    let shares = operation == Operation::SharedLoad && (is_pairwise(1) || is_pairwise(2));
    let served_together: Vec<Vec<usize>> = match shares {
        true => parts.chunks(2).map(<[_]>::concat).collect(),
        false => parts,
    };
    for part in served_together {
        let words: Vec<usize> = part
            .iter()
            .filter_map(|lane| lanes.get(lane))
            .flat_map(|bytes| bytes.start / 4..bytes.end.div_ceil(4))
            .collect();
        if !words.is_empty() {
            tally.ideal_wavefronts += 1;
            tally.wavefronts += passes(words, operation == Operation::SharedAtomic);
        }
    }
}

/// Simulates the passes through shared memory. In each, a bank serves one word: to every lane that requests it, or one
/// lane's atomic update.
fn passes(mut waiting: Vec<usize>, is_atomic: bool) -> u64 {
    let mut passes = 0;
    while !waiting.is_empty() {
        let mut word_of_bank = [None; 32];
        waiting.retain(|word| {
            let served = &mut word_of_bank[word % 32];
            match *served {
                None => *served = Some(*word),
                Some(other) if is_atomic || other != *word => return true,
                Some(_) => {}
            }
            false
        });
        passes += 1;
    }
    passes
}
