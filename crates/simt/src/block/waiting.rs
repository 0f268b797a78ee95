//! Groups the threads of a block by their waits, for the report of a defect.

use super::state::Block;
use super::thread::{Thread, Wait};
use crate::basics::{CallSite, Related};

/// More notes than these do not help.
pub(super) const MAX_NOTES: usize = 8;

/// Threads with the same wait at the same line.
struct Group<'a> {
    wait: Wait,
    site: CallSite,
    first: &'a Thread,
    threads: usize,
}

impl Group<'_> {
    fn describe(&self) -> Related {
        let others = match self.threads {
            1 => String::new(),
            threads => format!(" and {} more", threads - 1),
        };
        let (what, has_line) = match self.wait {
            Wait::Nothing => ("can run".to_owned(), false),
            wait if wait.is_for_grid() => ("waits at the grid barrier".to_owned(), true),
            Wait::Barrier(id) => (format!("waits at block barrier {id}"), true),
            Wait::Collective { kind, mask } => {
                (format!("waits at {kind} with mask {mask:#x}"), true)
            }
            Wait::Mbarrier { offset, parity } => (
                format!(
                    "waits for phase parity {} of the mbarrier at byte {offset}",
                    u32::from(parity)
                ),
                true,
            ),
            Wait::ClusterBarrier => ("waits at the barrier of the cluster".to_owned(), true),
            Wait::Products => (
                "waits for the other warps of its warpgroup to issue their products".to_owned(),
                true,
            ),
            Wait::Registers => ("waits for registers".to_owned(), true),
            Wait::Converge => ("waits for the lanes at its line".to_owned(), true),
            Wait::Yield => ("yields".to_owned(), true),
            Wait::Exited => ("exited".to_owned(), false),
        };
        Related::new(
            format!("thread {}{others}: {what}", self.first.position.thread_idx),
            has_line.then(|| self.site.into()),
        )
    }
}

/// The threads that cannot run, in groups. Runnable threads explain nothing.
fn groups<'a>(threads: impl Iterator<Item = &'a Thread>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for thread in threads.filter(|thread| thread.wait.get() != Wait::Nothing) {
        let (wait, site) = (thread.wait.get(), thread.site.get());
        let known = groups
            .iter_mut()
            .find(|group| group.wait == wait && (group.site == site || wait == Wait::Exited));
        match known {
            Some(group) => group.threads += 1,
            None => groups.push(Group {
                wait,
                site,
                first: thread,
                threads: 1,
            }),
        }
    }
    groups.truncate(MAX_NOTES);
    groups
}

/// Describes threads in groups.
pub(super) fn describe<'a>(threads: impl Iterator<Item = &'a Thread>) -> Vec<Related> {
    groups(threads).iter().map(Group::describe).collect()
}

/// A thread whose call stack a finding needs: its number in the block, and the index of the further fact about it, or
/// none for the finding's own thread.
pub(crate) struct Asked {
    thread: usize,
    place: Option<usize>,
}

impl Block {
    /// Asks the waiting threads that the block's finding names for their call stacks. They answer when they are cut
    /// off.
    #[cold]
    pub fn ask_for_calls(&self) -> Vec<Asked> {
        let finding = self.finding.borrow();
        let Some(finding) = &*finding else {
            return Vec::new();
        };
        let mut asked = Vec::new();
        for group in groups(self.threads.iter()) {
            let index = group.first.position.thread_idx;
            let has_own = finding
                .calls
                .as_ref()
                .is_some_and(|calls| calls.own.is_some());
            let is_of_thread = finding.thread == Some(index) && !has_own;
            let related = group.describe();
            let place = finding.related.iter().position(|it| *it == related);
            if is_of_thread || place.is_some() && group.wait != Wait::Exited {
                group.first.confinement.ask_for_calls();
                asked.push(Asked {
                    thread: group.first.position.thread() as usize,
                    place: place.filter(|_| !is_of_thread),
                });
            }
        }
        asked
    }

    /// Adds the threads' call stacks to the block's finding.
    #[cold]
    pub fn add_calls(&self, asked: Vec<Asked>) {
        let mut finding = self.finding.borrow_mut();
        let Some(finding) = finding.as_mut().filter(|_| !asked.is_empty()) else {
            return;
        };
        let known = finding.calls.get_or_insert_default();
        for Asked { thread, place } in asked {
            let calls = self.threads[thread].confinement.take_calls();
            match place {
                Some(place) => known.waiting.extend(calls.map(|calls| (place, calls))),
                None => known.own = calls,
            }
        }
    }
}
