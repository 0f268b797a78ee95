//! The blocks of one cluster: each reaches the shared memory and the barriers of the others.

use super::state::Block;
use super::thread::Wait;
use crate::basics::Dim3;
use crate::check::Handed;
use crate::state::ClusterBarrier;
use std::cell::RefCell;
use std::ptr::{self, NonNull};

/// What the blocks of one cluster share.
pub(crate) struct Cluster {
    pub dim: Dim3,
    pub barrier: ClusterBarrier,
    /// What the threads that have arrived hand on.
    gathering: RefCell<Handed>,
    /// What those of the last phase have handed on.
    complete: RefCell<Handed>,
    /// The blocks, by rank, while all of them run; empty for a cluster of one.
    members: RefCell<Vec<NonNull<Block>>>,
}

impl Cluster {
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

    /// The barrier begins with the first phase, for `threads` threads.
    pub fn begin_barrier(&self, threads: u32) {
        self.barrier.begin(threads);
        self.gathering.take();
        self.complete.take();
    }

    /// A thread hands on what is ordered before it.
    pub fn gather(&self, handed: &Handed) {
        self.gathering.borrow_mut().add(handed);
    }

    /// What the threads have handed on in the last phase.
    pub fn handed(&self) -> Handed {
        self.complete.borrow().clone()
    }

    /// These blocks, by rank, begin to run together.
    ///
    /// # Safety
    ///
    /// 1. Until [`end`](Self::end), the blocks stay where they are, and only shared references to
    ///    them exist, on this host thread.
    pub unsafe fn begin<'a>(&self, blocks: impl Iterator<Item = &'a Block>) {
        let mut members = self.members.borrow_mut();
        *members = blocks.map(NonNull::from).collect();
    }

    /// The blocks have ended.
    pub fn end(&self) {
        self.members.borrow_mut().clear();
    }

    /// The block of this rank.
    fn member(&self, rank: u32) -> Option<&Block> {
        let member = self.members.borrow().get(rank as usize).copied()?;
        // SAFETY: `begin` promises (1) that the block is there until `end`, which is not called
        // while one of them runs.
        Some(unsafe { member.as_ref() })
    }
}

impl Block {
    /// How many blocks its cluster has.
    pub fn cluster_blocks(&self) -> u32 {
        self.cluster.dim.count() as u32
    }

    /// The block of this rank in the cluster.
    pub fn peer(&self, rank: u32) -> Option<&Block> {
        match rank == self.rank.get() {
            true => Some(self),
            false => self.cluster.member(rank),
        }
    }

    /// The blocks of the cluster, by rank.
    pub fn peers(&self) -> impl Iterator<Item = &Block> {
        (0..self.cluster_blocks()).filter_map(|rank| self.peer(rank))
    }

    /// The block of the cluster in whose shared memory `address` is, and where it is in it.
    pub fn owner_of(&self, address: usize) -> Option<(&Block, usize)> {
        if let Some(offset) = self.shared.offset_of(address) {
            return Some((self, offset));
        }
        let mut others = self.peers().filter(|peer| !ptr::eq(*peer, self));
        others.find_map(|peer| Some((peer, peer.shared.offset_of(address)?)))
    }

    /// A thread has exited, which had arrived at the barrier of the cluster or not.
    pub fn note_cluster_exit(&self, has_arrived: bool) {
        if self.cluster.barrier.exit(has_arrived) {
            self.release_cluster();
        }
    }

    /// Lets the threads go on that wait at the barrier of the cluster.
    pub fn release_cluster(&self) {
        let handed = self.cluster.gathering.take();
        self.cluster.complete.replace(handed);
        for peer in self.peers() {
            peer.release_threads(|wait| wait == Wait::ClusterBarrier);
        }
    }

    /// Lets the threads go on whose wait `is_over`.
    pub fn release_threads(&self, is_over: impl Fn(Wait) -> bool) {
        for thread in self.threads.iter().filter(|it| is_over(it.wait.get())) {
            self.release_thread(thread.position.thread());
        }
    }

    /// Lets a thread go on that waits, by its number in the block.
    pub fn release_thread(&self, number: u32) {
        let thread = &self.threads[number as usize];
        thread.wait.set(Wait::Nothing);
        self.make_ready(thread.position.warp as usize, thread.lane_bit());
        self.note_progress();
    }
}
