//! The limit of time: a host thread that looks at the running blocks every few milliseconds.
//!
//! What counts is the processor time that a block has taken since one of its threads last started
//! or exited, so that a busy machine stops nothing. Time in which a block sleeps because its
//! threads only yield counts, too, unless another block of the launch is still at work: it may be
//! the one that is waited for.
//!
//! A block whose time is up is stopped at its next instruction, which gives the report its line. A
//! loop without one that is looked at (arithmetic, or unchecked accesses) is interrupted
//! by a signal, see `trap`.

use super::trap;
use crate::state::{NEVER, Watched};
use std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{io, mem};

/// How often the watchdog looks, while launches are under way.
const TICK: Duration = Duration::from_millis(20);
/// How often it interrupts a block that does not stop.
const INTERRUPT_TICK: Duration = Duration::from_millis(1);
/// A block whose time is up has so long to reach an instruction, before it is interrupted.
const GRACE: Duration = Duration::from_millis(60);
/// After so long, a block that cannot be stopped is reported on standard error.
const PATIENCE: Duration = Duration::from_secs(2);
/// After so long without launches, the watchdog sleeps.
const LINGER: Duration = Duration::from_secs(1);

/// A worker as the watchdog has last seen it.
struct Entry {
    watched: Arc<Watched>,
    progress: u64,
    /// `Watched::time` when it was first seen with this progress.
    since: u64,
    over_since: Option<Instant>,
    is_reported: bool,
}

#[derive(Default)]
struct State {
    /// The process whose threads these are: a forked child has none of them.
    process: u32,
    has_thread: bool,
    /// Launches under way that have a limit.
    launches: usize,
    is_asleep: bool,
    entries: Vec<Entry>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
static WAKE: Condvar = Condvar::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For a fork.
#[cfg(target_os = "linux")]
pub(crate) fn lock_state() -> MutexGuard<'static, impl Sized> {
    lock(&STATE)
}

/// The state of this process, not that of the parent that it was forked from.
fn of_process(state: &mut Option<State>) -> &mut State {
    let process = std::process::id();
    if let Some(of_parent) = state.take_if(|state| state.process != process) {
        mem::forget(of_parent);
    }
    state.get_or_insert_with(|| State {
        process,
        ..State::default()
    })
}

/// While it lives, the blocks of a launch are watched.
pub(crate) struct Watching(());

impl Watching {
    pub fn begin() -> io::Result<Self> {
        let mut state = lock(&STATE);
        let state = of_process(&mut state);
        if !state.has_thread {
            start()?;
            state.has_thread = true;
        }
        state.launches += 1;
        if mem::take(&mut state.is_asleep) {
            WAKE.notify_one();
        }
        Ok(Self(()))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        of_process(&mut lock(&STATE)).launches -= 1;
    }
}

/// Makes a worker known to the watchdog.
pub(crate) fn add(watched: &Arc<Watched>) {
    of_process(&mut lock(&STATE)).entries.push(Entry {
        watched: Arc::clone(watched),
        progress: NEVER,
        since: 0,
        over_since: None,
        is_reported: false,
    });
}

/// Forgets a worker, whose host thread may end then.
pub(crate) fn remove(watched: &Arc<Watched>) {
    let mut state = lock(&STATE);
    let entries = &mut of_process(&mut state).entries;
    entries.retain(|entry| !Arc::ptr_eq(&entry.watched, watched));
}

/// Starts the watchdog, and waits until it runs: a thread that starts allocates, and aborts where it
/// cannot, which must not be in the middle of a launch.
fn start() -> io::Result<()> {
    let running = Arc::new(Barrier::new(2));
    let of_watchdog = Arc::clone(&running);
    thread::Builder::new()
        .name("simt-watchdog".to_owned())
        .spawn(move || {
            of_watchdog.wait();
            watch();
        })?;
    running.wait();
    Ok(())
}

fn watch() {
    let mut state = lock(&STATE);
    let mut last_launch = Instant::now();
    loop {
        let of_process = of_process(&mut state);
        let is_stopping = of_process.look();
        if of_process.launches > 0 {
            last_launch = Instant::now();
        }
        if last_launch.elapsed() > LINGER {
            of_process.is_asleep = true;
            state = WAKE.wait(state).unwrap_or_else(PoisonError::into_inner);
            last_launch = Instant::now();
        } else {
            drop(state);
            thread::sleep(if is_stopping { INTERRUPT_TICK } else { TICK });
            state = lock(&STATE);
        }
    }
}

impl State {
    /// Looks at each worker; returns whether some block is being interrupted.
    fn look(&mut self) -> bool {
        let running: Vec<bool> = self
            .entries
            .iter_mut()
            .map(Entry::is_within_limit)
            .collect();
        let at_work: Vec<usize> = self
            .entries
            .iter()
            .zip(&running)
            .filter(|(entry, is_running)| **is_running && !entry.watched.is_idle())
            .map(|(entry, _)| entry.watched.launch())
            .collect();
        let mut is_stopping = false;
        for (entry, _) in self
            .entries
            .iter_mut()
            .zip(running)
            .filter(|(_, runs)| !runs)
        {
            let watched = &entry.watched;
            let may_wait = watched.is_idle() && at_work.contains(&watched.launch());
            if !may_wait {
                is_stopping |= entry.stop();
            }
        }
        is_stopping
    }
}

impl Entry {
    /// Whether the worker's block, if it runs one, has time left.
    fn is_within_limit(&mut self) -> bool {
        let watched = &self.watched;
        let (limit, progress) = (watched.limit(), watched.progress());
        if limit == 0 || progress != self.progress {
            self.progress = progress;
            self.since = watched.time();
            self.over_since = None;
            self.is_reported = false;
            return true;
        }
        watched.time().saturating_sub(self.since) < limit
    }

    /// Stops the block, whose time is up; returns whether it is being interrupted.
    fn stop(&mut self) -> bool {
        let watched = &self.watched;
        watched.stop_at(self.progress);
        let over = self.over_since.get_or_insert_with(Instant::now).elapsed();
        if over < GRACE {
            return false;
        }
        trap::interrupt(watched.host_thread());
        if over > PATIENCE && !mem::replace(&mut self.is_reported, true) {
            eprintln!(
                "kernel `{}` has been over its time limit for {} s in block number {} and cannot \
                 be stopped: a thread of it waits for the host, or loops in a destructor or in a \
                 foreign library; end the process",
                watched.with_kernel(str::to_owned),
                PATIENCE.as_secs(),
                watched.block(),
            );
        }
        over <= PATIENCE
    }
}
