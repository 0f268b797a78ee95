//! Asynchronous copies between their issue and their wait.

use super::BlockCheck;
use super::event::{Event, Time};
use super::shadow::pages;
use crate::allocation::NoMemory;
use crate::async_copy::AsyncCopy;
use crate::block::{Block, Thread};
use crate::defect::{DefectKind, Finding, Related};

/// Why a copy has no certain result.
pub(crate) enum Hazard {
    /// Its source was written while it was in flight.
    Overwritten(Overwritten),
    /// The host has no memory left to check it.
    NoMemory,
}

/// A copy whose source was written while it was in flight.
pub(crate) struct Overwritten {
    copy: AsyncCopy,
    write: Event,
}

impl From<NoMemory> for Hazard {
    fn from(NoMemory: NoMemory) -> Self {
        Self::NoMemory
    }
}

impl BlockCheck {
    /// The moment at which a copy is issued.
    pub fn issue_copy(&self) -> Time {
        self.begin_copy()
    }

    /// A copy of `thread` arrives; fails if its source was written meanwhile.
    pub fn land(&self, thread: &Thread, block: &Block, copy: &AsyncCopy) -> Result<(), Hazard> {
        let source = copy.source.addr();
        for (number, offset, bytes) in pages(source, copy.source_bytes) {
            let written = self.launch.with_page(number, |page| {
                page.write_since(offset, bytes, self.block, copy.issued)
            })??;
            if let Some(write) = written {
                let copy = copy.clone();
                return Err(Hazard::Overwritten(Overwritten { copy, write }));
            }
        }
        if let Some(start) = block.shared.offset_of(copy.destination.addr()) {
            let (number, now) = (self.number_of(thread) as u16, self.now.get());
            for (page, offset, bytes) in pages(start, copy.bytes) {
                self.with_shared_page(page, |page| page.land(offset, bytes, number, now))??;
            }
        }
        Ok(())
    }

    /// What to say of a source that was written in flight.
    #[cold]
    pub fn describe_hazard(&self, thread: &Thread, block: &Block, hazard: &Hazard) -> Finding {
        let Hazard::Overwritten(Overwritten { copy, write }) = hazard else {
            return Finding::without_place(DefectKind::HostResources, NoMemory.to_string());
        };
        Finding {
            kind: DefectKind::AsyncHazard,
            message: format!(
                "the source of an asynchronous copy of {} bytes was written while the copy was in flight",
                copy.source_bytes
            ),
            location: Some(copy.site.into()),
            thread: Some(thread.position.thread_idx),
            related: vec![
                self.other_access(block, write),
                Related {
                    note: "missing: a wait for the copy before the write".to_owned(),
                    location: None,
                },
            ],
        }
    }
}

impl Block {
    /// The finding when `exited` has returned with a copy in flight.
    pub fn unfinished_copy(&self, exited: &Thread) -> Option<Finding> {
        self.check.as_ref()?;
        let copies = exited.copies.borrow();
        let (copy, count) = copies.first_unfinished()?;
        Some(Finding {
            kind: DefectKind::AsyncHazard,
            message: format!(
                "the thread has exited with {count} asynchronous {} that it never waited for",
                if count == 1 { "copy" } else { "copies" }
            ),
            location: Some(copy.site.into()),
            thread: Some(exited.position.thread_idx),
            related: Vec::new(),
        })
    }
}
