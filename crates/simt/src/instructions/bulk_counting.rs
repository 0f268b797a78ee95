//! The costs of bulk copies.

use super::bulk_copy::BulkCopy;
use crate::basics::CallSite;
use crate::block::{Block, Thread};
use crate::count::{AsynchronousTally, Operation, Tally};
use crate::state::Piece;

impl Block {
    /// Counts a copy to the shared memory of one or more blocks.
    pub(super) fn count_load(
        &self,
        thread: &Thread,
        copy: &BulkCopy,
        targets: u64,
        site: CallSite,
    ) {
        let shared_bytes = copy.shared.bytes as u64;
        self.count_copy(thread, copy, Operation::BulkLoad, site, |bytes| {
            AsynchronousTally {
                bulk_bytes_read: bytes,
                bulk_bytes_loaded: targets * shared_bytes,
                multicast_bytes: (targets - 1) * shared_bytes,
                ..AsynchronousTally::default()
            }
        });
    }

    /// Counts a copy to global memory.
    pub(super) fn count_store(&self, thread: &Thread, copy: &BulkCopy, site: CallSite) {
        self.count_copy(thread, copy, Operation::BulkStore, site, |bytes| {
            AsynchronousTally {
                bulk_bytes_stored: bytes,
                ..AsynchronousTally::default()
            }
        });
    }

    /// Counts a copy. `tally` gives the engine's work for the copy's bytes of global memory.
    fn count_copy(
        &self,
        thread: &Thread,
        copy: &BulkCopy,
        operation: Operation,
        site: CallSite,
        tally: impl FnOnce(u64) -> AsynchronousTally,
    ) {
        if self.recorder.is_none() {
            return;
        }
        let runs = Piece::global_runs(&copy.pieces);
        let global_bytes = runs.iter().map(|(_, bytes)| *bytes as u64).sum();
        let tally = Tally {
            lanes: 1,
            asynchronous: tally(global_bytes),
            ..Tally::default()
        };
        self.note_request(thread, operation, site, tally, &runs);
    }
}
