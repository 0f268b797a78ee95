//! Which lanes of a warp are together: `activemask` of the PTX ISA, for lanes
//! that then work together.

use crate::block::Wait;
use crate::current::instruction;

/// The lanes of the running thread's warp that are converged at this line.
///
/// Each of them gets the same mask, and none continues before all have arrived. Lanes converge once nothing else
/// in their warp can run. Now and then, as the seed chooses, only some of them do.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn converged_lanes() -> u64 {
    instruction(|thread, block, site| {
        if block.is_unwinding(thread) {
            return thread.lane_bit();
        }
        let convergence = &block.warp_of(thread).convergence;
        convergence.wait(thread.lane_bit());
        thread.wait_for(Wait::Converge, site);
        convergence.together()
    })
}
