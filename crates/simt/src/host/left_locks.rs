//! Finds out whether an abandoned thread holds a lock that the whole process needs: that of a standard stream, of the
//! allocator, or of the panic hook, which is locked while a panic's message is formatted. Such a lock would stay locked,
//! so the process ends with a message instead of hanging when it next prints, allocates or sets a hook.
//!
//! A separate host thread tries to take the lock, and waits for ever if it is held. Others may hold a stream, too, for
//! as long as a launch takes. The lock is the abandoned thread's if its address is in that thread's frames, in a guard.

use super::message::{ADVICE_ON_LOCKS, Place, abort_with};
use super::trier::{ALLOCATOR, LOCKS, PANIC_HOOK, Request};
use super::workers::{self, Workers};
use crate::block::{Block, Thread};
use crate::state::Left;
use std::mem::size_of;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The most time that another thread may need to take a free lock.
const PATIENCE: Duration = Duration::from_secs(3);

/// Ends the process if `thread`, which will not run again, holds a lock that the whole process
/// needs.
#[cold]
pub(crate) fn check_locks(thread: &Thread, block: &Block) {
    let why = thread.confinement.left().unwrap_or(Left::Stuck);
    // The watchdog ends the process if this host thread does not come back.
    block.watched.while_checking_locks(|| {
        let frames = thread.confinement.frames();
        let mut locks = LOCKS.map(|lock| (lock.address)().is_some_and(|it| has(&frames, it)));
        // A thread that waits at an instruction is not in the allocator.
        locks[ALLOCATOR] = why != Left::Stuck;
        // The standard library still counts the panic of a thread that was left in one.
        locks[PANIC_HOOK] = std::thread::panicking();
        if !locks.contains(&true) {
            return;
        }
        let current = Arc::new(AtomicUsize::new(0));
        let (is_done, answers) = channel();
        let request = Request {
            locks,
            current: Arc::clone(&current),
            is_done,
        };
        let trier = workers::lock().as_ref().and_then(Workers::trier);
        let is_asked = trier.is_some_and(|trier| trier.ask(request));
        if is_asked && answers.recv_timeout(PATIENCE).is_err() {
            let lock = &LOCKS[current.load(Relaxed)];
            abort_with(format_args!(
                "{}: the thread {}, and was left where it is, with {} locked for ever, which ends the \
                 process; {}\n",
                Place(thread, block),
                why.describe(),
                lock.name,
                ADVICE_ON_LOCKS
            ));
        }
    });
}

/// Whether a word of the stack is `address`.
fn has(frames: &Range<usize>, address: usize) -> bool {
    const WORD: usize = size_of::<usize>();
    let mut words = (frames.start.next_multiple_of(WORD)..frames.end).step_by(WORD);
    words.any(|word| {
        let word = ptr::with_exposed_provenance::<usize>(word);
        // SAFETY: the stack of an abandoned thread stays mapped from the start of its frames to its base. The memory
        // comes from the system, so a volatile read of bytes that Rust may consider uninitialised returns some value.
        // A thread that the kernel has started may write there meanwhile: the value is compared and not used
        // otherwise.
        unsafe { word.read_volatile() == address }
    })
}
