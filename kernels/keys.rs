//! Runs of equal keys: where each starts, from prefix sums of flags.
//!
//! ```text
//! mark:   flag[i] = whether key i differs from the one before       (then prefix sums of the flags)
//! place:  a run's number is the sum at its start, less one: write its start and its key there
//! ```

use cuda_std::prelude::*;

/// Threads per block: one for each key.
pub const KEY_THREADS: u32 = 256;

/// Calls the macro `$with` with the kernels for keys of each size: the words that keys are compared as, and the kernels
/// that mark and place runs.
#[macro_export]
macro_rules! for_each_key_size {
    ($with:ident) => {
        $with! {
            u8: mark_runs_u8, place_runs_u8;
            u16: mark_runs_u16, place_runs_u16;
            u32: mark_runs_u32, place_runs_u32;
            u64: mark_runs_u64, place_runs_u64;
        }
    };
}

/// Whether key `i` starts a run: it is the first, or differs from the one before.
#[inline(always)]
fn starts_run<K: cuda_std::Pod + PartialEq>(keys: Global<K>, i: usize) -> bool {
    i == 0 || keys.get(i) != keys.get(i - 1)
}

macro_rules! key_kernels {
    ($($word:ident: $mark:ident, $place:ident;)*) => {$(
        #[doc = concat!("Writes 1 for each key of ", stringify!($word), " that starts a run of equal keys, otherwise 0.")]
        #[kernel(max_threads = 256)]
        pub fn $mark(keys: Global<$word>, flags: GlobalMut<u64>) {
            let i = thread::unique_index();
            let starts = i.get() < keys.len() && starts_run(keys, i.get());
            if let Some(flag) = flags.own(i) {
                flag.set(u64::from(starts));
            }
        }

        #[doc = concat!("Writes where each run of equal keys of ", stringify!($word), " starts, and its key.")]
        ///
        /// `sums` has the number of runs that start up to and including each key.
        ///
        /// # Safety
        /// 1. The launch has a thread for each key.
        /// 2. `sums` is as long as `keys` and has their sums.
        /// 3. `starts` and `of_runs` have an element for each run.
        #[kernel(max_threads = 256)]
        pub unsafe fn $place(
            keys: Global<$word>,
            sums: Global<u64>,
            starts: GlobalMut<u64>,
            of_runs: GlobalMut<$word>,
        ) {
            let i = thread::unique_index().get();
            if i < keys.len() && starts_run(keys, i) {
                // SAFETY: the key and its sum exist: compared above. The run has its elements, which only the thread of
                // its first key writes: the caller's contract.
                unsafe {
                    let run = sums.load(i) as usize - 1;
                    starts.store(run, i as u64);
                    of_runs.store(run, keys.load(i));
                }
            }
        }
    )*};
}
for_each_key_size!(key_kernels);
