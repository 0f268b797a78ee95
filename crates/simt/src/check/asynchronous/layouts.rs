//! The layouts of tiles that bulk copies have written: a read must use the tile's swizzle.

use crate::basics::{CallSite, DefectKind, Finding, Related};
use crate::check::asynchronous::accesses::{Extent, Issue};
use crate::check::asynchronous::agents::Agent;
use crate::check::asynchronous::layout::Layout;
use crate::check::block::BlockCheck;
use crate::state::Swizzle;

impl BlockCheck {
    /// A bulk copy to these bytes is issued, with or without a swizzle.
    pub fn note_layout(&self, extent: Extent, swizzle: Option<Swizzle>, site: CallSite) {
        let end = extent.start + extent.bytes;
        let mut layouts = self.layouts.borrow_mut();
        layouts.retain(|it| it.end <= extent.start || end <= it.start);
        if let Some(swizzle) = swizzle {
            layouts.push(Layout {
                start: extent.start,
                end,
                swizzle,
                site,
            });
        }
    }

    /// Whether bulk copies have written these bytes in the layout that an operation reads.
    pub fn check_layout(
        &self,
        issue: &Issue<'_>,
        extent: Extent,
        swizzle: Swizzle,
    ) -> Result<(), Box<Finding>> {
        let end = extent.start + extent.bytes;
        let layouts = self.layouts.borrow();
        let differs =
            |it: &&Layout| it.start < end && extent.start < it.end && it.swizzle != swizzle;
        let Some(layout) = layouts.iter().find(differs) else {
            return Ok(());
        };
        // Threads may have rewritten the bytes since, in any layout.
        let is_copied = self
            .last_write(layout.start.max(extent.start))?
            .is_some_and(|write| Agent::of(&write).is_some());
        if !is_copied {
            return Ok(());
        }
        let message = format!(
            "bytes {} to {} of shared memory are read with {swizzle}, and were written with {}",
            extent.start, end, layout.swizzle
        );
        let finding = Finding::of(&issue.position, DefectKind::WrongSwizzle, message);
        let related = Related::new(
            "the bulk copy that has written them".to_owned(),
            Some(layout.site.into()),
        );
        Err(Box::new(finding.at(issue.site).with_related(vec![related])))
    }
}
