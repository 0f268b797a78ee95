//! State that the blocks of one cluster share.

use crate::basics::Dim3;
use crate::check::BarrierOrder;
use crate::state::ClusterBarrier;
use std::cell::RefCell;
use std::ptr::NonNull;

/// State that the blocks of one cluster share.
pub(crate) struct Cluster<Block> {
    pub dim: Dim3,
    pub barrier: ClusterBarrier,
    /// The order that the arrived threads pass on.
    gathering: RefCell<BarrierOrder>,
    /// The order that the threads of the last phase have passed on.
    complete: RefCell<BarrierOrder>,
    /// The blocks, by rank, while all of them run; empty for a cluster of one.
    members: RefCell<Vec<NonNull<Block>>>,
}

impl<Block> Cluster<Block> {
    /// A cluster of `dim` blocks.
    pub fn new(dim: Dim3) -> Self {
        Self {
            dim,
            barrier: ClusterBarrier::default(),
            gathering: RefCell::default(),
            complete: RefCell::default(),
            members: RefCell::default(),
        }
    }

    /// The barrier begins with the first phase.
    pub fn begin_barrier(&self) {
        self.barrier.begin();
        self.gathering.take();
        self.complete.take();
    }

    /// Merges the order before an arriving thread.
    pub fn gather(&self, handed: &BarrierOrder) {
        self.gathering.borrow_mut().add(handed);
    }

    /// The order that the threads passed on in the last phase.
    pub fn handed(&self) -> BarrierOrder {
        self.complete.borrow().clone()
    }

    /// Begins a run of these blocks, given by rank.
    ///
    /// # Safety
    ///
    /// 1. Until [`end`](Self::end), the blocks stay where they are, and only shared references to
    ///    them exist, on this host thread.
    pub unsafe fn begin<'a>(&self, blocks: impl Iterator<Item = &'a Block>)
    where
        Block: 'a,
    {
        let mut members = self.members.borrow_mut();
        *members = blocks.map(NonNull::from).collect();
    }

    /// Ends the run of the blocks.
    pub fn end(&self) {
        self.members.borrow_mut().clear();
    }

    /// The block of this rank.
    pub fn member(&self, rank: u32) -> Option<&Block> {
        let member = self.members.borrow().get(rank as usize).copied()?;
        // SAFETY: the caller of `begin` keeps the block in place, behind shared references only,
        // until `end`, which is not called while one of them runs.
        Some(unsafe { member.as_ref() })
    }

    /// Completes the phase of the barrier: all threads get the order that the arrivals have passed
    /// on.
    pub fn hand_on(&self) {
        self.complete.replace(self.gathering.take());
    }
}
