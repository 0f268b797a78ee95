//! Results on a simulated device, whose memory the host reads directly.

use super::Simulator;
use super::pages::host_pointer;
use crate::backend::{DeviceMemory as _, DeviceResults};
use crate::error::Outcome;
use crate::scratch::Mapped;
use std::ptr::NonNull;

impl DeviceResults for Simulator {
    fn allocate_mapped(&self, bytes: usize) -> Outcome<Mapped> {
        let device = self.allocate(bytes)?;
        let host = NonNull::new(host_pointer(device)).expect("an allocation has an address");
        Ok(Mapped { host, device })
    }

    unsafe fn read_mapped(&self, destination: &mut [u8], source: Mapped) -> Outcome<()> {
        // SAFETY: live memory and no conflicting work: the caller's contract. The launches were done when their calls
        // returned.
        unsafe { self.copy_to_host(destination, source.device) }
    }
}
