//! Collects the costs of launches: of those while a report is open, or of all.

use super::data::{KernelReport, LaunchReport};
use crate::error::{ErrorKind, Outcome, SimulatorError};
use crate::locks::lock;
use simt::Profile;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The open reports of a simulated device.
#[derive(Debug)]
pub(crate) struct LaunchRecorder {
    profile: Profile,
    open: Mutex<Vec<OpenReport>>,
    /// The number of reports so far. A closed report's number is not used again: its owner may still close it twice.
    made: AtomicU64,
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
            made: AtomicU64::new(0),
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
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        self.reports().push(OpenReport {
            number,
            launches: Vec::new(),
        });
        Recording {
            recorder: self,
            number,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_report_that_closes_leaves_those_of_other_threads_open() {
        let recorder = LaunchRecorder::new(Profile::default(), false);
        let has_own = |recording: &Recording<'_>| {
            let reports = recorder.reports();
            reports.iter().any(|it| it.number == recording.number)
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let recording = recorder.begin();
                        assert!(has_own(&recording));
                        thread::yield_now();
                        assert!(has_own(&recording));
                        recording.finish();
                    }
                });
            }
        });
    }
}
