//! `setmaxnreg` of the PTX ISA: warpgroups move registers between them.

use crate::basics::{CallSite, DefectKind};
use crate::block::{Block, Thread, Wait};
use crate::current::live_instruction;
use crate::state::{FEWEST_REGISTERS, MOST_REGISTERS, REGISTER_UNIT, WARPS};

/// Sets the registers of each thread of the running thread's warpgroup to `count`.
///
/// With `increase`, `count` is larger than before, and the warpgroup waits until others have given enough back;
/// otherwise it is smaller.
///
/// # Panics
///
/// Outside of a launch.
#[track_caller]
pub fn set_max_registers(count: u32, increase: bool) {
    live_instruction(|thread, block, site| {
        let warp = thread.position.warp as usize;
        block.warpgroup_of(thread, "setmaxnreg", site);
        if let Some(message) = block.registers_out_of_range(warp, count, increase) {
            block.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        let value = u64::from(count) << 1 | u64::from(increase);
        if block.meet_warp(thread, "setmaxnreg", value, site) {
            block.uses_machine.set(true);
            block.registers.note_change(warp, site);
            match increase {
                true => block.registers.ask(warp, count),
                false => block.registers.release(warp, count),
            }
            block.grant_registers();
        }
        while increase && block.registers.wanted(warp) != 0 {
            thread.wait_for(Wait::Registers, site);
        }
    });
}

impl Block {
    fn registers_out_of_range(&self, warp: usize, count: u32, increase: bool) -> Option<String> {
        let is_allowed = (FEWEST_REGISTERS..=MOST_REGISTERS).contains(&count)
            && count.is_multiple_of(REGISTER_UNIT);
        let now = self.registers.of(warp);
        let most = self.registers.most_of(WARPS as u32);
        if !is_allowed {
            Some(format!(
                "setmaxnreg to {count} registers: they can be {FEWEST_REGISTERS} to \
                 {MOST_REGISTERS}, in steps of {REGISTER_UNIT}"
            ))
        } else if increase && count < now || !increase && count > now {
            let word = if increase { "inc" } else { "dec" };
            Some(format!(
                "setmaxnreg.{word} to {count} registers, where threads of the warpgroup have {now}"
            ))
        } else if increase && count > most {
            Some(format!(
                "setmaxnreg to {count} registers: with {FEWEST_REGISTERS} for each thread of the \
                 other warps, the registers of the block suffice for {most}"
            ))
        } else {
            None
        }
    }

    fn grant_registers(&self) {
        while let Some(granted) = self.registers.grant() {
            let first = self.first_thread_of_warp(granted);
            let lanes = self.warps[granted].existing.count_ones() as usize;
            for thread in &self.threads[first..first + lanes] {
                if thread.wait.get() == Wait::Registers {
                    self.release_thread(thread.position.thread());
                }
            }
        }
    }

    /// The number of the thread's warpgroup; ends the launch unless all of its warps exist and are
    /// full.
    pub(super) fn warpgroup_of(&self, thread: &Thread, what: &str, site: CallSite) -> usize {
        let group = thread.position.warp as usize / WARPS;
        let width = thread.position.warp_width as usize;
        if width != 32 || self.threads.len() < (group + 1) * WARPS * width {
            let message = format!(
                "{what} is for warpgroups of {WARPS} warps of 32 lanes, and the block has {} \
                 threads in warps of {width}",
                self.threads.len()
            );
            self.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        group
    }
}
