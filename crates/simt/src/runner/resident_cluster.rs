//! A started cluster, whose blocks run together on one host thread. Without clusters, it is a single block.

use super::resident::Resident;
use super::run::Run;
use crate::basics::{Dim3, SplitMix64};
use crate::block::{Block, Cluster};
use crate::memory::OutOfMemory;
use crate::state::{Grid, StaticLayout, Watched};
use std::rc::Rc;
use std::sync::Arc;

/// A cluster whose blocks have started.
pub(super) struct ResidentCluster {
    /// By rank.
    pub members: Vec<Resident>,
    cluster: Rc<Cluster<Block>>,
    /// Whether the cluster is running.
    pub is_live: bool,
}

impl ResidentCluster {
    /// A place for a cluster of the launch.
    pub fn new(
        run: &Run<'_>,
        grid: Option<&Rc<Grid>>,
        watched: &Arc<Watched>,
    ) -> Result<Self, OutOfMemory> {
        let dim = run.launch.cluster;
        let cluster = Rc::new(Cluster::new(dim));
        let layout = Rc::<StaticLayout>::default();
        let mut members = Vec::new();
        for _ in 0..dim.count() {
            let mut resident = Resident::new(run, grid, watched)?;
            resident.block.cluster = Rc::clone(&cluster);
            if dim.count() > 1 {
                resident.block.shared.share_layout(&layout);
            }
            members.push(resident);
        }
        Ok(Self {
            members,
            cluster,
            is_live: false,
        })
    }

    /// Starts cluster number `unit` of the launch here.
    pub fn begin(&mut self, run: &Run<'_>, unit: u64) {
        let dim = run.launch.cluster;
        for (rank, resident) in (0..).zip(&mut self.members) {
            let index = block_of(run.launch.grid, dim, unit, rank);
            resident.begin(run, index);
            if dim.count() > 1 {
                resident.block.shared.poison();
            }
        }
        // SAFETY: the blocks are in boxes, so they do not move, and until `end` only turns on this
        // host thread borrow them, by shared references.
        unsafe {
            let blocks = self.members.iter().map(|resident| &*resident.block);
            self.cluster.begin(blocks);
        }
        self.is_live = true;
    }

    /// No thread of the cluster is left.
    pub fn end(&mut self) {
        self.cluster.end();
        self.is_live = false;
    }

    /// The rank of a block with a runnable thread, drawn if there are several.
    pub fn draw(&self, random: &mut SplitMix64) -> Option<usize> {
        let can_run = |rank: &usize| !self.members[*rank].block.is_at_rest();
        let mut ready = (0..self.members.len()).filter(can_run);
        if self.members.len() == 1 {
            return ready.next();
        }
        let choices = ready.clone().count() as u64;
        (choices != 0).then(|| ready.nth(random.below(choices) as usize))?
    }

    /// Makes a step of an operation in flight, in one of the blocks.
    pub fn step_machine(&mut self) -> bool {
        let mut members = self.members.iter_mut();
        members.any(|resident| resident.block.step_machine(&mut resident.random))
    }

    /// Whether no thread can run and nothing is in flight.
    pub fn is_at_rest(&self) -> bool {
        let mut members = self.members.iter();
        members.all(|it| it.block.is_at_rest() && !it.block.is_machine_busy())
    }

    /// Whether a block was ended before its threads have exited.
    pub fn is_abandoned(&self) -> bool {
        self.members.iter().any(|it| it.block.is_abandoned())
    }

    /// Whether a thread was switched, and whether one has yielded, since the last call.
    pub fn take_notes(&self) -> [bool; 2] {
        let mut notes = [false; 2];
        for resident in &self.members {
            let of_turn = &resident.block.turn_notes;
            notes[0] |= of_turn.preempted.replace(false);
            notes[1] |= of_turn.yielded.replace(false);
        }
        notes
    }

    /// Ends all blocks after a finding of one of them, or if threads can never run again.
    pub fn settle(&self) {
        if !self.is_abandoned() {
            let mut stuck = self.members.iter().filter(|it| !it.block.has_ended());
            // A block that only waits at the barrier of the cluster does not explain the deadlock.
            let first = stuck.clone().next();
            let stuck = stuck.find(|it| it.block.waits_for_its_own()).or(first);
            if let Some(stuck) = stuck {
                stuck.block.record(stuck.block.stuck());
            }
        }
        if self.is_abandoned() {
            self.abandon();
        }
    }

    /// Ends all blocks.
    pub fn abandon(&self) {
        self.members.iter().for_each(|it| it.block.abandon());
    }
}

/// The number of the block of this rank in cluster number `unit` of a grid.
pub(super) fn block_of(grid: Dim3, cluster: Dim3, unit: u64, rank: u64) -> u64 {
    let clusters = Dim3::new(grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z);
    let (of_cluster, within) = (clusters.index_of(unit), cluster.index_of(rank));
    let place = |of_cluster: u32, size: u32, within: u32| u64::from(of_cluster * size + within);
    let x = place(of_cluster.x, cluster.x, within.x);
    let y = place(of_cluster.y, cluster.y, within.y);
    let z = place(of_cluster.z, cluster.z, within.z);
    x + u64::from(grid.x) * (y + u64::from(grid.y) * z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_is_in_one_cluster() {
        let (grid, cluster) = (Dim3::new(4, 6, 2), Dim3::new(2, 3, 1));
        let blocks = (0..8).flat_map(|unit| (0..6).map(move |rank| (unit, rank)));
        let mut numbers: Vec<u64> = blocks
            .map(|(unit, rank)| block_of(grid, cluster, unit, rank))
            .collect();
        assert_eq!(numbers[..6], [0, 1, 4, 5, 8, 9]);
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..48));
    }
}
