//! Mbarriers: `mbarrier.init`, `.inval`, `.arrive`, `.expect_tx`, `.try_wait.parity` of the PTX ISA (section
//! "Parallel Synchronization and Communication Instructions: mbarrier").

use crate::basics::{CallSite, DefectKind, FenceOrder, Finding, MemoryScope};
use crate::block::{Block, Thread, Wait};
use crate::current::{instruction, live_instruction};
use crate::state::{ATOMIC_WEIGHT, Arriver, MAX_ARRIVALS, Mbarrier, Progress};

/// Initialises the eight bytes at `address` as an mbarrier.
///
/// Each of its phases completes after `arrivals` arrivals and all bytes that are expected meanwhile.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_init(address: usize, arrivals: u32) {
    instruction(|thread, block, site| {
        let offset = block.own_word(thread, address, site);
        if arrivals == 0 || arrivals > MAX_ARRIVALS {
            let message =
                format!("an mbarrier for {arrivals} arrivals: it can have 1 to {MAX_ARRIVALS}");
            block.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        if let Some((at, known)) = block.mbarriers.overlapping(offset) {
            block.fail_initialised(thread, (offset, at), &known, site);
        }
        block.uses_machine.set(true);
        let initialiser = thread.position.thread();
        let number = block.mbarriers.init(offset, arrivals, initialiser, site);
        if let Some(check) = block.active_check() {
            let place = (offset, number);
            let result = check.init_mbarrier(&thread.position, &block.shared, place, site);
            block.end_on(thread, result);
        }
    });
}

/// Ends the block's mbarrier at `address`, whose bytes are ordinary memory again.
///
/// No thread may wait at it, and all bytes that it expects must have arrived.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_invalidate(address: usize) {
    live_instruction(|thread, block, site| {
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        let (offset, barrier) = block.own_mbarrier(thread, address, site);
        let waiting = block.mbarriers.waiting(offset);
        if waiting > 0 || barrier.expected != barrier.landed {
            block.fail_in_use(thread, waiting, (offset, &barrier), site);
        }
        if let Some(check) = block.active_check() {
            let result = check.forget_mbarrier(&thread.position, offset, site);
            block.end_on(thread, result);
        }
        block.mbarriers.remove(offset);
    });
}

/// Makes the running thread's initialised mbarriers visible to the cluster and to bulk copies.
///
/// Other threads must still synchronise with this one before they use them.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn fence_mbarrier_init() {
    instruction(|thread, block, _| {
        block.mbarriers.fence_of(thread.position.thread());
        // For a relaxed arrival at the barrier of the cluster.
        if let Some(check) = block.active_check() {
            check.fence(&thread.position, FenceOrder::Release, MemoryScope::Cluster);
        }
    });
}

/// Arrives at the mbarrier at `address`, which may be in another block of the cluster.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_arrive(address: usize) {
    arrive(address, 1, 0, Some(Arrival::Releases));
}

/// [`mbarrier_arrive_counted`] that passes on what the thread's fences have released, and no other accesses
/// (`mbarrier.arrive.relaxed`).
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_arrive_relaxed(address: usize, count: u32, bytes: u32) {
    arrive(address, count, bytes, Some(Arrival::Relaxed));
}

/// Adds `bytes` to the bytes that the current phase of the mbarrier at `address` expects.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_expect(address: usize, bytes: u32) {
    arrive(address, 0, bytes, None);
}

/// [`mbarrier_expect`] and then [`mbarrier_arrive`], in one step.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_arrive_expect(address: usize, bytes: u32) {
    arrive(address, 1, bytes, Some(Arrival::Releases));
}

/// [`mbarrier_arrive_expect`] as `count` arrivals at once, of which the phase must lack as many.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_arrive_counted(address: usize, count: u32, bytes: u32) {
    arrive(address, count, bytes, Some(Arrival::Releases));
}

/// Waits until the phase of this parity of the block's mbarrier at `address` is complete.
///
/// The first phase has the parity `false`. Before it completes, parity `true` counts as complete.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_wait(address: usize, parity: bool) {
    live_instruction(|thread, block, site| {
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        let (offset, barrier) = block.own_mbarrier(thread, address, site);
        if barrier.is_past(parity) {
            block.acquire_phase(thread.position.thread(), &barrier);
        } else {
            block.mbarriers.wait(offset, thread.position.thread());
            thread.wait_for(Wait::Mbarrier { offset, parity }, site);
        }
    });
}

