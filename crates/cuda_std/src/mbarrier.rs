//! Rings of stages between producer and consumer threads.
//!
//! A [`Ring`] has two barriers in shared memory for each stage: one completes when the stage is full, the other when
//! it is empty. A waiting thread has a position in the ring, a [`Producer`] or a [`Consumer`], which tracks the next
//! stage and the parity of the round.
//!
//! ```text
//! one thread: ring.init(1, consumers); every thread: a barrier of the block or the cluster
//!
//! producer, one thread                      consumers
//! loop                                      loop
//!     slot = producer.acquire()                 stage = consumer.wait()
//!     slot.expect(bytes)                        read tiles.get(stage.index())
//!     copies into slot.stage(), ...             one thread of each: consumer.release(stage)
//! ```
//!
//! Copies count their bytes as they land. A stage is full when the producer has arrived and all the bytes that it
//! expects have landed. (PTX ISA, 9.7.12.15, "mbarrier".)

use crate::machine;
use core::marker::PhantomData;

/// A ring of `STAGES` stages, each with a full and an empty barrier.
#[derive(Debug)]
pub struct Ring<'block, const STAGES: usize> {
    /// The full barriers of all stages, then the empty ones.
    barriers: *mut u64,
    block: PhantomData<&'block mut [u64]>,
}

impl<const STAGES: usize> Clone for Ring<'_, STAGES> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<const STAGES: usize> Copy for Ring<'_, STAGES> {}

impl<'block, const STAGES: usize> Ring<'block, STAGES> {
    /// Size of the ring in shared memory, in bytes.
    pub const BYTES: usize = 2 * STAGES * size_of::<u64>();

    /// The ring at `barriers`.
    ///
    /// # Safety
    /// 1. `barriers` is a multiple of 8, and the ring there lies within the block's shared memory.
    /// 2. The result is used with a lifetime within which the block does not end.
    #[inline(always)]
    pub(crate) const unsafe fn of_memory(barriers: *mut u64) -> Self {
        const { assert!(STAGES > 0, "a ring has at least one stage") };
        Self {
            barriers,
            block: PhantomData,
        }
    }

    #[inline(always)]
    fn full(self, stage: u32) -> *mut u64 {
        self.barriers.wrapping_add(stage as usize)
    }

    #[inline(always)]
    fn empty(self, stage: u32) -> *mut u64 {
        self.barriers.wrapping_add(STAGES + stage as usize)
    }

    /// Makes all stages empty. A stage is full after `producers` have called
    /// [`Slot::expect`] and the bytes have landed, and empty after `consumers` have released it.
    ///
    /// # Safety
    /// 1. One thread of the block calls it, once, before any thread uses the ring; a barrier of the
    ///    block follows, or one of the cluster if other blocks use the ring, or multicasts fill it.
    /// 2. `producers` and `consumers` are 1 to 2^20 - 1 (PTX ISA, `mbarrier`, "Contents of the mbarrier object").
    #[inline(always)]
    #[track_caller]
    pub unsafe fn init(self, producers: u32, consumers: u32) {
        let mut stage = 0;
        while stage < STAGES as u32 {
            // SAFETY: `barriers` is aligned and in shared memory: the contract of `of_memory`. No
            // other thread uses the ring yet: the caller's contract.
            unsafe {
                machine::mbarrier_init(self.full(stage), producers);
                machine::mbarrier_init(self.empty(stage), consumers);
            }
            stage += 1;
        }
        machine::fence_mbarrier_init();
    }

    /// The position of the thread that fills all stages.
    #[inline(always)]
    #[must_use]
    pub const fn producer(self) -> Producer<'block, STAGES> {
        self.producer_in_turns(0)
    }

    /// The position of one of `PRODUCERS` threads that fill stages in turns.
    ///
    /// Its first stage is `number` modulo `PRODUCERS`, and the next ones are `PRODUCERS` apart. `PRODUCERS` divides
    /// `STAGES`.
    #[inline(always)]
    #[must_use]
    pub const fn producer_in_turns<const PRODUCERS: usize>(
        self,
        number: u32,
    ) -> Producer<'block, STAGES, PRODUCERS> {
        const {
            assert!(
                STAGES.is_multiple_of(PRODUCERS),
                "the number of producers divides the stages"
            )
        };
        Producer {
            ring: self,
            place: Place {
                stage: number % PRODUCERS as u32,
                ..Place::FIRST
            },
        }
    }

    /// The position of a thread that uses the stages.
    #[inline(always)]
    #[must_use]
    pub const fn consumer(self) -> Consumer<'block, STAGES> {
        Consumer {
            ring: self,
            place: Place::FIRST,
        }
    }
}

