//! The time limit: a host thread that looks at the running blocks every few milliseconds.
//!
//! A block may take a limited time until one of its threads starts or exits. The processor time of its host thread
//! counts, so that a busy machine stops nothing. So does the time in which the host thread sleeps, because the
//! block's threads only yield or because one of them waits for the host: for a lock, a channel, input. A block whose
//! host thread sleeps may take longer while another block of the launch is at work, because it may wait for that one.
//!
//! A block whose time is up is stopped at its next instruction, which gives the report its line. A signal interrupts
//! a loop without checked instructions, such as arithmetic or unchecked accesses; see `trap`. If neither is possible,
//! the process ends with a message, because the launch would never return.

use super::message::{ADVICE, ADVICE_ON_LOCKS, OVER, abort_with};
use super::{start_and_wait, trap};
use crate::basics::lock;
use crate::state::{NEVER, Watched};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{fmt, io, mem};

/// The interval of the watchdog's looks while launches are under way.
const TICK: Duration = Duration::from_millis(20);
/// The interval at which it interrupts a block that does not stop.
const INTERRUPT_TICK: Duration = Duration::from_millis(1);
/// The most time between two looks that counts. If more has passed, the process was stopped or the machine asleep.
const LONGEST_LOOK: Duration = Duration::from_millis(100);
/// The time that a block whose time is up has to reach an instruction, before it is interrupted.
const GRACE: Duration = Duration::from_millis(60);
/// The time after which a block that cannot be stopped ends the process.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time after which a worker that checks locks must be stuck in one itself.
const PATIENCE_FOR_LOCKS: Duration = Duration::from_secs(5);
/// The time that the host thread then has to report this itself: it knows its line.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The time without launches after which the watchdog sleeps.
const LINGER: Duration = Duration::from_secs(1);
/// The number of workers for which memory is reserved from the beginning. Further ones allocate while the state is
/// locked.
const USUAL_WORKERS: usize = 64;

/// A worker as the watchdog has last seen it. All times are in nanoseconds.
struct Entry {
    watched: Arc<Watched>,
    progress: u64,
    /// Whether the progress differs from that of the previous look.
    has_moved: bool,
    /// `Watched::time` at the last look.
    time: u64,
    /// The time that the block has taken since it was first seen with this progress.
    taken: u64,
    /// How long it has been checking locks.
    checked_locks: u64,
    /// Whether the host thread sleeps, though the block's threads do not yield.
    waits_for_host: bool,
    /// The time that the block had taken when it reached its limit.
    over_at: Option<u64>,
}

#[derive(Default)]
struct State {
    /// The process whose threads these are: a forked child has none of them.
    process: u32,
    has_thread: bool,
    /// Launches under way.
    launches: usize,
    is_asleep: bool,
    last_look: Option<Instant>,
    entries: Vec<Entry>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
static WAKE: Condvar = Condvar::new();

/// For a fork.
#[cfg(target_os = "linux")]
pub(crate) fn lock_state() -> std::sync::MutexGuard<'static, impl Sized> {
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
        entries: Vec::with_capacity(USUAL_WORKERS),
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
            start_and_wait("simt-watchdog", watch)?;
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
        has_moved: false,
        time: 0,
        taken: 0,
        checked_locks: 0,
        waits_for_host: false,
        over_at: None,
    });
}

/// Forgets a worker. Its host thread may then end.
pub(crate) fn remove(watched: &Arc<Watched>) {
    let mut state = lock(&STATE);
    let entries = &mut of_process(&mut state).entries;
    entries.retain(|entry| !Arc::ptr_eq(&entry.watched, watched));
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
    /// Looks at each worker; returns whether some block is being interrupted. It allocates nothing: an allocator
    /// whose lock stays locked must not stop it.
    fn look(&mut self) -> bool {
        let now = Instant::now();
        let last = self.last_look.replace(now);
        let elapsed = last.map_or(Duration::ZERO, |last| now - last);
        let elapsed = nanoseconds(elapsed.min(LONGEST_LOOK));
        self.entries.iter_mut().for_each(|it| it.look(elapsed));
        let mut is_stopping = false;
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            let launch = entry.watched.launch();
            let mut others = self.entries.iter();
            let may_wait = entry.is_asleep() && others.any(|it| it.is_at_work_for(launch));
            if !entry.is_within_limit() && !may_wait {
                is_stopping |= self.entries[index].stop();
            }
        }
        is_stopping
    }
}

impl Entry {
    /// Notes what the worker has done in the last `elapsed` nanoseconds.
    fn look(&mut self, elapsed: u64) {
        let watched = &self.watched;
        let (progress, time) = (watched.progress(), watched.time());
        let taken = time.saturating_sub(mem::replace(&mut self.time, time));
        if watched.is_checking_locks() {
            return self.wait_for_locks(elapsed);
        }
        self.checked_locks = 0;
        self.has_moved = mem::replace(&mut self.progress, progress) != progress;
        if self.has_moved || watched.limit() == 0 {
            self.taken = 0;
            self.waits_for_host = false;
            self.over_at = None;
            return;
        }
        let rest = elapsed.saturating_sub(taken);
        self.waits_for_host =
            rest > elapsed / 2 && !watched.is_idle() && watched.host_thread().is_asleep();
        self.taken += taken + if self.waits_for_host { rest } else { 0 };
    }

    /// Counts the time in which the worker checks locks. It is not the block's time, but it is
    /// limited, too.
    fn wait_for_locks(&mut self, elapsed: u64) {
        self.progress = NEVER;
        self.checked_locks += elapsed;
        if self.checked_locks >= nanoseconds(PATIENCE_FOR_LOCKS) {
            self.end_process(format_args!(
                "a thread has overflowed its stack or was over its time limit, and was left where it \
                 is, with the allocator or another lock of the process locked for ever, which ends \
                 the process; {ADVICE_ON_LOCKS}"
            ));
        }
    }

    /// Whether the worker's block, if it runs one, has time left.
    fn is_within_limit(&self) -> bool {
        let limit = self.watched.limit();
        limit == 0 || self.taken < limit
    }

    /// Whether the host thread sleeps.
    fn is_asleep(&self) -> bool {
        self.waits_for_host || self.watched.is_idle()
    }

    /// Whether the worker runs, or has just run, a block of this launch that has time left.
    fn is_at_work_for(&self, launch: usize) -> bool {
        let watched = &self.watched;
        let has_time = self.has_moved || watched.limit() != 0 && self.is_within_limit();
        has_time && watched.launch() == launch && !watched.is_idle()
    }

    /// Stops the block, whose time is up; returns whether it is being interrupted.
    fn stop(&mut self) -> bool {
        let watched = &self.watched;
        watched.stop_at(self.progress);
        let over = self.taken - *self.over_at.get_or_insert(self.taken);
        if over < nanoseconds(GRACE) {
            return false;
        }
        if over >= nanoseconds(PATIENCE) {
            watched.doom(self.progress, self.waits_for_host);
        }
        trap::interrupt(watched.host_thread());
        if over >= nanoseconds(PATIENCE + LAST_WORDS) {
            self.end_process(format_args!(
                "{OVER}. A thread of it waits for the host, or is in a destructor or in a foreign \
                 library.\n{ADVICE}"
            ));
        }
        true
    }

    /// Ends the process because of the block.
    fn end_process(&self, why: fmt::Arguments<'_>) -> ! {
        let block = self.watched.block();
        self.watched.with_kernel(|kernel| {
            abort_with(format_args!(
                "kernel `{kernel}`, block number {block}: {why}\n"
            ))
        })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_nanos() as u64
}
