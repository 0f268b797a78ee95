//! The contests for a device.

use super::Result;
use super::contest::Contest;
use crate::rivals::Rivals;
use tilewright::Device;

/// A contest that is built on demand, so that only one at a time occupies memory.
#[derive(Clone)]
pub struct Case {
    /// Such as `sum f32 2^20`.
    pub name: String,
    /// The size that `build` takes.
    pub size: usize,
    /// Approximate device memory in bytes.
    pub device_bytes: u64,
    pub build: fn(&Device, &Rivals, usize) -> Result<Contest>,
}

impl Case {
    /// Builds the contest and checks every result. If the device lacks memory, prints so and returns `None`.
    ///
    /// # Errors
    /// If a result is wrong, or this crate fails.
    pub fn build(&self, device: &Device, rivals: &Rivals) -> Result<Option<Contest>> {
        // A tenth is left for the driver, the rivals and other programs.
        let room = device.properties().memory_bytes / 10 * 9;
        if self.device_bytes > room {
            eprintln!(
                "{} skipped: it needs {} bytes",
                self.name, self.device_bytes
            );
            return Ok(None);
        }
        (self.build)(device, rivals, self.size).map(Some)
    }
}
