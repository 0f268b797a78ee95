//! The end of a block by a finding of its running thread.

use super::state::Block;
use super::thread::Thread;
use crate::basics::{CallSite, DefectKind, Finding};

impl Block {
    /// The reason why the block is torn down, in words, if it is and the reason is known.
    #[cold]
    pub fn why_abandoned(&self) -> Option<String> {
        if !self.is_abandoned() {
            return None;
        }
        let Ok(finding) = self.finding.try_borrow() else {
            return None;
        };
        let Some(finding) = &*finding else {
            return self.lowest_defect.describe();
        };
        let place = finding.location.as_ref();
        let place = place.map_or_else(String::new, |place| format!(" at {place}"));
        let thread = finding.thread;
        let thread = thread.map_or_else(String::new, |thread| format!(" in thread {thread}"));
        Some(format!(
            "{}{thread}{place}: {}",
            finding.kind, finding.message
        ))
    }

    /// Ends the block with a finding of `thread`, which is the running one.
    #[cold]
    pub fn fail(&self, thread: &Thread, kind: DefectKind, message: String, site: CallSite) -> ! {
        let finding = Finding::of(&thread.position, kind, message);
        self.fail_with(thread, finding.at(site))
    }

    /// Like [`Block::fail`], with a description of the other threads.
    #[cold]
    pub fn fail_among_others(
        &self,
        thread: &Thread,
        kind: DefectKind,
        message: String,
        site: CallSite,
    ) -> ! {
        let finding = Finding::of(&thread.position, kind, message).at(site);
        self.fail_with(thread, finding.with_related(self.describe_others(thread)))
    }

    /// Ends the block because `thread`, the running one, and others only poll words. The finding names the words'
    /// last writers and describes the other threads.
    #[cold]
    pub fn fail_spinning(&self, thread: &Thread, message: String, site: CallSite) -> ! {
        let finding = self.spinning(thread, message);
        self.fail_with(thread, finding.at(site))
    }

    /// Ends the block with `finding`; `thread` is the running one.
    #[cold]
    pub fn fail_with(&self, thread: &Thread, finding: Finding) -> ! {
        self.record(finding.with_calls());
        thread.confinement.cut_off();
    }
}