/// Whether the phase of this parity of the block's mbarrier at `address` is complete.
///
/// If it is not, others run before the thread continues.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_test(address: usize, parity: bool) -> bool {
    instruction(|thread, block, site| {
        if block.is_unwinding(thread) {
            return true;
        }
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        let (_, barrier) = block.own_mbarrier(thread, address, site);
        let is_past = barrier.is_past(parity);
        match is_past {
            true => block.acquire_phase(thread.position.thread(), &barrier),
            false => block.yield_thread(thread, 1, site),
        }
        is_past
    })
}

/// The parity of the present phase of the block's mbarrier at `address`. It orders nothing.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn mbarrier_parity(address: usize) -> bool {
    instruction(|thread, block, site| {
        if block.is_unwinding(thread) {
            return false;
        }
        let (_, barrier) = block.own_mbarrier(thread, address, site);
        barrier.phase & 1 == 1
    })
}

/// The order that an arrival passes on.
#[derive(Clone, Copy)]
enum Arrival {
    /// The thread's accesses.
    Releases,
    /// Only the accesses that its fences have released.
    Relaxed,
}

#[track_caller]
fn arrive(address: usize, count: u32, bytes: u32, arrival: Option<Arrival>) {
    live_instruction(|thread, block, site| {
        block.before_visible_step(thread, ATOMIC_WEIGHT);
        let (owner, offset) = block.word_of(thread, address, site);
        block.check_running(thread, owner, "an arrival in", site);
        let barrier = block.mbarrier_of(thread, (owner, offset), site);
        block.note_arrival(thread, owner, site);
        if let (Some(arrival), Some(check), Some(of_owner)) =
            (arrival, block.active_check(), &owner.check)
        {
            let scope = match std::ptr::eq(block, owner) {
                true => MemoryScope::Block,
                false => MemoryScope::Cluster,
            };
            let handed = match arrival {
                Arrival::Releases => check.release(&thread.position),
                Arrival::Relaxed => check.released(&thread.position, scope),
            };
            of_owner.gather(barrier.number, &handed);
        }
        let progress = match arrival {
            Some(_) => {
                let arriver = block.arriver(thread);
                let amounts = (count, bytes.into());
                owner.mbarriers.arrive(offset, amounts, arriver, site)
            }
            None => owner.mbarriers.expect(offset, bytes.into()),
        };
        if progress == Progress::TooMany {
            block.fail_arrivals(thread, (owner, offset), count, &barrier, site);
        }
        owner.go_on(barrier.number, progress);
    });
}

impl Block {
    /// Releases the threads whose wait an operation on an mbarrier of this block has ended.
    pub(super) fn go_on(&self, number: u16, progress: Progress) {
        let Progress::Complete(threads) = progress else {
            return;
        };
        if let Some(check) = self.active_check() {
            check.complete_phase(number);
            for thread in &threads {
                check.acquire_phase(*thread, number);
            }
        }
        threads.into_iter().for_each(|it| self.release_thread(it));
        self.note_progress();
    }

    /// Notes an arrival. The owner of the mbarrier must not end before it has synchronised with
    /// arrivals from other blocks.
    fn note_arrival(&self, thread: &Thread, owner: &Block, site: CallSite) {
        owner.uses_machine.set(true);
        if !std::ptr::eq(self, owner)
            && let (Some(check), Some(of_owner)) = (self.active_check(), &owner.check)
        {
            of_owner.note_arrival(check, &thread.position, site);
        }
    }

    fn arriver(&self, thread: &Thread) -> Arriver {
        Arriver {
            rank: self.rank.get(),
            thread: thread.position.thread(),
        }
    }

    fn acquire_phase(&self, thread: u32, barrier: &Mbarrier) {
        if let Some(check) = self.active_check() {
            check.acquire_phase(thread, barrier.number);
        }
    }

    /// Ends the launch with a finding of the running thread.
    pub(super) fn end_on<T>(&self, thread: &Thread, result: Result<T, Box<Finding>>) -> T {
        match result {
            Ok(value) => value,
            Err(finding) => self.fail_with(thread, *finding),
        }
    }
}
