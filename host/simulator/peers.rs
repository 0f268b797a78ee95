//! Copies between simulated devices and from CUDA devices: through the host, done when they are started.

use super::Simulator;
use crate::backend::{DeviceMemory, DevicePeers, copy_through_host};
use crate::error::Outcome;

impl DevicePeers for Simulator {
    unsafe fn start_copy_from_peer(
        &self,
        destination: u64,
        peer: &dyn DeviceMemory,
        source: u64,
        bytes: usize,
    ) -> Outcome<()> {
        // SAFETY: live memory and no conflicting work on either device: the caller's contract.
        unsafe { copy_through_host(self, destination, peer, source, bytes) }
    }
}
