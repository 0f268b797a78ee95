//! Which lanes of a warp are together: `activemask` of the PTX ISA, for lanes
//! that then work together.

use crate::block::{Block, Wait};
use crate::current::instruction;
use crate::random::SplitMix64;
use std::panic::Location;

/// One time in so many, lanes that could be together are not: hardware may run
/// the lanes of one branch apart.
const APART: u64 = 4;

/// The lanes of the running thread's warp that are at this line together.
///
/// Each of them gets the same mask, and none of them goes on before all of them
/// have come. Lanes come together once nothing else in their warp can run; now
/// and then, as the seed has it, only some of them do.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn converged_lanes() -> u64 {
    let site = Location::caller();
    instruction(site, |thread, block| {
        if block.is_unwinding(thread) {
            return thread.lane_bit();
        }
        let warp = block.warp_of(thread);
        warp.converging
            .set(warp.converging.get() | thread.lane_bit());
        thread.wait_for(Wait::Converge, site);
        warp.converged.get()
    })
}

impl Block {
    /// Lets lanes of a warp in which nothing can run go on from the line at
    /// which they are together.
    pub fn release_converged(&self, index: usize, random: &mut SplitMix64) {
        let warp = &self.warps[index];
        let waiting = warp.converging.get();
        if waiting == 0 {
            return;
        }
        let first = waiting.trailing_zeros();
        let site_of = |lane: u32| {
            let thread = self.first_thread_of_warp(index) + lane as usize;
            self.threads[thread].site.get()
        };
        let at_line = (0..u64::BITS)
            .filter(|lane| waiting >> lane & 1 == 1 && site_of(*lane) == site_of(first))
            .fold(0, |lanes, lane| lanes | 1 << lane);
        let together = match random.below(APART) {
            0 => at_line & random.next() | 1 << first,
            _ => at_line,
        };
        warp.converged.set(together);
        warp.converging.set(waiting & !together);
        self.make_ready(index, together);
        self.note_progress();
    }
}
