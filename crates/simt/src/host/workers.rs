//! The host threads that run blocks, shared by all launches of a process.

use super::trier::Trier;
use super::{panic_hook, trap};
use crate::basics::{DefectKind, Finding};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, available_parallelism};

/// The most host threads that run blocks at once.
///
/// Each of them keeps up to 1024 stacks of two memory mappings each, and Linux gives a process 65,530.
pub const MAX_WORKERS: usize = 16;

/// The pool, and the process whose threads it has: a forked child has none of them.
pub(crate) struct Workers {
    process: u32,
    pool: Arc<ThreadPool>,
    trier: Arc<Trier>,
}

impl Workers {
    /// The thread that tries locks, if it belongs to this process.
    pub(super) fn trier(&self) -> Option<Arc<Trier>> {
        (self.process == std::process::id()).then(|| Arc::clone(&self.trier))
    }
}

/// Locked also while the process forks, and while the handlers of panics and signals are
/// installed: a child would wait for ever for an installation that another thread had begun.
static WORKERS: Mutex<Option<Workers>> = Mutex::new(None);

pub(crate) fn lock() -> MutexGuard<'static, Option<Workers>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pool of this process, whose handlers of panics and signals are installed.
pub(crate) fn pool() -> Result<Arc<ThreadPool>, Finding> {
    let process = std::process::id();
    let mut current = lock();
    panic_hook::install();
    trap::install();
    if let Some(workers) = &*current
        && workers.process == process
    {
        return Ok(Arc::clone(&workers.pool));
    }
    let pool = Arc::new(start()?);
    let trier = Trier::start().map_err(|error| no_threads(&error))?;
    let workers = Workers {
        process,
        pool: Arc::clone(&pool),
        trier: Arc::new(trier),
    };
    // To drop the parent's pool would be to talk to threads that are not there.
    mem::forget(current.replace(workers));
    Ok(pool)
}

/// Makes later launches use new threads.
pub(crate) fn replace_pool() {
    // Its threads wait for ever: a thread that was left may have lent what is local to one of them.
    mem::forget(lock().take());
}

fn start() -> Result<ThreadPool, Finding> {
    let threads = available_parallelism().map_or(1, |threads| threads.get());
    let (has_started, starts) = channel();
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.min(MAX_WORKERS))
        .thread_name(|index| format!("simt-{index}"))
        .start_handler(move |_| has_started.send(()).unwrap_or_default())
        .build()
        .map_err(|error| no_threads(&error))?;
    // A thread that starts allocates, and aborts where it cannot: not in the middle of a launch.
    // Rayon is not what waits: on a thread of another pool it would do that pool's work meanwhile,
    // such as a launch, for which this function's caller holds the lock.
    starts
        .iter()
        .take(pool.current_num_threads())
        .for_each(drop);
    Ok(pool)
}

pub(crate) fn no_threads(error: &dyn std::error::Error) -> Finding {
    let message = format!("cannot start host threads: {error}");
    Finding::without_place(DefectKind::HostResources, message)
}

/// Calls `action` on a new host thread, and waits for it.
pub(crate) fn on_new_thread<R: Send>(action: impl FnOnce() -> R + Send) -> R {
    match thread::scope(|scope| scope.spawn(action).join()) {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic),
    }
}
