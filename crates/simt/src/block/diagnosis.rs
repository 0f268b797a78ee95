//! Describes the activity of a block's threads, for the report of a defect.

use super::state::Block;
use super::thread::{Thread, Wait};
use super::waiting::{MAX_NOTES, describe};
use crate::basics::{DefectKind, Finding, Related, element_at, parameter_at};
use crate::memory::{describe as describe_allocation, snapshot};
use crate::state::{Left, WARPS, barrier_name, divergence_at};
use std::collections::BTreeSet;
use std::ptr;

impl Block {
    /// Describes the activity of all threads but `except`.
    #[cold]
    pub fn describe_others(&self, except: &Thread) -> Vec<Related> {
        describe(
            self.threads
                .iter()
                .filter(|thread| !ptr::eq(*thread, except)),
        )
    }

    /// "; the thread looks at the word at ..", if it has accessed one atomically.
    #[cold]
    pub fn describe_last_word(&self, thread: &Thread) -> String {
        self.last_word(thread).map_or_else(String::new, |place| {
            format!("; the thread looks at the word at {place}")
        })
    }

    /// Describes the word that `thread` last accessed by an atomic operation.
    #[cold]
    fn last_word(&self, thread: &Thread) -> Option<String> {
        /// The size of most words that threads wait for.
        const BYTES: usize = 4;
        let address = thread.last_word.get();
        if address == 0 {
            return None;
        }
        let in_shared = self.shared.describe(address, BYTES);
        let in_global = || {
            let allocations = snapshot();
            let allocation = allocations.find(address)?;
            let element = element_at(address - allocation.start, BYTES);
            let parameter = parameter_at(&self.views, allocation.start, address);
            let buffer = describe_allocation(allocation, "a buffer");
            Some(format!("{element} of {buffer}{parameter}"))
        };
        in_shared.or_else(in_global)
    }

    /// The last writers of the words that `thread` and the other runnable threads look at, each word once: where
    /// nothing else happens, all of them spin.
    #[cold]
    pub fn describe_writers(&self, thread: &Thread) -> Vec<Related> {
        let mut described = BTreeSet::from([0, thread.last_word.get()]);
        let mut notes: Vec<Related> = self.last_writer(thread).into_iter().collect();
        let can_run = |it: &&Thread| matches!(it.wait.get(), Wait::Yield | Wait::Nothing);
        let others = self.threads.iter().filter(can_run);
        for other in others.filter(|it| described.insert(it.last_word.get())) {
            if let (Some(place), Some(writer)) = (self.last_word(other), self.last_writer(other)) {
                let index = other.position.thread_idx;
                let note = format!(
                    "thread {index} looks at the word at {place}; {}",
                    writer.note
                );
                notes.push(Related { note, ..writer });
            }
        }
        notes.truncate(MAX_NOTES);
        notes
    }

    /// The last writer of the word that `thread` accessed last, if the checks know it.
    #[cold]
    fn last_writer(&self, thread: &Thread) -> Option<Related> {
        let (check, address) = (self.check.as_ref()?, thread.last_word.get());
        let owner = self.owner_of(address);
        let shared = owner.and_then(|(owner, offset)| Some((owner.check.as_ref()?, offset)));
        (address != 0)
            .then(|| check.last_writer(&thread.position, address, shared))
            .flatten()
    }

    /// The finding when threads, `thread` among them, poll words that no thread changes.
    #[cold]
    pub fn spinning(&self, thread: &Thread, message: String) -> Finding {
        let mut related = self.describe_writers(thread);
        related.extend(self.describe_others(thread));
        Finding::of(&thread.position, DefectKind::Deadlock, message).with_related(related)
    }

    /// Whether a thread waits for something other than the barrier of the cluster.
    #[cold]
    pub fn waits_for_its_own(&self) -> bool {
        let mut waits = self.threads.iter().map(|thread| thread.wait.get());
        waits.any(|wait| !matches!(wait, Wait::ClusterBarrier | Wait::Exited))
    }

