//! The watchdog's record of one worker.

use super::host_thread::HostThread;
use super::progress::NEVER;
use super::watch::{begin_care, end_care};
use crate::basics::lock;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

/// The watchdog's record of one worker. The watchdog writes `stop_at`, `doomed_at` and
/// `waits_for_host`, both write `is_careful`, and the worker writes everything else.
pub(crate) struct Watched {
    host_thread: HostThread,
    /// The time limit in nanoseconds; 0 while no block runs or no limit holds.
    limit: AtomicU64,
    /// A count of blocks started and of threads started or exited.
    progress: AtomicU64,
    /// The progress at which the block is to stop.
    stop_at: AtomicU64,
    /// The progress at which the block has not stopped, though it was told to.
    doomed_at: AtomicU64,
    /// Whether the block waited for the host then.
    waits_for_host: AtomicBool,
    /// Whether the worker checks if an abandoned thread holds a lock.
    is_checking_locks: AtomicBool,
    /// Whether each access looks at `stop_at`.
    is_careful: AtomicBool,
    /// Nanoseconds that blocks have slept because their threads only yield.
    slept: AtomicU64,
    /// Whether the block's threads only yield.
    is_idle: AtomicBool,
    /// The launch of the block.
    launch: AtomicUsize,
    block: AtomicU64,
    kernel: Mutex<String>,
}

impl Watched {
    /// The worker of the calling host thread.
    pub fn new() -> Self {
        Self {
            host_thread: HostThread::current(),
            limit: AtomicU64::new(0),
            progress: AtomicU64::new(0),
            stop_at: AtomicU64::new(NEVER),
            doomed_at: AtomicU64::new(NEVER),
            waits_for_host: AtomicBool::new(false),
            is_checking_locks: AtomicBool::new(false),
            is_careful: AtomicBool::new(false),
            slept: AtomicU64::new(0),
            is_idle: AtomicBool::new(false),
            launch: AtomicUsize::new(0),
            block: AtomicU64::new(0),
            kernel: Mutex::default(),
        }
    }

    /// Begins a block; `launch` is unique to the launch.
    pub fn begin(&self, limit: Option<Duration>, launch: usize, kernel: &str, block: u64) {
        self.end_care();
        self.is_idle.store(false, Relaxed);
        self.block.store(block, Relaxed);
        if self.launch.swap(launch, Relaxed) != launch {
            kernel.clone_into(&mut lock(&self.kernel));
        }
        self.note_progress();
        let limit = limit.map_or(0, |limit| limit.as_nanos().clamp(1, u64::MAX.into()) as u64);
        self.limit.store(limit, Relaxed);
    }

    /// Notes the end of the block.
    pub fn end(&self) {
        self.end_care();
        self.limit.store(0, Relaxed);
        self.note_progress();
    }

    /// Calls `action` while the worker has no block.
    pub fn between_blocks(&self, action: impl FnOnce()) {
        let limit = self.limit.swap(0, Relaxed);
        action();
        self.limit.store(limit, Relaxed);
    }

    /// Notes that a thread has started, exited or been cut off.
    #[inline]
    pub fn note_progress(&self) {
        // Only the worker writes it.
        self.progress
            .store(self.progress.load(Relaxed) + 1, Relaxed);
    }

    /// Notes whether the threads of the block only yield.
    pub fn set_idle(&self, is_idle: bool) {
        self.is_idle.store(is_idle, Relaxed);
    }

    /// Adds `time`, for which the worker has slept because the threads of its block only yield.
    pub fn note_slept(&self, time: Duration) {
        self.slept.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// Whether the block's time is up.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.stop_at.load(Relaxed) == self.progress.load(Relaxed)
    }

    /// Notes, in a signal handler, the stack pointer at which the block was interrupted. Returns
    /// whether the frame is the looping function's rather than a callee's: the shallowest of many
    /// samples.
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub fn is_looping_frame(&self, stack: usize) -> bool {
        self.host_thread.samples.add(self.progress(), stack)
    }

    /// The worker's host thread.
    pub fn host_thread(&self) -> &HostThread {
        &self.host_thread
    }

    /// The time limit in nanoseconds; 0 while no block runs or no limit holds.
    pub fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// A count of blocks started and of threads started or exited.
    pub fn progress(&self) -> u64 {
        self.progress.load(Relaxed)
    }

    /// Whether the block's threads only yield.
    pub fn is_idle(&self) -> bool {
        self.is_idle.load(Relaxed)
    }

    /// The number of the block's launch.
    pub fn launch(&self) -> usize {
        self.launch.load(Relaxed)
    }

    /// The number of the block.
    pub fn block(&self) -> u64 {
        self.block.load(Relaxed)
    }

    /// Calls `action` with the name of the block's kernel. Signal handlers and the watchdog call it, so
    /// it waits for no lock.
    pub fn with_kernel<R>(&self, action: impl FnOnce(&str) -> R) -> R {
        match self.kernel.try_lock() {
            Ok(kernel) => action(&kernel),
            Err(TryLockError::Poisoned(kernel)) => action(&kernel.into_inner()),
            Err(TryLockError::WouldBlock) => action("(its name is being written)"),
        }
    }

    /// Makes the block stop if it is still at this progress.
    pub fn stop_at(&self, progress: u64) {
        self.stop_at.store(progress, Relaxed);
        if !self.is_careful.swap(true, Relaxed) {
            begin_care();
        }
    }

    /// Condemns the process to end, because the block is still at this progress long after it was told to stop;
    /// `waits_for_host` tells whether it waits for the host.
    pub fn doom(&self, progress: u64, waits_for_host: bool) {
        self.waits_for_host.store(waits_for_host, Relaxed);
        self.doomed_at.store(progress, Release);
    }

    /// If the process is to end because the block does not stop: whether it waits for the host.
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub fn doomed(&self) -> Option<bool> {
        let is_doomed =
            self.doomed_at.load(std::sync::atomic::Ordering::Acquire) == self.progress();
        is_doomed.then(|| self.waits_for_host.load(Relaxed))
    }

    /// Calls `action`, which checks whether an abandoned thread holds a lock.
    pub fn while_checking_locks(&self, action: impl FnOnce()) {
        self.is_checking_locks.store(true, Relaxed);
        action();
        self.is_checking_locks.store(false, Relaxed);
    }

    /// Whether the worker checks if an abandoned thread holds a lock.
    pub fn is_checking_locks(&self) -> bool {
        self.is_checking_locks.load(Relaxed)
    }

    fn end_care(&self) {
        if self.is_careful.load(Relaxed) && self.is_careful.swap(false, Relaxed) {
            end_care();
        }
    }

    /// Processor time and time asleep, in nanoseconds.
    pub fn time(&self) -> u64 {
        self.host_thread.processor_nanoseconds() + self.slept.load(Relaxed)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end_care();
    }
}
