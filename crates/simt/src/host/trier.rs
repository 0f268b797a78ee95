//! A host thread that tries the locks of the whole process: those of the standard streams, of the allocator and of
//! the panic hook. Where one is held for ever, it never answers.

use super::start_and_wait;
use std::hint::black_box;
use std::io;
use std::mem::{size_of, transmute_copy};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

/// The most requests at a time.
const REQUESTS: usize = 16;

/// Allocators treat small and large sizes differently.
const SIZES: [usize; 5] = [1, 256, 8 << 10, 512 << 10, 64 << 20];

/// A lock of the whole process.
pub(super) struct Lock {
    pub name: &'static str,
    /// The address of the lock, if it is a standard stream's.
    pub address: fn() -> Option<usize>,
    take: fn(),
}

/// The places in [`LOCKS`] of those without an address.
pub(super) const ALLOCATOR: usize = 0;
pub(super) const PANIC_HOOK: usize = 1;

pub(super) const LOCKS: [Lock; 5] = [
    Lock {
        name: "the allocator",
        address: || None,
        take: allocate,
    },
    Lock {
        name: "the panic hook",
        address: || None,
        // The standard library has no other call that waits for the hook. A hook that another thread sets between
        // the two is lost.
        take: || panic::set_hook(panic::take_hook()),
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
        // If the process has no such memory, the allocator has answered, and its lock is free.
        let _ = memory.try_reserve_exact(size);
        black_box(&memory);
    }
}

/// The address in a handle of a standard stream. Each handle is a reference to the stream's lock.
fn address_in<T: 'static>(handle: &T) -> Option<usize> {
    // SAFETY: the sizes are equal, so each byte of the number is a byte of the handle. The handle
    // holds an address and has room for nothing else, so it has no padding.
    (size_of::<T>() == size_of::<usize>()).then(|| unsafe { transmute_copy(handle) })
}

/// A worker's request to the trier.
pub(super) struct Request {
    /// The index in [`LOCKS`] of the lock to take.
    pub locks: [bool; LOCKS.len()],
    /// The index of the lock that is being taken.
    pub current: Arc<AtomicUsize>,
    pub is_done: Sender<()>,
}

/// The host thread that tries locks. Dropping this ends it.
pub(super) struct Trier(SyncSender<Request>);

impl Trier {
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let (sender, receiver) = sync_channel(REQUESTS);
        start_and_wait("simt-locks", move || serve(&receiver))?;
        Ok(Self(sender))
    }

    /// Sends the request to the thread; returns whether it will answer, provided that the locks
    /// become free.
    pub fn ask(&self, request: Request) -> bool {
        self.0.try_send(request).is_ok()
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