    /// The finding when no thread can run, but some have not exited.
    #[cold]
    pub fn stuck(&self) -> Finding {
        let waits = || {
            self.threads
                .iter()
                .filter(|thread| thread.wait.get() != Wait::Exited)
        };
        let all_at_barriers = waits().all(|thread| matches!(thread.wait.get(), Wait::Barrier(_)));
        let some_at_grid_barrier = waits().any(|thread| thread.wait.get().is_for_grid());
        let all_in_warps =
            waits().all(|thread| matches!(thread.wait.get(), Wait::Collective { .. }));
        if !some_at_grid_barrier && let Some(finding) = self.stuck_at_mbarrier() {
            return finding;
        }
        if let Some(finding) = self.stuck_in_warpgroup() {
            return finding;
        }
        let (kind, message) = if some_at_grid_barrier {
            (
                DefectKind::GridBarrierDivergence,
                "some threads wait at the grid barrier, and others at something else",
            )
        } else if all_at_barriers {
            (
                DefectKind::BarrierDivergence,
                "every thread waits at a block barrier that can no longer be completed",
            )
        } else if all_in_warps {
            (
                DefectKind::WarpDivergence,
                "every thread waits for lanes that will not come",
            )
        } else {
            (
                DefectKind::Deadlock,
                "every thread waits for threads that wait for something else",
            )
        };
        self.finding_at_waiting(waits().next(), kind, message.to_owned())
    }

    /// The finding when threads wait for a phase of an mbarrier that nothing will complete.
    fn stuck_at_mbarrier(&self) -> Option<Finding> {
        let mut waits = self.threads.iter();
        let (waiting, offset) = waits.find_map(|thread| match thread.wait.get() {
            Wait::Mbarrier { offset, .. } => Some((thread, offset)),
            _ => None,
        })?;
        let barrier = self.mbarriers.get(offset)?;
        let threads = self.threads.len() as u32;
        let absent = self.mbarriers.absent(offset, self.rank.get(), threads);
        let absent_are = absent.as_ref().map(|it| format!("; {}", it.note));
        let message = format!(
            "threads wait for phase {} of the mbarrier at byte {offset} of shared memory, which \
             nothing will complete: {}{}",
            barrier.phase,
            barrier.lack(),
            absent_are.unwrap_or_default()
        );
        let mut finding = self.finding_at_waiting(Some(waiting), DefectKind::Deadlock, message);
        let arrived_before = absent.filter(|it| it.location.is_some());
        finding.related.extend(arrived_before);
        finding.related.extend(self.waited_mbarriers());
        Some(finding)
    }

    /// The mbarriers that threads wait for, each once.
    fn waited_mbarriers(&self) -> Vec<Related> {
        let waits = self.threads.iter().map(|thread| thread.wait.get());
        let offsets: BTreeSet<usize> = waits
            .filter_map(|wait| match wait {
                Wait::Mbarrier { offset, .. } => Some(offset),
                _ => None,
            })
            .collect();
        let barriers = offsets.into_iter().take(MAX_NOTES);
        barriers
            .filter_map(|offset| Some(self.mbarriers.get(offset)?.describe(offset)))
            .collect()
    }

    /// The finding when warps wait for other warps of their warpgroup, or for registers.
    fn stuck_in_warpgroup(&self) -> Option<Finding> {
        let is_for_group = |wait| matches!(wait, Wait::Products | Wait::Registers);
        let mut waits = self.threads.iter();
        let waiting = waits.find(|thread| is_for_group(thread.wait.get()))?;
        let warp = waiting.position.warp as usize;
        let message = match waiting.wait.get() {
            Wait::Products => format!(
                "warp {warp} waits for a product that not all warps of its warpgroup have issued: \
                 they have issued {:?}",
                self.products[warp / WARPS].issued()
            ),
            _ => format!(
                "warp {warp} waits for {} registers for each thread, where it has {} and {} are \
                 free for each",
                self.registers.wanted(warp),
                self.registers.of(warp),
                self.registers.free()
            ),
        };
        Some(self.finding_at_waiting(Some(waiting), DefectKind::Deadlock, message))
    }

