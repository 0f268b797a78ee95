//! Launches whose blocks are independent.

use super::run::Run;
use super::simulate::simulate;
use super::worker::Worker;
use crate::basics::{Defect, Permutation, SplitMix64};
use crate::launch::{Launch, Options, Report};
use rayon::prelude::*;

/// Simulates a launch: calls `body` once per thread.
///
/// Returns when every thread has exited, or when a defect was found and all
/// threads have been stopped. May be called from several host threads at once.
///
/// # Errors
///
/// The defect of the lowest block that has one. Blocks above it are stopped;
/// blocks below it still run to their end, so that the answer does not depend
/// on how fast the host threads are. When blocks run one by one, the first
/// defect in the seed's order.
pub fn run(launch: &Launch<'_>, body: &(dyn Fn() + Sync)) -> Result<Report, Box<Defect>> {
    simulate(launch, |run| {
        if launch.options.parallel_blocks {
            run_in_parallel(run, body);
        } else {
            run_one_by_one(run, body);
        }
    })
}

fn run_in_parallel(run: &Run<'_>, body: &(dyn Fn() + Sync)) {
    (0..run.blocks).into_par_iter().for_each(|index| {
        if !run.is_pointless(index) {
            run_block(run, index, body);
        }
    });
}

fn run_one_by_one(run: &Run<'_>, body: &(dyn Fn() + Sync)) {
    let mut random = SplitMix64::new(run.launch.options.seed, u64::MAX);
    let order = Permutation::new(run.blocks, &mut random);
    for position in 0..run.blocks {
        run_block(run, order.get(position), body);
        if run.has_defect() {
            return;
        }
    }
}

fn run_block(run: &Run<'_>, index: u64, body: &(dyn Fn() + Sync)) {
    Worker::with(|worker| worker.run_block(run, index, body));
}

/// Simulates a launch once under each of `seeds`, blocks one by one, so that
/// each run can be repeated exactly. `body` must not mind running again.
///
/// # Errors
///
/// The first defect; it names its seed.
pub fn check_schedules(
    seeds: impl IntoIterator<Item = u64>,
    launch: &Launch<'_>,
    body: &(dyn Fn() + Sync),
) -> Result<(), Box<Defect>> {
    for seed in seeds {
        let options = Options {
            seed,
            parallel_blocks: false,
            ..launch.options.clone()
        };
        let options = &options;
        run(&Launch { options, ..*launch }, body)?;
    }
    Ok(())
}
