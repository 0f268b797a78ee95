//! Runs a launch: coroutines for its threads, turns for its warps, workers for its blocks.

mod capacity;
mod cooperative;
mod coroutine;
mod independent;
mod queue;
mod repeat;
mod resident;
mod resident_cluster;
mod residents;
mod run;
mod simulate;
mod stacks;
mod started;
mod turns;
mod worker;

pub use cooperative::{MAX_RESIDENT_THREADS, run_cooperative};
pub use independent::{run, under_seeds};