/// A thread's position in the ring.
#[derive(Clone, Copy, Debug)]
struct Place {
    stage: u32,
    /// Whether the number of completed rounds is odd.
    is_odd_round: bool,
}

impl Place {
    const FIRST: Self = Self {
        stage: 0,
        is_odd_round: false,
    };

    #[inline(always)]
    const fn advance<const STAGES: usize, const STEP: usize>(&mut self) {
        self.stage += STEP as u32;
        if self.stage >= STAGES as u32 {
            self.stage %= STEP as u32;
            self.is_odd_round = !self.is_odd_round;
        }
    }
}

/// A producer's position in a ring. It fills every stage, or every `PRODUCERS`-th.
#[derive(Debug)]
pub struct Producer<'block, const STAGES: usize, const PRODUCERS: usize = 1> {
    ring: Ring<'block, STAGES>,
    place: Place,
}

impl<'block, const STAGES: usize, const PRODUCERS: usize> Producer<'block, STAGES, PRODUCERS> {
    /// Waits until the thread's next stage is empty. The first round waits for nothing.
    ///
    /// # Safety
    /// 1. The ring is [initialised](Ring::init).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn acquire(&mut self) -> Slot<'block> {
        let Place {
            stage,
            is_odd_round,
        } = self.place;
        // SAFETY: the caller's contract.
        unsafe { machine::mbarrier_wait(self.ring.empty(stage), !is_odd_round) };
        self.place.advance::<STAGES, PRODUCERS>();
        Slot {
            full: self.ring.full(stage),
            stage,
            block: PhantomData,
        }
    }
}

/// A stage that its producer fills.
#[derive(Debug)]
pub struct Slot<'block> {
    full: *mut u64,
    stage: u32,
    block: PhantomData<&'block mut [u64]>,
}

impl Slot<'_> {
    /// The number of the stage.
    #[inline(always)]
    #[must_use]
    pub const fn stage(&self) -> usize {
        self.stage as usize
    }

    /// Arrives, and states the number of bytes that copies bring to this block's stage. The stage is full when they
    /// have landed.
    ///
    /// Include bytes outside the tensor, and bytes that other blocks send here by multicast.
    ///
    /// # Safety
    /// 1. The ring is initialised.
    /// 2. A stage expects at most 2^20 - 1 bytes in all.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn expect(&self, bytes: u32) {
        // SAFETY: the caller's contract.
        unsafe { machine::mbarrier_arrive_expect(self.full, bytes) };
    }

    /// The barrier at which copies count their bytes.
    #[inline(always)]
    pub(crate) const fn barrier(&self) -> *mut u64 {
        self.full
    }
}

/// A consumer's position in a ring.
#[derive(Debug)]
pub struct Consumer<'block, const STAGES: usize> {
    ring: Ring<'block, STAGES>,
    place: Place,
}

impl<'block, const STAGES: usize> Consumer<'block, STAGES> {
    /// Waits until the next stage is full. The calling thread then sees the copied data.
    ///
    /// # Safety
    /// 1. The ring is [initialised](Ring::init).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn wait(&mut self) -> Stage {
        let Place {
            stage,
            is_odd_round,
        } = self.place;
        // SAFETY: the caller's contract.
        unsafe { machine::mbarrier_wait(self.ring.full(stage), is_odd_round) };
        self.place.advance::<STAGES, 1>();
        Stage { index: stage }
    }

    /// Arrives at the stage's empty barrier: the calling thread, and the threads that it arrives
    /// for, no longer use the stage.
    ///
    /// # Safety
    /// 1. The ring is initialised, and `stage` is one of its stages.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn release(&self, stage: &Stage) {
        // SAFETY: the caller's contract.
        unsafe { machine::mbarrier_arrive(self.ring.empty(stage.index)) };
    }

    /// [`Self::release`] in the ring of the block of rank `rank`, whose producer also fills the caller's block.
    ///
    /// # Safety
    /// 1. The ring of each block of the cluster is initialised and has the same offset in shared memory.
    /// 2. The block of that rank is still running.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn release_in(&self, stage: &Stage, rank: u32) {
        // SAFETY: the caller's contract.
        unsafe { machine::mbarrier_arrive_in(self.ring.empty(stage.index), rank) };
    }
}

/// A stage that is full.
#[derive(Debug)]
pub struct Stage {
    index: u32,
}

impl Stage {
    /// The number of the stage.
    #[inline(always)]
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index as usize
    }
}
