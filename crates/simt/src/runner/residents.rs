//! Resident blocks, which take turns on one host thread: those of a cooperative launch, of a preemptive schedule, and of
//! a cluster.
//!
//! The seed's generator chooses the next block, and whether another one starts. A launch with short-lived blocks has
//! few of them at a time; one whose blocks wait for each other soon has all that the device holds. A block whose
//! threads were switched may be held back, as the threads are within the block.

use super::queue::Queue;
use super::resident::Resident;
use super::resident_cluster::{ResidentCluster, block_of};
use super::run::Run;
use super::turns::Turns;
use super::worker::Worker;
use crate::basics::{DefectKind, Finding, SplitMix64};
use crate::launch::Body;
use crate::memory::OutOfMemory;
use crate::state::Grid;
use std::rc::Rc;
use std::time::Duration;

/// After a switch, a block is held back one time in `STAY_BEHIND`.
const STAY_BEHIND: u64 = 2;

/// One turn in `RETURN` begins with the return of a held-back block.
const RETURN: u64 = 16;

/// After a turn in which threads yield, a block returns one time in `RETURN_AFTER_YIELD`.
const RETURN_AFTER_YIELD: u64 = 4;

/// The interval at which a host thread without a cluster checks whether the device can hold one more.
const WAIT_FOR_CAPACITY: Duration = Duration::from_micros(100);

/// The resident blocks of a launch on one host thread.
pub(super) struct Residents<'a> {
    run: &'a Run<'a>,
    body: &'a Body,
    worker: &'a mut Worker,
    queue: &'a Queue,
    /// Some in a cooperative launch, whose blocks are all resident from its start to its end.
    pub grid: Option<Rc<Grid>>,
    /// Places for clusters, most of them single blocks, by number.
    pub places: Vec<ResidentCluster>,
    /// The places with a runnable thread.
    pub ready: Vec<usize>,
    /// The places whose cluster is held back.
    held: Vec<usize>,
    /// The places whose cluster has ended.
    free: Vec<usize>,
    /// The most clusters that the host thread can hold. The device may hold fewer.
    most: usize,
    random: SplitMix64,
}

impl<'a> Residents<'a> {
    /// No blocks yet; at most `most` clusters of the queue will be resident at a time.
    pub fn new(
        run: &'a Run<'a>,
        body: &'a Body,
        worker: &'a mut Worker,
        queue: &'a Queue,
        most: usize,
        random: SplitMix64,
    ) -> Self {
        Self {
            run,
            body,
            worker,
            queue,
            grid: None,
            places: Vec::new(),
            ready: Vec::new(),
            held: Vec::new(),
            free: Vec::new(),
            most,
            random,
        }
    }

    /// The blocks, by place.
    pub fn residents(&self) -> impl Iterator<Item = &Resident> {
        self.places.iter().flat_map(|place| &place.members)
    }

    /// Lets blocks take turns until all have ended, or a finding stops them.
    pub fn take_all_turns(&mut self) {
        while let Some(drawn) = self.draw_or_wait() {
            let place = self.ready[drawn];
            self.take_turn(place);
            self.settle(drawn);
            if self.must_stop() {
                break;
            }
        }
        self.end();
    }

    /// Runs a thread of the cluster at this place or, if none can run, makes a step of an operation
    /// in flight.
    fn take_turn(&mut self, place: usize) {
        match self.places[place].draw(&mut self.random) {
            Some(rank) => {
                self.turns(place, rank).take_one();
            }
            None => {
                self.places[place].step_machine();
            }
        }
    }

    /// Starts the next cluster of the queue, if one is needed and there is memory for it.
    pub fn start(&mut self) {
        let launch = self.run.launch;
        let first = |unit: u64| block_of(launch.grid, launch.cluster, unit, 0);
        // The clusters of a cooperative launch fit: checked before.
        let is_placed = self.grid.is_some() || self.run.capacity.enter();
        if !is_placed {
            return;
        }
        let is_pointless = |unit| self.run.is_pointless(first(unit));
        let unit = self.queue.take(is_pointless);
        match unit.map(|unit| (unit, self.free_place())) {
            Some((unit, Ok(place))) => {
                self.places[place].begin(self.run, unit);
                self.worker.watched.note_progress();
                self.ready.push(place);
                return;
            }
            Some((unit, Err(error))) => self.run.add_out_of_memory(first(unit), error),
            None => {}
        }
        self.leave();
    }

    /// A place without a cluster.
    fn free_place(&mut self) -> Result<usize, OutOfMemory> {
        if let Some(place) = self.free.pop() {
            return Ok(place);
        }
        let cluster = ResidentCluster::new(self.run, self.grid.as_ref(), &self.worker.watched)?;
        self.places.push(cluster);
        Ok(self.places.len() - 1)
    }

    /// Frees the device's capacity for another cluster.
    fn leave(&self) {
        if self.grid.is_none() {
            self.run.capacity.leave();
        }
    }

