//! The simulator's own host threads.
//!
//! They belong to no pool of the program's. In such a pool a kernel could wait for other work, which would then run on the
//! stack of a simulated thread, and be lost where that thread is left.

use crate::basics::lock;
use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// Host threads that make the calls of launches. They end with this value, except for those that may have lent
/// something.
pub(crate) struct Pool {
    threads: usize,
    queue: Arc<Queue>,
}

impl Pool {
    /// Starts the threads, and waits until they run: a thread that starts allocates, and aborts where it
    /// cannot, which must not be in the middle of a launch.
    pub fn start(threads: usize) -> io::Result<Self> {
        let pool = Self {
            threads,
            queue: Arc::default(),
        };
        let (has_started, starts) = channel();
        for number in 0..threads {
            let has_started = has_started.clone();
            start_thread(number, Arc::clone(&pool.queue), move || {
                has_started.send(()).unwrap_or_default();
            })?;
        }
        starts.iter().take(threads).for_each(drop);
        Ok(pool)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `call(0)`, `call(1)` and so on, up to `most` of them at a time, and waits until they have returned.
    ///
    /// At least one is called. Once one breaks, no other begins. One that continues on a thread which has been left
    /// panicking is followed by another.
    ///
    /// # Panics
    ///
    /// With the payload of a call that panicked.
    pub fn run<F: Fn(usize) -> ControlFlow<()> + Sync>(&self, most: usize, call: &F) {
        let most = most.max(1);
        let task = Arc::new(Task::new(most, call));
        self.queue.push(Arc::clone(&task), most);
        task.wait();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.queue.state).is_closed = true;
        self.queue.has_changed.notify_all();
    }
}

/// The functions that the threads are to call.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    has_changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    tasks: VecDeque<Arc<Task>>,
    is_closed: bool,
}

impl Queue {
    /// Adds a task of which `calls` calls may begin.
    fn push(&self, task: Arc<Task>, calls: usize) {
        lock(&self.state).tasks.push_back(task);
        (0..calls).for_each(|_| self.has_changed.notify_one());
    }

    /// Waits for a call to begin; none once the pool is dropped.
    fn next(&self) -> Option<(Arc<Task>, usize)> {
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            let Some(task) = state.tasks.front() else {
                let changed = self.has_changed.wait(state);
                state = changed.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if let Some(number) = task.begin() {
                return Some((Arc::clone(task), number));
            }
            state.tasks.pop_front();
        }
    }
}

/// Calls of one function, until one of them breaks.
struct Task {
    call: unsafe fn(*const (), usize) -> ControlFlow<()>,
    /// The function's value.
    value: *const (),
    progress: Mutex<Progress>,
    has_ended: Condvar,
}

/// The calls of a task.
struct Progress {
    begun: usize,
    /// How many may begin.
    most: usize,
    running: usize,
    panic: Option<Box<dyn Any + Send>>,
}

// SAFETY: the value, which is all that is not `Send` here, is used by shared reference, and is `Sync`: it is that of
// `Task::new`.
unsafe impl Send for Task {}
// SAFETY: as above.
unsafe impl Sync for Task {}

impl Task {
    fn new<F: Fn(usize) -> ControlFlow<()> + Sync>(most: usize, call: &F) -> Self {
        /// # Safety
        ///
        /// 1. `value` is that of an `F` that is borrowed meanwhile.
        unsafe fn call_value<F: Fn(usize) -> ControlFlow<()>>(
            value: *const (),
            number: usize,
        ) -> ControlFlow<()> {
            // SAFETY: the caller's contract (1).
            let call = unsafe { &*value.cast::<F>() };
            call(number)
        }
        Self {
            call: call_value::<F>,
            value: (&raw const *call).cast(),
            progress: Mutex::new(Progress {
                begun: 0,
                most,
                running: 0,
                panic: None,
            }),
            has_ended: Condvar::new(),
        }
    }

