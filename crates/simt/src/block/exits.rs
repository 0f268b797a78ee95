//! Checks when a thread exits or a block ends: nothing may be left in flight.

use super::state::Block;
use super::thread::Thread;
use crate::basics::{CallSite, DefectKind, Finding, Position, Related};
use crate::state::{Job, WARPS};

impl Block {
    /// Records the finding when `exited` has returned and has left something unfinished or in use.
    #[inline]
    pub fn check_left(&self, exited: &Thread) {
        let has_copies = exited.copies.borrow().first_unfinished().is_some();
        if has_copies || self.uses_machine.get() || self.must_wait(exited) {
            self.record_left(exited);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_left(&self, exited: &Thread) {
        let unfinished = self.check.as_ref().and_then(|_| {
            self.unfinished_copy(exited)
                .or_else(|| self.unread_store(exited))
                .or_else(|| self.unfinished_product(exited))
                .or_else(|| self.missing_wait(exited))
        });
        let in_use = || match self.uses_machine.get() {
            true => self.ended_in_use(exited),
            false => None,
        };
        if let Some(finding) = unfinished.or_else(in_use) {
            self.record(finding);
        }
    }

    /// Whether `thread` has yet to wait for the earlier launches.
    #[inline]
    pub fn must_wait(&self, thread: &Thread) -> bool {
        self.is_dependent && !thread.has_waited.get()
    }

    fn missing_wait(&self, exited: &Thread) -> Option<Finding> {
        if !self.must_wait(exited) {
            return None;
        }
        let message = "the thread has exited without a wait for the launches before: the launch \
                       behind waits for this one alone";
        let kind = DefectKind::MissingLaunchWait;
        Some(Finding::of(&exited.position, kind, message.to_owned()))
    }

    fn unread_store(&self, exited: &Thread) -> Option<Finding> {
        let site = exited.machine.bulk.borrow().first_unread()?;
        let message = "the thread has exited with a bulk store that may still read shared memory, \
                       which it never waited for"
            .to_owned();
        let finding = Finding::of(&exited.position, DefectKind::AsyncHazard, message);
        Some(finding.at(site))
    }

    fn unfinished_product(&self, exited: &Thread) -> Option<Finding> {
        let warp = exited.position.warp as usize;
        let site = self.products[warp / WARPS].unfinished(warp % WARPS)?;
        let message =
            "the thread has exited with a product of its warpgroup that it never waited for";
        let kind = DefectKind::AsyncHazard;
        Some(Finding::of(&exited.position, kind, message.to_owned()).at(site))
    }

    /// The finding when the last thread of the block has exited and has left something behind.
    fn ended_in_use(&self, exited: &Thread) -> Option<Finding> {
        if !self.has_ended() {
            return None;
        }
        self.copy_in_flight(exited)
            .or_else(|| self.missing_bytes(exited))
            .or_else(|| self.uneven_registers(exited))
            .or_else(|| {
                let positions = self.threads.iter().map(|thread| thread.position);
                let check = self.check.as_ref()?;
                check.accessed_at_end(&exited.position, positions)
            })
    }

    /// The finding for a bulk copy in flight to the block's shared memory.
    fn copy_in_flight(&self, exited: &Thread) -> Option<Finding> {
        let rank = self.rank.get();
        let load = self.peers().find_map(|peer| {
            let is_here = |job: &Job| matches!(job, Job::Load(load) if load.target == rank);
            match peer.engine.find(is_here) {
                Some(Job::Load(load)) => Some(load),
                _ => None,
            }
        })?;
        let message = format!(
            "the block ends while a bulk copy of {} bytes is in flight to its shared memory",
            load.bytes
        );
        let note = format!(
            "thread {} of block {} has issued it; missing: a wait for its mbarrier",
            load.position.thread_idx, load.position.block_idx
        );
        let related = Related::new(note, None);
        let finding = Finding::of(&exited.position, DefectKind::BlockEnded, message);
        Some(finding.at(load.site).with_related(vec![related]))
    }

    /// The finding for an mbarrier whose last phase has received more or fewer bytes than it
    /// expects.
    fn missing_bytes(&self, exited: &Thread) -> Option<Finding> {
        let mut found = None;
        self.mbarriers.for_each(|offset, barrier| {
            if barrier.expected != barrier.landed && found.is_none() {
                let message = format!(
                    "the block ends in phase {} of the mbarrier at byte {offset}, which expects {} \
                     bytes and has got {}",
                    barrier.phase, barrier.expected, barrier.landed
                );
                let finding = Finding::of(&exited.position, DefectKind::BarrierMisuse, message);
                found = Some(finding.at(barrier.site));
            }
        });
        found
    }

    /// The finding for a warpgroup in which only some warps have changed their registers.
    fn uneven_registers(&self, exited: &Thread) -> Option<Finding> {
        let changes: Vec<u32> = (0..self.warps.len())
            .map(|warp| self.registers.changes(warp))
            .collect();
        let uneven = changes.chunks(WARPS).position(|group| {
            let first = group[0];
            group.iter().any(|changes| *changes != first)
        })?;
        let message = format!(
            "setmaxnreg was executed by some warps of warpgroup {uneven} alone, where all must"
        );
        let mut warps = uneven * WARPS..self.warps.len();
        let site = warps.find_map(|warp| self.registers.site(warp));
        let finding = Finding::of(&exited.position, DefectKind::WarpDivergence, message);
        Some(finding.at(site))
    }

    /// The finding when the thread at `position`, in another block, uses this block after its end.
    #[cold]
    pub fn ended_before(&self, position: &Position, what: &str, site: CallSite) -> Finding {
        let message = format!(
            "{what} the shared memory of block {}, which has ended; missing: a barrier of the \
             cluster before the end of the kernel",
            self.threads[0].position.block_idx
        );
        Finding::of(position, DefectKind::BlockEnded, message).at(site)
    }
}
