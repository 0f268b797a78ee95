//! The contests for a device.

use super::Result;
use super::contest::Contest;
use crate::rivals::Rivals;
use tilewright::Device;

/// A contest that is built when its turn comes, so that only one occupies memory at a time.
#[derive(Clone)]
pub struct Case {
    /// Such as `sum f32 2^20`.
    pub name: String,
    /// The size that `build` takes.
    pub size: usize,
    /// Bytes of device memory that it needs, approximately.
    pub device_bytes: u64,
    pub build: fn(&Device, &Rivals, usize) -> Result<Contest>,
}

impl Case {
    /// Builds the contest and checks every answer in it. Where the device does not have the memory, it
    /// says so and returns `None`.
    ///
    /// # Errors
    /// A wrong answer or a failure of ours.
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
