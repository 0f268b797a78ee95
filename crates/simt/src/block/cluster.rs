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

    /// A thread hands on what is ordered before it.
    pub fn gather(&self, handed: &BarrierOrder) {
        self.gathering.borrow_mut().add(handed);
    }

    /// The order that the threads have passed on in the last phase.
    pub fn handed(&self) -> BarrierOrder {
        self.complete.borrow().clone()
    }

    /// These blocks, by rank, begin to run together.
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

    /// The blocks have ended.
    pub fn end(&self) {
        self.members.borrow_mut().clear();
    }

    /// The block of this rank.
    pub fn member(&self, rank: u32) -> Option<&Block> {
        let member = self.members.borrow().get(rank as usize).copied()?;
        // SAFETY: `begin` promises (1) that the block is there until `end`, which is not called
        // while one of them runs.
        Some(unsafe { member.as_ref() })
    }

    /// The phase of the barrier is complete: what the threads have handed on is there for all.
    pub fn hand_on(&self) {
        self.complete.replace(self.gathering.take());
    }
}
