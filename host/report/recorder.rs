//! Collects the costs of launches: of those while a report is open, or of all.

use super::data::{KernelReport, LaunchReport};
use crate::error::{ErrorKind, Outcome, SimulatorError};
use simt::Profile;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The open reports of a simulated device.
#[derive(Debug)]
pub(crate) struct LaunchRecorder {
    profile: Profile,
    open: Mutex<Vec<OpenReport>>,
    /// All launches since the last [`take_all`](Self::take_all); `None` if not every launch is counted.
    all: Option<Mutex<Vec<KernelReport>>>,
}

#[derive(Debug)]
struct OpenReport {
    number: u64,
    launches: Vec<KernelReport>,
}

impl LaunchRecorder {
    pub(crate) fn new(profile: Profile, counts_all: bool) -> Self {
        Self {
            profile,
            open: Mutex::default(),
            all: counts_all.then(Mutex::default),
        }
    }

    fn reports(&self) -> MutexGuard<'_, Vec<OpenReport>> {
        lock(&self.open)
    }

    /// Whether launches must be counted for any report.
    pub(crate) fn is_open(&self) -> bool {
        self.all.is_some() || !self.reports().is_empty()
    }

    /// Adds a launch to every open report.
    pub(crate) fn add(&self, launch: KernelReport) {
        for report in self.reports().iter_mut() {
            report.launches.push(launch.clone());
        }
        if let Some(all) = &self.all {
            lock(all).push(launch);
        }
    }

    /// Returns all launches since the last call.
    pub(crate) fn take_all(&self) -> Outcome<LaunchReport> {
        let all = self
            .all
            .as_ref()
            .ok_or(ErrorKind::Simulator(SimulatorError::CountersOff))?;
        Ok(LaunchReport {
            profile: self.profile,
            launches: std::mem::take(&mut *lock(all)),
        })
    }

    /// Opens a report.
    pub(crate) fn begin(&self) -> Recording<'_> {
        let mut reports = self.reports();
        let number = reports.last().map_or(0, |last| last.number + 1);
        reports.push(OpenReport {
            number,
            launches: Vec::new(),
        });
        Recording {
            recorder: self,
            number,
        }
    }
}

/// Locks `mutex`. A panic cannot leave its data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open report. Dropping it closes it.
pub(crate) struct Recording<'a> {
    recorder: &'a LaunchRecorder,
    number: u64,
}

impl Recording<'_> {
    /// Closes the report.
    pub(crate) fn finish(self) -> LaunchReport {
        LaunchReport {
            profile: self.recorder.profile,
            launches: self.take(),
        }
    }

    fn take(&self) -> Vec<KernelReport> {
        let mut reports = self.recorder.reports();
        let own = reports
            .iter()
            .position(|report| report.number == self.number);
        own.map_or_else(Vec::new, |own| reports.remove(own).launches)
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.take();
    }
}
