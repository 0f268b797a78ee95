//! Commits a launch's result: that of the first run, or of a replay in which a load returned a later store.
//!
//! The first run of a launch suggests predictions (`check::Suggestions`). For each, a replay starts from the memory before
//! the launch, under the same seed, so it has the same schedule up to the load. The first replay that makes the store
//! whose value the load has returned becomes the launch. All other runs leave nothing behind: no writes, no printed
//! lines, no findings.

use super::run::Run;
use crate::basics::Defect;
use crate::check::{LaterStores, LaunchCheck, Prediction, Record, Suggestions};
use crate::launch::{Launch, Report};
use crate::memory::Undo;
use std::sync::Arc;

/// A launch that accesses more global memory than this has one run.
const MOST_UNDONE_BYTES: usize = 64 << 20;

impl<'a> Run<'a> {
    /// The first run of a launch.
    pub fn first(launch: &'a Launch<'a>) -> Self {
        Self::new(launch, |check| {
            let conditions = &check.conditions;
            // The effects of a run must be known, so that they can be undone, and must repeat under the same seed. A
            // panic in a run that does not count must not end the process.
            let can_repeat =
                conditions.registered_only && conditions.is_exclusive && !cfg!(panic = "abort");
            let seed = conditions.stale_loads.filter(|_| can_repeat);
            if let Some(suggestions) = seed.and_then(Suggestions::new) {
                check.later_stores = LaterStores::suggesting(suggestions);
                check.undo = Some(Undo::new(Some(MOST_UNDONE_BYTES)));
            }
        })
    }

    /// A run that follows a prediction of the first one.
    fn following(launch: &'a Launch<'a>, prediction: Prediction, first: &Arc<Record>) -> Self {
        Self::new(launch, |check| {
            check.later_stores = LaterStores::following(prediction, first);
            check.undo = Some(Undo::new(None));
        })
    }

    /// Ends the launch with this first run, unless another run by `run_blocks` replaces it.
    ///
    /// # Errors
    ///
    /// As for [`finish`](Self::finish).
    pub fn finish_or_repeat(self, run_blocks: impl Fn(&Run<'_>)) -> Result<Report, Box<Defect>> {
        let Some((check, undo)) = self.can_be_undone() else {
            return self.finish();
        };
        let (predictions, record) = check.later_stores.take_suggestions();
        if predictions.is_empty() {
            return self.finish();
        }
        undo.exchange();
        for prediction in predictions {
            let run = Run::following(self.launch, prediction, &record);
            run_blocks(&run);
            if let Some(run) = run.undo_unless_returned() {
                return run.finish();
            }
        }
        undo.exchange();
        self.finish()
    }

    /// The checks of the run and the contents that it has changed, if it has found nothing and can
    /// be undone.
    fn can_be_undone(&self) -> Option<(&LaunchCheck, &Undo)> {
        let check = self.check.as_deref()?;
        let undo = check.undo.as_ref()?;
        let is_clean = !self.has_defect() && check.findings.are_none();
        (is_clean && undo.is_complete()).then_some((check, undo))
    }

    /// The run, if its load has returned a later store. Otherwise the run is undone.
    fn undo_unless_returned(self) -> Option<Self> {
        let check = self.check.as_deref()?;
        if check.later_stores.are_returned() {
            return Some(self);
        }
        if let Some(undo) = &check.undo {
            undo.exchange();
        }
        None
    }
}
