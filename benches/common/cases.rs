//! Which contests there are on a device.

use super::Result;
use super::contest::Contest;
use crate::rivals::Rivals;
use tilewright::Device;

/// A contest that can be built when its turn comes, so that only one has its memory at a time.
#[derive(Clone)]
pub struct Case {
    /// Such as `sum f32 2^20`.
    pub name: String,
    /// The size that `build` takes.
    pub size: usize,
    /// Bytes of device memory that it takes, about.
    pub device_bytes: u64,
    pub build: fn(&Device, &Rivals, usize) -> Result<Contest>,
}

impl Case {
    /// Builds the contest, in which every answer has been checked; `None`, after saying so, where
    /// the device has not the memory.
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
