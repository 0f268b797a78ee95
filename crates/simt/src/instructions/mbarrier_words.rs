//! The words of mbarriers: finding them, and checking that they are ready for use.

use crate::basics::{CallSite, DefectKind, Finding};
use crate::block::{Block, Thread};
use crate::state::{MBARRIER_BYTES, Mbarrier};

impl Block {
    /// The block and the offset of a word for an mbarrier.
    pub(super) fn word_of(
        &self,
        thread: &Thread,
        address: usize,
        site: CallSite,
    ) -> (&Block, usize) {
        if !address.is_multiple_of(MBARRIER_BYTES) {
            let message =
                format!("an mbarrier at address {address:#x}, which is not a multiple of 8");
            self.fail(thread, DefectKind::Misaligned, message, site);
        }
        let Some(found) = self.owner_of(address) else {
            let message = format!(
                "an mbarrier at address {address:#x}, which is in the shared memory of no block of \
                 the cluster"
            );
            self.fail(thread, DefectKind::OutOfBounds, message, site);
        };
        found
    }

    /// The offset of a word for an mbarrier, in the block's own shared memory.
    pub(super) fn own_word(&self, thread: &Thread, address: usize, site: CallSite) -> usize {
        let (owner, offset) = self.word_of(thread, address, site);
        if !std::ptr::eq(owner, self) {
            let message = "an mbarrier of another block: only arrivals and expected bytes may be \
                           remote"
                .to_owned();
            self.fail(thread, DefectKind::InvalidArgument, message, site);
        }
        offset
    }

    pub(super) fn own_mbarrier(
        &self,
        thread: &Thread,
        address: usize,
        site: CallSite,
    ) -> (usize, Mbarrier) {
        let offset = self.own_word(thread, address, site);
        (offset, self.mbarrier_of(thread, (self, offset), site))
    }

    /// The mbarrier at this offset of this block of the cluster.
    pub(super) fn mbarrier_of(
        &self,
        thread: &Thread,
        (owner, offset): (&Block, usize),
        site: CallSite,
    ) -> Mbarrier {
        match owner.mbarriers.get(offset) {
            Some(barrier) => {
                self.check_visible(thread, (owner, offset), &barrier, site);
                barrier
            }
            None => {
                let message = format!(
                    "there is no mbarrier at byte {offset} of the shared memory of block {}: it \
                     has not been initialised, or was invalidated since",
                    owner.threads[0].position.block_idx
                );
                self.fail_among_others(thread, DefectKind::BarrierMisuse, message, site)
            }
        }
    }

    /// Ends the launch unless the initialisation of an mbarrier comes before its use and, for another block, was
    /// fenced.
    fn check_visible(
        &self,
        thread: &Thread,
        (owner, offset): (&Block, usize),
        barrier: &Mbarrier,
        site: CallSite,
    ) {
        let (Some(check), Some(of_owner)) = (self.active_check(), &owner.check) else {
            return;
        };
        let sees = of_owner.sees_mbarrier(check, &thread.position, offset);
        let is_fenced = barrier.is_fenced || std::ptr::eq(owner, self);
        let missing = match (self.end_on(thread, sees), is_fenced) {
            (true, true) => return,
            (false, _) => "a barrier of the block, or of the cluster, between the two",
            (true, false) => "`fence.mbarrier_init` by the thread that initialises it",
        };
        let message = format!(
            "an operation on the mbarrier at byte {offset} of block {} before its initialisation is \
             visible; missing: {missing}",
            owner.threads[0].position.block_idx
        );
        self.fail_at_mbarrier(thread, message, (offset, barrier), site)
    }

    #[cold]
    pub(super) fn fail_initialised(
        &self,
        thread: &Thread,
        (offset, known): (usize, usize),
        barrier: &Mbarrier,
        site: CallSite,
    ) -> ! {
        let message = format!(
            "an mbarrier is initialised at byte {offset} of shared memory, where one is in use from \
             byte {known} on"
        );
        self.fail_at_mbarrier(thread, message, (known, barrier), site)
    }

    #[cold]
    pub(super) fn fail_in_use(
        &self,
        thread: &Thread,
        waiting: usize,
        (offset, barrier): (usize, &Mbarrier),
        site: CallSite,
    ) -> ! {
        let use_made = match waiting {
            0 => "bytes are on their way to it".to_owned(),
            1 => "a thread waits at it".to_owned(),
            _ => format!("{waiting} threads wait at it"),
        };
        let message = format!(
            "the mbarrier at byte {offset} of shared memory is invalidated while {use_made}"
        );
        self.fail_at_mbarrier(thread, message, (offset, barrier), site)
    }

    #[cold]
    pub(super) fn fail_arrivals(
        &self,
        thread: &Thread,
        (owner, offset): (&Block, usize),
        count: u32,
        barrier: &Mbarrier,
        site: CallSite,
    ) -> ! {
        let arrivals = match count {
            1 => "one arrival too many".to_owned(),
            _ => format!("{count} arrivals at once are too many"),
        };
        let message = format!(
            "{arrivals} in phase {} of the mbarrier at byte {offset} of block {}: {}",
            barrier.phase,
            owner.threads[0].position.block_idx,
            barrier.lack()
        );
        self.fail_at_mbarrier(thread, message, (offset, barrier), site)
    }

    #[cold]
    pub(super) fn fail_at_mbarrier(
        &self,
        thread: &Thread,
        message: String,
        (offset, barrier): (usize, &Mbarrier),
        site: CallSite,
    ) -> ! {
        let kind = DefectKind::BarrierMisuse;
        let finding = Finding::of(&thread.position, kind, message);
        self.fail_with(
            thread,
            finding
                .at(site)
                .with_related(vec![barrier.describe(offset)]),
        )
    }
}
