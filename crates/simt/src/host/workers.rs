//! The host threads that run blocks, shared by all launches of a process.

use super::pool::Pool;
use super::trier::Trier;
use super::{panic_hook, trap};
use crate::basics::{self, DefectKind, Finding};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::available_parallelism;

/// The most host threads that run blocks at once.
///
/// Each of them keeps up to 1024 stacks of two memory mappings each, and Linux gives a process 65,530.
pub const MAX_WORKERS: usize = 16;

/// The pool, and the process whose threads it has: a forked child has none of them.
pub(crate) struct Workers {
    process: u32,
    pool: Arc<Pool>,
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
    basics::lock(&WORKERS)
}

/// The pool of this process, whose handlers of panics and signals are installed.
pub(crate) fn pool() -> Result<Arc<Pool>, Finding> {
    let process = std::process::id();
    let mut current = lock();
    panic_hook::install();
    trap::install();
    if let Some(workers) = &*current
        && workers.process == process
    {
        return Ok(Arc::clone(&workers.pool));
    }
    let trier = Trier::start().map_err(|error| no_threads(&error))?;
    let threads = available_parallelism().map_or(1, |threads| threads.get());
    let pool = Pool::start(threads.min(MAX_WORKERS)).map_err(|error| no_threads(&error))?;
    let pool = Arc::new(pool);
    let workers = Workers {
        process,
        pool: Arc::clone(&pool),
        trier: Arc::new(trier),
    };
    // Dropping the parent's pool would wait for threads that the child does not have.
    mem::forget(current.replace(workers));
    Ok(pool)
}

pub(crate) fn no_threads(error: &dyn std::error::Error) -> Finding {
    let message = format!("cannot start host threads: {error}");
    Finding::without_place(DefectKind::HostResources, message)
}
