//! Asynchronous copies between their issue and their wait.

use crate::basics::{DefectKind, Finding, Position, Related};
use crate::check::block::BlockCheck;
use crate::check::cells::event::Event;
use crate::check::cells::global_cells::REGION_BYTES;
use crate::check::cells::shared_shadow::{PAGE_BYTES, pages};
use crate::memory::OutOfMemory;
use crate::state::{AsyncCopy, SharedMemory};

/// The reason why a copy's result is uncertain.
pub(crate) enum Hazard {
    /// Its source was written while it was in flight.
    Overwritten(Overwritten),
    /// The host has no memory left to check the copy.
    OutOfMemory,
}

/// A copy whose source was written while it was in flight.
pub(crate) struct Overwritten {
    copy: AsyncCopy,
    write: Event,
}

impl From<OutOfMemory> for Hazard {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl BlockCheck {
    /// A copy of the thread at `position` arrives.
    ///
    /// # Errors
    ///
    /// [`Hazard`] if its source was written meanwhile.
    pub fn land(
        &self,
        position: &Position,
        shared: &SharedMemory,
        copy: &AsyncCopy,
    ) -> Result<(), Hazard> {
        let source = copy.source.addr();
        for (number, offset, bytes) in pages::<REGION_BYTES>(source, copy.source_bytes) {
            let mut nearby = self.nearby.borrow_mut();
            let place = nearby.find(&self.launch, number * REGION_BYTES + offset)?;
            let region = &place.region;
            let written = region.write_since(offset, bytes, self.block, copy.issued)?;
            if let Some(write) = written {
                let copy = copy.clone();
                return Err(Hazard::Overwritten(Overwritten { copy, write }));
            }
        }
        if let Some(start) = shared.offset_of(copy.destination.addr()) {
            let writer = (self.block, position.thread() as u16);
            let now = self.now();
            for (page, offset, bytes) in pages::<PAGE_BYTES>(start, copy.bytes) {
                self.with_shared_page(page, |mut page, _| page.land(offset, bytes, writer, now))??;
            }
        }
        Ok(())
    }

    /// Describes a source that was written while the copy was in flight.
    #[cold]
    pub fn describe_hazard(&self, position: &Position, hazard: &Hazard) -> Finding {
        let Hazard::Overwritten(Overwritten { copy, write }) = hazard else {
            return Finding::without_place(DefectKind::HostResources, OutOfMemory.to_string());
        };
        let message = format!(
            "the source of an asynchronous copy of {} bytes was written while the copy was in flight",
            copy.source_bytes
        );
        let related = vec![
            self.other_access(position, write),
            Related::new(
                "missing: a wait for the copy before the write".to_owned(),
                None,
            ),
        ];
        Finding::of(position, DefectKind::AsyncHazard, message)
            .at(copy.site)
            .with_related(related)
    }
}
