//! What bulk copies cost.

use super::bulk_copy::BulkCopy;
use crate::block::{Block, Thread};
use crate::count::{Operation, Tally};
use crate::state::Piece;
use std::panic::Location;

/// The bytes of all runs.
fn bytes_of(runs: &[(usize, usize)]) -> u64 {
    runs.iter().map(|(_, bytes)| *bytes as u64).sum()
}

impl Block {
    /// Counts a copy to the shared memory of so many blocks.
    pub(super) fn count_load(
        &self,
        thread: &Thread,
        copy: &BulkCopy,
        targets: u64,
        site: &'static Location<'static>,
    ) {
        if self.recorder.is_none() {
            return;
        }
        let runs = Piece::global_runs(&copy.pieces);
        let mut tally = Tally {
            lanes: 1,
            ..Tally::default()
        };
        let bytes = copy.shared.bytes as u64;
        tally.asynchronous.bulk_bytes_read = bytes_of(&runs);
        tally.asynchronous.bulk_bytes_loaded = targets * bytes;
        tally.asynchronous.multicast_bytes = (targets - 1) * bytes;
        self.note_request(thread, Operation::BulkLoad, site, tally, &runs);
    }

    /// Counts a copy to global memory.
    pub(super) fn count_store(
        &self,
        thread: &Thread,
        copy: &BulkCopy,
        site: &'static Location<'static>,
    ) {
        if self.recorder.is_none() {
            return;
        }
        let runs = Piece::global_runs(&copy.pieces);
        let mut tally = Tally {
            lanes: 1,
            ..Tally::default()
        };
        tally.asynchronous.bulk_bytes_stored = bytes_of(&runs);
        self.note_request(thread, Operation::BulkStore, site, tally, &runs);
    }
}
