//! The memory that a capture may use, and that which it keeps.

use crate::error::{ErrorKind, Outcome};
use crate::locks::lock;
use crate::scratch::Allocation;
use std::collections::HashSet;
use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The recording of calls as a graph.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Its number among those of the process, from 1.
    number: u64,
    memory: Mutex<Memory>,
    /// Whether a call was refused, so that the graph would lack it.
    has_refused: AtomicBool,
}

/// The memory that was allocated while recording. The graph uses it as long as it lives.
#[derive(Debug, Default)]
struct Memory {
    /// The addresses of allocations that are in use.
    live: HashSet<u64>,
    /// The allocations that were given back.
    kept: Vec<Allocation>,
}

impl Capture {
    pub(crate) fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self {
            number: MADE.fetch_add(1, Ordering::Relaxed) + 1,
            memory: Mutex::default(),
            has_refused: AtomicBool::new(false),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Fails unless this is the capture that may use an allocation.
    pub(crate) fn check(&self, capture: u64) -> Outcome<()> {
        match capture == self.number {
            true => Ok(()),
            false => Err(self.refuse(
                "a call with memory that the graph does not own",
                "the graph may outlive it; pass the buffer or matrix to `capture` as an operand, use its view, and \
                 prepare matrices in the closure",
            )),
        }
    }

    /// The error for a call that no graph can record.
    pub(crate) fn refuse(&self, call: &str, reason: &'static str) -> ErrorKind {
        self.has_refused.store(true, Ordering::Relaxed);
        let call = call.to_owned();
        ErrorKind::NotRecorded { call, reason }
    }

    pub(crate) fn note_allocated(&self, address: u64) {
        lock(&self.memory).live.insert(address);
    }

    /// Keeps memory for the graph instead of freeing it.
    pub(crate) fn keep(&self, allocation: Allocation) {
        let mut memory = lock(&self.memory);
        memory.live.remove(&allocation.address);
        memory.kept.push(allocation);
    }

    /// Ends the capture, when only `scratch` may still be in use: the memory that the graph uses.
    pub(crate) fn end(&self, scratch: &[u64]) -> (Vec<Allocation>, Outcome<()>) {
        let mut memory = lock(&self.memory);
        let kept = mem::take(&mut memory.kept);
        let escaped = memory.live.iter().any(|live| !scratch.contains(live));
        let ended = if escaped {
            Err(self.refuse(
                "an allocation that outlives the capture",
                "the graph would write it; make the buffer before, and pass it to `capture` as an operand",
            ))
        } else if self.has_refused.load(Ordering::Relaxed) {
            Err(self.refuse(
                "a call whose error was ignored",
                "return the error from the closure",
            ))
        } else {
            Ok(())
        };
        (kept, ended)
    }

    /// Whether `address` was allocated while recording and is in use.
    pub(crate) fn has_live(&self, address: u64) -> bool {
        lock(&self.memory).live.contains(&address)
    }
}
