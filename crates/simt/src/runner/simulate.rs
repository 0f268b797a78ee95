//! The frame around each launch: limits, host threads, signal handlers, and the result.

use super::run::Run;
use crate::basics::{Defect, DefectKind};
use crate::current::is_simulated_thread;
use crate::host::{Watching, no_threads, on_new_thread, pool};
use crate::instructions::fail;
use crate::launch::{Launch, Options, Report};
use crate::memory::hold_reserve;
use crate::state::Watch;

/// Checks the launch and runs its blocks by `run_blocks` on a host thread of the simulator, repeatedly if a load is
/// to return a later store.
pub(crate) fn simulate(
    launch: &Launch<'_>,
    run_blocks: impl Fn(&Run<'_>) + Sync,
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
        waiting_idly(|| pool.install(|| run_blocks(run)));
        run.forget_shadow();
    };
    let run = Run::first(launch);
    run_blocks(&run);
    run.finish_or_repeat(run_blocks)
}

/// Calls `action`, which waits for the workers.
///
/// A thread of another rayon pool would run other work of its pool meanwhile, such as a launch that waits for this one's
/// device. So on such a thread, `action` runs on a new one.
fn waiting_idly(action: impl FnOnce() + Send) {
    if rayon_core::current_thread_index().is_none() {
        return action();
    }
    on_new_thread(action);
}
