//! Reports the running thread's instructions to the counters of its block.

use crate::basics::{Access, CallSite};
use crate::block::{Block, Thread, Wait};
use crate::count::{Arithmetic, Operation, Recorder, Span, Tally};
use crate::current::{line_or, try_instruction};
use crate::state::is_counting;
use std::panic::Location;

/// The number of turns of its warp that a lane waits. In the first, lanes with higher numbers may
/// still lag; in the second, every lane that runs at all has caught up.
const TURNS_TO_CATCH_UP: u32 = 2;

/// Counts `operations` arithmetic instructions of the running thread, at the caller's line.
///
/// Does nothing outside of a launch, and in launches that are not counted.
#[inline]
#[track_caller]
pub fn count_arithmetic(kind: Arithmetic, operations: u32) {
    if is_counting() {
        note_arithmetic(kind, operations, line_or(Location::caller()));
    }
}

#[cold]
#[inline(never)]
fn note_arithmetic(kind: Arithmetic, operations: u32, site: CallSite) {
    for _ in 0..operations {
        note(Operation::Arithmetic(kind), 0, site, Some(Span::NONE));
    }
}

/// Counts a prefetch by the running thread, at the caller's line.
///
/// It counts as a request and no more, for there is no cache. Does nothing outside of a launch, and in launches that
/// are not counted.
#[inline]
#[track_caller]
pub fn count_prefetch() {
    if is_counting() {
        note(
            Operation::Prefetch,
            0,
            line_or(Location::caller()),
            Some(Span::NONE),
        );
    }
}

/// Counts an access.
///
/// The two halves of an asynchronous copy are counted where it is issued.
#[inline]
pub(super) fn note_access(access: &Access, site: CallSite) {
    if is_counting()
        && let Some(operation) = Operation::of_access(access.space, access.kind)
    {
        let span = Span::new(access.address(), access.bytes);
        note(operation, access.view_base, site, Some(span));
    }
}

/// Counts an asynchronous copy of `source_bytes` bytes, zero-filled to `bytes`.
#[inline]
pub(super) fn note_async_copy(
    (destination, bytes): (usize, usize),
    (source, source_bytes): (usize, usize),
    site: CallSite,
) {
    if is_counting() {
        let read = (source_bytes > 0).then(|| Span::new(source, source_bytes));
        note(Operation::AsyncCopyRead, 0, site, read);
        let written = Some(Span::new(destination, bytes));
        note(Operation::AsyncCopyWrite, 0, site, written);
    }
}

/// Counts one thread's part of a request. Without a span, the thread takes part but accesses
/// nothing. It is cold, so that kernels that are not counted keep their values in registers.
#[cold]
#[inline(never)]
fn note(operation: Operation, view: usize, site: CallSite, span: Option<Span>) {
    try_instruction(Some(site), |thread, block| {
        if let Some(recorder) = &block.recorder {
            let lane = thread.lane_bit();
            let is_far_ahead = recorder.record(&thread.position, operation, view, site, span);
            if is_far_ahead && !block.is_abandoned() {
                block.let_others_catch_up(recorder, thread, lane, site);
            }
        }
    });
}

impl Block {
    /// The kind of operation under which a warp-wide operation is counted, if the launch is counted.
    pub fn counted_collective(&self, kind: &str) -> Option<Operation> {
        self.recorder.as_ref()?;
        Operation::of_collective(kind)
    }

    /// Counts the running thread's part of a barrier or a warp-wide operation.
    pub fn note_operation(&self, thread: &Thread, operation: Operation, site: CallSite) {
        if let Some(recorder) = &self.recorder {
            recorder.record(&thread.position, operation, 0, site, Some(Span::NONE));
        }
    }

    /// Counts a complete request, with the parts of global memory that it reads or writes.
    pub fn note_request(
        &self,
        thread: &Thread,
        operation: Operation,
        site: CallSite,
        tally: Tally,
        runs: &[(usize, usize)],
    ) {
        if let Some(recorder) = &self.recorder {
            recorder.add(&thread.position, operation, site, tally);
            recorder.add_footprint(runs, operation == Operation::BulkStore);
        }
    }

    /// Notes that the lanes in `gathered` of a warp have converged. If no other lanes are left, this completes every
    /// request that was begun.
    pub fn note_gathered(&self, warp: usize, gathered: u64) {
        if let Some(recorder) = &self.recorder
            && gathered == self.warps[warp].active()
        {
            recorder.complete(warp, gathered);
        }
    }

    /// Lets lagging lanes catch up with a thread whose many pending accesses cost memory, and then completes the
    /// requests.
    #[cold]
    fn let_others_catch_up(&self, recorder: &Recorder, thread: &Thread, lane: u64, site: CallSite) {
        let index = thread.position.warp as usize;
        let warp = &self.warps[index];
        let paused_at = recorder.pause(index, lane);
        for _ in 0..TURNS_TO_CATCH_UP {
            if recorder.paused(index) | self.waiting_lanes(index) == warp.active() {
                recorder.complete(index, warp.active());
                return;
            }
            self.note_progress();
            warp.yielded.set(warp.yielded.get() | lane);
            thread.wait_for(Wait::Yield, site);
            if recorder.completions(index) != paused_at {
                return;
            }
        }
        // The others spin, perhaps for this very lane.
        recorder.go_on(index, lane);
    }

    /// The lanes of a warp that wait at a barrier or for other lanes.
    fn waiting_lanes(&self, warp: usize) -> u64 {
        let first = self.first_thread_of_warp(warp);
        let lanes = self.warps[warp].existing.count_ones() as usize;
        self.threads[first..first + lanes]
            .iter()
            .filter(|thread| {
                matches!(
                    thread.wait.get(),
                    Wait::Barrier(_) | Wait::Collective { .. }
                )
            })
            .fold(0, |mask, thread| mask | thread.lane_bit())
    }
}