    /// The turns of a block of the cluster at this place.
    pub fn turns(&mut self, place: usize, rank: usize) -> Turns<'_> {
        let resident = &mut self.places[place].members[rank];
        Turns {
            run: self.run,
            index: resident.index,
            body: self.body,
            block: &resident.block,
            stacks: &mut self.worker.stacks,
            coroutines: &mut resident.coroutines,
            random: &mut resident.random,
        }
    }

    /// Like [`draw`](Self::draw), but waits while clusters of other host threads fill the device.
    fn draw_or_wait(&mut self) -> Option<usize> {
        loop {
            let drawn = self.draw();
            let is_over = self.grid.is_some() || self.queue.is_empty();
            if drawn.is_some() || is_over {
                return drawn;
            }
            let watched = &self.worker.watched;
            watched.between_blocks(|| std::thread::sleep(WAIT_FOR_CAPACITY));
        }
    }

    /// Draws the cluster whose turn is next; returns its index in `ready`.
    fn draw(&mut self) -> Option<usize> {
        loop {
            let can_start = self.can_start();
            if !self.held.is_empty()
                && (self.ready.is_empty() && !can_start || self.random.below(RETURN) == 0)
            {
                self.return_held();
            }
            let choices = self.ready.len() + usize::from(can_start);
            if choices == 0 {
                return None;
            }
            let drawn = self.random.below(choices as u64) as usize;
            if drawn == self.ready.len() {
                self.start();
            }
            if drawn < self.ready.len() {
                return Some(drawn);
            }
        }
    }

    fn can_start(&self) -> bool {
        let own = self.ready.len() + self.held.len();
        own < self.most && !self.queue.is_empty() && self.run.capacity.admits_another(own)
    }

    /// Makes one of the held-back clusters ready again.
    fn return_held(&mut self) {
        let drawn = self.random.below(self.held.len() as u64) as usize;
        self.ready.push(self.held.swap_remove(drawn));
    }

    /// Sorts in the cluster at index `drawn` of `ready` after its turn.
    fn settle(&mut self, drawn: usize) {
        let place = self.ready[drawn];
        self.note_static_memory(place);
        let cluster = &self.places[place];
        let [was_preempted, has_yielded] = cluster.take_notes();
        if cluster.is_at_rest() || cluster.is_abandoned() {
            self.ready.swap_remove(drawn);
            if self.grid.is_none() {
                self.end_cluster(place);
            }
        } else if was_preempted && self.random.below(STAY_BEHIND) == 0 {
            self.ready.swap_remove(drawn);
            self.held.push(place);
        }
        if has_yielded && !self.held.is_empty() && self.random.below(RETURN_AFTER_YIELD) == 0 {
            self.return_held();
        }
    }

    /// Notes how much static memory the blocks of the cluster at this place have used. A cooperative launch ends if its
    /// blocks then no longer fit on the device.
    fn note_static_memory(&self, place: usize) {
        let (run, members) = (self.run, &self.places[place].members);
        let bytes = members.iter().map(|it| it.block.shared.static_bytes());
        let bytes = bytes.max().unwrap_or(0);
        let before = run.capacity.most();
        if !run.capacity.note_turn(run.launch, bytes) || self.grid.is_none() {
            return;
        }
        let clusters = run.clusters as usize;
        if (run.capacity.most()..before).contains(&clusters.saturating_sub(1)) {
            let message = format!(
                "a cooperative launch of {} blocks with {bytes} bytes of static shared memory each, and \
                 {} of dynamic: the device holds {} at once",
                run.blocks,
                run.launch.dynamic_shared_bytes,
                run.launch.resident_blocks(bytes)
            );
            let block = &members[0].block;
            let finding = Finding::without_place(DefectKind::LaunchLimit, message);
            block.record(finding);
        }
    }

    /// Ends the cluster at this place, which has nothing more to run.
    fn end_cluster(&mut self, place: usize) {
        self.places[place].settle();
        for rank in 0..self.places[place].members.len() {
            // Ends the remaining threads.
            drop(self.turns(place, rank));
        }
        let cluster = &mut self.places[place];
        cluster.end();
        for resident in &mut cluster.members {
            self.run.end_block(&mut resident.block, resident.index);
        }
        self.free.push(place);
        self.leave();
    }

    /// Whether no block need continue.
    fn must_stop(&mut self) -> bool {
        if self.grid.is_some() {
            return self.meet_at_grid();
        }
        // With several host threads, blocks below the one with the defect continue.
        !self.run.launch.options.parallel_blocks && self.run.has_defect()
    }

    /// Ends the remaining blocks, which in a cooperative launch are all.
    fn end(&mut self) {
        if self.grid.is_some() && !self.has_abandoned() {
            self.report_stuck();
        }
        let is_cut_off = self.run.has_defect() || self.has_abandoned();
        for place in 0..self.places.len() {
            if !self.places[place].is_live {
                continue;
            }
            if is_cut_off {
                self.places[place].abandon();
            }
            self.end_cluster(place);
        }
    }

    /// Whether a block was ended before its threads have exited.
    pub fn has_abandoned(&self) -> bool {
        self.places.iter().any(ResidentCluster::is_abandoned)
    }
}
