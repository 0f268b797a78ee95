//! Programs whose steps run one after another, across threads and blocks: a host counter, which the checks do not see,
//! tells whose turn it is. So a model needs no schedule.

use cuda_std::prelude::*;
use simt::{AccessKind, Contents, Defect, Dim3, Launch, Options, Space};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

pub const BLOCKS: usize = 2;
pub const WORDS: usize = 4;
pub const BYTES: usize = 4 * WORDS;

/// How the threads of a program take its steps.
pub struct Turns<S> {
    /// Threads of a block.
    pub threads: usize,
    /// Whether a thread of a block takes part in a step, and whether it ends the step.
    pub part: fn(S, (usize, usize)) -> (bool, bool),
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Runs before the first step, in each thread by its number in the block.
    pub begin: fn(usize),
    /// Runs after the program's last step, in each thread.
    pub end: fn(&[S], (usize, usize)),
    /// Takes the step of this number, on words of the space from the address on. Returns the value read.
    pub take: fn(usize, S, (Space, usize)) -> u32,
}

impl<S: Copy + Sync> Turns<S> {
    /// The value that each step reads, from words that start at 0.
    ///
    /// # Errors
    /// The simulator's finding.
    pub fn run(
        &self,
        steps: &[S],
        options: &Options,
        space: Space,
    ) -> Result<Vec<u32>, Box<Defect>> {
        let launch = Launch {
            cluster: Dim3::from(self.cluster),
            ..Launch::new("steps", BLOCKS as u32, self.threads as u32, options)
        };
        let words = Box::new([0_u32; WORDS]);
        let address = words.as_ptr().expose_provenance();
        // SAFETY: the words outlive the launch. Nothing else accesses them.
        unsafe { simt::register_allocation(address, BYTES, Contents::Initialised) }.unwrap();
        let turn = AtomicUsize::new(0);
        let values: Vec<AtomicU32> = steps.iter().map(|_| AtomicU32::new(0)).collect();
        let result = crate::borrowed::run(&launch, &|| {
            let me = (
                thread::block_idx_x() as usize,
                thread::thread_idx_x() as usize,
            );
            let base = match space {
                Space::Shared => zeroed_words(me.1 == 0),
                _ => address,
            };
            (self.begin)(me.1);
            for (number, step) in steps.iter().enumerate() {
                let (takes_part, ends) = (self.part)(*step, me);
                if !takes_part {
                    continue;
                }
                while turn.load(Ordering::Relaxed) < number {
                    thread::yield_now();
                }
                let value = (self.take)(number, *step, (space, base));
                if ends {
                    values[number].store(value, Ordering::Relaxed);
                    turn.store(number + 1, Ordering::Relaxed);
                }
            }
            (self.end)(steps, me);
        });
        simt::forget_allocation(address, BYTES);
        result?;
        Ok(values.into_iter().map(AtomicU32::into_inner).collect())
    }
}

/// The block's words, which one thread sets to 0 for all.
fn zeroed_words(writes: bool) -> usize {
    let base = simt::static_shared(1, BYTES, 16);
    let address = base.expose_provenance();
    if writes {
        // SAFETY: the view is of shared memory.
        unsafe {
            simt::access(
                Space::Shared,
                AccessKind::Write,
                address,
                BYTES,
                0,
                BYTES,
                16,
            )
        };
        // SAFETY: the block has this many bytes, and its other threads wait at the barrier.
        unsafe { base.write_bytes(0, BYTES) };
    }
    thread::sync_threads();
    address
}
