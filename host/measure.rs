//! Reports of a device's launches.

use crate::device::Device;
use crate::error::{During, ErrorKind, Outcome, Result, SimulatorError};
use crate::report::{LaunchRecorder, LaunchReport};

impl Device {
    /// Runs `body` and reports the cost of the launches on this device until it returns.
    ///
    /// Only the simulator counts. The report includes launches that other threads make on the device meanwhile.
    /// Counting makes a launch several times slower.
    ///
    /// ```
    /// use tilewright::{Device, Operation};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32; 4096])?;
    /// let (sum, report) = device.with_report(|| device.reduce_sum(&x))?;
    /// assert_eq!(sum, 4096.0);
    /// let loads = report.launches[0].counts.of(Operation::GlobalLoad);
    /// assert_eq!(loads.global.sector_efficiency(), Some(1.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`SimulatorError::NoCounters`] on a device that is not simulated, and those of `body`.
    pub fn with_report<R>(&self, body: impl FnOnce() -> Result<R>) -> Result<(R, LaunchReport)> {
        let recording = self.recorder().during("with_report")?.begin();
        let result = body()?;
        Ok((result, recording.finish()))
    }

    /// Reports the cost of the launches on this device since the last call, or since the device was opened.
    ///
    /// The simulator must count every launch: [`SimulatorOptions::with_counters`](crate::SimulatorOptions). Until the
    /// call, each launch occupies some kilobytes.
    ///
    /// ```
    /// use tilewright::{Device, SimulatorOptions};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator_with(SimulatorOptions::default().with_counters(true));
    /// device.reduce_sum(&device.upload(&[1.0_f32; 4096])?)?;
    /// let report = device.launch_report()?;
    /// assert_eq!(report.launches[0].kernel, "reduce_sum_f32");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`SimulatorError::NoCounters`] on a device that is not simulated; [`SimulatorError::CountersOff`] on a
    /// simulator that does not count every launch.
    pub fn launch_report(&self) -> Result<LaunchReport> {
        self.recorder()
            .and_then(LaunchRecorder::take_all)
            .during("launch_report")
    }

    fn recorder(&self) -> Outcome<&LaunchRecorder> {
        self.backend().recorder().ok_or_else(|| {
            let device = self.label();
            ErrorKind::Simulator(SimulatorError::NoCounters { device })
        })
    }
}
