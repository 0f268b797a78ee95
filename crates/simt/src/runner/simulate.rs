//! The frame around each launch: limits, host threads, signal handlers, and the result.

use super::run::Run;
use crate::basics::{Defect, DefectKind};
use crate::current::is_simulated_thread;
use crate::host::{Pool, Watching, no_threads, pool};
use crate::instructions::fail;
use crate::launch::{Launch, Options, Report};
use crate::memory::hold_reserve;
use crate::state::Watch;

/// Checks the launch and runs its blocks by `run_blocks` on host threads of the simulator, repeatedly if a load is
/// to return a later store.
pub(crate) fn simulate(
    launch: &Launch<'_>,
    run_blocks: impl Fn(&Pool, &Run<'_>),
) -> Result<Report, Box<Defect>> {
    if is_simulated_thread() {
        fail(
            DefectKind::NestedLaunch,
            format!(
                "kernel `{}` is launched by a thread of a kernel",
                launch.kernel
            ),
        );
    }
    let no_block = |finding| launch.defect(finding, None);
    launch.check_limits().map_err(no_block)?;
    hold_reserve();
    let pool = pool().map_err(no_block)?;
    let watching = Watching::begin();
    let _watching = watching.map_err(|error| no_block(no_threads(&error)))?;
    let Options {
        checks, counters, ..
    } = *launch.options;
    let is_watched = checks || counters || launch.is_preemptive();
    let _watch = is_watched.then(|| Watch::begin(counters));
    let run_blocks = |run: &Run<'_>| {
        run_blocks(&pool, run);
        run.forget_shadow();
    };
    let run = Run::first(launch);
    run_blocks(&run);
    run.finish_or_repeat(run_blocks)
}