    /// The number of a call that begins, if one may. The caller runs it.
    fn begin(&self) -> Option<usize> {
        let mut progress = lock(&self.progress);
        let number = progress.begun;
        (number < progress.most).then(|| {
            progress.begun += 1;
            progress.running += 1;
            number
        })
    }

    /// Runs the call that has begun; returns whether another has to begin in its place.
    fn run(&self, number: usize) -> ControlFlow<()> {
        // SAFETY: (1) `wait`, after which alone the function's borrow may end, waits for calls that have begun.
        let call = || unsafe { (self.call)(self.value, number) };
        let result = catch_unwind(AssertUnwindSafe(call));
        let mut progress = lock(&self.progress);
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(panic) => {
                progress.panic.get_or_insert(panic);
                ControlFlow::Break(())
            }
        };
        match outcome {
            ControlFlow::Continue(()) if progress.begun == progress.most => progress.most += 1,
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(()) => progress.most = progress.begun,
        }
        progress.running -= 1;
        if progress.is_over() {
            self.has_ended.notify_one();
        }
        outcome
    }

    /// Waits until no call runs, and none will.
    fn wait(&self) {
        let mut progress = lock(&self.progress);
        while !progress.is_over() {
            let ended = self.has_ended.wait(progress);
            progress = ended.unwrap_or_else(PoisonError::into_inner);
        }
        let panic = progress.panic.take();
        drop(progress);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Progress {
    fn is_over(&self) -> bool {
        self.running == 0 && self.begun == self.most
    }
}

/// Starts a thread that calls `has_started`, and then what is in the queue.
fn start_thread(
    number: usize,
    queue: Arc<Queue>,
    has_started: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let serve = move || {
        has_started();
        serve(number, &queue);
    };
    let builder = thread::Builder::new().name(format!("simt-{number}"));
    builder.spawn(serve).map(drop)
}

fn serve(number: usize, queue: &Arc<Queue>) {
    while let Some((task, call)) = queue.next() {
        if task.run(call).is_continue() {
            queue.push(task, 1);
        }
        if thread::panicking() && start_thread(number, Arc::clone(queue), || ()).is_ok() {
            stay();
        }
    }
}

/// Waits for ever: a simulated thread was left while it unwound, for which the standard library takes all that is done
/// here from now on, and it may have lent what is local to this host thread.
fn stay() -> ! {
    loop {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_call_begins_after_one_that_breaks() {
        let pool = Pool::start(3).unwrap();
        for most in 0..20 {
            let numbers = Mutex::new(Vec::new());
            pool.run(most, &|number| {
                lock(&numbers).push(number);
                ControlFlow::Break(())
            });
            let mut numbers = numbers.into_inner().unwrap();
            numbers.sort_unstable();
            assert!((1..=3).contains(&numbers.len()), "{most}: {numbers:?}");
            assert!(numbers.iter().copied().eq(0..numbers.len()));
        }
    }

    #[test]
    fn one_that_continues_is_followed_by_another() {
        let pool = Pool::start(2).unwrap();
        for most in [1, 2, 5] {
            let called = AtomicUsize::new(0);
            pool.run(
                most,
                &|_| match called.fetch_add(1, Ordering::Relaxed) < 10 {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                },
            );
            assert!((11..=12).contains(&called.into_inner()));
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_threads_go_on() {
        let pool = Pool::start(2).unwrap();
        for _ in 0..10 {
            let call = || pool.run(2, &|_| resume_unwind(Box::new("of purpose")));
            let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"of purpose"));
        }
        pool.run(1, &|_| ControlFlow::Break(()));
    }

    /// Callers on several threads share the threads, and each has its own calls.
    #[test]
    fn several_callers_are_served() {
        let pool = Pool::start(2).unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let called = AtomicUsize::new(0);
                        pool.run(3, &|_| {
                            called.fetch_add(1, Ordering::Relaxed);
                            ControlFlow::Break(())
                        });
                        assert_ne!(called.into_inner(), 0);
                    }
                });
            }
        });
    }
}
