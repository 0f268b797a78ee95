//! The host process around the blocks: its threads, signals, panics and forks.

#[cfg(target_os = "linux")]
mod fork;
mod left_locks;
mod message;
mod panic_hook;
mod pool;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod registers;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod trap;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "no_trap.rs"]
mod trap;
mod trier;
mod watchdog;
mod workers;

use std::sync::mpsc::channel;
use std::{io, thread};

pub use workers::MAX_WORKERS;

pub(crate) use left_locks::check_locks;
pub(crate) use panic_hook::payload_message;
pub(crate) use pool::Pool;
pub(crate) use trap::ensure_signal_stack;
pub(crate) use watchdog::{Watching, add as watch_worker, remove as forget_worker};
pub(crate) use workers::{no_threads, pool};

/// Starts a thread, and waits until it runs: a thread that starts allocates, and aborts where it cannot, which must not
/// happen in the middle of a launch.
fn start_and_wait(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (has_started, starts) = channel();
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(move || {
        has_started.send(()).unwrap_or_default();
        body();
    })?;
    starts.iter().take(1).for_each(drop);
    Ok(())
}