    /// The finding when `exited` has returned while others wait for it; none if nobody does.
    pub fn missed_by_exit(&self, exited: &Thread) -> Option<Finding> {
        let warp = self.warp_of(exited);
        let waiting_lanes = warp.collectives.waiting_for(exited.lane_bit());
        let index = exited.position.thread_idx;
        if waiting_lanes != 0 {
            let first_lane = self.first_thread_of_warp(exited.position.warp as usize);
            let waiting = &self.threads[first_lane + waiting_lanes.trailing_zeros() as usize];
            let message = format!(
                "the mask names lane {}, but thread {index} has exited",
                exited.position.lane
            );
            return Some(self.finding_at_waiting(
                Some(waiting),
                DefectKind::WarpDivergence,
                message,
            ));
        }
        let id = self
            .barriers
            .first_waiting_for(exited.position.warp as usize, exited.lane_bit())?;
        let waiting = self
            .threads
            .iter()
            .find(|thread| thread.wait.get() == Wait::Barrier(id));
        if waiting.is_none() {
            return Some(self.missed_by_arrivals(exited, id));
        }
        let message = format!(
            "threads wait at {} for all threads of the block, but thread {index} has exited",
            barrier_name(id)
        );
        Some(self.finding_at_waiting(waiting, divergence_at(id), message))
    }

    /// The finding when `exited` has returned, and others have arrived, without waiting, at barrier `id` for all
    /// threads.
    fn missed_by_arrivals(&self, exited: &Thread, id: u32) -> Finding {
        let message = format!(
            "threads have arrived at {} for all threads of the block, but thread {} has exited",
            barrier_name(id),
            exited.position.thread_idx
        );
        Finding::of(&exited.position, divergence_at(id), message)
            .at(self.barriers.get(id).site())
            .with_related(describe(self.threads.iter()))
    }

    /// A finding at the line where `waiting` waits, with a description of all threads.
    pub fn finding_at_waiting(
        &self,
        waiting: Option<&Thread>,
        kind: DefectKind,
        message: String,
    ) -> Finding {
        Finding {
            location: waiting.map(|thread| thread.site.get().into()),
            thread: waiting.map(|thread| thread.position.thread_idx),
            related: describe(self.threads.iter()),
            ..Finding::without_place(kind, message)
        }
    }

    /// The finding when `exited` has returned with a copy in flight.
    pub(super) fn unfinished_copy(&self, exited: &Thread) -> Option<Finding> {
        let copies = exited.copies.borrow();
        let (copy, count) = copies.first_unfinished()?;
        let copies_are = if count == 1 { "copy" } else { "copies" };
        let message = format!(
            "the thread has exited with {count} asynchronous {copies_are} that it never waited for"
        );
        let finding = Finding::of(&exited.position, DefectKind::AsyncHazard, message);
        Some(finding.at(copy.site))
    }

    /// The finding when `thread` will not run again.
    #[cold]
    pub fn left_behind(&self, thread: &Thread, why: Left) -> Finding {
        if matches!(why, Left::TimeLimit) && self.yields.is_spinning() {
            let message = format!(
                "the threads of the block have only yielded, {} times in a row, until its {:?} of processor time \
                 were over: nothing that they wait for happens; if it only takes long, raise \
                 `Options::time_limit` (`SimulatorOptions::with_time_limit`){}",
                self.yields.idle(),
                self.time_limit().unwrap_or_default(),
                self.describe_last_word(thread)
            );
            return self.spinning(thread, message);
        }
        let (kind, message) = match why {
            Left::StackOverflow => (
                DefectKind::StackOverflow,
                format!(
                    "the thread needs more than its {} bytes of stack: keep its local arrays and \
                     its recursion smaller, or raise `Options::stack_bytes` \
                     (`SimulatorOptions::with_stack_bytes`)",
                    self.stack_bytes()
                ),
            ),
            Left::TimeLimit => (
                DefectKind::TimeLimit,
                format!(
                    "the block has run for {:?} of processor time, or waited for the host, without one of \
                     its threads exiting: a loop may have no end; if it has, raise \
                     `Options::time_limit` (`SimulatorOptions::with_time_limit`)",
                    self.time_limit().unwrap_or_default()
                ),
            ),
            Left::Stuck => (
                DefectKind::Panic,
                "the thread could not be unwound".to_owned(),
            ),
        };
        let related = match why {
            Left::TimeLimit => self.describe_others(thread),
            _ => Vec::new(),
        };
        Finding::of(&thread.position, kind, message).with_related(related)
    }
}
