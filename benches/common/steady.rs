//! The time of a call of one contender, alone and with settled clocks.

use super::Result;
use std::time::Duration;

/// Durations and number of samples.
#[derive(Clone, Copy)]
pub struct Steady {
    /// Time that the contender runs before it is timed.
    pub warm_up: Duration,
    /// Approximate duration of a sample, in whole calls.
    pub sample: Duration,
    /// Number of samples. The median is the result.
    pub samples: usize,
}

impl Steady {
    /// A single call, if the time is irrelevant, as on the simulator.
    pub const ONCE: Self = Self {
        warm_up: Duration::ZERO,
        sample: Duration::ZERO,
        samples: 1,
    };

    /// The seconds of a call. `time` makes a given number of consecutive calls, and returns their duration.
    pub fn seconds(self, mut time: impl FnMut(u64) -> Result<Duration>) -> Result<f64> {
        time(1)?;
        let once = time(1)?.max(Duration::from_nanos(1));
        let calls_in = |span: Duration| (span.as_secs_f64() / once.as_secs_f64()).ceil() as u64;
        if !self.warm_up.is_zero() {
            time(calls_in(self.warm_up).clamp(1, 1_000_000))?;
        }
        let calls = calls_in(self.sample).max(1);
        let mut samples = (0..self.samples)
            .map(|_| Ok(time(calls)?.as_secs_f64() / calls as f64))
            .collect::<Result<Vec<f64>>>()?;
        samples.sort_by(f64::total_cmp);
        Ok(samples[samples.len() / 2])
    }
}
