//! Whether a thread that was left where it is holds a lock that the whole process needs: that of a
//! standard stream, or of the allocator. Nobody would ever give it back, so the process ends with a
//! message rather than hang wherever it next prints or allocates.
//!
//! A host thread of its own tries: where the lock is held, it waits for ever. A stream may be held by
//! others, too, for as long as a launch takes; it is the thread's if its address is among the thread's
//! frames, where a guard has it.

use super::message::{Place, abort_with};
use super::workers::{self, Workers};
use crate::block::{Block, Thread};
use crate::state::Left;
use std::hint::black_box;
use std::io;
use std::mem::{size_of, transmute_copy};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// So long another thread may take to get a lock that is free.
const PATIENCE: Duration = Duration::from_secs(3);

/// Allocators treat small and large sizes differently.
const SIZES: [usize; 5] = [1, 256, 8 << 10, 512 << 10, 64 << 20];

/// A lock of the whole process.
struct Lock {
    name: &'static str,
    /// Where the lock is, if it is one of a standard stream's.
    address: fn() -> Option<usize>,
    take: fn(),
}

const LOCKS: [Lock; 4] = [
    Lock {
        name: "the allocator",
        address: || None,
        take: allocate,
    },
    Lock {
        name: "standard error",
        address: || address_in(&io::stderr()),
        take: || drop(io::stderr().lock()),
    },
    Lock {
        name: "standard output",
        address: || address_in(&io::stdout()),
        take: || drop(io::stdout().lock()),
    },
    Lock {
        name: "standard input",
        address: || address_in(&io::stdin()),
        take: || drop(io::stdin().lock()),
    },
];

fn allocate() {
    for size in SIZES {
        let mut memory = Vec::<u8>::new();
        // Where the process has no such memory, its lock is free.
        let _ = memory.try_reserve_exact(size);
        black_box(&memory);
    }
}

/// The address that a handle of a standard stream is: each is a reference to the stream's lock.
fn address_in<T: 'static>(handle: &T) -> Option<usize> {
    // SAFETY: the sizes are equal, so each byte of the number is one of the handle, which has no
    // padding then: it has an address, and room for nothing else.
    (size_of::<T>() == size_of::<usize>()).then(|| unsafe { transmute_copy(handle) })
}

/// What a worker has the trier do.
struct Request {
    /// Which of [`LOCKS`] to take.
    locks: [bool; LOCKS.len()],
    /// The one that is being taken.
    current: Arc<AtomicUsize>,
    is_done: Sender<()>,
}

/// The host thread that tries locks. It ends with this.
pub(super) struct Trier(SyncSender<Request>);

impl Trier {
    /// Starts the thread, and waits until it runs: a thread that starts allocates, and aborts where it
    /// cannot, which must not be in the middle of a launch.
    pub fn start() -> io::Result<Self> {
        let (sender, receiver) = sync_channel(workers::MAX_WORKERS);
        let (has_started, starts) = channel();
        thread::Builder::new()
            .name("simt-locks".to_owned())
            .spawn(move || {
                has_started.send(()).unwrap_or_default();
                serve(&receiver);
            })?;
        starts.iter().take(1).for_each(drop);
        Ok(Self(sender))
    }
}

fn serve(requests: &Receiver<Request>) {
    for request in requests {
        for (number, lock) in LOCKS.iter().enumerate() {
            request.current.store(number, Relaxed);
            if request.locks[number] {
                (lock.take)();
            }
        }
        request.is_done.send(()).unwrap_or_default();
    }
}

/// Ends the process if `thread`, which will not run again, holds a lock that all need.
#[cold]
pub(crate) fn check_locks(thread: &Thread, block: &Block) {
    let why = thread.confinement.left().unwrap_or(Left::Stuck);
    // The watchdog ends the process if this host thread does not come back.
    block.watched.while_checking_locks(|| {
        let frames = thread.confinement.frames();
        let mut locks = LOCKS.map(|lock| (lock.address)().is_some_and(|it| has(&frames, it)));
        // A thread that waits at an instruction is not in the allocator.
        locks[0] = why != Left::Stuck;
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
        let is_asked = trier.is_some_and(|trier| trier.0.try_send(request).is_ok());
        if is_asked && answers.recv_timeout(PATIENCE).is_err() {
            let lock = &LOCKS[current.load(Relaxed)];
            abort_with(format_args!(
                "{}: the thread {}, and was left where it is, with {} locked for ever, which ends the \
                 process; {}\n",
                Place(thread, block),
                why.describe(),
                lock.name,
                ADVICE
            ));
        }
    });
}

/// What the reader of a message about such a lock may do.
pub(super) const ADVICE: &str = "a kernel must print and allocate where it has the stack for it, and \
end in time; raise `Options::stack_bytes` (`SimulatorOptions::with_stack_bytes`), or print by the device \
library";

/// Whether a word of the stack is `address`.
fn has(frames: &Range<usize>, address: usize) -> bool {
    const WORD: usize = size_of::<usize>();
    let mut words = (frames.start.next_multiple_of(WORD)..frames.end).step_by(WORD);
    words.any(|word| {
        let word = ptr::with_exposed_provenance::<usize>(word);
        // SAFETY: the stack of a thread that was left is mapped from its frames' start to its base, and
        // its frames are initialised or not, which a volatile read of memory of the system's does not
        // tell; what a thread of the kernel's writes there meanwhile is compared and nothing else.
        unsafe { word.read_volatile() == address }
    })
}
