//! Launches of independent blocks.

use super::cooperative::MAX_RESIDENT_THREADS;
use super::queue::Queue;
use super::residents::Residents;
use super::run::Run;
use super::simulate::simulate;
use super::worker::Worker;
use crate::basics::{Defect, SplitMix64};
use crate::launch::{Body, Launch, Options, Report};
use std::ops::ControlFlow;
use std::thread::panicking;

/// Simulates a launch: runs `body` once per thread.
///
/// Returns when every thread has exited, or when a defect was found and all threads were stopped. Several host threads
/// may call it at once.
///
/// # Errors
///
/// The defect of the lowest block that has one. Blocks above it are stopped; blocks below it still run to their end, so
/// that the result does not depend on the speed of host threads. If one host thread runs the blocks, the first defect
/// in the seed's order.
pub fn run(launch: &Launch<'_>, body: &Body) -> Result<Report, Box<Defect>> {
    simulate(launch, |pool, run| {
        let workers = match launch.options.parallel_blocks {
            true => pool
                .threads()
                .min(run.clusters.try_into().unwrap_or(usize::MAX)),
            false => 1,
        };
        let mut random = SplitMix64::new(launch.options.seed, u64::MAX);
        let queue = Queue::new(run, &mut random);
        pool.run(workers, &|number| {
            run_blocks(run, body, &queue, (number, workers))
        });
    })
}

/// Runs blocks of the queue until there are none left, as host thread `number` of `workers`; continues if another host
/// thread has to take the next one.
fn run_blocks(
    run: &Run<'_>,
    body: &Body,
    queue: &Queue,
    (number, workers): (usize, usize),
) -> ControlFlow<()> {
    if run.launch.is_preemptive() || run.launch.cluster.count() > 1 {
        interleave(run, body, queue, (number, workers));
        return ControlFlow::Break(());
    }
    while let Some(index) = queue.take(|index| run.is_pointless(index)) {
        Worker::with(|worker| worker.run_block(run, index, body));
        if workers == 1 && run.has_defect() {
            break;
        }
        // A thread that was left while it unwound has marked its host thread as panicking for ever, and kernels
        // would see that.
        if panicking() {
            return ControlFlow::Continue(());
        }
    }
    ControlFlow::Break(())
}

/// Runs blocks in turns, as many at a time as the device and the host hold.
fn interleave(run: &Run<'_>, body: &Body, queue: &Queue, (number, workers): (usize, usize)) {
    let threads = (run.launch.block.count() * run.launch.cluster.count()) as usize;
    let on_host = MAX_RESIDENT_THREADS as usize / workers / threads;
    let most = match run.launch.is_preemptive() {
        true => on_host.max(1),
        false => 1,
    };
    run.capacity.add_worker();
    let random = SplitMix64::new(run.launch.options.seed, u64::MAX - number as u64);
    Worker::with(|worker| {
        worker.run_resident(run, workers, |worker| {
            Residents::new(run, body, worker, queue, most, random).take_all_turns();
        });
    });
}

/// Simulates a launch once under each of `seeds`, with one host thread, so that each run can be repeated exactly.
///
/// `body` must have the same effect each time it runs.
///
/// # Errors
///
/// The first defect; it names its seed.
pub fn under_seeds(
    seeds: impl IntoIterator<Item = u64>,
    launch: &Launch<'_>,
    body: &Body,
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
