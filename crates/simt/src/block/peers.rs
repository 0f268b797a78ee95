//! The blocks of one cluster: each reaches the shared memory and the barriers of the others.

use super::state::Block;
use super::thread::{Thread, Wait};
use std::ptr;

impl Block {
    /// The number of blocks in the cluster.
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

    /// The block of the cluster whose shared memory holds `address`, and the offset there.
    pub fn owner_of(&self, address: usize) -> Option<(&Block, usize)> {
        if let Some(offset) = self.shared.offset_of(address) {
            return Some((self, offset));
        }
        let mut others = self.peers().filter(|peer| !ptr::eq(*peer, self));
        others.find_map(|peer| Some((peer, peer.shared.offset_of(address)?)))
    }

    /// A thread has arrived at the barrier of the cluster.
    pub fn arrive_at_cluster(&self) {
        self.cluster.barrier.arrive();
        self.peers().for_each(|peer| peer.uses_machine.set(true));
        self.complete_cluster();
    }

    /// A thread has exited: the barrier of the cluster no longer waits for it.
    pub fn note_cluster_exit(&self, exited: &Thread) {
        if let Some(phase) = exited.machine.cluster_arrival.take() {
            self.cluster.barrier.withdraw(phase);
        }
        self.complete_cluster();
    }

    /// Releases the threads at the barrier of the cluster, once all that have not exited have
    /// arrived.
    fn complete_cluster(&self) {
        let left = |peer: &Self| peer.threads.len() as u32 - peer.exited_threads.get();
        if !self
            .cluster
            .barrier
            .is_complete(self.peers().map(left).sum())
        {
            return;
        }
        self.cluster.hand_on();
        for peer in self.peers() {
            peer.release_threads(|wait| wait == Wait::ClusterBarrier);
        }
    }

    /// Releases the threads whose wait `is_over`.
    pub fn release_threads(&self, is_over: impl Fn(Wait) -> bool) {
        for thread in self.threads.iter().filter(|it| is_over(it.wait.get())) {
            self.release_thread(thread.position.thread());
        }
    }

    /// Releases the waiting thread of this number in the block.
    pub fn release_thread(&self, number: u32) {
        let thread = &self.threads[number as usize];
        thread.wait.set(Wait::Nothing);
        self.make_ready(thread.position.warp as usize, thread.lane_bit());
        self.note_progress();
    }
}
