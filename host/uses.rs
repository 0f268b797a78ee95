//! The order of work in several streams: which streams use an allocation.
//!
//! Work in one stream runs in the order of submission. Work in two streams is ordered where it conflicts: before a
//! call submits work that reads memory, its stream waits for the streams that have written it; before one that writes,
//! for all streams that have used it. A stream waits for all earlier work of another one, by an event.
//!
//! Borrows make this enough. Elements are written through a mutable borrow, so no other call uses the same elements
//! until the writing call returns, and what it submitted is then covered by any event. Two calls at once can only read
//! the same elements, or use different elements of an allocation.
//!
//! Recorded work is ordered when the graph is launched. While recording, it is only checked to use nothing but the
//! graph's operands and memory that was allocated since the recording began.

use crate::backend::Backend;
use crate::error::Outcome;
use crate::stream_set::{StreamNumber, StreamSet};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The streams that have used an allocation.
///
/// Calls that use the same elements and may conflict are ordered by the borrows, and so are their accesses to this
/// record; others only add to it.
#[derive(Debug)]
pub(crate) struct Uses {
    /// The size of the allocation.
    bytes: usize,
    /// The streams that have written it since it was last written as a whole, including that write's stream.
    writers: AtomicU64,
    /// Streams that have read it since, and are ordered after that writing.
    readers: AtomicU64,
    /// Whether a part was written since. Then readers need not be ordered after all writers.
    has_written_parts: AtomicBool,
    /// The capture that may use it; 0 if none.
    capture: AtomicU64,
    /// Whether the caller orders the work that uses it.
    is_callers: bool,
}

/// The record of all memory that callers lend without one. No capture may use it: it is lent only while submitted work
/// runs, and a graph runs later.
pub(crate) static CALLERS: Uses = Uses {
    is_callers: true,
    ..Uses::none()
};

impl Uses {
    /// The record of an allocation of `bytes` bytes that was made in `stream`.
    pub(crate) fn new(stream: StreamNumber, bytes: usize) -> Self {
        Self {
            bytes,
            writers: AtomicU64::new(StreamSet::from(stream).bits()),
            ..Self::none()
        }
    }

    /// The record of memory that no stream has used, and which has no views.
    pub(crate) const fn none() -> Self {
        Self {
            bytes: 0,
            writers: AtomicU64::new(0),
            readers: AtomicU64::new(0),
            has_written_parts: AtomicBool::new(false),
            capture: AtomicU64::new(0),
            is_callers: false,
        }
    }

    /// Lets the capture with this number record calls that use the allocation.
    pub(crate) fn permit(&self, capture: u64) {
        self.capture.store(capture, Relaxed);
    }

    /// The size of the allocation.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn writers(&self) -> StreamSet {
        StreamSet::of_bits(self.writers.load(Acquire))
    }

    fn readers(&self) -> StreamSet {
        StreamSet::of_bits(self.readers.load(Acquire))
    }

    /// Orders later work of `stream` that reads elements after the work that writes them.
    pub(crate) fn order_reads(&self, stream: &dyn Backend) -> Outcome<()> {
        match stream.capture() {
            Some(capture) => capture.check(self.capture.load(Relaxed)),
            None if self.is_callers => Ok(()),
            None => self.order_reads_by(stream.stream(), |others| stream.wait_for(others)),
        }
    }

    /// [`order_reads`](Self::order_reads), with the call that makes the stream wait.
    pub(crate) fn order_reads_by<E>(
        &self,
        own: StreamNumber,
        wait: impl FnOnce(StreamSet) -> Result<(), E>,
    ) -> Result<(), E> {
        let others = self.writers().without(own);
        let is_ordered = self.readers().contains(own) && !self.has_written_parts.load(Relaxed);
        if self.writers() == own.into() || is_ordered {
            return Ok(());
        }
        if !others.is_empty() {
            wait(others)?;
        }
        // After the wait, because another thread of this stream that reads the record relies on it.
        self.readers.fetch_or(StreamSet::from(own).bits(), Release);
        Ok(())
    }

    /// Orders later work of `stream` that writes elements after all work that uses them. If it writes all elements of
    /// the allocation, `is_whole`, the record starts anew.
    pub(crate) fn order_writes(&self, stream: &dyn Backend, is_whole: bool) -> Outcome<()> {
        let wait = |others| stream.wait_for(others);
        match stream.capture() {
            Some(capture) => capture.check(self.capture.load(Relaxed)),
            None if self.is_callers => Ok(()),
            None => self.order_writes_by(stream.stream(), is_whole, wait),
        }
    }

    /// [`order_writes`](Self::order_writes), with the call that makes the stream wait.
    pub(crate) fn order_writes_by<E>(
        &self,
        own: StreamNumber,
        is_whole: bool,
        wait: impl FnOnce(StreamSet) -> Result<(), E>,
    ) -> Result<(), E> {
        // Before the sets are read: a reader of other elements may be adding itself, and must not count as ordered
        // after this write.
        if !is_whole {
            self.has_written_parts.store(true, Relaxed);
        }
        let others = self.writers().and(self.readers()).without(own);
        if !others.is_empty() {
            wait(others)?;
        }
        let own = StreamSet::from(own).bits();
        if is_whole {
            // No other call uses the allocation: all its elements are borrowed mutably.
            self.writers.store(own, Relaxed);
            self.readers.store(0, Relaxed);
            self.has_written_parts.store(false, Relaxed);
        } else {
            self.writers.fetch_or(own, Release);
        }
        Ok(())
    }
}
